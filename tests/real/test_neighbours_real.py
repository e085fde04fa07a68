"""What `netdyno routes` prints for FRR and BIRD is entered there; the sessions of an external device come up.

Truth: the kernel's count of the device's routes, and what the daemons say of their sessions.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import frr
import pytest
from netdyno.devices.linux import bird
from netdyno.devices.linux import device as dut
from netdyno.devices.own_router import ROUTERS
from netdyno.devices.own_router.neighbours import PASSWORD
from netdyno.devices.speakers.speaking import speaking
from netdyno.devices.watches.bird import command
from netdyno.plan import Plan, parse
from netdyno.plan.device_neighbours import neighbour_lines
from own_router import own_router
from test_labs import needs_root
from test_new_real import enter

pytest.importorskip("netdyno._engine", reason="the engine is not built")
pytestmark = [
    pytest.mark.paired,
    needs_root,
    pytest.mark.skipif(
        shutil.which("bird", path=dut.SEARCH) is None, reason="wants BIRD (apt install bird2)"
    ),
]

SECRET = "only-for-tests"
OWN_IPV6, TESTER_IPV6 = "2001:db8:1::1/64", "2001:db8:1::2"
PLAN = """\
title: An external device with a table
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps, address: 100.64.0.2/30, gateway: 100.64.0.1}
    - endpoints: ["tester:east", "dut:d1"]
      rate: 1Gbps
      address: 100.64.1.2/30
      gateway: 100.64.1.1
      routing: %s
traffic: {it: {size: 64B, flows: 1000}}
matrix: {direction: [uni]}
method: {soak: {load: 2kpps, duration: 1s, part: 0s}}
trial: {settle: 100ms, drain: 200ms, retries: 0, catch_up: 1000%%}
"""
TABLE = f"routes: 3000, routes_ipv6: 500, next_hop_ipv6: '{TESTER_IPV6}', md5: true"
OSPF = "ospf: {area: 1, hello: 1s, dead: 4s}"
ROUTING = {
    # Of loopbacks that OSPF announces; on the link itself, with graceful restart.
    "ebgp": f"{{bgp: {{own_as: 64513, peer_as: 64512, sessions: 2, {TABLE}}}, {OSPF}}}",
    "ibgp": f"{{bgp: {{own_as: 64512, graceful_restart: true, {TABLE}}}, {OSPF}}}",
}
BIRD = """log stderr all; protocol device { scan time 1; } protocol direct { ipv4; ipv6; }
protocol kernel { ipv4 { export where source ~ [RTS_OSPF, RTS_BGP]; }; }
protocol kernel { ipv6 { export where source ~ [RTS_OSPF, RTS_BGP]; }; }
"""


@pytest.fixture
def router() -> Iterator[dut.Device]:
    """A router on interfaces `west` and `east` of this machine, with an IPv6 address at `east`."""
    with own_router() as found:
        for scope in ("all", "d1"):
            found.do(f"echo 0 > /proc/sys/net/ipv6/conf/{scope}/disable_ipv6")
        found.do(f"ip address add {OWN_IPV6} dev d1 nodad")
        yield found


@contextmanager
def running(daemon: str, device: dut.Device, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A daemon that was given what is printed for the plan."""
    text = "".join(f"{line}\n" for line in neighbour_lines(plan, ROUTERS[daemon]))
    assert SECRET not in text
    text = text.replace(PASSWORD, SECRET)
    with ExitStack() as within:
        if daemon == "bird":
            within.enter_context(bird.run_bird(device, BIRD + text, bird.IS_UP))
        else:
            # The path of a socket has to be short.
            short = Path(within.enter_context(tempfile.TemporaryDirectory(prefix="nd-", dir="/tmp")))
            monkeypatch.setenv("XDG_RUNTIME_DIR", str(short))
            within.enter_context(frr.run_daemons(short, device, {"zebra": "", "ospfd": "", "bgpd": ""}))
            enter(device, text, f"{short}:{dut.SEARCH}")
        yield


@pytest.mark.parametrize("routing", ROUTING)
@pytest.mark.parametrize("daemon", ["bird", "frr"])
def test_sessions_come_up_after_what_was_printed(
    daemon: str, routing: str, router: dut.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    if daemon == "frr" and not frr.is_installed():
        pytest.skip("wants FRR (apt-get install frr)")
    monkeypatch.setenv("NETDYNO_BGP_PASSWORD", SECRET)
    plan = parse(PLAN % ROUTING[routing])
    wiring = plan.kind.wire(plan.lab.links, {})
    with (
        running(daemon, router, plan, monkeypatch),
        plan.kind.build(wiring) as live,
        speaking(live, lambda _: None) as found,
    ):
        # An external device's table is not counted by the tester, so the routes may still be on their way.
        for version, count in ((4, 3000), (6, 500)):
            proto = "bird" if daemon == "bird" else "bgp"
            counted = f"ip -o -{version} route show proto {proto} | grep -cv ^100.64."
            dut.await_success(router, f"test $({counted}) -eq {count}", 20.0, f"{count} routes")
        (east,) = found.running
        asked = ("show protocols all bgp1",)
        sessions = [command(one.control, asked, 5.0)[0] for one in east.daemons]
    assert len(sessions) == (2 if routing == "ebgp" else 1)
    for session in sessions:
        theirs = session.partition("Neighbor capabilities")[2].partition("Channel")[0]
        assert ("      Graceful restart\n" in theirs) == (routing == "ibgp")
        # Of each address family, nothing was announced to the tester, not even what the other session did.
        received = [line.split()[2] for line in session.splitlines() if "Import updates:" in line]
        assert received == ["0", "0"]
