"""How old the counters of a device are, from readings that stood still while traffic flowed.

A device that updates its counters every 3 s shows the last frames up to 3 s late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from netdyno.values.counter import changes_of, doubt_ns
from netdyno.values.counter_reasons import CounterAgeUnknown
from netdyno.values.series import Series
from netdyno.values.spans import Span

SEEN = 2
"""Frames that must have come for a counter that stood still to be an old one: one may be on its way."""
SETTLED = 3
"""Readings behind the traffic that must be equal before a counter counts as settled."""


@dataclass(frozen=True)
class Flow:
    """Frames that a counter had to count, in each sample of the traffic.

    behind: samples by which they may be dated too late, as those that the tester received.
    """

    frames: Sequence[int]
    sample_ns: int
    behind: int = 0

    @property
    def end_ns(self) -> int:
        """The end of the last sample."""
        return len(self.frames) * self.sample_ns

    def moves(self, begin_ns: int, end_ns: int) -> bool:
        """Whether a counter had to change between two times, ns from the begin of traffic."""
        first = max(-(-begin_ns // self.sample_ns), 0) + self.behind
        return sum(self.frames[first : max(end_ns // self.sample_ns, 0)]) >= SEEN

    def spans(self) -> Iterator[Span]:
        """Times in which frames came in each sample."""
        begin = None
        for place, frames in enumerate((*self.frames, 0)):
            if frames and begin is None:
                begin = place
            elif not frames and begin is not None:
                yield begin * self.sample_ns, place * self.sample_ns
                begin = None


def staleness(series: Series, flow: Flow) -> Span:
    """How long a counter stood still between two changes while frames came, ns, as seen and at most.

    0: never. At most: the first update may have come right behind the reading before it was seen.
    """
    at = series.times_ns
    found = [
        (at[later] > flow.end_ns, at[later] - at[earlier], at[later] - at[earlier - 1])
        for earlier, later in pairwise(changes_of(series))
        if _stood_still(series, flow, earlier, later - 1)
    ]
    # A change that was seen behind the traffic may have come long before that reading.
    within = [one for one in found if not one[0]] or found
    return max((seen for _, seen, _ in within), default=0), max((most for *_, most in within), default=0)


def is_updated_behind(series: Series, last_ns: int) -> bool:
    """Whether an update was seen behind the last frame, which came at `last_ns`."""
    changes = changes_of(series)
    return bool(changes) and series.times_ns[changes[-1] - 1] >= last_ns


def unknown_age(series: Series, flow: Flow, last_ns: int) -> CounterAgeUnknown | None:
    """Why the age of a counter's last reading is unknown; None: it is known, or all frames are counted.

    Of a device that updates its counters now and then, two changes show how often. A counter that stood still
    while frames came and changed once or never shows that it is old, and not how old. All frames are in it if
    an update was seen behind them, or if it stood still behind them as long as they came: an update was due
    then of any device whose updates are no further apart than that.

    last_ns: when the last frame came.
    """
    at, changes = series.times_ns, changes_of(series)
    if not at or len(changes) > 1:
        return None
    last = len(at) - 1
    runs = ((0, changes[0] - 1), (changes[0], last)) if changes else ((0, last),)
    if not any(_stood_still(series, flow, first, end) for first, end in runs):
        return None
    if is_updated_behind(series, last_ns):
        return None
    equal = at[changes[0] if changes else 0 :]
    more_ns = 2 * last_ns - at[-1]
    if more_ns <= 0 and sum(at_ns > last_ns for at_ns in equal) >= SETTLED:
        return None
    return CounterAgeUnknown(series.subject, series.name, len(changes), last_ns, more_ns)


def _stood_still(series: Series, flow: Flow, first: int, last: int) -> bool:
    """Whether frames came between two equal readings."""
    at, doubt = series.times_ns, doubt_ns(series)
    return last > first and flow.moves(at[first] + doubt[first], at[last] - doubt[last])
