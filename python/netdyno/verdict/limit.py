"""The limit on one case: the questions, and their order.

The order of the questions matters. What filled the line is limited by the line, whatever else
happened. After that the tester doubts itself, its receiver and its fixture before it names the device;
and that it names only as far as it was proven to do better itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.errors import counted
from netdyno.methods import milliseconds, rounded, starved
from netdyno.trial import SEARCHED, Result, StreamResult, TrialResult, Value, Verdict
from netdyno.verdict.directions import with_sums
from netdyno.verdict.evidence import (
    LINE_SHARE,
    OWN_DROPS,
    Evidence,
    all_lost,
    device_counts,
    lost,
    noticeable,
)
from netdyno.verdict.licence import hint
from netdyno.verdict.neighbourhood import unsettled
from netdyno.verdict.proof import doubt, near, own_part
from netdyno.verdict.words import missing, rate, reached, share, too_long

LATE_NS = 1_000_000
"""A frame that left this much after its time means a burst behind it, which a device may well lose."""

HANDED_OVER_FPS = Fraction(400_000_000)
"""Where no line holds it, a peer writes frames into a ring no closer together than this: twice as fast as
generators write one frame again and again into memory of their own."""

LATE_SLACK = Fraction(1, 100)
"""Added to what pauses can explain."""

KNEE_MARGIN = Fraction(11, 10)
"""A knee is the device's if the tester kept its schedule this many times further."""

OWN_CORE_PPM = 900_000
"""A tester that had less of its core than this was not the one that decided when it sent."""


def judge(result: Result, evidence: Evidence, headline: str = "") -> dict[str, Verdict]:
    """A verdict for each scope of a headline: every stream, every port group, and their sum.

    headline: the first, if empty. The evidence is that of the trials which this headline rests on
    (`Result.resting`).
    """

    def of(scope: str) -> Value | None:
        return result.value(headline, scope) if headline else result.headline((scope,))

    verdicts = {
        scope: _judge_value(value, result, evidence)
        for scope in evidence.situation.streams
        if (value := of(scope)) is not None
    }
    together = of("sum")
    if together is None:
        return verdicts
    if not verdicts:
        return {"sum": _judge_value(together, result, evidence)}
    return with_sums(verdicts, evidence.situation)


def _judge_value(value: Value, result: Result, evidence: Evidence) -> Verdict:
    if value.number is None and not evidence.trials:
        return Verdict("inconclusive", value.note or "nothing was measured")
    judged = _judge_stream if value.unit == "fps" else _judge_measured
    return judged(value, result, evidence)


@dataclass(frozen=True)
class _Counts:
    """What the trials that a value rests on counted of the streams it depends on."""

    streams: tuple[StreamResult, ...]
    lost: int
    sent: int
    corrupted: int
    all_lost: int
    """Of all streams, whichever the value depends on."""
    dropped: int
    """By the tester itself, on receiving."""
    not_sent: int
    """By the tester itself, on sending: offered, and never on the line."""
    too_long: int
    """Longer than any that was sent: what is missing may be joined in them."""
    full: int
    """Looks of the tester's that found a ring of its own full."""
    while_full: Fraction | None
    """Frames that can have come in the time before those looks. None where that time is not known."""
    late_ns: int

    @property
    def excusable(self) -> bool:
        """The tester may have lost frames itself. It corrupted none, so no more than the loss is excused."""
        return self.lost > self.corrupted


def _counts(value: Value, evidence: Evidence) -> _Counts:
    trials = evidence.trials
    # A search ends where any direction fails, so what limited one of them limited the load of all.
    search = value.name in SEARCHED
    every = search or value.scope == "sum"
    streams = [stream for trial in trials for stream in trial.streams if every or stream.name == value.scope]
    return _Counts(
        streams=tuple(streams),
        lost=lost(streams),
        sent=sum(stream.offered for stream in streams),
        corrupted=sum(stream.corrupted for stream in streams),
        all_lost=all_lost(trials),
        dropped=sum(trial.dropped for trial in trials),
        not_sent=sum(trial.not_sent for trial in trials),
        too_long=sum(trial.health.rx_too_long for trial in trials),
        full=sum(trial.health.rx_full for trial in trials),
        while_full=_while_full(trials, evidence),
        late_ns=max((trial.health.latest_departure_ns for trial in trials), default=0),
    )


