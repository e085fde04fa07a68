"""Loads of frames and of connections: what each kind knows, and what it refuses to answer."""

from __future__ import annotations

from fractions import Fraction

import pytest
from netdyno.values.health import Health
from netdyno.values.load import Connections, Frames, Segment, Trial
from netdyno.values.outcome import ConnectionCounts, FrameCounts, Outcome

SECOND = 10**9
HOLD = Segment("hold", SECOND, Fraction(9), Fraction(9))
RISE = Segment("rise", SECOND, Fraction(0), Fraction(9))
HEALTHY = Health(0, 0, 0, 0, 0, None)


def test_frames_last_as_long_as_their_longest_load() -> None:
    load = Frames((HOLD,), loads={"west-east": (HOLD, HOLD)})
    assert (Trial("x", load).duration_ns, load.constant) == (2 * SECOND, True)
    assert not Trial("x", Frames((HOLD,), loads={"west-east": (RISE,)})).constant


def test_connections_have_a_duration_and_no_segments() -> None:
    trial = Trial("x", Connections(1000, SECOND))
    assert (trial.duration_ns, trial.constant) == (SECOND, True)
    assert not Trial("x", Connections(1000, SECOND, Fraction(100))).constant
    with pytest.raises(TypeError, match="connections"):
        _ = trial.segments


def test_outcome_of_connections_has_no_streams() -> None:
    outcome = Outcome(ConnectionCounts(1000, 999, 1, 0, 10**6, 10**6, sample_ns=SECOND), HEALTHY, ())
    assert outcome.sample_ns == SECOND
    with pytest.raises(TypeError, match="connections"):
        _ = outcome.streams
    with pytest.raises(TypeError, match="connections"):
        outcome.with_counts(streams=())


def test_with_counts_changes_counts_alone() -> None:
    outcome = Outcome(FrameCounts((), (), 5), HEALTHY, ())
    assert outcome.with_counts(sample_ns=7) == Outcome(FrameCounts((), (), 7), HEALTHY, ())
