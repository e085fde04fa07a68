"""The load test JSON of IPng, which trex-loadtest-viz draws: its words, and what T-Rex's profiles send.

A file has one ramp: `vars`, how it was asked for, and `stats`, a sample a second in order of time. A sample
has the rates of ports 0 and 1; what port 0 sends comes back at port 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import starmap

from netdyno.errors import Problem, Problems
from netdyno.values.mixes import MIXES, Mix, fixed, mix_of_text

SECOND = 10**9
"""A sample, ns."""
PORTS = ("0", "1")
LOADS, DURATIONS = ("warmup_mult", "rampup_target"), ("warmup_duration", "rampup_duration", "hold_duration")
PROFILE, ONE_WAY = "profile_file", "unidirectional"
"""Keys of `vars`; a reader can do without the last one."""
RATES = ("tx_pps", "rx_pps", "tx_util", "rx_util")
"""Of each port: frames a second, and the share of the line (L1) per cent."""

PROFILES: Mapping[str, Mix] = {"imix.py": MIXES["imix/trex"], "udp_1pkt_simple_bdir.py": fixed(64)}
"""Profiles that come with T-Rex, UDP over IPv4, by file; a reader gives these names of their own."""
_SUFFIX = ".py"


def profile_file(sizes: Sequence[tuple[int, int]]) -> str:
    """The profile that stands for frame sizes with weights: T-Rex's own, or `512B.py`, `imix-bench.py`,
    `64:7,594:4.py`."""
    parts = _in_lowest_terms(sizes)
    for name, mix in PROFILES.items():
        if parts == _in_lowest_terms(mix.weights):
            return name
    for name, mix in MIXES.items():
        if parts == _in_lowest_terms(mix.weights):
            return f"{name.replace('/', '-')}{_SUFFIX}"
    if len(parts) == 1:
        return f"{parts[0][0]}B{_SUFFIX}"
    return f"{','.join(starmap('{}:{}'.format, sizes))}{_SUFFIX}"


def mix_of(profile: str) -> Mix | None:
    """What a profile sends; None: its name does not say."""
    if profile in PROFILES:
        return PROFILES[profile]
    stem = profile.removesuffix(_SUFFIX)
    for name, mix in MIXES.items():
        if stem == name.replace("/", "-"):
            return mix
    with suppress(Problem, Problems):
        return mix_of_text(stem)
    return None


def _in_lowest_terms(sizes: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    common = math.gcd(*(weight for _, weight in sizes))
    return tuple((size, weight // common) for size, weight in sizes)
