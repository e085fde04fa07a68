"""Members of a LAG of the tester on which its LACP falls silent under load, and when the device noticed.

The link stays up, so what still comes by a silent member shows how long the device sends there: it would be
lost if the member had died without a trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from pydantic import Field

from netdyno.methods.parts.procedure import Parameters
from netdyno.values.finding import Cell, Table, columns
from netdyno.values.load import Event
from netdyno.values.units import PositiveDuration

if TYPE_CHECKING:
    from netdyno.values.outcome import Outcome, PortResult

TITLE = "Silent members of LAGs"
COLUMNS = columns(
    "member | silent: at | last frame after: ns | frames meanwhile: frames | speaks: at"
    " | first frame after: ns"
)
CAPTION = (
    "When the tester sent its last LACPDU on a member, and how long the device sent test frames there since"
    " then: a member that died and kept its link would lose these. Then when the tester spoke again, and the"
    " first frame. Times are those of samples (`trial: {sample: ...}`), at most one too long."
)


class Silence(Parameters):
    """A time in which the tester's LACP says nothing on a member of a LAG."""

    member: str = Field(max_length=64, examples=["east.eth3"])
    """The member, by the name of its port."""
    at: PositiveDuration
    """When it falls silent, from the begin of the load."""
    lasts: PositiveDuration
    """For how long."""

    @property
    def ends_ns(self) -> int:
        """When it speaks again, from the begin of the load."""
        return self.at.ns + self.lasts.ns


def events_between(silences: Sequence[Silence], begin_ns: int, end_ns: int) -> tuple[Event, ...]:
    """The events of a trial with this part of the load."""
    found = [one for one in silences if begin_ns <= one.at.ns and one.ends_ns <= end_ns]
    return tuple(
        event
        for one in found
        for event in (
            Event(one.at.ns - begin_ns, "lacp-silent", one.member),
            Event(one.ends_ns - begin_ns, "lacp-speaks", one.member),
        )
    )


def tables(parts: Sequence[tuple[int, Outcome]]) -> Iterator[Table]:
    """A row for each silence; none if there was none. parts: when each began in the load, and what came."""
    found = [row for begin_ns, outcome in parts for row in _rows(begin_ns, outcome)]
    if found:
        yield Table(TITLE, COLUMNS, tuple(found), CAPTION)


def _rows(begin_ns: int, outcome: Outcome) -> Iterator[tuple[Cell, ...]]:
    ports = {port.name: port for port in outcome.ports}
    silent: dict[str, int] = {}
    for one in outcome.happened:
        if one.event.kind == "lacp-silent" and one.event.port in ports:
            silent[one.event.port] = one.until_ns
        elif one.event.kind == "lacp-speaks" and one.event.port in silent:
            port, from_ns = ports[one.event.port], silent.pop(one.event.port)
            first_ns = _first_frame(port, one.until_ns, outcome.sample_ns)
            yield (
                port.name,
                Fraction(begin_ns + from_ns),
                *_last_frame(port, from_ns, one.from_ns, outcome.sample_ns),
                Fraction(begin_ns + one.until_ns),
                None if first_ns is None else Fraction(first_ns),
            )


def _last_frame(port: PortResult, from_ns: int, until_ns: int, sample_ns: int) -> tuple[Cell, Cell]:
    """How long frames came by a member from a time on, ns, and how many; the sample it fell silent in is not
    counted. No time: they came until the end, or none came."""
    first, end = from_ns // sample_ns + 1, until_ns // sample_ns
    came = port.rx[first:end]
    last = next((place for place in reversed(range(len(came))) if came[place]), None)
    if last is None or last == len(came) - 1:
        return None, Fraction(sum(came))
    return Fraction((first + last + 1) * sample_ns - from_ns), Fraction(sum(came))


def _first_frame(port: PortResult, from_ns: int, sample_ns: int) -> int | None:
    """How long after a time the first frame came by a member; None: none came."""
    first = from_ns // sample_ns
    found = next((place for place, count in enumerate(port.rx[first:], first) if count), None)
    return None if found is None else max((found + 1) * sample_ns - from_ns, 0)
