"""Each backend without each right: the error and the hint agree, and the hint, followed, helps."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from campaigns import ENVIRONMENT
from netdyno.cli import outline
from netdyno.devices import LabError, LabLink
from netdyno.devices.external import EXTERNAL
from netdyno.devices.linux import programs
from netdyno.plan import parse
from netdyno.ports.backends import PortBackend

NOBODY = 65534
LOOK = """
import dataclasses, json, sys
from netdyno.ports.nic import fit
print(json.dumps(dataclasses.asdict(fit.rights())))
"""
SETPRIV = shutil.which("setpriv", path="/usr/bin:/bin") or "setpriv"
UNSHARE = shutil.which("unshare", path="/usr/bin:/bin") or "unshare"

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs root, to give rights up one by one")


def rights(*command: str) -> dict[str, list[str] | None]:
    """What a process that is started so may open, and the refusals with their hints."""
    done = subprocess.run(
        [*command, sys.executable, "-c", LOOK], env=ENVIRONMENT, capture_output=True, text=True, timeout=60
    )
    if done.returncode != 0:
        pytest.skip(f"cannot be tried here: {done.stderr.strip()[-300:]}")
    found: dict[str, list[str] | None] = json.loads(done.stdout)
    return found


def as_nobody(*capabilities: str) -> list[str]:
    """Nobody, with these rights and no others."""
    given = ",".join(f"+{name}" for name in capabilities)
    more = [f"--inh-caps={given}", f"--ambient-caps={given}"] if capabilities else []
    return [SETPRIV, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *more]


def test_as_root_of_the_machine_everything_may_be() -> None:
    found = rights()
    if found["af_xdp"] is not None and "may not" not in found["af_xdp"][0]:
        pytest.skip(f"no AF_XDP here: {found['af_xdp']}")
    assert found == {"af_packet": None, "af_xdp": None}


@pytest.mark.parametrize(
    ("held", "missing"),
    [
        ((), {"af_packet": {"CAP_NET_RAW"}, "af_xdp": {"CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_BPF"}}),
        (("net_raw",), {"af_xdp": {"CAP_NET_ADMIN", "CAP_BPF"}}),
        (("net_raw", "net_admin"), {"af_xdp": {"CAP_BPF"}}),
        (("net_raw", "bpf"), {"af_xdp": {"CAP_NET_ADMIN"}}),
        (("net_raw", "net_admin", "bpf"), {}),
    ],
)
def test_what_is_missing_is_named_and_granting_it_helps(
    held: tuple[str, ...], missing: dict[str, set[str]]
) -> None:
    if rights()["af_xdp"] is not None:
        pytest.skip("no AF_XDP here even as root")
    found = rights(*as_nobody(*held))
    assert {backend for backend, refusal in found.items() if refusal is not None} == set(missing)
    for backend, names in missing.items():
        refusal = found[backend]
        assert refusal is not None
        why, hint = refusal
        assert "this process may not" in why
        assert set(re.findall("CAP_[A-Z_]+", hint)) == names
        # The command of the hint, with its rights beside those that are there.
        (granted,) = re.findall(r"--ambient-caps=(\S+)", hint)
        helped = rights(*as_nobody(*held, *(name.removeprefix("+") for name in granted.split(","))))
        assert helped[backend] is None, (hint, helped)


def test_hint_in_a_user_namespace_asks_only_for_rights_that_help() -> None:
    """Root of a user namespace has every right there, and XDP programs want those of the machine."""
    found = rights(UNSHARE, "--user", "--map-root-user", "--net")
    assert found["af_packet"] is None
    refusal = found["af_xdp"]
    assert refusal is not None
    assert "CAP_" not in refusal[1]
    assert "run as the machine's" in refusal[1]
    assert "af_packet" in refusal[1]
    # The same without a network of its own: its rights are over none.
    bare = rights(UNSHARE, "--user", "--map-root-user")
    refused = bare["af_packet"]
    assert refused is not None
    assert "unshare -Urn" in refused[1]


def test_memif_without_server_and_memif_without_rights_differ_in_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netdyno.ports.backends.memif.SERVER_S", 0.0)

    def refused(place: str) -> LabError:
        backend = PortBackend.of("memif", socket=place)
        with pytest.raises(LabError) as caught:
            EXTERNAL.preflight((LabLink("west", "a", 10**10, backend=backend),))
        assert caught.value.link == 0
        return caught.value

    nobody = refused(str(tmp_path / "dut.sock"))
    assert nobody.message.startswith(f"nobody listens at the memif socket `{tmp_path}/dut.sock`")
    assert "start the device's memif server first" in str(nobody.hint)
    assert "no such name in this network namespace" in refused("@netdyno-nobody").message
    (tmp_path / "plain").write_text("")
    assert "it is no socket" in refused(str(tmp_path / "plain")).message
    path = str(tmp_path / "dut")
    for place, shown in (("\0netdyno-somebody", "@netdyno-somebody"), (path, path)):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(place)
            listening.listen()
            listening.settimeout(0)
            backend = PortBackend.of("memif", socket=shown)
            assert EXTERNAL.preflight((LabLink("west", "a", 10**10, backend=backend),)) == ()
            # It was not called: testpmd would not survive that.
            with pytest.raises(BlockingIOError):
                listening.accept()
    server = PortBackend.of("memif", socket=str(tmp_path / "dut.sock"), role="server")
    assert EXTERNAL.preflight((LabLink("west", "a", 10**10, backend=server),)) == ()


def test_check_names_the_programs_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything runs, with the package of each and the cases that want it."""
    plan = parse(
        """\
title: A kernel with services
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}
traffic: {small: {size: 64B}}
matrix: {direction: [uni], modifier: [none, filters-1, routing, management]}
method: {throughput: {duration: 1s}}
"""
    )
    monkeypatch.setattr(programs, "SEARCH", str(tmp_path))
    for name in programs.ALWAYS:
        (tmp_path / name).symlink_to("/bin/true")
    found = {one.message.split("`")[1]: one for one in outline.list_missing_programs(plan)}
    assert set(found) == {"nft", "bird", "birdc", "snmpd"}
    assert {one.code for one in found.values()} == {"tool-missing"}
    assert "nftables" in found["nft"].message
    assert "filters-1" in found["nft"].message
