"""The series of a trial: whose they are, and how their samples are packed."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from netdyno.values.outcome import FrameCounts, Outcome, PortResult, StreamResult
from netdyno.values.series import Series, Steps

MAX_SAMPLES = 4_000_000
"""Of one series: twice what a plan may ask for (plan/check.py), and all the engine makes."""

TESTER = "tester"
"""The source of what the tester counted itself."""

_OF_STREAM = {"tx": "frames", "rx": "frames", "arrived": "frames"}
_OF_LAG = {"lag_longest_ns": "ns", "lag_closer_ns": "ns", "lag_bunch": "frames"}
"""The three numbers of each sample of a stream's lag; of a stream that was never late there are none."""
_OF_PORT = {"tx": "frames", "tx_bytes_series": "B", "rx": "frames", "rx_bytes_series": "B"}
"""Fields of a stream's and a port's results that are series, with their units."""
_EMPTY_STREAM: Mapping[str, Any] = dict.fromkeys(_OF_STREAM, ())
_EMPTY_PORT: Mapping[str, Any] = dict.fromkeys(_OF_PORT, ())


def pack(values: Sequence[int]) -> bytes:
    """Signed 64 bit, little endian, then zlib: about a byte and a half a sample of most counters."""
    if len(values) > MAX_SAMPLES:
        raise ValueError(f"a series of {len(values)} samples, and a reader takes {MAX_SAMPLES}")
    return zlib.compress(struct.pack(f"<{len(values)}q", *values), 6)


def unpack(samples: int, data: bytes) -> tuple[int, ...]:
    """What `pack` wrote. A record from elsewhere cannot make it unpack more than it may say."""
    if not 0 <= samples <= MAX_SAMPLES:
        raise ValueError(f"a series of {samples} samples")
    values = struct.unpack(f"<{samples}q", zlib.decompressobj().decompress(data, 8 * samples + 1))
    # Counts repeat. One object for equal numbers is less memory: 8 bytes a sample, not 40.
    known: dict[int, int] = {}
    return tuple(map(known.setdefault, values, values))


@dataclass(frozen=True)
class Row:
    """A series without its trial. times: when each sample is, ns, unless they are `every_ns` apart."""

    owner: str
    number: int
    name: str
    source: str
    subject: str
    unit: str
    scale: int
    first_ns: int | None
    every_ns: int | None
    samples: int
    times: Sequence[int] | None
    data: Sequence[int]


LABEL = ("owner", "number", "name", "source", "subject", "unit", "scale")
"""Fields of a row that are the same for a series of every trial."""


def split(outcome: Outcome) -> tuple[Outcome, Iterator[Row]]:
    """The outcome without its series, and these as rows.

    What is known of instruments' series beside times and values stays in the outcome: series without any.
    """
    has_details = any(one.has_details for one in outcome.series)
    emptied = (replace(one, at_ns=(), values=(), took_ns=()) for one in outcome.series)
    bare = replace(outcome, series=tuple(emptied) if has_details else ())
    if isinstance(outcome.counts, FrameCounts):
        counts = outcome.counts
        bare = bare.with_counts(
            streams=tuple(_bare(one) for one in counts.streams),
            ports=tuple(replace(one, **_EMPTY_PORT) for one in counts.ports),
        )
    return bare, _rows(outcome)


def _bare(stream: StreamResult) -> StreamResult:
    lag = None if stream.lag is None else replace(stream.lag, by_sample=())
    return replace(stream, **_EMPTY_STREAM, lag=lag)


