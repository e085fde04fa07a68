"""What BIRD says of its neighbours. Truth: answers of BIRD 2.0.12, and a socket that plays it."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netdyno.devices.watches.adjacency import Adjacency, AdjacencyInstrument
from netdyno.devices.watches.bird import ask_bird, read_adjacencies
from netdyno.devices.wiring import LabError

OSPF = """\
control:
Router ID   \tPri\t     State     \tDTime\tInterface  Router IP
100.64.100.2\t  1\tFull/PtP  \t 3.933\tc0         100.64.100.2
100.64.100.3\t  1\t2-Way/Other\t 3.100\tc1         100.64.100.6
100.64.100.4\t  1\tInit/Other\t 3.100\tc2         fe80::1
"""
PROTOCOLS = """\
Name       Proto      Table      State  Since         Info
device1    Device     ---        up     00:20:15.582

control    OSPF       master4    up     00:20:15.582  Running
  Channel ipv4
    State:          UP

peer       BGP        ---        up     00:20:16.365  Established
  BGP state:          Established
    Neighbor address: 100.64.100.2
    Neighbor AS:      64512
other      BGP        ---        start  00:20:23.659  Idle          Error: Neighbor lost
  BGP state:          Idle
    Neighbor address: 192.0.2.9
"""


def test_states_of_ospf_and_bgp_are_read() -> None:
    assert list(read_adjacencies(OSPF + PROTOCOLS)) == [
        Adjacency("OSPF", "100.64.100.2", "Full", True),
        Adjacency("OSPF", "100.64.100.6", "2-Way", False),
        Adjacency("OSPF", "fe80::1", "Init", False),
        Adjacency("BGP", "100.64.100.2", "Established", True),
        Adjacency("BGP", "192.0.2.9", "Idle", False),
    ]


@pytest.mark.parametrize(
    "text", ["", "\n\n", "Full/PtP", "1.2.3.4 x Full/PtP 1 c0 1.2.3.4", "  BGP state:  "]
)
def test_text_without_a_neighbour_has_none(text: str) -> None:
    assert list(read_adjacencies(text)) == []


@pytest.fixture
def path() -> Iterator[Path]:
    """A socket wants a short path."""
    with tempfile.TemporaryDirectory(prefix="nd-", dir="/tmp") as folder:
        yield Path(folder, "ctl")


def coded(code: int, text: str) -> bytes:
    """An answer as BIRD sends it: the code before the first line, a space before the others, then the end."""
    first, *others = text.splitlines()
    lines = [f"{code}-{first}", *(f" {line}" for line in others), "0000 "]
    return ("\n".join(lines) + "\n").encode()


def play(path: Path, *answers: bytes, delay: int = 10**6) -> threading.Thread:
    """Serves one client: a greeting, then an answer to each command, in pieces of so many bytes."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)

    def serve() -> None:
        with listener, listener.accept()[0] as client:
            client.settimeout(5)
            client.sendall(b"0001 BIRD 2.0.12 ready.\n")
            for answer in answers:
                client.recv(1000)
                for at in range(0, len(answer), delay):
                    client.sendall(answer[at : at + delay])
            client.recv(1000)

    made = threading.Thread(target=serve, daemon=True)
    made.start()
    return made


@pytest.mark.parametrize("piece", [1, 7, 10**6])
def test_answers_are_read_however_they_are_cut(path: Path, piece: int) -> None:
    served = play(path, coded(1013, OSPF), coded(1002, PROTOCOLS), delay=piece)
    assert [one.state for one in ask_bird(path, 5.0)] == ["Full", "2-Way", "Init", "Established", "Idle"]
    served.join(5)


def test_daemon_that_is_not_there_is_an_error(path: Path) -> None:
    with pytest.raises(LabError) as caught:
        ask_bird(path, 1.0)
    assert caught.value.code == "device-silent"


def test_daemon_that_says_nothing_more_is_an_error_in_time(path: Path) -> None:
    play(path, b"1013-control:\n")
    with pytest.raises(LabError) as caught:
        ask_bird(path, 0.2)
    assert caught.value.code == "device-silent"


def test_neighbour_is_watched_once_it_was_up() -> None:
    up, down = Adjacency("OSPF", "1", "Full", True), Adjacency("OSPF", "2", "Init", False)
    answers = iter([(up, down), (), (Adjacency("OSPF", "1", "ExStart", False), down)])
    clock = iter(range(100))
    read = AdjacencyInstrument(lambda within_s: next(answers), "show ospf neighbors")
    found = [read.read(lambda: next(clock)) for _ in range(3)]
    assert [{channel.subject for channel in one} for one in found] == [{"OSPF neighbour 1"}] * 3
    states = [
        (sample.value, sample.raw and sample.raw.text.partition(": ")[2])
        for one in found
        for sample in one.values()
    ]
    assert states == [(1, "Full"), (0, "gone"), (0, "ExStart")]


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(OSPF.splitlines() + PROTOCOLS.splitlines())).map("\n".join)
)
def test_any_text_is_read(text: str) -> None:
    assert all(one.neighbour and one.protocol in ("OSPF", "BGP") for one in read_adjacencies(text))