def _judge_measured(value: Value, result: Result, evidence: Evidence) -> Verdict:
    """The verdict on one direction's time or share, that was measured at a load and is none itself."""
    counts = _counts(value, evidence)
    wrong = _invalid(counts, evidence) or _apart(evidence)
    if wrong is not None:
        return wrong
    short = _short(evidence, value.scope)
    if short is not None:
        return Verdict("tester", f"{short}, so it was measured at another load than was asked for")
    if value.number is None or _is_bound(value):
        return Verdict("inconclusive", value.note or "no value was found")
    own = _tester(counts, evidence) or _fixture(counts, evidence.trials)
    late = sum(stream.lag.late for stream in counts.streams if stream.lag is not None)
    if own is None and late and evidence.clock == "real" and value.unit == "ns":
        own = Verdict(
            "inconclusive",
            f"{late} of {counts.sent} frames left so late that their times are those of another load",
        )
    copies = sum(stream.duplicates for stream in counts.streams)
    again = f" and {copies} came more than once" if copies else ""
    of_all = " in all" if value.scope == "sum" and len(evidence.situation.streams) > 1 else ""
    found = f"{missing(counts.streams)}{of_all}{again}, and the tester sent all it was asked to, on time"
    return own or own_part(value, evidence) or Verdict("device", found)


def _is_bound(value: Value) -> bool:
    """Whether all that is known of it is that it is no less: what was tried ended before the device did."""
    return value.low is not None and value.high is None


def _invalid(counts: _Counts, evidence: Evidence) -> Verdict | None:
    """Whether what was counted can be of no device."""
    for stream in counts.streams:
        if stream.lost < 0:
            return Verdict(
                "invalid",
                f"{-stream.lost} more frames arrived than were sent: something makes frames",
            )
    if not counts.streams or not counts.sent:
        asked = sum(stream.intended for stream in counts.streams)
        if asked:
            return Verdict("tester", f"the tester sent none of the {counted(asked, 'frame')} it was asked to")
        return Verdict("invalid", "no frame was sent in the trials this rests on")
    strangers = unsettled(evidence.trials) if counts.excusable else None
    if strangers is not None:
        return Verdict("invalid", f"{counts.lost} of {counts.sent} frames were lost, and {strangers}")
    return None


def _apart(evidence: Evidence) -> Verdict | None:
    """Whether two workers saw a part each of a flow: what came to both counts twice, and hides as much that
    is missing."""
    apart = sum(trial.health.split_flows for trial in evidence.trials)
    if not apart:
        return None
    return Verdict(
        "inconclusive",
        f"{apart} flows came in on more than one worker, and copies across workers cannot be told from"
        " frames: what is missing is not known; one worker would tell",
    )


def _judge_stream(value: Value, result: Result, evidence: Evidence) -> Verdict:
    """The verdict on one direction's rate."""
    trials = evidence.trials
    counts = _counts(value, evidence)
    wrong = _invalid(counts, evidence) or _apart(evidence)
    if wrong is not None:
        return wrong
    full = _line(value, result, evidence)
    short = _short(evidence, value.scope)
    # Where nothing enforces the line, a burst that makes up for a pause can look like a full one.
    if full is not None and (evidence.enforced_rate or short is None):
        return full
    if short is not None:
        early = _knee_before_tester(value, result, trials)
        if early is None:
            return _fell_short(short, value, counts, evidence)
        named = Verdict("device", f"{early}; later {short}")
        return doubt(value, evidence) or _fixture(counts, trials) or named
    if value.number is None:
        return Verdict("inconclusive", value.note or "no value was found")
    return _tester(counts, evidence) or _fixture(counts, trials) or _device(value, result, counts, evidence)


