"""Order through emulated devices whose disorder is known frame by frame."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from methodlab import measure_plan, table, text, value
from netdyno.values.finding import Result


def order(*faults: dict[str, Any], method: str = "", matrix: str = "direction: [uni]") -> Result:
    """Two trials of 10,000 frames each, of one flow a stream."""
    plan = text(
        f"order: {{repeats: 2, duration: 20ms, load: 500kpps{method}}}",
        profile="size: 64B, flows: 1",
        matrix=matrix,
    )
    result, _, _ = measure_plan(plan, lambda device: device.update(impairments=[*faults]))
    return result


def each(fault: Any, every: int, port: int = 1) -> dict[str, Any]:
    return {"port": port, "fault": fault, "when": {"every": {"every": every, "first": 50}}}


@pytest.mark.parametrize("by", [1, 3, 8])
def test_a_frame_held_back_until_others_have_passed(by: int) -> None:
    """One of 100 is reordered; its extent is how many passed it, and it is n-reordered up to that."""
    result = order(each({"reorder": {"by": by}}, 100))
    (row,) = table(result, "Reordering")
    assert (row["received"], row["reordered"], row["lost"], row["duplicated"]) == (20_000, 200, 0, 0)
    assert (row["extent, mean"], row["extent, most"], row["extent not known"]) == (by, by, 0)
    assert row["3-reordered share"] == (Fraction(1, 100) if by >= 3 else 0)
    steps = [(one["n"], one["frames"]) for one in table(result, "n-reordering")]
    assert steps == [(n, 200) for n in range(1, by + 1)]
    assert value(result, "reordered").number == Fraction(1, 100)


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


def test_a_device_that_disturbs_nothing_keeps_the_order() -> None:
    result = order()
    for name in ("reordered", "duplicated"):
        assert value(result, name).number == 0


def test_what_came_of_a_device_that_passes_nothing_is_not_known() -> None:
    result = order({"port": 1, "fault": "lose", "when": {"every": {"every": 1, "first": 0}}})
    assert value(result, "reordered").number is None
    (row,) = table(result, "Reordering")
    assert (row["received"], row["lost"], row["reordered share"]) == (0, 20_000, None)
