"""Plans whose device a driver reaches: what they must have, and what belongs to no such plan."""

from __future__ import annotations

from pathlib import Path

import pytest
from netdyno.devices.access import Access, Api, Snmp, Ssh
from netdyno.errors import PlanErrors
from netdyno.plan import parse

PLAN = """\
title: A device that is reached
lab:
  nodes:
    tester: {kind: netdyno}
    dut: {DUT}
  links:
    - {endpoints: ["tester:west", "dut:PORT"], interface: eth77, rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:Te0/2/0/0"], interface: eth78, rate: 1Gbps}
traffic: {small: {size: 64B}}
method: {throughput: {duration: 10ms}}
"""
WHOLE = "kind: external, driver: cisco_iosxr, host: fridge"


def plan(dut: str, port: str = "Te0/1/0/0") -> str:
    return PLAN.replace("DUT", dut).replace("PORT", port)


def test_device_that_is_reached_has_its_access() -> None:
    text = f"{WHOLE}, user: lab, ssh: {{port: 2222, strict: false, old: [ssh-rsa]}}, snmp: {{port: 1161}}"
    found = parse(plan(text + ", allow: [router static]")).lab
    ssh, snmp = Ssh(2222, False, "", ("ssh-rsa",)), Snmp(1161)
    assert found.access == Access("fridge", "lab", ssh, snmp, ("router static",))


def test_known_hosts_of_a_plan_is_the_same_from_any_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The journal of a device has it, for the run that undoes what another has left."""
    monkeypatch.setenv("HOME", "/srv/lab")
    monkeypatch.chdir(tmp_path)
    for written, known in (("~/keys", "/srv/lab/keys"), ("keys", f"{tmp_path}/keys"), ("''", "")):
        access = parse(plan(f"{WHOLE}, ssh: {{known_hosts: {written}}}")).lab.access
        assert access is not None
        assert access.ssh.known_hosts == known


@pytest.mark.parametrize(
    ("dut", "access"),
    [
        ("driver: routeros, host: ccr, api: {}", Access("ccr", api=Api())),
        ("driver: routeros, host: r, api: {port: 8728, tls: false}", Access("r", api=Api(8728, tls=False))),
        ("driver: routeros, host: ccr, api: {strict: false}", Access("ccr", api=Api(strict=False))),
    ],
)  # fmt: skip
def test_device_that_is_read_by_an_api_has_its_options(dut: str, access: Access) -> None:
    assert parse(plan(f"kind: external, {dut}")).lab.access == access


def test_emulated_device_takes_the_driver_of_the_real_one() -> None:
    text = plan("kind: emulated/asr9006, driver: cisco_iosxr, host: 127.0.0.1")
    text = text.replace(", interface: eth77", "").replace(", interface: eth78", "")
    loaded = parse(text)
    assert loaded.kind.name == "emulated/asr9006"
    assert loaded.kind.emulated


@pytest.mark.parametrize(
    ("dut", "code", "path"),
    [
        ("kind: external, driver: cisco_iosxr", "missing-field", "driver"),
        ("kind: external, host: fridge", "unknown-field", "host"),
        ("kind: external, driver: this-kernel, host: fridge", "unknown-field", "host"),
        ("kind: external, driver: vpp", "missing-field", "driver"),
        ("kind: external, driver: routeros, api: {}", "missing-field", "driver"),
        ("kind: external, driver: vpp, host: r, api: {}", "unsupported", "api"),
        ("kind: external, api: {}", "unknown-field", "api"),
        ("kind: external, driver: this-kernel, api: {}", "unknown-field", "api"),
        ("kind: external, driver: routeros, host: r, api: {tls: false, ca: x}", "conflict", "ca"),
        ("kind: external, driver: routeros, host: r, api: {password: x}", "unknown-field", "password"),
        (f"{WHOLE}, api: {{}}", "unsupported", "api"),
        (f"{WHOLE}, gnmi: {{}}", "unknown-field", "gnmi"),
        ("kind: external, driver: routeros, host: r, api: {port: 0}", "out-of-range", "port"),
        ("kind: external, driver: vpp, host: r1, configuration: x", "unsupported", "configuration"),
        (f"{WHOLE}, password: hunter2", "unknown-field", "password"),
        (f"{WHOLE}, ssh: {{old: [rot13]}}", "unknown-name", "old"),
        (f"{WHOLE}, ssh: {{port: 0}}", "out-of-range", "port"),
        (f"{WHOLE}, snmp: {{community: public}}", "unknown-field", "community"),
        ("kind: external, driver: cisco_iosxr, host: 'a b; reboot'", "wrong-format", "host"),
        (f"{WHOLE}, user: 'a:b'", "wrong-format", "user"),
    ],
)
def test_plan_whose_device_cannot_be_reached_is_refused(dut: str, code: str, path: str) -> None:
    with pytest.raises(PlanErrors) as caught:
        parse(plan(dut))
    assert [(one.code, path in one.path) for one in caught.value.errors] == [(code, True)]


@pytest.mark.parametrize("port", ["$(reboot)", "Te0;reload", "`id`", "Te0|more", "-rf"])
def test_port_whose_name_is_a_command_is_refused(port: str) -> None:
    with pytest.raises(PlanErrors) as caught:
        parse(plan(WHOLE, port))
    assert [one.code for one in caught.value.errors] == ["wrong-format"]
