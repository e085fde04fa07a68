"""Times within others, looked up without going through all of them: a trial of days has tens of thousands."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate

Span = tuple[int, int]
"""Begin and end, ns."""


class Spans:
    """Times from begin to end, ns, in any order; those that overlap count once."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []
        for begin, end in sorted(spans):
            if self._ends and begin < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            elif begin < end:
                self._begins.append(begin)
                self._ends.append(end)
        lengths = (end - begin for begin, end in zip(self._begins, self._ends, strict=True))
        self._before = [0, *accumulate(lengths)]

    def length_within(self, begin_ns: int, end_ns: int) -> int:
        """How long they last within a time, ns."""
        return self._until(end_ns) - self._until(begin_ns) if begin_ns < end_ns else 0

    def _until(self, at_ns: int) -> int:
        """How long they have lasted at a time, ns."""
        count = bisect_left(self._begins, at_ns)
        over_ns = max(self._ends[count - 1] - at_ns, 0) if count else 0
        return self._before[count] - over_ns
