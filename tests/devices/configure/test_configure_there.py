"""A device that has some or all of a template: what is missing is entered, and exactly that is undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import TypeAlias

import pytest
from configured import PORTS, TEMPLATES, Device, Step, any_device_in, device_in, journal_in, links, rendered
from faketree import SHELLS, FakeCli
from netdyno.devices.configure.apply import ROUNDS, Configurer, plan_changes
from netdyno.devices.configure.journal import Journal
from netdyno.devices.configure.sources import list_ready
from netdyno.devices.configure.systems import find_allowed, find_undoing
from netdyno.devices.configure.tree import numbered_paths
from netdyno.devices.configure.undo import TreeUndoing
from netdyno.devices.shell import Cli
from netdyno.devices.stand_ins.stand_in import RUNNING, texts
from netdyno.devices.wiring import LabError
from sampling import examples

Lines: TypeAlias = tuple[str, ...]
MACS = {"tester_mac_1": "043f.72c3.d048", "tester_mac_2": "043f.72c3.d049"}


@dataclass(frozen=True)
class Ready:
    """A ready template and a device for it. begin: its configuration; None: the usual."""

    system: str
    driver: str
    template: str
    ports: tuple[str, ...]
    begin: str | None = None
    allow: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.driver} {self.template}"

    @property
    def text(self) -> str:
        return rendered(self.template, self.driver, self.settings, links(*self.ports))

    @contextmanager
    def opened(self, folder: Path) -> Iterator[tuple[Device, Callable[[Step], Cli]]]:
        if self.begin is None:
            with any_device_in(folder, self.system) as found:
                yield found
        else:
            device = device_in(folder, self.system, self.begin)
            yield device, partial(FakeCli, device)


def with_ports(ports: tuple[str, ...]) -> str:
    return "hostname x\n" + "".join(f"interface {port}\n shutdown\n!\n" for port in sorted(ports))


XR, SWITCH = PORTS["xr"][:2], ("TenGigabitEthernet 0/1", "TenGigabitEthernet 0/2")
READY = [
    *(
        Ready("xr", "cisco_iosxr", name, XR, with_ports(PORTS["xr"]), settings=MACS if "ipv4" in name else {})
        for name in list_ready("cisco_iosxr")
    ),
    *(Ready("ios", "fsos", name, SWITCH, texts("fsos")[RUNNING]) for name in list_ready("fsos")),
    Ready(
        "xe",
        "cisco_iosxe",
        "router",
        ("GigabitEthernet0/0/0", "GigabitEthernet0/0/1"),
        texts("iosxe")[RUNNING],
    ),
    *(
        Ready(system, one.driver, one.template, one.ports, allow=one.allow)
        for system, one in TEMPLATES.items()
    ),
]


def ignore(_what: str) -> None:
    pass


def subject_of(ready: Ready, cli: Cli, journal: Journal) -> Configurer:
    return Configurer(cli, journal, find_allowed(cli.shell, ready.ports, ready.allow))


def lines_of(commands: str) -> list[Lines]:
    """What is entered, with its sections; without what only begins or leaves a section."""
    found = [path for _, path in numbered_paths(commands) if path[-1] not in ("exit", "root")]
    return [one for one in found if not any(other[:-1] == one for other in found)]


def indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


@pytest.mark.parametrize("ready", READY, ids=str)
def test_ready_template_that_is_there_whole_sends_nothing(ready: Ready, tmp_path: Path) -> None:
    steps: list[str] = []
    with ready.opened(tmp_path) as (device, cli), journal_in(tmp_path) as journal:
        session = cli(ignore)
        undoing = find_undoing(session.shell)
        session.configure(undoing.commands(ready.text))
        before = device.text()
        applied = subject_of(ready, cli(steps.append), journal).apply(ready.text)
        assert [note.code for note in applied.notes] == ["configuration-there"]
        assert (applied.undo, applied.diff, applied.text) == (None, "", ready.text)
        assert set(steps) == {"ask", "asked"}
        assert journal.pending is None
        assert device.text() == before
        allowed = find_allowed(session.shell, ready.ports, ready.allow)
        dry = plan_changes(ready.text, session.ask(session.shell.running), undoing, allowed)
        assert (dry.sent, dry.undo, dry.diff) == ("", "", "")


@pytest.mark.parametrize("ready", READY, ids=str)
def test_ready_template_in_part_is_completed_and_that_undone(ready: Ready, tmp_path: Path) -> None:
    """Any line of it lacks, and then all from any line on; a sample of the lines, always the first."""
    with ready.opened(tmp_path) as (device, cli), journal_in(tmp_path) as journal:
        sent: list[Lines] = []
        session = cli(ignore)
        entering, undoing = session.configure, find_undoing(session.shell)

        def configure(commands: str, *_: object) -> str:
            sent.extend(lines_of(commands))
            return entering(commands)

        session.configure = configure  # type: ignore[method-assign]
        subject = subject_of(ready, session, journal)
        bare, begin = subject.read(), device.text()

        def start_anew() -> None:
            for _ in range(ROUNDS):
                with suppress(LabError):
                    entering(undoing.undo(subject.read(), bare))
            assert device.text() == begin

        every = undoing.commands(ready.text).splitlines()
        leaves = lines_of(undoing.commands(ready.text))
        entering(undoing.commands(ready.text))
        whole = sorted(subject.read().splitlines())
        start_anew()
        places = Random(str(ready)).sample(range(1, len(every)), examples(len(every) - 1))
        for at in (0, *places):
            begins_section = every[at + 1 : at + 2] and every[at + 1].startswith(f"{indent(every[at])} ")
            is_leaf = every[at].strip() not in ("exit", "root") and not begins_section
            for there in (every[:at], every[:at] + every[at + 1 :])[: 1 + is_leaf]:
                # Without one line another may be refused.
                is_entered = False
                with suppress(LabError):
                    entering("".join(f"{line}\n" for line in there))
                    is_entered = True
                before, had = device.text(), undoing.missing(ready.text, subject.read())
                sent.clear()
                applied = subject.apply(ready.text)
                assert sorted(subject.read().splitlines()) == whole
                assert {" / ".join(path) for path in sent} <= {*had} | {*map(" / ".join, leaves)}
                assert len(sent) == len({*sent})
                kept = {" / ".join(path) for path in lines_of("\n".join(there))} - {*had}
                assert not is_entered or not kept & {" / ".join(path) for path in sent}, there
                if applied.undo is not None:
                    applied.undo()
                assert journal.pending is None
                assert device.text() == before
                start_anew()


ROUTER, FIREWALL = TEMPLATES["router"], TEMPLATES["asa"]
USUAL = {
    "xr": Ready("xr", "cisco_iosxr", "", XR, with_ports(PORTS["xr"])),
    "ios": Ready("ios", "fsos", "", SWITCH, texts("fsos")[RUNNING]),
    **{
        system: Ready(system, one.driver, one.template, one.ports, allow=one.allow)
        for system, one in TEMPLATES.items()
    },
}
PORT = {system: ready.ports[0] for system, ready in USUAL.items()}


def applied_on(system: str, there: str, text: str, folder: Path) -> tuple[str, str]:
    """What changed when a text was applied where an administrator had entered another, and what was sent.

    It is undone, too.
    """
    ready = USUAL[system]
    with ready.opened(folder) as (device, cli), journal_in(folder) as journal:
        session = cli(ignore)
        undoing = find_undoing(session.shell)
        session.configure(undoing.commands(there))
        before = device.text()
        allow = (*ready.allow, f"interface {ready.ports[0]}")
        allowed = find_allowed(session.shell, ready.ports, allow)
        dry = plan_changes(text, session.ask(session.shell.running), undoing, allowed)
        applied = Configurer(session, journal, allowed).apply(text)
        # Linux prints more of a route than is entered.
        pairs = zip(dry.diff.splitlines(), applied.diff.splitlines(), strict=True)
        assert all(did.startswith(would) for would, did in pairs)
        assert applied.undo is not None
        applied.undo()
        assert device.text() == before
        assert journal.pending is None
    return applied.diff, dry.sent


def test_line_that_a_device_prints_twice_is_no_change() -> None:
    shell, printed = SHELLS["asa"], ": Saved\n:\n: Hardware: x\n:\ninterface Ethernet0/0\n no nameif\n: end\n"
    dry = plan_changes(
        "interface Ethernet0/0\n description x\n",
        printed,
        TreeUndoing(shell),
        find_allowed(shell, ("Ethernet0/0",)),
    )
    assert dry.diff == " interface Ethernet0/0\n+ description x\n"


@pytest.mark.parametrize(
    ("system", "there", "text", "gone", "new"),
    [
        *(
            (
                system,
                f"interface {PORT[system]}\n{mode} {ip} address 10.0.0.1 255.0.0.0\n no shutdown\n",
                f"interface {PORT[system]}\n{mode} {ip} address 10.0.0.9 255.0.0.0\n no shutdown\n",
                f"- {ip} address 10.0.0.1 255.0.0.0",
                f"+ {ip} address 10.0.0.9 255.0.0.0",
            )
            for system, ip, mode in (
                ("xr", "ipv4", ""),
                ("ios", "ip", " no switchport\n"),
                ("router", "ip", ""),
                ("asa", "ip", " nameif lab\n"),
            )
        ),
        (
            "xr",
            f"interface {PORT['xr']}\n ipv4 address 10.0.0.1 255.0.0.0\n"
            "arp vrf default 10.0.0.2 0.0.1 ARPA\n",
            "arp vrf default 10.0.0.2 0.0.2 ARPA\n",
            "-arp vrf default 10.0.0.2 0.0.1 ARPA",
            "+arp vrf default 10.0.0.2 0.0.2 ARPA",
        ),
        (
            "router",
            f"interface {PORT['router']}\n ip address 10.0.0.1 255.0.0.0\narp 10.0.0.2 0.0.1 ARPA\n",
            "arp 10.0.0.2 0.0.2 ARPA\n",
            "-arp 10.0.0.2 0.0.1 ARPA",
            "+arp 10.0.0.2 0.0.2 ARPA",
        ),
        (
            "router",
            f"interface {PORT['router']}\n ip address 10.0.0.1 255.0.0.0\n"
            " ip address 11.0.0.1 255.0.0.0 secondary\n",
            f"interface {PORT['router']}\n ip address 12.0.0.1 255.0.0.0\n",
            "- ip address 10.0.0.1 255.0.0.0",
            "+ ip address 12.0.0.1 255.0.0.0",
        ),
        (
            "linux",
            "ip link set dev d0 mtu 1400\n",
            "ip link set dev d0 mtu 1600\n",
            "-ip link set dev d0 mtu 1400",
            "+ip link set dev d0 mtu 1600",
        ),
    ],
)
def test_line_that_takes_the_place_of_another_is_shown_and_put_back(
    system: str, there: str, text: str, gone: str, new: str, tmp_path: Path
) -> None:
    diff, _ = applied_on(system, there, text, tmp_path)
    assert [line for line in diff.splitlines() if line[0] in "+-"] == [gone, new]


@pytest.mark.parametrize(
    ("system", "there", "text", "sent"),
    [
        # A section that must be new, given half.
        (
            "ios",
            "vlan 20\ninterface VLAN 20\n ip address 100.64.0.1 255.255.255.0\n shutdown\n",
            "vlan 20\n name lab\ninterface VLAN 20\n ip address 100.64.0.1 255.255.255.0\n no shutdown\n",
            ["vlan 20", " name lab", "exit", "interface VLAN 20", " no shutdown", "exit"],
        ),
        # Of the properties of an item, those that differ.
        (
            "routeros",
            "/interface ethernet set [ find name=sfp-sfpplus1 ] l2mtu=9018\n",
            "/interface ethernet set [ find name=sfp-sfpplus1 ] l2mtu=9018 mtu=9000\n",
            ["/interface ethernet set [ find name=sfp-sfpplus1 ] mtu=9000"],
        ),
        # Other spellings of what is there.
        (
            "linux",
            "ip link set dev d0 up\nip -6 address add 2001:db8::1/64 dev d0 nodad\n"
            "ip -6 route add 2001:db8:9::/48 via 2001:db8::9\nip address add 10.0.0.1/24 dev d0\n"
            "ip route add 16.0.0.1 via 10.0.0.2\n",
            "ip address add 2001:DB8:0::1/64 dev d0\nip route add 2001:db8:9:0::/48 via 2001:db8:0::9\n"
            "ip route add 16.0.0.1/32 via 10.0.0.2\nip route add 16.0.0.2/32 via 10.0.0.2\n",
            ["ip route add 16.0.0.2/32 via 10.0.0.2"],
        ),
        # A route by its name is the same route.
        (
            "router",
            "ip route 16.0.0.0 255.0.0.0 100.64.0.2 name lab\n",
            "ip route 16.0.0.0 255.0.0.0 100.64.0.2\nip route 48.0.0.0 255.0.0.0 100.64.0.2\n",
            ["ip route 48.0.0.0 255.0.0.0 100.64.0.2"],
        ),
        # What is removed first is entered again.
        (
            "xr",
            "l2vpn\n xconnect group a\n  p2p b\n   interface TenGigE0/1/0/0\n",
            "l2vpn\n no xconnect group a\n xconnect group a\n  p2p b\n   interface TenGigE0/1/0/0\n"
            "   interface TenGigE0/2/0/0\n",
            [
                *("l2vpn", " no xconnect group a", " xconnect group a", "  p2p b"),
                *("   interface TenGigE0/1/0/0", "   interface TenGigE0/2/0/0", "  exit", " exit", "root"),
            ],
        ),
        # So is what a line takes away.
        (
            "router",
            f"interface {PORT['router']}\n ip address 10.0.0.1 255.0.0.0\n no shutdown\n",
            f"interface {PORT['router']}\n vrf forwarding a\n ip address 10.0.0.1 255.0.0.0\n no shutdown\n",
            [f"interface {PORT['router']}", " vrf forwarding a", " ip address 10.0.0.1 255.0.0.0", "exit"],
        ),
    ],
)
def test_only_what_is_missing_is_sent(
    system: str, there: str, text: str, sent: list[str], tmp_path: Path
) -> None:
    assert applied_on(system, there, text, tmp_path)[1].splitlines() == sent


@pytest.mark.parametrize(
    ("system", "there", "text", "code"),
    [
        (
            "linux",
            "ip link set dev d0 up\nip address add 100.64.0.1/30 dev d0\nip route add 16.0.0.0/8 dev d0\n",
            "",
            "configuration-differs",
        ),
        (
            "routeros",
            "/interface vlan add interface=ether1 name=netdyno-101 vlan-id=7\n",
            "",
            "configuration-differs",
        ),
        (
            "routeros",
            "/interface vlan add interface=sfp-sfpplus1 mtu=9000 name=netdyno-101 vlan-id=101\n"
            "/ip address add address=10.1.1.1/24 disabled=yes interface=netdyno-101\n",
            "",
            "configuration-differs",
        ),
        (
            "xr",
            f"interface {PORT['xr']}\n ipv4 address 10.0.0.1 255.0.0.0\n",
            f"interface {PORT['xr']}\n l2transport\n",
            "configuration-differs",
        ),
        (
            "asa",
            f"interface {PORT['asa']}\n nameif outside\nroute outside 8.0.0.0 255.0.0.0 10.0.0.2 1\n",
            "",
            "configuration-differs",
        ),
        ("asa", f"interface {USUAL['asa'].ports[1]}\n nameif lab0\n", "", "configuration-differs"),
        ("ios", "vlan 20\n name office\n", "vlan 20\n name lab\n", "section-not-allowed"),
        ("ios", "vlan 20\n", "no vlan 20\n", "section-not-allowed"),
        (
            "ios",
            "vlan 20\ninterface VLAN 20\n ip address 10.0.0.1 255.0.0.0\n",
            "interface VLAN 20\n ip address 10.0.0.1 255.0.0.0\n shutdown\n",
            "section-not-allowed",
        ),
    ],
)
def test_what_cannot_be_beside_it_is_named_and_nothing_sent(
    system: str, there: str, text: str, code: str, tmp_path: Path
) -> None:
    ready = USUAL[system]
    steps: list[str] = []
    with ready.opened(tmp_path) as (device, cli), journal_in(tmp_path) as journal:
        session = cli(ignore)
        session.configure(find_undoing(session.shell).commands(there))
        before = device.text()
        with pytest.raises(LabError) as raised:
            subject_of(ready, cli(steps.append), journal).apply(text or ready.text)
        assert raised.value.code == code
        assert raised.value.hint
        assert set(steps) == {"ask", "asked"}
        assert device.text() == before
