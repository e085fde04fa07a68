"""Loads of frames and of connections: what each kind knows, and what it refuses to answer."""

from __future__ import annotations

import pytest
from netdyno.values.health import Health
from netdyno.values.load import Connections, Frames, Segment, Trial
from netdyno.values.outcome import Carried, ConnectionCounts, FrameCounts, Outcome
from netdyno.values.units import FrameRate

SECOND = 10**9
HOLD = Segment("hold", SECOND, FrameRate(9), FrameRate(9))
RISE = Segment("rise", SECOND, FrameRate(0), FrameRate(9))
HEALTHY = Health(0, 0, 0, 0, 0, None)


def test_frames_last_as_long_as_their_longest_load() -> None:
    load = Frames((HOLD,), loads={"west-east": (HOLD, HOLD)})
    assert (Trial("x", load).duration_ns, load.constant) == (2 * SECOND, True)
    assert not Trial("x", Frames((HOLD,), loads={"west-east": (RISE,)})).constant


def test_connections_have_a_duration_and_ask_for_no_rate() -> None:
    trial = Trial("x", Connections(SECOND, "cubic"))
    assert (trial.duration_ns, trial.constant, trial.segments) == (SECOND, True, ())
    with pytest.raises(TypeError, match="connections"):
        _ = trial.frames
    with pytest.raises(TypeError, match="frames"):
        _ = Trial("x", Frames((HOLD,))).connections


def test_outcome_of_connections_has_no_counts_of_frames() -> None:
    one = Carried("west-east", 5, 10**6, SECOND, 10**6, SECOND, 3, 1448, 2000, "cubic")
    outcome = Outcome(ConnectionCounts((one,), sample_ns=SECOND), HEALTHY, ())
    assert (outcome.sample_ns, outcome.carried) == (SECOND, (one,))
    assert (outcome.streams, outcome.beside, outcome.ports, outcome.samples.tx) == ((), (), (), [])
    with pytest.raises(TypeError, match="connections"):
        outcome.with_counts(streams=())


def test_load_and_counts_of_a_class_name_it() -> None:
    assert Frames.load_class == FrameCounts.load_class
    assert Connections.load_class == ConnectionCounts.load_class
    assert len({Frames.load_class, Connections.load_class}) == 2


def test_with_counts_changes_counts_alone() -> None:
    outcome = Outcome(FrameCounts((), (), 5), HEALTHY, ())
    assert outcome.with_counts(sample_ns=7) == Outcome(FrameCounts((), (), 7), HEALTHY, ())
