"""gNMI: OpenConfig as targets pack it, certificates, and targets that do not answer as they should."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import grpc
import pytest
from certificates import make_identity
from fakes.gnmi import PASSWORD, USER, Target, serving
from netdyno.devices import secrets
from netdyno.devices.access import Api
from netdyno.devices.telemetry import gnmi_target
from netdyno.devices.telemetry.api import ApiInstrument, open_api
from netdyno.devices.telemetry.api import Target as Reached
from netdyno.devices.telemetry.gnmi_values import to_number
from netdyno.devices.wiring import LabError
from pygnmi.client import gNMIclient

PORT = "TenGigE0/1/0/0"
COUNTERS = f"/interfaces/interface[name={PORT}]/state/counters"
CPUS = "/system/cpus"
STATE = "/components/component[name=*]"
# 64 bits are texts in JSON of YANG (RFC 7951), so that no reader rounds them.
TREE: dict[str, Any] = {
    COUNTERS: {
        "openconfig-interfaces:in-octets": "18446744073709551615",
        "in-pkts": "9007199254740993",
        "in-discards": "12",
        "in-errors": "0",
        "in-unicast-pkts": "1",
        "out-octets": "640",
        "out-pkts": "10",
        "out-discards": "3",
        "out-errors": 4,
        "last-clear": "2026-01-01T00:00:00Z",
    },
    CPUS: {
        "cpu": [
            {"index": "ALL", "state": {"index": "ALL", "total": {"instant": 12, "avg": 9}}},
            {"index": 0, "state": {"index": 0, "total": {"instant": "17.25", "avg": 11}}},
        ]
    },
    f"{STATE}/state/memory": {
        "component": [{"name": "0/RSP0/CPU0", "state": {"memory": {"utilized": "4294967296"}}}]
    },
    f"{STATE}/power-supply/state": {
        "component": [
            # 741.5 as four bytes in base64: 0x44396000.
            {"name": "PS0", "power-supply": {"state": {"output-power": "RDlgAA==", "enabled": True}}},
            {"name": "PS1", "power-supply": {"state": {"output-power": 712.25}}},
        ]
    },
    f"{STATE}/state/temperature": {
        "component": [{"name": "Inlet", "state": {"temperature": {"instant": "31.4", "max": "99.0"}}}]
    },
}


@pytest.fixture(autouse=True)
def _login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_read", set())
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)


def reached(target: Target, api: Api | None = None, port: str = PORT) -> Reached:
    return Reached("127.0.0.1", USER, api or Api(target.port, tls=False), (("Te0/1/0/0", port),))


@contextmanager
def opened(target: Target, api: Api | None = None) -> Iterator[tuple[ApiInstrument, ...]]:
    connection, instruments = open_api("gnmi", reached(target, api))
    try:
        yield instruments
    finally:
        connection.close()


def read(*instruments: ApiInstrument) -> dict[tuple[str, str], Fraction | str]:
    return {
        (channel.subject, channel.name): Fraction(sample.value, 10**channel.scale)
        if isinstance(sample.value, int)
        else sample.value.reason.code
        for one in instruments
        for channel, sample in one.read(time.monotonic_ns).items()
    }


def refused(target: Target, api: Api | None = None, port: str = PORT) -> LabError:
    with pytest.raises(LabError) as caught:
        open_api("gnmi", reached(target, api, port))
    assert PASSWORD not in f"{caught.value.message} {caught.value.hint}"
    return caught.value


def test_gnmi_gives_counters_cores_memory_power_temperature() -> None:
    with serving(Target(TREE.get)) as target, opened(target) as instruments:
        assert read(*instruments) == {
            ("Te0/1/0/0", "rx_packets"): 2**53 + 1,
            # More than a sample holds.
            ("Te0/1/0/0", "rx_bytes"): "object-wrong-type",
            ("Te0/1/0/0", "in_drops"): 12,
            ("Te0/1/0/0", "in_errors"): 0,
            ("Te0/1/0/0", "tx_packets"): 10,
            ("Te0/1/0/0", "tx_bytes"): 640,
            ("Te0/1/0/0", "out_drops"): 3,
            ("Te0/1/0/0", "out_errors"): 4,
            ("all cores", "CPU"): 12,
            ("core 0", "CPU"): Fraction(69, 4),
            ("0/RSP0/CPU0", "memory used"): 2**32,
            ("PS0", "power"): Fraction(7415, 10),
            ("PS1", "power"): Fraction(7122, 10),
            ("Inlet", "temperature"): Fraction(314, 10),
        }


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("18446744073709551615", 2**64 - 1),
        ("-12.50", Fraction(-25, 2)),
        (0.5, Fraction(1, 2)),
        ("RDlgAA==", Fraction(1483, 2)),
        (b"\x3f\x80\x00\x00", 1),
        # No number in 32 bits, and infinity.
        ("f8AAAA==", None),
        ("f4AAAA==", None),
        (float("nan"), None),
        ("1e999999999", None),
        ("1/0", None),
        ("9" * 5000, None),
        (True, None),
        ("up", None),
        (None, None),
    ],
)
def test_number_of_a_leaf_is_read_in_each_form(value: object, number: Fraction | None) -> None:
    assert to_number(value) == number


def test_target_of_the_test_is_understood_by_pygnmi_alone() -> None:
    with (
        serving(Target(TREE.get)) as target,
        gNMIclient(("127.0.0.1", target.port), USER, PASSWORD, insecure=True) as client,
    ):
        (found,) = client.get(path=[f"openconfig:{COUNTERS}"], encoding="json_ietf")["notification"]
    assert found["update"][0]["val"]["in-pkts"] == "9007199254740993"


@pytest.mark.parametrize("encoding", ["JSON", "PROTO"])
def test_target_with_another_encoding_is_read(encoding: str) -> None:
    tree = {COUNTERS: {"in-pkts": "5", "out-pkts": "6"}}
    target = Target(tree.get, encodings=("ASCII", encoding))
    with serving(target), opened(target) as (counters,):
        assert read(counters) == {("Te0/1/0/0", "rx_packets"): 5, ("Te0/1/0/0", "tx_packets"): 6}


@pytest.mark.parametrize("origin", ["openconfig", "", "openconfig-interfaces"])
def test_target_is_asked_by_the_origin_that_it_takes(origin: str) -> None:
    target = Target(TREE.get, origins=(origin, "openconfig-system", "openconfig-platform"))
    with serving(target), opened(target) as instruments:
        target.asked.clear()
        read(instruments[0])
    assert target.asked == [COUNTERS]


def test_target_without_all_packets_has_the_sum_of_its_parts() -> None:
    parts = {"in-unicast-pkts": "10", "in-broadcast-pkts": "2", "in-multicast-pkts": "3", "out-octets": "1"}
    with serving(Target({COUNTERS: parts}.get)) as target, opened(target) as (counters,):
        assert read(counters)["Te0/1/0/0", "rx_packets"] == 15


def test_target_without_the_rest_is_read_for_its_counters() -> None:
    with serving(Target({COUNTERS: TREE[COUNTERS]}.get)) as target, opened(target) as instruments:
        assert [one.reading.name for one in instruments] == ["counters and drops"]


def test_reading_that_the_target_no_longer_has_is_missed() -> None:
    tree = dict(TREE)
    with serving(Target(tree.get)) as target, opened(target) as instruments:
        del tree[CPUS]
        cores = next(one for one in instruments if one.reading.name == "CPU per core")
        with pytest.raises(LabError) as caught:
            read(cores)
    assert caught.value.code == "not-understood"


def test_counter_moves_with_the_target() -> None:
    seen = iter(range(100, 1000, 7))
    target = Target(lambda path: {"in-pkts": str(next(seen))} if path == COUNTERS else None)
    with serving(target), opened(target) as (counters,):
        assert [read(counters)["Te0/1/0/0", "rx_packets"] for _ in range(3)] == [107, 114, 121]


def test_reading_that_the_user_may_not_see_is_left_out() -> None:
    def answer(path: str) -> Any:
        if path == CPUS:
            raise PermissionError
        return TREE.get(path)

    with serving(Target(answer)) as target, opened(target) as instruments:
        assert "CPU per core" not in [one.reading.name for one in instruments]
        assert "power" in [one.reading.name for one in instruments]


def test_port_that_the_target_lacks_is_named() -> None:
    with serving(Target(TREE.get)) as target:
        error = refused(target, port="TenGigE9/9/9/9")
    assert (error.code, "TenGigE9/9/9/9" in error.message) == ("no-such-interface", True)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("silent", "device-silent"),
        ("garbage", "not-understood"),
        ("endless", "too-long"),
        (grpc.StatusCode.UNAUTHENTICATED, "login-refused"),
        (grpc.StatusCode.UNAVAILABLE, "session-lost"),
        (grpc.StatusCode.UNIMPLEMENTED, "command-refused"),
        (grpc.StatusCode.INTERNAL, "command-refused"),
    ],
)
def test_target_that_fails_is_an_error_with_a_code(
    fault: str | grpc.StatusCode, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gnmi_target, "ANSWER_S", 0.5)
    with serving(Target(TREE.get, fault=fault)) as target:
        begun = time.monotonic()
        assert refused(target).code == code
        assert time.monotonic() - begun < 3


def test_wrong_password_is_a_refused_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", "another-planted-1")
    with serving(Target(TREE.get)) as target:
        error = refused(target)
    assert (error.code, "another-planted" in error.message) == ("login-refused", False)


def test_password_that_metadata_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for password in ("p\u00e4ss-1", "line\nbreak-1", "\udce4-1"):
        monkeypatch.setenv("NETDYNO_PASSWORD", password)
        with serving(Target(TREE.get)) as target:
            assert refused(target).code == "login-refused"
            assert target.asked == []


def test_target_that_came_back_is_read_again() -> None:
    with serving(Target(TREE.get)) as target, opened(target) as (counters, *_):
        target.fault = grpc.StatusCode.UNAVAILABLE
        with pytest.raises(LabError) as caught:
            read(counters)
        assert caught.value.code == "session-lost"
        target.fault = ""
        assert read(counters)["Te0/1/0/0", "tx_packets"] == 10


def test_certificate_that_is_trusted_by_file_is_taken(tmp_path: Path) -> None:
    identity = make_identity(tmp_path)
    with serving(Target(TREE.get), (identity.certificate, identity.key)) as target:
        api = Api(target.port, ca=str(identity.certificate))
        with opened(target, api) as (counters, *_):
            assert read(counters)["Te0/1/0/0", "tx_packets"] == 10


@pytest.mark.parametrize("address", ["127.0.0.1", None])
def test_certificate_that_is_not_trusted_is_refused(tmp_path: Path, address: str | None) -> None:
    identity = make_identity(tmp_path, address=address)
    with serving(Target(TREE.get), (identity.certificate, identity.key)) as target:
        ca = "" if address else str(identity.certificate)
        assert refused(target, Api(target.port, ca=ca)).code == "certificate-refused"
        assert target.asked == []


def test_certificate_is_not_checked_where_the_plan_says_so(tmp_path: Path) -> None:
    identity = make_identity(tmp_path, address=None)
    with serving(Target(TREE.get), (identity.certificate, identity.key)) as target:
        api = Api(target.port, strict=False)
        with opened(target, api) as (counters, *_):
            assert read(counters)["Te0/1/0/0", "tx_packets"] == 10


def test_target_in_clear_text_is_unreachable_by_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gnmi_target, "CONNECT_S", 1.0)
    with serving(Target(TREE.get)) as target:
        assert refused(target, Api(target.port)).code == "device-unreachable"


def test_port_that_nothing_listens_at_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert refused(Target(TREE.get), Api(port, tls=False)).code == "device-unreachable"


def test_port_that_is_silent_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gnmi_target, "CONNECT_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        begun = time.monotonic()
        assert refused(Target(TREE.get), Api(port)).code == "device-unreachable"
        assert refused(Target(TREE.get), Api(port, tls=False)).code in ("device-silent", "session-lost")
        assert time.monotonic() - begun < 5