def _rows(outcome: Outcome) -> Iterator[Row]:
    if isinstance(outcome.counts, FrameCounts):
        every = outcome.counts.sample_ns
        counted: tuple[tuple[str, Mapping[str, str], Sequence[StreamResult | PortResult]], ...] = (
            ("stream", _OF_STREAM, outcome.counts.streams),
            ("port", _OF_PORT, outcome.counts.ports),
        )
        for owner, units, found in counted:
            for number, one in enumerate(found):
                for name, unit in units.items():
                    data = getattr(one, name)
                    yield Row(owner, number, name, TESTER, one.name, unit, 0, 0, every, len(data), None, data)
        for number, stream in enumerate(outcome.counts.streams):
            by_sample = () if stream.lag is None else stream.lag.by_sample
            for (name, unit), column in zip(_OF_LAG.items(), zip(*by_sample, strict=True), strict=False):
                many = len(column)
                yield Row("stream", number, name, TESTER, stream.name, unit, 0, 0, every, many, None, column)
    for number, series in enumerate(outcome.series):
        steps = series.at_ns if isinstance(series.at_ns, Steps) else None
        yield Row(
            "instrument",
            number,
            series.name,
            series.source,
            series.subject,
            series.unit,
            series.scale,
            None if steps is None else steps.first_ns,
            None if steps is None else steps.every_ns,
            len(series.values),
            None if steps is not None else series.times_ns,
            series.values,
        )
        if series.took_ns:
            # Of all quantities that one request asked for these are equal, and stored once.
            label = (series.name, series.source, series.subject, "ns", 0)
            many = len(series.took_ns)
            yield Row("instrument", took(number), *label, 0, None, many, None, series.took_ns)


def took(number: int) -> int:
    """The number of the row that has how long each reading of an instrument's series took, ns."""
    return -1 - number


def join(bare: Outcome, rows: Sequence[Row], *, with_ports: bool = True) -> Outcome:
    """The outcome with its series, those of ports if wanted. Raises LookupError or ValueError if one is
    missing or damaged."""
    found = {(row.owner, row.number, row.name): row for row in rows}

    def counts(owner: str, number: int, names: Mapping[str, str]) -> dict[str, Any]:
        rows = {name: found[owner, number, name] for name in names}
        return {name: tuple(row.data) for name, row in rows.items()}

    def stream(number: int, one: StreamResult) -> StreamResult:
        lag = one.lag
        # A store of an earlier netdyno has it where it belongs.
        if lag is not None and ("stream", number, next(iter(_OF_LAG))) in found:
            columns = counts("stream", number, _OF_LAG).values()
            lag = replace(lag, by_sample=tuple(zip(*columns, strict=True)))
        return replace(one, **counts("stream", number, _OF_STREAM), lag=lag)

    whole = bare
    if isinstance(bare.counts, FrameCounts):
        whole = bare.with_counts(
            streams=tuple(stream(number, one) for number, one in enumerate(bare.streams))
        )
        if with_ports:
            ports = (replace(one, **counts("port", n, _OF_PORT)) for n, one in enumerate(bare.ports))
            whole = whole.with_counts(ports=tuple(ports))
    rows_read = {row.number: row for row in rows if row.owner == "instrument"}
    numbers = sorted(number for number in rows_read if number >= 0)
    # A store of an earlier netdyno has times and values only.
    if bare.series and len(bare.series) != len(numbers):
        raise ValueError(f"{len(numbers)} series of instruments, not {len(bare.series)}")
    read = [_series(rows_read[number], rows_read.get(took(number))) for number in numbers]
    if bare.series:
        read = [
            replace(details, at_ns=one.at_ns, values=one.values, took_ns=one.took_ns)
            for one, details in zip(read, bare.series, strict=True)
        ]
    return replace(whole, series=tuple(read))


def _series(row: Row, took: Row | None) -> Series:
    at: Steps | tuple[int, ...]
    if row.times is not None:
        at = tuple(row.times)
    elif row.first_ns is not None and row.every_ns is not None:
        at = Steps(row.first_ns, row.every_ns)
    else:
        raise ValueError(f"a series `{row.name[:40]}` without times")
    times = () if took is None else tuple(took.data)
    return Series(row.source, row.subject, row.name, row.unit, at, tuple(row.data), row.scale, times)
