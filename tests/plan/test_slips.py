"""Slips of a first plan are named where they are, with what was meant; `check` says what a router needs."""

from __future__ import annotations

import re
from ipaddress import ip_network
from pathlib import Path

import pytest
from netdyno.cli import outline
from netdyno.devices.drivers import DRIVERS
from netdyno.errors import PlanErrors
from netdyno.plan import load, parse

PLAN = (Path(__file__).parents[2] / "examples" / "own-router.yaml").read_text()


@pytest.mark.parametrize("name", ["lab", "nodes", "links", "traffic", "method", "matrix", "tester"])
def test_forgotten_colon_is_named_in_its_own_line(name: str) -> None:
    text, count = re.subn(rf"^( *){name}:", rf"\1{name}", PLAN, count=1, flags=re.M)
    assert count == 1
    with pytest.raises(PlanErrors) as failed:
        parse(text)
    error = failed.value.errors[0]
    line = next(number for number, one in enumerate(text.splitlines(), 1) if re.match(rf" *{name}\b", one))
    assert (error.code, error.line) == ("wrong-format" if name == "tester" else "not-yaml", line)
    assert f"`{name}:`" in (error.hint or "")


@pytest.mark.parametrize(("given", "right"), [("rate 1Gbps", "rate:"), ("interface eth1", "interface:")])
def test_forgotten_colon_before_a_value_is_named_in_its_own_line(given: str, right: str) -> None:
    text = PLAN.replace(given.replace(" ", ": "), given, 1)
    with pytest.raises(PlanErrors) as failed:
        parse(text)
    (error,) = failed.value.errors
    assert text.splitlines()[error.line - 1].strip() == given
    assert f"`{right}`" in (error.hint or "")


@pytest.mark.parametrize(
    ("was", "given", "meant"),
    [
        ("duration: 60s", "duration: 60", "60s"),
        ("duration: 60s", "duration: 2.5", "2.5s"),
        ("size: 1518B", "size: 1518", "1518B"),
        ("kind: external", "kind: router", "external"),
        ("kind: external", "kind: mikrotik", "external"),
        ("kind: external", "kind: external, driver: mikrotik, host: dut", "routeros"),
        ("kind: external", "kind: external, driver: asr9006, host: dut", "cisco_iosxr"),
        ("kind: external", "kind: external, driver: ios, host: dut", "cisco_ios"),
        ("kind: external", "kind: external, driver: ios-xr, host: dut", "cisco_iosxr"),
        ("duration: 60s", "duration: 1m", "1min"),
        ("duration: 60s", "duration: 2 hours", "2h"),
        # What is spelled alike is meant, whoever made it.
        ("kind: external", "kind: external, driver: cisco_iosrx, host: dut", "cisco_iosxr"),
    ],
)
def test_hint_has_what_was_meant(was: str, given: str, meant: str) -> None:
    with pytest.raises(PlanErrors) as failed:
        parse(PLAN.replace(was, given))
    assert f"`{meant}`" in (failed.value.errors[0].hint or "").partition("?")[0]


@pytest.mark.parametrize(
    ("given", "meant", "at"),
    [
        ("{size: 64, flows: 4096}", "64B", "traffic.size"),
        ("{sizes: [64B, 128B]}", "size", "traffic.sizes"),
        ("{small: 64B}", "small: {size: 64B}", "traffic.small"),
        ("{small: {size: 64B}, flows: 4096}", "any: {flows: 4096}", "traffic.flows"),
    ],
)
def test_profile_without_name_or_unit_has_a_hint_to_write(given: str, meant: str, at: str) -> None:
    with pytest.raises(PlanErrors) as failed:
        parse(re.sub(r"(?ms)^traffic:.*?(?=^\S)", f"traffic: {given}\n", PLAN, count=1))
    found = {error.path: error.hint or "" for error in failed.value.errors}
    assert f"`{meant}`" in found[at]


