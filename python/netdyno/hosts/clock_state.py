"""What keeps a host's clock: chrony or ptp4l, as their own programs say."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from netdyno.values.host_facts import ClockState

ANSWER_S = 2.0
SEARCH = f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin:/sbin"
"""Services start with a PATH without the folders of these programs."""
_CHRONY = ("chronyc", "-c", "tracking")
_PTP = ("pmc", "-u", "-b", "0", "GET TIME_STATUS_NP")
_NO_SOURCE = "Not synchronised"
_OFFSET = re.compile(r"master_offset\s+(-?\d+)")
_PRESENT = re.compile(r"gmPresent\s+true")


def read_clock_state() -> ClockState:
    """What keeps the clock of the host that this runs on. Changes nothing."""
    hardware = tuple(sorted(str(path) for path in Path("/dev").glob("ptp[0-9]*")))
    return parse_clock_state(_printed(_CHRONY), _printed(_PTP), hardware)


def parse_clock_state(chrony: str, ptp: str, hardware: tuple[str, ...] = ()) -> ClockState:
    """chrony, ptp: what `chronyc -c tracking` and `pmc 'GET TIME_STATUS_NP'` printed; empty: no answer."""
    # PTP first: where both run, chrony leaves the clock to phc2sys.
    offset = _OFFSET.search(ptp)
    if offset is not None and _PRESENT.search(ptp):
        return ClockState("PTP", int(offset[1]), hardware)
    fields = chrony.strip().split(",")
    if len(fields) >= 14:
        # `System time` is what chrony would still add to the clock.
        far_ns = None if fields[-1] == _NO_SOURCE else round(-float(fields[4]) * 1e9)
        return ClockState("chrony", far_ns, hardware)
    return ClockState("PTP" if offset is not None else "", None, hardware)


def _printed(command: Sequence[str]) -> str:
    """What a program prints; empty: it is not there, does not answer in time, or fails."""
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=ANSWER_S,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": SEARCH, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ended.stdout if ended.returncode == 0 else ""
