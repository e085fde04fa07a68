"""Routing updates among the test frames, RFC 2544 section 11.3, by RIP.

The first port that sends announces six networks that have no part in the test, in two states in turn
(appendix C.2.6.2): they are behind it (A), and cannot be reached (B). A is said before the traffic, B is its
first frame, and from then on each 30 s the other one (appendix C.2.3). Whether the device has followed is
seen by frames of the port at which the test frames come out: one to each network, which must come to the
port that announces it in state A, and may not in B.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

from netdyno.devices import routing as lab
from netdyno.devices.wiring import Trait
from netdyno.errors import Problem
from netdyno.modifiers import datagram, rip
from netdyno.modifiers.modifier import Asked, Modifier, Profile, Scene, Words
from netdyno.modifiers.reasons import FollowingUnknown, UpdatesNotFollowed
from netdyno.values.finding import Result, Table, columns
from netdyno.values.outcome import Exchange, Outcome, Post
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from netdyno.devices.wiring import LabLink, Wiring

# RFC 5737: for documentation, so nobody's traffic goes there, and what a device does not keep nobody gets.
NETWORKS = tuple(
    str(half)
    for network in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")
    for half in ipaddress.IPv4Network(network).subnets()
)
"""As many as the frame of appendix C.2.6.2 has."""

METRIC = {"A": 7, "B": rip.INFINITY}
"""Of each state."""

LEAD_NS = 5 * 10**9
"""The first update precedes the traffic by so much (appendix C.2.3), or by as long as the plan lets it."""
EVERY_NS = 30 * 10**9
FOLLOWS_NS = 2 * 10**9
"""What a router is given to follow (section 23 b)."""
MOST = 6_000
"""Updates of a trial that are looked at: of a longer one its first 50 hours."""

PROBE_PORT = 50_520
"""UDP port of the frames to the announced networks, from and to: an ephemeral one (RFC 6335 section 6)."""
_MAGIC = b"netdyno 11.3"
_NUMBER_AT = datagram.HEADERS + len(_MAGIC) + 2
_PAYLOAD = struct.Struct(f"!{len(_MAGIC)}sBBI")

UPDATE_BYTES = 14 + 20 + 8 + 4 + 20 * len(NETWORKS) + 4
PROBES_BYTES = 64 * len(NETWORKS)
FINDINGS = 5
"""Kept of a trial in words, and shown of a case."""

COLUMNS = columns("port | updates sent: frames | followed: frames | not followed: frames | not known: frames")


@dataclass(frozen=True)
class _Update:
    """An update: what it says, when, and how long after it is looked whether it was followed; None: never."""

    state: str
    at_ns: int
    follows_ns: int | None


def _updates(scene: Scene) -> Iterator[_Update]:
    """All of a trial, in order of time."""
    lead = min(LEAD_NS, scene.settle_ns)
    times = list(range(0, max(scene.duration_ns, 1), EVERY_NS))
    if lead:
        times.insert(0, -lead)
    states = "AB" if lead else "BA"
    for number, (at, then) in enumerate(zip(times, [*times[1:], scene.duration_ns], strict=True)):
        seen = number < MOST and then - at > 1
        yield _Update(states[number % 2], at, min(FOLLOWS_NS, (then - at) // 2) if seen else None)


def _series(scene: Scene) -> list[list[_Update]]:
    """The updates, put together as they are said by one message each: alike, and as far apart."""
    found = []
    # What is said before the traffic is said once.
    for _, alike in groupby(
        sorted(_updates(scene), key=lambda one: (one.at_ns >= 0, one.state, -(one.follows_ns or 0))),
        key=lambda one: (one.at_ns >= 0, one.state, one.follows_ns),
    ):
        found.append(list(alike))
    return found


def _message(series: Sequence[_Update], after_ns: int, frame: bytes, **more: Any) -> dict[str, Any]:
    """The same frame after each update of a series."""
    return {
        "at_ns": series[0].at_ns + after_ns,
        "every_ns": 2 * EVERY_NS,
        "count": len(series),
        "frame": frame.hex(),
        **more,
    }


def _words(scene: Scene, *, secret: bool) -> Mapping[int, Words]:
    speaker, witness = (scene.wiring.ports[number] for number in (scene.speaker, scene.witness))
    said, looked = [], []
    for number, series in enumerate(_series(scene)):
        frame = rip.frame(speaker.mac, datagram.host(speaker), NETWORKS, METRIC[series[0].state])
        said.append(_message(series, 0, frame))
        if series[0].follows_ns is None:
            continue
        for place, network in enumerate(NETWORKS):
            host = str(ipaddress.IPv4Network(network)[1])
            probe = datagram.frame(
                witness.mac,
                (datagram.host(witness), PROBE_PORT),
                (host, PROBE_PORT),
                _PAYLOAD.pack(_MAGIC, number, place, 0),
            )
            more = {"number_at": _NUMBER_AT, "to": witness.destination}
            looked.append(_message(series, series[0].follows_ns, probe, **more))
    return {
        scene.speaker: Words(messages=tuple(said), listens=(PROBE_PORT,), behind=NETWORKS),
        scene.witness: Words(messages=tuple(looked)),
    }


def _read(scene: Scene, result: Outcome) -> Exchange:
    """What came of a trial's updates."""
    assert result.post is not None  # As it comes from the engine.
    series = _series(scene)
    looked = [number for number, alike in enumerate(series) if alike[0].follows_ns is not None]
    probes = [(number, place) for number in looked for place in range(len(NETWORKS))]
    # Messages are counted over all ports in their order.
    first, other = (0, len(series)) if scene.speaker < scene.witness else (len(probes), 0)
    sent: set[tuple[int, int]] = set()
    asked: set[tuple[int, int, int]] = set()
    for one in result.post.said:
        if first <= one.message < first + len(series):
            sent.add((one.message - first, one.number))
        else:
            asked.add((*probes[one.message - other], one.number))
    reached = set(_find_reached_probes(scene, result.post))
    known = []
    for number, alike in enumerate(series):
        for count, update in enumerate(alike):
            mine = {(number, place, count) for place in range(len(NETWORKS))}
            if (number, count) in sent and mine <= asked:
                known.append((update, len(mine & reached)))
    followed, wrong = _judge_updates(sorted(known, key=lambda one: one[0].at_ns))
    return Exchange(
        port=scene.wiring.ports[scene.speaker].name,
        sent=len(sent),
        answered=followed,
        wrong=len(wrong),
        findings=tuple(wrong[:FINDINGS]),
    )


