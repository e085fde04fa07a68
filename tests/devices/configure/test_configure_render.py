"""Templates: the ready ones, those beside a plan, and hostile ones."""

from __future__ import annotations

import os
import pickle
import resource
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from configured import links, rendered
from faketree import SHELLS
from netdyno.devices.configure import sandbox
from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.render import render_all
from netdyno.devices.configure.sections import SECTIONS
from netdyno.devices.configure.sources import READY, list_ready
from netdyno.devices.configure.tree import parse
from netdyno.devices.configure.undo import TreeUndoing
from netdyno.devices.wiring import LabError, LabLink, Subinterface
from netdyno.plan import load
from netdyno.testers import tables

EXAMPLES = Path(__file__).parents[3] / "examples"

PAIR = links("TenGigE0/1/0/0", "TenGigE0/2/0/0")
LAGS = [
    replace(link, members=(f"{link.device_port[:-1]}1",))
    for link in links("TenGigE0/1/0/0", "TenGigE0/2/0/0")
]
MACS = {"tester_mac_1": "043f.72c3.d048", "tester_mac_2": "043f.72c3.d049"}

L2 = "interface TenGigE0/1/0/0\n l2transport\n !\n!\ninterface TenGigE0/2/0/0\n l2transport\n !\n!\n"
ROUTES = """\
router static
 address-family ipv4 unicast
  16.0.0.0/8 100.64.0.2
  48.0.0.0/8 100.64.1.2
 !
!
arp vrf default 100.64.0.2 043f.72c3.d048 ARPA
arp vrf default 100.64.1.2 043f.72c3.d049 ARPA
"""
"""The published tester was cabled the other way round: 16.0.0.0/8 is behind the first link here."""


def lags(inside_1: str, inside_2: str) -> str:
    text = ""
    for number, inside in ((1, inside_1), (2, inside_2)):
        text += f"interface Bundle-Ether{number}\n description LAG{number}\n{inside}!\n"
        for member in (0, 1):
            text += f"interface TenGigE0/{number}/0/{member}\n bundle id {number} mode active\n!\n"
    return text


