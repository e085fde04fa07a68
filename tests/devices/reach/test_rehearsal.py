"""A plan with its driver from the first login to the last undo, on a device that counts with the emulated."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from campaigns import wait_for
from fakes.fridge import Fridge, command_lines, fridge_in, texts_of
from fakes.lab import series_of
from fakes.server import PASSWORD, Faults
from netdyno.cli import check
from netdyno.devices.configure.gateways import find_absent, list_gateways
from netdyno.devices.reasons import GatewayAbsent
from netdyno.devices.wiring import LabLink

PLANTED = "planted-2"
ONE = {"l2-xconnect, bridge-domain, ipv4": "ipv4", "[plain, lacp]": "[plain]", "1/100": "1/1000"}


@pytest.fixture
def fridge(tmp_path: Path) -> Iterator[Fridge]:
    with fridge_in(tmp_path) as found:
        yield found


def test_case_of_each_template_is_configured_read_and_undone(fridge: Fridge) -> None:
    before = fridge.device.text()
    code, said = fridge.run("run", str(fridge.plan()))
    assert code == 0, said
    assert fridge.device.text() == before
    # One before the run begins, to wait for the device; one for all its cases.
    assert fridge.server.sessions == 2
    cases = fridge.cases()
    assert len(cases) == 6
    entered = {case["configuration"]["text"] for case in cases}
    assert len(entered) == 6
    for case in cases:
        assert case["configuration"]["version"] == "5.3.4"
        assert case["configuration"]["diff"]
        (trial,) = case["trials"]
        sent = trial["streams"][0]["offered_frames"]
        assert [path["from"] for path in case["balance"]["paths"]] == [["west"]]
        if case["settings"]["lag"] == "plain":
            assert case["balance"]["code"] == "every-frame-accounted"
        rx = series_of(case, "rx_packets")[0]["values"]
        # Beside the test frames the tester asks who its next hop is.
        assert sent <= rx[-1] - rx[0] <= sent + 8
        assert rx == sorted(rx)
        watts = [Fraction(str(one["values"][0])) for one in series_of(case, "power")]
        assert sum(watts) == Fraction("2219.3")


def test_dry_run_prints_what_would_be_entered_and_sends_nothing(fridge: Fridge) -> None:
    before = fridge.device.text()
    code, said = fridge.run("run", "--dry-run", str(fridge.plan()))
    assert code == 0, said
    assert said.count("bridge-domain bd01") == 2
    assert "configure terminal" not in fridge.server.lines
    assert fridge.device.text() == before


ROUTED = """\
interface TenGigE0/1/0/0
ipv4 address 100.64.0.1 255.255.255.252
interface TenGigE0/2/0/0
ipv4 address 100.64.1.1 255.255.255.252
router static
address-family ipv4 unicast
16.0.0.0/8 100.64.0.2
"""


def test_configuration_that_is_there_in_part_is_completed(fridge: Fridge) -> None:
    fridge.device.edit(ROUTED)
    before, path = fridge.device.text(), str(fridge.plan(**ONE))
    missing = "router static\n  address-family ipv4 unicast\n+  48.0.0.0/8 100.64.1.2\n"
    code, said = fridge.run("run", path)
    assert code == 0, said
    (case,) = fridge.cases()
    diff = case["configuration"]["diff"]
    assert [line.split() for line in diff.splitlines()] == [line.split() for line in missing.splitlines()]
    assert "100.64.0.1" in case["configuration"]["text"]
    assert not [line for line in fridge.server.lines if "address 100.64" in line]
    assert fridge.device.text() == before
    _, said = fridge.run("check", "--device", "--format", "json", path)
    assert list(json.loads(said)["changes"].values()) == [diff]


def test_configuration_that_is_there_whole_is_said_to_be(fridge: Fridge) -> None:
    fridge.device.edit(f"{ROUTED}48.0.0.0/8 100.64.1.2\n")
    before, path = fridge.device.text(), str(fridge.plan(**ONE))
    code, said = fridge.run("run", path)
    assert code == 0, said
    (case,) = fridge.cases()
    assert case["configuration"]["diff"] == ""
    assert "configuration-there" in json.dumps(case)
    assert "configure terminal" not in fridge.server.lines
    assert fridge.device.text() == before
    _, said = fridge.run("check", "--device", path)
    assert "the device has all of its configuration" in said
    _, said = fridge.run("run", "--dry-run", path)
    assert "the device has all of it" in said


@pytest.mark.parametrize(
    ("own", "absent"),
    [
        ("ipv4 address 100.64.0.1 255.255.255.252", ""),
        ("ipv4 address 100.64.0.5 255.255.255.252", "100.64.0.1"),
        ("description 100.64.0.1", "100.64.0.1"),
        ("ipv4 address dhcp", ""),
    ],
)
def test_gateway_that_no_interface_has_is_found(own: str, absent: str) -> None:
    """An address of a route or an ARP entry is no interface's; one that is assigned may be any."""
    reading = f"interface TenGigE0/1/0/0\n {own}\nrouter static\n 0.0.0.0/0 100.64.0.1\n"
    links = (LabLink("west", "Te0/1/0/0", 10**10, address="100.64.0.2/30", gateway="100.64.0.1"),)
    found = list(find_absent(list_gateways(links), reading))
    assert found == ([GatewayAbsent("west", absent)] if absent else [])


