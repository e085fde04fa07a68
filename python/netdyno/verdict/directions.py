"""The verdict on several streams together: those of a port group, and all."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from netdyno.values.situation import Situation
from netdyno.values.verdict import Limit, Verdict
from netdyno.verdict.proof_reasons import ByDirection, EachDirection, NoDirection
from netdyno.verdict.reasons import names_a_stream
from netdyno.verdict.words import MOST

_SEVERITY: tuple[Limit, ...] = (
    "invalid",
    "inconclusive",
    "tester",
    "receiver",
    "fixture",
    "receive-window",
    "send-buffer",
    "loss",
    "policer",
    "shaper",
    "licence",
    "device",
    "link",
    "line",
    "none",
)


def with_sums(
    verdicts: Mapping[str, Verdict], situation: Situation, deciding: Collection[str]
) -> dict[str, Verdict]:
    """The verdicts on streams, and those on each of several port groups and on all together, which these
    streams decide."""
    found = dict(verdicts)
    for group in situation.groups:
        streams = (situation.streams[member] for member in situation.members(group))
        found[group] = judge_sum({name: verdicts[name] for name in streams if name in verdicts})
    found["sum"] = judge_sum({name: one for name, one in verdicts.items() if name in deciding})
    return found


def judge_sum(verdicts: Mapping[str, Verdict]) -> Verdict:
    """The verdict on the sum: the limit of one direction, the least certain of them."""
    if not verdicts:
        return Verdict("invalid", NoDirection())
    limits = {verdict.limit for verdict in verdicts.values()}
    if len(verdicts) == 1:
        return next(iter(verdicts.values()))
    worst = next(limit for limit in _SEVERITY if limit in limits)
    reasons = {verdict.reason for verdict in verdicts.values()}
    if len(limits) == len(reasons) == 1:
        (reason,) = reasons
        return Verdict(worst, reason if names_a_stream(reason) else EachDirection(reason))
    # Of many directions only those that decided the limit are printed.
    ordered = [(scope, one) for scope, one in verdicts.items() if one.limit == worst or len(verdicts) <= MOST]
    # What limits comes first, what was clean last.
    ordered.sort(key=lambda of: of[1].limit != worst)
    first = tuple((scope, one.reason) for scope, one in ordered[:MOST])
    return Verdict(worst, ByDirection(first, len(verdicts) - len(first)))