def _fell_short(short: str, value: Value, counts: _Counts, evidence: Evidence) -> Verdict:
    """A tester that did not send what it was asked to. What it may have lost itself is first if it is more.

    short: why it did not, a clause.
    """
    bound = f"{rate(value)} is a lower bound and no limit of the device"
    streams = [stream for trial in evidence.trials for stream in trial.streams]
    unsent = sum(max(stream.intended - stream.offered, 0) for stream in streams)
    if counts.excusable and counts.dropped > unsent and noticeable(counts.dropped, counts.all_lost):
        return Verdict("receiver", f"{_dropped(counts)}; besides, {short}, so {bound}")
    if counts.excusable and counts.lost > unsent and _explained_by_full_rings(counts):
        return Verdict("tester", f"{_found_full(counts)}; besides, {short}, so {bound}")
    return Verdict("tester", f"{short}, so {bound}")


def _dropped(counts: _Counts) -> str:
    return f"the tester itself dropped {counts.dropped} frames on receiving; {counts.all_lost} are missing"


def _explained_by_full_rings(counts: _Counts) -> bool:
    return counts.full > 0 and (counts.while_full is None or counts.lost <= counts.while_full)


def _found_full(counts: _Counts) -> str:
    return (
        f"{counts.lost} of {counts.sent} frames were lost, and {_times(counts.full)} the tester found a ring"
        " full that it receives into: what came then found no room, and nobody counts that"
    )


def _tester(counts: _Counts, evidence: Evidence) -> Verdict | None:
    """Whether what is missing may be the tester's own doing, by what it counted itself."""
    if not counts.excusable:
        return None
    gone, sent, late = counts.lost, counts.sent, counts.late_ns
    # Of the two the greater; a frame may be in both.
    if counts.not_sent >= counts.dropped and noticeable(counts.not_sent, counts.all_lost):
        return Verdict(
            "tester",
            f"the tester's own card, driver or kernel dropped {counts.not_sent} frames it was to send;"
            f" {counts.all_lost} are missing",
        )
    if noticeable(counts.dropped, counts.all_lost):
        return Verdict("receiver", _dropped(counts))
    if noticeable(counts.too_long, counts.all_lost):
        return Verdict("inconclusive", f"{gone} of {sent} frames were lost, and {too_long(counts.too_long)}")
    if _explained_by_full_rings(counts):
        return Verdict("inconclusive", _found_full(counts))
    real = evidence.clock == "real"
    made_up = sum(trial.health.made_up for trial in evidence.trials)
    if real and gone <= made_up:
        caught = [trial.health.catch_up for trial in evidence.trials if trial.health.catch_up is not None]
        return Verdict(
            "tester",
            f"{gone} of {sent} frames were lost, no more than the {made_up} that the tester sent at up to"
            f" {max(one.percent for one in caught)} % of the load to make up for pauses of up to"
            f" {milliseconds(max(one.longest_ns for one in caught))}",
        )
    if real and late > LATE_NS and not _beyond_lateness(counts.streams, evidence.trials):
        return Verdict(
            "inconclusive",
            f"{gone} of {sent} frames were lost, but the tester was up to {milliseconds(late)} late, and"
            " the burst after such a pause may be what was lost",
        )
    unknown = sum(stream.beyond_window for stream in counts.streams)
    if gone <= unknown:
        return Verdict(
            "inconclusive",
            f"{gone} of {sent} frames count as lost, and {unknown} came so late that nobody can say whether"
            " they are copies or just those: more flows than can be told apart in such disorder",
        )
    # Many short pauses lose as much as a long one, where what comes in finds no room meanwhile.
    overdue = sum(stream.lag.late for stream in counts.streams if stream.lag is not None)
    if real and gone <= overdue and not _beyond_lateness(counts.streams, evidence.trials):
        return Verdict(
            "inconclusive",
            f"{gone} of {sent} frames were lost, and {overdue} left late: the pauses of the tester that"
            " made them late may be what lost the others",
        )
    burst = max(_burst(trial) for trial in evidence.trials)
    if real and gone <= burst:
        return Verdict(
            "inconclusive",
            f"{gone} of {sent} frames were lost, no more than the {rounded(burst)} that the tester, up to"
            f" {milliseconds(late)} late, sent at once to make up for it",
        )
    return None


