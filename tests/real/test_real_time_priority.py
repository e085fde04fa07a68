"""Real-time priorities (`chrt`): threads that spin leave a shared core to each other, and to Ctrl-C."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.paired,
    pytest.mark.skipif(
        shutil.which("chrt") is None
        or subprocess.run(["chrt", "-f", "50", "true"], capture_output=True).returncode != 0,
        reason="no right to a real-time priority",
    ),
]

TRIAL = """
import json, os, signal, sys, time
from netdyno.calibration import faults
from netdyno import _engine
core = min(os.sched_getaffinity(0))
os.sched_setaffinity(0, [core])
spec = faults.trial_spec(10_000_000)
(segment,) = spec["streams"][0]["schedule"]
segment["duration_ns"] = int(sys.argv[1]) * 1_000_000
segment["from_bps"] = segment["to_bps"] = int(sys.argv[2])
session = _engine.Session(json.dumps(faults.session_spec([core], faults.FAULTS[0])))
session.start(json.dumps(spec))
"""
WAIT = 'print(json.loads(session.result())["trial"]["streams"][0]["received"] > 0)'
INTERRUPT = """
signal.setitimer(signal.ITIMER_REAL, 0.2)
signal.signal(signal.SIGALRM, lambda *_: (print("heard", flush=True), os._exit(0)))
time.sleep(60)
"""
"""As Ctrl-C would be heard: in the main thread."""

LINE = 10_000_000_000


def said(policy: str, what: str, *arguments: int) -> str:
    """What a trial on one core prints with this policy; killed after 10 s."""
    words = ["timeout", "-s", "KILL", "10", "chrt", policy, "50", sys.executable, "-c", TRIAL + what]
    return subprocess.run([*words, *map(str, arguments)], capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("policy", ["-f", "-r"])
def test_tester_and_device_on_one_core_take_turns(policy: str) -> None:
    assert said(policy, WAIT, 200, 100_000) == "True"


@pytest.mark.parametrize("bps", [100_000, LINE])
def test_main_thread_is_heard_on_the_core_of_a_trial(bps: int) -> None:
    """At a low load, and at one for which the tester is always late."""
    assert said("-f", INTERRUPT, 20_000, bps) == "heard"
