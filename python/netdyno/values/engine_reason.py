"""Why a trial did not take place or does not count, as the engine says it: code, fields and a sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from netdyno.values.reason import Codes, Reason, by_code


class EngineReason(Reason, code="engine"):
    """A reason with one of the engine's codes. docs/reference.md has them."""

    text: str
    """The engine's own sentence."""
    kind: str
    """The engine's code."""
    details: str
    """The engine's fields, a JSON object."""

    @classmethod
    def of(cls, text: str, kind: str, about: Mapping[str, bool | int | str]) -> EngineReason:
        """The reason with these fields."""
        return cls(text, kind, json.dumps(dict(about), sort_keys=True))

    @classmethod
    def read(cls, found: Any) -> EngineReason:
        """The reason in the engine's `{"code": ..., "fields": {...}, "text": ...}`."""
        return cls.of(found["text"], found["code"], found["fields"])

    @property
    def full_code(self) -> str:
        """`engine` and the engine's code."""
        return f"{self.code} {self.kind}"

    @property
    def about(self) -> Mapping[str, Any]:
        """The engine's fields; empty if a record has something else there."""
        try:
            found = json.loads(self.details)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    says = "{text}"


REASONS: Codes = by_code(EngineReason)