L2_LAGS = lags(" l2transport\n !\n", " l2transport\n !\n")
IPV4_LAGS = lags(
    " ipv4 address 100.64.0.1 255.255.255.252\n bundle load-balancing hash src-ip\n",
    " ipv4 address 100.64.1.1 255.255.255.252\n bundle load-balancing hash src-ip\n",
)
PUBLISHED = {
    "l2-xconnect-plain": L2
    + "l2vpn\n xconnect group loadtest\n  p2p xc01\n   interface TenGigE0/1/0/0\n"
    + "   interface TenGigE0/2/0/0\n  !\n !\n!\n",
    "bridge-domain-plain": L2
    + "l2vpn\n xconnect group loadtest\n !\n bridge group loadtest\n  bridge-domain bd01\n"
    + "   interface TenGigE0/1/0/0\n   !\n   interface TenGigE0/2/0/0\n   !\n  !\n !\n!\n",
    "ipv4-plain": "interface TenGigE0/1/0/0\n ipv4 address 100.64.0.1 255.255.255.252\n!\n"
    + "interface TenGigE0/2/0/0\n ipv4 address 100.64.1.1 255.255.255.252\n!\n"
    + ROUTES,
    "l2-xconnect-lacp": L2_LAGS
    + "l2vpn\n load-balancing flow src-dst-ip\n xconnect group loadtest\n  p2p xc01\n"
    + "   interface Bundle-Ether1\n   interface Bundle-Ether2\n  !\n !\n!\n",
    "bridge-domain-lacp": L2_LAGS
    + "l2vpn\n load-balancing flow src-dst-ip\n no xconnect group loadtest\n bridge group loadtest\n"
    + "  bridge-domain bd01\n"
    + "   interface Bundle-Ether1\n   !\n   interface Bundle-Ether2\n   !\n  !\n !\n!\n",
    "ipv4-lacp": f"no l2vpn\n{IPV4_LAGS}{ROUTES}",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_ready_template_of_the_asr9006_is_as_published(name: str) -> None:
    text = rendered(f"asr9006-{name}", "cisco_iosxr", MACS, LAGS if "lacp" in name else PAIR)
    assert text == PUBLISHED[name]


@pytest.mark.parametrize(
    ("driver", "name", "example"),
    [
        ("cisco_iosxr", "asr9006-ipv4-plain", "asr9006-driver"),
        ("cisco_iosxr", "asr9006-ipv4-lacp", "asr9006-driver"),
        ("cisco_ios", "router", "own-router"),
        ("cisco_iosxe", "router", "own-router"),
        ("cisco_asa", "firewall", "own-router"),
    ],
)
def test_ready_addresses_and_routes_are_those_of_the_example_plan(
    driver: str, name: str, example: str
) -> None:
    """Each link's port, or the bundle that it is in, has the link's gateway; the flows go by its tester."""
    plan = load(EXAMPLES / f"{example}.yaml", tables=tables())
    text = rendered(name, driver, {}, plan.lab.links)
    tree = parse(text)
    for link, behind in zip(plan.lab.links, ("16.0.0.0", "48.0.0.0"), strict=True):
        inside = tree[f"interface {link.device_port}"]
        bundle = next((one.split()[2] for one in inside if one.startswith("bundle id ")), None)
        own = inside if bundle is None else tree[f"interface Bundle-Ether{bundle}"]
        assert [one for one in own if f"address {link.gateway} " in one], link.tester_port
        tester = str(link.address).partition("/")[0]
        assert [one for one in text.splitlines() if f" {behind}" in one and tester in one.split()]


@pytest.mark.parametrize("name", ["l2", "qinq", "l3"])
@pytest.mark.parametrize("trunk", [(), ("FortyGigabitEthernet 0/26",)])
def test_ready_template_of_the_s5860_is_allowed(name: str, trunk: tuple[str, ...]) -> None:
    ports = tuple(f"TenGigabitEthernet 0/{number}" for number in (1, 2, 3, 4))
    text = rendered(f"s5860-{name}", "fsos", dict(zip(("trunk",), trunk, strict=False)), links(*ports))
    allowed = Allowed(SECTIONS["fs_os"], ports, tuple(f"interface {port}" for port in trunk))
    allowed.check(
        text, "interface FortyGigabitEthernet 0/26\n" + "".join(f"interface {one}\n" for one in ports)
    )
    assert bool(trunk) == ("switchport trunk allowed vlan only 1" in text)
    assert TreeUndoing(SHELLS["ios"]).commands(text)


def test_ready_template_of_the_s5860_has_the_published_tunnel() -> None:
    text = rendered("s5860-qinq", "fsos", {"trunk": "Fo 0/26"}, links("Te 0/1", "Te 0/2", "Te 0/3", "Te 0/4"))
    assert parse(text)["interface Te 0/3"] == {
        "switchport mode dot1q-tunnel": {},
        "switchport dot1q-tunnel allowed vlan add untagged 21": {},
        "switchport dot1q-tunnel native vlan 21": {},
        "spanning-tree bpdufilter enable": {},
    }
    assert " switchport trunk allowed vlan only 1,20-21\n" in text
    assert "tpid" not in text


@pytest.mark.parametrize("tpid", ["0x9100", "0x88a8"])
def test_tunnel_of_the_s5860_has_the_asked_tpid_on_its_trunk_alone(tpid: str) -> None:
    settings, ports = {"trunk": "FortyGigabitEthernet 0/26", "tpid": tpid}, ("Te 0/1", "Te 0/2")
    text = rendered("s5860-qinq", "fsos", settings, links(*ports))
    Allowed(SECTIONS["fs_os"], ports, (f"interface {settings['trunk']}",)).check(
        text, f"interface {settings['trunk']}\n"
    )
    with_tag = {name for name, inside in parse(text).items() if f"frame-tag tpid {tpid}" in inside}
    assert with_tag == {f"interface {settings['trunk']}"}


POLICIES = [
    ("cisco_iosxr", "asr9006-ipv4-lacp", "dst-ip", " bundle load-balancing hash dst-ip"),
    ("cisco_iosxr", "asr9006-l2-xconnect-lacp", "l2", " load-balancing flow src-dst-mac"),
    ("cisco_iosxr", "asr9006-bridge-domain-lacp", "l2", " load-balancing flow src-dst-mac"),
    ("fsos", "s5860-lag", None, " aggregateport load-balance src-dst-ip"),
    ("fsos", "s5860-lag", "l3-l4", " aggregateport load-balance src-dst-ip-l4port"),
    ("routeros", "lag", None, "transmit-hash-policy=layer-3-and-4"),
    ("routeros", "lag", "l2", "transmit-hash-policy=layer-2"),
]
OWN = {"cisco_iosxr": "cisco_xr", "fsos": "fs_os", "routeros": "mikrotik_routeros"}


@pytest.mark.parametrize(("driver", "name", "hash_", "wanted"), POLICIES)
def test_hash_policy_of_a_lag_is_the_setting(driver: str, name: str, hash_: str | None, wanted: str) -> None:
    settings = {} if hash_ is None else {"hash": hash_}
    text = rendered(name, driver, settings, LAGS)
    lines = text.splitlines()
    assert any(line == wanted or line.endswith(f" {wanted}") for line in lines), text
    ports = tuple(port for link in LAGS for port in link.device_ports)
    there = "".join(f"interface {port}\n" for port in ports)
    allow = ("/interface bonding add",) if driver == "routeros" else ()
    allowed = Allowed(SECTIONS[OWN[driver]], ports, allow, comment="#" if driver == "routeros" else "!")
    allowed.check(text, "" if driver == "routeros" else there)


def test_ready_templates_of_other_systems_render() -> None:
    text = rendered("ccr1072-vlan-routing", "routeros", {}, links("sfp-sfpplus1", "sfp-sfpplus2"))
    assert "/ip address add address=10.2.1.1/24 interface=netdyno-201\n" in text
    assert "/ip route add dst-address=48.128.0.0/9 gateway=10.2.2.2\n" in text
    assert "ip address add 100.64.1.1/30 dev eth1\n" in rendered("router", "linux", {}, links("eth0", "eth1"))


@pytest.mark.parametrize(
    ("driver", "name", "line"),
    [
        ("cisco_ios", "router", "ip route 48.0.0.0 255.0.0.0 100.64.1.2"),
        ("cisco_iosxe", "router", "ip route 48.0.0.0 255.0.0.0 100.64.1.2"),
        ("cisco_asa", "firewall", "route lab1 48.0.0.0 255.0.0.0 100.64.1.2 1"),
    ],
)
def test_ready_template_of_a_cisco_router_is_allowed(driver: str, name: str, line: str) -> None:
    ports = ("GigabitEthernet0/0", "GigabitEthernet0/1")
    text = rendered(name, driver, {}, links(*ports))
    assert parse(text)["interface GigabitEthernet0/1"].keys() >= {"ip address 100.64.1.1 255.255.255.252"}
    assert line in text.splitlines()
    allow = ("same-security-traffic permit inter-interface",) if name == "firewall" else ()
    sections = SECTIONS["cisco_asa" if name == "firewall" else "cisco_ios"]
    Allowed(sections, ports, allow).check(text, "hostname x\n")


def test_every_ready_template_is_named_in_a_test() -> None:
    """Those of systems with services are in `test_configure_services.py`."""
    found = {f"{folder.name}/{name}" for folder in READY.iterdir() for name in list_ready(folder.name)}
    others = ("cisco_ios/", "cisco_iosxe/", "cisco_asa/", "routeros/")
    assert {name for name in found if not name.startswith(others)} == {
        *(f"cisco_iosxr/asr9006-{name}" for name in PUBLISHED),
        *("fsos/s5860-l2", "fsos/s5860-qinq", "fsos/s5860-l3", "fsos/s5860-lag", "linux/router"),
    }


def test_template_beside_the_plan_has_links_and_settings(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "own.j2").write_text(
        "{% include 'part.j2' %}{% for link in links %}{% for vlan in link.vlans %}\n"
        "interface {{ link.device_port }}.{{ vlan.vids[0] }}\n mtu {{ settings.mtu }}\n"
        "{% endfor %}{% endfor %}"
    )
    (tmp_path / "part.j2").write_text("hostname {{ name ~ '-' ~ mtu }}\n\n")
    link = LabLink("p0", "Te1", 10**10, vlans=(Subinterface(((100, 0x8100),)),))
    text = rendered("lab/own.j2", "cisco_iosxr", {"mtu": "9000", "name": "r"}, [link], tmp_path)
    assert text == "hostname r-9000\ninterface Te1.100\n mtu 9000\n"


def fault(name: str, source: str, folder: Path) -> LabError:
    (folder / "own.j2").write_text(source)
    (folder / "other.j2").write_text("{% include 'own.j2' %}{% include 'own.j2' %}")
    with pytest.raises(LabError) as raised:
        rendered(name, "cisco_iosxr", {"mtu": "9000"}, PAIR, folder)
    assert raised.value.code == "template-wrong"
    return raised.value


def test_undefined_name_is_reported_with_its_line(tmp_path: Path) -> None:
    message = fault("own.j2", "a\nb {{ mtu }}\nc {{ mut }}\n", tmp_path).message
    assert "own.j2:3" in message
    assert "`mut`" in message


def test_mistake_in_an_included_template_is_reported_there(tmp_path: Path) -> None:
    (tmp_path / "part.j2").write_text("\n\n{% if %}")
    assert "part.j2:3" in fault("own.j2", "{% include 'part.j2' %}", tmp_path).message


@pytest.mark.parametrize("name", ["../own.j2", "/etc/passwd", "lab/../own.j2", "", ".", "own.j2\x00", "~/x"])
def test_template_outside_the_plan_s_folder_is_not_read(name: str, tmp_path: Path) -> None:
    inner = tmp_path / "lab"
    inner.mkdir()
    (tmp_path / "own.j2").write_text("x")
    fault(name, "", inner)


def test_link_out_of_the_plan_s_folder_is_not_followed(tmp_path: Path) -> None:
    inner = tmp_path / "lab"
    inner.mkdir()
    (tmp_path / "secret").write_text("secret")
    (inner / "out.j2").symlink_to(tmp_path / "secret")
    fault("out.j2", "", inner)


HOSTILE = (
    "{{ ''.__class__ }}",
    "{{ settings.__class__ }}",
    "{{ ports.append('x') }}",
    # Too much memory.
    "{{ '{:>1500000000}'.format(1) }}",
    "{{ 'a' * 999999999 }}",
    "{% set x = 'aaaaaaaaaaaaaaaa' %}" + "{% set x = x ~ x %}" * 60,
    # Too much time: many turns, and one operation that no turn interrupts.
    "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
    "{{ 9 ** (9 ** 9) }}",
    # Too much text.
    "{% for a in range(1001) %}{{ 'a' * 1000 }}{% endfor %}",
    "{{ (" + "(" * 300 + "1" + ")" * 301 + " }}",
    "{% include 'other.j2' %}{% include 'other.j2' %}",
    "{% macro a() %}{{ a() }}{{ a() }}{% endmacro %}{{ a() }}",
    "{% include '/etc/passwd' %}",
    "{% include 'part' ~ mtu %}",
    "{% extends 'other.j2' %}",
    "{% if %}",
    "{{",
)


@pytest.mark.parametrize("source", HOSTILE, ids=range(len(HOSTILE)))
def test_template_that_exceeds_its_limits_is_refused(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "CPU_S", 0.3)
    fault("own.j2", source, tmp_path)


def test_cases_behind_one_that_takes_too_much_time_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "CPU_S", 0.3)
    (tmp_path / "own.j2").write_text(
        "{% if mtu == '2' %}{{ 9 ** (9 ** (mtu|int + 7)) }}{% endif %}mtu {{ mtu }}\n"
    )
    named = [("own.j2", {"mtu": mtu}) for mtu in ("1", "2", "3")]
    found = render_all(named, "cisco_iosxr", PAIR, tmp_path)
    assert [(one.text, len(one.faults)) for one in found] == [("mtu 1\n", 0), ("", 1)]


