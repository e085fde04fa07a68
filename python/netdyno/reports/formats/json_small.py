"""The results alone as JSON: a plain number with its unit in the key, the exact fraction beside it.

Its keys are those of the whole JSON.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from netdyno.reports import Look
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values.finding import Value

UNITS = {"fps": "pps", "ns": "ns", "bps": "bps", "ratio": "ratio", "share": "ratio"}
"""Units of values and how keys end; the unit of any other stands beside its number."""


def render(runs: Sequence[RunView], look: Look) -> bytes:
    """The report on one run."""
    (run,) = runs
    return text(run).encode()


def text(run: RunView) -> str:
    """The document; its keys are listed in docs/reports.md."""
    table = {
        "run": run.id,
        "title": run.title,
        "devices": list(run.device_titles),
        "emulated": run.emulated,
        "state": run.state,
        "scale": str(run.scale),
        "cases": [_case(case) for case in run.cases],
    }
    return json.dumps(table, indent=2, ensure_ascii=False) + "\n"


def _case(case: CaseView) -> dict[str, Any]:
    verdict = case.verdict()
    return {
        "name": case.name,
        "settings": dict(case.settings),
        "profile": case.profile,
        "direction": case.direction,
        "state": case.state,
        "limit": case.limit(),
        **({"reason": _with_code(verdict.reason.full_code, verdict.reason)} if verdict is not None else {}),
        **({"error": _with_code(case.error.code, case.error)} if case.error else {}),
        **({"goals": [{"goal": g, "passed": p} for g, p, _ in case.goals]} if case.goals else {}),
        "values": [_value(case, value) for value in (case.result.values if case.result else ())],
    }


def _value(case: CaseView, value: Value) -> dict[str, Any]:
    known = UNITS.get(value.unit)
    end = "" if known is None else f"_{known}"
    found: dict[str, Any] = {"value": value.name, "scope": value.scope, "limit": case.limit_of(value)}
    if known is None and value.unit:
        found["unit"] = value.unit
    for key, number in (("number", value.number), ("low", value.low), ("high", value.high)):
        if number is not None:
            found[f"{key}{end}"] = _plain(number)
            found[f"{key}_exact"] = str(number)
    doubt = case.doubt(value)
    if doubt is not None:
        found["contradicted"] = _with_code(doubt.full_code, doubt)
    share = case.share_of_line(value)
    if share is not None:
        found["share_of_line_ratio"] = _plain(share)
    return found


def _with_code(code: str, said: object) -> dict[str, str]:
    """A code for programs, and the sentence for people."""
    return {"code": code, "text": str(said)}


def _plain(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)
