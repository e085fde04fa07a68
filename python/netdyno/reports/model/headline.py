"""The answer of a run on one screen: what was tested, its headline numbers, line rate, limits, caveats.

Terminal, Markdown and HTML render this one model. The numbers of a method come from `families`; the
limit, whether the tester was calibrated and what a reader must know first are found here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from netdyno.errors import as_cabling, counted, without_commands
from netdyno.reports.model import (
    answer,
    balance_table,
    compliance,
    device_table,
    families,
    health,
    reasons,
    unfinished,
)
from netdyno.reports.model.first_lines import (
    class_lines,
    class_numbers,
    failure_lines,
    routing_lines,
    vlan_lines,
    watch_lines,
)
from netdyno.reports.model.shown import Number
from netdyno.reports.model.table import Table
from netdyno.reports.model.view import CaseView, RunView, stream_results
from netdyno.values import number as printed
from netdyno.values.load import CONNECTIONS, FRAMES, LoadClass
from netdyno.values.outcome import StreamResult
from netdyno.values.reason import About, Reason
from netdyno.values.records import name_choice
from netdyno.values.rehearsal import ShortRehearsal
from netdyno.verdict.causes import REASONS as CAUSES
from netdyno.verdict.causes import LostSizes
from netdyno.verdict.evidence import find_dead_flows
from netdyno.verdict.reasons import LineFull
from netdyno.verdict.uneven import SentUnevenly
from netdyno.verdict.watched import plain

EMULATED = "emulated-device"
"""Code of the note that the device is emulated: a sentence of this page says so already."""

UNCALIBRATED = "ports-not-calibrated"
"""Code of the note that the tester was never calibrated: the line on calibration says so."""

EXPIRED = "calibration-invalid"
"""Code of the note that a calibration holds no longer: that line says so as well."""

SAID_ABOVE = (EMULATED, UNCALIBRATED, EXPIRED, device_table.LEFT_BEHIND, ShortRehearsal.code)
"""Codes of notes of a run that its page says elsewhere."""

FIRST = (*CAUSES, "classes-in-phase", SentUnevenly.code)
"""Codes of remarks that stand before others: what lost frames have in common, their order, and that the load
was another one."""

NOTES = 3
"""Caveats that a terminal prints; reports have all of them."""
ORDER = (
    "failed",
    "invalid",
    "device",
    "licence",
    "shaper",
    "policer",
    "line",
    "link",
    "loss",
    "receive-window",
    "send-buffer",
    "tester",
    "receiver",
    "fixture",
    "inconclusive",
    "none",
)
"""In which limits are printed."""
EXPLAINED = (
    "link",
    "tester",
    "receiver",
    "fixture",
    "licence",
    "shaper",
    "policer",
    "loss",
    "receive-window",
    "send-buffer",
    "inconclusive",
    "invalid",
    "failed",
    "none",
)
"""Limits of which one case's reason is printed even where there are several cases."""
NAMED = 3
"""Values of an axis that name the cases of a limit; more of them name nothing."""
NOT_JUDGED = ("not run", "not finished", "interrupted")
"""States of cases that stand in the place of their limit."""
TITLES = {
    "ramp": "Ramp",
    "ndr": "Search for NDR and PDR",
    "rfc2544": "RFC 2544",
    "sweep": "Latency against load",
    "y1564": "Service activation (ITU-T Y.1564)",
    "tcp": "TCP",
    "udp": "UDP",
    "rfc6349": "TCP throughput (RFC 6349)",
    "service-cost": "Cost of services",
}
"""Methods by the names engineers use; the name of any other is its own title."""


@dataclass(frozen=True)
class Limit:
    """One distinct limit of a run."""

    limit: str
    """The verdict's word: `device`, `line`, `tester`."""
    text: str
    """In how many cases, which, and the range of their numbers; empty where a single case says it all."""
    reason: str
    """The sentence of the verdict on one of them; empty where the numbers say it."""

    @property
    def sentence(self) -> str:
        """The whole in one text: the reason alone where it names the limit."""
        if self.text in ("", self.limit) and self.reason.lower().startswith(self.limit.replace("-", " ")):
            return self.reason
        return ": ".join(part for part in (self.text or self.limit, self.reason) if part)

    @property
    def short(self) -> str:
        """The numbers, or the first sentence of the reason."""
        return self.text or self.reason.split(". ", 1)[0]


