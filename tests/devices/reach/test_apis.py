"""Plans that have a device read by an API: it comes before the command line, and the balance closes."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from fakes.fridge import texts_of
from fakes.lab import Lab
from fakes.routeros_api import PASSWORD, USER, Router
from fakes.routeros_api import serving as serving_router
from fakes.systems import ROUTEROS as FAKE
from netdyno.campaign.run import missing_extra
from netdyno.cli.check import check
from netdyno.devices import extras
from netdyno.devices.access import Access, Api
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.drivers.driver import Reached
from netdyno.devices.drivers.system import System
from netdyno.devices.reach import live
from netdyno.devices.wiring import LabError, Wiring
from netdyno.plan import parse

WIRING = Wiring("real", (), {})


def rows_of(lab: Lab) -> list[dict[str, str]]:
    """What the stand-in's counters are in the API."""
    found = []
    for name in FAKE.ports:
        counted = lab.chassis.counted(name)
        assert counted is not None
        fields = {"rx-packet": "rx", "tx-packet": "tx", "rx-drop": "in_drops", "tx-drop": "out_drops"}
        fields |= {"rx-byte": "rx_bytes", "tx-byte": "tx_bytes"}
        found.append({"name": name, **{field: str(counted[own]) for field, own in fields.items()}})
    return found


@contextmanager
def router_in(folder: Path, tables: Mapping[str, Callable[[Lab], list[dict[str, str]]]]) -> Iterator[Lab]:
    """A stand-in for a router whose plan asks for its API."""
    answers = Router({})
    with FAKE.serve(folder) as (_, lab), serving_router(answers) as router:
        answers.tables = {name: partial(rows, lab) for name, rows in tables.items()}
        api = f"driver: routeros\n      api: {{port: {router.port}, tls: false}}"
        lab.text = lab.text.replace("driver: routeros", api)
        yield lab


def test_plan_with_an_api_is_read_by_it_and_its_balance_closes(tmp_path: Path) -> None:
    tables = {
        "/interface/print": rows_of,
        "/system/resource/cpu/print": lambda _: [{"cpu": "0", "load": "3"}],
    }
    with router_in(tmp_path, tables) as lab:
        code, said = lab.run("run", str(lab.plan()))
        assert code == 0, said
        lines = list(lab.server.lines)
        (case,) = lab.cases()
        assert not [path for path, data in texts_of(lab.folder) if PASSWORD.encode() in data]
    assert case["balance"]["code"] == "every-frame-accounted"
    (trial,) = case["trials"]
    rx = [one for one in trial["series"] if one["name"] == "rx_packets"]
    # Once a port: the command line has the same counters, and is not asked for them.
    assert sorted(one["subject"] for one in rx) == sorted(FAKE.ports)
    assert not [line for line in lines if line.startswith(("/interface print stats", "/system resource cpu"))]
    assert [line for line in lines if line.startswith("/system health print")]
    # The watch of how long the command line takes knows its readings by their source.
    assert {one["source"] for one in rx} == {"RouterOS API"}


def test_check_of_the_device_finds_an_api_that_refuses_it(tmp_path: Path) -> None:
    with router_in(tmp_path, {"/interface/print": lambda _: []}) as lab:
        code, said = lab.run("check", "--device", str(lab.plan()))
    assert code == 3
    assert "has no interface `sfp-sfpplus1`" in said


def test_drivers_with_an_api_of_their_own_are_listed_with_it() -> None:
    assert [name for name, one in DRIVERS.items() if one.does.endswith(", API")] == ["routeros"]


class NoCli:
    """A command line that must not be asked."""

    def __init__(self, system: System) -> None:
        self.shell = system.shell

    def ask(self, command: str, within_s: float = 15.0) -> str:
        raise AssertionError(command)


def test_router_with_its_api_is_asked_for_nothing_by_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    system: System = import_module("netdyno.devices.drivers.routeros").DRIVER
    counted = {"name": "ether1", "rx-packet": "5", "tx-packet": "6"}
    tables = {
        "/interface/print": lambda: (counted,),
        "/system/resource/print": lambda: ({"cpu-load": "3"},),
        "/system/resource/cpu/print": lambda: ({"cpu": "cpu0", "load": "3"},),
    }
    with serving_router(Router(dict(tables))) as router:
        access = Access("127.0.0.1", USER, api=Api(router.port, tls=False))
        reached = Reached(("ether1",), access=access)
        by_api = live._open_api(system, reached)
        cli = live.CliLive(WIRING, system, NoCli(system), reached, by_api)  # type: ignore[arg-type]
        by_reading = {one.reading.name: type(one).__name__ for one in cli.instruments()}  # type: ignore[attr-defined]
        again = live._open_api(system, reached)
    assert by_reading == {
        "counters and drops": "ApiInstrument",
        "CPU": "ApiInstrument",
        "CPU per core": "ApiInstrument",
        # This router's API has none of these.
        "memory": "CliInstrument",
        "power and temperature": "CliInstrument",
        "IPv4 routes": "CliInstrument",
        "IPv6 routes": "CliInstrument",
        "optics": "CliInstrument",
    }
    assert again == by_api
    assert router.logins == 1


def test_check_without_the_extra_fails_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN)
    for form in ("text", "json"):
        done = CliRunner().invoke(check, [str(file), "--format", form])
        if form == "text":
            assert isinstance(done.exception, LabError)
            assert done.exception.code == "extra-missing"
            continue
        assert done.exit_code == 3
        (told,) = json.loads(done.stdout)["errors"]
        assert (told["code"], told["hint"]) == ("extra-missing", installing("devices"))


PLAN = """\
title: A router with an API
lab:
  nodes:
    tester: {kind: netdyno}
    dut: {kind: external, driver: routeros, host: ccr, api: {}}
  links:
    - {endpoints: ["tester:west", "dut:ether1"], interface: eth77, rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:ether2"], interface: eth78, rate: 1Gbps}
traffic: {small: {size: 64B}}
method: {throughput: {duration: 10ms}}
"""


@pytest.mark.parametrize(
    ("dut", "library", "extra"),
    [
        ("driver: routeros, host: ccr, api: {}", "librouteros", "routeros"),
        ("driver: routeros, host: ccr", "librouteros", None),
        ("driver: routeros, host: ccr", "netmiko", "devices"),
    ],
)
def test_extra_that_is_not_installed_is_named_with_its_command(
    dut: str, library: str, extra: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = parse(PLAN.replace("driver: routeros, host: ccr, api: {}", dut))
    assert missing_extra(plan) is None
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == library else object())
    found = missing_extra(plan)
    assert (found and (found.code, found.hint)) == (extra and ("extra-missing", installing(extra)))


def installing(extra: str) -> str:
    """The command that installs an extra into the environment of the tests."""
    return f"{sys.executable} -m pip install {' '.join(extras.PACKAGES[extra])}"


def test_packages_of_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    wanted = project["optional-dependencies"]
    for extra, packages in extras.PACKAGES.items():
        for package in packages:
            name, _, most = package.strip("'").partition("<")
            assert any(re.fullmatch(rf"{name}>=[0-9.]+,<{re.escape(most)}", one) for one in wanted[extra]), (
                package
            )


def test_device_is_not_reached_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    system: System = import_module("netdyno.devices.drivers.routeros").DRIVER
    reached = Reached(("ether1",), access=Access("127.0.0.1", USER, api=Api(1, tls=False)))
    with pytest.raises(LabError) as caught, live.reach(system, WIRING, reached):
        pass
    assert caught.value.code == "extra-missing"
    assert importlib.util.find_spec("librouteros") is not None
