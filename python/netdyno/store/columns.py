"""How values stand in the columns: exact numbers, times, lists and series. Both ways."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from dataclasses import fields as dataclass_fields
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, TypeVar, get_args

from netdyno.values.finding import Cell, Column, Figure, Table
from netdyno.values.health import CatchUp, Health, WorkerHealth
from netdyno.values.load import Segment
from netdyno.values.outcome import InterfaceResult, StreamResult
from netdyno.values.reason import Codes, Reason, decode, encode
from netdyno.values.situation import Place

T = TypeVar("T")

MAX_SAMPLES = 4_000_000
"""Of one series: twice what a plan may ask for (plan/check.py), and all the engine makes."""

_NUMBER = re.compile(r"-?[0-9]{1,1000}(/[0-9]{1,1000})?", re.ASCII)


def from_fraction(number: Fraction | None) -> str | None:
    """`14880952` or `7/3`."""
    return None if number is None else str(number)


def to_fraction(text: str | None) -> Fraction | None:
    """What `from_fraction` wrote."""
    return None if text is None else exact(text)


def exact(text: str) -> Fraction:
    """A number that is there. Exponents, which a few characters make endless, are none of ours."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"`{text[:40]}` is not an exact number")
    return Fraction(text)


def word(text: str, known: Any) -> Any:
    """One of the words of a Literal."""
    if text not in get_args(known):
        raise ValueError(f"`{text[:40]}` is none of {', '.join(get_args(known))}")
    return text


def from_time(time: datetime) -> str:
    """UTC, ISO 8601, microseconds: `2026-11-21T19:12:03.123456Z`."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def to_time(text: str) -> datetime:
    """What `from_time` wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def from_texts(texts: Iterable[str]) -> str:
    """A list of texts as JSON."""
    return json.dumps(list(texts), ensure_ascii=False)


def to_texts(text: str) -> tuple[str, ...]:
    """What `from_texts` wrote."""
    return tuple(_all(str, json.loads(text)))


def from_reason(reason: Reason | None) -> str:
    """A reason as a JSON object; none is an empty text."""
    return "" if reason is None else json.dumps(encode(reason), ensure_ascii=False)


def to_reason(text: str, known: Codes) -> Reason | None:
    """What `from_reason` wrote. known: classes of reasons by code."""
    return decode(json.loads(text), known) if text else None


def to_given_reason(text: str, known: Codes) -> Reason:
    """A reason that has to be there."""
    return decode(json.loads(text), known)


def from_reasons(reasons: Iterable[Reason]) -> str:
    """A list of reasons as JSON."""
    return json.dumps([encode(reason) for reason in reasons], ensure_ascii=False)


def to_reasons(text: str, known: Codes) -> tuple[Reason, ...]:
    """What `from_reasons` wrote."""
    return tuple(decode(one, known) for one in _all(dict, json.loads(text)))


def to_numbers(text: str) -> tuple[int, ...]:
    """A JSON list of whole numbers."""
    return tuple(_all(int, json.loads(text)))


def to_names(text: str) -> dict[str, str]:
    """A JSON object from names to words."""
    found = to_mapping(text)
    _all(str, list(found.values()))
    return found


def to_mapping(text: str) -> dict[str, Any]:
    """A JSON object."""
    (found,) = _all(dict, [json.loads(text)])
    return found


def to_mappings(text: str) -> tuple[dict[str, Any], ...]:
    """A JSON list of objects."""
    return tuple(_all(dict, json.loads(text)))


THREADS = (
    *("split_flows", "threads", "cores", "tx_dropped", "rx_full", "rx_full_ns"),
    *("tx_ahead", "tx_ahead_ns", "unheard", "rx_too_long"),
)
"""What of the tester's health has no column of its own. A store of before knows fewer of them."""


def from_threads(health: Health) -> str:
    """The tester's threads, what its ports noticed and how it caught up, as a JSON object."""
    table: dict[str, Any] = {name: getattr(health, name) for name in THREADS}
    table["workers"] = [asdict(worker) for worker in health.workers]
    if health.catch_up is not None:
        table["catch_up"] = asdict(health.catch_up)
    return json.dumps(table)


