"""What each method is to find, from the reference's frames alone, by the words of its standard.

A function a method: it is given the whole course and fails where the method says something else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise, product
from statistics import median

import pytest
from bench import NS, Bench
from findings_rfc2544 import back_to_back, frame_loss, latency, recovery, reset, rfc2544, throughput
from reckoning import MS, bounds, clean, copied, fps, lengths, mean, pick, scopes, searched


def bisection(bench: Bench) -> None:
    """ETSI GS NFV-TST 009 section 12.3.3, of which no trial is retried here."""
    low, high = bounds(bench, range(len(bench.trials)))
    assert low == bench.line_fps if high is None else high - low == bench.line_fps / 20
    searched(bench, "NDR", range(len(bench.trials)))


def ndr(bench: Bench) -> None:
    """RFC 9971: the relevant bounds, each load tried once."""
    every = range(len(bench.trials))
    for name, allowed in (("NDR", Fraction(0)), ("PDR", Fraction(3, 100))):
        low = searched(bench, name, every, allowed)
        _, high = bounds(bench, every, allowed)
        assert high is None or not low or high - low <= high / 20


def sweep(bench: Bench) -> None:
    """Loads of 10, 50, 70 and 100 % of the line, and what came of each."""
    every = range(len(bench.trials))
    assert [fps(bench, place) / bench.line_fps for place in every] == [
        Fraction(n, 100) for n in (10, 50, 70, 100)
    ]
    low, high = bounds(bench, every)
    rows = bench.table("Latency against load")
    for scope, (_, share) in scopes(bench).items():
        value = bench.value("loss-free load", scope)
        assert value.number == (low * share if low else None)
        assert value.high == (None if high is None else high * share)
        for place in every:
            came = pick(bench, place, scope)
            times = [time for one in came for time in one.took_ns]
            found = [
                (row["sent"], row["loss"], row["min"], row["mean"], row["max"])
                for row in rows
                if row["asked"] == fps(bench, place) * share and row["stream"] == scope
            ]
            sent = sum(one.sent for one in came)
            gone = Fraction(sum(one.missing for one in came), sent)
            figures = (min(times), mean(times), max(times)) if times else (None, None, None)
            assert found == [(sent, gone, *figures)] or len(bench.known.streams) == 1


def max_forwarding_rate(bench: Bench) -> None:
    """RFC 2889 section 5.6: frames a second that come in whole samples while traffic lasts, from when the
    first can have come; the load itself where all come, and as often."""
    every = range(len(bench.trials))
    assert [fps(bench, place) / bench.line_fps for place in every] == [Fraction(n, 5) for n in range(1, 6)]
    rates: dict[str, list[Fraction]] = {name: [] for name in bench.known.streams}
    for place in every:
        for came, where in zip(bench.expected[place], bench.known.places, strict=True):
            first = -(-min(came.took_ns, default=0) // MS)
            inside = (bench.begins[place] + first * MS * NS, bench.begins[place] + 10 * MS * NS)
            count = sum(inside[0] <= one.at < inside[1] for one in came.intact)
            load = fps(bench, place) * where.share
            steady = not came.missing and abs(count - load * (10 - first) / 1000) <= 2
            sent = Fraction(came.sent * 10**9, 10 * MS)
            rates[came.name].append(min(load, sent) if steady else Fraction(count * 1000, 10 - first))
    rates["sum"] = [sum(one, Fraction(0)) for one in zip(*rates.values(), strict=True)]
    best = rates["sum"].index(max(rates["sum"]))
    for scope, found in rates.items():
        assert bench.value("maximum forwarding rate", scope).number == found[best]
        assert bench.value("forwarding rate at maximum load", scope).number == found[-1]


def congestion(bench: Bench) -> None:
    """RFC 2889 section 5.5: half of the first port's frames go to the third port, all others to a fourth."""
    (expected,) = bench.expected
    for name, port in (("loss at the uncongested port", 2), ("loss at the congested port", 3)):
        to = [one for one, place in zip(expected, bench.known.places, strict=True) if place.rx == port]
        share = Fraction(sum(one.missing for one in to), sum(one.sent for one in to))
        (value,) = (one for one in bench.result.values if one.name == name)
        assert value.number == share


def known_stations(bench: Bench, name: str, tried: Callable[[int], Fraction]) -> None:
    """The most of what was tried at which every test frame came to its station and to nobody else."""
    good, bad = [Fraction(0)], []
    for place, (_, tested) in enumerate(bench.expected):
        every = not (tested.missing + tested.copies + tested.elsewhere + tested.broken_elsewhere)
        (good if every else bad).append(tried(place))
    (value,) = bench.result.values
    assert value.name == name
    flooded = [
        place
        for place, (_, tested) in enumerate(bench.expected)
        if tried(place) == min(bad) and tested.elsewhere + tested.broken_elsewhere
    ]
    if flooded:
        assert (value.number, value.low, value.high) == (max(good), max(good), min(bad))
    else:
        # Lost, and flooded by nobody: whether they were known does not show.
        assert (value.low, value.high) == (max(good) or None, None)


