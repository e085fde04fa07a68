"""How a run goes, on stderr: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, TextIO

from netdyno.campaign.attempts import ATTEMPTS
from netdyno.campaign.events import Event, Failed, Interrupted, Looked, Measured, TrialEnded, Waiting, Wired
from netdyno.campaign.selection import Length
from netdyno.cli.time_left import TimeLeft
from netdyno.errors import counted
from netdyno.methods.reasons.tester import Preempted
from netdyno.reports.model import answer, health
from netdyno.reports.model.view import ALL
from netdyno.testers.tester import PortProgress
from netdyno.values.finding import Value
from netdyno.values.number import clock, count, percent, rate
from netdyno.values.printable import printable
from netdyno.values.rates import wire_bits
from netdyno.values.reason import EXAMPLES, Reason, in_short
from netdyno.values.records import CaseError, CaseWiring, StoredTrial
from netdyno.verdict.so_far import SearchSoFar

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case


@dataclass
class _Message:
    text: str
    count: int = 0
    places: list[str] = field(default_factory=list)
    """The first of those it was given of, each once."""


class Merged:
    """Counts messages. Two are equal if their keys are: reasons with code and fields, or texts."""

    def __init__(self) -> None:
        self._messages: dict[Hashable, _Message] = {}

    def is_new(self, key: Hashable, text: str, place: str) -> bool:
        """Whether a message is given for the first time. place: the case or trial it is given of."""
        message = self._messages.setdefault(key, _Message(text))
        message.count += 1
        if len(message.places) < EXAMPLES and place not in message.places:
            message.places.append(place)
        return message.count == 1

    def lines(self) -> Iterator[str]:
        """One line for each message that was given more than once: its count and at most three places."""
        for one in self._messages.values():
            if one.count > 1:
                yield f"{one.count} times: {', '.join(one.places)}: {one.text}"


OWN = 16
"""Frames of a port that are no test frames: ARP, neighbour discovery, learning."""
PLAIN_EVERY_S = 10.0
"""How often a plain view says where it is, between the ends of cases."""

ENDED = {
    "done": "has ended",
    "invalid": "does not count and is retried",
    "cancelled": "was stopped",
}
"""States of a trial that no longer runs, in words. The engine calls the time after the last phase `done`."""


def watcher() -> PlainView:
    """The view that fits stderr: NO_COLOR and FORCE_COLOR are heeded."""
    is_drawn = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return RichView(sys.stderr) if is_drawn else PlainView(sys.stderr)


@dataclass
class PortRates:
    """Rates of one port between two looks."""

    name: str
    tx_pps: float = 0.0
    tx_bps: float = 0.0
    rx_pps: float = 0.0
    rx_bps: float = 0.0
    tx_frames: int = 0
    rx_frames: int = 0


@dataclass
class Now:
    """A case under way."""

    case: Case
    wiring: CaseWiring | None = None
    trial: str = ""
    number: int = 0
    """Of the trial in its case, from 0."""
    phase: str = "building the lab"
    elapsed_ns: int = 0
    total_ns: int = 0
    ports: tuple[PortRates, ...] = ()
    waiting: str = ""
    """What the next trial waits for."""
    done: dict[int, health.Brief] = field(default_factory=dict)
    """Trials that have ended and count, by number."""
    invalid: list[StoredTrial] = field(default_factory=list)
    """Attempts that do not count and are not reported yet, at trials that follow one another."""
    retries: int = 0
    """How often the plan has a trial retried that a pause of the tester spoiled."""
    ended: int = 0
    """How many trials have ended, those of an earlier run too."""
    search: SearchSoFar | None = None
    """How far its search is; None before its lab is wired, and where an earlier run has made a part of it."""

    @property
    def scopes(self) -> tuple[str, ...]:
        """Of what stands for it in reports: all streams, or the only one."""
        streams = self.wiring.situation.streams if self.wiring is not None else ()
        return (ALL, *(streams if len(streams) == 1 else ()))

    @property
    def where(self) -> str:
        """How far it is, in words: `trial ramp, phase warmup, 61 %`."""
        if self.waiting:
            return f"trial {printable(self.trial)}, {printable(self.waiting)}"
        if not self.trial:
            return self.phase
        if self.phase in ENDED:
            return f"trial {printable(self.trial)} {ENDED[self.phase]}"
        share = f", {min(100, 100 * self.elapsed_ns // self.total_ns)} %" if self.total_ns else ""
        return f"trial {printable(self.trial)}{self.attempt}, phase {printable(self.phase)}{share}"

    def _is_at_hand(self, trial: StoredTrial) -> bool:
        """Whether an attempt is one at the trial under way."""
        return (trial.name, trial.number) == (self.trial, self.number)

    @property
    def _before(self) -> list[tuple[Reason, ...]]:
        """Why earlier attempts at the trial under way do not count."""
        return [one.result.invalid for one in self.invalid if self._is_at_hand(one)]

    @property
    def attempts(self) -> tuple[int, int]:
        """The number of the attempt under way, from 1, and of the last one that the trial may take."""
        reasons = self._before
        # Attempts that a pause spoiled are counted apart, and the last of them stands as it is.
        spoilt = sum(all(isinstance(reason, Preempted) for reason in found) for found in reasons)
        most = ATTEMPTS + spoilt if spoilt < len(reasons) else self.retries + 1
        return len(reasons) + 1, max(len(reasons) + 1, most)

    @property
    def attempt(self) -> str:
        """`, attempt 2 of 3 (tester preempted for 72 ms)`; empty at the first attempt."""
        if not (before := self._before):
            return ""
        number, most = self.attempts
        return f", attempt {number} of {most} ({printable(in_short(before[-1]))})"

    @property
    def not_counting(self) -> str:
        """`5 attempts at 3 trials do not count so far`, of trials before the one under way; empty: none."""
        earlier = [one.number for one in self.invalid if not self._is_at_hand(one)]
        at = f"{counted(len(earlier), 'attempt')} at {counted(len(set(earlier)), 'trial')}"
        return f"{at} {'does' if len(earlier) == 1 else 'do'} not count so far" if earlier else ""

    @property
    def so_far(self) -> tuple[str, ...]:
        """Between which loads its search stands, one text for each goal."""
        return () if self.search is None else tuple(one.in_short for one in self.search.find())

    def take(self, trial: StoredTrial) -> None:
        """Takes in an attempt at a trial."""
        if trial.number > self.ended:
            # An earlier run made those before, and they are not reported again.
            self.search = None
        self.ended = trial.number + 1
        if self.search is not None:
            self.search.add(trial)

    def look(self, event: Looked) -> None:
        """Takes in a snapshot. Rates are over the time between two snapshots, as the trial counts it."""
        now = event.progress
        before = {port.name: port for port in self.ports} if event.trial == self.trial else {}
        passed = (now.elapsed_ns - self.elapsed_ns) / 1e9 if before else now.elapsed_ns / 1e9
        self.ports = tuple(_rates(port, before.get(port.name), passed) for port in now.ports)
        self.trial, self.phase, self.waiting = event.trial, now.phase, ""
        self.number = event.number
        self.elapsed_ns, self.total_ns = now.elapsed_ns, now.total_ns


class PlainView:
    """A line for each end of a case, and one every ten seconds."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] | None = None) -> None:
        """clock: in seconds, in place of `time.monotonic`."""
        self.stream = stream
        self.clock = clock or time.monotonic
        self.merged = Merged()
        self.failures: dict[CaseError, str] = {}
        """Why cases could not be measured, and the first of each."""
        self.now: dict[int, Now] = {}
        self.plan: Plan | None = None
        self.cases: dict[int, Case] = {}
        self.total = 0
        self.ended = 0
        self.began = self.printed_at = self.clock()

    def begin(self, plan: Plan, cases: Sequence[Case], already: int) -> None:
        """The run begins; so many cases were done before."""
        self.plan = plan
        self.left = TimeLeft({case.number: Length.of(plan, case) for case in cases}, self.clock)
        self.cases = {case.number: case for case in cases}
        self.total, self.ended = len(cases) + already, already
        self.began = self.printed_at = self.clock()
        left = f", {already} done before" if already else ""
        self.say(f"{printable(plan.title)}: {counted(self.total, 'case')}{left}")

    def event(self, event: Event) -> None:
        """Something happened."""
        retries = self.plan.trial.retries if self.plan is not None else 0
        now = self.now.setdefault(event.case, Now(self.cases[event.case], retries=retries))
        match event:
            case Wired():
                now.wiring, now.phase = event.wiring, "starting"
                if self.plan is not None:
                    now.search = SearchSoFar(self.plan.parameters_of(now.case).searched, event.wiring)
                self.left.begin_case(event.case, real=event.wiring.clock == "real")
            case Looked():
                now.look(event)
                progress = event.progress
                self.left.look(event.case, event.number, progress.elapsed_ns, progress.total_ns)
            case Waiting():
                if event.why != now.waiting and self.merged.is_new(event.why, event.why, now.case.title):
                    self.say(f"{now.case.title}: {event.why}")
                now.trial, now.waiting = event.trial, event.why
            case TrialEnded():
                now.waiting = ""
                self.left.end_attempt(event.case, event.trial.number, counts=event.trial.state == "done")
                now.trial, now.phase = event.trial.name, event.trial.state
                now.take(event.trial)
                if event.trial.state == "done":
                    brief = health.Brief.of(event.trial.result)
                    if brief is not None:
                        now.done[event.trial.number] = brief
                # One that did not even begin is not retried: the case ends, and says why.
                if event.trial.state == "invalid" and event.trial.result.began:
                    now.invalid.append(event.trial)
                elif event.trial.number not in {one.number for one in now.invalid}:
                    # The first that needed no retry: those before it followed one another.
                    self._warn(now)
            case Measured() | Failed() | Interrupted():
                self._warn(now)
                self.left.end_case(event.case, measured=isinstance(event, Measured))
                self._ended(now, event)
        self.tick()

    def _warn(self, now: Now) -> None:
        """One line of all attempts in a row that do not count: how many, at which trials, and the worst."""
        attempts, now.invalid = now.invalid, []
        if not attempts:
            return
        worst = max(attempts, key=lambda one: one.result.health.longest_gap_ns)
        trials = len({one.number for one in attempts})
        where, what = f"{now.case.title}: trial `{worst.name}`", "does not count"
        if trials > 1:
            where = f"{now.case.title}: trials `{attempts[0].name}` to `{attempts[-1].name}`"
            what = f"do not count, {counted(len(attempts), 'attempt')} at {trials} of them, at worst"
        elif len(attempts) > 1:
            what += f", {len(attempts)} times, at worst"
        what += f": {in_short(worst.result.invalid)}"
        if self.merged.is_new((worst.result.invalid, len(attempts), trials), what, where):
            self.say(f"warning: {where} {what}")

    def tick(self) -> None:
        """Time has passed."""
        if self.clock() - self.printed_at >= PLAIN_EVERY_S and self.now:
            now = next(iter(self.now.values()))
            rates = "".join(
                f"; {port.name} sends {rate(port.tx_pps, 'pps')}, receives {rate(port.rx_pps, 'pps')}"
                for port in now.ports
            )
            found = "".join(f"; so far {one}" for one in now.so_far)
            found += f"; {now.not_counting}" if now.not_counting else ""
            self.say(f"[{self.ended}/{self.total}] {now.case.title}: {now.where}{rates}{found}{self._rest()}")

    def stopping(self, *, is_configured: bool) -> None:
        """It was asked to end: this may take as long as a trial's drain, or as the undo of a device."""
        then = "once more to end at once"
        if is_configured:
            from netdyno.devices.configure.apply import UNDO_S

            then = f"the configuration is undone first, in at most {UNDO_S:.0f} s; a third Ctrl-C leaves it"
        self.say(f"stopping in order, what was measured is kept; {then}")

    def end(self) -> None:
        """The run is over: counts the messages that came again."""
        for line in self.merged.lines():
            self.say(line)

    def say(self, line: str) -> None:
        """A line of text."""
        self.printed_at = self.clock()
        print(printable(line), file=self.stream, flush=True)

    def left_s(self) -> float | None:
        """How many seconds the rest takes, no less than retries under way may take; None if unknown."""
        estimate_s = self.left.estimate_s()
        if estimate_s is None:
            return None
        more = {number: most - one + 1 for number, now in self.now.items() for one, most in [now.attempts]}
        return max(estimate_s, self.left.retries_s(more))

    def _ended(self, now: Now, event: Measured | Failed | Interrupted) -> None:
        self.now.pop(event.case, None)
        if isinstance(event, Interrupted):
            self.say(f"[{self.ended}/{self.total}] {now.case.title}: interrupted")
            return
        self.ended += 1
        place = f"[{self.ended}/{self.total}] {now.case.title}"
        if isinstance(event, Failed):
            same = self.failures.setdefault(event.error, now.case.title)
            if same != now.case.title:
                self.say(f"{place}: not measured: the same as `{same}`")
                return
            hint = f" (hint: {event.error.hint})" if event.error.hint else ""
            self.say(f"{place}: not measured: {event.error.message}{hint}")
            return
        # As in reports: on the first value that has one, of all streams or of the only one.
        first = [one for one in event.verdicts if one.value == event.verdicts[0].value]
        limits = {one.scope: one.limit for one in first}
        verdict = next((limits[scope] for scope in now.scopes if scope in limits), "no verdict")
        found = event.result.headline(now.scopes)
        is_doubted = found is not None and event.result.doubt(found) is not None
        number = describe_value(found, verdict, is_doubted=is_doubted)
        self.say(f"{place}: {number}, limit: {verdict}")
        # Whatever stands for the case: a latency is one at that throughput.
        for value in event.result.values:
            if value.contradicted and value.scope == ALL:
                self.say(f"    contradicted: {value.contradicted_name}: {value.contradicted}")
        tester = health.in_short([now.done[number] for number in event.result.trials if number in now.done])
        if tester is not None:
            self.say(f"    tester: {tester}")
        for goal in event.goals:
            if goal.passed is not True:
                outcome = "missed" if goal.passed is False else "not judged"
                self.say(f"    goal `{goal.name}` {outcome}: {goal.reason}")

    def _rest(self) -> str:
        """`, about 2:03 left, until 14:32:05`, for who comes back then; empty: not known."""
        left = self.left_s()
        if left is None:
            return ""
        end = datetime.now().astimezone() + timedelta(seconds=left)
        day = f"{end:%a} " if end.date() != datetime.now().astimezone().date() else ""
        return f", about {clock(left)} left, until {day}{end:%H:%M:%S}"


