"""Outcomes that are kept for long: their series packed, and what is equal in two of them there once."""

from __future__ import annotations

import copy
import struct
import zlib
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar, overload

from netdyno.values.outcome import FlowCounts, FrameCounts, Outcome, PortResult, StreamResult

T = TypeVar("T")

LEAST = 16
"""Numbers from which on a series is packed."""
AT_ONCE = 64
"""Series that are unpacked at the same time."""


class Packed(Sequence[Any]):
    """A tuple of numbers, or of tuples of as many numbers each, that takes about a byte a number."""

    __slots__ = ("_count", "_data", "_width")

    def __init__(self, values: Sequence[Any]) -> None:
        """values: of 64 bits. ValueError if one has more."""
        self._count = len(values)
        self._width = len(values[0]) if isinstance(values[0], tuple) else 0
        flat = [number for row in values for number in row] if self._width else values
        try:
            self._data = zlib.compress(struct.pack(f"<{len(flat)}q", *flat), 1)
        except struct.error as error:
            raise ValueError(f"a series that cannot be packed: {error}") from error

    @property
    def values(self) -> tuple[Any, ...]:
        """The numbers."""
        return _unpack(self._data, self._count, self._width)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        return self.values[place]

    def __iter__(self) -> Any:
        return iter(self.values)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Packed):
            return (self._count, self._data) == (other._count, other._data)
        return self.values == other

    def __hash__(self) -> int:
        return hash(self.values)

    def __repr__(self) -> str:
        return repr(self.values)


@lru_cache(AT_ONCE)
def _unpack(data: bytes, count: int, width: int) -> tuple[Any, ...]:
    flat = struct.unpack(f"<{count * max(width, 1)}q", zlib.decompress(data))
    return tuple(zip(*[iter(flat)] * width, strict=True)) if width else flat


def _pack(values: Any) -> Any:
    return Packed(values) if isinstance(values, tuple) and len(values) >= LEAST else values


def with_packed_series(outcome: Outcome) -> Outcome:
    """An outcome equal to this one whose series take little memory."""
    series = (
        replace(one, at_ns=_pack(one.at_ns), values=_pack(one.values), took_ns=_pack(one.took_ns))
        for one in outcome.series
    )
    found = replace(outcome, series=tuple(series))
    if not isinstance(found.counts, FrameCounts):
        return found
    return found.with_counts(streams=tuple(map(_stream, found.streams)), ports=tuple(map(_port, found.ports)))


def _stream(one: StreamResult) -> StreamResult:
    lag = None if one.lag is None else replace(one.lag, by_sample=_pack(one.lag.by_sample))
    by_flow = None if one.by_flow is None else _flows(one.by_flow)
    return replace(
        one, tx=_pack(one.tx), rx=_pack(one.rx), arrived=_pack(one.arrived), lag=lag, by_flow=by_flow
    )


def _flows(one: FlowCounts) -> FlowCounts:
    found = (one.sent, one.received, one.elsewhere, one.last_ns, one.port, one.moved)
    return FlowCounts(*map(_pack, found))


def _port(one: PortResult) -> PortResult:
    return replace(
        one,
        tx=_pack(one.tx),
        rx=_pack(one.rx),
        tx_bytes_series=_pack(one.tx_bytes_series),
        rx_bytes_series=_pack(one.rx_bytes_series),
    )


def shared(value: T, before: Any) -> T:
    """A value equal to this one; parts of it that are equal to those of another one are these themselves."""
    found: T = _share_parts(value, before)
    return found


def _share_parts(value: Any, before: Any) -> Any:
    if type(value) is not type(before):
        return value
    if value == before:
        return before
    if type(value) is tuple and len(value) == len(before):
        return tuple(map(_share_parts, value, before))
    if not is_dataclass(value):
        return value
    found = copy.copy(value)
    for one in fields(value):
        part = _share_parts(getattr(value, one.name), getattr(before, one.name))
        object.__setattr__(found, one.name, part)
    return found
