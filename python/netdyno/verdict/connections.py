"""The limit of values of connections. None is named yet: nothing shows what the tester's own TCP could do."""

from __future__ import annotations

from netdyno.values.finding import Result
from netdyno.values.verdict import Verdict
from netdyno.verdict.reasons import LimitNotJudged


def judge_connections(result: Result, name: str) -> dict[str, Verdict]:
    """The verdict on each scope of a value."""
    reason = LimitNotJudged()
    return {value.scope: Verdict("inconclusive", reason) for value in result.values if value.name == name}
