"""The LACP of a LAG of the tester: what each member knows of its partner, and what it says of itself.

IEEE 802.1AX-2014 section 6.4: the receive, periodic and mux machines of each port, and the selection among
them. Pure: whoever runs it passes frames and the time in. All times are ns.

All members join at once, as soon as each has a partner or those that have one waited for two seconds
(`wait_while_timer`, 6.4.15): a device may spread its flows over the members that it has first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from netdyno.devices.speakers.lacpdu import CARRIES, REQUEST, Info, Lacpdu, Marker, State, decode

SECOND = 10**9
FAST_NS, SLOW_NS = SECOND, 30 * SECOND
"""From one LACPDU to the next, as the partner's Timeout bit asks (6.4.4)."""
SHORT_NS, LONG_NS = 3 * FAST_NS, 3 * SLOW_NS
"""A partner that was not heard for so long has expired."""
WAIT_NS = 2 * SECOND
"""For further members (Aggregate_Wait_Time)."""
MOST_A_SECOND = 3
"""LACPDUs of a member beside the periodic ones (6.4.16)."""
NEVER = 2**63 - 1


class Hangs(StrEnum):
    """Why a member carries no frames."""

    NO_CARRIER = "its link is down"
    SILENT = "no LACPDU came"
    EXPIRED = "its partner fell silent"
    LOOP = "the tester's own LACPDUs came back: a loop"
    INDIVIDUAL = "its partner does not aggregate it"
    OTHER_SYSTEM = "its partner is another system than that of the other members"
    OTHER_KEY = "its partner has another key than on the other members: another LAG"
    NOT_SEEN = "its partner does not hear the tester: LACPDUs arrive one way only"
    NOT_IN_SYNC = "its partner is not in sync: it keeps the member out of its LAG"
    NOT_COLLECTING = "its partner is in sync and does not collect"


