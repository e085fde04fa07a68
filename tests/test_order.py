"""Order and delay variation through emulated devices whose disorder is known frame by frame."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from methodlab import measured, table, text, value
from netdyno.trial import Result

APART_NS = 2000
"""From frame to frame at 500 kpps."""
FRAME_NS = 672
"""64 bytes and 20 around them at 1 Gbit/s."""


def order(*faults: dict[str, Any], method: str = "", matrix: str = "direction: [uni]") -> Result:
    """Two trials of 10,000 frames each, of one flow a stream."""
    plan = text(
        f"order: {{repeats: 2, duration: 20ms, load: 500kpps{method}}}",
        profile="size: 64B, flows: 1",
        matrix=matrix,
    )
    result, _, _ = measured(plan, lambda device: device.update(impairments=[*faults]))
    return result


def each(fault: Any, every: int, port: int = 1) -> dict[str, Any]:
    return {"port": port, "fault": fault, "when": {"every": {"every": every, "first": 50}}}


@pytest.mark.parametrize("by", [1, 3, 8])
def test_a_frame_held_back_until_others_have_passed(by: int) -> None:
    """RFC 4737: one of 100 is reordered; its extent is how many passed it, and it is n-reordered up to that.

    It leaves when the last of those that pass it has left, and is late by their time and that one's.
    """
    result = order(each({"reorder": {"by": by}}, 100))
    (row,) = table(result, "Reordering")
    assert (row["received"], row["reordered"], row["lost"], row["duplicated"]) == (20_000, 200, 0, 0)
    assert (row["extent, mean"], row["extent, most"], row["extent not known"]) == (by, by, 0)
    assert row["3-reordered share"] == (Fraction(1, 100) if by >= 3 else 0)
    steps = [(one["n"], one["frames"]) for one in table(result, "n-reordering")]
    assert steps == [(n, 200) for n in range(1, by + 1)]
    assert value(result, "reordered").number == Fraction(1, 100)
    late = by * APART_NS + FRAME_NS
    # The histogram has three digits.
    assert value(result, "PDV").number == pytest.approx(late, rel=1e-3)
    for name, expected in (("IPDV, least", -late), ("IPDV, median", 0), ("IPDV, most", late)):
        assert value(result, name).number == expected
    assert [one["trial"] for one in table(result, "Delay variation")] == [1, 2]


def test_copies_and_losses_are_no_reordering() -> None:
    result = order(each("duplicate", 100), {**each("lose", 1000)})
    (row,) = table(result, "Reordering")
    assert (row["reordered"], row["lost"]) == (0, 20)
    # Of the frames that are lost those that were to be copied are gone before they are.
    assert row["duplicated"] in (180, 200)
    assert value(result, "reordered").number == 0
    assert table(result, "n-reordering") == []


def test_each_stream_has_its_own_order() -> None:
    result = order(each({"reorder": {"by": 3}}, 100), matrix="direction: [bidir]")
    rows = {row["stream"]: row["reordered"] for row in table(result, "Reordering")}
    assert rows == {"west-east": 200, "east-west": 0}
    assert value(result, "reordered").number == Fraction(200, 40_000)


def test_a_device_that_disturbs_nothing_varies_nothing() -> None:
    result = order()
    for name in ("reordered", "duplicated", "PDV", "IPDV, least", "IPDV, most"):
        assert value(result, name).number == 0
    assert [row["PDV"] for row in table(result, "PDV")] == [0] * 4, "p99.99 takes 100,000 frames"


def test_what_came_of_a_device_that_passes_nothing_is_not_known() -> None:
    result = order({"port": 1, "fault": "lose", "when": {"every": {"every": 1, "first": 0}}})
    assert value(result, "reordered").number is None
    assert value(result, "PDV").number is None
    (row,) = table(result, "Reordering")
    assert (row["received"], row["lost"], row["reordered share"]) == (0, 20_000, None)


def test_shorter_than_the_standard_asks_is_told() -> None:
    assert [one.split(",")[0] for one in order().recommended] == ["trials of 20ms", "2 trials"]
