"""The password of BGP sessions: from which variable, and what BIRD, FRR and the kernel could not take."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import said
from netdyno.devices.bgp_password import read_password
from netdyno.devices.peering import Bgp
from netdyno.devices.wiring import LabError

MD5 = Bgp(1, 2, has_password=True)


def test_password_of_the_port_comes_before_that_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_BGP_PASSWORD", "of all")
    assert read_password("east", Bgp(1, 2)) == ""
    assert read_password("east", MD5) == "of all"
    monkeypatch.setenv("NETDYNO_EAST_BGP_PASSWORD", 80 * "x")
    assert read_password("east", MD5) == 80 * "x"


@pytest.mark.parametrize("value", ['a"b', "a\n neighbor 192.0.2.1 shutdown", "a\tb", 81 * "x", 41 * "\u00e9"])
def test_password_that_no_daemon_takes_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_BGP_PASSWORD", value)
    with pytest.raises(LabError) as refused:
        read_password("east", MD5)
    assert refused.value.code == "wrong-format"
    assert value not in str(refused.value)


def test_missing_password_is_known_to_check(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    told = said("check", "plan.yaml", "--format", "json", cwd=tmp_path)
    assert "login-missing" in told.stdout


PLAN = """\
title: Sessions with a password
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router, settings: {routing: bird}}}
  links:
    - {endpoints: ["tester:west", "dut:a"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:b"], rate: 1Gbps, routing: {bgp: {own_as: 1, routes: 10, md5: true}}}
traffic: {it: {size: 128B, flows: 10}}
matrix: {direction: [uni]}
method: {soak: {load: 1kpps, duration: 1s, part: 0s}}
"""
