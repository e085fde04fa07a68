"""Every output in both layouts, and no output without a sample."""

from __future__ import annotations

import pytest
from netdyno.devices.outputs import INDEX, look_up
from printed import BY_NAME, FOLDER, PRINTED, Printed


def differs(one: dict[str, str], other: dict[str, str]) -> bool:
    """Whether two rows differ in more than how many spaces stand between words."""
    return {name: one[name].split() for name in one} != {name: other[name].split() for name in other}


@pytest.mark.parametrize("printed", PRINTED, ids=lambda one: one.name)
def test_output_in_both_layouts_has_the_same_rows(printed: Printed) -> None:
    laid_out, cut = (printed.parse(text) for text in printed.texts())
    assert len(laid_out.rows) == len(cut.rows) == printed.rows
    # A device that lays its answer out prints more lines above the table than the articles keep.
    ignored = {"process", "vrf"} if printed.name.startswith("iosxr_ospf") else set()
    for one, other in zip(laid_out.rows, cut.rows, strict=True):
        kept = [name for name in laid_out.fields if name not in ignored]
        assert not differs({name: one[name] for name in kept}, {name: other[name] for name in kept})


@pytest.mark.parametrize("printed", PRINTED, ids=lambda one: one.name)
def test_rows_have_a_text_for_each_field(printed: Printed) -> None:
    parsed = printed.parse()
    assert all(tuple(row) == parsed.fields for row in parsed.rows)
    assert all(isinstance(value, str) for row in parsed.rows for value in row.values())


def test_index_and_samples_name_the_same_outputs() -> None:
    sampled = {(found.system, found.template) for found in (look_up(*one[:2]) for one in PRINTED)}
    assert sampled == {(output.system, output.template) for output in INDEX}
    there = {path.name.split(".")[0] for path in FOLDER.glob("*.txt")}
    assert there == set(BY_NAME)
