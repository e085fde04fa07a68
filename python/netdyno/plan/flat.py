"""A plan's settings by their places, to tell two plans apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netdyno.errors import PlanErrors
from netdyno.plan.goals import Baseline, find_baselines
from netdyno.plan.source import read_text

NOT_SETTINGS = ("title", "matrix", "goals", "seed", "name")
"""Parts of a plan that change no number of a case, or are its axes."""


def flat_settings(text: str, overrides: Sequence[str] = ()) -> dict[str, str]:
    """`method.ramp.hold: 30s`, for each setting. A text that is no YAML has none. overrides: what `--set` put
    into it, `lab.links[0].rate=1Gbps`."""
    try:
        source = read_text(text, "")
    except PlanErrors:
        return {}
    found = {} if source.errors else dict(_flat(source.value, ()))
    put = (one.partition("=") for one in overrides)
    named = {re.sub(r"\[([0-9]+)\]", r".\1", path): value for path, _, value in put}
    return found | {
        path: value for path, value in named.items() if path.partition(".")[0] not in NOT_SETTINGS
    }


def baselines_of(text: str, overrides: Sequence[str] = ()) -> tuple[Baseline, ...]:
    """The runs that a plan's text, with what `--set` put into it, wants its own to be no worse than."""
    from netdyno.plan.overrides import override

    try:
        source = read_text(text, "")
    except PlanErrors:
        return ()
    override(source, overrides)
    return find_baselines(source.value.get("goals")) if isinstance(source.value, Mapping) else ()


def _flat(part: Any, place: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(part, Mapping):
        for key, value in part.items():
            if place or str(key) not in NOT_SETTINGS:
                yield from _flat(value, (*place, str(key)))
    elif isinstance(part, list) and any(isinstance(one, Mapping | list) for one in part):
        for number, value in enumerate(part):
            yield from _flat(value, (*place, str(number)))
    elif place:
        yield ".".join(place), ", ".join(map(str, part)) if isinstance(part, list) else str(part)