class RichView(PlainView):
    """The same on a terminal: what has ended scrolls by, what runs stands below it."""

    live: Live | None = None
    console: Console | None = None

    def begin(self, plan: Plan, cases: Sequence[Case], already: int) -> None:
        from rich.console import Console
        from rich.live import Live

        self.console = Console(file=self.stream, highlight=False)
        self.live = Live(console=self.console, auto_refresh=False, transient=True)
        self.live.start()
        super().begin(plan, cases, already)
        self.drawn = 0.0

    def tick(self) -> None:
        if self.live is not None and self.clock() - self.drawn >= 0.3:
            self.drawn = self.clock()
            self.live.update(self._table(), refresh=True)

    def end(self) -> None:
        super().end()
        if self.live is not None:
            self.live.stop()

    def say(self, line: str) -> None:
        if self.console is None:
            super().say(line)
        else:
            self.console.print(printable(line), markup=False)

    def _table(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        rest = self._rest()
        # Several cases of an emulated device run at once, so none of them is the one at hand.
        head = f"{self.ended} of {counted(self.total, 'case')} done"
        parts: list[RenderableType] = [
            Text(f"{head}, {clock(self.clock() - self.began)} so far{rest}", style="bold")
        ]
        for now in self.now.values():
            if len(self.now) <= 2:
                parts.append(Text(""))
            parts.append(Text(f"{printable(now.case.title)}: {now.where}"))
            parts += (Text(printable(f" so far {found}")) for found in now.so_far)
            if now.not_counting:
                parts.append(Text(f" {now.not_counting}"))
            if len(self.now) > 2 or not now.ports:
                continue
            table = Table(box=None, pad_edge=True)
            table.add_column("")
            for port in now.ports:
                table.add_column(printable(port.name), justify="right")
            # The order of T-Rex's port table, which network engineers have in their heads.
            table.add_row("sends, L1", *(rate(port.tx_bps, "bit/s") for port in now.ports))
            table.add_row("sends, frames/s", *(rate(port.tx_pps, "pps") for port in now.ports))
            table.add_row("receives, L1", *(rate(port.rx_bps, "bit/s") for port in now.ports))
            table.add_row("receives, frames/s", *(rate(port.rx_pps, "pps") for port in now.ports))
            table.add_row("sent, frames", *(count(port.tx_frames) for port in now.ports))
            table.add_row("received, frames", *(count(port.rx_frames) for port in now.ports))
            parts.append(table)
            sent = sum(port.tx_frames for port in now.ports)
            missing = sent - sum(port.rx_frames for port in now.ports)
            if missing > OWN * len(now.ports):
                # Frames under way are among them: the count that is kept is taken after draining.
                share = percent(Fraction(missing, sent), 3)
                parts.append(Text(f" not back yet: {count(missing)} of {count(sent)} frames, {share}"))
        return Group(*parts)


def _rates(port: PortProgress, before: PortRates | None, seconds: float) -> PortRates:
    tx, rx = port.tx_frames, port.rx_frames
    rates = PortRates(port.name, tx_frames=tx, rx_frames=rx)
    if seconds <= 0:
        return rates
    was_tx, was_rx = (before.tx_frames, before.rx_frames) if before else (0, 0)
    tx_bytes, rx_bytes = port.tx_bytes, port.rx_bytes
    tx_bits = float(wire_bits(Fraction(tx_bytes, tx))) if tx else 0.0
    rx_bits = float(wire_bits(Fraction(rx_bytes, rx))) if rx else 0.0
    rates.tx_pps, rates.rx_pps = (tx - was_tx) / seconds, (rx - was_rx) / seconds
    rates.tx_bps = rates.tx_pps * tx_bits
    rates.rx_bps = rates.rx_pps * rx_bits
    return rates


def describe_value(value: Value | None, limit: str, *, is_doubted: bool = False) -> str:
    """The first number of a result as its first screen has it, `ramp max Rx >= 147 kpps`, and its bounds."""
    if value is None:
        return "no value"
    if value.number is None:
        why = f" ({value.note})" if value.note else ""
        name = value.kind.display_name
        return f"{name}: unknown{why}" if value.kind.is_count else f"no {name} was found{why}"
    between = answer.bounds(value) if value.searched else ""
    number = answer.text_by(limit, value, is_doubted=is_doubted)
    return f"{value.kind.display_name} {number}{f' ({between} pps)' if ' to ' in between else ''}"
