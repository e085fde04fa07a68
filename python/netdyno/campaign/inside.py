"""What is declared of the device behind the tester's ports: its own ports, and a line inside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from netdyno.devices.reasons import DeviceLicence
from netdyno.devices.wiring import LabLink, Wiring
from netdyno.values.load import Trial
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
from netdyno.values.trunk import Trunk
from netdyno.verdict.device_counts import MEMBERS
from netdyno.verdict.device_trial import count_members


def device_ports(links: Sequence[LabLink], wiring: Wiring) -> tuple[str, ...]:
    """The device's port opposite each port that is opened, as its counters call it; empty of a far end that
    no lab has."""
    names = wiring.counted_as or tuple(MEMBERS.join(link.device_ports) for link in links)
    found = [
        names[link] if (link := wiring.in_lab(number)) < len(names) else ""
        for number in range(len(wiring.ports))
    ]
    for lag in wiring.lags:
        # The device's ports are named in the order of the tester's interfaces that they are joined with.
        members, of = links[wiring.in_lab(lag[0])].device_ports, wiring.ports[lag[0]].lag
        assert of is not None, "a member of a LAG"
        if len(members) == len(of.interfaces) and not wiring.counted_as:
            opposite = dict(zip(of.interfaces, members, strict=True))
            for number in lag:
                found[number] = opposite[wiring.ports[number].name.removeprefix(f"{of.name}.")]
    return tuple(found)


def count_members_of(
    known: Situation, wiring: Wiring, trial: Trial, outcome: Outcome, port: int
) -> tuple[int, ...] | None:
    """Frames that each member of the device's LAG opposite a port sent in a trial, by its own counters; None:
    they are unknown."""
    for link in wiring.session.get("links", ()):
        if link["port"] == port and link["device"] < len(outcome.devices):
            counted = outcome.devices[link["device"]]["ports"][link["device_port"]]
            return tuple(counted["member_tx"])
    places = dict(zip(known.streams, known.places, strict=True))
    read = count_members([(trial.duration_ns, outcome)], places, known.device_ports)
    return read.get((known.device_ports[port], "out"))


def trunk(wiring: Wiring, declared: Trunk | None = None) -> Trunk | None:
    """The trunk between halves of the device; None: there is none, or it has several devices.

    declared: by the plan, its near ports by their number in the lab. An emulated device says it itself.
    """
    devices = wiring.session.get("devices", ())
    found = devices[0].get("trunk") if len(devices) == 1 else None
    if found is None:
        return None if declared is None else _as_opened(declared, wiring)
    near = set(found["near"])
    return Trunk(
        rate_bps=found["rate_bps"],
        near=tuple(link["port"] for link in wiring.session["links"] if link["device_port"] in near),
        more_bytes=found["more_bytes"],
        queue=found["queue"],
    )


def licence(wiring: Wiring, declared: int | None = None) -> int | None:
    """What the device is licensed to pass, bit/s: as an emulated one says, or the plan; None: not known."""
    return next((note.rate_bps for note in wiring.notes if isinstance(note, DeviceLicence)), declared)


def _as_opened(declared: Trunk, wiring: Wiring) -> Trunk:
    """The same with the numbers that its ports have among those that are opened."""
    opened = range(len(wiring.ports))
    return replace(
        declared, near=tuple(number for number in opened if wiring.in_lab(number) in declared.near)
    )
