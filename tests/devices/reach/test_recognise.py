"""Drivers that are named for another system than the one that answers."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from fakes.server import PASSWORD, USER, serve
from netdyno.devices.access import Access, Ssh
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.drivers.driver import Reached
from netdyno.devices.drivers.system import System
from netdyno.devices.reach import live
from netdyno.devices.reach.recognise import read_version
from netdyno.devices.stand_ins import iosxr
from netdyno.devices.stand_ins.chassis import Chassis
from netdyno.devices.stand_ins.stand_in import texts
from netdyno.devices.wiring import LabError, Wiring

OUTPUTS = Path(__file__).parents[2] / "data" / "outputs"
PRINTED = {
    "iosxe_version.laid_out.txt": {"cisco_iosxe": "03.16.02.S"},
    "ios_version.laid_out.txt": {"cisco_ios": "15.2(4)M5"},
}
"""Texts of `show version`, with the driver of their system and the version it reads."""
XE = """\
Cisco IOS XE Software, Version 17.09.04a
Cisco IOS Software [Cupertino], ISR Software (X86_64_LINUX_IOSD-UNIVERSALK9-M), Version 17.9.4a
lab uptime is 1 day
"""
OTHERS = {
    XE: ("cisco_iosxe", "17.09.04a"),
    "Cisco IOS Software, ASR1000 Software (PPC_LINUX_IOSD-ADVENTERPRISEK9-M), Version 15.1(2)S\n": (
        "cisco_iosxe",
        None,
    ),
    "Cisco IOS Software, IOS-XE Software, Catalyst 4500 L3 Switch, Version 03.04.00.SG RELEASE\n": (
        "cisco_iosxe",
        "03.04.00.SG",
    ),
    "Cisco IOS Software [Dublin], Lab Switch Software (LAB-K9-M), Experimental Version 17.2.2026:101 [x]\n": (
        "cisco_iosxe",
        "17.2.2026:101",
    ),
    "IOS (tm) C2600 Software (C2600-I-M), Version 12.2(8)T5,  RELEASE SOFTWARE (fc1)\n": ("cisco_ios", None),
    "Cisco IOS XR Software, Version 7.11.2 LNT\nCopyright (c) 2013-2024 by Cisco Systems, Inc.\n": (
        "cisco_iosxr",
        "7.11.2",
    ),
    "Cisco IOS XR Software, Version 6.1.2\n": ("cisco_iosxr", "6.1.2"),
    "Cisco Nexus Operating System (NX-OS) Software\nSoftware\n  system:    version 6.0(2)A8\n": ("", None),
    "Arista DCS-7150S-64-CL-R\nSoftware image version: 4.13.2F\nArchitecture:  i386\n": ("", None),
    "Junos: 21.4R3.15\nJUNOS OS Kernel 64-bit\n": ("", None),
}
"""Further texts: the driver of their system, empty where there is none, and the version it reads."""


class Printer:
    """A session with a device that knows one command."""

    access = Access("192.0.2.1")

    def __init__(self, text: str) -> None:
        self.text = text

    def open(self) -> None:
        pass

    def ask(self, command: str, within_s: float = 0) -> str:
        if command != "show version":
            raise LabError("refused", code="command-refused")
        return self.text


@pytest.mark.parametrize("driver", ["cisco_ios", "cisco_iosxe", "cisco_iosxr", "cisco_asa", "fsos"])
@pytest.mark.parametrize("text", OTHERS, ids=lambda text: text[:24].strip())
def test_wrong_system_is_refused_where_its_version_is_unknown(text: str, driver: str) -> None:
    name, version = OTHERS[text]
    printer: Any = Printer(text)
    if name == driver:
        assert read_version(system(driver), printer) == version
        return
    with pytest.raises(LabError) as caught:
        read_version(system(driver), printer)
    assert caught.value.code == "driver-differs"
    assert f"`{name}`" in caught.value.message if name else "prints" in caught.value.message


def test_device_that_refuses_every_command_is_not_said_to_lack_its_ports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Refusing(iosxr.Session):
        def run(self, line: str) -> str | None:
            return super().run(line) if line[:1] in ("", "!") else "Command authorization failed."

    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    chassis = Chassis({"Te0/1/0/0": {"rx": 0, "tx": 0, "in_drops": 0, "out_drops": 0}})
    with serve(lambda: Refusing(chassis)) as server:
        access = Access("127.0.0.1", USER, Ssh(server.port, known_hosts=server.known_hosts(tmp_path)))
        reached = Reached(("Te0/1/0/0",), (), access)
        for found in (
            lambda: live.look(system("cisco_iosxr"), reached),
            lambda: live.reach(system("cisco_iosxr"), Wiring("real", (), {}), reached).__enter__(),
        ):
            with pytest.raises(LabError) as caught:
                found()
            assert caught.value.code == "command-refused"
            assert "Command authorization failed." in caught.value.message


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
        if command == "show version" and re.search(driver.mark or pattern, printed, re.MULTILINE):
            read = re.search(pattern, printed, re.MULTILINE)
            found[driver.name] = read["n"] if read else ""
    assert found == PRINTED.get(text, {"cisco_iosxr": "5.3.4"})
