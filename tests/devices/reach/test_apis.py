"""Plans that have a device read by an API: it comes before the command line, and the balance closes."""

from __future__ import annotations

import importlib.util
import json
import re
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fakes.fridge import Fridge, fridge_in, texts_of
from fakes.gnmi import Target, serving
from fakes.routeros_api import PASSWORD, USER, Router
from fakes.routeros_api import serving as serving_router
from fakes.vpp_stats import Segment
from fakes.vpp_stats import serving as serving_segment
from netdyno.campaign.run import missing_extra
from netdyno.cli.check import check
from netdyno.devices.access import Access, Api
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.drivers.driver import Reached
from netdyno.devices.drivers.system import System
from netdyno.devices.live import Inert
from netdyno.devices.reach import live
from netdyno.devices.telemetry import api
from netdyno.devices.wiring import LabError, Wiring
from netdyno.plan import parse

INTERFACE = re.compile(r"/interfaces/interface\[name=TenGigE([^]]+)\]/state/counters")
SUPPLIES = {"PS0": "RDlgAA==", "PS1": "512.5"}
# One case of the rehearsed plan.
ONE = {"l2-xconnect, bridge-domain, ipv4": "l2-xconnect", "[plain, lacp]": "[plain]"}
WIRING = Wiring("real", (), {})


def open_config(fridge: Fridge, path: str) -> Any:
    """What the fridge's counters are in OpenConfig."""
    found = INTERFACE.fullmatch(path)
    if found is not None:
        counted = fridge.chassis.ports.get(f"Te{found[1]}")
        size = fridge.chassis.size - 4
        return counted and {
            "in-pkts": str(counted["rx"]),
            "in-octets": str(round(counted["rx"] * size)),
            "in-discards": str(counted["in_drops"]),
            "out-pkts": str(counted["tx"]),
            "out-octets": str(round(counted["tx"] * size)),
            "out-discards": str(counted["out_drops"]),
        }
    if path.endswith("/power-supply/state"):
        supplies = [
            {"name": name, "power-supply": {"state": {"output-power": watts}}}
            for name, watts in SUPPLIES.items()
        ]
        return {"component": supplies}
    return None


def test_plan_with_gnmi_is_read_by_it_and_its_balance_closes(tmp_path: Path) -> None:
    with fridge_in(tmp_path) as fridge, serving(Target(lambda path: open_config(fridge, path))) as target:
        gnmi = f"gnmi: {{port: {target.port}, tls: false}}\n      configuration:"
        plan = str(fridge.plan(**ONE, **{"configuration:": gnmi}))
        code, said = fridge.run("run", plan)
        assert code == 0, said
        lines = list(fridge.server.lines)
        (run,) = (fridge.folder / "runs").iterdir()
        _, told = fridge.run("report", str(run), "--as", "json")
        assert not [path for path, data in texts_of(fridge.folder) if PASSWORD.encode() in data]
    (case,) = json.loads(told)["cases"]
    assert case["balance"]["code"] == "every-frame-accounted"
    (trial,) = case["trials"]
    rx = [one for one in trial["series"] if one["name"] == "rx_packets"]
    sent = trial["streams"][0]["offered_frames"]
    assert sent <= rx[0]["values"][-1] - rx[0]["values"][0] <= sent + 8
    # Once a port: the command line has the same counters, and is not asked for them.
    assert len({one["subject"] for one in rx}) == len(rx)
    assert not [
        line for line in lines if line.startswith(("show interfaces", "admin show environment power"))
    ]
    assert "show processes cpu" in lines
    # The watch of how long the command line takes knows its readings by their source.
    assert {one["source"] for one in rx} == {"gNMI"}
    watts = {one["subject"]: one["values"][0] for one in trial["series"] if one["name"] == "power"}
    assert sum(Fraction(str(one)) for one in watts.values()) == Fraction("1254.0")


def test_check_of_the_device_finds_an_api_that_refuses_it(tmp_path: Path) -> None:
    with fridge_in(tmp_path) as fridge, serving(Target(lambda path: None)) as target:
        gnmi = f"gnmi: {{port: {target.port}, tls: false}}\n      configuration:"
        code, said = fridge.run("check", "--device", str(fridge.plan(**{"configuration:": gnmi})))
    assert code == 3
    assert "has no counters of an interface `TenGigE0/1/0/0`" in said


