"""Names that a template uses and that have no value: an error, or a stand-in that finds the next one."""

# jinja2 declares the operators of a missing value as functions that never return.
# mypy: disable-error-code="override,assignment"

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import jinja2
from jinja2.utils import missing as missing_owner

from netdyno.errors import suggestion

STAND_IN = "\ufffc"
"""What is written in place of a value that is missing (OBJECT REPLACEMENT CHARACTER)."""


class Fields(dict[str, Any]):
    """A mapping that templates read. noun: what it is, `a link`."""

    def __init__(self, noun: str, fields: Mapping[str, Any]) -> None:
        super().__init__(fields)
        self._noun = noun

    def describe(self) -> str:
        return self._noun


class UnknownError(jinja2.UndefinedError):
    """A name without a value is used. missing: whose, and the name. hint: names that have one."""

    def __init__(self, why: str, hint: str, missing: tuple[str, str]) -> None:
        super().__init__(why)
        self.hint = hint
        self.missing = missing


class Unknown(jinja2.StrictUndefined):
    """A value that is missing. stand_ins: those whose lack is known; known: names that have a value."""

    stand_ins: ClassVar[Collection[tuple[str, str]]] = ()
    known: ClassVar[Collection[str]] = ()

    def use(self, *given: Any, **named: Any) -> Any:
        """Itself, if its lack is known. Raises UnknownError, SecurityError."""
        if self._undefined_hint:
            self._fail_with_undefined_error()
        missing, why, hint = self._explain()
        if missing not in self.stand_ins:
            raise UnknownError(why, hint, missing)
        return self

    def _explain(self) -> tuple[tuple[str, str], str, str]:
        """What is missing, why, and what there is."""
        owner, name = self._undefined_obj, str(self._undefined_name)
        if owner is missing_owner:
            return ("", name), f"unknown name `{name}`", suggestion(name, self.known, "names")
        if isinstance(owner, Fields):
            noun = owner.describe()
            why = f"{noun} has no `{name}`"
            return (noun, name), why, suggestion(name, owner, f"{noun} has")
        if isinstance(owner, list):
            last = len(owner) - 1
            hint = f"elements: 0 to {last}" if owner else "test first by `if` whether it has one"
            return ("list", name), f"a list of {len(owner)} has no element {name}", hint
        noun = {"str": "a text", "int": "a number", "dict": "a mapping"}.get(type(owner).__name__, "a value")
        return (noun, name), f"{noun} has no `{name}`", f"names: {', '.join(self.known)}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.use()

    def __str__(self) -> str:
        self.use()
        return STAND_IN

    def __bool__(self) -> bool:
        return bool(self.use() is None)

    def __len__(self) -> int:
        self.use()
        return 0

    def __iter__(self) -> Any:
        self.use()
        return iter(())

    def __contains__(self, one: Any) -> bool:
        return one is self.use()

    def __eq__(self, other: object) -> bool:
        return other is self.use()

    def __ne__(self, other: object) -> bool:
        return other is not self.use()

    def __lt__(self, other: Any) -> bool:
        return self.__contains__(None)

    def __hash__(self) -> int:
        self.use()
        return 0

    def _fail_with_undefined_error(self, *given: Any, **named: Any) -> Any:
        return super()._fail_with_undefined_error() if self._undefined_hint else self.use()

    def __int__(self) -> int:
        self.use()
        return 0

    def __float__(self) -> float:
        self.use()
        return 0.0

    __le__ = __gt__ = __ge__ = __lt__
    __call__ = __getitem__ = __pos__ = __neg__ = __abs__ = use
    __index__ = __int__


def class_of(known: Collection[str], stand_ins: Collection[tuple[str, str]]) -> type[Unknown]:
    """The class of missing values of one expansion."""
    return type("Unknown", (Unknown,), {"known": known, "stand_ins": stand_ins})
