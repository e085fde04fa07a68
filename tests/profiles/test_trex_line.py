"""The line of T-Rex's console: ports, multipliers, times, and where tunables end."""

from __future__ import annotations

import shlex
from fractions import Fraction

import pytest
from netdyno.errors import Problem
from netdyno.profiles.console import duration, multiplier, split_ports, split_tunables
from netdyno.profiles.plan import Multiplier


@pytest.mark.parametrize(
    ("line", "left", "tunables"),
    [
        ("-f b.py -m 100% -d 60 -t size=64,vm=var2", "-f b.py -m 100% -d 60", ["size=64,vm=var2"]),
        ("-f b.py -t size=64,vm=var2 -d 60 --port 0", "-f b.py -d 60 --port 0", ["size=64,vm=var2"]),
        ("-f b.py -d 5 -t --size 64 -d 60", "-f b.py -d 5", ["--size", "64", "-d", "60"]),
        ("-f b.py", "-f b.py", []),
    ],
)
def test_tunables_end_with_an_option_or_the_line(line: str, left: str, tunables: list[str]) -> None:
    assert split_tunables(shlex.split(line)) == (shlex.split(left), tuple(tunables))


def test_ports_are_the_numbers_behind_their_option() -> None:
    assert split_ports(["-p", "1", "0", "-d", "5"]) == (["-d", "5"], (0, 1))
    assert split_ports(["--port", "0.prof1", "eth1"]) == (["eth1"], (0,))
    assert split_ports(["-d", "5"]) == (["-d", "5"], None)
    with pytest.raises(Problem):
        split_ports(["-p", "0", "1", "2", "3"])


@pytest.mark.parametrize(
    ("text", "ports", "found"),
    [
        ("2", 1, Multiplier(Fraction(2))),
        ("50%", 1, Multiplier(load="50%")),
        ("100%", 2, Multiplier(load="50%")),
        ("30mpps", 1, Multiplier(load="30000000pps")),
        ("2.5kpps", 1, Multiplier(load="2500pps")),
        ("10gbps", 1, Multiplier(load="10000000000bps L2")),
        ("10gbpsl1", 1, Multiplier(load="10000000000bps")),
    ],
)
def test_multiplier_is_a_factor_or_a_load(text: str, ports: int, found: Multiplier) -> None:
    assert multiplier(text, ports) == found


def test_time_and_multiplier_that_t_rex_does_not_know_are_refused() -> None:
    assert [duration(one) for one in ("60", "10m", "1h", "2.5")] == ["60s", "10min", "1h", "2.5s"]
    for wrong in (lambda: duration("1d"), lambda: multiplier("10MPPS"), lambda: multiplier("0")):
        with pytest.raises(Problem):
            wrong()
