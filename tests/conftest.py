"""What `make test` promises to have installed must be there: a missing piece fails, it is not skipped.

Run by hand, pytest skips what this machine cannot do and prints why. Tests in `tests/real/` run in real time
or build kernel devices, and have the machine to themselves, but for those that are `paired`; all others are
run in parallel.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import real_time
from cpu_seconds import CpuSeconds
from hypothesis import HealthCheck, settings

# What is drawn by chance is the same in every run, so that a change is judged by what it changed; with
# `--hypothesis-profile=explore`, as `make explore` has it, it is drawn anew.
# On a busy machine an example may take any time.
UNTIMED: Any = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, **UNTIMED)
settings.register_profile("explore", print_blob=True, **UNTIMED)
settings.load_profile("same")


real_time.forbid_real_time()


@pytest.fixture(autouse=True)
def _alone_in_real_time() -> Iterator[None]:
    """Fails a test outside of tests/real that opens a session in real time or builds a namespace."""
    real_time.REFUSED.clear()
    yield
    if real_time.REFUSED:
        pytest.fail(real_time.REFUSED[0])


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    """What a program that ran in this process ignored at its end, programs of later tests would inherit."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


LONGEST = (
    "test_resume.py",
    "test_browser.py",
    "test_endings.py",
    "test_cli.py",
    "test_run.py",
    "test_headline.py",
    "test_rfc2544_suite.py",
    "test_storms.py",
)
"""Files of 15 to 80 s: begun last, one of them would keep a single worker busy at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the longest files first."""
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.name, len(LONGEST)))


def pytest_configure(config: pytest.Config) -> None:
    # Begun in the background of a shell it is ignored, and programs that tests interrupt would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(CpuSeconds())


def pytest_sessionstart() -> None:
    """With NETDYNO_TESTS=all, as `make test` sets it, stops before a single test if something is missing."""
    if os.environ.get("NETDYNO_TESTS") != "all":
        return
    modules = ("netdyno._engine", "playwright", "axe_playwright_python", "jsonschema", "hypothesis", "hdrh")
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    missing += [
        name
        for name in ("tshark", "chromium", "pdftotext", "ip", "tc", "nft", "ethtool", "bird")
        if shutil.which(name) is None
    ]
    if missing:
        pytest.exit(f"`make test` should have installed {', '.join(missing)}", returncode=1)
