"""Management queries among the test frames, RFC 2544 section 11.2: one is the first frame of each second.

A GET of the five objects of appendix C.2.4.3 by SNMP 2c, to the device's address on the first port that
sends. Its answer is verified; what is missing or wrong is reported, and spoils no trial. The community
comes from the environment and goes nowhere but into the frames: a stored trial has `public` in its place.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from netdyno.devices import agent
from netdyno.errors import Problem
from netdyno.modifiers import datagram, snmp
from netdyno.modifiers.modifier import Asked, Modifier, Scene, Words
from netdyno.modifiers.reasons import QueriesUnanswered, WrongAnswers
from netdyno.values.finding import Result, Table, columns
from netdyno.values.outcome import Exchange, Heard, Outcome
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from netdyno.devices.wiring import Wiring

COMMUNITY = "NETDYNO_SNMP_COMMUNITY"
"""Variable of the environment with the community."""
PUBLIC = "public"
MOST_COMMUNITY = 32
"""Bytes: so that a query is never longer than what is kept free for it."""

FROM_PORT = 50_161
"""The tester's UDP port: an ephemeral one (RFC 6335 section 6)."""
EVERY_NS = 10**9
MOST = 50_000
"""Queries of a trial: what the engine keeps answers of. Of a longer one its first 13 hours are asked."""
KEPT_BYTES = 256
"""Kept free of each second on the line of the port that asks, FCS counted: the longest query there may be."""
KEPT_BPS = (KEPT_BYTES + 20) * 8
LOOKS_NS = 15 * 10**9
"""Agents look at their counters now and then, and tell what they saw last: Net-SNMP after some seconds."""
FINDINGS = 5
"""Kept of a trial in words, and shown of a case."""

_UP_TIME = (1, 3, 6, 1, 2, 1, 1, 3, 0)
_IF_ENTRY = (1, 3, 6, 1, 2, 1, 2, 2, 1)
OBJECTS = {
    "sysUpTime": ("TimeTicks", None),
    "ifInOctets": ("Counter32", 10),
    "ifOutOctets": ("Counter32", 16),
    "ifInUcastPkts": ("Counter32", 11),
    "ifOutUcastPkts": ("Counter32", 17),
}
"""Appendix C.2.4.3, with their types and columns of ifEntry (RFC 3418, RFC 2863)."""

COLUMNS = columns(
    "port | queries sent: frames | answered: frames | wrong answers: frames | longest answer: ns"
    " | taken in, the device says: frames | sent to it meanwhile: frames"
)


@dataclass(frozen=True)
class _Answer:
    """A right answer: to which query, when that was sent, when it came, and the numbers of OBJECTS."""

    number: int
    sent_ns: int
    came_ns: int
    values: tuple[int, ...]


def names(if_index: int) -> tuple[tuple[int, ...], ...]:
    """The names of OBJECTS, of one interface."""
    return tuple(
        _UP_TIME if column is None else (*_IF_ENTRY, column, if_index) for _, column in OBJECTS.values()
    )


def _problem(asked: Asked) -> Problem | None:
    if not {agent.SETTING, agent.INDEX} & set(asked.kind.settings):
        return Problem(
            f"`{asked.kind.name}` has no SNMP agent that could be asked",
            "`emulated/router`, `linux/router`, or `external`",
            code="unsupported",
        )
    if asked.tagged:
        return Problem(
            "the frames of this case have VLAN tags, and SNMP queries have none",
            "a profile and links without VLANs",
            code="unsupported",
        )
    link = asked.links[asked.ways[0].tx]
    if agent.SETTING in asked.kind.settings:
        return None
    if link.gateway is None or ":" in link.gateway:
        return Problem(
            f"`{link.tester_port}`, the first port that sends, knows no IPv4 address of the device to ask",
            "give its link `address: 198.18.1.2/24` and `gateway: 198.18.1.1`",
            code="missing-field",
        )
    if agent.INDEX not in asked.settings:
        return Problem(
            f"the ifIndex of the device's port at `{link.tester_port}` is not known",
            f"`settings: {{{agent.INDEX}: 2}}` of the device; its ipAdEntIfIndex.{link.gateway} tells it",
            code="missing-field",
        )
    return None


