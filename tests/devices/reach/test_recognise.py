"""Drivers that are named for another system than the one that answers."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
from fakes.server import PASSWORD, USER, serve
from netdyno.devices.access import Access, Ssh
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.drivers.driver import Reached
from netdyno.devices.drivers.system import System
from netdyno.devices.reach import live
from netdyno.devices.stand_ins import iosxr
from netdyno.devices.stand_ins.chassis import Chassis
from netdyno.devices.stand_ins.stand_in import texts
from netdyno.devices.wiring import LabError, Wiring

OUTPUTS = Path(__file__).parents[2] / "data" / "outputs"
PRINTED = {
    "iosxe_version.laid_out.txt": {"cisco_iosxe": "03.16.02.S", "cisco_ios": "15.5(3)S2"},
    "ios_version.laid_out.txt": {"cisco_ios": "15.2(4)M5"},
}
"""Texts of `show version`, with the drivers that take it for their system's and the version they read. IOS XE
prints the version of its IOS as well."""


def system(driver: str) -> System:
    found = import_module(f"netdyno.devices.drivers.{driver}").DRIVER
    assert isinstance(found, System)
    return found


@pytest.mark.parametrize("driver", ["cisco_iosxe", "cisco_ios", "cisco_asa", "fsos", "linux", "vpp"])
def test_device_of_another_system_names_its_driver(
    driver: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    chassis = Chassis({"Te0/1/0/0": {"rx": 0, "tx": 0, "in_drops": 0, "out_drops": 0}})
    with serve(lambda: iosxr.Session(chassis)) as server:
        access = Access("127.0.0.1", USER, Ssh(server.port, known_hosts=server.known_hosts(tmp_path)))
        reached = Reached(("Te0/1/0/0",), (), access)
        for found in (
            lambda: live.look(system(driver), reached),
            lambda: live.reach(system(driver), Wiring("real", (), {}), reached).__enter__(),
        ):
            with pytest.raises(LabError) as caught:
                found()
            assert caught.value.code == "driver-differs"
            assert "`driver: cisco_iosxr`" in (caught.value.hint or "")
        assert live.look(system("cisco_iosxr"), reached).version == "5.3.4"


@pytest.mark.parametrize("text", [*PRINTED, "iosxr"])
def test_version_is_of_no_other_system(text: str) -> None:
    printed = texts("iosxr")["show version"] if text == "iosxr" else (OUTPUTS / text).read_text()
    found = {}
    for driver in DRIVERS.values():
        command, pattern = driver.version
        read = re.search(pattern, printed, re.MULTILINE) if command == "show version" else None
        if read is not None:
            found[driver.name] = read["n"]
    assert found == PRINTED.get(text, {"cisco_iosxr": "5.3.4"})
