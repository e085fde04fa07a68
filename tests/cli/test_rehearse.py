"""`--rehearse` and `dut serve --cli`: command lines that ship, reached as the devices they stand in for."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from campaigns import ENVIRONMENT
from commands import said
from netdyno.devices.access import Access, Ssh
from netdyno.devices.configure import locks
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.reach.session import Session
from netdyno.plan import load, parse
from netdyno.plan.matrix import cases
from netdyno.plan.rehearsed import rehearsed
from netdyno.testers import tables

EXAMPLE = Path(__file__).parents[2] / "examples" / "asr9006-driver.yaml"
ACCEPTANCE = EXAMPLE.with_name("asr9006-acceptance.yaml")
FIRST = ("--only", "profile=1514b", "--only", "direction=uni", "--only", "lag=plain")
PLAN = """\
title: An ISR
lab:
  nodes:
    tester: {{kind: netdyno, workers: 2}}
    dut: {{kind: external, driver: {driver}, host: lab.example, snmp: {{}}}}
  links:
    - {{endpoints: ["tester:west", "dut:{west}"], rate: 100Mbps, interface: eth1}}
    - {{endpoints: ["tester:east", "dut:{east}"], rate: 100Mbps, interface: eth2}}
traffic: {{frames: {{size: 256B}}}}
matrix: {{direction: [uni]}}
watch: {{ping: [192.0.2.1]}}
method: {{ramp: {{warmup: 1s at 1kpps, ramp: 8s to 100%, hold: 2s}}}}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_example_is_rehearsed_by_its_templates_and_leaves_nothing(
    home: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "FOLDER", tmp_path_factory.mktemp("locks"))
    done = said("run", "--rehearse", EXAMPLE, "--scale", "1/1000", *FIRST)
    assert done.returncode == 0, done.stderr
    assert [one.name for one in home.iterdir()] == ["runs"]
    assert not list(locks.FOLDER.iterdir())
    told = json.loads(said("report", next((home / "runs").iterdir()), "--as", "json").stdout)
    found = {case["configuration"]["name"]: case for case in told["cases"]}
    assert sorted(found) == ["asr9006-bridge-domain-plain", "asr9006-ipv4-plain", "asr9006-l2-xconnect-plain"]
    for case in found.values():
        assert case["configuration"]["diff"]
        assert case["power"]["hold_w_exact"] == "22193/10"
        assert case["balance"]["code"] == "every-frame-accounted"


def test_example_of_services_is_rehearsed_by_a_template_a_case(home: Path) -> None:
    text = EXAMPLE.with_name("isr-services-driver.yaml").read_text()
    few, _, rest = text.partition("  service: ")
    plan = home / "plan.yaml"
    plan.write_text(
        f"{few}  service: [process-switching, masquerade, llq]\n  profile: {rest.partition('  profile: ')[2]}"
    )
    done = said("run", "--rehearse", plan, "--scale", "1/1000", "--only", "profile=64b")
    assert done.returncode == 0, done.stderr
    told = json.loads(said("report", next((home / "runs").iterdir()), "--as", "json").stdout)
    found = {case["configuration"]["name"]: case["configuration"]["diff"] for case in told["cases"]}
    assert sorted(found) == ["llq", "masquerade", "process-switching"]
    assert "\n+no ip cef\n" in f"\n{found['process-switching']}"
    assert "+ip nat inside source list NETDYNO-INSIDE interface FastEthernet4 overload" in found["masquerade"]
    assert "+  priority percent 20" in found["llq"]


def test_example_of_four_hosts_is_rehearsed_at_just_under_80_gbit(home: Path) -> None:
    """The published test had TCP: 8948 of the 9042 bytes that a tagged frame takes, 79.17 Gbit/s."""
    plan = EXAMPLE.with_name("ccr1072-hosts.yaml")
    done = said("run", "--rehearse", plan, "--scale", "1/200", "--only", "profile=jumbo")
    assert done.returncode == 0, done.stderr
    (case,) = json.loads(said("report", next((home / "runs").iterdir()), "--as", "json").stdout)["cases"]
    (best,) = (one for one in case["values"] if (one["value"], one["scope"]) == ("ramp max Rx", "sum"))
    assert best["low_pps"] * 9022 * 8 > 79e9
    assert best["number_pps"] * 9042 * 8 == 80e9
    assert (best["limit"], case["balance"]["code"]) == ("line", "every-frame-accounted")
    # The template routes what the plan sends.
    entered = re.findall(
        r"^/ip route add dst-address=(\S+) gateway=(\S+)$", case["configuration"]["text"], re.M
    )
    wanted = [line.split(" via ") for line in said("routes", plan).stdout.splitlines()]
    assert len(entered) == 8 * 2 * 2
    assert sorted(map(list, entered)) == sorted(wanted)


