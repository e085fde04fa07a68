"""Reasons as the sentences they are printed as."""

from __future__ import annotations

from collections.abc import Iterable


def as_text(reasons: Iterable[object]) -> tuple[str, ...]:
    """The sentence of each reason."""
    return tuple(str(reason) for reason in reasons)
