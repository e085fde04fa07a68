"""C7 and the state of the machine: clocks, pauses, and the delay between two cores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from netdyno.calibration import inventory
from netdyno.calibration.document import Check
from netdyno.ports import threads
from netdyno.ports.threads import workers_of
from netdyno.testers.tester import Calibratable

ROUNDS = 20_000
"""Round trips of a cache line: a millisecond or two."""

DRIFT_PPM = 1.0
"""Between the tester's clock and the kernel's raw one."""

OFFSET_NS = 1_000.0
"""Two cores whose clocks may be this far apart cannot time a frame between them to 1 us."""

STEP_NS = 50.0
"""Bounds that cross by less than this are one step of a coarse counter, and no contradiction."""


def look(tester: Calibratable, cores: Sequence[int], seconds: float) -> dict[str, Any]:
    """The state of the machine: `Watch` of each core, `Bounce` from the first to others, stolen time."""
    watched = [tester.watch_core(core, seconds) for core in cores]
    bounces = [tester.bounce(cores[0], other, ROUNDS) for other in cores[1:]]
    stolen = inventory.stolen_seconds()
    return {"watch": watched, "bounces": bounces, "stolen_s": [stolen.get(core) for core in cores]}


def list_watched_cores(cores: Sequence[int], session: Mapping[str, Any]) -> list[int]:
    """The cores to look at: the workers', and one more where there is one worker."""
    return list(cores[: max(workers_of(session), 2)])


def cores_of(session: Mapping[str, Any]) -> list[int]:
    """The tester's cores first, then the others this process may use."""
    own = threads.cores_of(session)
    return [*own, *(core for core in sorted(os.sched_getaffinity(0)) if core not in own)]


def checks(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Check]:
    """Check C7, from clock readings before and after all other checks."""
    watched = [*before["watch"], *after["watch"]]
    return [_clock(watched), _offset(before["bounces"], after["bounces"]), _pauses(before, after)]


def _clock(watched: Sequence[Mapping[str, Any]]) -> Check:
    drift = max((one["drift_ppm"] for one in watched), key=abs)
    within = max(one["drift_within_ppm"] for one in watched)
    backwards = sum(one["backwards"] for one in watched)
    first = watched[0]
    source = {"tsc": "TSC, invariant", "clock_monotonic_raw": "the kernel's clock"}.get(
        first["clock"], first["clock"]
    )
    value = (
        f"{source}, {first['ticks_per_second'] / 1e9:.4f} GHz, steps of"
        f" {first['resolution_ps'] / 1000:.2f} ns, {first['read_ns']:.1f} ns a reading;"
        f" {drift:+.3f} ppm (within {within:.3f}) against the kernel's raw clock"
    )
    rule = f"never backwards, and within {DRIFT_PPM:g} ppm of CLOCK_MONOTONIC_RAW"
    check = partial(Check, "C7", "clock", "", value, rule)
    if backwards:
        return check("fail", f"it went backwards {backwards} times on one core")
    if abs(drift) > DRIFT_PPM + within:
        return check("fail", f"it drifts by {drift:+.3f} ppm")
    if first["clock"] != "tsc":
        return check("warn", "the TSC cannot be trusted here, each reading asks the kernel")
    return check("pass")


def _offset(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Check:
    """The pair of cores with the worst check, and among equals the largest offset."""
    title, rule = "clocks of two cores", f"at most {OFFSET_NS:g} ns apart for certain"
    pairs = [(_pair(title, rule, *both), _apart(*both)) for both in zip(before, after, strict=True)]
    if not pairs:
        return Check("C7", title, "", "", rule, "n/a", "this process may use one core only")
    worst, _ = max(pairs, key=lambda pair: (pair[0].mark == "fail", pair[1]))
    if len(pairs) == 1:
        return worst
    return replace(worst, value=f"{worst.value}; the worst of {len(pairs)} pairs")


def _apart(before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
    """How far the clocks of a pair may be apart, ns."""
    bounds = [float(one[bound]) for one in (before, after) for bound in ("offset_low_ns", "offset_high_ns")]
    return max(abs(bound) for bound in bounds)


def _pair(title: str, rule: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Check:
    # The host may have moved us from one processor to another between the two: each holds for its time.
    low = min(before["offset_low_ns"], after["offset_low_ns"])
    high = max(before["offset_high_ns"], after["offset_high_ns"])
    first, second = before["cores"]
    value = (
        f"core {second} is {low:.0f} to {high:.0f} ns ahead of core {first}; a cache line takes"
        f" {before['median_ns']:.0f} ns one way before, {after['median_ns']:.0f} after"
        f" (least {before['min_ns']:.0f} and {after['min_ns']:.0f})"
    )
    if any(one["offset_low_ns"] > one["offset_high_ns"] + STEP_NS for one in (before, after)):
        return Check("C7", title, "", value, rule, "fail", "no one offset explains what they said")
    worst = _apart(before, after)
    if worst > OFFSET_NS:
        reason = f"they may be {worst:.0f} ns apart, which is an error of every latency between them"
        return Check("C7", title, "", value, rule, "fail", reason)
    return Check("C7", title, "", value, rule, "pass")


def _pauses(before: Mapping[str, Any], after: Mapping[str, Any]) -> Check:
    watched = [*before["watch"], *after["watch"]]
    longest = max(one["longest_gap_ns"] for one in watched)
    share = sum(one["paused_ns"] for one in watched) / max(sum(one["elapsed_ns"] for one in watched), 1)
    stolen = [
        later - earlier
        for earlier, later in zip(before["stolen_s"], after["stolen_s"], strict=True)
        if earlier is not None and later is not None
    ]
    away = f", {sum(stolen):.2f} s stolen by the host meanwhile" if any(stolen) else ""
    value = (
        f"longest pause {longest / 1e6:.3f} ms, {share * 100:.1f} % of the time in pauses of over 10 us{away}"
    )
    rule = "recorded; pauses of over 1 ms are warned of"
    if longest >= 1_000_000:
        reason = (
            "a thread that only reads the clock is preempted for longer than 1 ms:"
            " no latency percentile above such pauses is a device's"
        )
        return Check("C7", "stolen time", "", value, rule, "warn", reason)
    return Check("C7", "stolen time", "", value, rule, "pass")
