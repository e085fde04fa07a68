"""C1 to C6 and C8: the tester against itself, with the frames and directions of a plan."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

from netdyno.calibration import traffic
from netdyno.calibration.bench import Bench, Shot
from netdyno.calibration.document import Check, Mark, Point, Traffic
from netdyno.calibration.effort import SHARES, Effort
from netdyno.errors import counted
from netdyno.plan.matrix import streams
from netdyno.ports.nic import counters, netlink
from netdyno.ports.threads import workers_of
from netdyno.stats.histogram import decode, merge
from netdyno.values.mixes import Mix
from netdyno.values.number import rate
from netdyno.values.rates import FCS, line_rate, wire_bits
from netdyno.values.units import L1Rate

if TYPE_CHECKING:
    from netdyno.plan.matrix import Case

STEPS_UP = 4
"""How often a load above the flood's is tried: a flood is in its own way, a paced load may do better."""

UP = Fraction(5, 4)

ATTEMPTS_TO_CONFIRM = 6

BEGINNING = Fraction(9, 10)
"""Of what a flood delivered: where the halving begins."""


@dataclass(frozen=True)
class Ask:
    """A load to try, frames a second of each direction. confirming: for longer, this is the last word."""

    fps: Fraction
    confirming: bool = False


@dataclass(frozen=True)
class Answer:
    """How it went. passed: every frame asked for was sent, and came back once and intact."""

    passed: bool
    sent_fps: Fraction
    """Frames sent a second, the slowest direction."""


Search: TypeAlias = Generator[Ask, Answer, Fraction | None]


def most_without_loss(ceiling: Fraction, resolution: Fraction) -> Search:
    """Asks for loads until the highest that passes is known to a share `resolution`, and confirms it.

    ceiling: the line, or a load nobody can send. Never more is asked for. None: nothing passed.
    """
    flood = yield Ask(ceiling)
    if flood.passed:
        low, high = ceiling, ceiling
    else:
        low, high = yield from _bracket(min(flood.sent_fps, ceiling), ceiling)
        low = yield from _halve(low, high, resolution)
    return (yield from _confirm(low, resolution))


def _bracket(sent: Fraction, ceiling: Fraction) -> Generator[Ask, Answer, tuple[Fraction, Fraction]]:
    """A load that passes and one that does not."""
    low, load = Fraction(0), _whole(sent * BEGINNING)
    high = ceiling
    for _ in range(STEPS_UP):
        if not 0 < load < ceiling or not (yield Ask(load)).passed:
            high = min(high, load) if load > 0 else high
            break
        low, load = load, _whole(load * UP)
    return low, high


def _halve(low: Fraction, high: Fraction, resolution: Fraction) -> Generator[Ask, Answer, Fraction]:
    while high - low > max(resolution * high, Fraction(1)):
        middle = _whole((low + high) / 2)
        if (yield Ask(middle)).passed:
            low = middle
        else:
            high = middle
    return low


def _confirm(load: Fraction, resolution: Fraction) -> Search:
    """The load, for longer; a step less where that fails."""
    for _ in range(ATTEMPTS_TO_CONFIRM):
        if load < 1:
            return None
        if (yield Ask(load, confirming=True)).passed:
            return load
        load = _whole(load * (1 - 2 * resolution))
    return None


def _whole(fps: Fraction) -> Fraction:
    return Fraction(fps.__floor__())


RATE_PPM = 100
"""Of a paced load: 0.01 %."""


