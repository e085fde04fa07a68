"""Signals that end a run: in order at first, at once when repeated, and with a true last word after it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Protocol

EXIT_CODE = 130
OUT_OF_TIME = 124
"""The exit code of a run that its time limit ended, as of `timeout` (GNU coreutils)."""


class _Stoppable(Protocol):
    def stop(self) -> None: ...
    def kill(self) -> None: ...


class Interrupts:
    """Handles SIGINT, SIGTERM and SIGHUP from `install` on, without exceptions.

    While there are workers the first signal stops them in order and the second kills them; while a device is
    configured, the third. After `end_with` a signal prints the given words and ends the process. A time limit
    that has passed counts as the first signal.
    """

    def __init__(self) -> None:
        self.seen: list[int] = []
        """Signals that have come."""
        self.is_undo_awaited = False
        """Whether a signal came again and the workers go on, for they undo a configuration."""
        self.is_out_of_time = False
        """Whether the time limit has passed before a signal came."""
        self._ends_s: float | None = None
        self._workers: _Stoppable | None = None
        self._is_configured: Callable[[], bool] = bool
        self._undoing: tuple[bytes, bytes] | None = None
        self._words: bytes | None = None
        self._before: dict[int, Any] = {}
        self._terminals = [stream for stream in (sys.stdout, sys.stderr) if stream.isatty()]

    @property
    def is_stopping(self) -> bool:
        """Whether the run is to end: a signal has come, or its time limit has passed."""
        return bool(self.seen) or self.is_out_of_time

    @property
    def exit_code(self) -> int:
        """That of a run which ends early."""
        return EXIT_CODE if self.seen else OUT_OF_TIME

    def limit(self, seconds: float) -> None:
        """Sets the time limit, from now."""
        self._ends_s = time.monotonic() + seconds

    def look_at_clock(self) -> None:
        """Stops the workers in order if the time limit has passed."""
        if self._ends_s is not None and time.monotonic() >= self._ends_s and not self.is_stopping:
            self.is_out_of_time = True
            if self._workers is not None:
                self._workers.stop()

    def install(self) -> None:
        """Takes the signals over. Safe to call twice."""
        if self._before:
            return
        numbers = [signal.SIGINT, signal.SIGTERM]
        # Under nohup a hang-up is to be survived.
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        for number in numbers:
            self._before[number] = signal.signal(number, self._handle)

    def restore(self) -> None:
        """Restores the signal handlers of before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    @contextmanager
    def stopping(self, workers: _Stoppable, is_configured: Callable[[], bool] = bool) -> Iterator[None]:
        """Signals go to these workers; so does one that has come before.

        is_configured: whether a device has a configuration that they undo before they end.
        """
        self._workers, self._is_configured = workers, is_configured
        if self.is_stopping:
            workers.stop()
        try:
            yield
        finally:
            self._workers = None

    @contextmanager
    def undoing(self, goes_on: str, left: str) -> Iterator[None]:
        """Two signals print `goes_on` and let what is undone inside end; a third prints `left` and ends the
        process with 130.
        """
        self._undoing = goes_on.encode(errors="backslashreplace"), left.encode(errors="backslashreplace")
        try:
            yield
        finally:
            self._undoing = None

    def end_with(self, words: str) -> None:
        """From now on a signal prints `words` on stderr and ends the process with 130."""
        self._words = words.encode(errors="backslashreplace")

    def ignore(self) -> None:
        """From now on a signal does nothing: the process is about to end."""
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.seen.append(number)
        for stream in self._terminals:
            if not stream.isatty():
                # The terminal was closed: what is still printed goes nowhere, and is no reason to fail.
                with open(os.devnull, "w") as nowhere:
                    os.dup2(nowhere.fileno(), stream.fileno())
        if self._words is not None:
            with suppress(OSError):
                os.write(2, self._words)
            os._exit(EXIT_CODE)
        if self._undoing is not None:
            goes_on, left = self._undoing
            with suppress(OSError):
                os.write(2, goes_on if len(self.seen) < 3 else left)
            if len(self.seen) >= 3:
                os._exit(EXIT_CODE)
        if self._workers is None:
            return
        if len(self.seen) == 1 and not self.is_out_of_time:
            self._workers.stop()
        # One hang-up may come twice: from the terminal and from the shell.
        elif number != signal.SIGHUP:
            if self._is_configured() and not self.is_undo_awaited:
                self.is_undo_awaited = True
            else:
                self._workers.kill()
