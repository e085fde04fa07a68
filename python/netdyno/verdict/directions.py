"""The verdict on both directions together."""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.trial import Limit, Verdict

_SEVERITY: tuple[Limit, ...] = (
    "invalid",
    "inconclusive",
    "tester",
    "receiver",
    "fixture",
    "licence",
    "device",
    "line",
)


def judge_sum(verdicts: Mapping[str, Verdict]) -> Verdict:
    """The sum is limited by whatever limited a direction; the least certain of them is named."""
    if not verdicts:
        return Verdict("invalid", "no direction was measured")
    limits = {verdict.limit for verdict in verdicts.values()}
    if len(verdicts) == 1:
        return next(iter(verdicts.values()))
    worst = next(limit for limit in _SEVERITY if limit in limits)
    reasons = {verdict.reason for verdict in verdicts.values()}
    if len(limits) == len(reasons) == 1:
        return Verdict(worst, f"each direction: {reasons.pop()}")
    if len(limits) == 1:
        return Verdict(worst, "; ".join(f"{scope}: {one.reason}" for scope, one in verdicts.items()))
    return Verdict(worst, "; ".join(f"{scope}: {one.limit}, {one.reason}" for scope, one in verdicts.items()))
