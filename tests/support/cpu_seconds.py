"""The processor time of each test file, its programs included, as a table at the end of a run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import pytest

SHOWN = 25
"""Files that the table names; what all others took together follows."""


def spent_s() -> float:
    """Processor time of this process and of the ended programs that it started, in seconds."""
    return sum(os.times()[:4])


class CpuSeconds:
    """A plugin: measures in the process of the test, adds up where the run is reported."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()
        self.begun = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        self.begun = spent_s()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        if call.when == "teardown":
            item.user_properties.append(("cpu_s", spent_s() - self.begun))
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            name = report.nodeid.partition("::")[0]
            self.files[name] += dict(report.user_properties).get("cpu_s", 0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if os.environ.get("NETDYNO_TESTS") != "all":
            return
        terminalreporter.section(f"{sum(self.files.values()):.0f} CPU seconds in tests")
        shown = self.files.most_common(SHOWN)
        for name, seconds in shown:
            terminalreporter.write_line(f"{seconds:7.1f} {name}")
        rest = sum(self.files.values()) - sum(seconds for _, seconds in shown)
        terminalreporter.write_line(f"{rest:7.1f} in {len(self.files) - len(shown)} other files")
