"""The log file of a run: a line for each event, with its time in UTC, as `key=value` pairs."""

from __future__ import annotations

import logging
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from netdyno.campaign.events import Event, Failed, Interrupted, Measured, TrialEnded, Waiting, Wired
from netdyno.campaign.logged import LOG, log_event
from netdyno.errors import NetdynoError

if TYPE_CHECKING:
    from netdyno.campaign.run import Watcher
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

LEVELS = {"done": logging.INFO, "cancelled": logging.INFO, "invalid": logging.WARNING}
"""Of a trial that ended, by its state."""


@contextmanager
def log_to(path: Path | None) -> Iterator[None]:
    """Has all events within it logged to a file, which is appended to; None: nothing is logged.

    A new file is for its owner alone. Raises click.UsageError if it cannot be written.
    """
    if path is None:
        yield
        return
    handler = _Lasting(os.fdopen(_open_log(path), "a", encoding="utf-8", errors="backslashreplace"))
    formatter = logging.Formatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    before = LOG.level, LOG.propagate
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    LOG.propagate = False
    try:
        yield
    except SystemExit as end:
        log_event(logging.INFO, "run-end", exit_code=end.code)
        raise
    except NetdynoError as error:
        log_event(logging.ERROR, "run-refused", text=error.message)
        raise
    finally:
        LOG.removeHandler(handler)
        LOG.level, LOG.propagate = before
        with suppress(OSError):
            handler.stream.close()


def _open_log(path: Path) -> int:
    """The descriptor of a file or a device. A FIFO would wait for its reader, and is refused."""
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise click.UsageError(f"--log-file: {path}: {error.strerror}") from error
    mode = os.fstat(number).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
        os.close(number)
        raise click.UsageError(f"--log-file: {path}: it is not a regular file")
    os.set_blocking(number, True)
    return number


class _Lasting(logging.StreamHandler[TextIO]):
    """A handler whose file may fail, as on a full disk: that is reported once, and the run goes on."""

    failed = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, Python's own name
        """Reports that the file cannot be written."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self.failed:
            self.failed = True
            print(f"warning: log file: {error.strerror or error}", file=sys.stderr)


class Logged:
    """A view that logs what happens and passes it on to another one."""

    def __init__(self, view: Watcher) -> None:
        self.view = view
        self.cases: Mapping[int, Case] = {}
        self.waiting: dict[int, str] = {}

    def begin(self, plan: Plan, cases: Sequence[Case], already: int) -> None:
        """Logs which run begins."""
        log_event(logging.INFO, "run-begin", title=plan.title, cases=len(cases), already=already)
        self.cases = {case.number: case for case in cases}
        self.view.begin(plan, cases, already)

    def event(self, event: Event) -> None:
        """Logs an event, but not each look at a trial."""
        number = event.case
        match event:
            case Wired():
                log_event(logging.INFO, "case-begin", case=number, name=self.cases[number].name)
            case Waiting():
                if self.waiting.get(number) != event.why:
                    log_event(logging.INFO, "waiting", case=number, trial=event.trial, text=event.why)
                self.waiting[number] = event.why
            case TrialEnded():
                self.waiting.pop(number, None)
                _log_trial(event)
            case Measured():
                limits = ",".join(dict.fromkeys(verdict.limit for verdict in event.verdicts))
                log_event(logging.INFO, "case-end", case=number, state="done", limits=limits)
                for goal in event.goals:
                    level = logging.INFO if goal.passed else logging.WARNING
                    passed = {True: "yes", False: "no", None: "unknown"}[goal.passed]
                    log_event(level, "goal", case=number, name=goal.name, passed=passed)
            case Failed():
                log_event(
                    logging.ERROR,
                    "case-end",
                    case=number,
                    state="failed",
                    code=event.error.code,
                    text=event.error.message,
                )
            case Interrupted():
                log_event(logging.WARNING, "case-end", case=number, state="interrupted")
        self.view.event(event)

    def tick(self) -> None:
        """Passes it on."""
        self.view.tick()

    def stopping(self, *, is_configured: bool) -> None:
        """Logs that the run was asked to end. is_configured: a device is, which is undone first."""
        log_event(logging.WARNING, "run-stopping")
        self.view.stopping(is_configured=is_configured)

    def end(self) -> None:
        """Passes it on."""
        self.view.end()


def _log_trial(event: TrialEnded) -> None:
    trial = event.trial
    found: dict[str, object] = {}
    if trial.result.invalid:
        found["reasons"] = ",".join(dict.fromkeys(reason.code for reason in trial.result.invalid))
        found["text"] = "; ".join(dict.fromkeys(map(str, trial.result.invalid)))
    log_event(
        LEVELS[trial.state],
        "trial-end",
        case=event.case,
        trial=trial.number,
        name=trial.name,
        attempt=trial.attempt + 1,
        state=trial.state,
        **found,
    )