def address_caching(bench: Bench) -> None:
    """RFC 2889 section 5.7."""
    known_stations(
        bench, "address caching capacity", lambda place: Fraction(bench.trials[place].frames.flows or 0)
    )


def address_learning_rate(bench: Bench) -> None:
    """RFC 2889 section 5.8."""

    def rate(place: int) -> Fraction:
        return next(one.from_fps for one in bench.trials[place].segments if one.name == "learn")

    known_stations(bench, "address learning rate", rate)


def errored_frames(bench: Bench) -> None:
    """RFC 2889 section 5.9: the share that came out of any port of frames that are too long."""
    for scope in scopes(bench):
        came = [one for place in range(len(bench.trials)) for one in pick(bench, place, scope)]
        share = Fraction(sum(len(one.intact) for one in came), sum(one.sent for one in came))
        assert bench.value("oversize frames forwarded", scope).number == share


def broadcast(bench: Bench) -> None:
    """RFC 2889 section 5.10: a load passes if each port received every frame; single ones are timed."""
    *tries, alone = bench.expected
    good, bad = [Fraction(0)], []
    for place, expected in enumerate(tries):
        sent = sum(one.sent for one in expected)
        # Each port also gets the frames that others time.
        whole = all(
            not one.missing + one.copies and one.elsewhere + one.broken_elsewhere == one.sent
            for one in expected
        )
        assert sent
        (good if whole else bad).append(fps(bench, place))
    value = bench.value("broadcast throughput")
    assert (value.number, value.high) == (max(good), min(bad, default=None))
    for one in alone:
        expected_ns = one.took_ns[0] if one.intact else None
        assert bench.value("broadcast latency", one.name).number == expected_ns