def fail() -> None:
    raise OSError("no /proc")


@pytest.mark.parametrize("end", [fail, lambda: os.kill(os.getpid(), signal.SIGKILL)])
def test_expansion_that_no_limit_ends_is_no_fault_of_the_template(
    end: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_limit_memory", end)
    with pytest.raises(LabError) as raised:
        rendered("asr9006-ipv4-plain", "cisco_iosxr", MACS, PAIR)
    assert raised.value.code == "process-ended"


def test_expansion_in_a_process_with_little_memory_is_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user allows at most is less than what netdyno would."""
    set_to: list[tuple[int, int]] = []
    hard = 2**28
    monkeypatch.setattr(resource, "getrlimit", lambda _: (hard, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: set_to.append(limits))
    sandbox._limit_memory()
    assert set_to == [(hard, hard)]


def test_child_is_gone_when_its_answers_are_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: Any) -> None:
        raise KeyboardInterrupt

    children: list[int] = []
    fork = os.fork

    def fork_and_note() -> int:
        children.append(fork())
        return children[-1]

    monkeypatch.setattr(os, "fork", fork_and_note)
    monkeypatch.setattr(pickle, "load", interrupt)
    with pytest.raises(KeyboardInterrupt):
        rendered("asr9006-ipv4-plain", "cisco_iosxr", MACS, PAIR)
    (child,) = children
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)


def test_template_that_is_too_long_or_no_text_is_refused(tmp_path: Path) -> None:
    fault("own.j2", "x" * 100_001, tmp_path)
    (tmp_path / "bytes.j2").write_bytes(b"\xff\xfe")
    fault("bytes.j2", "", tmp_path)


@pytest.mark.parametrize("value", ["1500\nreload", "1\r", "\x1b[A", "\x85", "\u2028", "\x00", "\x7f"])
def test_setting_with_a_control_character_is_refused(value: str) -> None:
    with pytest.raises(LabError) as raised:
        rendered("asr9006-ipv4-plain", "cisco_iosxr", {"mtu": value}, PAIR)
    assert raised.value.code == "wrong-format"
    assert raised.value.message.isprintable()


def test_setting_that_looks_like_a_template_stays_text() -> None:
    macs = {"tester_mac_1": "{{ ports }}", "tester_mac_2": "x"}
    assert "100.64.0.2 {{ ports }} ARPA" in rendered("asr9006-ipv4-plain", "cisco_iosxr", macs, PAIR)


def test_setting_does_not_take_the_place_of_the_ports() -> None:
    assert "interface TenGigE0/1/0/0" in rendered("asr9006-ipv4-plain", "cisco_iosxr", {"ports": "x"}, PAIR)
