"""Inventories: what is read of a device, and what is refused, with its place."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan.inventory import load_inventory

EXAMPLE = Path(__file__).parents[2] / "examples" / "boxes-inventory.yml"


def test_the_example_has_what_the_published_tests_say() -> None:
    found = {box.name: box for box in load_inventory(EXAMPLE)}
    asr, ccr, switch = found["ASR9006"], found["CCR1072"], found["S5860"]
    # Its three supplies: 741.1, 712.4 and 765.8 W.
    assert asr.idle_watts == sum(map(Fraction, ("741.1", "712.4", "765.8")))
    assert (asr.price, asr.units, asr.loaded) == (10_000, 10, None)
    assert (ccr.price, ccr.currency, ccr.idle_watts) == (3000, "USD", None)
    assert (switch.price, switch.currency, switch.idle_watts) == (1150, "EUR", 18)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("A: 3", "wrong-type", 1),
        ("[A]", "wrong-type", 1),
        ("A:\n  prize: 3 USD", "unknown-name", 2),
        ("A:\n  price: 3000", "wrong-format", 2),
        ("A:\n  price: 3000 Dollar", "wrong-format", 2),
        ("A: {date: 2022-13}", "wrong-format", 1),
        ("A: {units: many}", "wrong-format", 1),
        ("A: {idle: 18}", "wrong-unit", 1),
        ("A: {idle: {one: 0W}}", "out-of-range", 1),
        ("A: {loaded: [1W]}", "wrong-type", 1),
        ("A: [", "not-yaml", 1),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, code: str, line: int) -> None:
    file = tmp_path / "inventory.yml"
    file.write_text(text)
    with pytest.raises(PlanErrors) as raised:
        load_inventory(file)
    (error,) = raised.value.errors
    assert (error.code, error.line, error.file) == (code, line, str(file))