@dataclass
class Member:
    """A port of a LAG: its machines. number: from 1, its port in LACPDUs. mac: where its frames come from.

    selected: whether it belongs to the LAG that is formed; `Lacp` decides.
    """

    mac: str
    actor: Info
    is_up: bool = True
    partner: Info = field(default_factory=Info)
    selected: bool = False
    is_looped: bool = False
    is_silent: bool = False
    """It says nothing, though it goes on."""
    is_left_out: bool = False
    """It speaks, and joins no more: no frames are sent or received on it."""
    left: int = 0
    """How often it carried frames and did so no more."""
    _carried: bool = False
    _expires_ns: int = NEVER
    _periodic_ns: int = NEVER
    _sent_ns: list[int] = field(default_factory=list)
    _is_due: bool = True
    _is_confirmed: bool = False
    heard: int = 0
    """LACPDUs of a partner."""
    sent: int = 0

    def begin(self, now: int) -> None:
        """Its link has come up, or LACP begins (6.4.12, EXPIRED): the partner is asked to hurry."""
        self.is_up = True
        self._expire(now)
        self._is_due = True

    def end(self) -> None:
        """Its link is down (PORT_DISABLED)."""
        self.is_up = self.selected = False
        self.partner = replace(self.partner, state=self.partner.state & ~CARRIES)
        self._expires_ns = NEVER
        self._advance()

    def leave(self, now: int) -> list[bytes]:
        """A LACPDU that says that it carries nothing any more, if it is up."""
        self.selected = False
        return self.speak_now(now)

    def speak_now(self, now: int) -> list[bytes]:
        """A LACPDU at once, if it is up."""
        self._sent_ns.clear()
        self._is_due = True
        return self.speak(now)

    def _expire(self, now: int) -> None:
        self.partner = replace(
            self.partner, state=self.partner.state & ~State.SYNCHRONIZATION | State.SHORT_TIMEOUT
        )
        self._set(State.EXPIRED, True)
        self._expires_ns = now + SHORT_NS

    def hear(self, pdu: Lacpdu, now: int) -> None:
        """Takes in a LACPDU of its partner (6.4.9: updateSelected, updateNTT, recordPDU)."""
        self.heard += 1
        if pdu.actor.identity != self.partner.identity:
            self.selected = False
        told = State.ACTIVE | State.SHORT_TIMEOUT | State.SYNCHRONIZATION | State.AGGREGATION
        if pdu.partner.identity != self.actor.identity or (pdu.partner.state ^ self.actor.state) & told:
            self._is_due = True
        self._is_confirmed = pdu.partner.identity == self.actor.identity
        is_alone = not pdu.actor.state & State.AGGREGATION
        is_kept_active = pdu.actor.state & State.ACTIVE or (
            self.actor.state & State.ACTIVE and pdu.partner.state & State.ACTIVE
        )
        is_synced = pdu.actor.state & State.SYNCHRONIZATION and (self._is_confirmed or is_alone)
        state = pdu.actor.state
        if not (is_synced and is_kept_active):
            state &= ~State.SYNCHRONIZATION
        self.partner = replace(pdu.actor, state=state)
        self._set(State.EXPIRED | State.DEFAULTED, False)
        self._expires_ns = now + (SHORT_NS if self.actor.state & State.SHORT_TIMEOUT else LONG_NS)

    def heed(self, now: int) -> None:
        """Notices that its partner was not heard for too long."""
        if now < self._expires_ns:
            return
        if self.actor.state & State.EXPIRED:
            self.partner, self._expires_ns = Info(), NEVER
            self._set(State.EXPIRED, False)
            self._set(State.DEFAULTED, True)
        else:
            self._expire(now)

    def count_left(self) -> None:
        """Notices that it carries frames, or no more."""
        self.left += self._carried and not self.carries
        self._carried = self.carries

    def speak(self, now: int) -> list[bytes]:
        """What it says at a time: nothing, or a LACPDU."""
        if not self.is_up or self.is_silent:
            return []
        self._advance()
        period = self._period_ns
        if period is None:
            self._periodic_ns = NEVER
        else:
            # A partner that asks for more of them than before is not kept waiting for the next slow one.
            self._periodic_ns = min(self._periodic_ns, now + period)
            if now >= self._periodic_ns:
                self._is_due, self._periodic_ns = True, now + period
        self._sent_ns = [at for at in self._sent_ns if at > now - SECOND]
        if not self._is_due or period is None or len(self._sent_ns) >= MOST_A_SECOND:
            return []
        self._is_due = False
        self._sent_ns.append(now)
        self.sent += 1
        return [Lacpdu(self.actor, self.partner).encode(self.mac)]

    @property
    def _period_ns(self) -> int | None:
        """From one LACPDU to the next; None: both ends are passive, and neither says anything."""
        if not (self.actor.state | self.partner.state) & State.ACTIVE:
            return None
        return FAST_NS if self.partner.state & State.SHORT_TIMEOUT else SLOW_NS

    def _advance(self) -> None:
        """The mux machine with separate control of collecting and distributing (6.4.15)."""
        is_attached = self.is_up and self.selected
        is_collecting = is_attached and bool(self.partner.state & State.SYNCHRONIZATION)
        self._set(State.SYNCHRONIZATION, is_attached)
        self._set(State.COLLECTING, is_collecting)
        self._set(State.DISTRIBUTING, is_collecting and bool(self.partner.state & State.COLLECTING))

    def _set(self, bits: State, is_on: bool) -> None:
        before = self.actor.state
        self.actor = replace(self.actor, state=before | bits if is_on else before & ~bits)
        # What it carries its partner is to know at once, and its timers with the next periodic one.
        self._is_due = self._is_due or bool((before ^ self.actor.state) & CARRIES)

    @property
    def next_ns(self) -> int:
        """When `tick` has something to do at the latest, if nothing is heard."""
        held = self._sent_ns[0] + SECOND if self._is_due and len(self._sent_ns) >= MOST_A_SECOND else NEVER
        return self._expires_ns if self.is_silent else min(self._expires_ns, self._periodic_ns, held)

    @property
    def carries(self) -> bool:
        """Whether frames go over it both ways."""
        return self.actor.state & CARRIES == CARRIES and self.partner.state & CARRIES == CARRIES

    @property
    def has_partner(self) -> bool:
        """Whether it knows its partner, which may have expired."""
        return self.is_up and not self.actor.state & State.DEFAULTED

    def find_hang(self, chosen: tuple[str, int] | None) -> Hangs | None:
        """Why it carries no frames; None: it does. chosen: system and key of the LAG's partner."""
        state = self.partner.state
        reasons = (
            (not self.is_up, Hangs.NO_CARRIER),
            (self.is_looped and not self.has_partner, Hangs.LOOP),
            (self.heard == 0, Hangs.SILENT),
            (not self.has_partner or bool(self.actor.state & State.EXPIRED), Hangs.EXPIRED),
            (not state & State.AGGREGATION, Hangs.INDIVIDUAL),
            (chosen is not None and self.partner.system != chosen[0], Hangs.OTHER_SYSTEM),
            (chosen is not None and self.partner.key != chosen[1], Hangs.OTHER_KEY),
            (not self._is_confirmed or bool(state & State.EXPIRED), Hangs.NOT_SEEN),
            (not state & State.SYNCHRONIZATION, Hangs.NOT_IN_SYNC),
            (not self.carries, Hangs.NOT_COLLECTING),
        )
        return next((hang for is_so, hang in reasons if is_so), None)


