"""Why a trial did not take place or does not count, as the engine says it: code, fields and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


class EngineReason(str):
    """The sentence, with the code and the fields that programs read. docs/reference.md has the codes."""

    __slots__ = ("code", "fields")
    code: str
    fields: Mapping[str, bool | int | str]

    def __new__(cls, text: str, code: str, fields: Mapping[str, bool | int | str]) -> EngineReason:
        reason = super().__new__(cls, text)
        reason.code = code
        reason.fields = MappingProxyType(dict(fields))
        return reason

    @classmethod
    def read(cls, found: Any) -> EngineReason:
        """The reason in `{"code": ..., "fields": {...}, "text": ...}`."""
        return cls(found["text"], found["code"], found["fields"])

    def __reduce__(self) -> tuple[Any, ...]:
        """What a copy in another process is made of."""
        return EngineReason, (str(self), self.code, dict(self.fields))
