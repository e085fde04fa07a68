"""stdout and stderr that outlive their readers: a pipe that was closed, a closed descriptor, any encoding."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TextIO

_GONE = (errno.EPIPE, errno.EIO)
"""What a write says when its reader has gone: a pipe's, and a terminal's."""


class _Lasting(io.FileIO):
    """Descriptor 1 or 2. When nobody reads it any more, what is written goes nowhere and is no error."""

    def write(self, data: object) -> int:
        """The number of bytes written, also where nobody reads them."""
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError as error:
            # stderr has only words about the work; stdout has data, and a full disk must be reported.
            if self.fileno() == 2 or error.errno in _GONE:
                _to_nowhere(self.fileno())
                return len(memoryview(data))  # type: ignore[arg-type]
            error.filename = "stdout"
            raise


def prepare() -> None:
    """Gives the process a stdin, a stdout and a stderr that can be used whatever it was started with.

    A descriptor that is closed would be taken by the next file that is opened. A character that the stream's
    encoding does not have is written as an escape.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            _to_nowhere(number)
    sys.stdout = _as_lasting_stream(sys.stdout, sys.__stdout__, 1)
    sys.stderr = _as_lasting_stream(sys.stderr, sys.__stderr__, 2)


def discard_what_fails() -> None:
    """Discards what stdout holds and cannot write: at its end Python would try again, and exit with 120."""
    try:
        sys.stdout.flush()
    except OSError:
        _to_nowhere(1)


def _as_lasting_stream(stream: TextIO | None, original: TextIO | None, number: int) -> TextIO:
    """A stream on the descriptor; the given one if somebody has put it in the place of the original."""
    if stream is not original:
        assert stream is not None
        return stream
    if stream is not None:
        stream.flush()
    raw = _Lasting(number, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding="utf-8" if stream is None else stream.encoding,
        errors="backslashreplace",
        line_buffering=number == 2 or raw.isatty(),
    )


def _to_nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere == number:
        os.set_inheritable(number, True)
        return
    os.dup2(nowhere, number)
    os.close(nowhere)
