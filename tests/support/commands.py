"""The command line, in this process, which has imported all; or as a program of its own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from campaigns import ENVIRONMENT
from netdyno.cli.app import main


def netdyno(
    *arguments: object, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs a program: for what belongs to a process, such as its descriptors and its start."""
    return subprocess.run(
        [sys.executable, "-m", "netdyno", *map(str, arguments)],
        env={**ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        cwd=cwd,
    )


def said(
    *arguments: object, cwd: Path | None = None, environment: Mapping[str, str] | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """The same in this process. environment: in place of this process's; more: variables beside it."""
    written = ["netdyno", *map(str, arguments)]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        for name in {*os.environ} - {*environment} if environment is not None else ():
            patch.delenv(name)
        for name, value in {**(environment or {}), **more}.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", written)
        with pytest.raises(SystemExit) as ended:
            main()
    assert isinstance(ended.value.code, int)
    printed = []
    for stream in (out, err):
        stream.seek(0)
        printed.append(stream.read())
    return subprocess.CompletedProcess(written, ended.value.code, *printed)


HELD = """\
import os, sys, time
from importlib import import_module
exec(sys.argv.pop(1))
module, _, function = sys.argv.pop(1).partition(":")
def wait(*_, **__):
    os.write(1, b"!")
    time.sleep(600)
setattr(import_module(module), function, wait)
from netdyno.cli import main
main()
"""


@contextlib.contextmanager
def held(at: str, *arguments: object, before: str = "") -> Iterator[subprocess.Popen[str]]:
    """A program that has come to a function (`module:name`) and waits there for a signal. before: its first
    statements."""
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, before, at, *map(str, arguments)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.read(1) == "!", process.communicate()
        yield process
    finally:
        process.kill()
        process.communicate()
