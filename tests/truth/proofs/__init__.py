"""The proofs of all methods, a module each: `tests/truth/proofs/NAME.py` for `netdyno/methods/NAME.py`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from netdyno.methods import METHODS, MODULES
from netdyno.values.load import FRAMES
from proof import Proof

HERE = Path(__file__).parent
PROVEN = tuple(
    name for name, method in zip(MODULES, METHODS.values(), strict=True) if method.load_class is FRAMES
)
"""Emulated devices have frames alone: a method of another class is proven on a Linux device (tests/real)."""


def list_missing() -> list[str]:
    """The files that are not there: a method without one is in no table of the tests."""
    return [f"tests/truth/proofs/{name}.py" for name in PROVEN if not (HERE / f"{name}.py").is_file()]


def _load() -> dict[str, Proof]:
    loaded: list[Proof] = [
        import_module(f"proofs.{name}").PROOF for name in PROVEN if (HERE / f"{name}.py").is_file()
    ]
    return {one.plan.method: one for one in loaded}


PROOFS: Mapping[str, Proof] = _load()
"""By the method's name, in the order of `METHODS`."""
