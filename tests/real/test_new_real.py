"""What `netdyno new` prints for Linux and FRR is entered there by a shell; its plan then runs, unedited."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import frr
import pytest
from campaigns import wait_for
from commands import said
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import links, namespaces
from test_kernel_features import wanted
from test_labs import needs_root

pytest.importorskip("netdyno._engine", reason="the engine is not built")
pytestmark = needs_root


@pytest.fixture
def router() -> Iterator[dut.Device]:
    """A namespace with two interfaces that are down and forward nothing, and ours with their other ends."""
    with namespaces.tester_namespace(), dut.device_namespace() as device:
        # The first of all belongs to somebody.
        links.ip("link add busy type veth peer name far")
        links.ip("address add 192.0.2.1/24 dev busy")
        for port in range(2):
            links.ip(f"link add t{port} type veth peer name d{port} netns {device.pid}")
            links.ip(f"link set t{port} up")
        device.do("ip link set lo up; echo 0 >/proc/sys/net/ipv4/ip_forward")
        yield device


def enter(device: dut.Device, text: str, path: str = dut.SEARCH) -> None:
    """Enters a text in a shell there; each line must succeed without a word on stderr."""
    into = [dut.tool("nsenter"), "--net", "--target", str(device.pid), "bash", "-e"]
    done = subprocess.run(
        into, input=text, capture_output=True, text=True, timeout=60, env={"PATH": path, "TERM": "dumb"}
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    assert "%" not in done.stdout, done.stdout


def run_first_case(system: str, device: dut.Device, folder: Path, *options: str, path: str) -> None:
    """Makes a plan of the interfaces that are proposed, enters what was printed, and runs a case.

    Its survey must see frames come back.
    """
    if "--vlan" in options:
        # Many kernels of virtual machines have none.
        wanted(device, "ip link add link d0 name probe type vlan id 7", "ip link del probe")
    # At the 10 Gbit/s of a veth the survey would send ten times as many frames.
    given = ("--router-ports", "d0,d1", "--router", system, "--rate", "1Gbps", "--yes")
    made = said("new", "plan.yaml", *given, *options, cwd=folder)
    assert made.returncode == 0, made.stderr
    enter(device, made.stdout.split("\n3. ")[1].split("\n", 2)[2].split("\n\n")[0] + "\n", path)
    assert said("check", "plan.yaml", cwd=folder).returncode == 0
    only = ("--only", "profile=large", "--only", "direction=bidir")
    ran = said("run", "plan.yaml", "--scale", "1/50", *only, cwd=folder)
    # 4: it was measured, and no limit is the device's, for this tester is not calibrated.
    assert ran.returncode in (0, 4), ran.stdout + ran.stderr
    (run,) = (folder / "runs").iterdir()
    (case,) = json.loads(said("report", str(run), "--as", "json", cwd=folder).stdout)["cases"]
    survey, *search = case["trials"]
    assert search
    for stream in survey["streams"]:
        assert stream["received_frames"] > 0
    enter(device, made.stdout.split("\n6. ")[1].split("\n", 2)[2], path)
    # FRR takes routes out of the kernel a moment after its shell has ended.
    wait_for(lambda: not ours(device.do("ip route; ip -4 address")))


def ours(printed: str) -> list[str]:
    """Lines with routes and addresses of the test."""
    return [line for line in printed.splitlines() if "198.1" in line or "100.64." in line]


@pytest.mark.parametrize("options", [(), ("--vlan", "10,20", "--static-arp")], ids=["untagged", "tagged"])
def test_linux_router_forwards_after_what_was_printed(
    router: dut.Device, options: tuple[str, ...], tmp_path: Path
) -> None:
    run_first_case("linux", router, tmp_path, *options, path=dut.SEARCH)


@pytest.mark.skipif(not frr.is_installed(), reason="wants FRR (apt-get install frr)")
@pytest.mark.parametrize("options", [("--static-arp",), ("--vlan", "10")], ids=["untagged", "tagged"])
def test_frr_forwards_after_what_was_printed(
    router: dut.Device, options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as within:
        # The path of a socket has to be short.
        short = Path(within.enter_context(tempfile.TemporaryDirectory(prefix="nd-", dir="/tmp")))
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(short))
        within.enter_context(frr.run_daemons(short, router, {"zebra": "", "staticd": ""}))
        run_first_case("frr", router, tmp_path, *options, path=f"{short}:{dut.SEARCH}")
