"""For any configuration and any case: what is applied is undone, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from configured import IDENTITY, device_in
from faketree import SHELLS, FakeCli
from hypothesis import given, settings
from hypothesis import strategies as st
from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.apply import Configurer
from netdyno.devices.configure.journal import Journal
from netdyno.devices.configure.tree import parse, read_running, render_tree
from netdyno.devices.configure.undo import TreeUndoing
from netdyno.devices.wiring import LabError
from sampling import examples

EVERYTHING = Allowed(None, (), ("interface", "vlan", "router", "l2vpn", "ip route", "hostname", "arp"))
WORDS = st.sampled_from(["a", "b", "lab one"])


def sections(header: str, names: list[str], lines: st.SearchStrategy[list[str]]) -> st.SearchStrategy[str]:
    def joined(found: dict[str, list[str]]) -> str:
        return "".join(f"{header} {name}\n" + "".join(f" {x}\n" for x in found[name]) for name in found)

    return st.dictionaries(st.sampled_from(names), lines, max_size=3).map(joined)


XR_LINES = st.lists(
    st.one_of(
        WORDS.map(lambda word: f"description {word}"),
        st.sampled_from(["mtu 1500", "mtu 9216", "shutdown", "bundle id 1 mode active", "load-interval 30"]),
        st.sampled_from(["ipv4 address 10.0.0.1 255.255.255.0", "ipv4 address 10.0.1.1 255.255.255.0"]),
    ),
    min_size=1,
    max_size=4,
)
XR_BRIDGES = st.lists(st.sampled_from("ABCD"), min_size=1, max_size=3).map(
    lambda names: (
        "l2vpn\n"
        + "".join(
            f" bridge group {x}\n  bridge-domain {x}{y}\n   interface Te{y}\n" for x in names for y in "12"
        )
        + f" xconnect group {names[0]}\n  p2p x\n   interface Te1\n   interface {names[-1]}\n"
    )
)
XR_ROUTES = st.lists(st.sampled_from(["1", "2", "3", "48"]), min_size=1, max_size=3).map(
    lambda nets: (
        "router static\n address-family ipv4 unicast\n" + "".join(f"  {x}.0.0.0/8 10.0.0.2\n" for x in nets)
    )
)
XR_TEXTS = st.tuples(
    sections("interface", ["TenGigE0/1", "TenGigE0/2", "Bundle-Ether1"], XR_LINES),
    st.one_of(st.just(""), XR_ROUTES),
    st.one_of(st.just(""), XR_BRIDGES),
).map("".join)
XR_CASES = st.tuples(st.sampled_from(["", "no l2vpn\n", "no router static\n"]), XR_TEXTS).map("".join)

IOS_PORTS = [f"TenGigabitEthernet 0/{number}" for number in (1, 2, 3)]
IOS_LINES = st.one_of(
    st.lists(
        st.sampled_from(["mtu 9216", "switchport access vlan 5", "switchport mode trunk", "shutdown"]),
        max_size=4,
    ),
    st.lists(
        st.sampled_from(["ip address 10.0.0.1 255.255.255.0", "description b", "mtu 1500", "shutdown"]),
        max_size=4,
    ).map(lambda lines: ["no switchport", *lines]),
    st.just(["switchport", "switchport access vlan 6"]),
)
IOS_BEFORE_LINES = IOS_LINES.filter(lambda lines: "switchport" not in lines)


def ios_text(ports: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    vlans = sections("vlan", ["5", "20"], st.just(["name lab"]))
    routes = st.sampled_from(
        ["", "ip route 48.0.0.0 255.0.0.0 10.0.0.2\n", "ip route 1.0.0.0 255.0.0.0 10.0.0.3\n"]
    )
    return st.tuples(vlans, ports, routes).map("".join)


ALL_PORTS = "".join(f"interface {port}\n" for port in IOS_PORTS)
TEXTS = {
    "xr": (XR_TEXTS, XR_CASES),
    "ios": (
        ios_text(sections("interface", IOS_PORTS, IOS_BEFORE_LINES)).map(lambda text: text + ALL_PORTS),
        ios_text(sections("interface", IOS_PORTS, IOS_LINES)),
    ),
}


@pytest.mark.parametrize("system", TEXTS)
@settings(max_examples=examples(150), deadline=None, derandomize=True)
@given(data=st.data())
def test_any_case_on_any_configuration_is_undone(system: str, data: st.DataObject) -> None:
    first, second = TEXTS[system]
    with TemporaryDirectory() as name:
        folder = Path(name)
        device = device_in(folder, system, data.draw(first))
        before = device.text()
        with Journal(IDENTITY, folder / "state") as journal:
            subject = Configurer(FakeCli(device), journal, EVERYTHING)
            try:
                subject.apply(data.draw(second))
            except LabError as error:
                assert error.code in ("command-refused", "not-applied")  # noqa: PT017, either is fine
            else:
                subject.undo()
            assert journal.pending is None
        assert device.text() == before


LINES = st.text("ab 0.", min_size=1).map(str.strip).filter(bool)
TREES = st.recursive(st.just({}), lambda inner: st.dictionaries(LINES, inner, max_size=3), max_leaves=10)


@settings(max_examples=examples(100), deadline=None, derandomize=True)
@given(tree=TREES)
def test_tree_printed_and_parsed_is_the_same(tree: dict[str, object]) -> None:
    assert parse(render_tree(tree)) == tree  # type: ignore[arg-type]


@settings(max_examples=examples(100), deadline=None, derandomize=True)
@given(first=TREES, second=TREES)
def test_undo_between_equal_readings_is_empty(first: dict[str, object], second: dict[str, object]) -> None:
    undoing = TreeUndoing(SHELLS["xr"])
    one, two = (read_running(render_tree(tree), SHELLS["xr"]) for tree in (first, second))  # type: ignore[arg-type]
    assert undoing.undo(one, one) == ""
    assert bool(undoing.undo(one, two)) == (parse(one) != parse(two))
