"""What the six tests of RFC 2544 are to find, from the reference's frames alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby, pairwise

from bench import NS, Bench
from reckoning import LINE_FPS, MS, bounds, clean, copied, fps, lengths, mean, pick, scopes, searched


def throughput(bench: Bench, places: Sequence[int] | None = None) -> Fraction:
    """RFC 2544 section 26.1, on a grid of twenty steps."""
    places = range(len(bench.trials)) if places is None else places
    low, high = bounds(bench, places)
    assert low == bench.line_fps if high is None else high - low == bench.line_fps / 20
    return searched(bench, "throughput", places)


def latency(bench: Bench, places: Sequence[int] | None = None) -> None:
    """RFC 2544 section 26.2: the mean of the means of the streams, of frames that leave late enough."""
    places = range(len(bench.trials)) if places is None else places
    for scope in scopes(bench) if len(bench.known.streams) > 1 else bench.known.streams:
        means = []
        for place in places:
            times = [
                time
                for one in pick(bench, place, scope)
                for time in one.timed_ns(bench.trials[place].observe.timed_from_ns or 0, bench.begins[place])
            ]
            means += [mean(times)] if times else []
        assert bench.value("latency", scope).number == (mean(means) if means else None), scope


def frame_loss(bench: Bench, places: Sequence[int] | None = None) -> None:
    """RFC 2544 section 26.3: from the line down by tenths, until nothing is lost twice in a row."""
    places = list(range(len(bench.trials)) if places is None else places)
    assert [fps(bench, place) for place in places] == [
        bench.line_fps * (10 - n) / 10 for n in range(len(places))
    ]
    free = [clean(bench.expected[place]) for place in places]
    ended = next((n + 2 for n, two in enumerate(pairwise(free)) if two == (True, True)), 10)
    assert len(places) == ended
    rows = bench.table("Frame loss rate")
    for place in places:
        for scope in scopes(bench):
            came = pick(bench, place, scope)
            share = Fraction(sum(one.missing for one in came), sum(one.sent for one in came))
            found = [
                row["loss"]
                for row in rows
                if row["load"] == fps(bench, place) / bench.line_fps and row["stream"] == scope
            ]
            assert found == [share] or (scope == "sum" and not found and len(bench.known.streams) == 1)
            if place == places[0] and found:
                assert bench.value("frame loss rate", scope).number == share


def back_to_back(bench: Bench, known: Fraction = LINE_FPS * 3 / 5) -> None:
    """RFC 9004 section 6: the mean length, and the buffer time corrected by what was forwarded meanwhile."""
    value = bench.value("back-to-back frames", bench.known.streams[0])
    if not bench.named("search 1: ") or not any(one.name.endswith(" frames") for one in bench.trials):
        assert known in (0, bench.line_fps)
        assert (value.number, value.low, value.high) == (None, None, None)
        return
    if copied(bench):
        assert value.number is None
        return
    found, limited = lengths(bench)
    if not limited:
        assert found[-1] == 744, "5 ms of line"
        assert (value.number, value.low, value.high) == (None, mean(found), None)
        return
    for scope, (_, share) in scopes(bench).items():
        assert bench.value("back-to-back frames", scope).number == mean(found) * share
    time = mean(found) / bench.line_fps * 10**9 * (1 - known / bench.line_fps)
    assert bench.value("buffer time", bench.known.streams[0]).number == time


def recovery(
    bench: Bench, places: Sequence[int] | None = None, known: Fraction = LINE_FPS * 68 / 100
) -> None:
    """RFC 2544 section 26.5: from the fall of the load to when the last frame that did not come was due."""
    places = range(len(bench.trials)) if places is None else places
    high = min(known * 11 / 10, bench.line_fps)
    if not places:
        assert known in (0, bench.line_fps)
    for number, name in enumerate(bench.known.streams):
        value = bench.value("recovery time", name)
        times = []
        for place in places:
            assert [one.from_fps for one in bench.trials[place].segments] == [high, high / 2]
            came = bench.expected[place][number]
            times.append(max(came.due[came.gone[-1]] // NS - 10 * MS, 0) if came.gone else 0)
        if not places or not all(any(one.missing for one in bench.expected[place]) for place in places):
            assert (value.number, value.low, value.high) == (None, None, None)
        elif max(times) >= 9 * MS:
            # In the last sample: when it would have ended was not seen.
            assert (value.number, value.low, value.high) == (None, mean(times), None)
        else:
            assert (value.number, value.low, value.high) == (mean(times), min(times), max(times))


def reset(bench: Bench, places: Sequence[int] | None = None, known: Fraction = LINE_FPS * 7 / 10) -> None:
    """RFC 6201: frames lost from the reset on over the load, and the longest time without an arrival."""
    places = range(len(bench.trials)) if places is None else places
    if not places:
        assert known == 0
    for number, name in enumerate(bench.known.streams):
        value, load = bench.value("reset time", name), known * bench.known.places[number].share
        by_loss, by_time, before, unended = [], [], 0, False
        for place in places:
            came = bench.expected[place][number]
            crossing = max(came.took_ns)
            runs = [
                [one for _, one in run]
                for _, run in groupby(enumerate(came.gone), lambda one: one[1] - one[0])
            ]
            early = sum(len(run) for run in runs if came.due[run[-1]] // NS < 10 * MS - crossing)
            before += early
            unended |= came.due[came.gone[-1]] // NS >= 19 * MS
            by_loss.append((came.missing - early) * 10**9 / load)
            arrivals = [(one.at - bench.begins[place]) // NS for one in came.intact]
            by_time.append(max(after - at for at, after in pairwise(arrivals)))
        if not places:
            assert (value.number, value.low, value.high) == (None, None, None)
            continue
        if unended and before:
            # Neither which losses are the reset's is known, nor when they end.
            assert (value.number, value.low, value.high) == (None, None, None)
        elif unended:
            assert (value.number, value.low, value.high) == (None, mean(by_loss), None)
        elif before:
            assert (value.number, value.low, value.high) == (None, None, mean(by_loss))
        else:
            assert (value.number, value.low, value.high) == (mean(by_loss), min(by_loss), max(by_loss))
        (row,) = (one for one in bench.table("Reset") if one["stream"] == name)
        assert row["by time stamps"] == mean(by_time)


def rfc2544(bench: Bench) -> None:
    """All six; what rests on the throughput takes the one that was found."""
    known = throughput(bench, bench.named("throughput: "))
    if known:
        latency(bench, bench.named("latency "))
    frame_loss(bench, bench.named("frame loss: "))
    back_to_back(bench, known)
    recovery(bench, bench.named("recovery "), known)
    reset(bench, bench.named("reset "), known)