def point(share_percent: int, shot: Shot, drift_ppm: float) -> Point:
    """drift_ppm: how much faster the tester's clock runs than the kernel's raw one, the measure of rates.

    Of two directions, and of several workers, the worse one is given. A rate is that of a direction, whoever
    sent it; spacing is that of what came to one worker's queue.
    """
    # The latencies of all directions in one histogram: percentiles are not averaged.
    timed = [stream.latency for stream in shot.result.streams if stream.latency is not None]
    merged = merge(decode(latency.histogram) for latency in timed)
    seen = [[one["departures"] | {"frames": one["frames"]} for one in queues] for queues in shot.spacing]
    spaced = [one for queues in seen for one in queues if one["frames"] > 1]
    whole = [_together(queues) for queues in seen]
    loads = shot.loads or (shot.fps,) * len(whole)
    errors = [
        error
        for one, fps in zip(whole, loads, strict=True)
        if one and (error := _rate_error_ppm(one, fps)) is not None
    ]
    worst = max(errors, key=abs, default=None)
    means = [(one["last_ps"] - one["first_ps"]) / (one["frames"] - 1) for one in spaced]
    return Point(
        share_percent=share_percent,
        fps=shot.fps,
        frames=sum(stream.received for stream in shot.result.streams),
        rate_error_ppm=None if worst is None else round(worst + drift_ppm, 3),
        latency_min_ns=min((latency.min_ns for latency in timed), default=None),
        latency_p50_ns=merged.percentile(Fraction(1, 2)),
        latency_p99_ns=merged.percentile(Fraction(99, 100)),
        latency_p999_ns=merged.percentile(Fraction(999, 1000)),
        gap_mean_ns=round(max(means) / 1000, 3) if means else None,
        gap_stdev_ns=round(max(map(_stdev_ps, spaced, means)) / 1000, 3) if means else None,
        gap_max_ns=max(one["longest_ps"] for one in spaced) / 1000 if spaced else None,
        longest_burst=max((one["longest_burst"] for one in spaced), default=0),
        disturbed=shot.disturbed,
    )


