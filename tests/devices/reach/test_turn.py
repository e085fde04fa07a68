"""A device that another netdyno configures: waited for, for a time, and before anything is measured."""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from threading import Timer

import pytest
from fakes.fridge import fridge_in
from netdyno.devices.configure.journal import Journal
from netdyno.devices.configure.locks import Identity
from netdyno.devices.reach import configuring
from netdyno.devices.wiring import LabError
from netdyno.values.reason import Reason

FRIDGE = Identity("cisco_iosxr", "fridge")


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_free_device_is_taken_without_a_word() -> None:
    said: list[Reason] = []
    configuring.await_turn(FRIDGE, said.append)
    assert said == []


def test_device_in_use_is_waited_for_and_said_once() -> None:
    said: list[Reason] = []
    other = Journal(FRIDGE)
    Timer(1.0, other.close).start()
    began = time.monotonic()
    configuring.await_turn(FRIDGE, said.append)
    assert 0.9 < time.monotonic() - began < 60
    assert [one.code for one in said] == ["device-awaited"]


def test_device_that_stays_in_use_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuring, "WAIT_S", 0.5)
    with Journal(FRIDGE), pytest.raises(LabError) as caught:
        configuring.await_turn(FRIDGE, lambda reason: None)
    assert caught.value.code == "device-in-use"
    assert caught.value.hint


def test_run_of_a_device_in_use_begins_when_it_is_free(tmp_path: Path) -> None:
    """Its one case is measured: nothing was begun while the device was another's."""
    with fridge_in(tmp_path) as fridge:
        one = {"l2-xconnect, bridge-domain, ipv4": "ipv4", "[plain, lacp]": "[plain]"}
        plan = fridge.plan(**one)
        # As OpenSSH prints the fingerprint of a key.
        digest = sha256(b64decode(fridge.server.key.split()[1])).digest()
        key = f"SHA256:{b64encode(digest).decode().rstrip('=')}"
        other = Journal(Identity("cisco_iosxr", "127.0.0.1", fridge.server.port, key=key))
        process = fridge.start("run", str(plan))
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "another netdyno uses this device" in line
        assert not (tmp_path / "runs").exists()
        assert not [line for line in fridge.server.lines if line.startswith(("conf", "show"))]
        other.close()
        said = process.communicate(timeout=60)[0]
        assert process.returncode == 0, said
        assert len(list((tmp_path / "runs").iterdir())) == 1
