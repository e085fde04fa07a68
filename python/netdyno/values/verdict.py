"""The limit of a value, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from netdyno.values.reason import Reason

Limit: TypeAlias = Literal[
    "device",
    "line",
    "link",
    "tester",
    "receiver",
    "fixture",
    "licence",
    "shaper",
    "policer",
    "receive-window",
    "send-buffer",
    "loss",
    "none",
    "inconclusive",
    "invalid",
]
"""The limit of a result; every headline number carries one."""

OWN_LIMITS: tuple[Limit, ...] = ("tester", "receiver", "receive-window", "send-buffer")
"""Limits of the tester itself and its hosts: behind them a device may do more."""


@dataclass(frozen=True)
class Verdict:
    """The limit, and the reason for it."""

    limit: Limit
    reason: Reason
