"""What is put back on this machine even if this process is killed."""

from __future__ import annotations

import subprocess

from netdyno.devices.linux.programs import SEARCH, tool

SCRIPT = """read -r _
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  "$@" && exit 0
  sleep 0.1
done
exit 1"""
"""Waits for the end of its input, then does it; an interface that is a host's comes back a moment later."""


class PutBack:
    """A process that runs an `ip` command when it is asked to, or when this process ends, however it ends.

    Started in this network namespace. arguments: of `ip`.
    """

    def __init__(self, *arguments: str) -> None:
        # A session of its own, so that a Ctrl-C in the terminal leaves it alone.
        self._process = subprocess.Popen(
            [tool("sh"), "-c", SCRIPT, "sh", "ip", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": SEARCH, "LC_ALL": "C"},
            start_new_session=True,
        )

    def run(self) -> bool:
        """Runs the command now, and whether that worked. To be called once."""
        self._process.communicate()
        return self._process.returncode == 0