def to_threads(text: str) -> dict[str, Any]:
    """What `from_threads` wrote, as fields of `Health`; none of a store that knows nothing of them."""
    found = to_mapping(text)
    fields: dict[str, Any] = {name: found[name] for name in THREADS if name in found}
    absent = {"tx_ahead_ns": None, "rx_full_ns": None}
    if not all(isinstance(value, int) or absent.get(name, 0) is value for name, value in fields.items()):
        raise ValueError(f"`{text[:40]}` is not of the tester's threads")
    workers = _all(dict, found.get("workers", []))
    fields["workers"] = tuple(WorkerHealth.of(worker) for worker in workers)
    if "catch_up" in found:
        (caught,) = _all(dict, [found["catch_up"]])
        _all(int, list(caught.values()))
        if set(caught) != {field.name for field in dataclass_fields(CatchUp)}:
            raise ValueError(f"`{str(caught)[:40]}` is not how a tester caught up")
        fields["catch_up"] = CatchUp(**caught)
    return fields


def _all(kind: type[T], found: object) -> list[T]:
    if not isinstance(found, list) or not all(isinstance(one, kind) for one in found):
        raise ValueError(f"`{str(found)[:40]}` is not a list of {kind.__name__}")
    return found


def from_series(counts: Sequence[int]) -> bytes:
    """Unsigned 64 bit, little endian, packed, then zlib: about a byte and a half a sample."""
    if len(counts) > MAX_SAMPLES:
        raise ValueError(f"a series of {len(counts)} samples, and a reader takes {MAX_SAMPLES}")
    return zlib.compress(struct.pack(f"<{len(counts)}Q", *counts), 6)


def to_series(samples: int, data: bytes) -> tuple[int, ...]:
    """What `from_series` wrote. A record from elsewhere cannot make it unpack more than it may say."""
    if not 0 <= samples <= MAX_SAMPLES:
        raise ValueError(f"a series of {samples} samples")
    unpacked = zlib.decompressobj().decompress(data, 8 * samples + 1)
    return struct.unpack(f"<{samples}Q", unpacked)


def from_segments(segments: Iterable[Segment]) -> str:
    """Segments as JSON, rates exact."""
    rows: list[dict[str, Any]] = [
        {
            "name": segment.name,
            "duration_ns": segment.duration_ns,
            "from_fps": str(segment.from_fps),
            "to_fps": str(segment.to_fps),
        }
        for segment in segments
    ]
    return json.dumps(rows)


def to_segments(text: str) -> tuple[Segment, ...]:
    """What `from_segments` wrote."""
    return tuple(
        Segment(str(row["name"]), int(row["duration_ns"]), exact(row["from_fps"]), exact(row["to_fps"]))
        for row in to_mappings(text)
    )


def from_places(places: Iterable[Place]) -> str:
    """Places as JSON, shares exact."""
    rows = [{**asdict(place), "share": str(place.share), "line": str(place.line)} for place in places]
    return json.dumps(rows, ensure_ascii=False)


def to_places(text: str, streams: int) -> tuple[Place, ...]:
    """What `from_places` wrote, one for each of so many streams, or none."""
    found = tuple(
        Place(
            int(row["tx"]),
            int(row["rx"]),
            exact(row["share"]),
            str(row["traffic"]),
            # Earlier versions knew no groups.
            str(row.get("group", "")),
            exact(row.get("line", "1")),
            str(row.get("card", "")),
        )
        for row in to_mappings(text)
    )
    if found and len(found) != streams:
        raise ValueError(f"{len(found)} places of {streams} streams")
    return found


_COUNTS = tuple(one.name for one in dataclass_fields(StreamResult) if one.type == "int")
"""Plain counts of a stream."""


def from_beside(streams: Iterable[StreamResult]) -> str:
    """Counts of what was sent beside the streams that are measured, as JSON: no more is kept of them."""
    rows = [{"name": one.name, "counts": {name: getattr(one, name) for name in _COUNTS}} for one in streams]
    return json.dumps(rows, ensure_ascii=False)


