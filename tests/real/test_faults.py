"""Real faults under a tester: each is named as what it is, nothing hangs, nothing is left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from faulty_case import CGROUP

pytest.importorskip("netdyno._engine", reason="the engine is not built")

SCRIPT = Path(__file__).parents[1] / "support" / "faulty_case.py"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: namespaces, links and cgroups")
pytestmark = needs_root

LONGEST_S = 60
"""A case takes three seconds; what has not ended after this hangs."""


def case(fault: str, load: str) -> dict[str, list[Any]]:
    """Runs a case with a fault: what it told, by name, in order."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), fault, load], capture_output=True, text=True, timeout=LONGEST_S
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, list[Any]] = {}
    for line in done.stdout.splitlines():
        for name, value in json.loads(line).items():
            told.setdefault(name, []).append(value)
    assert not any(told.get("trace", ())), told["trace"]
    return told


def test_a_sender_throttled_by_a_cgroup_is_the_testers_limit() -> None:
    """A 25th of a core cannot send 40,000 frames a second."""
    if not (CGROUP / "cgroup.procs").exists():
        pytest.skip(f"no cgroup controller for processor time at {CGROUP}")
    told = case("throttled", "40kpps")
    assert told["throttled"][0] > 5, "the quota was used up again and again"
    assert told["unsent"][-1] > told["offered"][-1] // 100
    assert told["limit"] == ["tester"], told["reason"]
    assert "The device does at least" in told["reason"][0]
    # Nothing is left of the quota.
    assert not list(CGROUP.glob("netdyno-test-*"))


def test_a_receiver_with_a_ring_of_64_is_the_limit() -> None:
    """In bursts of 256. What is lost its own socket dropped; tried again where it is kept from sending."""
    for _ in range(4):
        told = case("small", "10kpps")
        assert told["lost"][-1] * 95 <= told["dropped"][-1] * 100, told
        assert told["limit"][0] in ("receiver", "tester", "inconclusive"), "never the device"
        if told["dropped"][-1] * 50 > told["offered"][-1] and told["limit"] == ["receiver"]:
            assert "dropped" in told["reason"][0]
            return
    assert told["limit"] == ["tester"], told
    pytest.skip(f"this machine is too busy to send 10,000 frames a second: {told}")


def test_link_that_flaps_makes_the_trial_invalid_and_retried() -> None:
    told = case("flaps-once", "2kpps")
    assert told["trial"] == ["invalid", "done"]
    assert "link-went-down" in told["invalid"][0], told["invalid"]
    assert told["invalid"][1] == []
    assert len(told["limit"]) == 1


def test_a_link_that_is_down_for_long_is_waited_for_and_costs_one_attempt() -> None:
    """Five seconds: longer than three attempts take."""
    told = case("long-down", "2kpps")
    assert told["trial"] == ["invalid", "done"], told
    assert any("the line of `east` (interface `east`)" in said for said in told["waiting"])
    first, second = told["waited"]
    assert not any(first), "nothing to wait for before the first"
    assert max(second) > 10**9, "recorded with the trial that waited"


@pytest.mark.parametrize(("fault", "least_ns"), [("own-down", 9 * 10**8), ("own-flap", 0)])
def test_own_port_that_is_down_as_a_retry_begins_is_waited_for(fault: str, least_ns: int) -> None:
    told = case(fault, "2kpps")
    assert told["trial"] == ["invalid", "invalid", "done"], told
    assert told["invalid"][1] == ["engine port-gone"]
    assert max(told["waited"][1]) >= least_ns
    assert len(told["limit"]) == 1


def test_link_that_stays_down_is_reported_once_and_not_retried() -> None:
    told = case("stays-down", "2kpps")
    assert told["trial"] == ["invalid"]
    (why,) = told["failed"]
    assert "of `east` (interface `east`)" in why
    assert "stayed so for 2 s" in why
    (hint,) = told["hint"]
    assert "cable" in hint
    assert "limit" not in told


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("flaps", "interface `east` of `east` was switched off"),
        ("gone", "interface `east` of `east` was taken away"),
        ("elsewhere", "interface `east` of `east` was taken away"),
    ],
)
def test_an_interface_that_never_stays_ends_the_case_with_its_reason(fault: str, words: str) -> None:
    began = time.monotonic()
    told = case(fault, "2kpps")
    # What is gone for good is not tried a third time: the second trial cannot even begin.
    assert told["trial"] == ["invalid"] * (3 if fault == "flaps" else 2)
    assert "limit" not in told, "nobody is blamed"
    (why,) = told["failed"]
    assert words in why
    assert time.monotonic() - began < LONGEST_S


def test_without_the_right_to_open_sockets_the_case_says_so() -> None:
    told = case("unprivileged", "2kpps")
    assert "trial" not in told
    (why,) = told["failed"]
    assert "may not open packet sockets" in why
    (hint,) = told["hint"]
    assert "CAP_NET_RAW" in hint
