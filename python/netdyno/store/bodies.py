"""What stands in the store as JSON, a codec each, and the few plain columns beside them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, get_args

from netdyno.store.codec import Codec
from netdyno.values.finding import Result
from netdyno.values.load import Segment
from netdyno.values.outcome import Outcome
from netdyno.values.records import CaseHead, CaseWiring, RunHead, StoredGoal, StoredVerdict


@dataclass(frozen=True)
class TrialBody:
    """A trial as it was asked for and as it went, without its series."""

    segments: tuple[Segment, ...]
    outcome: Outcome


TIME_LENGTH = len("2026-11-21T19:12:03.123456Z")

RUN_HEAD: Codec[RunHead] = Codec(RunHead)
CASE_HEAD: Codec[CaseHead] = Codec(CaseHead)
WIRING: Codec[CaseWiring] = Codec(CaseWiring)
RESULT: Codec[Result] = Codec(Result)
VERDICT: Codec[StoredVerdict] = Codec(StoredVerdict)
GOAL: Codec[StoredGoal] = Codec(StoredGoal)
TRIAL: Codec[TrialBody] = Codec(TrialBody)


def word(text: str, known: Any) -> Any:
    """One of the words of a Literal."""
    if text not in get_args(known):
        raise ValueError(f"`{text[:40]}` is none of {', '.join(get_args(known))}")
    return text


def from_time(time: datetime) -> str:
    """UTC, ISO 8601, microseconds: `2026-11-21T19:12:03.123456Z`."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def to_time(text: str) -> datetime:
    """What `from_time` wrote. ValueError if it is something else."""
    if len(text) != TIME_LENGTH or not text.endswith("Z"):
        raise ValueError(f"`{text[:40]}` is no time in UTC with microseconds")
    # A soak has thousands: this takes a tenth of the time of `strptime`.
    return datetime.fromisoformat(text)


def to_mapping(text: str) -> dict[str, Any]:
    """A JSON object. ValueError if it is something else."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"`{text[:40]}` is not an object")
    return found