@pytest.mark.parametrize(("forwarding", "warned"), [("ipv4", True), ("bridge-domain", False)])
def test_looks_warn_of_a_gateway_that_the_device_lacks(forwarding: str, warned: bool, fridge: Fridge) -> None:
    """But not where the case bridges."""
    hop = "rate: 10Gbps, address: 100.64.7.2/30, gateway: 100.64.7.1, members: [Te0/1/0/1]"
    changes = {"rate: 10Gbps, members: [Te0/1/0/1]": hop, "[plain, lacp]": "[plain]"}
    path = str(fridge.plan(**changes, **{"l2-xconnect, bridge-domain, ipv4": forwarding}))
    _, said = fridge.run("check", "--device", "--format", "json", path)
    messages = [one["message"] for one in json.loads(said)["warnings"] if one["code"] == "gateway-absent"]
    assert messages == ([str(GatewayAbsent("west", "100.64.7.1"))] if warned else [])
    assert (str(GatewayAbsent("west", "100.64.7.1")) in fridge.run("run", "--dry-run", path)[1]) == warned


def test_check_of_the_device_prints_version_and_ports(fridge: Fridge) -> None:
    code, said = fridge.run("check", "--device", "--format", "json", str(fridge.plan()))
    assert code == 0, said
    found = json.loads(said)["device"]
    assert (found["driver"], found["version"]) == ("cisco_iosxr", "5.3.4")
    assert found["ports"] == dict.fromkeys(("Te0/1/0/0", "Te0/1/0/1", "Te0/2/0/0", "Te0/2/0/1"), "up")


