"""A Cisco ASR9006's command line as IOS XR 4 and 5 print it, with counters that an emulated device moves."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import Any

from faketree import FakeCli, FakeDevice, _Editor, _RefusedError
from netdyno.devices.wiring import LabError

HOST = "RP/0/RSP0/CPU0:fridge"
DATE = "Sun Feb 20 19:14:21.775 UTC"
INVALID = "                 ^\n% Invalid input detected at '^' marker."
POWER = """\
R/S/I           Power Supply    Voltage         Current
                (W)             (V)             (A)
0/PS0/M1/*       741.1           54.9            13.5
0/PS0/M2/*       712.4           54.8            13.0
0/PS0/M3/*       765.8           55.1            13.9

--------------
Total:          2219.3
"""
VERSION = """\

Cisco IOS XR Software, Version 5.3.4[Default]
Copyright (c) 2016 by Cisco Systems, Inc.

ROM: System Bootstrap, Version 0.76(c) 1994-2012 by Cisco Systems,  Inc.

fridge uptime is 3 hours, 12 minutes
System image file is "disk0:asr9k-os-mbi-5.3.4/0x100305/mbiasr9k-rsp3.vm"

cisco ASR9K Series (Intel 686 F6M14S4) processor with 12582912K bytes of memory.
Intel 686 F6M14S4 processor at 2134MHz, Revision 2.174
ASR 9006 4 Line Card Slot Chassis with V1 AC PEM
"""
INTERFACE = """\
{name} is {state}, line protocol is {state}
  Interface state transitions: 1
  Hardware is TenGigE, address is 10f3.1169.7b20 (bia 10f3.1169.7b20)
  Layer 1 Transport Mode is LAN
  Internet address is Unknown
  MTU 9216 bytes, BW 10000000 Kbit (Max: 10000000 Kbit)
     reliability 255/255, txload 200/255, rxload 200/255
  Encapsulation ARPA,
  Full-duplex, 10000Mb/s, LR, link type is force-up
  output flow control is off, input flow control is off
  loopback not set,
  Last link flapped 03:10:43
  Last input 00:00:00, output 00:00:00
  Last clearing of "show interface" counters never
  5 minute input rate 9278278000 bits/sec, 4547012 packets/sec
  5 minute output rate 9242023000 bits/sec, 4528937 packets/sec
     {rx} packets input, {rx_bytes} bytes, {in_drops} total input drops
     0 drops for unrecognized upper-level protocol
     Received 0 broadcast packets, 0 multicast packets
              0 runts, 0 giants, 0 throttles, 0 parity
     0 input errors, 0 CRC, 0 frame, 0 overrun, 0 ignored, 0 abort
     {tx} packets output, {tx_bytes} bytes, {out_drops} total output drops
     Output 0 broadcast packets, 0 multicast packets
     0 output errors, 0 underruns, 0 applique, 0 resets
     0 output buffer failures, 0 output buffers swapped out
     1 carrier transitions
"""
CPU = """\
CPU utilization for one minute: {busy}%; five minutes: 4%; fifteen minutes: 3%

PID    1Min    5Min    15Min Process
1        0%      0%       0% kernel
4103     0%      0%       0% devc-conaux-aux
172119   1%      1%       1% netio
254066   1%      1%       1% bgp
"""


@dataclass
class Chassis:
    """What all sessions of the device share. ports: counters by name, since the device was started."""

    ports: dict[str, dict[str, int]] = field(default_factory=dict)
    before: dict[str, dict[str, int]] = field(default_factory=dict)
    last_ns: int = -1
    size: float = 64
    instants: int = 0
    leak: str = ""
    """What it prints with its version and behind every refusal."""
    device: FakeDevice | None = None
    """Its configuration; None: it cannot be configured."""

    def stand_at(self, told: dict[str, Any]) -> None:
        """Counters of an emulated device, which begin anew with each trial; those of this one go on."""
        self.instants += 1
        if told["at_ns"] <= self.last_ns:
            self.before = {name: dict(counted) for name, counted in self.ports.items()}
        self.last_ns = told["at_ns"]
        self.size = told["mean_bytes"]
        for device in told["devices"]:
            for port in device["ports"]:
                base = self.before.get(port["name"], {})
                drops_in = port["in_drops"] + port["both_drops"] + port["weary_drops"]
                counted = {
                    "rx": port["rx_frames"],
                    "tx": port["tx_frames"],
                    "in_drops": drops_in,
                    "out_drops": port["out_drops"],
                }
                self.ports[port["name"]] = {
                    name: number + base.get(name, 0) for name, number in counted.items()
                }


class Session:
    """One login."""

    banner = "\n\nWelcome to the fridge\n\n"

    def __init__(self, chassis: Chassis) -> None:
        self.chassis = chassis
        self.page = 24
        self.editor: _Editor | None = None
        self.state: dict[str, Any] = {}

    @property
    def prompt(self) -> str:
        return f"{HOST}#" if self.editor is None else f"{HOST}(config{self._mode})#"

    @property
    def _mode(self) -> str:
        mode = self.editor.stack[-1][0] if self.editor else ""
        return f"-{mode}" if mode else ""

    def run(self, line: str) -> str | None:
        """The answer to a line."""
        words = line.split()
        if words[:2] == ["!", "netdyno-instant"]:
            self.chassis.stand_at(json.loads(line.partition("netdyno-instant")[2]))
            return ""
        if not words or words[0] == "!":
            return ""
        if self.editor is not None:
            return self._configure(line.strip())
        if words == ["configure", "terminal"] and self.chassis.device is not None:
            self._begin()
            return DATE
        if words[0] == "exit":
            return None
        if words[:2] == ["terminal", "length"]:
            self.page = int(words[2])
            return DATE
        if words[0] == "terminal":
            return DATE
        answer = self._show(words)
        return f"{INVALID} {self.chassis.leak}" if answer is None else f"{DATE}\n{answer}"

    def _begin(self) -> None:
        assert self.chassis.device is not None
        self.state = self.chassis.device.load()
        self.running = self.state["running"]
        self.state["running"] = copy.deepcopy(self.running)
        self.editor = _Editor(self.chassis.device.system, self.state["running"])

    def _configure(self, line: str) -> str:
        """A line of configuration mode: nothing is in effect before a commit."""
        assert self.chassis.device is not None
        assert self.editor is not None
        if line in ("abort", "end"):
            self.editor = None
            return ""
        words = line.split()
        if words[0] == "commit":
            confirm_s = int(words[2]) if words[1:2] == ["confirmed"] else None
            try:
                FakeCli(self.chassis.device)._commit(self.state, self.running, confirm_s)
            except LabError:
                return (
                    "\n% Failed to commit one or more configuration items during a pseudo-atomic operation."
                    " All changes made have been reverted. Please issue 'show configuration failed' from"
                    " this session to view the errors"
                )
            self._begin()
            return DATE
        try:
            self.editor.enter(line)
        except _RefusedError:
            return INVALID
        return ""

    def _show(self, words: list[str]) -> str | None:
        if words == ["show", "running-config"] and self.chassis.device is not None:
            text = self.chassis.device.text()
            stamp = "!! IOS XR Configuration 5.3.4\n!! Last configuration change at Sun Feb 20 19:02:03 2022"
            return f"Building configuration...\n{stamp} by pim\n!\n{text}end\n"
        if words == ["show", "version"]:
            return VERSION + self.chassis.leak
        if words == ["show", "processes", "cpu"]:
            return CPU.format(busy=7)
        if words == ["admin", "show", "environment", "power-supply"]:
            return POWER
        if words[:2] == ["show", "interfaces"] and len(words) == 3:
            return self._interface(words[2])
        return None

    def _interface(self, name: str) -> str | None:
        short = name.replace("TenGigE", "Te")
        counted = self.chassis.ports.get(short)
        if counted is None:
            return None
        size = self.chassis.size - 4
        return INTERFACE.format(
            name=name,
            state="up",
            rx_bytes=round(counted["rx"] * size),
            tx_bytes=round(counted["tx"] * size),
            **counted,
        )
