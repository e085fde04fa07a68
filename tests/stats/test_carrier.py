"""Carrier losses of parts joined over their borders, and which losses of frames they touch."""

from __future__ import annotations

from netdyno.stats.carrier import CarrierSpan, spans
from netdyno.values.outcome import CarrierLoss


def lost(port: str, from_ns: int, until_ns: int | None, times: int = 1) -> CarrierLoss:
    return CarrierLoss(port, from_ns, until_ns, times=times)


def test_losses_of_a_load_are_dated_from_its_begin() -> None:
    found = spans([(100, []), (100, [lost("p", 30, 40)]), (50, [lost("q", 10, None)])])
    assert found == [
        CarrierSpan("p", 130, 140, "link", 1, 1, 1),
        CarrierSpan("q", 210, 250, "link", 1, 2, 2),
    ]
    assert [span.duration_ns for span in found] == [10, 40]


def test_loss_over_a_border_of_parts_is_one() -> None:
    over = [(100, [lost("p", 90, None)]), (100, [lost("p", 0, None)]), (100, [lost("p", -5, 20)])]
    assert spans(over) == [CarrierSpan("p", 90, 220, "link", 1, 0, 2)]


def test_loss_that_ended_between_two_parts_is_not_the_next_one() -> None:
    found = spans([(100, [lost("p", 90, None)]), (100, [lost("p", 1, 20)]), (100, [lost("p", 0, 7)])])
    assert [(span.from_ns, span.until_ns) for span in found] == [(90, 100), (101, 120), (200, 207)]


def test_losses_of_several_ports_are_apart_and_in_order_of_time() -> None:
    found = spans(
        [(100, [lost("q", 90, None), lost("p", 20, 30)]), (100, [lost("p", 0, 5), lost("q", 0, 5)])]
    )
    assert [(span.port, span.from_ns, span.until_ns) for span in found] == [
        ("p", 20, 30),
        ("q", 90, 105),
        ("p", 100, 105),
    ]


def test_flaps_that_are_reported_together_count_each() -> None:
    (found,) = spans([(100, [lost("p", 90, None, times=3)]), (100, [lost("p", 0, 20, times=2)])])
    # The one that was there at the begin of the second part is the last of the first.
    assert found.times == 4


def test_frames_on_their_way_and_those_just_behind_are_touched() -> None:
    span = CarrierSpan("p", 100, 200, "link", 1, 0, 0)
    assert span.touches(80, 95, ahead_ns=5, behind_ns=0)
    assert not span.touches(80, 94, ahead_ns=5, behind_ns=0)
    assert span.touches(200, 300, ahead_ns=0, behind_ns=0)
    assert span.touches(203, 300, ahead_ns=0, behind_ns=3)
    assert not span.touches(204, 300, ahead_ns=0, behind_ns=3)
