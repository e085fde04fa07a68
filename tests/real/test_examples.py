"""Every example is run: shortened, and those that need a lab of this machine's only where it allows one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest
import testpmd
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import KINDS, LabError, LabLink, Wiring
from netdyno.methods.service_cost import BASELINE, COST, RATE
from netdyno.plan import load, parse
from netdyno.store import StoredRun, open_run
from netdyno.values import classes

pytest.importorskip("netdyno._engine", reason="the engine is not built")

EXAMPLES = Path(__file__).parents[2] / "examples"
LINKS = (LabLink("west", "d0", 10**9), LabLink("east", "d1", 10**9))

RUN_ELSEWHERE = {
    "asr9006.yaml": "devices/test_asr9006.py",
    "asr9006-driver.yaml": "cli/test_rehearse.py",
    "asr9006-acceptance.yaml": "cli/test_rehearse.py",
    "isr-services-driver.yaml": "cli/test_rehearse.py",
    "asr9006-at-once.yaml": "plan/test_groups.py",
    "bursts.yaml": "methods/test_bursts.py",
    "ndr.yaml": "methods/test_ndr.py",
    "rfc2544.yaml": "methods/test_rfc2544_suite.py",
    "rfc2544-suite.yaml": "plan/test_suites.py",
    "asr1000-latency.yaml": "methods/test_rfc2544_suite.py",
    "asr1000-wan.yaml": "devices/test_adjacencies.py",
    "soak.yaml": "methods/test_soak.py",
    "streams.yaml": "plan/test_burst_times.py",
    "activation.yaml": "methods/test_y1564.py",
    "modifiers.yaml": "modifiers/test_management.py",
    "priority.yaml": "methods/test_priority.py",
    "linux-tcp.yaml": "real/test_tcp_real.py",
    "linux-mtu.yaml": "real/test_tcp_real.py",
    "path-tcp.yaml": "real/test_served_real.py",
    "isr-tcp.yaml": "real/test_served_real.py",
    "ccr1072-tcp.yaml": "real/test_served_real.py",
    "ccr1072-hairpin.yaml": "devices/test_subinterfaces_emulated.py",
    "ccr1072-hosts.yaml": "cli/test_rehearse.py",
    "boxes.yaml": "cli/test_compare.py",
    "nat-both-ways.yaml": "real/test_translation.py",
    "hosts.yaml": "real/test_hosts_real.py",
    "hosts-tcp.yaml": "real/test_hosts_real.py",
    "acceptance.yaml": "real/test_speakers_real.py",
    "lacp.yaml": "real/test_lag_real.py",
    "lag-hashes.yaml": "devices/test_lags_emulated.py",
}
LINUX = {
    "linux-filter.yaml": "linux/router",
    "linux-router.yaml": "linux/router",
    "linux-bridge.yaml": "linux/bridge",
    "linux-xconnect.yaml": "linux/xconnect",
}
SWITCH = "switch.yaml"
SERVICES, PRIORITY, SHAPED = "isr-services.yaml", "priority-linux.yaml", "linux-shaped.yaml"


def test_every_example_is_run_by_a_test() -> None:
    assert {path.name for path in EXAMPLES.glob("*.yaml")} == {
        *RUN_ELSEWHERE,
        *LINUX,
        SWITCH,
        SERVICES,
        PRIORITY,
        SHAPED,
        "own-router.yaml",
        "memif.yaml",
    }
    for name, test in RUN_ELSEWHERE.items():
        assert name in (Path(__file__).parents[1] / test).read_text()


@contextmanager
def built(kind: str) -> Iterator[Wiring]:
    """A lab of this machine, or the reason why there is none."""
    lab = KINDS[kind].build(KINDS[kind].wire(LINKS, {}))
    try:
        wiring = lab.__enter__()
    except LabError as refused:
        pytest.skip(f"no lab of network namespaces here: {refused}")
    try:
        yield wiring
    finally:
        lab.__exit__(None, None, None)


def sound(run: StoredRun, only: Mapping[str, str], count: int) -> None:
    """Real devices have no known answer, but every frame must be accounted for."""
    assert len(run.cases) == count
    for case in run.cases:
        if case.error is not None and case.error.code in ("trial-invalid", "tester-preempted"):
            pytest.skip(f"this machine stalled in every attempt: {case.error.message}")
        assert case.state == "done", case.error
        assert only.items() <= case.head.axes.items()
        assert case.result is not None
        assert case.result.values
        assert case.wiring is not None
        assert case.wiring.clock == "real"
        for trial in run.trials(case.head.number):
            for stream in trial.result.streams:
                assert stream.intended >= stream.offered >= stream.received + stream.corrupted
                assert stream.lost == stream.offered - stream.received - stream.corrupted
                assert (stream.corrupted, stream.duplicates, stream.elsewhere) == (0, 0, 0)
                assert stream.received > 0
                assert stream.latency is not None
                assert stream.latency.negative == 0


def test_shaped_router_passes_what_its_bucket_lets_out_and_counts_the_rest(tmp_path: Path) -> None:
    with built("linux/router"):
        pass
    outcome = runner.run(load(EXAMPLES / SHAPED), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        sound(run, {}, 1)
        trial = next(one for one in run.trials(0) if one.name == "ramp")
        (stream,) = trial.result.streams
        # 100 Mbit/s and one bucket of 16 kB, for 900 ms and the 120 ms of its queue.
        assert stream.received * 1510 <= 12_500_000 * 1.2 + 16_384
        drops = trial.result.devices[0]["ports"][1]["out_queue_drops"]
        assert stream.lost == drops > 10_000


@pytest.mark.parametrize("name", LINUX)
def test_a_linux_example_runs(name: str, tmp_path: Path) -> None:
    with built(LINUX[name]):
        pass
    only = {"profile": "64b"}
    outcome = runner.run(load(EXAMPLES / name), tmp_path, watcher(), runner.Selection(Fraction(1, 4), only))
    with open_run(outcome.folder, REASONS) as run:
        sound(run, only, 2)


def test_the_example_of_services_runs(tmp_path: Path) -> None:
    """Behind translation each frame is known by its probe. What it costs depends on the machine."""
    with built("linux/router"):
        pass
    only = {"profile": "64b", "service": "masquerade"}
    outcome = runner.run(
        load(EXAMPLES / SERVICES), tmp_path, watcher(), runner.Selection(Fraction(1, 40), only)
    )
    with open_run(outcome.folder, REASONS) as run:
        sound(run, only, 1)
        (case,) = run.cases
        assert case.result is not None
        found = {value.kind: value for value in case.result.values if value.scope == "sum"}
        assert found.keys() >= {RATE, BASELINE, COST}


def test_voice_passes_a_congested_class_of_a_real_router(tmp_path: Path) -> None:
    """Above what the router shapes to, in a queue of its own: earlier than the class that fills the other."""
    with built("linux/router"):
        pass
    only = {"service": "llq-100mbit"}
    outcome = runner.run(
        load(EXAMPLES / PRIORITY), tmp_path, watcher(), runner.Selection(Fraction(1, 4), only)
    )
    with open_run(outcome.folder, REASONS) as run:
        sound(run, only, 1)
        (case,) = run.cases
        assert case.result is not None
        (table,) = (one for one in case.result.tables if one.name == classes.TABLE)
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    highest = max(row[classes.LOAD] for row in rows if row[classes.CLASS] == "default")
    voice, default = (
        next(row for row in rows if row[classes.CLASS] == name and row["trial"] == "12%")
        for name in ("voice", "default")
    )
    assert default[classes.LOAD] == highest
    assert voice[classes.LOSS] <= default[classes.LOSS]
    times = [row[classes.HIGH] for row in (voice, default)]
    # A time is unknown where the tester sent too late for it.
    assert None in times or times[0] < times[1]


def test_the_example_of_a_switch_runs(tmp_path: Path) -> None:
    """A Linux bridge keeps far more than 1024 addresses: none is flooded, so that number is a bound."""
    with built("linux/bridge"):
        pass
    outcome = runner.run(load(EXAMPLES / SWITCH), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.state == "done", case.error
        assert case.result is not None
        learned, tested = next(iter(run.trials(0))).result.streams
        # A tester that fell short, which this machine may make it, says nothing of the bridge.
        if min(learned.offered, tested.offered) == 1024 and learned.missing == 0:
            assert (tested.elsewhere, tested.duplicates) == (0, 0)
            assert tested.flows_received >= 1024 - tested.missing


def test_example_of_an_external_router_runs(tmp_path: Path) -> None:
    """The router stands in a namespace, with the addresses docs/labs.md tells the reader to configure."""
    text = (EXAMPLES / "own-router.yaml").read_text()
    only = {"profile": "1518b", "direction": "uni"}
    with built("linux/router") as live:
        for port, written in zip(live.wiring.session["ports"], ("eth1", "eth2"), strict=True):
            assert text.count(written) == 1
            text = text.replace(written, port["backend"]["interface"])
        plan = parse(text, name="own-router.yaml", base=tmp_path)
        outcome = runner.run(plan, tmp_path, watcher(), runner.Selection(Fraction(1, 600), only))
    with open_run(outcome.folder, REASONS) as run:
        sound(run, only, 1)
        (case,) = run.cases
        for trial in run.trials(case.head.number):
            # Its address was asked for by ARP.
            assert "100.64.0.1" in dict(trial.result.resolved)


def test_the_example_with_testpmd_runs(tmp_path: Path) -> None:
    """The testpmd of its own comment, at a socket of this test's."""
    text = (EXAMPLES / "memif.yaml").read_text().replace("/tmp/dut.sock", f"{tmp_path}/dut.sock")
    comment = " ".join(line.removeprefix("#").strip(" \\") for line in text.splitlines() if line[:1] == "#")
    (command,) = re.findall(r"dpdk-testpmd .*total-num-mbufs=\d+", comment)
    testpmd.skip_without()
    (tmp_path / "plan.yaml").write_text(text)
    with testpmd.run_testpmd(command.split(), tmp_path):
        testpmd.wait_for(tmp_path / "dut.sock")
        only = {"profile": "1518b"}
        selection = runner.Selection(Fraction(1, 20), only)
        outcome = runner.run(load(tmp_path / "plan.yaml"), tmp_path, watcher(), selection)
    with open_run(outcome.folder, REASONS) as run:
        sound(run, only, 1)
