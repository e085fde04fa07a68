"""`netdyno new`: the plan passes `check` without an edit, and the questions are few."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from campaigns import ENVIRONMENT
from commands import said
from netdyno.cli.quick import DEFAULT_LINE
from netdyno.devices.own_router import ROUTERS, find
from netdyno.plan import load
from netdyno.plan.first import ROUTER_TEXT, UNDO_TEXT
from netdyno.ports import listing, proposed
from netdyno.values.units import L1Rate

GIVEN = ("--yes", "--force", "--ports", "eth8,eth9")
"""Interfaces that no machine of a test has."""


def router_text(printed: str) -> str:
    """What `netdyno new` says is to be entered on the router."""
    lines = printed.split("\n3. ")[1].split("\n", 2)[2]
    return lines.split("\n\n")[0] + "\n"


@pytest.mark.parametrize("options", [(), ("--vlan", "10,20")], ids=["untagged", "tagged"])
@pytest.mark.parametrize("router", ROUTERS)
def test_plan_for_each_router_passes_check_without_an_edit(
    router: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    host = ("--host", "lab@192.0.2.1") if ROUTERS[router].driver else ()
    made = said("new", "r.yaml", *GIVEN, "--router", router, *options, *host, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    checked = said("check", "r.yaml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert "4 cases" in checked.stdout
    plan = (tmp_path / "r.yaml").read_text()
    within = [line.removeprefix(ROUTER_TEXT) for line in plan.splitlines() if line.startswith(ROUTER_TEXT)]
    assert "\n".join(within) + "\n" == router_text(made.stdout)
    undo = [line.removeprefix(UNDO_TEXT) for line in plan.splitlines() if line.startswith(UNDO_TEXT)]
    assert undo == made.stdout.split("\n6. ")[1].splitlines()[2:]
    for wanted in ("100.64.0.1", "100.64.1.1", "198.18.0.0", "198.19.0.0", *options[1:]):
        assert wanted.partition(",")[0] in router_text(made.stdout)
    assert ("untested" in made.stdout) == (ROUTERS[router].proof == "none")


@pytest.mark.parametrize("router", [one.name for one in ROUTERS.values() if one.proof == "stand-in"])
def test_plan_whose_router_is_read_can_be_rehearsed_on_its_stand_in(router: str, tmp_path: Path) -> None:
    host = ("--host", "lab@192.0.2.1")
    assert said("new", "r.yaml", *GIVEN, "--router", router, *host, cwd=tmp_path).returncode == 0
    only = ("--only", "profile=large", "--only", "direction=uni")
    ran = said(
        "run",
        "r.yaml",
        "--rehearse",
        "--scale",
        "1/100",
        "--set",
        "method.ramp.then=null",
        *only,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    (run,) = (tmp_path / "runs").iterdir()
    (case,) = json.loads(said("report", str(run), "--as", "json", cwd=tmp_path).stdout)["cases"]
    assert case["balance"]["code"] == "every-frame-accounted"


@pytest.mark.parametrize("router", ROUTERS)
def test_plan_with_a_lag_passes_check_and_prints_its_side(router: str, tmp_path: Path) -> None:
    given = ("--yes", "--force", "--ports", "eth7,eth8+eth9", "--router-ports", "p1,p2+p3")
    made = said("new", "r.yaml", *given, "--router", router, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    checked = said("check", "r.yaml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert ROUTERS[router].lag.format(2) in router_text(made.stdout)
    (lag,) = (link for link in load(tmp_path / "r.yaml").lab.links if link.lag)
    assert lag.interfaces == ("eth8", "eth9")
    assert lag.device_ports == tuple(map(ROUTERS[router].plan_name, ("p2", "p3")))


def test_plan_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("mine")
    done = said("new", "r.yaml", "--yes", "--ports", "eth8,eth9", cwd=tmp_path)
    assert done.returncode == 2
    assert (tmp_path / "r.yaml").read_text() == "mine"


def test_new_without_a_terminal_names_each_missing_flag(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "netdyno", "new", "--router", "ios", "--force"],
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert not [*tmp_path.iterdir()]
    for flag in ("--ports", "--router-ports", "--addresses", "--vlan", "--host"):
        assert flag in done.stderr
    assert "--router " not in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--ports", "lo,eth9"),
        ("--ports", "eth8"),
        ("--router", "cisco"),
        ("--router-ports", "p1,p1"),
        ("--router-ports", "p1,p2+p3"),
        ("--router-ports", "p1,p2+p2"),
        ("--ports", "eth8,eth9+"),
        ("--router-ports", "Gi0/0,GigabitEthernet0/0", "--router", "ios"),
        ("--addresses", "10.0.0.1/24,10.0.0.2/24"),
        ("--addresses", "10.0.0.1,10.0.1.1"),
        ("--addresses", "10.0.0.1/32,10.0.1.1/32"),
        ("--addresses", "10.0.0.0/24,10.0.1.1/24"),
        ("--addresses", "127.0.0.1/8,10.0.1.1/30"),
        ("--addresses", "198.18.3.1/30,10.0.1.1/30"),
        ("--addresses", "2001:db8::1/64,2001:db8:1::1/64"),
        ("--vlan", "4095"),
        ("--host", "192.0.2.1", "--router", "junos"),
        ("--host", "192.0.2.1", "--router", "ios", "--no-driver"),
        ("--rate", "fast"),
    ],
)
def test_answer_that_is_none_is_refused_and_nothing_written(options: tuple[str, ...], tmp_path: Path) -> None:
    given = GIVEN if options[0] != "--ports" else ("--yes",)
    done = said("new", "r.yaml", *given, *options, cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert not [*tmp_path.iterdir()]


def test_line_that_no_interface_tells_is_the_one_that_send_assumes(tmp_path: Path) -> None:
    assert said("new", "r.yaml", *GIVEN, cwd=tmp_path).returncode == 0
    plan = load(tmp_path / "r.yaml")
    assert {link.rate_bps for link in plan.lab.links} == {int(L1Rate.parse(DEFAULT_LINE).amount)}


@pytest.mark.parametrize("carrier", [True, False, None])
def test_interface_without_a_carrier_is_named_beside_the_cables(
    carrier: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lo,) = (one for one in listing.look() if one.nic.link.loopback)
    nic = replace(lo.nic, link=replace(lo.nic.link, name="eth8", carrier=carrier))
    monkeypatch.setattr(proposed, "see", lambda: [proposed.Seen(replace(lo, nic=nic))])
    made = said("new", "r.yaml", *GIVEN, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    cables = made.stdout.split("\n2. ")[1].split("\n3. ")[0]
    assert ("no carrier at eth8" in cables) == (carrier is False)


@pytest.mark.parametrize(
    ("written", "tester", "gateway"),
    [
        ("10.0.1.1 255.255.255.0, 10.0.2.1/24", "10.0.1.2/24", "10.0.1.1"),
        ("10.0.1.2/30 10.0.2.2/30", "10.0.1.1/30", "10.0.1.2"),
        ("10.0.1.0/31,10.0.1.2/31", "10.0.1.1/31", "10.0.1.0"),
    ],
)
def test_tester_has_the_first_other_address_of_the_router_s_network(
    written: str, tester: str, gateway: str, tmp_path: Path
) -> None:
    made = said("new", "r.yaml", *GIVEN, "--addresses", written, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    west, _ = load(tmp_path / "r.yaml").lab.links
    assert (west.address, west.gateway) == (tester, gateway)


@pytest.mark.parametrize(
    ("name", "found"),
    [("MikroTik", "routeros"), ("iosxe", "ios-xe"), ("cisco_iosxr", "ios-xr"), ("Juniper", "junos")],
)
def test_router_is_found_by_other_names_that_it_has(name: str, found: str) -> None:
    assert find(name).name == found


@pytest.mark.parametrize(
    ("router", "written", "plain", "printed"),
    [
        ("ios", "gi0/0", "Gi0/0", "GigabitEthernet0/0"),
        ("fsos", "TenGigabitEthernet 0/1", "Te0/1", "TenGigabitEthernet 0/1"),
        ("routeros", "sfp-sfpplus1", "sfp-sfpplus1", "sfp-sfpplus1"),
    ],
)
def test_port_of_a_router_is_one_word_in_the_plan(
    router: str, written: str, plain: str, printed: str
) -> None:
    system = ROUTERS[router]
    assert system.plan_name(written) == plain
    assert system.long_name(plain) == printed


def test_questions_at_a_terminal_are_six_at_most_each_with_a_proposal(tmp_path: Path) -> None:
    """All but the first, which no interface of this machine may be proposed for, are answered by Enter."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "netdyno", "new", "--force"],
        env={**ENVIRONMENT, "COLUMNS": "80", "LINES": "24"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=tmp_path,
        start_new_session=True,
    ) as program:
        os.close(theirs)
        shown, asked = "", []
        answers = ["eth8,eth9", "cisco", "ios", "", "", "4095", "", ""]
        for answer in answers:
            # Questions and refused answers both end with a prompt.
            while not (at := re.search(r"(\d)\. [^\n]*: \Z", shown)):
                shown += os.read(ours, 4096).decode().replace("\r\n", "\n")
            asked.append(at[1])
            os.write(ours, f"{answer}\n".encode())
            shown += "\n"
        try:
            while piece := os.read(ours, 4096):
                shown += piece.decode().replace("\r\n", "\n")
        except OSError:
            pass  # The program has gone.
        os.close(ours)
        assert program.wait(30) == 0, shown
    assert asked == ["1", "2", "2", "3", "4", "5", "5", "6"]
    checked = said("check", "router.yaml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
