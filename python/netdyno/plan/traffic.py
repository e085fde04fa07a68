"""Traffic profiles: sizes, flows, addresses and headers, with their short forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from netdyno.devices import addresses
from netdyno.plan.arrivals import EVEN, ArrivalField
from netdyno.plan.classes import Back, Classes, divided_by_rates
from netdyno.plan.fields import Element, Hex
from netdyno.plan.flows import FlowsField, SpreadFlows
from netdyno.plan.headers import (
    Ethernet,
    HeadersField,
    Ipv4,
    Ipv6,
    Tcp,
    Udp,
    Vlan,
    combine,
    distinct_flows,
    most_flows,
    smallest_frame,
)
from netdyno.plan.pools import (
    ADDRESSES,
    MOST_IN_A_BURST,
    Addresses,
    AddressesField,
    SizeField,
    hosts,
    in_networks,
)
from netdyno.plan.writes import MOST_WRITES, Write
from netdyno.values.mixes import MAX_SIZE, OF_MTU, Mix, fixed
from netdyno.values.rates import FCS, WIRE_OVERHEAD, longest_frame, wire_bits
from netdyno.values.units import Duration, Percent

UNTAGGED = "none"


def vlans(value: object) -> object:
    """`10`, `{vid: 10}` or a list of such, outermost first."""
    if value == UNTAGGED:
        return []
    tags = value if isinstance(value, list) else [value]
    return [{"type": "vlan", **(tag if isinstance(tag, Mapping) else {"vid": tag})} for tag in tags]


class Profile(Element):
    """A kind of traffic, the same in each direction."""

    size: SizeField
    """Frame size with FCS, a named mix, or sizes with weights; `mtu`: the longest of the lab's. A list of
    sizes is a profile of each."""
    # How many can be told apart depends on the streams: check_traffic.py says it, with what to write.
    flows: FlowsField = 65536
    """Number of flows; `{count: 64, members: even}` or `members: [3, 1]`: so many that members of a LAG carry
    in these shares."""
    burst: int = Field(default=1, ge=1, le=MOST_IN_A_BURST)
    """Frames leave in bursts of so many, back to back; the gaps between make the load."""
    arrival: ArrivalField = EVEN
    """When frames leave: `constant`, `poisson`, or a wave such as `{kind: sine, period: 10ms, depth:
    50%}`."""
    probe: bool = True
    """Whether frames hold a probe of 18 bytes. Without one they are counted by their headers."""
    ip: Literal[4, 6] = 4
    """IP version."""
    protocol: Literal["udp", "tcp"] = "udp"
    vlan: (
        Annotated[
            list[Vlan],
            BeforeValidator(vlans),
            Field(max_length=8),
            WithJsonSchema(
                {
                    "anyOf": [
                        {"type": ["integer", "object", "array"], "items": {"type": ["integer", "object"]}},
                        {"const": UNTAGGED},
                    ]
                }
            ),
        ]
        | None
    ) = None
    """Tags on all links, outermost first: `10`, or `[{vid: 100, tpid: 0x88a8}, 200]`; `none`: no tags,
    whatever a link says."""
    addresses: AddressesField | None = None
    """Where frames come from and go to: a name, or two prefixes."""
    headers: HeadersField | None = None
    """The whole header stack, instead of ip, protocol, vlan and addresses."""

    writes: list[Write] = Field(default=[], max_length=MOST_WRITES)
    """Numbers that are written over the frame that the headers make, one after the other; checksums
    follow."""

    payload: Annotated[Hex, Field(max_length=2 * MAX_SIZE)] = ""
    """Bytes that are repeated behind headers and probe, in place of bytes that count up."""

    back: Back | None = None
    """What comes back, if not the same with source and destination of IP swapped."""

    answers: bool = False
    """Whether what comes back answers, frame by frame: it goes to where each flow came out, which is learnt
    before each trial. For devices that translate addresses or ports, or let answers alone in."""

    classes: Classes = Field(default={}, max_length=64)
    """Classes of traffic by name, each a stream of its own with a share of the load."""

    @model_validator(mode="before")
    @classmethod
    def _a_flow_a_network(cls, value: Any) -> Any:
        """Of addresses with networks the number of flows is theirs, unless it is given."""
        named = value.get("addresses") if isinstance(value, Mapping) else None
        count = ADDRESSES[named].networks if isinstance(named, str) and named in ADDRESSES else 0
        return {"flows": count, **value} if count else value

    @model_validator(mode="after")
    def _divided(self) -> Profile:
        """Of classes that all have a rate each has its part of the method's load."""
        if not self.classes or any(one.rate is None for one in self.classes.values()):
            return self
        means = {name: self.of_class(name).mean for name in self.classes}
        return self.with_fields({"classes": divided_by_rates(self.classes, means)})

    @property
    def mix(self) -> Mix:
        """Its sizes; of classes with sizes of their own see `parts`."""
        return self.size

    @cached_property
    def mean(self) -> Fraction:
        """Average size of the frames that share the method's load, bytes. Shares are of L1 bits, so that of
        several classes a frame is on average as long as makes their frames a second."""
        shares = {name: one.share.amount for name, one in self.classes.items() if one.share is not None}
        if not shares:
            return self.mix.mean
        frames = (share / wire_bits(self.of_class(name).mean) for name, share in shares.items())
        return 1 / sum(frames, Fraction(0)) / 8 - WIRE_OVERHEAD

    def frames_of(self, name: str) -> Fraction:
        """The part of the frames of the method's load that are of a class with a share of it."""
        share = self.classes[name].share
        assert share is not None, "a class without a `rate` has a share"
        return share.amount * wire_bits(self.mean) / wire_bits(self.of_class(name).mean)

    @property
    def parts(self) -> tuple[Profile, ...]:
        """As each of its classes has it; without classes itself alone."""
        return tuple(self._of_classes.values()) or (self,)

    @property
    def sends_by_itself(self) -> bool:
        """Whether no class has a share of a method's load: each sends at a rate and times of its own."""
        return bool(self.classes) and all(one.share is None for one in self.classes.values())

    def with_even_shares(self) -> Profile:
        """Its frames as a load of any rate, an even part of each class."""
        share = Percent(Fraction(1, len(self.classes)))
        shared: dict[str, Any] = {"share": share, "delay": Duration.of_ns(0), "starts": True}
        shared |= dict.fromkeys(("rate", "burst", "bursts", "then", "loops"))
        classes = {name: one.model_copy(update=shared) for name, one in self.classes.items()}
        return self.with_fields({"classes": classes})

    def with_mtu(self, mtu: int) -> Profile:
        """The profile in a lab of that MTU, bytes: `size: mtu` is the longest frame."""

        def sized(one: Profile) -> Mix:
            return fixed(longest_frame(mtu, one.own_tags)) if one.size is OF_MTU else one.size

        if all(one.size is not OF_MTU for one in (self, *self.parts)):
            return self
        classes = {
            name: one if one.size is None else one.model_copy(update={"size": sized(self.of_class(name))})
            for name, one in self.classes.items()
        }
        return self.with_fields({"size": sized(self), **({"classes": classes} if classes else {})})

    @property
    def own_tags(self) -> int:
        """VLAN tags that it says itself."""
        return sum(header.type == "vlan" for header in self.stack)

    def of_class(self, name: str) -> Profile:
        """The profile as one of its classes has it: with what that has of its own; itself without a name."""
        return self._of_classes[name] if name else self

    @cached_property
    def _of_classes(self) -> Mapping[str, Profile]:
        return {name: self.with_fields({**one.own, "classes": {}}) for name, one in self.classes.items()}

    def with_fields(self, fields: Mapping[str, Any]) -> Profile:
        """A copy with other fields, without what was derived of the old ones."""
        found = self.model_copy(update=fields)
        for derived in ("stack", "mean", "_of_classes", "_backward"):
            found.__dict__.pop(derived, None)
        return found

    def of_way(self, reverse: bool) -> Profile:
        """The profile of what is sent one way; of what comes back, if that has headers of its own."""
        return self._backward if reverse and self.back is not None else self

    @cached_property
    def _backward(self) -> Profile:
        assert self.back is not None, "asked of a profile that says what comes back"
        payload = self.payload if self.back.payload is None else self.back.payload
        own = {"headers": self.back.headers, "writes": self.back.writes, "payload": payload}
        return self.with_fields({**own, "vlan": None, "back": None})

    @property
    def spread(self) -> SpreadFlows | None:
        """Its flows and their shares of the members of a LAG; None: nobody chooses flows."""
        return self.flows if isinstance(self.flows, SpreadFlows) else None

    @property
    def candidates(self) -> int:
        """The most flows of a stream that those on the members of a LAG are chosen from; without any, its
        flows."""
        if self.spread is None:
            return self.flows
        stack = self.stack if self.headers is None else self.headers
        make = distinct_flows if self.headers is None else most_flows
        have = make(stack, self.writes)
        return min(self.spread.candidates, have)

    @property
    def pool(self) -> Addresses:
        """Its addresses, the default of its IP version filled in."""
        return self.addresses or ADDRESSES["trex" if self.ip == 4 else "rfc5180"]

    @cached_property  # of an element that never changes; asked for several times a trial
    def stack(self) -> tuple[Any, ...]:
        """Its header stack in the forward direction, outermost first."""
        return self._stack(self.pool)

    @property
    def tagged(self) -> bool:
        """Whether its frames have a VLAN tag, innermost ones too."""
        return any(header.type == "vlan" for header in self.stack)

    @property
    def takes_tags(self) -> bool:
        """Whether its frames have the tags of each link: it says nothing of tags itself."""
        return self.vlan is None and not any(header.type == "vlan" for header in self.stack[1:2])

    @property
    def can_answer(self) -> bool:
        """Whether translated flows of it are followed: UDP or TCP over IPv4, with a probe."""
        kinds = [header.type for header in self.stack if header.type != "vlan"]
        is_plain = self.probe and not self.writes
        return is_plain and kinds in (["ethernet", "ipv4", "udp"], ["ethernet", "ipv4", "tcp"])

    def smallest(self, more: int = 0) -> int:
        """Bytes of its smallest frame, with so many more than its headers have."""
        written = max((write.end for write in self.writes), default=0) + more + FCS
        return max(smallest_frame(self.stack, more=more, probe=self.probe), written)

    def between(
        self,
        first: int,
        second: int,
        *,
        ports: int,
        reverse: bool = False,
        parts: tuple[tuple[int, int], tuple[int, int]] = ((0, 1), (0, 1)),
    ) -> tuple[Any, ...]:
        """The stack of the stream from tester port `first` to `second`, where the lab has so many ports; with
        `reverse` of what comes back, source and destination swapped.

        Of three or more each has its own part of source and destination. parts: of each of the two, which
        part of how many equal ones, as each VLAN of a link has its own. ValueError if a network is too
        small for that.
        """
        if reverse and self.back is not None:
            return self._backward.between(first, second, ports=ports)
        pool = self.pool
        if self.headers is None and (ports > 2 or parts != ((0, 1), (0, 1))):
            ends = [(first, pool.source), (second, pool.destination)]
            cut = [
                addresses.cut_network(prefix, port, ports) if ports > 2 else prefix for port, prefix in ends
            ]
            source, destination = (
                addresses.cut_evenly(prefix, *part) for prefix, part in zip(cut, parts, strict=True)
            )
            pool = replace(pool, source=source, destination=destination, one=None)
        stack = self._stack(pool, reverse=reverse)
        return tuple(_swapped(header) for header in stack) if reverse else stack

    def networks(self, port: int, ports: int) -> tuple[str, ...]:
        """What must be behind a tester port for its streams to come back; none if `headers` say it."""
        if self.headers is not None:
            return ()
        found: list[str] = []
        for pool in (part.pool for part in (self, *self.parts) if part.headers is None):
            both = (pool.source, pool.destination)
            if ports == 2:
                found.append(both[port])
            else:
                found += both if ports == 1 else (addresses.cut_network(net, port, ports) for net in both)
        return tuple(dict.fromkeys(found))

    def _stack(self, pool: Addresses, *, reverse: bool = False) -> tuple[Any, ...]:
        """Source and destination as the profile has them; reverse: they will be swapped."""
        if self.headers is not None:
            return combine(tuple(self.headers), self.candidates, self.writes)
        ends: list[Any] = []
        for side, prefix in enumerate((pool.source, pool.destination)):
            low, high, _ = hosts(prefix)
            one = pool.one[side] if pool.one else low
            if pool.networks:
                to = side != reverse
                ends.append({"list": in_networks(prefix, pool.networks)} if to and self.flows > 1 else one)
                continue
            # Two independent draws: RFC 4814 section 4. Stepping both together, as T-Rex's var2 does,
            # keeps their XOR constant, and a hash over both sees a single flow.
            ends.append(one if self.flows == 1 or low == high else {"random": {"min": low, "max": high}})
        ip = (
            Ipv4(type="ipv4", src=ends[0], dst=ends[1])
            if pool.version == 4
            else Ipv6(type="ipv6", src=ends[0], dst=ends[1])
        )
        l4 = (Udp if self.protocol == "udp" else Tcp)(type=self.protocol, sport=pool.sport, dport=pool.dport)  # type: ignore[arg-type]
        return (Ethernet(type="ethernet"), *(self.vlan or ()), ip, l4)


def _swapped(header: Any) -> Any:
    """An IP header with source and destination swapped; any other as it is."""
    if header.type not in ("ipv4", "ipv6"):
        return header
    return header.model_copy(update={"src": header.dst, "dst": header.src})
