"""The line that users of T-Rex's console type: `start -f stl/bench.py -m 100% --port 0 1 -t size=64`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from netdyno.errors import Problem
from netdyno.profiles.plan import Multiplier

TUNABLES = ("-t", "--tunables")
OPTIONS = frozenset(
    (
        *(
            "-f",
            "--file",
            "-p",
            "--port",
            "--ports",
            "-m",
            "--mult",
            "-d",
            "--duration",
            "--total",
            "--force",
        ),
        *("--pin", "--core_mask", "--sync", "--dry", "--interfaces", "--via", "--address", "--line"),
        *("--library", "--exact", "--plan", "--out"),
    )
)
"""The options that end tunables in the form `a=1,b=x`: T-Rex itself takes all that follows `-t`."""
PREFIXES = {"": 1, "k": 1000, "m": 10**6, "g": 10**9}
UNITS = {"pps": "pps", "bps": "bps L2", "bpsl1": "bps"}
"""T-Rex's bit/s are of L2, netdyno's of L1 unless said."""


def split_tunables(words: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The words of a line without tunables, and these.

    Behind `-t a=1,b=x` known options are the line's again; behind `-t --x ...` everything is the profile's.
    """
    at = next((index for index, word in enumerate(words) if word in TUNABLES), None)
    if at is None:
        return list(words), ()
    behind = list(words[at + 1 :])
    if behind and behind[0].startswith("-") and behind[0] not in OPTIONS:
        return list(words[:at]), tuple(behind)
    end = next((index for index, word in enumerate(behind) if word in OPTIONS), len(behind))
    return [*words[:at], *behind[end:]], tuple(behind[:end])


def split_ports(words: Sequence[str]) -> tuple[list[str], tuple[int, ...] | None]:
    """The words of a line without `--port 0 1`, and the ports; None: it names none. Raises Problem."""
    left: list[str] = []
    found: list[int] | None = None
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word not in ("-p", "--port", "--ports"):
            left.append(word)
            continue
        found = found or []
        while rest and re.fullmatch(r"[0-9]+(\.[A-Za-z0-9_*]+)?", rest[0]):
            found.append(int(rest.pop(0).partition(".")[0]))
    if found is not None and not (set(found) <= {0, 1} and found):
        raise Problem(
            f"--port {' '.join(map(str, found))}: netdyno knows T-Rex's ports 0 and 1",
            "a pair of ports at a time: `--port 0 1` is the first interface and the second",
            code="unsupported",
        )
    return left, None if found is None else tuple(sorted(set(found)))


def multiplier(text: str, ports: int = 1) -> Multiplier:
    """T-Rex's `-m`: `2`, `50%`, `30mpps`, `10gbps`, `10gbpsl1`. ports: among which it is divided.

    Raises Problem.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(?:([kmg]?)(pps|bpsl1|bps)|(%)|([kmg]?))", text)
    if match is None or not Fraction(match[1]):
        raise Problem(
            f"-m: `{text[:40]}` is no multiplier of T-Rex",
            "a factor `2`, or a load: `50%`, `30mpps`, `10gbps`, `10gbpsl1`",
            code="wrong-format",
        )
    value = Fraction(match[1]) / ports
    if match[4]:
        return Multiplier(load=f"{_decimal(value)}%")
    if match[3]:
        return Multiplier(load=f"{_decimal(value * PREFIXES[match[2]])}{UNITS[match[3]]}")
    return Multiplier(value * PREFIXES[match[5] or ""])


def duration(text: str) -> str:
    """T-Rex's `-d`: seconds, `10m`, `1h`. Raises Problem."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh]?)", text)
    if match is None or not Fraction(match[1]):
        raise Problem(f"-d: `{text[:40]}` is no time", "seconds, `10m` or `1h`", code="wrong-format")
    return match[1] + {"m": "min", "h": "h"}.get(match[2], "s")


def _decimal(value: Fraction) -> str:
    return f"{float(value):.9f}".rstrip("0").rstrip(".")
