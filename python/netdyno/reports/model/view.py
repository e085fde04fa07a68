"""What a report needs of a run, as plain values, and the few figures that follow from them.

Every rendering reads this and nothing else; `from_store` is the one place that knows the store. Counts
and exact fractions come in, ratios are derived here, and what was not measured is None, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, wraps
from typing import Any, TypeAlias, TypeVar

from netdyno.reports.model import health
from netdyno.values import number as printed
from netdyno.values.finding import Result, Value
from netdyno.values.host_facts import HostFacts
from netdyno.values.kind import Role
from netdyno.values.load import FRAMES, STEADY, LoadClass, Segment
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.proven import Proven
from netdyno.values.rates import wire_bits
from netdyno.values.reason import About, Reason
from netdyno.values.records import IMPORTED, RESUMED, CaseError, Configured, Notes, RunHead, name_choice
from netdyno.values.rehearsal import ShortRehearsal, find_short_rehearsal
from netdyno.values.situation import Place, Situation
from netdyno.values.verdict import Verdict
from netdyno.verdict.neighbours import Incident, incidents

T = TypeVar("T")

ALL = "sum"
"""The scope of a value that is of all streams together."""


@dataclass(frozen=True)
class TrialView:
    """A trial as asked for and as found."""

    number: int
    attempt: int
    name: str
    state: str
    """`done`, `invalid` (it was repeated) or `cancelled`."""
    segments: tuple[Segment, ...]
    """With rates in frames per second."""
    result: Outcome
    seed: int | None
    omitted_ns: int = 0
    """Time with traffic, from its begin, before what connections are counted of."""

    @property
    def duration_ns(self) -> int:
        """Time with traffic as asked for; of a load that asks for no rate as long as it took."""
        asked = sum(segment.duration_ns for segment in self.segments)
        return asked or sum(one.duration_ns for one in self.result.phases if one.name == STEADY)

    @property
    def is_load(self) -> bool:
        """Whether it shows what a load alone did to the device: no burst, reset or overload, no bunches."""
        rises = not all(one.is_constant for one in self.segments)
        return rises or all(one.name == STEADY for one in self.segments)

    def segment(self, name: str) -> tuple[Segment, int] | None:
        """The segment of that name and its start, ns from the start of traffic."""
        start_ns = 0
        for segment in self.segments:
            if segment.name == name:
                return segment, start_ns
            start_ns += segment.duration_ns
        return None


@dataclass(frozen=True)
class CaseView:
    """One case of the matrix."""

    number: int
    """From 0, in the order of the matrix."""
    settings: Mapping[str, str]
    """Axes of the matrix without profile and direction, in the order of the plan."""
    profile: str
    direction: str
    """`uni`, `bidir`; empty if the plan does not say."""
    device_title: str
    state: str
    """`pending`, `running`, `done`, `interrupted`, `failed`."""
    streams: tuple[str, ...]
    """Names of the sending streams; empty if the lab of the case was never wired."""
    line_fps: Fraction | None
    """Frames per second of average size that one direction can carry."""
    mean_size: Fraction | None
    """Average frame size, bytes, FCS counted."""
    stream_sizes: tuple[Fraction, ...]
    """Of each stream the average size of its frames, where those of classes differ."""
    sizes: tuple[tuple[int, int], ...]
    """Frame sizes in bytes, FCS counted, and their weights; empty if no trial was run."""
    flows: int | None
    seed: int | None
    result: Result | None
    verdicts: Mapping[str, Verdict]
    """By scope, on the first headline."""
    trials: tuple[TrialView, ...]
    clock: str = ""
    """`virtual` or `real`; empty if the lab of the case was never wired."""
    line_enforced: bool = True
    """False where the line rate is declared and nothing enforces it (veth)."""
    burst: int = 1
    """Frames were sent in bursts of so many; 1: one by one."""
    arrival: str = ""
    """How frames were placed in time, if not evenly: `poisson`."""
    has_probe: bool = True
    """Whether its frames hold a probe, of which latency and order are known."""
    places: tuple[Place, ...] = ()
    """Where each stream runs; empty: each has its ports to itself."""
    others: Mapping[tuple[str, str], Verdict] = field(default_factory=dict)
    """On the further headlines, by name and scope."""
    ports: tuple[str, ...] = ()
    """The tester's, by name."""
    goals: tuple[tuple[str, bool | None, Reason], ...] = ()
    """Name, passed (None: could not be judged), reason."""
    error: CaseError | None = None
    """Why the case has no result, if it failed."""
    notes: tuple[Reason, ...] = ()
    configuration: Configured | None = None
    """What was entered on the device; None: nothing."""
    repeat: int | None = None
    """From 1; None in a run that has each case once."""
    headers: tuple[str, ...] = ()
    """Of the first stream's frames, by type, from the outermost: `ethernet`, `ipv4`, `udp`."""
    backends: tuple[str, ...] = ()
    """Kinds of the tester's ports, each once: `wire`, `af_packet`, `memif`."""
    lines_bps: tuple[int, ...] = ()
    """L1 bits per second of its ports' lines, each rate once, the slowest first."""
    proven: Proven | None = None
    """What a calibration proved of the tester with these ports and frames; None: nothing, or virtual time."""
    hosts: tuple[HostFacts, ...] = ()
    """The generator hosts; empty: all ports are on one host, or not noted."""
    device_ports: tuple[str, ...] = ()
    """The device's port opposite each of the tester's, by number; empty: not known."""
    port_lines: tuple[Fraction, ...] = ()
    """The most frames per second on each port's link, by number."""
    lags: tuple[tuple[int, ...], ...] = ()
    """LAGs of the tester: the numbers of the ports that are members of each."""
    tags: int = 0
    """VLAN tags of each frame."""
    so_far: tuple[Reason, ...] = ()
    """Between which loads its search stands, of a case that has not ended."""

    @property
    def load_class(self) -> LoadClass | None:
        """The class of the loads of its trials; None: it has none. Those of frames may explore a path."""
        found = [trial.result.counts.load_class for trial in self.trials]
        return next((one for one in found if one is not FRAMES), found[0] if found else None)

    @property
    def name(self) -> str:
        """`l2-xconnect / plain / 64b-multi / bidir`, and of repeats which one."""
        return self.place if self.repeat is None else f"{self.place} / repeat {self.repeat}"

    @property
    def axes(self) -> dict[str, str]:
        """All axes of the matrix, with profile and direction: what a case is, whichever repeat of it."""
        return {**self.settings, "profile": self.profile, "direction": self.direction}

    @property
    def named_settings(self) -> tuple[str, ...]:
        """Its settings in order, as its name has them."""
        return tuple(name_choice(axis, value) for axis, value in self.settings.items())

    @property
    def place(self) -> str:
        """The name without the repeat."""
        return " / ".join(name_choice(axis, value) for axis, value in self.axes.items() if value)

    @property
    def neighbours(self) -> tuple[Incident, ...]:
        """What befell the tester's neighbours in the trials that count."""
        return incidents((trial.number, trial.result) for trial in self.trials if trial.state == "done")

    @property
    def frames(self) -> str:
        """Their sizes, and how they were sent if not one by one: `64 B, in bursts of 32`."""
        sizes = printed.size(self.sizes)
        bursts = "" if self.burst == 1 else f", in bursts of {self.burst:,}"
        arrivals = f", arrivals {self.arrival}" if self.arrival else ""
        return f"{sizes}{bursts}{arrivals}{'' if self.has_probe else ', no probe'}"

    @cached_property
    def tester(self) -> tuple[health.Finding, ...]:
        """What must be known of the tester in the trials that the result rests on."""
        last = {trial.number: trial.attempt for trial in self.trials}
        again = health.count_retries(
            [
                trial.result.invalid
                for trial in self.trials
                if trial.state == "invalid" and trial.attempt < last[trial.number]
            ]
        )
        found = health.findings([trial.result for trial in self.resting_trials], is_uneven=bool(self.arrival))
        return found if again is None else (*found, again)

    def line(self, scope: str) -> Fraction | None:
        """Line rate in frames per second for a scope: one stream, a port group, or all of them together."""
        known = self.situation
        if known is None or scope not in known.scopes:
            return self.line_fps
        # A sum over streams that reports ask for often.
        if ("line", scope) not in self.kept:
            self.kept["line", scope] = known.line(scope)
        line: Fraction = self.kept["line", scope]
        return line

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What those who show it derive of it, and ask for often, by keys of their own."""
        return {}

    @cached_property
    def situation(self) -> Situation | None:
        """Its streams and lines; None if the lab of the case was never wired."""
        if self.line_fps is None:
            return None
        mean = self.mean_size or Fraction(0)
        return Situation(
            self.streams, self.line_fps, mean, sizes=self.stream_sizes, places=self.places, lags=self.lags
        )

    def streams_of(self, scope: str) -> tuple[str, ...]:
        """The streams of a scope; none if it is not known here."""
        known = self.situation
        if known is None or scope not in known.scopes:
            return self.streams if scope == ALL else (scope,)
        return tuple(self.streams[member] for member in known.members(scope))

    @property
    def senders(self) -> int:
        """How many ports send."""
        return len({place.tx for place in self.places}) or len(self.streams)

    def l1_of(self, value: Value) -> Fraction | None:
        """L1 bits per second of a rate; None of another value."""
        if value.number is None or value.unit != "fps":
            return None
        known = self.situation
        if known is None or not known.sizes or value.scope not in known.scopes:
            return self.l1_bps(value.number)
        return value.number * wire_bits(known.size(value.scope))

    def l1_bps(self, fps: Fraction) -> Fraction | None:
        """L1 bits per second of that many frames of average size."""
        return None if self.mean_size is None else fps * wire_bits(self.mean_size)

    @property
    def line_bps(self) -> Fraction | None:
        """L1 bits per second that one direction can carry."""
        return None if self.line_fps is None else self.l1_bps(self.line_fps)

    def share_of_line(self, value: Value) -> Fraction | None:
        """A rate over the line rate of its scope; None for what is not a rate, and where nothing enforces
        the line rate: a share of a number that somebody wrote down says nothing."""
        line = self.line(value.scope)
        if value.number is None or value.unit != "fps" or not line or not self.line_enforced:
            return None
        return value.number / line

    @property
    def values(self) -> tuple[Value, ...]:
        """What its result found; none without a result."""
        return self.result.values if self.result else ()

    def _stands_for_all(self, value: Value) -> bool:
        return value.scope == ALL or len(self.streams) == 1

    @cached_property
    def headline(self) -> Value | None:
        """The value that stands for the case: over all streams if there is one, else of its only stream.

        Another value never takes the place of a headline without a number.
        """
        if self.result is None:
            return None
        found = self.result.headline((ALL, *(self.streams if len(self.streams) == 1 else ())))
        return None if found is None or found.number is None else found

    def value(self, name: str) -> Value | None:
        """The value of that name over all streams (or of the only stream)."""
        return self._of_all(value for value in self.values if value.name == name)

    def of_role(self, role: Role) -> Value | None:
        """The value over all streams (or of the only stream) that is read as such a one."""
        return self._of_all(value for value in self.values if value.kind.role == role)

    def _of_all(self, values: Iterable[Value]) -> Value | None:
        found = [value for value in values if self._stands_for_all(value)]
        return min(found, key=lambda value: value.scope != ALL, default=None)

    @property
    def resting_trials(self) -> tuple[TrialView, ...]:
        """The trials the result rests on."""
        if self.result is None:
            return ()
        # A soak rests on thousands.
        numbers = frozenset(self.result.trials)
        return tuple(t for t in self.trials if t.number in numbers and t.state == "done")

    def verdict(self, scope: str = ALL) -> Verdict | None:
        """The verdict on a scope; None if there is none. A single stream has that of the sum."""
        if scope in self.verdicts:
            return self.verdicts[scope]
        if len(self.streams) == 1 and self.verdicts:
            return next(iter(self.verdicts.values()))
        return None

    def contradiction(self, scope: str) -> Reason | None:
        """What contradicts the throughput of a scope: later trials at it or below lost frames."""
        return None if self.result is None else self.result.contradictions.get(scope)

    def doubt(self, value: Value) -> Reason | None:
        """What contradicts a number, or the throughput that it stands on; None: nothing."""
        return None if self.result is None else self.result.doubt(value)

    def doubt_stated(self, value: Value) -> Reason | None:
        """What contradicts a number, or the load as searched that it is what lasts of; None: nothing."""
        doubt = self.doubt(value)
        if doubt is None and value.contradicted is not None:
            return About("as searched", value.contradicted)
        return doubt

    def is_lasting(self, scope: str) -> bool:
        """Whether the throughput of a scope is what lasts of a load, and later trials do not refute it."""
        return any(
            value.contradicted and value.scope == scope and self.doubt(value) is None for value in self.values
        )

    def verdict_of(self, value: Value) -> Verdict | None:
        """The verdict on a value: its own if it is a headline, else that on the first one."""
        if len(self.streams) == 1:
            named = [one for (name, _), one in self.others.items() if name == value.name]
            if named:
                return named[0]
        return self.others.get((value.name, value.scope)) or self.verdict(value.scope)

    def limit(self, scope: str = ALL) -> str:
        """The limit of the first headline, or the state of a case without a verdict."""
        verdict = self.verdict(scope)
        if verdict is not None:
            return verdict.limit
        unfinished = {
            "pending": "not run",
            "running": "not finished",
            "failed": "failed",
            "interrupted": "interrupted",
        }
        return unfinished.get(self.state, "not judged")

    def limit_of(self, value: Value) -> str:
        """The limit of a value; empty for one that is about the tester."""
        if value.kind.about == "tester":
            return ""
        verdict = self.verdict_of(value)
        return self.limit(value.scope) if verdict is None else verdict.limit

    def reason_of(self, value: Value) -> Reason | None:
        """Why a value has its limit; None where nothing was judged."""
        verdict = self.verdict_of(value)
        return verdict.reason if verdict is not None and self.limit_of(value) else None


def once_a_case(derive: Callable[[CaseView], T]) -> Callable[[CaseView], T]:
    """What follows from a case, derived once: those who show it ask for it often."""

    @wraps(derive)
    def found(case: CaseView) -> T:
        if derive not in case.kept:
            case.kept[derive] = derive(case)
        held: T = case.kept[derive]
        return held

    return found


RunGoal: TypeAlias = tuple[str, bool | None, str]
"""A goal for a run as a whole: as the plan has it, passed (None: could not be judged), why."""


@dataclass(frozen=True)
class RunView:
    """A run."""

    id: str
    """The name of its folder."""
    head: RunHead
    """Plan, scale, part of the matrix, seed and versions."""
    device_titles: tuple[str, ...]
    """What was tested, `emulated Cisco ASR9006`."""
    emulated: bool
    """Whether any device under test was emulated."""
    state: str
    started: str
    """UTC, ISO 8601."""
    ended: str | None
    cases: tuple[CaseView, ...]
    annotations: Notes = field(default_factory=Notes)
    """What people added to it later."""
    run_goals: tuple[RunGoal, ...] = ()
    """Of a run that ends just now: they compare it with another run, which is not a part of its record."""

    @property
    def resumed(self) -> str:
        """The versions that resumed it, if they are not those that began it, `engine 0.2.0`; else empty."""
        return self.head.versions.get(RESUMED, "")

    @property
    def imported_from(self) -> str:
        """The tool that measured it, if that was not netdyno; else empty."""
        return self.head.versions.get(IMPORTED, "")

    @property
    def report_title(self) -> str:
        """The title, which says so when the device was emulated."""
        devices = ", ".join(self.device_titles)
        title = self.head.title or devices or self.id
        if not self.emulated:
            return title
        return f"{title} ({devices if 'emulated' in devices.lower() else 'emulated'})"

    @property
    def done(self) -> int:
        """Cases with a result."""
        return sum(case.result is not None for case in self.cases)

    @property
    def notes(self) -> tuple[Reason, ...]:
        """Notes on the whole run: that its trials are too short, and those on the labs that all cases have in
        common, each once."""
        wired = [case for case in self.cases if case.notes]
        every = dict.fromkeys(note for case in wired for note in case.notes)
        short = () if self.rehearsal is None else (self.rehearsal,)
        return (*short, *(note for note in every if all(note in case.notes for case in wired)))

    @cached_property
    def rehearsal(self) -> ShortRehearsal | None:
        """The note on a rehearsal whose trials end before a queue of the device is full; None: none does."""
        notes = (case.result.notes for case in self.cases if case.result)
        return find_short_rehearsal(self.head.scale, notes)

    @property
    def special_notes(self) -> tuple[tuple[str, Reason], ...]:
        """Settings of a case and a note on its lab that is not one of `notes`, each pair once."""
        common = self.notes
        pairs = (
            (" / ".join(case.named_settings), note)
            for case in self.cases
            for note in case.notes
            if note not in common
        )
        return tuple(dict.fromkeys(pairs))

    @property
    def neighbours(self) -> tuple[str, ...]:
        """What befell the tester's neighbours, with the case."""
        return tuple(f"{case.name}: {one.sentence}" for case in self.cases for one in case.neighbours)

    @property
    def tester(self) -> tuple[str, ...]:
        """What must be known of the tester: of each kind the worst, with its case."""
        return health.merge_worst((case.name, case.tester) for case in self.cases)

    @cached_property
    def setting_names(self) -> tuple[str, ...]:
        """Every setting some case has, in order of appearance."""
        return tuple(dict.fromkeys(name for case in self.cases for name in case.settings))

    @cached_property
    def axis_names(self) -> tuple[str, ...]:
        """The settings, then profile and direction."""
        return (*self.setting_names, "profile", "direction")

    @cached_property
    def varied_axes(self) -> tuple[str, ...]:
        """The axes in which its cases differ."""
        values = {name: {case.axes.get(name) for case in self.cases} for name in self.axis_names}
        return tuple(name for name, found in values.items() if len(found) > 1)

    def name_apart(self, case: CaseView) -> str:
        """What tells a case from the others, `64b / uni`, without what all have in common."""
        parts = [name_choice(name, value) for name in self.varied_axes if (value := case.axes.get(name))]
        if not parts:
            return case.name
        return " / ".join((*parts, *(() if case.repeat is None else (f"repeat {case.repeat}",))))

    def place_apart(self, case: CaseView) -> str:
        """The same of all repeats of it."""
        return self.name_apart(replace(case, repeat=None))

    @cached_property
    def varied_settings(self) -> tuple[str, ...]:
        """The settings that have more than one value, in order of appearance."""
        values = {name: {c.settings.get(name) for c in self.cases} - {None} for name in self.setting_names}
        return tuple(name for name, found in values.items() if len(found) > 1)

    @cached_property
    def combinations(self) -> tuple[tuple[str, ...], ...]:
        """The settings of the cases as they are named, each combination of values once, in order."""
        return tuple(dict.fromkeys(case.named_settings for case in self.cases))

    @cached_property
    def profiles(self) -> tuple[str, ...]:
        """Traffic profiles, in the order of the cases."""
        return tuple(dict.fromkeys(case.profile for case in self.cases))

    @cached_property
    def directions(self) -> tuple[str, ...]:
        """Directions, in the order of the cases."""
        return tuple(dict.fromkeys(case.direction for case in self.cases))

    @cached_property
    def load_class(self) -> LoadClass:
        """The class of its loads; frames before there are any."""
        return next((found for case in self.cases if (found := case.load_class) is not None), FRAMES)

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Methods that gave a result."""
        return tuple(dict.fromkeys(case.result.method for case in self.cases if case.result))

    @cached_property
    def line_enforced(self) -> bool:
        """Whether a share of line rate means anything here: False where every line is only declared. A case
        whose lab was never wired does not say."""
        wired = [case for case in self.cases if case.clock] or self.cases
        return not wired or any(case.line_enforced for case in wired)

    @cached_property
    def rated(self) -> bool:
        """Whether the numbers that stand for the cases are rates; else they are times, shares or counts."""
        return all(case.headline.unit == "fps" for case in self.cases if case.headline)

    @cached_property
    def shares(self) -> bool:
        """Whether the numbers that stand for the cases have shares of a line rate that means anything."""
        return self.line_enforced and self.rated

    @cached_property
    def headline_names(self) -> tuple[str, ...]:
        """What the headline numbers of this run are called."""
        return tuple(dict.fromkeys(case.headline.kind.display_name for case in self.cases if case.headline))

    @property
    def repeats(self) -> int:
        """How often each case was to be run."""
        return max((case.repeat or 1 for case in self.cases), default=1)

    @cached_property
    def places(self) -> Mapping[tuple[tuple[str, ...], str, str], tuple[CaseView, ...]]:
        """The places of the matrix, each with its repeats: settings, profile and direction."""
        found: dict[tuple[tuple[str, ...], str, str], list[CaseView]] = {}
        for case in self.cases:
            found.setdefault((case.named_settings, case.profile, case.direction), []).append(case)
        return {place: tuple(cases) for place, cases in found.items()}

    def at(self, settings: tuple[str, ...], profile: str, direction: str) -> tuple[CaseView, ...]:
        """The repeats of the case at a place of the matrix, of most runs one; none: there is no such case."""
        return self.places.get((settings, profile, direction), ())


COUNTS = (
    "intended",
    "offered",
    "received",
    "lost",
    "duplicates",
    "out_of_order",
    "corrupted",
    "elsewhere",
)
"""Counts of a stream, in frames, that are summed over trials and printed."""


ACROSS_WORKERS = ("duplicates", "out_of_order")
"""Counts that one worker cannot make of a flow whose frames came in on another one, too."""


def counts(result: Outcome, stream: StreamResult) -> dict[str, int]:
    """What was counted of a stream; what is not known is left out."""
    unknown: tuple[str, ...] = ACROSS_WORKERS if result.health.split_flows else ()
    if stream.is_bare:
        # More copies than these may stand for lost frames.
        known = ("duplicates",) if stream.duplicates else ()
        unknown = tuple(name for name in ("duplicates", "out_of_order", "elsewhere") if name not in known)
    return {name: getattr(stream, name) for name in COUNTS if name not in unknown}


def totals(case: CaseView, scope: str) -> Mapping[str, int] | None:
    """Counts of a scope over the trials a result rests on, those known of all; None: nothing to count."""
    streams = case.streams_of(scope)
    found = [
        counts(trial.result, stream)
        for trial in case.resting_trials
        for stream in trial.result.streams
        if scope == ALL or stream.name in streams
    ]
    if not found:
        return None
    known = [name for name in COUNTS if all(name in one for one in found)]
    return {name: sum(one[name] for one in found) for name in known}


def stream_results(case: CaseView) -> Iterator[tuple[TrialView, StreamResult]]:
    """Every stream of every trial of a case."""
    for trial in case.trials:
        for stream in trial.result.streams:
            yield trial, stream