def test_drivers_with_an_api_of_their_own_are_listed_with_it() -> None:
    assert [name for name, one in DRIVERS.items() if one.does.endswith(", API")] == ["routeros", "vpp"]


class NoCli:
    """A command line that must not be asked."""

    def __init__(self, system: System) -> None:
        self.shell = system.shell

    def ask(self, command: str, within_s: float = 15.0) -> str:
        raise AssertionError(command)


def test_router_with_its_api_is_asked_for_nothing_by_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    system: System = import_module("netdyno.devices.drivers.routeros").SYSTEM
    counted = {"name": "ether1", "rx-packet": "5", "tx-packet": "6"}
    tables = {
        "/interface/print": lambda: (counted,),
        "/system/resource/print": lambda: ({"cpu-load": "3"},),
        "/system/resource/cpu/print": lambda: ({"cpu": "cpu0", "load": "3"},),
    }
    with serving_router(Router(dict(tables))) as router:
        access = Access("127.0.0.1", USER, api=Api(router.port, tls=False))
        reached = Reached(("ether1",), access=access)
        by_api = live._open_apis(system, reached)
        cli = live.CliLive(WIRING, system, NoCli(system), reached, by_api)  # type: ignore[arg-type]
        by_reading = {one.reading.name: type(one).__name__ for one in cli.instruments()}  # type: ignore[attr-defined]
        again = live._open_apis(system, reached)
    assert by_reading == {
        "counters and drops": "ApiInstrument",
        "CPU": "ApiInstrument",
        "CPU per core": "ApiInstrument",
        # This router's API has none of these.
        "memory": "CliInstrument",
        "power and temperature": "CliInstrument",
        "optics": "CliInstrument",
    }
    assert again == by_api
    assert router.logins == 1


def test_vpp_on_this_machine_is_read_without_a_host(tmp_path: Path) -> None:
    system: System = import_module("netdyno.devices.drivers.vpp").SYSTEM
    segment = Segment()
    segment.write(names=("local0", "memif1/0"), combined={"/if/rx": (((0, 0), (42, 2520)),)})
    with serving_segment(segment, tmp_path / "s"):
        reached = Reached(("memif1/0",), access=Access("", api=Api(socket=str(tmp_path / "s"))))
        with live.reach(system, WIRING, reached) as found:
            assert isinstance(found, Inert)
            counters, *_ = found.instruments()
            samples = counters.read(lambda: 0)
        assert {channel.name: sample.value for channel, sample in samples.items()} == {
            "rx_packets": 42,
            "rx_bytes": 2520,
        }
        assert live.look(system, reached).ports.keys() == {"memif1/0"}


def test_check_without_the_extra_fails_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "find_spec", lambda name: None)
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
        assert (told["code"], told["hint"]) == ("extra-missing", "pip install 'netdyno[routeros]'")


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
    ("dut", "extra"),
    [
        ("driver: routeros, host: ccr, api: {}", "routeros"),
        ("driver: vpp, api: {}", "vpp"),
        ("driver: cisco_iosxr, host: xr, gnmi: {}", "gnmi"),
        ("driver: routeros, host: ccr", None),
    ],
)
def test_extra_that_is_not_installed_is_named_with_its_command(
    dut: str, extra: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = parse(PLAN.replace("driver: routeros, host: ccr, api: {}", dut))
    assert missing_extra(plan) is None
    monkeypatch.setattr(api, "find_spec", lambda name: None)
    found = missing_extra(plan)
    assert (found and (found.code, found.hint)) == (
        extra and ("extra-missing", f"pip install 'netdyno[{extra}]'")
    )


def test_device_is_not_reached_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "find_spec", lambda name: None)
    system: System = import_module("netdyno.devices.drivers.routeros").SYSTEM
    reached = Reached(("ether1",), access=Access("127.0.0.1", USER, api=Api(1, tls=False)))
    with pytest.raises(LabError) as caught, live.reach(system, WIRING, reached):
        pass
    assert caught.value.code == "extra-missing"
    assert importlib.util.find_spec("librouteros") is not None