def soak(bench: Bench) -> None:
    """Frames that did not come over those sent; those due within a millisecond, of whichever stream, are one
    event, by the time of the load, and each is reported with its first frame and its last in each part."""
    expected: list[tuple[object, ...]] = []
    count, until = 0, -2 * MS
    for part, streams in enumerate(bench.expected):
        gone = sorted((came.due[number] // NS, came.name, number) for came in streams for number in came.gone)
        begins = [place for place, one in enumerate(gone) if not place or one[0] - gone[place - 1][0] > MS]
        for begin, end in pairwise([*begins, len(gone)]):
            count += part * 10 * MS + gone[begin][0] - until > MS
            until = part * 10 * MS + gone[end - 1][0]
            for name in bench.known.streams:
                mine = [one for one in gone[begin:end] if one[1] == name]
                if mine:
                    at = [part * 10 * MS + one[0] for one in (mine[0], mine[-1])]
                    expected.append((count, name, len(mine), *at, part + 1, mine[0][2], mine[-1][2]))
    columns = ("event", "stream", "lost", "first lost", "last lost", "part", "first frame", "last frame")
    assert [tuple(row[name] for name in columns) for row in bench.table("Loss events")] == expected
    for scope in scopes(bench):
        every = [one for place in range(4) for one in pick(bench, place, scope)]
        share = Fraction(sum(one.missing for one in every), sum(one.sent for one in every))
        assert bench.value("loss ratio", scope).number == share
        events = {row[0] for row in expected if scope in ("sum", row[1])}
        assert bench.value("loss events", scope).number == len(events)


def order(bench: Bench) -> None:
    """RFC 4737: a frame is reordered if one that was sent later came before it (3.3); its extent is how many
    arrivals back the earliest such one is (4.2.2); it is n-reordered if the n just before it were all sent
    later (5.3). All of it in the sequence of its flow."""
    rows = {row["stream"]: row for row in bench.table("Reordering")}
    for number, name in enumerate(bench.known.streams):
        late, extents, three, received = 0, [0], 0, 0
        for expected, flow in product(bench.expected, range(bench.flows)):
            arrived = [one.number for one in expected[number].intact if one.number % bench.flows == flow]
            received += len(arrived)
            highest = -1
            for place, frame in enumerate(arrived):
                if frame < highest:
                    late += 1
                    earliest = next(at for at, other in enumerate(arrived) if other > frame)
                    extents.append(place - earliest)
                    three += place >= 3 and all(other > frame for other in arrived[place - 3 : place])
                highest = max(highest, frame)
        copies = sum(expected[number].copies for expected in bench.expected)
        if not received:
            assert bench.value("reordered", name).number is None
            continue
        assert bench.value("reordered", name).number == Fraction(late, received)
        assert bench.value("duplicated", name).number == Fraction(copies, received)
        row = rows[name]
        assert (row["reordered"], row["extent, most"]) == (late, max(extents) if late else None)
        # Of a frame that comes after very many others its place is unknown, which is reported.
        assert 0 <= three - row["3-reordered share"] * received <= row["extent not known"] <= 1


def delay_variation(bench: Bench) -> None:
    """RFC 8219 section 7.3: of 10,000 frames or more the 99.9th percentile of delay less the least; and the
    delay less that of the frame sent just before, where both came (RFC 5481 section 4.1)."""
    (expected,) = bench.expected
    for came in expected:
        took = {one.number: one.at - one.departure for one in came.intact}
        steps = [Fraction(took[n] - took[n - 1], NS) for n in took if n - 1 in took]
        least, middle, most = (
            bench.value(f"IPDV, {which}", came.name).number for which in ("least", "median", "most")
        )
        if len(steps) < 20:
            assert middle is None, "a percentile p takes 10 / (1 - p) differences"
            continue
        # Whole nanoseconds of either delay; and histograms have three digits.
        assert abs(least - min(steps)) < 1
        assert abs(most - max(steps)) < 1
        assert middle == pytest.approx(float(median(steps)), rel=1e-3, abs=1)
        times = sorted(came.took_ns)
        found = bench.value("PDV", came.name).number
        if len(times) < 10_000:
            assert found is None, "a percentile p takes 10 / (1 - p) frames"
        else:
            rank = -(-len(times) * 999 // 1000)
            assert found == pytest.approx(times[rank - 1] - times[0], rel=2e-3, abs=times[0] / 500)


def microburst(bench: Bench) -> None:
    """RFC 8239: of bursts that came whole the frames in the device when the last came in: the line out has
    taken one for each that the line of the first sender brought before."""
    value = bench.value("burst held")
    if copied(bench):
        assert value.number is None
        return
    found, limited = lengths(bench)
    if not limited:
        assert (value.number, value.high) == (None, None)
        return
    held = []
    for search, length in enumerate(found, 1):
        if length:
            (place,) = [
                place
                for place in bench.named(f"search {search}: {length} frames")
                if clean(bench.expected[place])
            ]
            held.append(sum(one.sent for one in bench.expected[place]) - (length - 1))
    assert value.number == (mean(held) if held else None)


def y1564(bench: Bench) -> None:
    """ITU-T Y.1564: steps of the CIR lose nothing; more than the CIR brings the CIR at least; more than CIR
    and EIR no more than both, 1 % and what the buckets held; bursts come whole. Rates within a frame."""
    services: Mapping[str, tuple[Fraction, Fraction, int]] = {
        "all": (Fraction(45, 100), Fraction(22, 100), 3_000),
        "voice": (Fraction(10, 100), Fraction(10, 100), 2_000),
        "rest": (Fraction(30, 100), Fraction(20, 100), 1_024),
    }
    passed, steps = 0, 0
    for trial, expected in zip(bench.trials, bench.expected, strict=True):
        service, _, step = trial.name.partition(": ")
        for came, place in zip(expected, bench.known.places, strict=True):
            if service not in ("performance", place.traffic or "all"):
                continue
            cir, eir, cbs = services[place.traffic or "all"]
            committed, both = (rate * bench.line_fps / 100 for rate in (cir, cir + eir))  # in 10 ms
            steps += 1
            if step == "CIR + EIR":
                passed += committed - 1 <= len(came.intact) <= both + 1
            elif step == "policing":
                passed += committed - 1 <= len(came.intact) <= both * 101 / 100 + Fraction(cbs, 64) + 1
            else:
                passed += not came.missing
    assert bench.value("steps passed").number == Fraction(passed, steps)


def ramp(bench: Bench) -> None:
    """The knee is between the mean load of the last millisecond below which no two losses follow one another
    for good, and the load at the end of the next one; the hold is counted whole."""
    (begin,) = bench.begins
    for scope, (_, share) in scopes(bench).items():
        came = pick(bench, 0, scope)
        sent, gone = [0] * 40, [0] * 40
        for one in came:
            missing = set(one.gone)
            for number in range(one.sent):
                sample = (one.left[number] - begin) // (MS * NS)
                if sample < 40:
                    sent[sample] += 1
                    gone[sample] += number in missing
        bad = [lost * 1000 > frames for lost, frames in zip(gone, sent, strict=True) if frames]
        good = max((place for place, is_bad in enumerate(bad) if not is_bad), default=-1)
        value = bench.value("knee", scope)
        step = bench.line_fps * share / 40
        if good == len(bad) - 1:
            assert (value.number, value.high) == (None, None)
        elif good < 0:
            assert value.number == 0
        else:
            good += 40 - len(bad)
            assert (value.number, value.high) == (step * (good + Fraction(1, 2)), step * (good + 2))
        held = [
            sum(40 * MS * NS <= one.at - begin < 50 * MS * NS for one in stream.intact) for stream in came
        ]
        assert bench.value("hold rate", scope).number == sum(held) * 100


FINDINGS: Mapping[str, Callable[[Bench], object]] = {
    "ramp": ramp,
    "throughput": throughput,
    "ndr": ndr,
    "bisection": bisection,
    "latency": latency,
    "frame-loss": frame_loss,
    "back-to-back": back_to_back,
    "recovery": recovery,
    "reset": reset,
    "rfc2544": rfc2544,
    "sweep": sweep,
    "max-forwarding-rate": max_forwarding_rate,
    "congestion": congestion,
    "address-caching": address_caching,
    "address-learning-rate": address_learning_rate,
    "errored-frames": errored_frames,
    "broadcast": broadcast,
    "soak": soak,
    "order": order,
    "delay-variation": delay_variation,
    "microburst": microburst,
    "y1564": y1564,
}
"""Of each method, what it is to find."""
