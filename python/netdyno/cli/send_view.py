"""A line for each interval of a load that is sent, and a header above."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TextIO

from netdyno.campaign.events import Event, Looked, TrialEnded, Waiting, Wired
from netdyno.values import number as printed
from netdyno.values.interval import StreamInterval, TrialInterval, intervals
from netdyno.values.printable import printable
from netdyno.values.reason import in_short

if TYPE_CHECKING:
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

KEYS = "Ctrl-C ends and sums up"
MINUTE_NS = 60 * 10**9


class SendView:
    """Watches the only case of a plan."""

    def __init__(self, stream: TextIO | None, errors: TextIO, interval_ns: int, width: int) -> None:
        """stream: of the lines; None: there are none. errors: of what is waited for."""
        self._stream, self._errors = stream, errors
        self._interval_ns, self._width = interval_ns, width
        self._printed = 0
        self._ways: tuple[str, ...] = ("",)
        self._warned = ""
        self._plan: Plan | None = None
        self._is_virtual = False

    def begin(self, plan: Plan, cases: Sequence[Case], already: int) -> None:
        """The run begins; the header comes when its ports are open."""
        self._plan, self._is_virtual = plan, plan.kind.emulated

    def event(self, event: Event) -> None:
        """Something happened."""
        match event:
            case Wired():
                self._head(event)
            case Looked():
                for one in event.progress.intervals:
                    # Virtual time may pass faster than anybody looks: the end has all intervals.
                    if one.number == self._printed or not self._is_virtual:
                        self._line(one)
            case Waiting():
                self._warn(event.why)
            case TrialEnded() if event.trial.number:
                pass  # What is sent behind the load, in bunches, says why frames were lost.
            case TrialEnded() if event.trial.state == "invalid":
                self._printed = 0
                self._warn(f"does not count: {in_short(event.trial.result.invalid)}")
            case TrialEnded():
                for one in intervals(event.trial.result, self._interval_ns):
                    self._line(one)

    def tick(self) -> None:
        """Nothing changes by time alone."""

    def stopping(self, *, is_configured: bool) -> None:
        """It was asked to end."""

    def end(self) -> None:
        """The run is over."""
        if self._printed:
            self._say("")

    def _warn(self, line: str) -> None:
        """The same is said once."""
        if line != self._warned:
            self._warned = line
            print(printable(line), file=self._errors, flush=True)

    def _say(self, line: str) -> None:
        if self._stream is not None:
            print(printable(line), file=self._stream, flush=True)

    def _head(self, event: Wired) -> None:
        assert self._plan is not None
        wiring, plan = event.wiring, self._plan
        (profile,) = plan.profiles.values()
        names = [link.interface or link.tester_port for link in plan.lab.links]
        sent = [(place.tx, place.rx) for place in wiring.situation.places]
        self._ways = tuple("->" if tx < rx else "<-" for tx, rx in sent) or self._ways
        between = f" {'<->' if len(sent) > 1 else self._ways[0]} ".join(names)
        backends = (port["backend"]["kind"] for port in json.loads(wiring.session)["ports"])
        line = min(link.rate_bps for link in plan.lab.links)
        facts = [
            profile.mix.name if len(profile.mix.weights) > 1 else printed.size(profile.mix.weights),
            f"{printed.bits(line, (3, 3, 3))} line{'' if wiring.enforced_rate else ' (assumed)'}",
            f"{profile.flows:,} flow{'' if profile.flows == 1 else 's'}",
            *((plan.kind.title,) if plan.kind.emulated else dict.fromkeys(backends)),
        ]
        head = f"{between}  {', '.join(facts)}"
        room = self._width - len(head)
        self._say(head + KEYS.rjust(room) if room > len(KEYS) + 1 else head)
        way = " " * 4 * (len(self._ways) > 1)
        self._say(
            f"{'time':>7}{way}{'sent':>12}{'received':>12}{'lost':>15}{'latency p50 / p99':>21}{'late':>8}"
        )

    def _line(self, one: TrialInterval) -> None:
        if one.number < self._printed:
            return
        self._printed = one.number + 1
        length_ns = one.until_ns - one.number * self._interval_ns
        time = clock(one.until_ns)
        for way, stream in zip(self._ways, one.streams, strict=False):
            named = f"  {way}" if len(self._ways) > 1 else ""
            self._say(f"{time:>7}{named}{describe(stream, length_ns)}")
            time = ""


def describe(one: StreamInterval, length_ns: int) -> str:
    """The columns of a stream's interval."""
    sent, received = (rate(count * 10**9, length_ns) for count in (one.sent, one.received))
    lost = "0"
    if one.lost:
        share = printed.percent(Fraction(one.lost, one.sent))
        lost = f"{printed.rate(Fraction(one.lost), '').strip()} {share:>7}"
    late = brief(one.late_ns) if one.late_ns else "0"
    return f"{sent:>12}{received:>12}{lost:>15}{pair(one.p50_ns, one.p99_ns):>21}{late:>8}"


def clock(ns: int) -> str:
    """`2.5 s`, `161 s`: minutes would not fit into the column."""
    return printed.duration(ns) if ns < MINUTE_NS else f"{round(ns / 1e9, 2):.9g} s"


def rate(frames: int, seconds: int) -> str:
    """`1.19 Mpps`."""
    return printed.rate(Fraction(frames, seconds), "pps")


def brief(ns: int) -> str:
    """A time with three digits: `13.2 ms`."""
    return printed.duration(int(float(f"{ns:.3g}")))


def pair(first: int | None, second: int | None) -> str:
    """`6.71 / 280 us`: two times, the unit once if they have the same."""
    if first is None and second is None:
        return "-"
    texts = ["-" if ns is None else brief(ns) for ns in (first, second)]
    one, unit = texts[0].partition(" ")[::2]
    return " / ".join([one if texts[1].endswith(f" {unit}") else texts[0], texts[1]])
