"""Who is named as the limit where it is known: the table of docs/verdicts-detail.md, and a sample run."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("netdyno._engine", reason="the engine is not built")

TOOLS = Path(__file__).parents[2] / "tools"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


scenarios = load("scenarios")
confusion = load("confusion")
RECORD = confusion.read_record()

SAMPLE = range(0, 500, 12)
"""The step shares no factor with the number of kinds, so that each of them is met."""

LATER = (
    "quiet when calibrated, a card that drops later",
    "quiet when calibrated, a ring found full later",
)

SILENT = (
    "frames vanish before the wire",
    "a receiver that counts no drops",
    "a ring of 64 that counts no drops",
)


def test_the_record_was_made_with_the_rules_as_they_are() -> None:
    lines = (line.split("  ") for line in confusion.DIGESTS.read_text().splitlines())
    recorded = {name: digest for digest, name in lines}
    now = confusion.sources()
    changed = sorted(name for name in now.keys() | recorded.keys() if now.get(name) != recorded.get(name))
    assert not changed, f"{', '.join(changed)}: run `make confusion`"
    assert "python/netdyno/verdict/limit.py" in recorded


def test_record_rests_on_the_methods_of_its_scenarios_alone() -> None:
    methods = {name for name in confusion.sources() if name.startswith("python/netdyno/methods/")}
    for name in ("ramp", "throughput", "ndr", "parts/procedure", "parts/samples", "reasons/ramps"):
        assert f"python/netdyno/methods/{name}.py" in methods
    for name in ("__init__", "soak", "microburst"):
        assert f"python/netdyno/methods/{name}.py" not in methods


def test_every_kind_is_run_again() -> None:
    assert {number % len(scenarios.KINDS) for number in SAMPLE} == set(range(len(scenarios.KINDS)))


def test_the_record_is_of_the_scenarios_as_they_are_declared() -> None:
    assert [int(row["number"]) for row in RECORD] == list(range(500))
    for row in RECORD:
        given = scenarios.scenario(int(row["number"]))
        assert (row["truth"], row["kind"]) == (given.truth, given.kind)
        assert (row["right"] == "yes") == (row["limit"] in given.accepts), row


def test_no_tester_is_taken_for_a_device_and_the_rest_is_right() -> None:
    for row in RECORD:
        if row["truth"] in ("tester", "receiver", "fixture", "not calibrated"):
            assert row["limit"] != "device", row
    assert sum(row["right"] == "yes" for row in RECORD) * 100 >= 99 * len(RECORD)
    assert {"device", "line", "tester", "receiver", "fixture", "licence"} <= {row["truth"] for row in RECORD}


def test_the_page_shows_the_record() -> None:
    page = confusion.PAGE.read_text()
    _, _, rest = page.partition(confusion.BEGIN)
    shown, _, _ = rest.partition(confusion.END)
    assert shown.strip() == confusion.table_of_record(RECORD), "run `make confusion`"


def test_no_answer_that_is_right_for_a_tester_blames_a_device() -> None:
    for number in range(500):
        given = scenarios.scenario(number)
        if any(given.limits) and given.truth != "device":
            assert "device" not in given.accepts, given


@pytest.mark.parametrize("number", SAMPLE)
def test_a_scenario_run_again_has_the_same_answer(number: int) -> None:
    again = confusion.answer(number)
    assert again.limit == RECORD[number]["limit"], f"{again}: run `make confusion`"


def test_what_comes_after_the_calibration_is_noticed() -> None:
    assert {row["kind"] for row in RECORD} >= set(LATER)
    assert all(row["right"] == "yes" for row in RECORD if row["kind"] in LATER)


def test_silent_testers_without_calibration_look_like_a_device_limit() -> None:
    """Those that count nothing look like a slow device: taken at its word, the tester would blame one."""
    numbers = [int(row["number"]) for row in RECORD if row["kind"] in SILENT][:6]
    assert {confusion.answer(number, clock="virtual").limit for number in numbers} == {"device"}
