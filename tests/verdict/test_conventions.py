"""Which bytes of a frame a device counts, from counters made by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from balanced import by_hand, ports_of
from netdyno.verdict.balance_reasons import explain_bytes
from netdyno.verdict.conventions import Bytes, reconcile

FRAMES = {("Te0/1", "rx_packets"): 1000, ("Te0/2", "tx_packets"): 1000}


def of_bytes(rx: int, tags: int = 0) -> Bytes:
    """A thousand frames of 64 bytes, 64,000 in all, that the device says are so many bytes."""
    outcome = by_hand({**FRAMES, ("Te0/1", "rx_bytes"): rx}, sent=1000, received=1000)
    (found,) = reconcile(ports_of(outcome).values(), tags)
    return found


@pytest.mark.parametrize(
    ("counted", "tags", "more"),
    [
        (64_000, 0, (0,)),
        (60_000, 0, (-4,)),
        (84_000, 0, (20,)),
        (46_000, 0, (-18,)),
        (68_000, 0, (4,)),
        (56_000, 1, (-8,)),
        (42_000, 1, (-22,)),
    ],
)
def test_convention_that_explains_all_bytes_is_named(counted: int, tags: int, more: tuple[int, ...]) -> None:
    found = of_bytes(counted, tags)
    assert tuple(dict.fromkeys(one.more for one in found.conventions)) == more
    assert found.off == 0


def test_bytes_of_no_convention_say_how_far_off_the_nearest_is() -> None:
    found = of_bytes(60_012)
    assert (found.conventions, found.nearest.more, found.off) == ((), -4, 12)
    assert found.off_share == Fraction(12, 60_000)
    (reason,) = explain_bytes([found])
    assert (reason.code, reason.fields()["off"]) == ("bytes-off", 12)
    assert str(reason)


def test_bytes_of_other_frames_show_no_convention() -> None:
    outcome = by_hand({**FRAMES, ("Te0/1", "rx_bytes"): 60_000}, sent=1001, received=1000)
    assert reconcile(ports_of(outcome).values()) == ()


def test_ways_with_one_convention_are_one_sentence() -> None:
    counted = {**FRAMES, ("Te0/1", "rx_bytes"): 60_000, ("Te0/2", "tx_bytes"): 60_000}
    ports = ports_of(by_hand(counted, sent=1000, received=1000))
    (reason,) = explain_bytes(reconcile(ports.values()))
    assert reason.code == "bytes-explained"
    assert reason.fields() == {"conventions": ["without FCS"], "ways": ["Te0/1 in", "Te0/2 out"]}