@pytest.mark.parametrize(("kind", "driver"), [("mikrotik", "routeros"), ("cisco_iosxe", "cisco_iosxe")])
def test_maker_as_a_kind_names_its_driver_too(kind: str, driver: str) -> None:
    with pytest.raises(PlanErrors) as failed:
        parse(PLAN.replace("kind: external", f"kind: {kind}"))
    assert failed.value.errors[0].code == "unknown-name"
    assert f"`driver: {driver}`" in (failed.value.errors[0].hint or "")


@pytest.mark.parametrize("method", ["ramp: {}", "sweep: {loads: [10%]}", "frame-loss: {}"])
def test_goal_for_what_the_method_does_not_find_is_a_mistake(method: str) -> None:
    text = re.sub(r"(?ms)^method:.*?(?=^\S|\Z)", f"method:\n  {method}\n", PLAN, count=1)
    assert parse(f"{text}\ngoals: [loss <= 1%]\n").goals
    with pytest.raises(PlanErrors) as failed:
        parse(f"{text}\ngoals: [throughput >= 5%]\n")
    (error,) = failed.value.errors
    assert (error.code, error.path) == ("goal-not-of-method", "goals[0]")


def test_protocol_in_capitals_is_named_in_small_letters() -> None:
    with pytest.raises(PlanErrors) as failed:
        parse(PLAN.replace("size: 1518B", "size: 1518B, protocol: TCP", 1))
    (error,) = failed.value.errors
    assert error.code == "out-of-range"
    assert (error.hint or "").startswith("write `tcp`")


def test_two_links_of_a_router_in_one_subnet_are_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    assert list(outline.list_subnet_warnings(load(path))) == []
    path.write_text(PLAN.replace("100.64.1.2/30", "100.64.0.9/24").replace("100.64.1.1", "100.64.0.1"))
    assert [one.code for one in outline.list_subnet_warnings(load(path))] == ["shared-subnet"]


@pytest.mark.parametrize(
    ("driver", "right"),
    [
        ("", "16.0.0.0/8 via 100.64.0.2"),
        ("cisco_ios", "ip route 16.0.0.0 255.0.0.0 100.64.0.2"),
        ("cisco_iosxr", "router static address-family ipv4 unicast 16.0.0.0/8 100.64.0.2"),
        ("cisco_asa", "route inside 16.0.0.0 255.0.0.0 100.64.0.2"),
        ("routeros", "/ip route add dst-address=16.0.0.0/8 gateway=100.64.0.2"),
        ("linux", "ip route add 16.0.0.0/8 via 100.64.0.2"),
    ],
)
def test_check_says_in_the_words_of_the_router_what_is_behind_a_port(driver: str, right: str) -> None:
    text = PLAN.replace("dut:GigabitEthernet0/0", "dut:inside")
    if driver:
        text = text.replace("kind: external", f"kind: external, driver: {driver}, host: dut")
    assert f"  behind west: {right}" in list(outline.lines(parse(text)))


def test_ready_templates_have_the_routes_that_check_prints() -> None:
    """The words of each system are those of a configuration that was entered on it."""
    templates = Path(outline.__file__).parents[1] / "devices" / "configure" / "templates"
    for name, driver in DRIVERS.items():
        words = [path.read_text() for path in (templates / name).glob("*.j2")]
        line = driver.format_route(str(ip_network("16.0.0.0/8")), "100.64.0.2", "lab0")
        if any("route 16.0.0.0" in text or "route add 16.0.0.0" in text for text in words):
            shape = re.escape(line).replace(r"100\.64\.0\.2", r"100\.6[45]\.\d\.2")
            assert any(re.search(shape, text) for text in words), name


def test_goal_before_a_slip_needs_no_colon() -> None:
    with pytest.raises(PlanErrors) as failed:
        parse(PLAN + "goals:\n  - throughput >= 5%\n    loss: 3\n")
    assert all("throughput" not in (error.hint or "") for error in failed.value.errors)