@dataclass(frozen=True)
class Headline:
    """What the first screen of a run answers."""

    title: str
    badge: str
    """`EMULATED, a rehearsal: trials and waits x 1/20`; empty of a real device in full length."""
    state: str
    """`done, 14 of 14 cases in 3:40`."""
    tested: str
    """Method, device, frames, directions and line in one line."""
    numbers: tuple[Number, ...]
    """The numbers in large type: at most three, or those of each class."""
    grid: Table
    """The method's own table of headline numbers."""
    events: Table
    """What happened over time; without rows where the method dates nothing, or nothing happened."""
    line_rate: tuple[str, str]
    """`yes`, `no` or `27 of 48`, and which; two empty texts where the method does not ask for it."""
    limits: tuple[Limit, ...]
    calibrated: tuple[str, str]
    """`yes`, `no`, `does not hold` or `not needed`, and the calibration or the remedy."""
    caveats: tuple[str, ...]
    """What a reader must know, the most important first."""
    classes: tuple[str, ...]
    """A line for each case and class of traffic: what it lost, and its latency."""
    vlans: tuple[str, ...]
    """A line for each case and direction on several VLANs: how many lost frames, and from which load on."""
    routing: tuple[str, ...]
    """A line for each case and port whose speaker announced routes."""
    watches: tuple[str, ...]
    """A line for each case and watch that broke, and one of those that held."""
    failures: tuple[str, ...]
    """A line for each case and way in which members of LAGs died."""
    standard: tuple[str, ...]
    """`RFC 2544: deviating in 7 points`, one for each standard."""
    device: str = ""
    """Balance of frames and power in a line; empty: no driver read them."""
    by_class: bool = False
    """Whether `numbers` are those of classes: how each fared is then the answer, not a rate and its limit."""
    passed: bool | None = None
    """Whether the device passed an acceptance test; None: the method has none, or part of it is unknown."""
    is_undecided: bool = False
    """Whether part of an acceptance test is unknown, and the rest passed."""


def headline(run: RunView) -> Headline:
    """The first screen of a run."""
    shown = families.of_run(run)
    of_classes = class_numbers(run)
    # Of an acceptance test the answer is whether it was passed.
    numbers = shown.numbers if shown.outcomes else of_classes or shown.numbers
    return Headline(
        title=run.head.title or ", ".join(run.device_titles) or run.id,
        badge=_badge(run),
        state=_state(run),
        tested=_tested(run),
        numbers=(*_missed_goals(run, numbers), *numbers),
        by_class=numbers == of_classes != (),
        grid=shown.grid.without_empty_columns(),
        events=shown.events.without_empty_columns(),
        line_rate=_line_rate(run),
        limits=(
            *(Limit(word, word, why) for word, why in shown.outcomes),
            *(_limits(run) if not shown.outcomes else ()),
        ),
        calibrated=_calibrated(run),
        caveats=tuple(dict.fromkeys([*shown.caveats, *_caveats(run)])),
        classes=class_lines(run, run.name_apart),
        vlans=vlan_lines(run, run.name_apart),
        routing=routing_lines(run, run.name_apart),
        watches=watch_lines(run, run.name_apart),
        failures=failure_lines(run, run.name_apart),
        standard=tuple(_standards(run)),
        device=balance_table.summary(run),
        passed=shown.passed,
        is_undecided=shown.passed is None and bool(shown.outcomes),
    )


def _missed_goals(run: RunView, numbers: Sequence[Number]) -> Iterator[Number]:
    """How many goals were missed, where no number in large type says so."""
    goals = [(case, name, passed) for case in run.cases for name, passed, _ in case.goals]
    missed = [(case, name) for case, name, passed in goals if passed is False]
    if missed and not any(one.is_missed for one in numbers):
        case, name = missed[0]
        of = f" of {run.name_apart(case)}" if len(run.cases) > 1 else ""
        yield Number("Goals", f"{len(missed)} of {len(goals)} missed", f"{name}{of}", is_missed=True)


