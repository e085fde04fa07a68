"""A plan's settings by their places, to tell two plans apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

MOST = 5000
"""Settings of a plan. A few aliases of a stranger's plan are endless."""
UNTOLD = ("title", "matrix", "goals", "seed", "name")
"""Parts of a plan that change no number of a case, or are its axes."""


def flat_settings(text: str) -> dict[str, str]:
    """`method.ramp.hold: 30s`, for each setting. A text that is no YAML has none."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        document = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError):
        return {}
    return dict(islice(_flat(document, ()), MOST))


def _flat(part: Any, place: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(part, Mapping):
        for key, value in part.items():
            if place or str(key) not in UNTOLD:
                yield from _flat(value, (*place, str(key)))
    elif isinstance(part, list) and any(isinstance(one, Mapping | list) for one in part):
        for number, value in enumerate(part):
            yield from _flat(value, (*place, str(number)))
    elif place:
        yield ".".join(place), ", ".join(map(str, part)) if isinstance(part, list) else str(part)