def test_check_of_many_configurations_says_that_it_compares_some(
    fridge: Fridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_out = "only the first 1 configurations"
    monkeypatch.setattr(check, "MOST_COMPARED", 1)
    assert left_out in fridge.run("check", "--device", str(fridge.plan()))[1]
    assert left_out not in fridge.run("check", "--device", str(fridge.plan(**ONE)))[1]


def test_check_of_a_plan_of_less_than_a_second_prints_no_clock(fridge: Fridge) -> None:
    code, said = fridge.run("check", str(fridge.plan(**ONE)))
    assert code == 0, said
    assert "1 case, under 1 s if run in real time" in said


def test_check_of_a_device_that_lacks_a_port_fails(fridge: Fridge) -> None:
    del fridge.chassis.ports["Te0/2/0/1"]
    code, said = fridge.run("check", "--device", str(fridge.plan()))
    assert code == 3
    assert "the device has no port `Te0/2/0/1`" in said


def checked(fridge: Fridge, path: Path) -> tuple[int, list[tuple[str, str, int]]]:
    """Exit code of `check --device --format json`; code, path and line of each error."""
    code, said = fridge.run("check", "--device", "--format", "json", str(path))
    errors = json.loads(said)["errors"]
    assert all(one["message"] and one["hint"] and one["file"] == str(path) for one in errors)
    return code, [(one["code"], one["path"], one["line"]) for one in errors]


def test_check_as_json_has_what_fails_at_the_device(fridge: Fridge) -> None:
    plan = fridge.plan()
    del fridge.chassis.ports["Te0/2/0/1"]
    assert checked(fridge, plan) == (3, [("no-such-interface", "lab.nodes.dut", 5)])
    fridge.server.faults = Faults(never_takes=True)
    assert checked(fridge, plan) == (3, [("login-refused", "lab.nodes.dut", 5)])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
        plan = fridge.plan(**{f"port: {fridge.server.port}": f"port: {port}"})
        assert checked(fridge, plan) == (3, [("device-unreachable", "lab.nodes.dut", 5)])


def test_secret_is_in_no_file_output_or_command_line(fridge: Fridge) -> None:
    """Also not where the device itself prints it, or where a login fails. A template keeps its own."""
    fridge.chassis.leak = PASSWORD
    fridge.chassis.description = f"password {PLANTED}"
    fridge.device.edit(f"interface TenGigE0/1/0/0\ndescription password {PLANTED}")
    own = f"interface {{{{ ports[0] }}}}\n description {{{{ lag }}}} password {PLANTED} again\n!\n"
    (fridge.folder / "own.j2").write_text(own)
    plan = str(fridge.plan(**ONE, **{"asr9006-{forwarding}-{lag}": "own.j2"}))
    process = fridge.start("run", plan, "--report", "html", "--log-file", "log", "-v")
    seen = False
    while process.poll() is None:
        for line in command_lines():
            assert PASSWORD.encode() not in line
        seen = seen or bool(fridge.server.lines)
        time.sleep(0.1)
    said = process.communicate()[0]
    assert process.returncode == 0, said
    assert seen
    # What the device printed, and what was entered, is packed in the record.
    run = str(next((fridge.folder / "runs").iterdir()))
    code, texts = fridge.run("report", run, "--as", "transcript")
    assert (code, "Total:          2219.3" in texts) == (0, True)
    assert "Description: password ***\n" in texts
    (case,) = fridge.cases()
    assert " description plain password ***\n" in case["configuration"]["text"]
    said += texts + json.dumps(case)
    fridge.server.faults = Faults(never_takes=True)
    said += fridge.run("run", plan)[1] + fridge.run("check", "--device", plan)[1]
    assert PASSWORD not in said
    assert PLANTED not in said
    # What the device has for its own logins is in no record either.
    planted = (PASSWORD.encode(), b"$1$mtAn$x.y", PLANTED.encode())
    kept = {path.name for path, data in texts_of(fridge.folder) if any(word in data for word in planted)}
    assert kept == {"device.json", "own.j2"}
    (fridge.folder / "own.j2").unlink()
    assert {path.stat().st_mode & 0o777 for path in fridge.folder.rglob("own.j2")} == {0o600}


def test_check_warns_of_a_secret_in_a_template(fridge: Fridge) -> None:
    own = f"interface {{{{ ports[0] }}}}\n description {{{{ lag }}}}\n! password {PLANTED}\n"
    (fridge.folder / "own.j2").write_text(own)
    plan = str(fridge.plan(**{"asr9006-{forwarding}-{lag}": "own.j2"}))
    code, said = fridge.run("check", "--format", "json", plan)
    assert code == 0, said
    (warning,) = json.loads(said)["warnings"]
    assert warning["code"] == "secret-in-template"
    assert "own.j2:3 " in warning["message"]
    assert PLANTED not in said


def test_device_that_is_lost_under_load_keeps_the_traffic(fridge: Fridge) -> None:
    """Its series end, marked; the result stands; what is left there is said."""
    fridge.server.faults.lost_after = 90
    code, said = fridge.run("run", str(fridge.plan(**{**ONE, "1/100": "1/100"})), "-v")
    assert code in (0, 3), said
    assert "The device's readings end" in said
    assert "(`device-silent`)" in said
    first = fridge.cases()[0]
    assert first["state"] == "done"
    assert series_of(first, "rx_packets")[0]["missed"]


def test_interrupted_run_is_resumed_without_its_own_template(fridge: Fridge) -> None:
    """The run has kept what its plan named beside it."""
    before = fridge.device.text()
    own = fridge.folder / "own.j2"
    own.write_text("interface {{ ports[0] }}\n description {{ word }} {{ lag }}\n!\n")
    changes = {"asr9006-{forwarding}-{lag}": "own.j2", "  lag: [plain, lacp]": "  word: [one, two, three]"}
    process = fridge.start("run", str(fridge.plan(**changes, **{"l2-xconnect, bridge-domain, ipv4": "ipv4"})))
    wait_for(lambda: fridge.device.text() != before)
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 130, said
    own.unlink()
    code, said = fridge.run("run", "--resume", str(next((fridge.folder / "runs").iterdir())))
    assert code == 0, said
    assert [case["configuration"]["text"].split()[3:] for case in fridge.cases()] == [
        ["one", "plain", "!"],
        ["two", "plain", "!"],
        ["three", "plain", "!"],
    ]
    assert fridge.device.text() == before


def test_missing_port_ends_the_case_in_whole_sentences(fridge: Fridge) -> None:
    del fridge.chassis.ports["Te0/2/0/1"]
    code, said = fridge.run("run", str(fridge.plan(**ONE)))
    assert code == 3, said
    (case,) = fridge.cases()
    assert case["error"]["code"] == "no-such-interface"
    assert f"hint: {case['error']['hint']}\n" in said
    assert ".." not in said


def test_service_is_taken_away_and_entered_again_between_searches(fridge: Fridge) -> None:
    """Its template is undone for that of `none`; at the end of the case the device is as it was."""
    (fridge.folder / "none.j2").write_text("interface TenGigE0/1/0/0\n mtu 9000\n")
    (fridge.folder / "plain.j2").write_text("interface TenGigE0/1/0/0\n mtu 9100\n")
    before = fridge.device.text()
    axes = {"asr9006-{forwarding}-{lag}": "{service}.j2", "[plain, lacp]": "[plain]", "1/100": "1/1000"}
    matrix = {"  forwarding: [l2-xconnect, bridge-domain, ipv4]": "  service: [plain]\n  forwarding: [ipv4]"}
    method = {
        "ramp: {warmup: 1s at 1kpps, ramp: 8s to 100%, hold: 2s}": "service-cost: {pairs: 2, width: 5%}"
    }
    code, said = fridge.run("run", str(fridge.plan(**axes, **matrix, **method)))
    assert code == 0, said
    entered = [line.split()[1] for line in fridge.server.lines if line.strip().startswith("mtu 9")]
    # The case's own at its begin; in two pairs without and with, the second one in the other order.
    assert entered[:4] == ["9100", "9000", "9100", "9000"]
    assert fridge.device.text() == before
    (case,) = fridge.cases()
    names = [trial["name"] for trial in case["trials"]]
    assert any("without" in name for name in names)