def _badge(run: RunView) -> str:
    parts = ["EMULATED"] if run.emulated else []
    if run.head.scale != 1:
        parts.append(f"a rehearsal: trials and waits x {run.head.scale}")
    if run.head.overrides:
        parts.append(f"{counted(len(run.head.overrides), 'value')} set in the plan")
    return ", ".join(parts)


def _state(run: RunView) -> str:
    took = ""
    if run.ended is not None:
        begun, ended = (datetime.fromisoformat(moment) for moment in (run.started, run.ended))
        took = f" in {printed.clock((ended - begun).total_seconds())}"
    return f"{run.state}, {run.done} of {counted(len(run.cases), 'case')}{took}"


def _tested(run: RunView) -> str:
    rates = dict.fromkeys(bps for case in run.cases for bps in case.lines_bps)
    directions = [one for one in run.directions if one]
    profiles = [one for one in run.profiles if one]
    methods = ", ".join(TITLES.get(name, f"{name[0].upper()}{name[1:]}") for name in run.methods)
    common = [
        name_choice(name, value)
        for name in run.setting_names
        # The names of several cases leave it out.
        if run.varied_axes and name not in run.varied_axes and (value := run.cases[0].settings.get(name))
    ]
    parts = [
        f"{methods or 'Nothing measured yet'}: {', '.join(run.device_titles) or 'a device'}",
        ", ".join(common),
        ", ".join(profiles) if len(profiles) <= NAMED else f"{profiles[0]} to {profiles[-1]}",
        _sizes(run),
        " and ".join(part for part in (", ".join(directions[:-1]), *directions[-1:]) if part),
        " and ".join(printed.bits(bps, (3, 3, 3)) for bps in rates),
    ]
    return ", ".join(part for part in parts if part)


def _sizes(run: RunView) -> str:
    """The frame size of all cases, `64 B`; empty if there are several, or profiles are named by it."""
    sizes = {case.sizes for case in run.cases if case.sizes}
    if len(sizes) != 1:
        return ""
    text = printed.size(next(iter(sizes)))
    return "" if any(text.split()[0] in profile for profile in run.profiles) else text


def _line_rate(run: RunView) -> tuple[str, str]:
    """Whether the headline rates filled the line, and where."""
    rated = [case for case in run.cases if case.headline is not None and case.headline.unit == "fps"]
    if not rated or not run.rated or run.imported_from:
        return "", ""
    if not run.line_enforced:
        if any(case.limit() == "line" for case in rated):
            return "not enforced", "`line` here is the `rate` that the plan gives these ports"
        return "unknown", "no line rate is enforced on these ports"
    full = [case for case in rated if answer.is_full(case)]
    rest = [case for case in rated if case.limit() == "line" and not answer.is_full(case)]
    member = sum(map(answer.fills_member, rest))
    also = f"; {member} more fill the one LAG member that their flows use" if member else ""
    if len(rest) > member:
        also += f"; {len(rest) - member} more fill the line in one direction, or nearly"
    if len(full) == len(rated):
        queued = _standing_queue(full)
        if len(rated) < len(run.cases):
            return "yes", f"in every case with a rate{queued}"
        return "yes", f"in every case{queued}" if len(rated) > 1 else queued.removeprefix(", ")
    if not full and all(case.limit() == "none" for case in rated):
        return "not offered", "nothing was lost up to the highest load"
    if not full:
        return "no", also.removeprefix("; ")
    where = f"{name_common(full, run.cases)}{_standing_queue(full)}{also}"
    return f"{len(full)} of {len(rated)}", where.removeprefix("; ").removeprefix(", ")


def _standing_queue(full: Sequence[CaseView]) -> str:
    """`, with a standing queue in 2 of 4 (up to 10.8 ms)` of those that filled the line; empty: in none."""
    found = []
    for case in full:
        reasons_ = (plain(verdict.reason) for verdict in case.verdicts.values())
        times = [one.queue_ns for one in reasons_ if isinstance(one, LineFull) and one.queue_ns is not None]
        found += [max(times)] if times else []
    if not found:
        return ""
    many = f" in {len(found)} of {len(full)}" if len(full) > 1 else ""
    most = f"{'up to ' if len(found) > 1 else ''}{printed.duration(max(found))}"
    return f", with a standing queue{many} ({most})"


