"""Rates that the device printed, against what the tester sent and received on that port in the same time.

A printed rate is an average over the device's own window. It is compared only where one load was held for all
of it, and decides no verdict. One that decays (IOS, IOS XR) has reached 98 % of the load after four windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from netdyno.values import number as printed
from netdyno.values.outcome import Outcome, PortResult
from netdyno.values.reason import Codes, Reason, declared
from netdyno.values.series import Series
from netdyno.verdict.conventions import Convention, conventions
from netdyno.verdict.device_counts import MEMBERS

SECOND_NS = 10**9
AGREES = Fraction(5, 1000)
"""Of what is predicted: devices round, and their windows begin at another moment than they say."""
SETTLED = 4
"""Windows of one load after which a decaying average differs from it by less than 2 % (1 / e**4)."""
QUANTITIES = {
    "rx_bit_rate": ("in", 1),
    "rx_byte_rate": ("in", 8),
    "rx_packet_rate": ("in", 0),
    "tx_bit_rate": ("out", 1),
    "tx_byte_rate": ("out", 8),
    "tx_packet_rate": ("out", 0),
}
"""Of each series of rates its way, and the bits of its unit; 0: it is of frames."""
_PLAIN = tuple(one.name for one in conventions(0)[:4])
Span: TypeAlias = tuple[int, int]


class RateExplained(Reason, code="rate-explained"):
    """The printed rate is the tester's. conventions: bytes that the device counts; empty: of frames."""

    conventions: tuple[str, ...]

    def __str__(self) -> str:
        return f"explained: bytes {' or '.join(self.conventions)}" if self.conventions else "explained"


class RateOff(Reason, code="rate-off"):
    """The printed rate is not the tester's. off_share: of the prediction, signed. windows: that the load was
    held for."""

    nearest: str
    off_share: Fraction
    windows: Fraction

    def __str__(self) -> str:
        more = "more" if self.off_share > 0 else "less"
        than = f"bytes {self.nearest}" if self.nearest else "predicted"
        text = f"{printed.percent(abs(self.off_share), 2)} {more} than {than}"
        if self.off_share < 0 and self.windows < SETTLED:
            text += f"; a decaying average needs the load for {SETTLED} windows"
        return text


class WindowLongerThanLoad(Reason, code="window-longer-than-load"):
    """The device's window reaches back beyond the load. held_ns: how long that was held."""

    window_ns: int
    held_ns: int

    def __str__(self) -> str:
        window, held = printed.duration(self.window_ns), printed.duration(self.held_ns)
        return f"window of {window} longer than the load ({held}): shorten the window or hold longer"


class LoadNotHeld(Reason, code="load-not-held"):
    """The trial held no constant load, so an average has nothing to be compared with."""

    says = "no constant load in this trial"


REASONS: Codes = declared(globals())


@dataclass(frozen=True)
class PrintedRate:
    """An average that a device printed of a port.

    rate, predicted: frames or bits a second, the latter from the tester's counts in the same window and the
    nearest convention; None: not compared. answer: explained, or why not.
    """

    port: str
    way: str
    is_of_frames: bool
    window_ns: int
    answer: Reason
    rate: Fraction | None = None
    predicted: Fraction | None = None


def reconcile_rates(
    outcome: Outcome, device_ports: Sequence[str], held: Span | None, tags: int = 0
) -> tuple[PrintedRate, ...]:
    """Each rate that the device printed of the lab's ports in a trial.

    held: from when until when one load was held, ns from the begin of traffic; None: it was not.
    """
    found = {(one.subject, one.name): one for one in outcome.series if one.name in QUANTITIES}
    return tuple(
        rate
        for number, port in enumerate(device_ports[: len(outcome.ports)])
        for name in QUANTITIES
        if (members := _members(found, port, name))
        for rate in _reconcile(outcome, outcome.ports[number], port, members, held, tags)
    )


def _members(found: dict[tuple[str, str], Series], port: str, name: str) -> tuple[Series, ...]:
    """The series of a port, or of each member of a LAG; empty: one is missing, or has no window."""
    names = (port,) if (port, name) in found else tuple(port.split(MEMBERS))
    series = [found.get((one, name)) for one in names]
    known = tuple(one for one in series if one is not None and one.window_ns and one.values)
    return known if len(known) == len(series) else ()


def _reconcile(
    outcome: Outcome, tester: PortResult, port: str, series: Sequence[Series], held: Span | None, tags: int
) -> Iterator[PrintedRate]:
    way, bits = QUANTITIES[series[0].name]
    window_ns = max(one.window_ns or 0 for one in series)
    if held is None:
        yield PrintedRate(port, way, not bits, window_ns, LoadNotHeld())
        return
    begin_ns, end_ns = held
    last = [_last(one, begin_ns + window_ns, end_ns) for one in series]
    known = [one for one in last if one is not None]
    if len(known) < len(last):
        yield PrintedRate(port, way, not bits, window_ns, WindowLongerThanLoad(window_ns, end_ns - begin_ns))
        return
    rate = sum((number for _, number in known), Fraction(0)) * (bits or 1)
    at_ns = min(at_ns for at_ns, _ in known)
    sent = _sent(outcome.sample_ns, tester, way, at_ns - window_ns, at_ns)
    if sent is None:
        return
    windows = Fraction(at_ns - begin_ns, window_ns)
    known_conventions = conventions(tags) if bits else (Convention("", 0),)
    yield _explain(port, way, window_ns, rate, sent, known_conventions, windows)


def _explain(
    port: str,
    way: str,
    window_ns: int,
    rate: Fraction,
    sent: tuple[Fraction, Fraction],
    known: Sequence[Convention],
    windows: Fraction,
) -> PrintedRate:
    """sent: frames and bytes a second. A convention without a name is of frames."""
    fps, size = sent
    is_of_frames = not known[0].name

    def predict(one: Convention) -> Fraction:
        return fps if is_of_frames else 8 * (size + one.more * fps)

    nearest = min(known, key=lambda one: (abs(predict(one) - rate), abs(one.more)))
    predicted = predict(nearest)
    fits = [one.name for one in known if abs(predict(one) - rate) <= AGREES * predict(one)]
    # Tags that a device adds or leaves out are named only where nothing plainer explains the rate.
    plain = tuple(name for name in fits if name in _PLAIN) or tuple(fits)
    if fits:
        answer: Reason = RateExplained(() if is_of_frames else plain)
    else:
        off = (rate - predicted) / predicted if predicted else Fraction(1)
        answer = RateOff(nearest.name, off, windows)
    return PrintedRate(port, way, is_of_frames, window_ns, answer, rate, predicted)


def _last(series: Series, from_ns: int, until_ns: int) -> tuple[int, Fraction] | None:
    """The last reading in a time: when, and the number."""
    pairs = zip(reversed(series.times_ns), reversed(series.numbers), strict=True)
    return next(((at, number) for at, number in pairs if from_ns <= at <= until_ns), None)


def _sent(
    sample_ns: int, port: PortResult, way: str, from_ns: int, until_ns: int
) -> tuple[Fraction, Fraction] | None:
    """Frames and bytes a second on this link in the whole samples of a time; None: there are none."""
    frames, size = (port.tx, port.tx_bytes_series) if way == "in" else (port.rx, port.rx_bytes_series)
    first, end = -(-from_ns // sample_ns), min(until_ns // sample_ns, len(frames), len(size))
    if first < 0 or end <= first:
        return None
    per_s = Fraction(SECOND_NS, (end - first) * sample_ns)
    return sum(frames[first:end]) * per_s, sum(size[first:end]) * per_s
