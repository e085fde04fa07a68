"""C0: an inventory of the machine, and the part of it that a calibration rests on."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netdyno.ports import nic
from netdyno.ports.backends import BACKENDS
from netdyno.ports.processor import read_processor
from netdyno.ports.threads import cores_of, workers_of

if TYPE_CHECKING:
    from netdyno.devices.wiring import Wiring
    from netdyno.testers.tester import PortInfo

_CPU = "/sys/devices/system/cpu"


def machine() -> dict[str, str]:
    """Facts of the machine, name and value; unknown ones are left out."""
    cpus, flags = read_processor()
    facts = {
        "kernel": platform.release(),
        "cpu": cpus,
        "frequency governor": _read(f"{_CPU}/cpu0/cpufreq/scaling_governor"),
        "SMT": {"1": "on", "0": "off"}.get(_read(f"{_CPU}/smt/active"), ""),
        "isolated cores": _read(f"{_CPU}/isolated"),
        "tickless cores": _read(f"{_CPU}/nohz_full").replace("(null)", ""),
        "clocksource": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "invariant TSC": "yes" if {"constant_tsc", "nonstop_tsc"} <= flags else "no",
        "hypervisor": "yes" if "hypervisor" in flags else "no",
        "mitigations": _mitigations(),
        "huge pages": _read("/proc/sys/vm/nr_hugepages"),
    }
    return {what: value for what, value in facts.items() if value}


OPENED = ": opened as"
"""What a port turned out to be is known once it is open, and no calibration is doubted for it before that."""


def basis(wiring: Wiring, versions: Mapping[str, str]) -> dict[str, str]:
    """`basis_of` the ports of a lab."""
    return basis_of(wiring.own.session, versions)


def basis_of(session: Mapping[str, Any], versions: Mapping[str, str]) -> dict[str, str]:
    """Facts that a calibration of these ports rests on: it no longer holds when one changes.

    Ports go by the names of their interfaces: what a plan calls them is nothing to the tester. Asked before
    the ports are opened: an XDP program changes the offloads of its interface, and of a veth's other end.

    Asked where the ports are: in the network namespace of the lab. Not which cable is plugged in, nor how
    busy the machine is: the first nobody can see from here, the second each trial says for itself.
    """
    here = machine()
    cores = cores_of(session)
    facts = {
        "netdyno": versions.get("netdyno", ""),
        "engine": " ".join(filter(None, (versions.get("engine"), versions.get("level")))),
        "kernel": here["kernel"],
        "cpu": here.get("cpu", ""),
        "frequency governor": here.get("frequency governor", "none"),
        "clocksource": here.get("clocksource", ""),
        "mitigations": here.get("mitigations", ""),
        "cores": ", ".join(str(core) for core in cores) or "not pinned",
        "workers": str(workers_of(session)),
    }
    for port in session["ports"]:
        interface = port["backend"].get("interface")
        for what, value in (_interface(interface) if interface else {}).items():
            facts[f"{interface}: {what}"] = value
    return facts


def describe_open_ports(wiring: Wiring, infos: Sequence[PortInfo]) -> dict[str, str]:
    """Facts of the opened ports: copy or zero-copy, how attached, and others.

    infos: the tester's, of each port.
    """
    interfaces = [port["backend"].get("interface") for port in wiring.session["ports"]]
    own = list(zip(interfaces, infos, strict=True))[: len(wiring.own.ports)]
    return {
        f"{interface}{OPENED}": info.detail
        for interface, info in own
        if interface is not None and info.detail
    }


def ports(wiring: Wiring) -> tuple[str, ...]:
    """Identities of the ports on this machine, without what the device chooses, such as a memif's socket."""
    return ports_of(wiring.own.session)


def ports_of(session: Mapping[str, Any]) -> tuple[str, ...]:
    """The same of the ports of a session."""
    own = machine_id()
    found = []
    for port in session["ports"]:
        known = BACKENDS.get(port["backend"]["kind"])
        apart = frozenset[str]() if known is None else known.of_peer
        backend = {what: value for what, value in port["backend"].items() if what not in apart}
        found.append(f"{json.dumps(backend, sort_keys=True)} on {port.get('host', own)}")
    return tuple(found)


def backend_of(port: str) -> str:
    """The backend in the identity of a port; empty if it has none."""
    try:
        backend, _ = json.JSONDecoder().raw_decode(port)
    except ValueError:
        return ""
    return str(backend["kind"])


def machine_id() -> str:
    """An opaque name of this machine."""
    name = _read("/etc/machine-id") or platform.node()
    return hashlib.sha256(f"netdyno/{name}".encode()).hexdigest()[:12]


def stolen_seconds() -> dict[int, float]:
    """Stolen time of each core since boot, s (proc(5))."""
    tick = os.sysconf("SC_CLK_TCK")
    found = {}
    for line in _read("/proc/stat").splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and len(fields) > 7:
            found[int(name[3:])] = int(fields[7]) / tick
    return found


def _interface(name: str) -> dict[str, str]:
    """The card and how it is set up. Not its address, nor whether there is a carrier at the moment."""
    card = nic.read(name)
    if card is None:
        return {}
    facts = card.facts()
    facts_of_card = {
        "driver": card.driver,
        **{what: facts["card"][what] for what in ("bus", "firmware", "speed_bps")},
    }
    facts_of_card["MTU"] = facts["interface"]["mtu"]
    for what in ("slot", "queues", "rings", "rss", "coalescing", "pause", "offloads"):
        facts_of_card[what] = facts[what]
    return {
        what: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for what, value in facts_of_card.items()
        if value not in ("", None, [], {})
    }


def _mitigations() -> str:
    """The mitigations of processor faults in the kernel; each costs time in every system call."""
    folder = Path(_CPU, "vulnerabilities")
    active = []
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        said = _read(str(file))
        if said.startswith("Mitigation"):
            active.append(file.name)
    return ", ".join(active)


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