def _judge_updates(known: Sequence[tuple[_Update, int]]) -> tuple[int, list[str]]:
    """How many updates were followed, by how many networks could be reached after each; and which were not.

    That none can be reached shows nothing where they could not before either, and a router that had less time
    than section 23 b gives it is not wrong.
    """
    followed, wrong, before = 0, [], 0
    for update, came in known:
        if came != (len(NETWORKS) if update.state == "A" else 0):
            if update.follows_ns == FOLLOWS_NS:
                wrong.append(_wrong(update, came))
        elif update.state == "A" or before == len(NETWORKS):
            followed += 1
        before = came
    return followed, wrong


def _find_reached_probes(scene: Scene, post: Post) -> Iterator[tuple[int, int, int]]:
    """The probes that came to the port that announces where they go."""
    for heard in post.heard:
        if heard.port == scene.speaker and len(heard.payload) == _PAYLOAD.size:
            magic, number, place, count = _PAYLOAD.unpack(heard.payload)
            if magic == _MAGIC:
                yield number, place, count


def _wrong(update: _Update, came: int) -> str:
    assert update.follows_ns is not None
    after = f"{update.follows_ns / 10**9:g} s after the update at {update.at_ns / 10**9:g} s"
    of = f"of {len(NETWORKS)} networks"
    if update.state == "A":
        return f"{after} {len(NETWORKS) - came} {of} could not be reached yet (state A)"
    return f"{after} {came} {of} could still be reached (state B)"


def _problem(asked: Asked) -> Problem | None:
    way = asked.ways[0]
    configured = lab.SETTING in asked.kind.settings
    if not configured and asked.kind.name != "external":
        return Problem(
            f"`{asked.kind.name}` learns no routes",
            "`emulated/router`, `linux/router`, or `external`",
            code="unsupported",
        )
    if way.tx == way.rx:
        return Problem("routing updates are verified at a second port", "a second link", code="unsupported")
    if asked.tagged:
        return Problem(
            "the frames of this case have VLAN tags, and routing updates have none",
            "a profile and links without VLANs",
            code="unsupported",
        )
    for link in (asked.links[way.tx], asked.links[way.rx]):
        if not configured and not _speaks(link):
            return Problem(
                f"`{link.tester_port}` has no IPv4 address and next hop",
                "give its link `address: 198.18.1.2/24` and `gateway: 198.18.1.1`",
                code="missing-field",
            )
    taken = _take_address(asked.profile, asked.links)
    if taken is None:
        return None
    return Problem(
        f"{taken} has addresses of the networks that are announced, {', '.join(NETWORKS[::2])} and so on",
        "other addresses: those are for documentation (RFC 5737), and no test frame may go there",
        code="conflict",
    )


