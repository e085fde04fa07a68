"""A limit of time that no `except` of the program under test can catch."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooSlowError(BaseException):
    """No `except` of the program may catch it."""


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raises TooSlowError in the block after so many seconds."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
