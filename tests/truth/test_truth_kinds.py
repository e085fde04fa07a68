"""The kinds that plans can name, by their own settings; what is not test traffic; and runs that repeat."""

from __future__ import annotations

import math
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest
from closed_forms import SECOND, Stretch, admitted, sent_before, wire_bits
from laboratory import RATE, Device, Found, Silent, measure, plan_text
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.plan import parse
from netdyno.store import open_run

pytest.importorskip("netdyno._engine", reason="the engine is not built")

SENT_PS = 6 * 10**9
QUEUE = 1024
"""Of the kinds' devices, in frames (crates/dut/src/spec.rs)."""
KINDS = ("emulated/cross-connect", "emulated/bridge", "emulated/router")
CAPACITIES = {"line": None, "100kpps": 100_000, "1Mpps": 1_000_000}


@pytest.fixture(scope="module", params=KINDS)
def found(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[tuple[str, ...], Found]]:
    """A kind, and its searches."""
    return request.param, measure(
        tmp_path_factory.mktemp("kinds"),
        kind=request.param,
        traffic={"64b": "{size: 64B, flows: 256}"},
        method="{throughput: {duration: 6ms, width: 0.5%}}",
        matrix={"capacity": tuple(CAPACITIES), "direction": ("uni", "uni-reverse", "bidir")},
    )


@pytest.mark.parametrize("direction", ["uni", "uni-reverse", "bidir"])
@pytest.mark.parametrize("capacity", CAPACITIES)
def test_a_capacity_is_found_with_its_queue(
    capacity: str, direction: str, found: tuple[str, dict[tuple[str, ...], Found]]
) -> None:
    """A short trial may offer more than the capacity, as much more as the queue holds."""
    _, cases = found
    fps, best = CAPACITIES[capacity], 0
    for step in range(1, 201):
        bps = RATE * step // 200
        count = sent_before([Stretch(SENT_PS, bps, bps)], 64, SENT_PS)
        last = math.floor(Fraction((count - 1) * 672 * SECOND, bps))
        fits = fps is None or fps * wire_bits(64) >= bps
        if fits or count == admitted(count, last, Fraction(SECOND, fps or 1), QUEUE):
            best = step
    streams = {"uni": ["west-east"], "uni-reverse": ["east-west"], "bidir": ["west-east", "east-west"]}
    for scope in streams[direction]:
        number = cases["64b", capacity, direction].value("throughput", scope).load
        assert number == Fraction(RATE, 672) * best / 200


def test_what_is_not_test_traffic_is_counted_apart(found: tuple[str, dict[tuple[str, ...], Found]]) -> None:
    """A bridge is taught by a frame from the port that receives, and floods it to the other one. A router is
    asked for its addresses by both ports, so that it knows them before the load comes, and answers."""
    kind, cases = found
    for direction, foreign in {"uni": (1, 0), "uni-reverse": (0, 1), "bidir": (1, 1)}.items():
        expected = {"emulated/cross-connect": (0, 0), "emulated/router": (1, 1)}.get(kind, foreign)
        for trial in cases["64b", "line", direction].trials:
            ports = trial.result.ports
            assert tuple(port.foreign for port in ports) == expected
            received = sum(stream.received for stream in trial.result.streams)
            assert sum(port.rx_frames for port in ports) == received + sum(expected)
            for stream in trial.result.streams:
                assert (stream.lost, stream.corrupted, stream.elsewhere) == (0, 0, 0)


# The same again.

GROUP = {"group": Device(members=2, hash="l3-l4", partner_queue=3, in_fps=500_000, in_queue=2)}
MANY = {"64b": "{size: 64B, flows: 65536}", "imix": "{size: imix/trex, flows: 65536}"}
RAMP = "{ramp: {warmup: 1ms at 10kpps, ramp: 8ms to 100%, hold: 1ms}}"


def stored(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """All of the store, byte for byte, but when it was written, on what machine, and hashes of that."""
    (file,) = folder.glob("*/run.sqlite")
    connection = sqlite3.connect(file)
    tables = {}
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        kept = [name for name in columns if name not in ("started", "ended", "seal", "last")]
        tables[table] = sorted(connection.execute(f"SELECT {', '.join(kept)} FROM {table}"), key=repr)
    connection.close()
    return tables


def test_the_same_seed_makes_the_same_record_byte_for_byte(tmp_path: Path) -> None:
    records = []
    for number, seed in enumerate((5, 5, 6)):
        folder = tmp_path / str(number)
        folder.mkdir()
        measure(
            folder,
            devices=GROUP,
            traffic=MANY,
            method=RAMP,
            matrix={"direction": ["uni", "bidir"]},
            seed=seed,
        )
        records.append(stored(folder))
    assert records[0] == records[1]
    assert records[0]["trials"], "something was stored"
    # Another seed draws other addresses, which the hash spreads in another way.
    assert records[0]["contents"] != records[2]["contents"]


def test_worker_processes_find_what_one_process_does(tmp_path: Path) -> None:
    """The cases of a run may go to any process in any order; nothing of that is in the record."""
    axes = {"forwarding": ("l2-xconnect", "ipv4"), "lag": ("plain", "lacp"), "direction": ("bidir",)}
    here = measure(tmp_path, kind="emulated/asr9006", traffic=MANY, method=RAMP, matrix=axes)
    text = plan_text(kind="emulated/asr9006", traffic=MANY, method=RAMP, matrix=axes)
    outcome = runner.run(
        parse(text, name="truth.yaml", base=tmp_path), tmp_path, Silent(), runner.Selection()
    )
    with open_run(outcome.folder, REASONS) as run:
        assert len(run.cases) == len(here)
        for case in run.cases:
            other = here[tuple(case.head.axes.values())]
            assert case.result == other.case.result
            assert [trial.spec for trial in run.trials(case.head.number)] == [
                one.spec for one in other.trials
            ]
            assert [one.result for one in run.trials(case.head.number)] == [
                one.result for one in other.trials
            ]