def name_common(cases: Sequence[CaseView], every: Sequence[CaseView]) -> str:
    """What some cases have in common and the others have not: `64b-multi, 64b-one`; empty: nothing."""
    axes: dict[str, tuple[list[str], list[str]]] = {}
    for chosen, group in ((0, cases), (1, every)):
        for case in group:
            for name, value in case.axes.items():
                axes.setdefault(name, ([], []))[chosen].append(name_choice(name, value))
    sentences = []
    for some, all_ in axes.values():
        values = list(dict.fromkeys(some))
        if len(values) < len(set(all_)) and len(values) <= NAMED:
            sentences.append(", ".join(values))
    return " / ".join(sentences)


def _limits(run: RunView) -> Iterator[Limit]:
    """A line for each distinct limit: in how many cases, which of them, and their numbers."""
    found: dict[str, list[CaseView]] = {}
    for case in run.cases:
        found.setdefault(case.limit(), []).append(case)
    reasons_of_run = reasons.of_run(run)
    for limit in sorted(found, key=lambda one: ORDER.index(one) if one in ORDER else len(ORDER)):
        cases = found[limit]
        if limit in NOT_JUDGED:
            continue
        first_reason = next((one for one in reasons_of_run if one.limit == limit), None)
        reason = "" if first_reason is None else first_reason.sentence
        if len(run.cases) == 1:
            yield Limit(limit, "", reason or answer.short(cases[0]))
            continue
        # The line begins with the limit already, and several cases differ in their numbers.
        reason = reason.removeprefix(f"{limit.capitalize()} limit: ")
        reason = reason.removeprefix(f"{limit.capitalize()}: ")
        if first_reason is not None and len(cases) > 1:
            reason = f"{run.name_apart(first_reason.cases[0])}: {reason}"
        common = name_common(cases, run.cases)
        text = f"{limit} in {len(cases)} of {len(run.cases)}{f' ({common})' if common else ''}"
        reason = reason if limit in EXPLAINED or len(cases) == 1 else ""
        span = answer.span_of(cases)
        if span and span.removeprefix(">= ") not in reason:
            text += f": {span}"
        yield Limit(limit, text, reason)


def _calibrated(run: RunView) -> tuple[str, str]:
    if run.imported_from:
        return "unknown", f"measured by {run.imported_from}"
    return CALIBRATED[run.load_class](run)


def _calibrated_for_frames(run: RunView) -> tuple[str, str]:
    real = [case for case in run.cases if case.clock == "real"]
    if not real:
        return ("not needed", "virtual time") if any(case.clock for case in run.cases) else ("", "")
    proven = [case.proven for case in real if case.proven is not None]
    expired = next((one.expired for one in proven if one.expired is not None), None)
    if expired is not None:
        return "does not hold", f"{expired}; {_remedy(run, EXPIRED)}"
    if not proven:
        return "no", f"no limit of the device is named; {_remedy(run, UNCALIBRATED)}"
    known = dict.fromkeys(one.id for one in proven)
    if len(proven) < len(real):
        return f"{len(proven)} of {len(real)}", f"by {', '.join(known)}"
    rates = [one.max_fps for one in proven if one.max_fps is not None]
    most = printed.searched(min(rates)) if rates else ""
    also = f", the tester alone loses nothing up to {most}" if most else ""
    return "yes", f"by {', '.join(known)}{also}"


def _remedy(run: RunView, code: str) -> str:
    """How to calibrate: the cables it takes, the command, and the plan again. code: of the note on it."""
    missing = next((one.fields() for one in run.notes if one.code == code), None)
    run_it = f"`{missing['command']} --quick` (about 20 s)" if missing else "`netdyno calibrate PLAN`"
    cables = missing.get("cables") if missing else None
    if not cables:
        return f"run {run_it}, then the plan again"
    return f"{as_cabling(cables)} in place of the device, run {run_it}, then the plan with the device again"


