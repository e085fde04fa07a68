"""Port groups whose search another group ended: a search of all groups at once ends where any loses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from netdyno.methods.parts import rows
from netdyno.methods.reasons.searches import EndedByOthers
from netdyno.values.finding import Value
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation


def find_clean_groups(situation: Situation, failed: Outcome) -> tuple[str, ...]:
    """The port groups and their streams without a lost frame in a trial that did not pass."""
    streams = {stream.name: stream for stream in failed.streams}
    found: list[str] = []
    for group in situation.groups:
        names = [situation.streams[member] for member in situation.members(group)]
        if rows.is_clean([streams[name] for name in names]):
            found += (group, *names)
    return tuple(found)


def find_common(each: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Those that are in each of them; none if there is nothing to be in."""
    first, *others = [*each] or [()]
    return tuple(name for name in first if all(name in other for other in others))


def as_ended_by_others(value: Value, fps: Fraction) -> Value:
    """The value of a group or stream that lost nothing at the load of its that ended the search."""
    return replace(value, number=value.number or None, high=None, note=EndedByOthers(fps))
