"""What befalls an emulated device at a time of the load: a link goes down, a port drops frames.

In a case's settings it is a line of text: `2 down at 2h for 3s, 3 drops at 5h for 200ms`. Times count from
the begin of the load of each trial; of a soak, whose parts are one load, from the begin of its first part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from netdyno.values.load import Event, EventKind, Trial
from netdyno.values.outcome import CarrierCause, CarrierLoss
from netdyno.values.units import PositiveDuration, UnitError

SETTING = "incidents"
MOST = 1000
"""Incidents of a lab."""
EXAMPLE = "2 down at 2h for 3s, 3 drops at 5h for 200ms"

What: TypeAlias = Literal["down", "shut", "drops"]
"""down: the link has no carrier. shut: the device shut its port, and says so: no carrier either. drops: what
is to leave by the device's port is lost; its link stays up."""

_EVENTS: dict[What, tuple[EventKind, EventKind]] = {
    "down": ("link-down", "link-up"),
    "shut": ("link-down", "link-up"),
    "drops": ("mute", "unmute"),
}
_CAUSES: dict[What, CarrierCause] = {"down": "link", "shut": "device"}
_ONE = re.compile(r"\s*(\S+)\s+(down|shut|drops)\s+at\s+(\S+)\s+for\s+(\S+)\s*")


@dataclass(frozen=True)
class Incident:
    """One of them. port: the tester's, at the other end of the link; from_ns, until_ns: of the load."""

    port: str
    what: What
    from_ns: int
    until_ns: int

    def scaled(self, scale: Fraction) -> Incident:
        """The same in a run whose durations are multiplied by `scale`."""
        return Incident(self.port, self.what, int(self.from_ns * scale), int(self.until_ns * scale))


def parse(text: str, links: Sequence[tuple[str, str]]) -> tuple[Incident, ...]:
    """The incidents of a lab. links: its device ports, each with the tester port at its other end.

    ValueError if the text says something else, or two incidents of a port overlap.
    """
    parts = text.split(",")
    if len(parts) > MOST:
        raise ValueError(f"`{SETTING}` has {len(parts)} incidents, at most {MOST}")
    found = tuple(_parse_one(part, dict(links)) for part in parts)
    for number, one in enumerate(found):
        for other in found[:number]:
            if one.port == other.port and one.from_ns < other.until_ns and other.from_ns < one.until_ns:
                raise ValueError(f"two incidents of `{SETTING}` overlap: `{parts[number].strip()[:60]}`")
    return found


def _parse_one(text: str, ports: dict[str, str]) -> Incident:
    found = _ONE.fullmatch(text)
    if found is None:
        raise ValueError(f"`{SETTING}` is not `{text.strip()[:60]}`, but like `{EXAMPLE}`")
    if found[1] not in ports:
        names = ", ".join(f"`{name}`" for name in ports)
        raise ValueError(f"`{SETTING}`: the device has no port `{found[1][:40]}`; its ports: {names}")
    what: What = found[2]  # type: ignore[assignment]
    try:
        from_ns = _start_ns(found[3])
        lasts_ns = PositiveDuration.parse(found[4]).ns
    except UnitError as error:
        raise ValueError(f"`{SETTING}`: {error}") from error
    return Incident(ports[found[1]], what, from_ns, from_ns + lasts_ns)


def _start_ns(text: str) -> int:
    return 0 if text in ("0", "0s") else PositiveDuration.parse(text).ns


def events(incidents: Sequence[Incident], trial: Trial) -> list[Event]:
    """The events of a trial that its incidents are, in order of time; those that last on end with it."""
    found: list[Event] = []
    for one, from_ns, until_ns in _within(incidents, trial):
        begin, end = _EVENTS[one.what]
        found.append(Event(from_ns, begin, one.port))
        if until_ns is not None:
            found.append(Event(until_ns, end, one.port))
    # At one instant what ends is before what begins.
    return sorted(found, key=lambda event: (event.at_ns, event.kind not in ("link-up", "unmute")))


def carrier_losses(incidents: Sequence[Incident], trial: Trial) -> tuple[CarrierLoss, ...]:
    """The carrier losses of a trial, exact."""
    found = [
        CarrierLoss(one.port, from_ns, until_ns, _CAUSES[one.what])
        for one, from_ns, until_ns in _within(incidents, trial)
        if one.what in _CAUSES
    ]
    return tuple(sorted(found, key=lambda loss: (loss.from_ns, loss.port)))


def _within(incidents: Sequence[Incident], trial: Trial) -> Iterator[tuple[Incident, int, int | None]]:
    """Those that are in a trial's load, with their times in it; None: to its end."""
    begin_ns, end_ns = trial.begin_ns, trial.begin_ns + trial.duration_ns
    for one in incidents:
        if one.from_ns < end_ns and one.until_ns > begin_ns:
            until_ns = one.until_ns - begin_ns if one.until_ns <= end_ns else None
            yield one, max(one.from_ns - begin_ns, 0), until_ns
