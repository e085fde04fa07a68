"""The codec: every field comes back, and one that is unknown or of another type is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from netdyno.store import bodies, contents
from netdyno.store.bodies import TrialBody
from netdyno.store.codec import exact
from netdyno.store.contents import compress, decompress
from netdyno.store.read import KNOWN
from netdyno.store.series import join, split
from netdyno.values.finding import Column, Result, Table, Value
from netdyno.values.health import CatchUp, Health, HostHealth, PeerHealth, WorkerHealth
from netdyno.values.host_facts import ClockState, HostFacts, PortFacts
from netdyno.values.kind import ValueKind
from netdyno.values.load import Event, Happened, Segment
from netdyno.values.outcome import (
    AdjacencyLost,
    BackPressure,
    Carried,
    CarrierLoss,
    Conflict,
    ConnectionCounts,
    Exchange,
    FlowCounts,
    FrameCounts,
    Gap,
    Gaps,
    HopChange,
    HopSilence,
    InterfaceResult,
    Interval,
    KernelWaits,
    Lag,
    Latency,
    LatePeriod,
    NextHop,
    Outcome,
    Phase,
    PortResult,
    Post,
    Reordering,
    Silence,
    StreamResult,
    Variation,
)
from netdyno.values.proven import OwnLatency, Proven
from netdyno.values.reason import About, Reason
from netdyno.values.records import CaseHead, CaseWiring, Configured, RunHead, StoredGoal, StoredVerdict
from netdyno.values.series import Missed, Series, Steps
from netdyno.values.situation import Behind, Place, Situation
from netdyno.values.trunk import Trunk
from netdyno.values.units import FrameRate, L1Rate, L2Rate, Percent
from sampling import examples
from words import said

THIRD = Percent(Fraction(1, 3))
CARRIED = Carried("west-east", 1, 2, 3, 4, 5, 6, 7, 8, "cubic", ((10, 11),))
KINDS = {
    RunHead: bodies.RUN_HEAD,
    CaseHead: bodies.CASE_HEAD,
    CaseWiring: bodies.WIRING,
    Result: bodies.RESULT,
    StoredVerdict: bodies.VERDICT,
    StoredGoal: bodies.GOAL,
    TrialBody: bodies.TRIAL,
}

# As the Python package hdrhistogram 0.10 writes a thousand values.
HISTOGRAM = "HISTFAAAACt4nJNpmSzMwMDAxQABzFCaEYiZQrifMNh/gAic59/Df5ZfaKInEwCFNgc8"
NOW = datetime(2026, 11, 21, 19, 12, 3, 123456, tzinfo=UTC)
STREAM = StreamResult(
    "a-b",
    *range(1, 13),
    latency=Latency(9, 1, 2**80, 2**40, 2, 1, HISTOGRAM),
    tx=(4, 5),
    rx=(3, 6),
    arrived=(4, 2**63 - 1),
    first_loss_ns=17,
    lag=Lag(
        9, 0, 2**70, 2**40, 0, HISTOGRAM, 1, 10_000, (LatePeriod(1, 2**50, 3, 2**50, 5, 6),), ((7, 8, 9),)
    ),
    gaps=Gaps((Gap(2**60, 2**60 + 1, 2, 3, 4),), 8, 2**50),
    silence=Silence(5, 2**45),
    order=Reordering(3, 12, 6, HISTOGRAM, 1, (3, 2, 1)),
    variation=Variation(8, -(2**40), 7, -(2**70), 0, None, HISTOGRAM),
    refused=2**40,
    spacing=Latency(8, 2, 2**70, 2**41, 3, 2, HISTOGRAM),
    is_bare=True,
    altered=3,
    translated=9,
    retranslated=2,
    intervals=(Interval(4, 5, 6, 2**40),),
    by_flow=FlowCounts((9, 8), (7, 6), (5, 4), (2**40, -1), (3, -1), (2, 0)),
)
PORT = PortResult(
    "a",
    1,
    64,
    2,
    128,
    3,
    (1,),
    (64,),
    (2,),
    (128,),
    5,
    6,
    ((7, 8),),
    BackPressure(4096, 2**40, 3, 2**39, 7, 8),
    9,
    576,
)
OUTCOME = Outcome(
    FrameCounts((STREAM,), (PORT,), 10**6, (STREAM,)),
    Health(
        *range(1, 6),
        999_000,
        6,
        (WorkerHealth(1, 2, 3, 4, 5, 6, (7,), (8,)),),
        2,
        1,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        CatchUp(*range(6)),
        10,
        (PeerHealth(7, 2**40, 2**39, 5, 6, 7, 8),),
    ),
    (Phase("traffic", 5, 10),),
    resolved=(("100.64.0.1", "02:00:00:00:00:01"),),
    invalid=(said("link flap"),),
    devices=({"ports": [{"drops": 3, "share": 0.5, "note": None}]},),
    interfaces=(InterfaceResult("a", "eth1", {"x": 2**40}, {"y": 9}, {"not sent": {"y": 9}}, 2, 3, 9000),),
    next_hops=(
        NextHop("a", (1, 7), "::1", None, 3, 4, (HopChange(-1, "x", "y"),), 2, (HopSilence(7, None),)),
    ),
    conflicts=(Conflict("a", "100.64.0.2", "02:00:00:00:00:09"),),
    happened=(Happened(Event(5, "reset", "a"), 6, 7),),
    adjacencies_lost=(AdjacencyLost("OSPF neighbour 192.0.2.1", 5, said("silent")),),
    started=NOW,
    exchange=Exchange("a", 5, 4, 1, ("no answer",), 7, 8, 9),
    series=(
        Series("device", "ge-0/0/0", "drops", "frames", Steps(-5, 10), (1, -2, 3)),
        Series("device", "cpu", "temperature", "C", (1, 5, 2**40), (234, 235, 236), 1, window_ns=2**35),
        Series(
            "agent",
            "xe-0/0/0",
            "ifHCInOctets",
            "B",
            (1, 5),
            (0, 2**62),
            0,
            (7, 2**33),
            None,
            True,
            64,
            (Missed(-9, said("silent")),),
        ),
    ),
    carrier_losses=(CarrierLoss("a", -5, 2**40, "device", 3),),
    softirq_waited_ns=2**50,
    softirq_waits=(KernelWaits(-5, 2**40, 2**50),),
    hosts=(HostHealth("gen1", 2**40, 2**41, 999_999, 2**42, 7, 8, 9, 2**43, ("west-east",), 2**44),),
    is_health_unknown=True,
)
NOTE = About("voice", said("why"))
KIND = ValueKind(
    "knee",
    "fps",
    "where loss begins",
    "knee >= 9Gbps",
    "tester",
    True,
    "knee",
    "the knee",
    "longer",
    "other",
    good="more",
)
SAMPLES: tuple[Any, ...] = (
    RunHead("n", "t\N{EM DASH}", "p", "q", "l", Fraction(7, 3), {"a": "b"}, 2**63, {"netdyno": "0"}, ("a",)),
    CaseHead(3, "n", {"a": "b"}, "k", "K", True, {"s": "1"}, "ramp", "{}", 7, 2),
    CaseWiring(
        "real",
        Situation(
            ("a",), Fraction(7, 3), Fraction(64), Fraction(1, 3), (1,), 4,
            (Place(0, 1, Fraction(1, 2), "voice", "east", Fraction(1, 3), "card", "100", (1, 2)),),
            (Fraction(5),), False, (1, 2), False, False, 2, Fraction(1, 7),
            (Fraction(1, 8),), (Fraction(65, 64),), ("voice",), True,
            ("Te0/1",), Trunk(40 * 10**9, (0, 2), 4, 1024),
            ("02:00:00:00:00:07",),
            ("TTL 1",), True, ("service",), 70_000, 50_000_000,
            behind=(Behind("a", 1000, ("b",), {4: 900_000, 6: 143_000}, 7),),
            prefixes=(1000,), watched=("adjacency",), answer_ns=2**40, lags=((1, 2),),
            sizes=(Fraction(68),), own_fps=Fraction(9),
        ),
        False,
        (said("a note"),),
        "{}",
        replace(
            Proven("id", NOW, Fraction(7, 3), Fraction(1, 3), 5, 6, Fraction(1, 9), "the kernel changed"),
            is_stricter=True,
            latencies=(OwnLatency(Fraction(7, 6), 2**40),),
            host="gen1",
            others=("another",),
        ),
        Configured("mtu 9000\n", "+mtu 9000\n", "5.3.4", "lab.j2"),
        (
            HostFacts(
                "gen1", "8 x Xeon", 4, "6.1", ClockState("chrony", -1488, ("/dev/ptp0",)),
                (PortFacts("west", "p0", "veth", 9000, ("GRO",)), PortFacts("east", "p1", "", None, ())),
            ),
        ),
    ),
    Result(
        "ramp",
        (
            Value(
                *(KIND, "sum", Fraction(7, 3), Fraction(1), Fraction(2), NOTE, True, NOTE, 70, True),
                as_searched=Fraction(8, 3),
            ),
        ),
        (0, 2),
        (said("a deviation"),),
        (said("a note"),),
        (
            Table(
                "T",
                (Column("S", "B", True, True), Column("X")),
                ((Fraction(64), "7/3"), (None, "")),
                "caption",
            ),
        ),
        (said("a shortcut"),),
        "RFC 2544",
        ("knee",),
        {"knee": (1, 2)},
        {"knee": {"sum": (1,)}},
    ),
    StoredVerdict("sum", "line", NOTE, "knee"),
    StoredGoal("loss <= 0", None, NOTE),
    TrialBody((Segment("ramp", 10, FrameRate(0), FrameRate(Fraction(7, 3))),), split(OUTCOME)[0]),
    TrialBody((Segment("a", 1, L1Rate(1), THIRD), Segment("b", 1, L2Rate(2), THIRD)), split(OUTCOME)[0]),
    TrialBody((), Outcome(ConnectionCounts((CARRIED,), 7), OUTCOME.health, ())),
)  # fmt: skip


@pytest.mark.parametrize("value", SAMPLES, ids=lambda value: type(value).__name__)
def test_body_decoded_equals_what_was_encoded(value: Any) -> None:
    codec: Any = KINDS[type(value)]
    assert codec.decode(codec.encode(value), KNOWN) == value
    assert codec.unpack(codec.pack(value), KNOWN) == value


def test_loads_stored_in_frames_per_second_are_read() -> None:
    """As they were until a load was stored as asked."""
    stored = json.loads(bodies.TRIAL.encode(SAMPLES[-1]))
    segment = '{"name":"ramp","duration_ns":1000000000,"from_fps":"0","to_fps":"312500000/21"}'
    stored["segments"] = [json.loads(segment)]
    ramp = Segment("ramp", 10**9, FrameRate(0), FrameRate(Fraction(312_500_000, 21)))
    assert bodies.TRIAL.decode(json.dumps(stored), KNOWN) == TrialBody((ramp,), SAMPLES[-1].outcome)


@pytest.mark.parametrize("rate", [7, None, [], {}, {"fps": "7"}, {"share": "7", "l1_bps": "7"}, {"share": 7}])
def test_load_without_one_unit_is_refused(rate: Any) -> None:
    stored = json.loads(bodies.TRIAL.encode(SAMPLES[-1]))
    stored["segments"] = [{"name": "ramp", "duration_ns": 1, "from_rate": "0", "to_rate": rate}]
    with pytest.raises(ValueError, match="to_rate"):
        bodies.TRIAL.decode(json.dumps(stored), KNOWN)


def test_samples_have_no_field_at_its_default() -> None:
    """A sample whose field is at its default would not notice that the field is lost."""

    def at_default(value: Any, path: str) -> Iterator[str]:
        for field in fields(value):
            found = getattr(value, field.name)
            name = f"{path}.{field.name}"
            # A series is of one instant or of a window, a counter or not: no one has all details.
            if isinstance(value, Series):
                continue
            if found == field.default and not field.metadata.get("unstored"):
                yield name
            for one in found if isinstance(found, tuple) else (found,):
                if is_dataclass(one):
                    yield from at_default(one, name)

    missing = {name for value in SAMPLES[:-1] for name in at_default(value, type(value).__name__)}
    # Series are rows of their own; a column of text has no unit; a table need not have a figure.
    series = {"outcome.counts.streams.lag.by_sample"}
    known = {f"TrialBody.{name}" for name in series} | {
        "Result.tables.columns.unit",
        "Result.tables.columns.at_throughput",
        "Result.tables.columns.lasts",
        "Result.tables.figure",
    }
    assert missing == known


def places(found: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield path
    for key, one in (
        found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    ):
        yield from places(one, (*path, key))


def at(found: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        found = found[key]
    return found


FREE = {
    "axes",
    "settings",
    "only",
    "versions",
    "rests",
    "rests_by_scope",
    "knee",
    "counters",
    "driver",
    "kinds",
    "devices",
    "announced",
}
"""Mappings from names that are not fields."""


def held(value: Any, path: tuple[Any, ...]) -> Any:
    """What stands in a value at a place of its JSON; None where the JSON has another shape."""
    for step in path:
        value = value[step] if isinstance(step, int) else getattr(value, step, None)
    return value


def default_of(holder: Any, key: str) -> Any:
    """The default of a field; MISSING: it has none, or its holder is no dataclass that is read by fields."""
    if not is_dataclass(holder) or isinstance(holder, Reason):
        return MISSING
    found = next((field for field in fields(holder) if field.name == key), None)
    if found is None or found.default_factory is MISSING:
        return MISSING if found is None else found.default
    return found.default_factory()


@pytest.mark.parametrize("value", SAMPLES, ids=lambda value: type(value).__name__)
def test_body_lacks_fields_with_defaults_and_has_no_unknown_one(value: Any) -> None:
    codec: Any = KINDS[type(value)]
    text = codec.encode(value)
    tried = 0
    for path in places(json.loads(text)):
        if FREE & set(path):
            continue
        for change in ("drop", "add"):
            body = json.loads(text)
            holder = at(body, path)
            if not isinstance(holder, dict) or "text" in holder:
                continue
            for key in list(holder) if change == "drop" else ["newer"]:
                changed = json.loads(text)
                if change == "drop":
                    del at(changed, path)[key]
                else:
                    at(changed, path)[key] = 1
                if change == "drop" and (default := default_of(held(value, path), key)) is not MISSING:
                    found = codec.decode(json.dumps(changed), KNOWN)
                    assert getattr(held(found, path), key) == default
                    continue
                with pytest.raises(ValueError, match=r"."):
                    codec.decode(json.dumps(changed), KNOWN)
                tried += 1
    assert tried > 3


@pytest.mark.parametrize("value", SAMPLES, ids=lambda value: type(value).__name__)
def test_body_with_a_value_of_another_type_is_refused(value: Any) -> None:
    codec: Any = KINDS[type(value)]
    text = codec.encode(value)
    for path in places(json.loads(text)):
        if "devices" in path or not path:
            continue
        for other in (True, 1.5, "1e9", "1/0", [[]], {"x": 1}, float("nan")):
            changed = json.loads(text)
            old = at(changed, path)
            if isinstance(old, bool | None) and isinstance(other, bool):
                continue
            if isinstance(old, str | None) and isinstance(other, str):
                continue  # Another text may be right; numbers in texts have a test of their own.
            if isinstance(old, list | dict) and isinstance(other, list | dict):
                continue
            at(changed, path[:-1])[path[-1]] = other
            with pytest.raises(ValueError, match=r"."):
                codec.decode(json.dumps(changed), KNOWN)


@pytest.mark.parametrize(
    "text",
    [
        "1e999999999",
        "1/0",
        "0x10",
        " 1",
        "1_000",
        "NaN",
        "inf",
        "1.5",
        "",
        "9" * 1001,
        "\N{ARABIC-INDIC DIGIT ONE}",
    ],
)
def test_number_that_is_not_exact_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        exact(text)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "[" * 100_000, "{", "\x00"])
def test_device_counters_that_are_not_json_are_refused(text: str) -> None:
    body = bodies.TRIAL.encode(TrialBody((), split(OUTCOME)[0])).replace("0.5", text)
    with pytest.raises(ValueError, match=r"."):
        bodies.TRIAL.decode(body, KNOWN)


def test_body_that_is_too_long_or_cut_off_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bodies.TRIAL.pack(TrialBody((), split(OUTCOME)[0]))
    size = len(decompress(data))
    with pytest.raises(ValueError, match="cut off"):
        decompress(data[:-1])
    monkeypatch.setattr(contents, "MOST_BYTES", size)
    assert len(decompress(data)) == size
    monkeypatch.setattr(contents, "MOST_BYTES", size - 1)
    for refusing in (decompress, lambda _: compress(b" " * size)):
        with pytest.raises(ValueError, match="a body of"):
            refusing(data)


def test_outcome_split_from_its_series_joins_to_the_same() -> None:
    bare, rows = split(OUTCOME)
    assert bare.streams[0].tx == ()
    assert join(bare, list(rows)) == OUTCOME


def test_unstored_field_is_not_written_and_not_read() -> None:
    body = TrialBody((), replace(split(OUTCOME)[0], post=Post(beyond=7)))
    text = bodies.TRIAL.encode(body)
    assert "post" not in json.loads(text)["outcome"]
    found = json.loads(text)
    found["outcome"]["post"] = None
    with pytest.raises(ValueError, match="post"):
        bodies.TRIAL.decode(json.dumps(found), KNOWN)


NUMBERS = st.fractions()
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


@given(
    st.lists(st.one_of(NUMBERS, TEXTS, st.none()), min_size=1, max_size=5),
    st.dictionaries(TEXTS, st.tuples(st.integers(0, 9)), max_size=3),
)
@settings(max_examples=examples(60))
def test_cells_and_names_of_any_kind_come_back(
    cells: list[Any], names: Mapping[str, tuple[int, ...]]
) -> None:
    columns = tuple(Column(str(number)) for number in range(len(cells)))
    result = Result("m", (), (), tables=(Table("T", columns, (tuple(cells),)),), rests=names)
    assert bodies.RESULT.decode(bodies.RESULT.encode(result), KNOWN) == result
