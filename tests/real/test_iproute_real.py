"""A case on the kernel's own interfaces is undone: addresses and routes are exactly those of before."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from configured import links, rendered
from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.apply import Configurer
from netdyno.devices.configure.iproute import IpUndoing
from netdyno.devices.configure.journal import Journal
from netdyno.devices.configure.locks import Identity
from netdyno.devices.configure.sections import SECTIONS
from netdyno.devices.drivers.linux import DRIVER
from netdyno.devices.shell import Shell
from netdyno.devices.wiring import LabError
from sampling import examples

pytestmark = pytest.mark.paired

PORTS = ("d0", "d1")
UNDOING = IpUndoing()
CASES = examples(40)
SETUP = """
sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
ip link set lo up
ip link add d0 type veth peer name p0; ip link add d1 type veth peer name p1
for one in d0 d1 p0 p1; do ip link set $one up; done
"""


class Namespace:
    """A network namespace, and a session with the shell in it."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(["unshare", "-n", "cat"], stdin=subprocess.PIPE)
        own = Path("/proc/self/ns/net").readlink()
        while Path(f"/proc/{self.process.pid}/ns/net").readlink() == own:
            time.sleep(0.01)

    @property
    def shell(self) -> Shell:
        """That of Linux."""
        return DRIVER.shell

    def run(self, text: str) -> str:
        """What a shell in it prints."""
        words = ["nsenter", "-t", str(self.process.pid), "-n", "sh", "-c", text]
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    def ask(self, command: str, within_s: float = 15.0) -> str:
        """As `Cli.ask`."""
        return self.run(command)

    def configure(self, text: str, confirm_s: int | None = None, within_s: float = 30.0) -> str:
        """As `Cli.configure`: of a text with a refused line, all others are in effect."""
        said = self.run(text)
        if "RTNETLINK" in said or "Error" in said or "Cannot" in said:
            raise LabError(said, code="command-refused")
        return said

    def confirm(self) -> None:
        """As `Cli.confirm`."""


@pytest.fixture
def lab() -> Iterator[Namespace]:
    found = Namespace()
    try:
        yield found
    finally:
        assert found.process.stdin is not None
        found.process.stdin.close()
        found.process.wait()


def state(lab: Namespace) -> str:
    """Addresses in their order; routes sorted: those of the kernel come back in the order of its events."""
    addresses = json.loads(lab.run("ip -json address"))
    for link in addresses:
        for one in link["addr_info"]:
            for name in ("valid_life_time", "preferred_life_time"):
                del one[name]
    routes: list[Any] = [
        json.dumps(one, sort_keys=True)
        for family in "46"
        for one in json.loads(lab.run(f"ip -{family} -json -details route show table all"))
    ]
    settings = lab.run("sysctl -a -r 'net.ipv[46].conf.*(forwarding|accept_redirects)|ip_forward$'")
    return "\n".join((json.dumps(addresses), *sorted(routes), settings))


def settled(lab: Namespace, wanted: str | None = None) -> str:
    """The state when it is as wanted, or the same twice: carriers come and go within a second."""
    last, end = state(lab), time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(0.1 if wanted else 1.2)
        now = state(lab)
        if now == (last if wanted is None else wanted):
            return now
        last = now
    return last


def draw_setup(chance: Random) -> Iterator[str]:
    """Addresses and routes of all kinds."""
    for number, port in enumerate(PORTS):
        yield f"ip address add 10.{number}.0.1/24 dev {port} {chance.choice(('', 'broadcast +'))}"
        yield f"ip address add 10.{number}.0.2/24 dev {port} label {port}:x"
        peer = f"10.9.{number}.1 peer 10.9.{number}.2/32"
        yield f"ip address add {peer} dev {port} metric {chance.randint(1, 9)}"
        for host in chance.sample(range(1, 9), 3):
            flag = chance.choice(("", "", "noprefixroute", "preferred_lft 0"))
            yield f"ip address add fd0{number}::{host}/64 dev {port} {flag}"
    for number in chance.sample(range(20, 60), 12):
        more = f"{chance.choice(('', 'proto static', 'table 100', 'metric 7', 'mtu 1400'))}"
        via, hop6 = chance.randint(0, 1), chance.randint(10, 99)
        yield chance.choice(
            (
                f"ip route add {number}.0.0.0/8 via 10.{via}.0.{hop6} {more}",
                f"ip route add {number}.0.0.0/8 {more} nexthop via 10.0.0.9 weight {hop6}"
                " nexthop via 10.1.0.9",
                f"ip route add blackhole {number}.0.0.0/8 {more.replace('mtu 1400', '')}",
                f"ip route add {number}.0.0.0/8 dev d{via} src 10.{via}.0.1 {more}",
                f"ip -6 route add fd{number}::/32 via fd0{via}::{hop6} {more}",
                f"ip -6 route add fd{number}::/32 {more} nexthop via fd00::99 weight 3 nexthop via fd01::99",
                f"ip -6 route add unreachable fd{number}::/32 {more.replace('mtu 1400', '')}",
            )
        )
    yield f"sysctl -qw net.ipv4.conf.{chance.choice(PORTS)}.forwarding={chance.randint(0, 1)}"
    yield f"sysctl -qw net.ipv4.conf.all.accept_redirects={chance.randint(0, 1)}"


