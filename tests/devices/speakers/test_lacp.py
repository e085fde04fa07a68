"""LACP of the tester: frames as Wireshark and Open vSwitch have them, and two ends in virtual time.

Expected times and states are those of IEEE 802.1AX-2014 sections 6.4.4 and 6.4.12.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from netdyno.devices.speakers.lacp import SECOND, Hangs, Lacp
from netdyno.devices.speakers.lacpdu import CARRIES, REQUEST, RESPONSE, Info, Lacpdu, Marker, State, decode
from test_management import pcap

OURS, THEIRS = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
OF_OPEN_VSWITCH = bytes.fromhex(
    "0180c20000024629036a5ff788090101"
    "0114fffede538843754f0002ffff0003bf000000"
    "0214000000000000000000000000000002000000" + "0310" + "00" * 66
)
"""The first LACPDU of a bond of Open vSwitch 3.1.0, fast and active, captured on its member."""


def end(system: str, *, key: int = 1, active: bool = True, fast: bool = True, members: int = 2) -> Lacp:
    macs = [f"{system[:-2]}{number:02x}" for number in range(0x10, 0x10 + members)]
    return Lacp(system, macs, key, is_active=active, is_fast=fast)


class Cable:
    """Both ends of a LAG, member to member, and what they said: time, from which end, by which member."""

    def __init__(self, one: Lacp, other: Lacp) -> None:
        self.ends, self.now, self.said = (one, other), 0, list[tuple[int, int, int]]()
        self.loses: Callable[[int, int], bool] = lambda side, member: False
        for each in self.ends:
            each.begin(0)

    def run(self, until: int) -> None:
        while self.now < until:
            waiting = [(side, *said) for side, end in enumerate(self.ends) for said in end.tick(self.now)]
            while waiting:
                side, member, frame = waiting.pop(0)
                self.said.append((self.now, side, member))
                if not self.loses(side, member):
                    answers = self.ends[1 - side].hear(member, frame, self.now)
                    waiting += [(1 - side, *said) for said in answers]
            self.now = max(self.now + SECOND // 1000, min(until, *(end.next_ns for end in self.ends)))

    def times(self, side: int, begin: int) -> list[float]:
        """When the first member of an end spoke from a time on, s."""
        return [at / SECOND for at, of, member in self.said if (of, member) == (side, 0) and at >= begin]


def test_lacpdu_of_open_vswitch_is_read() -> None:
    found = decode(OF_OPEN_VSWITCH)
    assert isinstance(found, Lacpdu)
    state = State.ACTIVE | State.SHORT_TIMEOUT | State.AGGREGATION | State.SYNCHRONIZATION
    actor = Info("de:53:88:43:75:4f", 2, 3, found.actor.state, 0xFFFE, 0xFFFF)
    assert found == Lacpdu(actor, Info(state=State.SHORT_TIMEOUT))
    assert found.actor.state == state & ~State.SYNCHRONIZATION | 0xB8
    assert decode(OF_OPEN_VSWITCH[:50]) is None
    assert decode(OF_OPEN_VSWITCH[:14] + b"\x05" + OF_OPEN_VSWITCH[15:]) is None
    # The same bytes come out again, but for the padding that nobody reads.
    assert found.encode("46:29:03:6a:5f:f7")[:56] == OF_OPEN_VSWITCH[:56]


def test_wireshark_reads_lacpdu_and_marker(tmp_path: Path) -> None:
    state = State.ACTIVE | State.SYNCHRONIZATION | State.DEFAULTED
    pdu = Lacpdu(Info(OURS, 7, 3, state, 0x8000, 0x1234), Info(THEIRS, 9, 4, CARRIES, 1, 2))
    marker = Marker(REQUEST, 5, THEIRS, 0xABCD)
    pcap(tmp_path / "lag.pcap", [pdu.encode(OURS), marker.answer().encode(OURS)])
    fields = [
        "eth.dst",
        "eth.type",
        "slow.subtype",
        "lacp.version",
        "lacp.actor.sysid",
        "lacp.actor.key",
        "lacp.actor.port",
        "lacp.actor.sys_priority",
        "lacp.actor.port_priority",
        "lacp.actor.state",
        "lacp.partner.sysid",
        "lacp.partner.key",
        "lacp.partner.port",
        "lacp.partner.state",
        "lacp.collector.max_delay",
        "marker.tlvType",
        "marker.requesterPort",
        "marker.requesterSystem",
        "marker.requesterTransId",
    ]
    asked = [part for one in fields for part in ("-e", one)]
    printed = subprocess.run(
        ["tshark", "-r", tmp_path / "lag.pcap", "-T", "json", *asked],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    first, second = (one["_source"]["layers"] for one in json.loads(printed))
    assert {name: values[0] for name, values in first.items()} == {
        "eth.dst": "01:80:c2:00:00:02", "eth.type": "0x8809", "slow.subtype": "0x01", "lacp.version": "0x01",
        "lacp.actor.sysid": OURS, "lacp.actor.key": "7", "lacp.actor.port": "3",
        "lacp.actor.sys_priority": "32768", "lacp.actor.port_priority": "4660", "lacp.actor.state": "0x49",
        "lacp.partner.sysid": THEIRS, "lacp.partner.key": "9", "lacp.partner.port": "4",
        "lacp.partner.state": "0x38", "lacp.collector.max_delay": "0",
    }  # fmt: skip
    assert (second["slow.subtype"], second["marker.tlvType"][0]) == (["0x02"], "0x02")
    assert (second["marker.requesterPort"], second["marker.requesterSystem"]) == (["5"], [THEIRS])
    assert second["marker.requesterTransId"] == ["43981"]


@pytest.mark.parametrize(
    ("ours", "theirs", "our_period", "their_period"),
    [
        ((True, True), (True, True), 1, 1),
        ((True, True), (False, False), 30, 1),
        ((False, False), (True, True), 1, 30),
    ],
)
def test_each_end_speaks_as_often_as_the_other_asks(
    ours: tuple[bool, bool], theirs: tuple[bool, bool], our_period: int, their_period: int
) -> None:
    """Each end is active and fast, or neither."""
    ends = [end(name, active=of[0], fast=of[1]) for name, of in ((OURS, ours), (THEIRS, theirs))]
    cable = Cable(*ends)
    cable.run(2 * SECOND)
    assert [one.find_hangs() for one in ends] == [(None, None)] * 2
    cable.run(200 * SECOND)
    for side, period in ((0, our_period), (1, their_period)):
        times = cable.times(side, 90 * SECOND)
        assert {round(later - before) for before, later in pairwise(times)} == {period}
    assert all(one.actor.state & CARRIES == CARRIES for lacp in ends for one in lacp.members)


@pytest.mark.parametrize(("fast", "seconds"), [(True, 3), (False, 90)])
def test_silent_partner_expires_after_three_of_its_periods(fast: bool, seconds: int) -> None:
    one, other = end(OURS, fast=fast), end(THEIRS)
    cable = Cable(one, other)
    cable.run(10 * SECOND)
    last = max(at for at, side, _ in cable.said if side == 1)
    cable.loses = lambda side, member: (side, member) == (1, 0)
    cable.run(last + seconds * SECOND - SECOND // 100)
    assert one.find_hangs() == (None, None)
    cable.run(last + seconds * SECOND + SECOND // 100)
    assert one.find_hangs() == (Hangs.EXPIRED, None), "one member fell silent, the other goes on"
    assert not one.members[0].actor.state & (State.COLLECTING | State.DISTRIBUTING)
    assert one.members[0].actor.state & State.EXPIRED
    cable.run(last + seconds * SECOND + 4 * SECOND)
    assert one.members[0].actor.state & State.DEFAULTED, "three seconds more"
    cable.loses = lambda side, member: False
    begin = cable.now
    cable.run(begin + (2 + seconds // 3) * SECOND)
    assert one.find_hangs() == (None, None), "and comes back with the next LACPDU"


def test_members_of_a_slow_partner_join_together() -> None:
    one, other = end(OURS), end(THEIRS)
    cable = Cable(one, other)
    cable.loses = lambda side, member: member == 1
    cable.run(SECOND)
    assert one.find_hangs() == (Hangs.NOT_IN_SYNC, Hangs.SILENT), "the first waits for the second"
    cable.run(3 * SECOND)
    assert one.find_hangs() == (None, Hangs.SILENT), "and no longer than two seconds"


def test_two_passive_ends_say_nothing() -> None:
    ends = [end(name, active=False) for name in (OURS, THEIRS)]
    cable = Cable(*ends)
    cable.run(10 * SECOND)
    assert not cable.said
    assert ends[0].find_hangs() == (Hangs.SILENT, Hangs.SILENT)


def answer(lacp: Lacp, member: int, actor: Info, now: int, *, knows_us: bool = True) -> None:
    """What a partner says to a member."""
    ours = lacp.members[member].actor if knows_us else Info()
    lacp.hear(member, Lacpdu(actor, ours).encode(THEIRS), now)


def partner(member: int, *, system: str = THEIRS, key: int = 5, state: State = CARRIES) -> Info:
    return Info(system, key, member + 1, state | State.ACTIVE | State.AGGREGATION | State.SHORT_TIMEOUT)


FAULTS = {
    Hangs.OTHER_KEY: partner(2, key=6),
    Hangs.OTHER_SYSTEM: partner(2, system="02:00:00:00:00:0c"),
    Hangs.INDIVIDUAL: Info(THEIRS, 5, 3, CARRIES | State.ACTIVE),
    Hangs.NOT_IN_SYNC: partner(2, state=State(0)),
    Hangs.NOT_COLLECTING: partner(2, state=State.SYNCHRONIZATION),
    Hangs.LOOP: partner(2, system=OURS),
}


@pytest.mark.parametrize("hang", FAULTS)
def test_member_with_a_fault_is_named_and_the_others_carry(hang: Hangs) -> None:
    lacp = end(OURS, members=3)
    lacp.begin(0)
    for now in (0, SECOND, 2 * SECOND):
        for member in (0, 1):
            answer(lacp, member, partner(member), now)
        answer(lacp, 2, FAULTS[hang], now)
        lacp.tick(now)
    assert lacp.find_hangs() == (None, None, hang)
    assert lacp.partner == (THEIRS, 5)


def test_member_that_is_left_out_speaks_and_joins_no_more() -> None:
    one, other = end(OURS), end(THEIRS)
    cable = Cable(one, other)
    cable.loses = lambda side, member: member == 1
    cable.run(5 * SECOND)
    one.members[1].is_left_out = True
    cable.loses = lambda side, member: False
    cable.run(60 * SECOND)
    assert one.find_hangs()[0] is None
    assert [end.members[1].carries for end in (one, other)] == [False, False], "nor does its partner use it"
    assert any(side == 0 and member == 1 for at, side, member in cable.said if at > 10 * SECOND)


def test_member_that_comes_and_goes_is_counted() -> None:
    one, other = end(OURS), end(THEIRS)
    cable = Cable(one, other)
    for turn in range(3):
        cable.loses = lambda side, member: False
        # Both ends have forgotten each other, and speak each 30 s.
        cable.run((60 * turn + 40) * SECOND)
        cable.loses = lambda side, member: member == 1
        cable.run((60 * turn + 60) * SECOND)
    assert [member.left for member in one.members] == [0, 3]


def test_partner_that_hears_nothing_of_the_tester_is_named() -> None:
    lacp = end(OURS, members=1)
    lacp.begin(0)
    answer(lacp, 0, partner(0), 0, knows_us=False)
    assert lacp.find_hangs() == (Hangs.NOT_SEEN,)


def test_marker_is_answered_with_its_transaction() -> None:
    lacp = end(OURS)
    lacp.begin(0)
    ((member, frame),) = lacp.hear(1, Marker(REQUEST, 3, THEIRS, 77).encode(THEIRS), 0)
    assert (member, decode(frame)) == (1, Marker(RESPONSE, 3, THEIRS, 77))
    assert lacp.hear(1, frame, 0) == [], "a response is not answered"


def test_link_that_goes_down_and_up_is_formed_again() -> None:
    one, other = end(OURS), end(THEIRS)
    cable = Cable(one, other)
    cable.run(5 * SECOND)
    one.members[0].end()
    cable.loses = lambda side, member: member == 0
    cable.run(6 * SECOND)
    assert one.find_hangs() == (Hangs.NO_CARRIER, None)
    cable.loses = lambda side, member: False
    one.members[0].begin(cable.now)
    cable.run(8 * SECOND)
    assert one.find_hangs() == (None, None)
