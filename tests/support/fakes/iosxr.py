"""A Cisco ASR9006's command line as IOS XR 4 and 5 print it, with counters that an emulated device moves."""

from __future__ import annotations

import copy
import json
from typing import Any

from faketree import FakeCli, _Editor, _RefusedError
from netdyno.devices.wiring import LabError

from fakes.chassis import INSTANT, Chassis
from fakes.server import Terminal

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


class Session(Terminal):
    """One login."""

    banner = "\n\nWelcome to the fridge\n\n"

    def __init__(self, chassis: Chassis) -> None:
        self.chassis = chassis
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
        if words[:2] == ["!", INSTANT]:
            self.chassis.stand_at(json.loads(line.partition(INSTANT)[2]))
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
        counted = self.chassis.counted(name)
        if counted is None:
            return None
        begin, *rest = INTERFACE.format(name=name, state="up", **counted).splitlines(keepends=True)
        described = [f"  Description: {self.chassis.description}\n"] if self.chassis.description else []
        return "".join([begin, *rest[:2], *described, *rest[2:]])
