"""Stands for the engine in a wheel, which has one for each level of x86-64: loads the best that runs here.

A build from sources has an engine of its own, which Python finds before this file.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

FOLDER = Path(__file__).with_name("levels")
LEVELS = {"v2": 2, "v3": 3, "v4": 4}
"""Levels of the x86-64 psABI that the wheel has engines for."""
ASKED = "NETDYNO_LEVEL"
PREFIX = "x86-64-"


def choose(highest: int, asked: str = "") -> str:
    """The level to load. highest: the processor's. asked: by the user; empty: the best.

    Raises ImportError.
    """
    possible = [name for name, level in LEVELS.items() if level <= highest]
    if not possible:
        raise ImportError("this processor lacks x86-64-v2 (SSE4.2, POPCNT), for which the wheel is built")
    level = asked.removeprefix(PREFIX)
    if asked and level not in possible:
        raise ImportError(f"{ASKED}={asked}: this processor runs {', '.join(possible)}")
    return level or possible[-1]


def _load() -> None:
    from netdyno._level import highest

    file = FOLDER / f"{PREFIX}{choose(highest(), os.environ.get(ASKED, ''))}.abi3.so"
    spec = spec_from_file_location(__name__, file, loader=ExtensionFileLoader(__name__, str(file)))
    assert spec is not None
    assert spec.loader is not None
    engine = module_from_spec(spec)
    spec.loader.exec_module(engine)
    # What an import returns is what stands here at its end.
    sys.modules[__name__] = engine


if FOLDER.is_dir():
    _load()
else:
    raise ImportError("it is not built")
