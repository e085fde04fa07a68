"""What a trial observed of a stream beyond counts: from the engine's JSON to values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypedDict

from netdyno.stats.histogram import decode
from netdyno.values.outcome import Gap, Gaps, Latency, Reordering, Silence, Variation

Observation: TypeAlias = Gaps | Silence | Reordering | Variation | Latency


class Observations(TypedDict):
    """The fields of a `StreamResult` that are observations."""

    gaps: Gaps | None
    silence: Silence | None
    order: Reordering | None
    variation: Variation | None
    spacing: Latency | None


NAMES = tuple(Observations.__annotations__)


def of_table(table: Mapping[str, Any]) -> Observations:
    """Those in a table, which may hold more; what is not there was not asked.

    TypeError if an observation has a field too few, too many, or of another kind.
    """
    found = {name: table[name] for name in NAMES if table.get(name) is not None}
    gaps, silence = found.get("gaps"), found.get("silence")
    order, variation, spacing = found.get("order"), found.get("variation"), found.get("spacing")
    return Observations(
        gaps=None
        if gaps is None
        else _whole(Gaps(**{**gaps, "gaps": tuple(_whole(Gap(**gap)) for gap in gaps["gaps"])})),
        silence=None if silence is None else _whole(Silence(**silence)),
        order=None
        if order is None
        else _whole(Reordering(**{**order, "n_reordered": tuple(order["n_reordered"])})),
        variation=None if variation is None else _whole(Variation(**variation)),
        spacing=None if spacing is None else _whole(Latency(**spacing)),
    )


HISTOGRAMS = ("extents", "above", "below", "histogram")


def _whole(value: Any) -> Any:
    """The value, all of whose numbers are whole ones and whose histograms can be read."""
    for name, field in vars(value).items():
        if name in HISTOGRAMS:
            if field is not None:
                decode(field)
        elif name != "gaps":
            numbers = field if isinstance(field, tuple) else (field,)
            if not all(isinstance(number, int) for number in numbers):
                raise TypeError(f"`{name}` of an observation is no whole number")
    return value