class Lacp:
    """The actor of one LAG. is_active: it speaks first. is_fast: it asks for a LACPDU a second."""

    def __init__(self, system: str, macs: Sequence[str], key: int, *, is_active: bool, is_fast: bool) -> None:
        """system: the MAC address that it has in LACPDUs. macs: of its members."""
        state = State.AGGREGATION | State.DEFAULTED
        state |= State.ACTIVE if is_active else State(0)
        state |= State.SHORT_TIMEOUT if is_fast else State(0)
        self.system = system
        self.members = tuple(
            Member(mac, Info(system, key, number, state, 0x8000, 0x8000))
            for number, mac in enumerate(macs, 1)
        )
        self._waits_ns = NEVER
        self._is_formed = False

    def begin(self, now: int) -> None:
        """All members begin."""
        for one in self.members:
            one.begin(now)

    def hear(self, number: int, frame: bytes, now: int) -> list[tuple[int, bytes]]:
        """Takes in a frame that a member, numbered from 0, has received; what each member says at once."""
        found, member = decode(frame), self.members[number]
        if isinstance(found, Marker):
            is_asked = found.kind == REQUEST and found.system != self.system
            return [(number, found.answer().encode(member.mac))] if is_asked else []
        if found is None or not member.is_up:
            return []
        if found.actor.system == self.system:
            member.is_looped = True
            return []
        member.hear(found, now)
        return self.tick(now)

    def tick(self, now: int) -> list[tuple[int, bytes]]:
        """What each member says at a time."""
        for one in self.members:
            one.heed(now)
        self._select(now)
        said = [(number, frame) for number, one in enumerate(self.members) for frame in one.speak(now)]
        for one in self.members:
            one.count_left()
        return said

    def leave(self, now: int) -> list[tuple[int, bytes]]:
        """A last LACPDU of each member, with which its partner takes it out of its LAG at once."""
        return [(number, frame) for number, one in enumerate(self.members) for frame in one.leave(now)]

    def _select(self, now: int) -> None:
        """The members with the partner of most of them form the LAG (6.4.14)."""
        chosen = self.partner
        if not self._is_formed and chosen is not None:
            self._waits_ns = min(self._waits_ns, now + WAIT_NS)
            self._is_formed = now >= self._waits_ns or all(one.has_partner for one in self.members)
        if not self._is_formed:
            return
        for one in self.members:
            ends = (one.partner.system, one.partner.key)
            is_with = one.has_partner and ends == chosen and bool(one.partner.state & State.AGGREGATION)
            one.selected = is_with and not one.is_left_out

    @property
    def partner(self) -> tuple[str, int] | None:
        """System and key of the partner that most members have; of equally many the first; None: of none."""
        found = Counter((one.partner.system, one.partner.key) for one in self.members if one.has_partner)
        return found.most_common(1)[0][0] if found else None

    @property
    def next_ns(self) -> int:
        """When `tick` has something to do at the latest."""
        waits_ns = NEVER if self._is_formed else self._waits_ns
        return min(waits_ns, *(one.next_ns for one in self.members))

    def find_hangs(self) -> tuple[Hangs | None, ...]:
        """Of each member why it carries no frames; None: it does."""
        chosen = self.partner
        return tuple(one.find_hang(chosen) for one in self.members)