def _fixture(counts: _Counts, trials: Sequence[TrialResult]) -> Verdict | None:
    """Whether what stands between tester and device lost the frames.

    Far end and device stand in a row: if the device drops too, it is the narrower of the two.
    """
    partner = device_counts(trials, "partner_drops")
    own = sum(device_counts(trials, name) for name in OWN_DROPS)
    if not counts.excusable or not noticeable(partner, counts.all_lost) or noticeable(own, counts.all_lost):
        return None
    return Verdict(
        "fixture",
        f"the far end of a group dropped {partner} of the {counts.all_lost} lost frames before the device",
    )


def _device(value: Value, result: Result, counts: _Counts, evidence: Evidence) -> Verdict:
    """The device, if something is missing and the tester was proven to do better; else a lower bound."""
    what = reached(value, result, evidence)
    # A goal that allows some loss was reached at the highest load there is: that loss is no limit.
    bound = value.name in SEARCHED and value.high is None
    if (counts.lost or counts.corrupted) and not bound:
        dropped, gone = counts.dropped, counts.all_lost
        tester = f"only {dropped} of all {gone} lost on receiving" if dropped and gone else "none"
        partner = device_counts(evidence.trials, "partner_drops")
        before = f" and the far end of a group dropped {partner} of all {gone} lost" if partner else ""
        return doubt(value, evidence) or Verdict(
            "device",
            f"{missing(counts.streams)} while the tester sent all it was asked to and dropped {tester}"
            f"{before}; {what}{hint(value, result, evidence)}",
        )
    # Copies end a search. A ramp rises on whatever they are, and its knee is of what is missing.
    copies = sum(stream.duplicates for stream in counts.streams)
    if value.name in SEARCHED and copies and value.high is not None:
        return doubt(value, evidence) or Verdict(
            "device", f"none of {counts.sent} frames was lost, but {copies} came more than once; {what}"
        )
    again = f"; {copies} came more than once" if copies else ""
    little = f"no more than {counts.lost} of {counts.sent} frames were" if counts.lost else "nothing was"
    return near(value, evidence) or Verdict(
        "inconclusive", f"{little} lost and more was not offered: {what}, a lower bound{again}"
    )


def _short(evidence: Evidence, scope: str) -> str | None:
    """Why the tester did not offer what it was asked to: of the stream in question, if that one was short."""
    for trial, planned_ns in evidence.timed_trials:
        own_first = sorted(trial.streams, key=lambda stream: stream.name != scope)
        reason = starved(replace(trial, streams=tuple(own_first)), planned_ns)
        if reason is not None:
            return reason
    return None


def _line(value: Value, result: Result, evidence: Evidence) -> Verdict | None:
    """Whether the line, or the one member a single flow may use, was full."""
    if value.number is None:
        return None
    # Loss that set in well before, and stayed, has another cause, however small a share of it is.
    knee = next((one for one in result.values if (one.name, one.scope) == ("knee", value.scope)), None)
    before = None if knee is None or knee.high is None else knee.high * KNEE_MARGIN
    situation = evidence.situation
    line = situation.line(value.scope)
    # A search that gives an upper bound has lost frames below the line: it knows closer than this share.
    searched = value.name in SEARCHED and value.high is not None
    early = (before is not None and before < line) or _lossy_end(value, result)
    if value.number >= LINE_SHARE * line and not searched and not early:
        declared = "" if evidence.enforced_rate else " (declared in the plan; nothing enforces it here)"
        return Verdict(
            "line",
            f"{rate(value)} is {share(value.number, line)} of the line's {rounded(line)} fps{declared}",
        )
    ceiling = situation.flow_ceiling_fps
    # That a single flow loses what its member cannot carry is no sign of anything else.
    early = before is not None and ceiling is not None and before < ceiling
    if ceiling is not None and value.number >= LINE_SHARE * ceiling and not early:
        part = share(value.number, ceiling)
        return Verdict(
            "line",
            f"{rate(value)} is {part} of what one member of the group carries; a single flow uses one",
        )
    return None


