"""What `make test` promises to have installed must be there: a missing piece fails, it is not skipped.

Run by hand, pytest skips what this machine cannot do and prints why.
"""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest
from hypothesis import settings

# What is drawn by chance is the same in every run, so that a change is judged by what it changed; with
# `--hypothesis-profile=explore`, as `make explore` has it, it is drawn anew.
settings.register_profile("same", derandomize=True)
settings.register_profile("explore", print_blob=True)
settings.load_profile("same")

SIDE_BY_SIDE = frozenset(
    [
        "arithmetic",
        "asr9006",
        "bad_input",
        "browser",
        "bursts",
        "cli",
        "confusion",
        "contradicted",
        "delay_variation",
        "emulated",
        "emulated_faults",
        "fib",
        "frames_tshark",
        "goals",
        "groups",
        "happening",
        "histogram",
        "house",
        "lateness",
        "licence",
        "management",
        "matrix",
        "methods",
        "microburst",
        "mlr",
        "modifiers",
        "ndr",
        "neighbours",
        "number_of_ports",
        "observations",
        "order",
        "parts_missing",
        "patterns",
        "plan",
        "plan_together",
        "plan_trials",
        "printed",
        "proof",
        "queued",
        "report_words",
        "reports",
        "reports_health",
        "reports_html",
        "repeats",
        "response",
        "resume",
        "rights",
        "rfc2544_methods",
        "rfc2544_suite",
        "routing",
        "run",
        "samples",
        "searches",
        "soak",
        "shared",
        "spec",
        "statistics",
        "store",
        "suites",
        "switches",
        "tables",
        "terminal_tables",
        "truth_faults",
        "truth_groups",
        "truth_kinds",
        "truth_licence",
        "truth_methods",
        "truth_outages",
        "truth_queue",
        "truth_ramp",
        "truth_random",
        "truth_table",
        "truth_table_others",
        "truth_throughput",
        "truth_verdicts",
        "units",
        "verdict",
        "verdict_loss",
        "y1564",
    ]
)
"""Tests in virtual time, and those that measure nothing: as many of these files at once as there are cores.
All others go by the clock, and have the machine to themselves."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that may share the machine."""
    for item in items:
        if item.path.stem.removeprefix("test_") in SIDE_BY_SIDE:
            item.add_marker(pytest.mark.side_by_side)


def pytest_sessionstart() -> None:
    """With NETDYNO_TESTS=all, as `make test` sets it, stops before a single test if something is missing."""
    if os.environ.get("NETDYNO_TESTS") != "all":
        return
    modules = ("netdyno._engine", "playwright", "jsonschema", "hypothesis", "hdrh")
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    missing += [
        name
        for name in ("tshark", "chromium", "pdftotext", "ip", "tc", "nft", "ethtool", "bird")
        if shutil.which(name) is None
    ]
    if missing:
        pytest.exit(f"`make test` should have installed {', '.join(missing)}", returncode=1)