CALIBRATED: Mapping[LoadClass, Callable[[RunView], tuple[str, str]]] = {
    FRAMES: _calibrated_for_frames,
    CONNECTIONS: lambda run: (
        "not needed",
        "test frames over the same path, and what the kernels say, show the limit",
    ),
}
"""Whether the tester was calibrated, by the class of the loads."""


def _caveats(run: RunView) -> Iterator[str]:
    yield from device_table.caveats(run)
    if run.rehearsal is not None:
        yield _sentence(str(run.rehearsal))
    failed = [case for case in run.cases if case.error]
    if failed:
        error = str(failed[0].error)
        short = without_commands(error)
        listed = "" if short == error else " The report has the commands to enter by hand."
        yield f"{len(failed)} of {counted(len(run.cases), 'case')} not measured: {short}{listed}"
    silent = [case for case in run.cases if is_silent(case)]
    if silent:
        where = _in_cases(run, silent)
        yield _sentence(
            f"{where}nothing came back. Look at the device's routes, filters, interfaces and cables"
        )
    yield from _dead_flows(run)
    yield from _remarks(run, FIRST)
    if run.state != "done":
        yield f"The run is {run.state}: `netdyno run --resume` goes on with its folder, {run.id}."
        yield from unfinished.describe_searches(run)
    for wanted, word in ((False, "missed"), (None, "not judged")):
        goals = [
            (case, name, why) for case in run.cases for name, passed, why in case.goals if passed is wanted
        ]
        if goals:
            case, name, why = goals[0]
            among = f"{len(goals)} goals {word}, the first" if len(goals) > 1 else f"Goal {word}"
            yield f"{among}: `{name}` of {run.name_apart(case)}: {why}"
    doubted = [case for case in run.cases if (value := case.headline) is not None and case.doubt(value)]
    if doubted:
        yield (
            f"In {len(doubted)} of {len(run.cases)} cases (*) later trials lost frames at the load that the"
            " search had passed, or below. Use longer trials in the search."
        )
    if run.resumed:
        yield f"A part of this run was resumed with other versions: {run.resumed}."
    yield from (_sentence(one) for one in health.merge_worst(_told_of_the_tester(run)))
    if not run.emulated:
        yield from _labs(run)
    yield from _remarks(run)
    yield from _neighbours(run)
    if run.emulated:
        yield "Emulated device: the numbers follow from a model and say nothing about real hardware."
        yield from _labs(run)


def _dead_flows(run: RunView) -> Iterator[str]:
    """The flows that lost every frame in the trials of a case: the first case, and in how many."""
    found = [
        (case, dead)
        for case in run.cases
        # Streams of several classes have flows of their own.
        if not any(place.traffic for place in case.places)
        and not (case.result and any(note.code == LostSizes.code for note in case.result.notes))
        and (dead := find_dead_flows(list(_with_all_flows(case)), case.flows or 0)) is not None
    ]
    if found:
        where, dead = _in_cases(run, [case for case, _ in found]), found[0][1]
        yield _sentence(f"{where}{dead}. Look at the paths, filters and tables that these flows take")


def _with_all_flows(case: CaseView) -> Iterator[StreamResult]:
    """Every stream of every trial, but for those of members of a LAG, which share the flows of their way."""
    sender = {name: place.tx for name, place in zip(case.streams, case.places, strict=False)}
    members = {number for lag in case.lags for number in lag}
    return (one for _, one in stream_results(case) if sender.get(one.name) not in members)


def _in_cases(run: RunView, found: Sequence[CaseView]) -> str:
    """`In 2 of 8 cases, first NAME: `; empty where the run has one case."""
    return (
        f"In {len(found)} of {len(run.cases)} cases, first {run.name_apart(found[0])}: "
        if len(run.cases) > 1
        else ""
    )


def _neighbours(run: RunView) -> Iterator[str]:
    """What befell the tester's neighbours: of each kind the first, and in how many cases."""
    found: dict[str, list[tuple[CaseView, str]]] = {}
    for case in run.cases:
        for incident in case.neighbours:
            found.setdefault(incident.code, []).append((case, incident.sentence))
    for alike in found.values():
        case, sentence = alike[0]
        many = len({other.number for other, _ in alike})
        name = run.name_apart(case)
        where = name if many == 1 else f"In {many} of {len(run.cases)} cases, first {name}"
        yield f"{where}: {sentence.removesuffix('.')}." if len(run.cases) > 1 else _sentence(sentence)