def draw_case(chance: Random) -> str:
    """Lines that add, change and take away."""
    port, number = chance.choice(PORTS), chance.randint(0, 1)
    lines = (
        f"ip link set dev {port} down",
        f"ip link set dev {port} mtu {chance.choice((900, 1400, 9000))}",
        f"ip address add 10.{number}.0.77/24 dev d{number}",
        f"ip address add 100.64.0.1/30 dev {port}",
        f"ip address add fd77::1/64 dev {port}",
        f"ip address del 10.{number}.0.1/24 dev d{number}",
        f"ip route add 61.0.0.0/8 via 10.{number}.0.5",
        f"ip -6 route add fd61::/32 via fd0{number}::5",
        "sysctl -w net.ipv4.ip_forward=1",
        "sysctl -w net.ipv6.conf.all.forwarding=1",
    )
    return "".join(f"{line}\n" for line in chance.sample(lines, chance.randint(1, 5)))


ROUTER = rendered("router", "linux", {}, links(*PORTS))


def router_lines() -> list[str]:
    return ROUTER.splitlines(keepends=True)


@pytest.mark.parametrize("missing", [(), (1,), (2,), (5,), (0, 6), (2, 4, 5, 6), tuple(range(7))], ids=str)
def test_ready_template_on_a_configured_machine_adds_what_is_missing(
    missing: tuple[int, ...], lab: Namespace, tmp_path: Path
) -> None:
    """An administrator's addresses and routes stay, each as it is printed."""
    lab.run(SETUP)
    lab.run("ip link set d0 down; ip link set d1 down; ip address add 192.0.2.1/24 dev lo")
    lab.run("".join(line for number, line in enumerate(router_lines()) if number not in missing))
    before = settled(lab)
    sent: list[str] = []
    configure = lab.configure
    lab.configure = lambda text, *_: (sent.extend(text.splitlines(keepends=True)), configure(text))[1]  # type: ignore[method-assign]
    with Journal(Identity("linux", "here"), tmp_path / "state") as journal:
        subject = Configurer(lab, journal, Allowed(SECTIONS["linux"], PORTS, comment="#"))
        had = UNDOING.missing(ROUTER, subject.read())
        applied = subject.apply(ROUTER)
        assert [line.rstrip() for line in sent] == list(had)
        assert [*had] or [note.code for note in applied.notes] == ["configuration-there"]
        if applied.undo is not None:
            applied.undo()
        assert journal.pending is None
    assert settled(lab, before) == before


def test_route_of_another_next_hop_is_named_and_nothing_sent(lab: Namespace, tmp_path: Path) -> None:
    lab.run(SETUP)
    lab.run("ip address add 100.64.0.1/30 dev d0; ip route add 16.0.0.0/8 via 100.64.0.1 dev d0 onlink")
    lab.run("ip route add 16.0.0.0/8 dev d1")
    before = settled(lab)
    with Journal(Identity("linux", "here"), tmp_path / "state") as journal:
        subject = Configurer(lab, journal, Allowed(SECTIONS["linux"], PORTS, comment="#"))
        with pytest.raises(LabError) as raised:
            subject.apply(ROUTER)
        assert raised.value.code == "configuration-differs"
        assert journal.pending is None
    assert state(lab) == before


@pytest.mark.parametrize("seed", range(CASES))
def test_any_case_in_a_namespace_is_undone_exactly(seed: int, lab: Namespace, tmp_path: Path) -> None:
    chance = Random(seed)
    lab.run(SETUP)
    lab.run("\n".join(draw_setup(chance)))
    before = settled(lab)
    text = draw_case(chance)
    with Journal(Identity("linux", "here"), tmp_path / "state") as journal:
        subject = Configurer(lab, journal, Allowed(None, (), ("ip", "sysctl")))
        try:
            subject.apply(text)
        except LabError as error:
            print(error.code, error.message, error.hint)
            assert error.code in ("command-refused", "not-applied", "changed-since"), text  # noqa: PT017
        else:
            assert state(lab) != before
            subject.undo()
        assert journal.pending is None, text
    after = settled(lab, before)
    assert after == before, text
