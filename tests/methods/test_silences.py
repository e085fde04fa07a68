"""When a silent member of a LAG was left, from series of its port that are written by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from balanced import S, by_hand
from netdyno.methods.parts.silences import Silence, events_between, tables
from netdyno.methods.soak import SoakParameters
from netdyno.values.load import Event, Happened
from netdyno.values.outcome import Outcome
from pydantic import ValidationError


def outcome(rx: tuple[int, ...]) -> Outcome:
    """Samples of a second; silent from 2.25 s to 8.5 s."""
    made = by_hand({}, sent=1000, received=1000)
    west, east = made.ports
    events = (Event(2 * S, "lacp-silent", "east"), Event(8 * S, "lacp-speaks", "east"))
    times = ((2 * S, 9 * S // 4), (8 * S, 17 * S // 2))
    happened = tuple(Happened(event, *each) for event, each in zip(events, times, strict=True))
    return replace(made, happened=happened).with_counts(ports=(west, replace(east, rx=rx)))


@pytest.mark.parametrize(
    ("rx", "left", "frames", "back"),
    [
        ((9, 9, 9, 9, 5, 0, 0, 0, 0, 4, 9), 11 * S // 4, 14, 3 * S // 2),
        # The device never left it, or never sent there.
        ((9,) * 11, None, 45, S // 2),
        ((0,) * 11, None, 0, None),
    ],
)
def test_last_and_first_frame_of_a_silent_member(
    rx: tuple[int, ...], left: int | None, frames: int, back: int | None
) -> None:
    (table,) = tables([(60 * S, outcome(rx))])
    ((member, silent, last, count, speaks, first),) = table.rows
    assert (member, silent, speaks) == ("east", Fraction(249 * S, 4), Fraction(137 * S, 2))
    assert (last, count, first) == (left, frames, back)


def silence(at: str, lasts: str) -> Silence:
    return Silence.model_validate({"member": "east.e1", "at": at, "lasts": lasts})


def test_events_are_those_of_their_part() -> None:
    both = [silence("2s", "3s"), silence("12s", "3s")]
    assert events_between(both, 10 * S, 20 * S) == (
        Event(2 * S, "lacp-silent", "east.e1"),
        Event(5 * S, "lacp-speaks", "east.e1"),
    )


@pytest.mark.parametrize("at", ["8s", "18s", "30s"])
def test_silence_across_a_border_is_refused(at: str) -> None:
    with pytest.raises(ValidationError, match="is not within a part of the soak"):
        SoakParameters.model_validate(
            {"duration": "20s", "part": "10s", "silences": [{"member": "e", "at": at, "lasts": "3s"}]}
        )
    assert [
        one.at.ns for one in SoakParameters(silences=[silence("20s", "3s")]).scaled(Fraction(1, 10)).silences
    ] == [2 * S]
