"""Our sessions against a simulator of devices that others wrote: no fake of ours repeats our own mistakes."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from netdyno.devices.access import Access, Ssh
from netdyno.devices.drivers.system import System
from netdyno.devices.reach.session import Session
from netdyno.devices.wiring import LabError

fakenos = pytest.importorskip("fakenos", reason="the package fakenos is not installed")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def await_listener(port: int) -> None:
    """The simulator says that it has started before it listens."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        # As `/proc/net/tcp` has it: a connection would be a session that ends at once.
        if re.search(rf":{port:04X} 00000000:0000 0A", Path("/proc/net/tcp").read_text()):
            return
        time.sleep(0.05)


@pytest.fixture
def session(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A session of a driver with its system. Parameter: names of the platform and of the driver."""
    platform, driver = request.param
    monkeypatch.setenv("NETDYNO_PASSWORD", "planted-by-others")
    port = free_port()
    host = {"username": "lab", "password": "planted-by-others", "port": port, "platform": platform}
    net = fakenos.FakeNOS(inventory={"hosts": {"R1": host}})
    net.start()
    try:
        await_listener(port)
        shell = system(driver).shell
        with Session(Access("127.0.0.1", "lab", Ssh(port, strict=False)), shell) as found:
            yield found
    finally:
        net.stop()


def system(driver: str) -> System:
    found = import_module(f"netdyno.devices.drivers.{driver}").DRIVER
    assert isinstance(found, System)
    return found


@pytest.mark.parametrize("session", [("cisco_xr", "cisco_iosxr")], indirect=True)
def test_ios_xr_of_another_simulator_gives_its_version(session: Session) -> None:
    command, pattern = system("cisco_iosxr").version
    found = re.search(pattern, session.ask(command), re.MULTILINE)
    assert found is not None
    assert found["n"] == "4.1.0"
    interfaces = session.ask("show interfaces")
    assert "Loopback5 is up, line protocol is up" in interfaces
    assert "Null0 is up" in interfaces


@pytest.mark.parametrize("session", [("cisco_ios", "cisco_ios")], indirect=True)
def test_refusal_of_another_simulator_is_an_error(session: Session) -> None:
    with pytest.raises(LabError) as caught:
        session.ask("show nothing at all")
    assert caught.value.code == "command-refused"
    assert "line protocol" in session.ask("show interfaces")
