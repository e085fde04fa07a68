"""Published texts as forms: whole, with what a device counts in the place of their own numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

DATA = Path(__file__).parents[2] / "data"


def published(name: str, begin: str = "") -> str:
    """A text, or the part of it from the line that begins so up to the next interface."""
    text = (DATA / "outputs" / f"{name}.laid_out.txt").read_text()
    if not begin:
        return text
    lines = text.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith(begin))
    ends = (n for n in range(at + 1, len(lines)) if lines[n].strip() and not lines[n][0].isspace())
    return "".join(lines[at : next(ends, len(lines))])


def form(text: str, places: Mapping[str, str]) -> str:
    """The text as a format. places: what it has exactly once, and the fields that stand there instead."""
    text = text.replace("{", "{{").replace("}", "}}")
    for shown, fields in places.items():
        assert text.count(shown) == 1, f"{shown!r} is there {text.count(shown)} times"
        text = text.replace(shown, fields)
    return text