def test_template_that_the_device_refuses_is_named_with_the_next_step(home: Path) -> None:
    """CEF cannot be switched off on an ISR 4321."""
    text = PLAN.format(driver="cisco_iosxe", west="Gi0/0", east="Gi0/1")
    own = "configuration: own.j2, allow: [no ip cef], user: lab"
    (home / "own.j2").write_text("no ip cef\n")
    (home / "plan.yaml").write_text(text.replace("snmp: {}", own))
    done = said("run", "--rehearse", home / "plan.yaml", "--scale", "1/1000")
    assert done.returncode == 3, done.stdout
    (case,) = json.loads(said("report", next((home / "runs").iterdir()), "--as", "json").stdout)["cases"]
    assert case["error"]["code"] == "command-refused"
    assert "no ip cef" in case["error"]["message"]
    assert case["error"]["hint"]


def test_acceptance_of_the_example_passes_on_the_stand_in(home: Path) -> None:
    """By the whole table, which the stand-in has; pings and a device without routing: the test below."""
    fewer = ("method.acceptance.loads=[90%]", "method.acceptance.hold=10s")
    done = said("run", "--rehearse", ACCEPTANCE, "--scale", "1/100", *(f"--set={one}" for one in fewer))
    assert done.returncode == 0, done.stderr
    (case,) = json.loads(said("report", next((home / "runs").iterdir()), "--as", "json").stdout)["cases"]
    rows = next(one["rows"] for one in case["tables"] if one["table"] == "Acceptance")
    assert [(row[0], row[1], row[2], row[6]) for row in rows[:3]] == [
        ("IPv4 table", ">= 903,406 routes", "903,415 routes", "pass"),
        ("IPv6 table", ">= 142,542 routes", "142,551 routes", "pass"),
        ("adjacencies", "10 kept", "10 kept", "pass"),
    ]
    assert {row[6] for row in rows} == {"pass"}
    # Nothing is withdrawn from a stand-in's table: the first line says so.
    assert "without `withdraw`" in done.stderr


def test_check_of_a_rehearsal_logs_in_and_finds_the_ports(home: Path) -> None:
    done = said("check", "--device", "--rehearse", "--format", "json", EXAMPLE)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    ports = dict.fromkeys(("Te0/1/0/0", "Te0/1/0/1", "Te0/2/0/0", "Te0/2/0/1"), "up")
    assert found["device"] == {"driver": "cisco_iosxr", "version": "5.3.4", "ports": ports}
    assert found["cases"] == 48


def test_rehearsal_leaves_out_what_the_stand_in_has_not(home: Path) -> None:
    plan = home / "plan.yaml"
    text = PLAN.format(driver="cisco_ios", west="FastEthernet3", east="FastEthernet4")
    routed = "interface: eth2, address: 192.0.2.6/30, gateway: 192.0.2.5, routing: {ospf: true}"
    plan.write_text(text.replace("interface: eth2", routed))
    done = said("check", "--device", "--rehearse", "--format", "json", plan)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["device"]["version"] == "15.2(4)M5"
    assert "`snmp`, `routing` and `watch`" in done.stderr


@pytest.mark.parametrize(
    ("driver", "ports", "template"),
    [
        ("cisco_iosxe", ("GigabitEthernet0/0", "Gi0/1"), "firewall-nat"),
        ("cisco_asa", ("GigabitEthernet0/0", "Gi0/1"), "nat-pool"),
        ("fsos", ("Te0/5", "Te0/6"), "s5860-l3"),
        ("routeros", ("ether1", "ether2"), "llq"),
    ],
)
def test_rehearsal_configures_ports_of_any_name(
    driver: str, ports: tuple[str, str], template: str, home: Path
) -> None:
    text = PLAN.format(driver=driver, west=ports[0], east=ports[1])
    own = f"configuration: {template}, allow: [same-security-traffic permit inter-interface], user: lab"
    (home / "plan.yaml").write_text(text.replace("snmp: {}", own))
    done = said("run", "--rehearse", home / "plan.yaml", "--scale", "1/100")
    assert done.returncode == 0, done.stdout
    (case,) = json.loads(said("report", next((home / "runs").iterdir()), "--as", "json").stdout)["cases"]
    assert case["configuration"]["diff"]
    assert case["balance"]["code"] == "every-frame-accounted"


