"""Whether a rehearsal is too short: its trials end before a queue of the device is full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from netdyno.values.reason import Codes, Reason, declared

STILL_QUEUED = "still-queued"
"""Code of the note of a search on frames that were still queued."""


class ShortRehearsal(Reason, code="short-rehearsal"):
    """A rehearsal whose trials are so short that the device's queue holds more of their load than one step of
    the search. safe: the smallest scale at which it does not; None: not even at full length."""

    cases: int
    scale: Fraction
    safe: Fraction | None
    says = """at scale {_scale} the device's queue holds more of the load than one step of the search in
        {cases:case}; {safe:?the smallest safe scale is `--scale {_safe}`|at full length, too}"""

    @property
    def _scale(self) -> str:
        return str(self.scale)

    @property
    def _safe(self) -> str:
        return str(self.safe)


def find_short_rehearsal(scale: Fraction, cases: Iterable[Sequence[Reason]]) -> ShortRehearsal | None:
    """The note on a rehearsal at that scale; None: it is none, or long enough. cases: the notes of each."""
    held = [[one for note in notes if (one := _find_queued(note)) is not None] for notes in cases]
    short = [each for each in held if each]
    if scale >= 1 or not short:
        return None
    needed = scale * max(one.times or Fraction(1) for each in short for one in each)
    return ShortRehearsal(len(short), scale, Fraction(1, int(1 / needed)) if needed <= 1 else None)


def _find_queued(note: Any) -> Any:
    """The note on frames still queued that a note is or holds; None: it is about something else."""
    while note is not None and note.code != STILL_QUEUED:
        note = getattr(note, "reason", None)
    return note


REASONS: Codes = declared(globals())