def _speaks(link: LabLink) -> bool:
    return all(address is not None and ":" not in address for address in (link.address, link.gateway))


def _take_address(profile: Profile, links: Sequence[LabLink]) -> str | None:
    """An address of the test that is in an announced network."""
    used = [address for link in links for address in (link.address, link.gateway) if address is not None]
    if profile.headers is None:
        used += [profile.pool.source, profile.pool.destination]
    else:
        headers = [header for header in profile.headers if header.type == "ipv4"]
        used += [text for header in headers for end in (header.src, header.dst) for text in _addresses(end)]
    announced = [_ends(network) for network in NETWORKS]
    for address in used:
        first, _, last = address.partition(" to ")
        if ":" in first:
            continue
        low, high = _ends(first)[0], _ends(last or first)[1]
        if any(low <= end and begin <= high for begin, end in announced):
            return f"`{address}`"
    return None


def _ends(address: str) -> tuple[int, int]:
    """The first and the last address of the network it is in; of one without a prefix length, itself."""
    network = ipaddress.IPv4Interface(address).network
    return int(network[0]), int(network[-1])


def _addresses(field: Any) -> Iterator[str]:
    """What a field of a header may be: addresses, or `16.0.0.1 to 16.0.0.9`."""
    if isinstance(field, str):
        yield field
    elif isinstance(field, Mapping) and "list" in field:
        yield from field["list"]
    elif isinstance(field, Mapping) and "random" in field:
        yield f"{field['random']['min']} to {field['random']['max']}"
    elif isinstance(field, Mapping) and "range" in field:
        yield f"{field['range']['min']} to {field['range']['max']}"
    elif isinstance(field, Mapping) and "step" in field:
        first = ipaddress.IPv4Address(field["step"]["start"])
        last = int(first) + int(field["step"]["step"]) * (int(field["step"]["count"]) - 1)
        low, high = sorted((int(first), max(0, min(last, 2**32 - 1))))
        yield f"{ipaddress.IPv4Address(low)} to {ipaddress.IPv4Address(high)}"


def _with_table(result: Result, wiring: Wiring, trials: Sequence[Outcome]) -> Result:
    """Of all trials that the result rests on."""
    found = [trial.exchange for trial in trials if trial.exchange is not None]
    if not found:
        return result
    sent, followed, wrong = (
        sum(getattr(one, name) for one in found) for name in ("sent", "answered", "wrong")
    )
    counts = (Fraction(number) for number in (sent, followed, wrong, sent - followed - wrong))
    caption = (
        "RFC 2544 section 11.3, in the trials that count: RIP version 2 updates in two states in turn, as in"
        f" appendix C.2.6.2, of {len(NETWORKS)} networks that no test frame goes to: at a distance of"
        f" {METRIC['A']} behind the port of the row (A), and not to be reached (B). A before the traffic, B"
        " as its first frame, then the other one each 30 s. Followed: frames to those networks came to that"
        " port in state A, and did not in B."
    )
    notes: list[Reason] = []
    if wrong:
        shown = tuple(finding for one in found for finding in one.findings)[:FINDINGS]
        may_not_learn = followed == 0 and Trait.CAN_BE_ASKED not in wiring.traits
        notes.append(UpdatesNotFollowed(wrong, sent, shown, found[0].port if may_not_learn else None))
    elif not followed:
        notes.append(FollowingUnknown(sent, FOLLOWS_NS // 10**9))
    table = Table("Routing updates", COLUMNS, ((found[0].port, *counts),), caption)
    return replace(result, tables=(*result.tables, table), notes=(*result.notes, *notes))


MODIFIER = Modifier(
    name="routing",
    doc="RIP updates of networks beside the test, in two states in turn; that they are followed is verified",
    section="11.3",
    takes_bps=(UPDATE_BYTES + 20) * 8,
    witness_bps=(PROBES_BYTES + 20 * len(NETWORKS)) * 8,
    longest=UPDATE_BYTES,
    settings=lambda _profile, _ways, _ports: {lab.SETTING: lab.RIP},
    problem=_problem,
    words=_words,
    read=_read,
    conclude=_with_table,
)
