"""The samples of a trial as methods read them: of each stream, and of all together."""

from __future__ import annotations

from fractions import Fraction

import pytest
from netdyno.methods.parts import samples
from netdyno.values.health import Health
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.outcome import FrameCounts, Outcome, Phase, StreamResult
from netdyno.values.situation import Place, Situation
from netdyno.values.units import FrameRate

SECOND = 10**9
SAMPLES = 20
RISE = Trial("ramp", Frames((Segment("ramp", 2 * SECOND, FrameRate(0), FrameRate(2000)),)))
"""A rise by 100 fps a sample of 100 ms: 5, 15, 25... frames of a port."""


def stream(name: str, tx: list[int], lost: int) -> StreamResult:
    came = [sent - lost for sent in tx]
    return StreamResult(
        name=name,
        intended=sum(tx),
        offered=sum(tx),
        offered_bytes=64 * sum(tx),
        received=sum(came),
        received_bytes=64 * sum(came),
        duplicates=0,
        elsewhere=0,
        out_of_order=0,
        corrupted=0,
        lost=lost * len(tx),
        beyond_window=0,
        flows_received=1,
        latency=None,
        tx=tuple(tx),
        rx=tuple(came),
        arrived=tuple(came),
        first_loss_ns=None,
    )


def outcome(*streams: StreamResult, latest_ns: int = 0) -> Outcome:
    health = Health(0, latest_ns, 0, 0, 0, None)
    return Outcome(FrameCounts(streams, (), SECOND // 10), health, (Phase("traffic", 0, 2 * SECOND),))


def mesh(ports: int) -> Situation:
    pairs = [(tx, rx) for tx in range(ports) for rx in range(ports) if tx != rx]
    places = tuple(Place(tx, rx, Fraction(1, ports - 1)) for tx, rx in pairs)
    return Situation(tuple(f"p{tx}-p{rx}" for tx, rx in pairs), Fraction(2000), Fraction(64), places=places)


def test_each_stream_has_its_share_and_the_sum_is_of_all() -> None:
    """Two streams of one port with a third and two thirds of its load, written down by hand."""
    places = (Place(0, 1, Fraction(1, 3)), Place(0, 2, Fraction(2, 3)))
    situation = Situation(("a", "b"), Fraction(2000), Fraction(64), places=places)
    of = dict(samples.scopes(outcome(stream("a", [3, 7], 1), stream("b", [4, 8], 2)), RISE, situation))
    assert [(one.tx, one.arrived, one.lost) for one in of["a"]] == [(3, 2, 1), (7, 6, 1)]
    assert [one.intended for one in of["a"]] == [Fraction(5, 3), 5]
    assert [one.peak for one in of["b"]] == [Fraction(200, 3), Fraction(400, 3)]
    assert [one.due for one in of["b"]] == [Fraction(10, 3), Fraction(40, 3)]
    together = of["sum"]
    assert [(one.tx, one.rx, one.lost, one.sent) for one in together] == [(7, 4, 3, 7), (15, 12, 3, 22)]
    assert [(one.intended, one.due, one.peak) for one in together] == [(5, 5, 100), (15, 20, 200)]


def test_what_is_late_in_a_stream_is_late_in_the_sum() -> None:
    """Seven frames are missing at the end of sample 3, and made up for in 4: both are another load."""
    asked = [5 + 10 * place for place in range(SAMPLES)]
    late = [*asked[:3], asked[3] - 7, asked[4] + 7, *asked[5:]]
    situation = Situation(("a", "b"), Fraction(2000), Fraction(64))
    of = dict(
        samples.scopes(
            outcome(stream("a", asked, 0), stream("b", late, 0), latest_ns=SECOND), RISE, situation
        )
    )
    assert [place for place, one in enumerate(of["b"]) if one.late] == [3, 4]
    assert not any(one.late for one in of["a"])
    assert [place for place, one in enumerate(of["sum"]) if one.late] == [3, 4]
    # No frame was sent late: what is missing in a sample was due at its edge.
    of = dict(samples.scopes(outcome(stream("a", asked, 0), stream("b", late, 0)), RISE, situation))
    assert not any(one.late for one in of["sum"])


def test_the_schedule_is_kept_up_to_where_it_is_left_for_good() -> None:
    """2 frames and 5 % of a sample's may wait: 2.75 of the second sample's 15, so 3 are too many."""
    situation = Situation(("a",), Fraction(2000), Fraction(64))
    for missing, kept in ((2, 4), (3, 1)):
        of = dict(samples.scopes(outcome(stream("a", [5, 15 - missing, 25, 35], 0)), RISE, situation))
        # In later samples 5 % more may wait: one of 35 frames lets 3.75 wait.
        waits = [place for place, one in enumerate(of["a"]) if one.behind]
        assert waits == ([] if kept == 4 else [1])
        assert len(samples.find_on_schedule(of["a"][:2])) == min(kept, 2)
        assert len(samples.find_on_schedule(of["a"])) == 4


@pytest.mark.parametrize("ports", [2, 8])
def test_samples_of_many_streams_compute_the_intended_load_once(
    ports: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full mesh of 64 ports has 4,032 streams that differ by their share of the schedule alone."""
    asked: list[int] = []
    was = samples.PortLoad
    monkeypatch.setattr(samples, "PortLoad", lambda *given: asked.append(given[-1]) or was(*given))
    situation = mesh(ports)
    tx = [1] * SAMPLES
    found = outcome(*(stream(name, tx, 0) for name in situation.streams))
    assert len(dict(samples.scopes(found, RISE, situation))) == ports * (ports - 1) + 1
    assert asked == [SAMPLES]