def to_beside(text: str) -> tuple[StreamResult, ...]:
    """What `from_beside` wrote."""
    unkept: dict[str, Any] = {"latency": None, "tx": (), "rx": (), "arrived": (), "first_loss_ns": None}
    return tuple(
        StreamResult(name=str(row["name"]), **{**unkept, **_counts(row["counts"])})
        for row in to_mappings(text)
    )


def from_interfaces(interfaces: Iterable[InterfaceResult]) -> str:
    """What interfaces counted, as JSON."""
    rows = [
        {
            "port": one.port,
            "interface": one.interface,
            "counters": dict(one.counters),
            "driver": dict(one.driver),
            "kinds": {kind: dict(found) for kind, found in one.kinds.items()},
            "downs": one.downs,
            "waited_ns": one.waited_ns,
        }
        for one in interfaces
    ]
    return json.dumps(rows, ensure_ascii=False)


def to_interfaces(text: str) -> tuple[InterfaceResult, ...]:
    """What `from_interfaces` wrote."""
    return tuple(
        InterfaceResult(
            str(row["port"]),
            str(row["interface"]),
            _counts(row["counters"]),
            _counts(row["driver"]),
            {str(kind): _counts(found) for kind, found in row["kinds"].items()},
            int(row["downs"]),
            int(row.get("waited_ns", 0)),
        )
        for row in to_mappings(text)
    )


def _counts(found: Any) -> dict[str, int]:
    _all(int, list(found.values()))
    return dict(found)


def from_tables(tables: Iterable[Table]) -> str:
    """Tables of a result as JSON: of their cells numbers are text (`7/3`), and texts `{"text": ...}`."""
    rows = [
        {
            "name": table.name,
            "caption": table.caption,
            "columns": [
                [column.name, column.unit, *([True] if column.at_throughput else [])]
                for column in table.columns
            ],
            "rows": [[_from_cell(cell) for cell in row] for row in table.rows],
            "figure": None if table.figure is None else _from_figure(table.figure),
        }
        for table in tables
    ]
    return json.dumps(rows, ensure_ascii=False)


def to_tables(text: str) -> tuple[Table, ...]:
    """What `from_tables` wrote. That rows and figures fit the columns is looked at by `Table`."""
    return tuple(
        Table(
            name=_text(row["name"]),
            columns=tuple(
                Column(_text(name), _text(unit), bool(marked)) for name, unit, *marked in row["columns"]
            ),
            rows=tuple(tuple(_to_cell(cell) for cell in cells) for cells in _all(list, row["rows"])),
            caption=_text(row["caption"]),
            figure=None if row["figure"] is None else _to_figure(row["figure"]),
        )
        for row in to_mappings(text)
    )


def _from_cell(cell: Cell) -> Any:
    return {"text": cell} if isinstance(cell, str) else from_fraction(cell)


def _to_cell(found: Any) -> Cell:
    return _text(found["text"]) if isinstance(found, dict) else to_fraction(found)


def _from_figure(figure: Figure) -> dict[str, Any]:
    def ends(pair: tuple[Fraction, Fraction] | None) -> list[str] | None:
        return None if pair is None else [str(end) for end in pair]

    return {**asdict(figure), "x_range": ends(figure.x_range), "y_range": ends(figure.y_range)}


def _to_figure(found: dict[str, Any]) -> Figure:
    def ends(pair: list[str] | None) -> tuple[Fraction, Fraction] | None:
        if pair is None:
            return None
        first, last = pair
        return exact(first), exact(last)

    return Figure(
        x=_text(found["x"]),
        ys=tuple(_all(str, found["ys"])),
        reference=tuple(_all(str, found["reference"])),
        x_range=ends(found["x_range"]),
        y_range=ends(found["y_range"]),
        log_x=bool(found["log_x"]),
        by=None if found["by"] is None else _text(found["by"]),
    )


def _text(found: Any) -> str:
    (text,) = _all(str, [found])
    return text
