"""Which of a wheel's engines is loaded, by the processor and by what the user asks for."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from netdyno.testers.netdyno import engine


@pytest.fixture
def loader() -> ModuleType:
    """The file that stands for the engine in a wheel, which is not loaded beside one that was built."""
    file = Path(engine.__file__).parents[2] / "_engine.py"
    spec = importlib.util.spec_from_file_location("loader", file)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    with pytest.raises(ImportError, match="not built"):
        spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize(
    ("highest", "asked", "loaded"),
    [
        (4, "", "v4"),
        (3, "", "v3"),
        (2, "", "v2"),
        (5, "", "v4"),
        (4, "v2", "v2"),
        (4, "x86-64-v2", "v2"),
        (3, "v3", "v3"),
    ],
)
def test_best_engine_of_the_processor_is_loaded_or_the_one_asked_for(
    highest: int, asked: str, loaded: str, loader: ModuleType
) -> None:
    assert loader.choose(highest, asked) == loaded


@pytest.mark.parametrize(("highest", "asked"), [(1, ""), (0, ""), (1, "v2"), (3, "v4"), (4, "v5"), (4, "4")])
def test_engine_that_the_processor_lacks_is_refused(highest: int, asked: str, loader: ModuleType) -> None:
    with pytest.raises(ImportError, match="this processor"):
        loader.choose(highest, asked)
