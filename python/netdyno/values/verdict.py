"""Who was the limit on a value, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Limit: TypeAlias = Literal[
    "device", "line", "tester", "receiver", "fixture", "licence", "none", "inconclusive", "invalid"
]
"""Who was the limit on a result; every headline number carries one."""


@dataclass(frozen=True)
class Verdict:
    """Who was the limit, and what says so."""

    limit: Limit
    reason: str
