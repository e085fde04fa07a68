"""Generator hosts in plans: which port is whose, and what cannot be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, parse

PLAN = """\
title: Two hosts
lab:
  hosts: {scheduler: "tls://192.0.2.1:8786"}
  nodes:
    gen1: {kind: netdyno, host: gen1, cores: [2, 3]}
    gen2: {kind: netdyno, host: gen2}
    dut: {kind: external}
  links:
    - {endpoints: ["gen1:west", "dut:d0"], rate: 1Gbps, interface: p0}
    - {endpoints: ["gen2:east", "dut:d1"], rate: 1Gbps, interface: p0}
traffic: {it: {size: 128B}}
matrix: {profile: [it], direction: [bidir]}
method: {throughput: {}}
"""


def codes(text: str) -> list[tuple[str, str]]:
    with pytest.raises(PlanErrors) as found:
        parse(text)
    return [(error.path, error.code) for error in found.value.errors]


def test_each_port_is_wired_on_the_host_of_its_node() -> None:
    plan: Plan = parse(PLAN)
    assert plan.lab.hosts is not None
    session = plan.kind.wire(plan.lab.links, {}).with_hosts(plan.lab.hosts).session
    assert [(port["name"], port["host"]) for port in session["ports"]] == [("west", "gen1"), ("east", "gen2")]
    assert session["hosts"] == {
        "scheduler": "tls://192.0.2.1:8786",
        "threads": {"gen1": {"workers": 2, "cores": [2, 3]}, "gen2": {}},
    }


def test_port_without_a_host_is_wired_here() -> None:
    plan = parse(PLAN.replace("gen2: {kind: netdyno, host: gen2}", "gen2: {kind: netdyno, workers: 2}"))
    session = plan.kind.wire(plan.lab.links, {}).with_threads(plan.lab.threads).session
    assert [port.get("host") for port in session["ports"]] == ["gen1", None]
    assert session["workers"] == 2


@pytest.mark.parametrize(
    ("before", "after", "path", "code"),
    [
        ("  hosts: {scheduler: \"tls://192.0.2.1:8786\"}\n", "", "lab.nodes.gen1.host", "missing-field"),
        ("host: gen2", "host: gen1", "lab.nodes.gen2.host", "given-twice"),
        ("gen2:east", "gen2:west", "lab.links[1].endpoints", "given-twice"),
        ("kind: external", "kind: emulated/router", "lab.nodes.gen1.host", "unsupported"),
        ("tls://192.0.2.1:8786", "192.0.2.1", "lab.hosts.scheduler", "wrong-format"),
        (":8786\"}", ":8786\", ssh: {gen3: root@gen3}}", "lab.hosts.ssh.gen3", "unknown-name"),
        (":8786\"}", ":8786\", ssh: {gen1: -oProxyCommand=x}}", "lab.hosts.ssh.gen1", "wrong-format"),
    ],
)  # fmt: skip
def test_hosts_that_cannot_be_are_refused(before: str, after: str, path: str, code: str) -> None:
    assert before in PLAN
    assert (path, code) in codes(PLAN.replace(before, after))


def test_two_testers_without_a_host_are_refused() -> None:
    text = PLAN.replace("host: gen1, ", "").replace(", host: gen2", "")
    assert ("lab.nodes", "wrong-count") in codes(text)


@pytest.mark.parametrize("plan", ["two.yaml", "plain.yaml"])
def test_dask_is_not_imported_by_a_check(plan: str, tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(PLAN)
    plain = PLAN.replace(
        "gen2: {kind: netdyno, host: gen2}\n    dut: {kind: external}", "dut: {kind: emulated/router}"
    )
    plain = (
        plain.replace("host: gen1, cores: [2, 3]", "")
        .replace("gen2:", "gen1:")
        .replace(", interface: p0", "")
    )
    (tmp_path / "plain.yaml").write_text(plain.replace('  hosts: {scheduler: "tls://192.0.2.1:8786"}\n', ""))
    program = f"""
import sys
from netdyno.cli.app import main
sys.argv = ["netdyno", "check", {plan!r}]
try:
    main()
except SystemExit as ended:
    assert ended.code == 0, ended.code
import netdyno.testers.netdyno
print([name for name in sys.modules if name.partition(".")[0] in ("dask", "distributed")])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
