"""Recovery and reset: which frames a device loses, by reckoning, and the times that follow."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from closed_forms import SECOND, Stretch, departures, last_bit_ps
from methodlab import measure_plan, table, text, value
from netdyno.methods.reasons.loss import StillLosing
from words import within

MS = 10**9
"""In picoseconds."""
RATE = 10**9
IN_PS = last_bit_ps(64, RATE)
"""From departure to when the last bit is in."""


def wearies(times: list[int], fps: int, queue: int, for_ps: int, every: int) -> list[int]:
    """The frames that are lost by a server with room for `queue`, which for some time after each frame that
    found no room loses one of `every` besides."""
    service = Fraction(SECOND, fps)
    free, inside, until, counted, lost = Fraction(0), [Fraction(0)] * 0, -1, 0, []
    for number, time in enumerate(times):
        if time <= until:
            counted += 1
            if (counted - 1) % every == 0:
                lost.append(number)
                continue
        inside = [done for done in inside if done > time]
        if len(inside) > queue:
            lost.append(number)
            if time > until:
                counted = 0
            until = time + for_ps
            continue
        free = max(free, Fraction(time)) + service
        inside.append(free)
    return lost


@pytest.mark.parametrize(("for_us", "queue"), [(0, 1), (50, 1), (701, 1), (701, 64), (3_001, 4)])
def test_a_port_that_is_weary_recovers_when_its_last_frame_is_lost(for_us: int, queue: int) -> None:
    """RFC 2544, 26.5: 110 % of 300 kpps, then half; once its queue was full it loses all for a time."""

    def change(device: dict[str, Any]) -> None:
        weary = {"for_ns": for_us * 1000, "every": 1} if for_us else None
        device["ports"][0].update(in_fps=[300_000, 1], in_queue=queue, weary=weary)

    asked = "recovery: {throughput: 300kpps, repeats: 1, overload: 4ms, watch: 6ms}"
    result, _, outcomes = measure_plan(text(asked, profile="size: 64B, flows: 1"), change)
    high, low = 330_000 * 672, 165_000 * 672
    times = departures([Stretch(4 * MS, high, high), Stretch(6 * MS, low, low)], 64)
    lost = wearies([time + IN_PS for time in times], 300_000, queue, for_us * 10**6, 1)
    assert lost, "it is overloaded"
    (stream,) = outcomes[0].streams
    assert (stream.offered, stream.lost) == (len(times), len(lost))
    last_ns = times[lost[-1]] // 1000
    assert value(result, "recovery time", "west-east").number == max(last_ns - 4_000_000, 0)


def test_a_port_that_is_weary_for_longer_than_it_is_watched_gives_a_bound() -> None:
    """It loses every tenth frame of all that is sent after the fall: when it recovers is not seen."""

    def change(device: dict[str, Any]) -> None:
        weary = {"for_ns": 200 * MS // 1000, "every": 10}
        device["ports"][0].update(in_fps=[300_000, 1], in_queue=64, weary=weary)

    asked = "recovery: {throughput: 300kpps, repeats: 2, overload: 4ms, watch: 6ms}"
    result, _, outcomes = measure_plan(text(asked, profile="size: 64B, flows: 1"), change)
    seen = [Fraction((one.streams[0].last_loss_ns or 0) - 4 * MS // 1000) for one in outcomes]
    for scope in ("west-east", "sum"):
        found = value(result, "recovery time", scope)
        assert (found.number, found.high) == (None, None)
        assert found.low == sum(seen) / 2 > 5_900_000
        assert isinstance(found.note, StillLosing)
    assert within(StillLosing, result.notes)


@pytest.mark.parametrize("reset_us", [1, 3_000, 4_321])
def test_a_reset_loses_what_is_in_the_device_and_what_comes_meanwhile(reset_us: int) -> None:
    """A frame every 10 us; the reset is 3 us after one of them, which is then crossing the device."""
    asked = "reset: {throughput: 100kpps, repeats: 2, before: 10003us, watch: 9997us}"
    result, _, _ = measure_plan(
        text(asked, profile="size: 64B, flows: 1"), lambda device: device.update(reset_ns=reset_us * 1000)
    )
    begin, end = 10_003 * 10**6, (10_003 + reset_us) * 10**6
    lost = [
        number
        for number in range(2_000)
        for at in (number * 10**7 + IN_PS,)
        # 5 us to cross, and 0.576 us on the line out.
        if at < end and at + 5 * 10**6 + IN_PS > begin
    ]
    assert len(lost) == 1 + (reset_us * 1000 + 3_000 - 576) // 10_000
    (row,) = table(result, "Reset")
    assert row["lost"] == 2 * len(lost)
    assert row["by lost frames"] == len(lost) * 10_000
    assert row["by time stamps"] == (len(lost) + 1) * 10_000
    assert value(result, "reset time", "west-east").number == len(lost) * 10_000
