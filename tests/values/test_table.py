"""Tables of entries that modules hold: each has the type that was agreed on, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from netdyno.values.table import load_entry, load_table


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of three modules, of which one has two entries and one has none that fits."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    for name, text in {"one": "ENTRY = 1", "two": "ENTRY = (2, 3)", "wrong": "ENTRY = 'four'"}.items():
        (folder / f"{name}.py").write_text(f"{text}\n")
    monkeypatch.syspath_prepend(tmp_path)
    return "shelf"


def test_table_has_the_entries_in_the_order_of_its_modules(package: str) -> None:
    assert load_table(package, "ENTRY", int, ("two", "one")) == (2, 3, 1)


def test_table_with_an_entry_of_another_type_is_refused(package: str) -> None:
    with pytest.raises(TypeError, match=r"shelf\.wrong\.ENTRY is no int"):
        load_table(package, "ENTRY", int, ("one", "wrong"))


def test_entry_of_another_name_or_module_is_an_error(package: str) -> None:
    assert load_entry(f"{package}.one", "ENTRY", int) == 1
    with pytest.raises(AttributeError):
        load_entry(f"{package}.one", "OTHER", int)
    with pytest.raises(ImportError):
        load_entry(f"{package}.none", "ENTRY", int)
