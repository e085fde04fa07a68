"""Pings to kernels and to a host that answers wrongly, in a network namespace of their own."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from netdyno.campaign import watching
from netdyno.devices.linux import namespaces
from netdyno.devices.linux.device import tool
from netdyno.devices.live import Live
from netdyno.devices.watches import Ping, Watch
from netdyno.devices.watches.ping import PingInstrument, await_answer, checksum
from netdyno.devices.watches.reasons import NoAnswer, PingNotSent
from netdyno.devices.wiring import LabError
from netdyno.values.breaks import PING
from netdyno.values.sample import Absent, Sample
from test_labs import needs_root

pytestmark = pytest.mark.paired

HERE = Ping("127.0.0.1", every_ns=50 * 10**6)
Answer = Callable[[bytes], list[bytes]]


def read(instrument: PingInstrument) -> Sample:
    (sample,) = instrument.read(time.monotonic_ns).values()
    return sample


@pytest.fixture
def namespace() -> Iterator[None]:
    """One whose kernel answers no pings."""
    with namespaces.tester_namespace():
        Path("/proc/sys/net/ipv4/icmp_echo_ignore_all").write_text("1")
        for scope in ("all", "lo"):
            with contextlib.suppress(OSError):
                Path(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6").write_text("0")
        subprocess.run([tool("ip"), "link", "set", "lo", "up"], check=True)
        yield


@contextlib.contextmanager
def pinging(ping: Ping) -> Iterator[PingInstrument]:
    instrument = PingInstrument(ping, ping.to)
    try:
        yield instrument
    finally:
        instrument.close()


@contextlib.contextmanager
def answering(answer: Answer) -> Iterator[None]:
    """A host behind the loopback interface: for each request, the messages that it sends."""
    ended = threading.Event()
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.settimeout(0.05)

        def serve() -> None:
            while not ended.is_set():
                with contextlib.suppress(TimeoutError):
                    frame = raw.recv(2000)[20:]
                    if frame[0] == 8:
                        for one in answer(frame):
                            raw.sendto(one, ("127.0.0.1", 0))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def reply(
    request: bytes, *, kind: int = 0, identifier: int = 0, sequence: int = 0, payload: Any = None
) -> bytes:
    """The right reply, or one that differs: numbers are added to those of the request."""
    _, _, _, own, number = struct.unpack_from("!BBHHH", request)
    numbers = ((own + identifier) % 2**16, (number + sequence) % 2**16)
    said = request[8:] if payload is None else payload
    plain = struct.pack("!BBHHH", kind, 0, 0, *numbers) + said
    return plain[:2] + checksum(plain).to_bytes(2, "big") + plain[4:]


def wrong(request: bytes) -> list[bytes]:
    return [
        reply(request, identifier=1),
        reply(request, sequence=1),
        reply(request, sequence=-1),
        reply(request, payload=bytes(24)),
        reply(request, payload=request[8:-1]),
        reply(request, payload=b""),
        reply(request, kind=3),
        reply(request)[:5],
        reply(request)[:-1] + b"\xff",
    ]


@needs_root
def test_answers_to_others_and_damaged_ones_do_not_count(namespace: None) -> None:
    with answering(wrong), pinging(HERE) as instrument:
        begun = time.monotonic()
        found = [read(instrument) for _ in range(3)]
        assert time.monotonic() - begun < 5
    assert [one.value for one in found] == [Absent(NoAnswer(HERE.every_ns))] * 3


@needs_root
def test_duplicate_answers_are_one(namespace: None) -> None:
    def answer(request: bytes) -> list[bytes]:
        right = reply(request)
        return [*wrong(request), right, right, right]

    with answering(answer), pinging(HERE) as instrument:
        found = [read(instrument) for _ in range(4)]
    assert all(isinstance(one.value, int) and one.value > 0 for one in found)
    assert len({one.asked_ns for one in found}) == 4


@needs_root
def test_answer_to_an_earlier_ping_is_none_to_this(namespace: None) -> None:
    held: list[bytes] = []

    def answer(request: bytes) -> list[bytes]:
        held.append(reply(request))
        return held[-2:-1]

    with answering(answer), pinging(HERE) as instrument:
        found = [read(instrument) for _ in range(3)]
    assert all(isinstance(one.value, Absent) for one in found)


@needs_root
def test_rhythm_is_the_same_while_nothing_answers(namespace: None) -> None:
    with pinging(HERE) as instrument:
        sent = []
        for _ in range(6):
            sent.append(read(instrument).asked_ns)
            time.sleep(instrument.period_s)
    # A pause of this process may make it later, never sooner.
    assert sent[-1] - sent[0] >= 4.9 * HERE.every_ns


@needs_root
def test_loopback_of_ipv6_answers(namespace: None) -> None:
    if not Path("/proc/sys/net/ipv6").exists():
        pytest.skip("this kernel has no IPv6")
    with pinging(Ping("::1")) as instrument:
        found = read(instrument)
    assert isinstance(found.value, int)
    assert found.value > 0


@needs_root
def test_what_never_answers_is_an_error_before_traffic(namespace: None) -> None:
    with pinging(HERE) as instrument, pytest.raises(LabError) as caught:
        await_answer(instrument, HERE, HERE.to, 0.1)
    assert caught.value.code == "device-silent"


@needs_root
def test_address_without_a_route_is_missed_and_nothing_hangs(namespace: None) -> None:
    with pinging(Ping("192.0.2.1", every_ns=20 * 10**6)) as instrument:
        assert read(instrument).value == Absent(PingNotSent("ENETUNREACH"))


@needs_root
def test_interface_that_is_not_there_is_an_error(namespace: None) -> None:
    with pytest.raises(LabError) as caught:
        PingInstrument(Ping("127.0.0.1", "eth77"), "127.0.0.1")
    assert caught.value.code == "no-such-interface"


def test_right_that_is_missing_is_an_error_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(socket, "socket", refused)
    with pytest.raises(LabError) as caught:
        PingInstrument(HERE, HERE.to)
    assert caught.value.code == "no-rights"
    assert caught.value.hint is not None


@needs_root
def test_closed_socket_ends_a_reading_in_time(namespace: None) -> None:
    instrument = PingInstrument(Ping("127.0.0.1", every_ns=200 * 10**6), "127.0.0.1")
    instrument.close()
    assert isinstance(read(instrument).value, Absent)


def open_files() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


@needs_root
@pytest.mark.parametrize("second", ["127.0.0.2", "192.0.2.1"])
def test_watches_leave_no_socket_open(namespace: None, second: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether all answer, or one does not and the case fails before traffic."""
    Path("/proc/sys/net/ipv4/icmp_echo_ignore_all").write_text("0")
    monkeypatch.setattr(watching, "SILENT_S", 0.2)
    wiring: Any = None
    before = open_files()
    asked = Watch((Ping("127.0.0.1", every_ns=20 * 10**6), Ping(second, every_ns=20 * 10**6)))
    expected = pytest.raises(LabError) if second == "192.0.2.1" else contextlib.nullcontext()
    with expected, watching.watching(Live(wiring), asked) as found:
        assert [one.name for one in found.instruments] == [PING, PING]
        assert len(open_files() - before) >= 2
    assert open_files() <= before
