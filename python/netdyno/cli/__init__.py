"""The command line. `main` is what `netdyno` and `python -m netdyno` start.

Importing this package imports nothing that Python has not loaded at its start, so that Ctrl-C has a meaning
before the rest is loaded: `signal` alone takes milliseconds, what it is made of none.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

__all__ = ["main"]

INTERRUPTED = b"interrupted: nothing was measured and nothing was changed\n"


def main() -> NoReturn:
    """Runs the command line and exits with its code."""
    # Whoever started us with SIGINT ignored (a shell's `&`) meant it.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end_at_once)
    from netdyno.cli.app import main as command_line

    try:
        command_line()
    finally:
        # The exit code is decided. Python's own end would give signals back what they mean to any process.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_IGN)


def _end_at_once(number: int, frame: FrameType | None) -> None:
    """Ends the process where there is nothing to undo. An exception could be lost inside an import, and a
    second one would end in a traceback."""
    try:
        os.write(2, INTERRUPTED)
    finally:
        os._exit(130)
