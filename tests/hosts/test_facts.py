"""What a host says of its clock, as chronyc 4.3 and pmc 3.1.1 printed it; the table of hosts."""

from __future__ import annotations

import os
import subprocess

import pytest
from netdyno.hosts.clock_state import parse_clock_state
from netdyno.hosts.facts import read_host
from netdyno.reports.model.hosts_table import describe_clock, describe_processor
from netdyno.values.host_facts import ClockState, HostFacts

CHRONY = (
    "7F000001,127.0.0.1,3,1796039035.677040751,-0.000001488,0.000000615,0.000000384,-0.099,0.569,0.168,"
    "0.000005237,0.000001543,0.3,Normal\n"
)
"""Beside it `chronyc tracking` printed `System time: 0.000001488 seconds fast of NTP time`."""
NO_SOURCE = (
    "00000000,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,1.000000000,1.000000000,"
    "0.0,Not synchronised\n"
)
PTP = """sending: GET TIME_STATUS_NP
\tb64bf9.fffe.f0ae42-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP
\t\tmaster_offset              {offset}
\t\tingress_time               0
\t\tgmPresent                  {present}
\t\tgmIdentity                 b64bf9.fffe.f0ae42
"""
ALONE, LED = PTP.format(offset=0, present="false"), PTP.format(offset=-12, present="true")


@pytest.mark.parametrize(
    ("chrony", "ptp", "state"),
    [
        (CHRONY, "", ClockState("chrony", 1488)),
        (NO_SOURCE, "", ClockState("chrony", None)),
        ("", LED, ClockState("PTP", -12)),
        ("", ALONE, ClockState("PTP", None)),
        (CHRONY, ALONE, ClockState("chrony", 1488)),
        (CHRONY, LED, ClockState("PTP", -12)),
        ("506 Cannot talk to daemon\n", "sending: GET TIME_STATUS_NP\n", ClockState("")),
    ],
)
def test_clock_state_is_that_of_the_program_with_a_source(chrony: str, ptp: str, state: ClockState) -> None:
    assert parse_clock_state(chrony, ptp) == state


def test_clock_without_a_keeper_names_unused_hardware() -> None:
    assert "/dev/ptp0" in describe_clock(ClockState("", None, ("/dev/ptp0",)))
    assert "/dev" not in describe_clock(ClockState(""))


def test_facts_of_this_host_are_those_of_its_tools() -> None:
    found = read_host("gen1", [("west", "lo"), ("east", "nosuch")])
    assert found.cores == int(subprocess.check_output(["nproc"], env={"PATH": os.environ["PATH"]}))
    assert found.kernel == subprocess.check_output(["uname", "-r"], text=True).strip()
    lo, missing = found.ports
    assert (lo.name, lo.interface, lo.mtu) == ("west", "lo", 65536)
    assert {"GRO", "GSO", "TSO"} >= set(lo.offloads) >= {"GSO"}
    assert (missing.mtu, missing.offloads) == (None, ())


def test_processor_names_usable_cores_where_they_are_fewer() -> None:
    host = HostFacts("gen1", "8 x Xeon", 8, "6.1", ClockState(""), ())
    assert describe_processor(host) == "8 x Xeon"
    fewer = HostFacts("gen1", "8 x Xeon", 2, "6.1", ClockState(""), ())
    assert describe_processor(fewer) == "8 x Xeon, 2 usable"
