"""Reasons as the sentences they are printed as, and those within others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import TypeVar

from netdyno.errors import PlanErrors
from netdyno.values.engine_reason import EngineReason
from netdyno.values.reason import Reason

R = TypeVar("R")


def said(sentence: str) -> Reason:
    """A reason that prints as this sentence, where a test needs any reason: every table of codes has it."""
    return EngineReason.of(sentence, "said", {})


def said_each(sentences: Iterable[str]) -> tuple[Reason, ...]:
    """A reason for each sentence."""
    return tuple(map(said, sentences))


def has_code(*codes: str) -> Callable[[BaseException], bool]:
    """A check for `pytest.raises`: the error has one of these codes; of a plan's errors, all have."""

    def check(error: BaseException) -> bool:
        found = [one.code for one in error.errors] if isinstance(error, PlanErrors) else [error.code]  # type: ignore[attr-defined]
        return set(found) <= set(codes)

    return check


def as_text(reasons: Iterable[object]) -> tuple[str, ...]:
    """The sentence of each reason."""
    return tuple(str(reason) for reason in reasons)


def within(kind: type[R], *reasons: object) -> tuple[R, ...]:
    """The reasons of a class among these, and among those that they hold."""
    return tuple(one for one in _all(reasons) if isinstance(one, kind))


def _all(found: object) -> Iterator[object]:
    if isinstance(found, tuple):
        for one in found:
            yield from _all(one)
    elif is_dataclass(found):
        yield found
        for field in fields(found):
            yield from _all(getattr(found, field.name))
