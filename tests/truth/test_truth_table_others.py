"""The second half of the table of truth (table.py): a file of its own, so that both run side by side."""

from __future__ import annotations

import pytest
from table import CELLS, FIRST, hold

pytest.importorskip("netdyno._engine", reason="the engine is not built")


@pytest.mark.parametrize(("name", "device"), [cell for cell in CELLS if cell[0] not in FIRST])
def test_a_method_finds_what_is_true(name: str, device: str) -> None:
    hold(name, device)
