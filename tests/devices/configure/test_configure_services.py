"""Ready templates of services: entered, read back and undone on each system's stand-in, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from configured import any_device_in, device_in, journal_in, links, rendered
from fakes import systems
from faketree import FakeCli
from netdyno.devices.configure.apply import Configurer, plan_changes
from netdyno.devices.configure.sources import TemplateFault, explain_absence, list_ready
from netdyno.devices.configure.systems import find_allowed, find_undoing
from netdyno.devices.stand_ins.stand_in import RUNNING, texts
from netdyno.devices.wiring import LabError, LabLink

OF = {
    "cisco_ios": (systems.IOS, "router"),
    "cisco_iosxe": (systems.IOSXE, "xe"),
    "cisco_asa": (systems.ASA, "asa"),
    "routeros": (systems.ROUTEROS, "routeros"),
}
"""By driver: the stand-in, and the system in `configured`."""
OF_THE_BOX = (
    *("no ip cef", "policy-map global_policy", "/ip settings set", "/ip traffic-flow set"),
    "same-security-traffic permit inter-interface",
)
"""Lines that are of the whole device, so that the plan allows them."""
ROUTER = {
    "acl": ["deny ip host 198.18.0.24 any", "permit ip any any", "ip access-group NETDYNO-ACL in"],
    "acl-log": ["permit ip any any log"],
    "nat-static": ["ip nat inside source static network 16.0.0.0 10.0.0.0 /8", "ip nat inside"],
    "nat-pool": ["ip nat inside source list NETDYNO-INSIDE pool NETDYNO", "ip nat outside"],
    "masquerade": ["ip nat inside source list NETDYNO-INSIDE interface {1} overload", "ip nat outside"],
    "firewall": [
        "zone-pair security NETDYNO-OUT source NETDYNO-INSIDE destination NETDYNO-OUTSIDE",
        *("inspect", "drop", "zone-member security NETDYNO-INSIDE", "zone-member security NETDYNO-OUTSIDE"),
    ],
    "firewall-nat": ["zone-member security NETDYNO-INSIDE", "ip nat inside"],
    "urpf-strict": ["ip verify unicast source reachable-via rx"],
    "urpf-loose": ["ip verify unicast source reachable-via any"],
    "shaping": ["shape average 50000000", "service-policy output NETDYNO-SHAPER"],
    "llq": ["match dscp ef", "priority percent 20", "service-policy output NETDYNO-LLQ"],
    "flow-export": ["record netflow ipv4 original-input", "ip flow monitor NETDYNO-FLOWS input"],
    "none": ["ip route 48.0.0.0 255.0.0.0 100.64.1.2"],
}
ENTERED: Mapping[str, Mapping[str, list[str]]] = {
    "cisco_iosxe": ROUTER,
    "cisco_ios": {
        **ROUTER,
        "process-switching": ["no ip cef", "no ip route-cache"],
        "firewall-cbac": ["ip inspect name NETDYNO udp", "ip inspect NETDYNO in", "deny ip any any"],
    },
    "cisco_asa": {
        "acl": ["access-list netdyno extended deny ip host 198.18.0.24 any"],
        "acl-log": ["access-list netdyno extended permit ip any any log"],
        "nat-static": ["nat (lab0,lab1) source static netdyno-inside netdyno-outside"],
        "nat-pool": ["nat (lab0,lab1) source dynamic netdyno-inside netdyno-pool"],
        "masquerade": ["nat (lab0,lab1) source dynamic netdyno-inside interface"],
        "urpf-strict": ["ip verify reverse-path interface lab1"],
        "shaping": ["shape average 50000000", "service-policy netdyno-shaper interface lab1"],
        "llq": ["priority-queue lab1", "priority", "service-policy netdyno-llq interface lab1"],
        "flow-export": ["flow-export event-type all destination 100.64.1.2"],
        "none": ["route lab1 48.0.0.0 255.0.0.0 100.64.1.2 1"],
    },
    "routeros": {
        "router": ["address=100.64.1.1/30 interface={1}"],
        "acl": ["action=drop chain=forward in-interface={0} src-address=198.18.0.24"],
        "acl-log": ["action=accept chain=forward in-interface={0} log=yes log-prefix=netdyno"],
        "nat-static": ["action=netmap chain=srcnat out-interface={1} src-address=16.0.0.0/8"],
        "nat-pool": ["action=src-nat chain=srcnat", "to-addresses=100.67.0.1-100.67.0.14"],
        "masquerade": ["action=masquerade chain=srcnat out-interface={1}"],
        "firewall": ["connection-state=established,related in-interface={1}"],
        "firewall-nat": ["connection-state=established,related in-interface={1}", "action=masquerade"],
        "urpf-strict": ["rp-filter=strict"],
        "urpf-loose": ["rp-filter=loose"],
        "shaping": ["max-limit=50M name=netdyno-shaper parent={1}"],
        "llq": ["dscp=46 new-packet-mark=netdyno-voice", "parent=netdyno-llq priority=1"],
        "flow-export": ["enabled=yes interfaces={0}", "dst-address=100.64.1.2 port=2055 version=9"],
        "none": ["dst-address=48.0.0.0/8 gateway=100.64.1.2"],
    },
}
"""What each template enters, beside other lines."""
BASE = {
    "cisco_ios": {"router"},
    "cisco_iosxe": {"router"},
    "cisco_asa": {"firewall"},
    "routeros": {"ccr1072-vlan-routing", "lag"},
}
"""Templates that are in tests beside this one."""


@pytest.mark.parametrize(
    ("driver", "name"), [(driver, name) for driver, every in ENTERED.items() for name in every]
)
def test_service_is_entered_and_undone_byte_for_byte(driver: str, name: str, tmp_path: Path) -> None:
    stand_in, system = OF[driver]
    with ExitStack() as stack:
        if driver == "cisco_iosxe":
            device = device_in(tmp_path, system, texts("iosxe")[RUNNING])
            cli = partial(FakeCli, device)
        else:
            device, cli = stack.enter_context(any_device_in(tmp_path, system))  # type: ignore[assignment]
        journal = stack.enter_context(journal_in(tmp_path))
        session, before = cli(lambda _what: None), device.text()
        allowed = find_allowed(session.shell, stand_in.ports, OF_THE_BOX)
        text = rendered(name, driver, {}, links(*stand_in.ports))
        dry = plan_changes(text, session.ask(session.shell.running), find_undoing(session.shell), allowed)
        applied = Configurer(session, journal, allowed).apply(text)
        new = [" ".join(line[1:].split()) for line in applied.diff.splitlines() if line[0] == "+"]
        for line in ENTERED[driver][name]:
            wanted = line.format(*stand_in.ports)
            # RouterOS prints all other properties between them.
            is_part = driver == "routeros"
            assert any({*wanted.split()} <= {*one.split()} if is_part else one == wanted for one in new), (
                wanted
            )
            assert wanted in dry.sent or driver == "routeros"
        assert applied.undo is not None
        applied.undo()
        assert journal.pending is None
        assert device.text() == before


def test_lag_of_routeros_is_entered_and_undone_byte_for_byte(tmp_path: Path) -> None:
    stand_in, system = OF["routeros"]
    first, second = stand_in.ports
    lag = LabLink("west", first, 10**10, members=(second,))
    with ExitStack() as stack:
        device, cli = stack.enter_context(any_device_in(tmp_path, system))
        journal = stack.enter_context(journal_in(tmp_path))
        session, before = cli(lambda _what: None), device.text()
        allowed = find_allowed(session.shell, stand_in.ports, ("/interface bonding add",))
        text = rendered("lag", "routeros", {"hash": "src-dst-ip"}, (lag,))
        applied = Configurer(session, journal, allowed).apply(text)
        has = re.sub(r"\\\s+", "", device.text())
        assert f"name=netdyno-1 slaves={first},{second} transmit-hash-policy=layer-2-and-3" in has
        assert applied.undo is not None
        applied.undo()
        assert device.text() == before


def test_every_service_of_a_system_is_entered_by_a_test() -> None:
    for driver, every in ENTERED.items():
        assert {*list_ready(driver)} == {*every} | BASE[driver]


@pytest.mark.parametrize("driver", ENTERED)
@pytest.mark.parametrize("rules", [1, 300])
def test_access_list_has_as_many_rules_as_asked_for(driver: str, rules: int) -> None:
    text = rendered("acl", driver, {"rules": str(rules)}, links(*OF[driver][0].ports))
    found = [
        line.split()
        for line in text.splitlines()
        if {"permit", "deny", "drop", "accept"} & {*line.replace("action=", "").split()}
    ]
    found = [words for words in found if "same-security-traffic" not in words]
    assert len(found) == len({*map(tuple, found)}) == rules


@pytest.mark.parametrize(
    ("driver", "text"),
    [
        ("cisco_ios", "ip access-list extended OFFICE\n permit ip any any\n"),
        ("cisco_ios", "ip nat inside source list OFFICE pool NETDYNO\n"),
        ("cisco_ios", "policy-map NETDYNO\n class class-default\n  shape average 1000\n  exec x\n"),
        ("cisco_ios", "interface FastEthernet3\n zone-member security OFFICE\n"),
        ("cisco_ios", "no ip cef\n"),
        ("cisco_asa", "access-list office extended permit ip any any\n"),
        ("cisco_asa", "access-group netdyno in interface outside\n"),
        ("cisco_asa", "policy-map global_policy\n class class-default\n"),
        ("routeros", "/ip firewall filter add action=drop chain=input in-interface=ether1\n"),
        ("routeros", "/ip firewall filter add action=drop chain=forward\n"),
        ("routeros", "/queue tree add max-limit=1M name=netdyno-x parent=ether1 queue=default\n"),
        ("routeros", "/ip settings set rp-filter=strict\n"),
    ],
)
def test_service_that_is_not_the_lab_s_is_refused(driver: str, text: str, tmp_path: Path) -> None:
    stand_in, system = OF[driver]
    with any_device_in(tmp_path, system) as (device, cli), journal_in(tmp_path) as journal:
        session, before = cli(lambda _what: None), device.text()
        allowed = find_allowed(session.shell, stand_in.ports)
        with pytest.raises(LabError) as raised:
            Configurer(session, journal, allowed).apply(text)
        assert raised.value.code == "section-not-allowed"
        assert raised.value.hint
        assert device.text() == before


def test_service_that_a_system_has_not_names_those_that_have_it() -> None:
    assert "cisco_ios" in explain_absence("process-switching", "cisco_iosxe", None)[1]
    with pytest.raises((LabError, TemplateFault)):
        rendered("process-switching", "cisco_iosxe", {}, links("Gi0/0", "Gi0/1"))
