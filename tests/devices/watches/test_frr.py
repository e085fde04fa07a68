"""What FRR says of its neighbours. Truth: answers of FRR 8.4.4."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netdyno.devices.shell import Shell
from netdyno.devices.watches.adjacency import Adjacency, AdjacencyInstrument
from netdyno.devices.watches.bird import BIRD
from netdyno.devices.watches.by_cli import DaemonsByCli
from netdyno.devices.watches.frr import BGP, FRR, OSPF, read_adjacencies
from netdyno.devices.wiring import LabError

NEIGHBORS = """\
{
  "default":{
    "vrfName":"default",
    "vrfId":0,
    "neighbors":{
      "100.64.100.2":[
        {
          "priority":1,
          "state":"Full\\/-",
          "nbrPriority":1,
          "nbrState":"Full\\/-",
          "converged":"Full",
          "role":"DROther",
          "deadTime":"3.857s",
          "address":"100.64.100.2",
          "ifaceAddress":"100.64.100.2",
          "ifaceName":"c0:100.64.100.1"
        }
      ]
    }
  }
}
"""
SUMMARY = """\
{
"default":{
"ipv4Unicast":{
  "routerId":"100.64.100.1",
  "as":64512,
  "vrfName":"default",
  "peerCount":1,
  "peers":{
    "100.64.100.2":{
      "hostname":"b",
      "remoteAs":64512,
      "pfxRcd":0,
      "state":"Established",
      "peerState":"OK",
      "connectionsEstablished":1,
      "idType":"ipv4"
    }
  },
  "failedPeers":0,
  "bestPath":{
    "multiPathRelax":"false"
  }
}
}
}
"""
NO_OSPF, NO_BGP = "ospfd is not running\n", "bgpd is not running\n"
NONE = "{\n}\n"
UP = Adjacency("OSPF", "100.64.100.2", "Full", True)
ESTABLISHED = Adjacency("BGP", "100.64.100.2", "Established", True)


class Answers:
    """A command line that prints a text for each command; it refuses others."""

    shell = Shell("none", (), "")

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)

    def ask(self, command: str, within_s: float = 15.0) -> str:
        if command not in self.texts:
            raise LabError("command not found", code="command-refused")
        return self.texts[command]

    def configure(self, text: str, confirm_s: int | None = None, within_s: float = 30.0) -> str:
        raise AssertionError

    def confirm(self) -> None:
        raise AssertionError


def code(texts: tuple[str, str]) -> str | None:
    with pytest.raises(LabError) as caught:
        read_adjacencies(texts)
    return caught.value.code


@pytest.mark.parametrize(
    ("ospf", "bgp", "expected"),
    [
        (NEIGHBORS, SUMMARY, (UP, ESTABLISHED)),
        (NEIGHBORS, NO_BGP, (UP,)),
        (
            NO_OSPF,
            SUMMARY.replace("Established", "Active"),
            (Adjacency("BGP", UP.neighbour, "Active", False),),
        ),
        (NONE, "{}\n", ()),
        (
            NEIGHBORS.replace("Full\\/-", "ExStart/DR"),
            NONE,
            (Adjacency("OSPF", UP.neighbour, "ExStart", False),),
        ),
        (
            NEIGHBORS.replace('"default":{', '"blue":{'),
            NONE,
            (Adjacency("OSPF", "100.64.100.2 in VRF blue", "Full", True),),
        ),
    ],
)
def test_neighbours_are_those_that_frr_prints(ospf: str, bgp: str, expected: tuple[Adjacency, ...]) -> None:
    assert read_adjacencies((ospf, bgp)) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "[]", "null", '{"default": 3}', "[" * 100_000, NEIGHBORS[:-8], NEIGHBORS + "more"),
        '{"default": {"neighbors": {"1.1.1.1": {}}}}',
        '{"default": {"neighbors": {"1.1.1.1": [{"ifaceAddress": "1.1.1.1"}]}}}',
        '{"default": {"neighbors": {"1.1.1.1": [{"nbrState": 3, "ifaceAddress": "1.1.1.1"}]}}}',
    ],
)
def test_answer_that_is_no_such_json_is_an_error(text: str) -> None:
    assert code((text, NONE)) == "not-understood"


@pytest.mark.parametrize("peers", ["[]", '{"1.1.1.1": 3}', '{"1.1.1.1": {}}', '{"1.1.1.1": {"state": ""}}'])
def test_bgp_peers_of_another_shape_are_an_error(peers: str) -> None:
    assert code((NONE, f'{{"default": {{"ipv4Unicast": {{"peers": {peers}}}}}}}')) == "not-understood"


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda of: (
            st.lists(of)
            | st.dictionaries(st.sampled_from(["default", "neighbors", "peers", "ipv4Unicast", "state"]), of)
        ),
    )
)
def test_any_json_is_read_or_refused(found: object) -> None:
    text = json.dumps(found)
    codes = set()
    try:
        read_adjacencies((text, text))
    except LabError as error:
        codes.add(error.code)
    assert codes <= {"not-understood"}


def test_peer_of_two_address_families_is_one_neighbour() -> None:
    peer = json.loads(SUMMARY)["default"]["ipv4Unicast"]
    both = json.dumps({"default": {"ipv4Unicast": peer, "ipv6Unicast": peer}})
    assert DaemonsByCli(Answers({OSPF: NONE, BGP: both}), (FRR,)).ask(1.0) == (ESTABLISHED,)


def test_daemon_that_is_not_installed_is_left_to_others() -> None:
    said = dict(zip(BIRD.commands, ("100.64.100.2 1 Full/PtP 3.9 c0 100.64.100.2\n", ""), strict=True))
    assert DaemonsByCli(Answers(said), (FRR, BIRD)).ask(1.0) == (UP,)
    said |= {OSPF: "Exiting: failed to connect to any daemons.\n"}
    assert DaemonsByCli(Answers(said), (FRR, BIRD)).ask(1.0) == (UP,)


def test_device_without_a_routing_daemon_is_an_error() -> None:
    said = dict.fromkeys(BIRD.commands, "Unable to connect to server control socket (/run/bird/bird.ctl)\n")
    with pytest.raises(LabError) as caught:
        DaemonsByCli(Answers(said), (FRR, BIRD)).ask(1.0)
    assert caught.value.code == "no-routing-daemon"


def test_neighbours_of_a_daemon_that_ended_are_gone() -> None:
    cli = Answers({OSPF: NEIGHBORS, BGP: SUMMARY})
    instrument = AdjacencyInstrument(DaemonsByCli(cli, (FRR, BIRD)).ask, "")
    up = instrument.read(lambda: 1)
    assert [one.value for one in up.values()] == [1, 1]
    cli.texts = {OSPF: "Exiting: failed to connect to any daemons.\n"}
    gone = instrument.read(lambda: 2)
    assert set(gone) == set(up)
    assert [(one.value, one.raw and one.raw.text[-6:]) for one in gone.values()] == [(0, ": gone")] * 2