def is_silent(case: CaseView) -> bool:
    """Whether a rate was asked for, frames were sent, and none came back on any stream, in any form.

    A device that filters what it should (RFC 2889 section 5.9) is silent, too, and right.
    """
    if case.result is None or not any(
        case.result.kinds[name].unit == "fps" for name in case.result.headlines
    ):
        return False
    streams = [stream for _, stream in stream_results(case)]
    came = sum(one.received + one.duplicates + one.elsewhere + one.corrupted for one in streams)
    return came == 0 and any(one.offered for one in streams)


def _labs(run: RunView) -> Iterator[str]:
    """What is to be known of the lab and is said nowhere else on the page: of each kind the first."""
    found: dict[str, list[Reason]] = {}
    for note in run.notes:
        if not note.is_detail and note.code not in SAID_ABOVE:
            found.setdefault(note.all_codes, []).append(note)
    for alike in found.values():
        text = str(alike[0]).removesuffix(".")
        yield _sentence(f"{text} ({counted(len(alike) - 1, 'similar note')})" if len(alike) > 1 else text)


def _told_of_the_tester(run: RunView) -> Iterator[tuple[str, Sequence[health.Finding]]]:
    """Of each case the finding that matters most, and what the device's kernel counted.

    Where the tester was the limit, that line says already what it did.
    """
    for case in run.cases:
        if case.limit() != "tester" or len(run.cases) == 1:
            found = [one for one in case.tester if _is_timed(case) or one.kind not in health.OF_LATENCY]
            kernel = [one for one in found[1:] if one.kind == "device-kernel"]
            yield run.name_apart(case), (*found[:1], *kernel)


def _is_timed(case: CaseView) -> bool:
    """Whether times are among what its method found."""
    tables = case.result.tables if case.result else ()
    return any(column.unit == "ns" for table in tables for column in table.columns) or any(
        value.unit == "ns" for value in (case.result.values if case.result else ())
    )


def _remarks(run: RunView, codes: Collection[str] = ()) -> Iterator[str]:
    """What methods remarked: a line for each kind, what is true of most cases first. codes: of these; none:
    all."""
    found: dict[str, list[tuple[CaseView, Reason]]] = {}
    for case in run.cases:
        for reason in case.result.notes if case.result else ():
            inner = reason.reason if isinstance(reason, About) else reason
            if not inner.is_detail and (not codes or inner.code in codes):
                found.setdefault(reason.all_codes, []).append((case, reason))
    cases_of = {kind: len({case.number for case, _ in several}) for kind, several in found.items()}
    for kind, several in sorted(found.items(), key=lambda one: -cases_of[one[0]]):
        case, first = several[0]
        others = len({reason for _, reason in several}) - 1
        many, all_ = cases_of[kind], len(run.cases)
        # Where it holds stands first: the end of a long note is left out. A sentence that is not true of
        # all cases alike says of which it is true.
        where = run.name_apart(case) if all_ > 1 and (many == 1 or others) else ""
        if many > 1 and (many < all_ or others):
            where = f"In {many} of {all_} cases, first {where}" if where else f"In {many} of {all_} cases"
        text = f"{where}: {first}" if where else str(first)
        if others and many == 1:
            text = f"{text.removesuffix('.')} ({counted(others, 'similar note')})"
        # The name of a case stays as it is.
        yield f"{text.removesuffix('.')}." if where else _sentence(text)


def _sentence(text: str) -> str:
    """With a capital and a full stop; a name that begins it, of a case or a column, stays as it is."""
    whole = text if text.endswith(".") else f"{text}."
    is_word = whole.split(" ", 1)[0].removesuffix(":").isalpha() and " / " not in whole[:40].split(":", 1)[0]
    return f"{whole[0].upper()}{whole[1:]}" if is_word else whole


def _standards(run: RunView) -> Iterator[str]:
    for statement in compliance.statements(run):
        if statement.standard:
            many = len(statement.deviations)
            yield f"{statement.standard}: {statement.conformity}" + (
                f" in {counted(many, 'point')}" if many else ""
            )