def _lossy_end(value: Value, result: Result) -> bool:
    """Whether a ramp that filled the line for a moment lost more at its end than a full line explains."""
    ends = (one.number for one in result.values if (one.name, one.scope) == ("loss at the end", value.scope))
    return any(number is not None and number > 1 - LINE_SHARE for number in ends)


def _knee_before_tester(value: Value, result: Result, trials: Sequence[TrialResult]) -> str | None:
    """Whether loss had set in for good, by a margin, before the tester fell behind its schedule.

    The knee of a ramp is read only where the tester kept up. With a tenth of that load to spare the
    loss is not that of the bursts by which a tester makes up for its pauses: if it had its core, and if
    the best rate was not itself received from such a burst.
    """
    if value.name in SEARCHED:
        # The knee of a ramp before a search: the tester fell behind in other trials.
        return None
    found = {one.name: one for one in result.values if one.scope == value.scope}
    knee, kept = found.get("knee"), found.get("kept up to")
    if knee is None or kept is None or knee.high is None or kept.number is None or value.number is None:
        return None
    if knee.high * KNEE_MARGIN > kept.number or value.number > kept.number:
        return None
    health = [trial.health for trial in trials]
    # Where in the ramp a ring was full is not known: even once is once too many.
    own = [
        sum(trial.dropped for trial in trials),
        sum(trial.not_sent for trial in trials),
        sum(one.rx_too_long for one in health),
    ]
    if any(noticeable(count, all_lost(trials)) for count in own) or any(one.rx_full for one in health):
        return None
    if any((one.core_share_ppm or 1_000_000) < OWN_CORE_PPM for one in health):
        return None
    return (
        f"loss stayed from {rounded(knee.high)} fps on, while the tester kept its schedule up to"
        f" {rounded(kept.number)} fps"
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _burst(trial: TrialResult) -> Fraction:
    """Frames of all streams that were due while the tester was latest; they left back to back after it."""
    most = sum(max(stream.tx, default=0) for stream in trial.streams)
    return Fraction(most * trial.health.latest_departure_ns, trial.sample_ns)


def _while_full(trials: Sequence[TrialResult], evidence: Evidence) -> Fraction | None:
    """Frames that can have come while rings of the tester's were full: a full line's, and one more each time.

    Not those that were sent meanwhile: a device, or a burst, may bring them closer together than that.
    """
    line_fps, most = evidence.situation.line_fps, Fraction(0)
    if not evidence.enforced_rate:
        line_fps = max(line_fps, HANDED_OVER_FPS)
    for health in (trial.health for trial in trials if trial.health.rx_full):
        if health.rx_full_ns is None:
            return None
        most += Fraction(health.rx_full_ns, 10**9) * line_fps + health.rx_full
    return most


def _beyond_lateness(streams: Sequence[StreamResult], trials: Sequence[TrialResult]) -> bool:
    """Whether more was lost than bursts after pauses can explain.

    A tester that had its core for all but a share s of the time can have sent at most about s of its
    frames late. Three times that lost is not its doing. Without the core's share there is no saying.
    """
    shares = [trial.health.core_share_ppm for trial in trials]
    if any(share is None for share in shares):
        return False
    away = max(Fraction(1_000_000 - share, 1_000_000) for share in shares if share is not None)
    sent = sum(stream.offered for stream in streams)
    return Fraction(lost(streams), sent) > 3 * away + LATE_SLACK
