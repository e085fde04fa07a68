"""Tables of what a plan or an option can name, loaded from the modules that hold the entries.

A package lists its modules, a line each, and each module has its entry under the name that the package agreed
on. `tests/house/test_contracts.py` reads these lists as imports.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TypeVar

T = TypeVar("T")


def load_table(package: str, attribute: str, kind: type[T], modules: Sequence[str]) -> tuple[T, ...]:
    """The entries of a package's own modules, in their order; a module may have a tuple of them.

    package: the caller's `__name__`. Raises ImportError, AttributeError, TypeError.
    """
    found: list[T] = []
    for name in modules:
        module = f"{package}.{name}"
        held: object = getattr(import_module(module), attribute)
        found += [
            _check(one, module, attribute, kind) for one in (held if isinstance(held, tuple) else (held,))
        ]
    return tuple(found)


def load_entry(module: str, attribute: str, kind: type[T]) -> T:
    """The entry of a module, which is loaded when it is needed.

    Raises ImportError, AttributeError, TypeError.
    """
    return _check(getattr(import_module(module), attribute), module, attribute, kind)


def _check(entry: object, module: str, attribute: str, kind: type[T]) -> T:
    if not isinstance(entry, kind):
        raise TypeError(f"{module}.{attribute} is no {kind.__name__}, it is a {type(entry).__name__}")
    return entry
