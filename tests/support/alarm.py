"""A limit of time that no `except` of the program under test can catch."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooSlowError(BaseException):
    """No `except` of the program may catch it."""


WAITING = 5
"""A block may take so many times its processor time in all: a busy machine, but no wait without an end."""


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raises TooSlowError in the block after so many seconds of processor time."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TooSlowError

    before = {number: signal.signal(number, late) for number in (signal.SIGALRM, signal.SIGPROF)}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(WAITING * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)