def community(*, given: bool) -> bytes:
    """What the agent, which we have given the device or not, knows us by; ValueError says what is wrong with
    it, not what it is."""
    found = PUBLIC if given else os.environ.get(COMMUNITY, PUBLIC)
    encoded = found.encode()
    if not 0 < len(encoded) <= MOST_COMMUNITY:
        raise ValueError(f"the community in {COMMUNITY} has {len(encoded)} bytes, not 1 to {MOST_COMMUNITY}")
    return encoded


def _index(scene: Scene) -> int:
    """An emulated router numbers its ports from 1; another one was asked when it was built."""
    port = scene.wiring.in_lab(scene.speaker)
    if not _is_given(scene.wiring):
        return agent.index(scene.settings[agent.INDEX])
    return scene.wiring.ports[scene.speaker].if_index or port + 1


def _is_given(wiring: Wiring) -> bool:
    """Whether the agent is one that we have given the device."""
    return wiring.clock == "virtual" or wiring.settings.get(agent.SETTING) == agent.SNMP


def _words(scene: Scene, *, secret: bool) -> Mapping[int, Words]:
    known = community(given=_is_given(scene.wiring) or not secret)
    message, number_at = snmp.get(known, names(_index(scene)))
    own = scene.wiring.ports[scene.speaker]
    asks = (datagram.host(own), FROM_PORT)
    words = Words(
        messages=(
            {
                "at_ns": 0,
                "every_ns": EVERY_NS,
                "count": max(1, min(MOST, -(-scene.duration_ns // EVERY_NS))),
                "frame": datagram.frame(own.mac, asks, (own.destination, snmp.PORT), message).hex(),
                "number_at": datagram.HEADERS + number_at,
                "to": own.destination,
            },
        ),
        listens=(FROM_PORT,),
    )
    return {scene.speaker: words}


def _read(scene: Scene, result: Outcome) -> Exchange:
    """What came of a trial's queries."""
    assert result.post is not None  # As it comes from the engine.
    wiring, port = scene.wiring, scene.speaker
    sent = {said.number: said.at_ns for said in result.post.said}
    asked = names(_index(scene))
    known = community(given=_is_given(wiring))
    right: dict[int, _Answer] = {}
    wrong: list[str] = []
    for heard in result.post.heard:
        try:
            answer = _verify(heard, wiring.ports[port].destination, known, asked, sent)
            if answer.number in right:
                raise snmp.BadMessageError("a second answer to one query")
            right[answer.number] = answer
        except snmp.BadMessageError as why:
            wrong.append(f"{_at(heard.at_ns)}: {why}")
    answers = [right[number] for number in sorted(right)]
    odd = list(_backwards(answers, wiring.ports[port].rate_bps))
    if result.post.damaged:
        odd.append(f"{result.post.damaged} answers had a wrong checksum")
    took = [answer.came_ns - answer.sent_ns for answer in answers]
    return Exchange(
        port=wiring.ports[port].name,
        sent=len(sent),
        answered=len(answers),
        wrong=len(wrong) + len(odd) + result.post.beyond,
        findings=tuple([*wrong, *odd][:FINDINGS]),
        longest_ns=max(took, default=None),
        **_span(answers, result, port),
    )


def _at(at_ns: int) -> str:
    return f"{at_ns / 10**9:.3f} s into the traffic"


def _verify(
    heard: Heard,
    device: str,
    known: bytes,
    asked: Sequence[tuple[int, ...]],
    sent: Mapping[int, int],
) -> _Answer:
    """An answer that is right in itself; BadMessageError says why not."""
    if (heard.source, heard.source_port) != (device, snmp.PORT):
        raise snmp.BadMessageError(
            f"an answer came from {heard.source} port {heard.source_port}, not from {device} port {snmp.PORT}"
        )
    response = snmp.read(heard.payload)
    if response.community != known:
        raise snmp.BadMessageError("an answer has another community than the query")
    number = response.id - snmp.FIRST_ID
    if number not in sent:
        raise snmp.BadMessageError("an answer has a request id that no query had")
    if response.error:
        named = snmp.ERRORS[response.error] if 0 < response.error < len(snmp.ERRORS) else "unknown"
        raise snmp.BadMessageError(f"error status {response.error} ({named})")
    if [binding.name for binding in response.bindings] != list(asked):
        raise snmp.BadMessageError("an answer is about other objects than the query")
    values = []
    for binding, (name, (kind, _)) in zip(response.bindings, OBJECTS.items(), strict=True):
        if binding.kind != kind or binding.number is None:
            raise snmp.BadMessageError(f"{name} is {binding.kind}, not {kind}")
        values.append(binding.number)
    return _Answer(number, sent[number], heard.at_ns, tuple(values))


def _backwards(answers: Sequence[_Answer], rate_bps: int) -> Iterator[str]:
    """Numbers that cannot be: of a device that started again, and counts that are more than the line carries.

    Counters of 32 bits begin again at 0: one that went backwards has moved by nearly 2^32. A line that could
    carry as much from one answer to the next proves nothing.
    """
    for one, other in pairwise(answers):
        if other.values[0] < one.values[0]:
            fell = f"sysUpTime fell from {one.values[0]} to {other.values[0]}"
            yield f"{_at(other.came_ns)}: {fell}: it started again"
            continue
        octets = rate_bps * (other.came_ns - one.sent_ns + LOOKS_NS) // (8 * 10**9)
        for name, before, after in zip(OBJECTS, one.values, other.values, strict=True):
            # 64 bytes and 20 of preamble and gap are the shortest frame.
            most = octets if name.endswith("Octets") else octets // 84
            if name != "sysUpTime" and most < 2**32 and (after - before) % 2**32 > most:
                went = f"{name} went from {before} to {after}"
                yield f"{_at(other.came_ns)}: {went}, more than the line carries"


def _span(answers: Sequence[_Answer], result: Outcome, port: int) -> dict[str, int | None]:
    """What the device took in between its first answer and its last, and what it was sent then.

    Both with the queries themselves. What was sent is known of whole samples only.
    """
    if len(answers) < 2:
        return {"taken": None, "offered": None}
    first, last = answers[0], answers[-1]
    place = list(OBJECTS).index("ifInUcastPkts")
    taken = (last.values[place] - first.values[place]) % 2**32
    ends = [one.number * EVERY_NS for one in (first, last)]
    if any(end % result.sample_ns for end in ends):
        return {"taken": taken, "offered": None}
    low, high = (end // result.sample_ns for end in ends)
    offered = sum(result.ports[port].tx[low:high]) + last.number - first.number
    return {"taken": taken, "offered": offered}


def _with_table(result: Result, _wiring: Wiring, trials: Sequence[Outcome]) -> Result:
    """Of all trials that the result rests on."""
    found = [trial.exchange for trial in trials if trial.exchange is not None]
    if not found:
        return result
    sent, answered, wrong = (
        sum(getattr(one, name) for one in found) for name in ("sent", "answered", "wrong")
    )
    both = [one for one in found if one.taken is not None and one.offered is not None]
    longest = max((one.longest_ns for one in found if one.longest_ns is not None), default=None)
    row = (
        found[0].port,
        Fraction(sent),
        Fraction(answered),
        Fraction(wrong),
        None if longest is None else Fraction(longest),
        Fraction(sum(one.taken or 0 for one in both)) if both else None,
        Fraction(sum(one.offered or 0 for one in both)) if both else None,
    )
    caption = (
        "RFC 2544 section 11.2, in the trials that count: an SNMP query is the first frame of each second."
        " What the device says it took in is ifInUcastPkts from its first to its last answer of each trial,"
        " and what it was sent are test frames and queries of that time; an agent that looks at its counters"
        " every few seconds says less."
    )
    notes: list[Reason] = []
    if answered < sent:
        notes.append(QueriesUnanswered(answered, sent, COMMUNITY))
    examples = tuple(finding for one in found for finding in one.findings)[:FINDINGS]
    if examples:
        notes.append(WrongAnswers(wrong, examples))
    table = Table("Management queries", COLUMNS, (row,), caption)
    return replace(result, tables=(*result.tables, table), notes=(*result.notes, *notes))


MODIFIER = Modifier(
    name="management",
    doc="the first frame of each second is an SNMP query to the device, and its answer is verified",
    section="11.2",
    takes_bps=KEPT_BPS,
    longest=KEPT_BYTES,
    # A device that netdyno builds is given an agent; an external one has its own or none.
    settings=lambda _profile, _ways, _ports: {agent.SETTING: agent.SNMP},
    problem=_problem,
    words=_words,
    read=_read,
    conclude=_with_table,
)