def test_rehearsal_of_a_lag_leaves_out_failures_of_its_members() -> None:
    text = PLAN.format(driver="cisco_iosxe", west="Gi0/0/0", east="Gi0/0/1")
    text = text.replace("interface: eth2", "lag: {interfaces: [eth2, eth3]}")
    head, _, _ = text.partition("method:")
    text = f"{head}method: {{soak: {{part: 0s, failures: [{{member: east.eth2, at: 1s, lasts: 1s}}]}}}}"
    made, left_out, _ = rehearsed(parse(text), {"kind": "emulated/router"}, has_routing=False)
    assert ("failures" in left_out, "failures" in made, "lag" in made) == (True, False, False)


def test_rehearsal_of_a_plan_with_its_lab_in_a_file_finds_the_ports(home: Path) -> None:
    """And says which emulated device it is: that of the plan, where it names one."""
    text = PLAN.format(driver="cisco_ios", west="FastEthernet3", east="FastEthernet4")
    head, _, rest = text.replace("kind: external", "kind: emulated/cross-connect").partition("lab:\n")
    lab, _, tail = rest.replace("watch: {ping: [192.0.2.1]}\n", "").partition("traffic:")
    for word in (", workers: 2", ", interface: eth1", ", interface: eth2"):
        lab = lab.replace(word, "")
    (home / "lab.yaml").write_text("\n".join(line[2:] for line in lab.splitlines()) + "\n")
    (home / "plan.yaml").write_text(f"{head}lab: lab.yaml\ntraffic:{tail}")
    done = said("check", "--device", "--rehearse", "--format", "json", home / "plan.yaml")
    assert done.returncode == 0, done.stdout
    assert "`emulated/cross-connect`" in done.stderr
    assert json.loads(done.stdout)["device"]["ports"] == {"FastEthernet3": "up", "FastEthernet4": "up"}


@pytest.mark.parametrize("driver", ["vpp", "linux"])
def test_rehearsal_of_a_driver_without_a_stand_in_is_refused(home: Path, driver: str) -> None:
    plan = home / "plan.yaml"
    plan.write_text(PLAN.format(driver=driver, west="d0", east="d1"))
    done = said("check", "--rehearse", "--format", "json", plan)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cisco_iosxr" in done.stderr


def test_next_hops_are_asked_only_where_the_configuration_routes() -> None:
    plan = load(EXAMPLE, tables=tables())
    wired = {
        case.settings["forwarding"]: plan.kind.wire(plan.lab.links, case.settings) for case in cases(plan)
    }
    assert {name: {port.destination for port in wiring.ports} for name, wiring in wired.items()} == {
        "l2-xconnect": {"peer"},
        "bridge-domain": {"peer"},
        "ipv4": {"100.64.0.1", "100.64.1.1"},
    }


def test_command_line_that_is_served_takes_a_login_until_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [sys.executable, "-m", "netdyno", "dut", "serve", "--cli", "cisco_ios", "--port", "FastEthernet7"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        assert process.stderr is not None
        where, key = process.stderr.readline().split(), process.stderr.readline()
        known = tmp_path / "known"
        known.write_text(key.removeprefix("host key: "))
        monkeypatch.setenv("NETDYNO_PASSWORD", where[-1])
        access = Access("127.0.0.1", "lab", Ssh(int(where[3]), known_hosts=str(known)))
        shell = DRIVERS["cisco_ios"].shell
        assert shell is not None
        with Session(access, shell) as session:
            assert "0 packets input, 0 bytes" in session.ask("show interfaces FastEthernet7")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()


def test_driver_without_a_command_line_to_serve_is_refused() -> None:
    done = said("dut", "serve", "--cli", "vpp")
    assert (done.returncode, done.stdout) == (2, "")


def test_rehearsal_of_a_plan_with_values_set_stays_at_the_stand_in(home: Path) -> None:
    """What stands in for the device comes after what was set: no other host is logged in to."""
    own = ("lab.nodes.dut.host=192.0.2.1", "traffic.64b-multi.size=128B", "matrix.direction=[uni]")
    asked = [word for one in own for word in ("--set", one)]
    done = said("check", "--device", "--rehearse", "--format", "json", EXAMPLE, *asked)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["cases"], found["device"]["version"]) == (24, "5.3.4")
    done = said("run", "--dry-run", "--rehearse", EXAMPLE, *asked, "--only", "profile=64b-multi")
    assert done.returncode == 0, done.stderr