def allowed_ppm(point: Point, streams: int) -> float:
    """The allowed error of the rate, ppm: 0.01 % and one frame of the trial."""
    frames = max(point.frames // max(streams, 1), 1)
    return RATE_PPM + 1e6 / frames


def _together(queues: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The first and the last departure of a direction, and how many frames came; None: fewer than two."""
    came = [one for one in queues if one["frames"]]
    frames = sum(one["frames"] for one in came)
    if frames < 2:
        return None
    first, last = min(one["first_ps"] for one in came), max(one["last_ps"] for one in came)
    return {"frames": frames, "first_ps": first, "last_ps": last}


def _rate_error_ppm(gaps: dict[str, Any], fps: Fraction) -> float | None:
    """From the first departure to the last, which are a whole number of gaps apart."""
    elapsed_ps = gaps["last_ps"] - gaps["first_ps"]
    if elapsed_ps <= 0:
        return None
    sent = Fraction((gaps["frames"] - 1) * 10**12, elapsed_ps)
    return float((sent / fps - 1) * 1_000_000)


def _stdev_ps(gaps: dict[str, Any], mean: float) -> float:
    """Of all gaps, those within a burst (nothing) among them."""
    return sqrt(max(gaps["squares_ps2"] / (gaps["frames"] - 1) - mean * mean, 0.0))


NOBODY_FPS = Fraction(300_000_000)
"""No core sends so many: where nothing enforces a line, the search begins here."""
HIGHEST_BPS = 10**13
"""Nor so many bits (L1); the engine takes no higher load (crates/engine/src/trial/compile/limits.rs)."""

ACCOUNTED = 1_000
"""Frames of each size that are counted one by one."""
ACCOUNT_FPS = 10_000
ACCOUNTINGS = 5
"""Trials to find one into which nobody else sends: a kernel has frames of its own for a new link."""

FOUND = Fraction(1, 4)
"""Less than this share of a flood, found on a disturbed machine, is no figure of the tester's."""

FLOOR_LEAST = 1_000
"""Frames a latency floor is the median of, at least."""


def check_accounting(bench: Bench, case: Case, counted: set[tuple[int, str]]) -> Iterator[Check]:
    """C1 for each size of the case: what was sent, what was received, what the drivers say.

    counted: sizes and directions that were, which is added to.
    """
    parts = {size: part for part in case.profile.parts for size, _ in part.mix.weights}
    for size, part in parts.items():
        if (size, case.direction) in counted:
            continue
        counted.add((size, case.direction))
        profile = part.with_fields({"size": Mix(f"{size}B", ((size, 1),))})
        alone = replace(case, profile=profile)
        for _ in range(ACCOUNTINGS):
            shot, known = _count_trial(bench, alone)
            found = judge_accounting(size, case.direction, shot, known)
            if found.mark == "pass" or not _others(shot, known):
                break
        yield found


def _count_trial(bench: Bench, case: Case) -> tuple[Shot, list[dict[str, int]] | None]:
    """A trial, and what moved meanwhile in each interface's counters; None: they are not known."""
    interfaces = [port["backend"].get("interface") for port in bench.wiring.session["ports"]]
    before = [netlink.link(name) if name else None for name in interfaces]
    shot = bench.shoot(case, Fraction(ACCOUNT_FPS), ACCOUNTED * 10**9 // ACCOUNT_FPS)
    after = [netlink.link(name) if name else None for name in interfaces]
    known = [
        counters.difference(earlier.counters, later.counters)
        for earlier, later in zip(before, after, strict=True)
        if earlier and later
    ]
    return shot, known if len(known) == len(interfaces) else None


def _others(shot: Shot, driver: Sequence[Mapping[str, int]] | None) -> bool:
    """Whether all came back, and with it frames of somebody else, which the counts hold too: a kernel's own,
    when an interface has just come up (RFC 4861 section 6.3.7, RFC 3810), or a daemon's."""
    sent = sum(stream.offered for stream in shot.result.streams)
    if shot.lost or sent != sum(stream.received for stream in shot.result.streams):
        return False
    more = any(_sum(driver, counter) > sent for counter in ("tx_packets", "rx_packets")) if driver else False
    return more or any(port.foreign for port in shot.result.ports)


def judge_accounting(
    size: int, direction: str, shot: Shot, driver: Sequence[Mapping[str, int]] | None
) -> Check:
    """C1 from the counts of sender, receiver and drivers. Pure. driver: what moved on each interface."""
    rule = "sent, received and the drivers' counts are equal to the frame"
    sent = sum(stream.offered for stream in shot.result.streams)
    received = sum(stream.received for stream in shot.result.streams)
    ports = (
        sum(port.tx_frames for port in shot.result.ports),
        sum(port.rx_frames - port.foreign for port in shot.result.ports),
    )
    value = f"{sent} sent, {received} received"
    wrong = []
    if received != sent or shot.lost:
        wrong.append(f"{received} of {sent} frames came back")
    if ports != (sent, received):
        wrong.append(f"the ports count {ports[0]} sent and {ports[1]} received")
    if driver is not None:
        packets = _sum(driver, "tx_packets"), _sum(driver, "rx_packets")
        value += f"; drivers: {packets[1]} in, {packets[0]} out"
        if packets != (sent, sent):
            wrong.append(f"the drivers count {packets[0]} out and {packets[1]} in")
        value += _octets(size, _sum(driver, "rx_bytes"), packets[1])
    title = f"frame accounting, {size} B"
    return Check("C1", title, direction, value, rule, "fail" if wrong else "pass", "; ".join(wrong))


def _sum(driver: Sequence[Mapping[str, int]], counter: str) -> int:
    return sum(port.get(counter, 0) for port in driver)


def _octets(size: int, octets: int, packets: int) -> str:
    """Whether a driver's bytes are those of frames with or without the FCS."""
    endings = {packets * size: ", bytes with FCS", packets * (size - FCS): ", bytes without FCS"}
    return endings.get(octets, f", {octets} bytes, which is neither with nor without FCS") if packets else ""


def measure(
    bench: Bench, case: Case, effort: Effort, *, drift_ppm: float, say: Callable[[str], None]
) -> tuple[Traffic, list[Check]]:
    """C2, C3, C6 and C8 of one traffic."""
    name = traffic.name(case)
    bench.spare = effort.spare
    ports = bench.wiring.ports
    enforced = all(port.enforced_rate for port in ports)
    slowest = min(port.rate_bps for port in ports)
    line = line_rate(L1Rate(Fraction(slowest)), case.profile.mean).amount if enforced else None
    most, checks = _most(bench, case, effort, line, say)
    if most is None:
        nothing = "nothing passed without loss, see C3"
        late = [("C2", "rate"), ("C6", "latency"), ("C8", "spacing")]
        checks += [Check(number, title, name, "", "", "n/a", nothing) for number, title in late]
        return _traffic(case, bench, None, line, []), checks
    points = []
    for share in SHARES:
        say(f"{name}: {share} % of {rate(most, 'pps')}")
        shot = bench.steadiest(case, max(most * share / 100, Fraction(1)), effort.trial_ns)
        points.append((point(share, shot, drift_ppm), shot))
    checks += [
        judge_rate(name, points),
        judge_latency(name, [one for one, _ in points]),
        _judge_spacing(name, points, workers_of(bench.wiring.session)),
    ]
    return _traffic(case, bench, most, line, [one for one, _ in points]), checks


def _traffic(
    case: Case, bench: Bench, most: Fraction | None, line: Fraction | None, points: list[Point]
) -> Traffic:
    # What was measured while somebody else had the core is recorded, and proves nothing.
    own = [one for one in points if not one.disturbed]
    floor = next((one for one in own if one.frames >= FLOOR_LEAST and one.latency_p50_ns is not None), None)
    noisy = next((one for one in own if one.latency_p999_ns is not None), None)
    errors = [abs(one.rate_error_ppm) for one in own if one.rate_error_ppm is not None]
    return Traffic(
        key=traffic.key(case, bench.wiring, verify=bench.plan.trial.verify),
        name=traffic.name(case),
        max_fps=most,
        line_fps=line,
        latency_floor_ns=floor.latency_p50_ns if floor else None,
        latency_noise_ns=noisy.latency_p999_ns - noisy.latency_p50_ns if noisy else None,  # type: ignore[operator]
        rate_error_ppm=Fraction(max(errors)).limit_denominator(1000) if errors else None,
        points=tuple(points),
        is_stricter=bench.is_stricter(case),
    )


def _most(
    bench: Bench, case: Case, effort: Effort, line: Fraction | None, say: Callable[[str], None]
) -> tuple[Fraction | None, list[Check]]:
    """C3."""
    name = traffic.name(case)
    heaviest = max(stream.place.share for stream in streams(case, bench.wiring.lab))
    bits = wire_bits(case.profile.mean) * max(heaviest, Fraction(1))
    nobody = min(NOBODY_FPS, Fraction(HIGHEST_BPS // bits))
    search = most_without_loss(line or nobody, effort.resolution)
    asked = next(search)
    again, refused, flooded = 0, "", Fraction(0)
    while True:
        # A flood is to fail; what is asked of it is how much it sends.
        flood = line is None and asked.fps == nobody
        say(f"{name}: {'as fast as it goes' if flood else rate(asked.fps, 'pps')}")
        length = effort.confirm_ns if asked.confirming else effort.trial_ns
        shot = (bench.shoot if flood else bench.steadiest)(case, asked.fps, length)
        # What goes at all, if not without loss: the first load is the highest.
        flooded = flooded or shot.sent_fps
        if not shot.passed and not flood:
            again += shot.disturbed
            refused = f"at {rate(asked.fps, 'pps')} {shot.shortfall}"
        try:
            asked = search.send(Answer(shot.passed, shot.sent_fps))
        except StopIteration as stop:
            most: Fraction | None = stop.value
            break
    ports = len(bench.wiring.own.ports)
    return most, [judge_most(name, case, most, line, effort, again, refused, flooded, ports)]


def judge_most(
    name: str,
    case: Case,
    most: Fraction | None,
    line: Fraction | None,
    effort: Effort,
    again: int,
    refused: str,
    flooded: Fraction,
    ports: int = 2,
) -> Check:
    """C3 in words.

    again: how many loads failed while the tester was preempted. flooded: frames a second that went,
    lost or not, at the highest load.
    """
    check = partial(
        Check, "C3", "most frames without loss", name, rule="found, and confirmed by a longer trial"
    )
    if most is None:
        while_preempted = ", while the tester was preempted" if again else ""
        return check("", mark="fail", reason=f"no load passed: {refused}{while_preempted}")
    bits = most * (case.profile.mean + 20) * 8
    each = " from each port" if ports > 2 else " each way" if case.direction == "bidir" else ""
    within = f"within {float(effort.resolution * 100):g} %"
    value = f"{rate(most, 'pps', 'at least')}{each} ({float(bits) / 1e9:.3g} Gbit/s L1), {within}"
    if line is not None and most >= line:
        value += ", the full line"
    if again and most < flooded * FOUND:
        reason = (
            f"{counted(again, 'load')} failed while the tester was preempted; it sends up to"
            f" {rate(flooded, 'pps')}. The machine is busy: stop other work and calibrate again"
        )
        return check(value, mark="fail", reason=reason)
    if again:
        failed = f"{counted(again, 'load')} failed while the tester was preempted"
        return check(value, mark="warn", reason=f"{failed}, and may pass on a quieter machine")
    return check(value, mark="pass")


def judge_rate(name: str, points: Sequence[tuple[Point, Shot]]) -> Check:
    """C2."""
    title, rule = "rate", "within 0.01 % and one frame of what was asked, by the kernel's raw clock"
    sentences, wrong, away = [], [], True
    for one, shot in points:
        if one.rate_error_ppm is None:
            sentences.append(f"{one.share_percent} %: too few frames")
            continue
        sentences.append(f"{one.share_percent} %: {one.rate_error_ppm:+.1f} ppm")
        allowed = allowed_ppm(one, len(shot.result.streams))
        if abs(one.rate_error_ppm) > allowed:
            wrong.append(
                f"at {one.share_percent} % it is {one.rate_error_ppm:+.1f} ppm, allowed {allowed:.1f}"
            )
            away = away and shot.disturbed
    value = "; ".join(sentences)
    if not wrong:
        return Check("C2", title, name, value, rule, "pass")
    reason = "; ".join(wrong) + ("; the tester was preempted meanwhile" if away else "")
    return Check("C2", title, name, value, rule, "warn" if away else "fail", reason)


def judge_latency(name: str, points: Sequence[Point]) -> Check:
    """C6: recorded. A latency is there, and none below nothing."""
    sentences = []
    for one in points:
        parts = [("min", one.latency_min_ns), ("p50", one.latency_p50_ns), ("p99", one.latency_p99_ns)]
        parts.append(("p99.9", one.latency_p999_ns))
        words = [f"{what} {_us(value)}" for what, value in parts if value is not None]
        sentences.append(f"{one.share_percent} %: {', '.join(words) or 'too few frames'}")
    rule = "recorded; what every latency contains that is no device's"
    away = [f"{one.share_percent} %" for one in points if one.disturbed]
    if not away:
        return Check("C6", "latency floor and noise", name, "; ".join(sentences), rule, "pass")
    none = "no latency is proven" if len(away) == len(points) else "nothing is proven by that"
    reason = f"the tester was preempted at {', '.join(away)}: {none}"
    return Check("C6", "latency floor and noise", name, "; ".join(sentences), rule, "warn", reason)


def _judge_spacing(name: str, points: Sequence[tuple[Point, Shot]], workers: int) -> Check:
    """C8: recorded; of several workers each by itself, for what another one sends is not known to it."""
    sentences = []
    for one, _ in points:
        if one.gap_mean_ns is None or one.gap_stdev_ns is None or one.gap_max_ns is None:
            sentences.append(f"{one.share_percent} %: too few frames")
            continue
        sentences.append(
            f"{one.share_percent} %: every {_us(one.gap_mean_ns)}, stdev {_us(one.gap_stdev_ns)},"
            f" longest {_us(one.gap_max_ns)}, bursts of up to {one.longest_burst}"
        )
    rule = "recorded, by each frame's own stamp"
    if workers > 1:
        rule += ", of what came to one worker's queue, the worst of them"
    return Check("C8", "spacing of departures", name, "; ".join(sentences), rule, "pass")


def check_soak(
    bench: Bench, case: Case, effort: Effort, most: Fraction | None, say: Callable[[str], None]
) -> Check:
    """C5, by itself: it is what is interrupted, and the rest is kept."""
    name = traffic.name(case)
    if most is None:
        return Check("C5", "soak", name, "", "", "n/a", "nothing passed without loss, see C3")
    say(f"{name}: soak at 99 % of {rate(most, 'pps')}, {effort.soak_ns / 1e9:g} s")
    return judge_soak(name, bench.steadiest(case, most * 99 / 100, effort.soak_ns))


def judge_soak(name: str, shot: Shot) -> Check:
    """C5."""
    rule = "no frame lost at 99 % of the most without loss"
    sent = sum(stream.offered for stream in shot.result.streams)
    value = f"{sent} frames in {shot.duration_ns / 1e9:g} s, {shot.lost} lost"
    if shot.passed:
        return Check("C5", "soak", name, value, rule, "pass")
    while_preempted = " while it was preempted" if shot.disturbed else ""
    mark: Mark = "warn" if shot.disturbed and not shot.lost else "fail"
    return Check("C5", "soak", name, value, rule, mark, shot.shortfall + while_preempted)


def _us(ns: float) -> str:
    return f"{ns / 1000:.3g} us" if ns < 1e6 else f"{ns / 1e6:.3g} ms"
