"""Header stacks as a plan gives them: one class a header, as in crates/frame/src/headers/.

A class has its header's length, where it may stand and what may follow. These are *spaces*, those of `Space`
in crates/frame/src/layout.rs: `type` is what an Ethernet type announces, `ipv4`, `ipv6` and `extension` what
a protocol number does.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, Field

from netdyno.errors import Problem, Problems
from netdyno.plan.fields import (
    DscpField,
    Element,
    Ethertype,
    FlagField,
    Hex,
    Id16Field,
    Id32Field,
    Ipv4Field,
    Ipv6Address,
    Ipv6Field,
    LabelField,
    MacField,
    Offset,
    PortField,
    Protocol,
    Three,
    Ttl,
    TtlField,
    VidField,
    VniField,
    as_number,
    count_values,
    ends,
    int_type,
    is_walking,
    slow_down,
    stays,
)
from netdyno.values.rates import FCS

PROBE = 18
"""Bytes of the probe in the payload: what a 64-byte Ethernet/IPv4/UDP frame has left."""

MOST_HEADERS = 16
"""The most headers of a stack: crates/frame/src/stack.rs."""

OVER_IP = frozenset({"ipv4", "ipv6", "extension"})
OVER_IPV6 = frozenset({"ipv6", "extension"})
ANNOUNCED = frozenset(
    (0x0800, 0x0806, 0x6558, 0x8100, 0x86DD, 0x8847, 0x8848, 0x8864, 0x88A8, 0x9100, 0x9200, 0x9300)
)
"""Ethernet types whose headers a receiver looks for: `announces_header` in crates/frame/src/parse.rs."""
ALONE = frozenset({"udp", "payload", "raw", "given"})
"""Spaces in which the payload may follow. In others a plan names what follows."""


class Layer(Element):
    """A header of a stack."""

    TITLE: ClassVar[str]
    """What reports call it."""
    BYTES: ClassVar[int] = 0
    STANDS: ClassVar[frozenset[str]]
    """The spaces in which it may stand."""
    CARRIES: ClassVar[str]
    """The space behind it."""
    GIVEN: ClassVar[tuple[str, ...]] = ()
    """Fields that announce raw bytes or the payload: with one of them nothing else may follow."""

    @property
    def length(self) -> int:
        """Its bytes."""
        return self.BYTES

    @property
    def given(self) -> str | None:
        """The field that says what follows, if one does."""
        fields = type(self).model_fields
        return next((name for name in self.GIVEN if getattr(self, name) != fields[name].default), None)

    @property
    def carries(self) -> str:
        """The space behind it."""
        return "given" if self.given else self.CARRIES

    def problems(self, index: int) -> Iterable[Problem]:
        """What is wrong with its fields together. index: its place in the stack."""
        return ()


class Ethernet(Layer):
    """Ethernet II. Without addresses the lab fills them in: the port's own, and peer or next hop."""

    TITLE = "Ethernet"
    BYTES = 14
    STANDS = OVER_IPV6 | {"gre", "label", "frame", "raw"}
    CARRIES = "type"
    GIVEN = ("ethertype",)
    type: Literal["ethernet"]
    src: MacField | None = None
    dst: MacField | None = None
    ethertype: Ethertype | None = None

    def problems(self, index: int) -> Iterable[Problem]:
        """A source that is, or may vary into, a group address."""
        macs = ends(self.src)
        if isinstance(self.src, Mapping) and "list" in self.src:
            # One of each first byte's parity.
            macs = [mac for mac in macs if int(mac[:2], 16) & 1][:1] or macs[:1]
        first, *others = {int(mac[:2], 16) for mac in macs} or {0}
        if others or first & 1:
            yield Problem(
                "a source may not be a group address",
                "the first byte must be even, and the same in a whole range",
                (index, "src"),
                code="out-of-range",
            )


class Vlan(Layer):
    """A VLAN tag: 802.1Q, or 802.1ad with `tpid: 0x88a8`, or any other."""

    TITLE = "VLAN tag"
    BYTES = 4
    STANDS = frozenset({"type", "raw"})
    CARRIES = "type"
    GIVEN = ("ethertype",)
    type: Literal["vlan"]
    vid: VidField
    tpid: int_type(16, "TPID") = 0x8100  # type: ignore[valid-type]
    pcp: Three = 0
    dei: bool = False
    ethertype: Ethertype | None = None

    def problems(self, index: int) -> Iterable[Problem]:
        """A TPID that is a length, or announces another header."""
        if self.tpid < 0x0600 or self.tpid in (0x0800, 0x0806, 0x86DD, 0x8847, 0x8864):
            yield Problem(
                f"{self.tpid:#06x} is not a tag protocol identifier",
                "0x8100 (802.1Q), 0x88a8 (802.1ad) or another type above 0x05ff",
                (index, "tpid"),
                code="out-of-range",
            )


class Pppoe(Layer):
    """A PPPoE session; `ppp` follows."""

    TITLE = "PPPoE"
    BYTES = 6
    STANDS = frozenset({"type", "raw"})
    CARRIES = "session"
    type: Literal["pppoe"]
    session: Id16Field


class Ppp(Layer):
    """The protocol field of PPP."""

    TITLE = "PPP"
    BYTES = 2
    STANDS = frozenset({"session"})
    CARRIES = "ppp"
    GIVEN = ("protocol",)
    type: Literal["ppp"]
    protocol: int_type(16, "protocol number") | None = None  # type: ignore[valid-type]


class Mpls(Layer):
    """One MPLS label."""

    TITLE = "MPLS"
    BYTES = 4
    STANDS = frozenset({"type", "gre", "label", "ppp", "raw"})
    CARRIES = "label"
    type: Literal["mpls"]
    label: LabelField
    tc: Three = 0
    ttl: Ttl = 64


class ControlWord(Layer):
    """The control word between the last MPLS label and an `ethernet` header (RFC 4448)."""

    TITLE = "control word"
    BYTES = 4
    STANDS = frozenset({"label"})
    CARRIES = "frame"
    type: Literal["control_word"]
    sequence: int_type(16, "sequence number") = 0  # type: ignore[valid-type]


class Ipv4(Layer):
    """IPv4 without options; a fragment with `more` or `offset`."""

    TITLE = "IPv4"
    BYTES = 20
    STANDS = OVER_IP | {"type", "gre", "label", "ppp", "packet", "raw"}
    CARRIES = "ipv4"
    GIVEN = ("protocol", "offset")
    type: Literal["ipv4"]
    src: Ipv4Field
    dst: Ipv4Field
    dscp: DscpField = 0
    ttl: TtlField = 64
    df: FlagField = False
    id: Id16Field = 0
    more: bool = False
    offset: Offset = 0
    protocol: Protocol | None = None


class Ipv6(Layer):
    """IPv6; extension headers are headers of their own."""

    TITLE = "IPv6"
    BYTES = 40
    STANDS = OVER_IP | {"type", "gre", "label", "ppp", "packet", "raw"}
    CARRIES = "ipv6"
    GIVEN = ("protocol",)
    type: Literal["ipv6"]
    src: Ipv6Field
    dst: Ipv6Field
    dscp: DscpField = 0
    flow_label: int_type(20, "flow label") = 0  # type: ignore[valid-type]
    hop_limit: TtlField = 64
    protocol: Protocol | None = None


class Options(Layer):
    """Options of IPv6, padded to `size` bytes, a multiple of 8."""

    CARRIES = "extension"
    options: Hex = ""
    size: int_type(12, "size of an options header") | None = None  # type: ignore[valid-type]

    @property
    def length(self) -> int:
        """Its bytes."""
        return -(-max(2 + len(self.options) // 2, self.size or 0) // 8) * 8

    def problems(self, index: int) -> Iterable[Problem]:
        """A size that is no multiple of 8, or too small for its options."""
        if self.size is not None and self.size != self.length:
            yield Problem(
                f"`size: {self.size}` is no length of a header with {len(self.options) // 2} B of options",
                f"a multiple of 8, such as {self.length}",
                (index, "size"),
                code="out-of-range",
            )
        elif self.length > 2048:
            yield Problem(
                f"{self.length} B of options do not fit",
                "at most 2046 B",
                (index, "options"),
                code="out-of-range",
            )


class HopByHop(Options):
    """Hop-by-hop options of IPv6, right behind it."""

    TITLE = "IPv6 hop-by-hop options"
    STANDS = frozenset({"ipv6"})
    type: Literal["hop_by_hop"]


class DestinationOptions(Options):
    """Destination options of IPv6."""

    TITLE = "IPv6 destination options"
    STANDS = OVER_IPV6
    type: Literal["destination_options"]


class Routing(Layer):
    """A routing header of IPv6; the final destination is the last address."""

    TITLE = "IPv6 routing header"
    STANDS = OVER_IPV6
    CARRIES = "extension"
    type: Literal["routing"]
    routing_type: int_type(8, "routing type") = 253  # type: ignore[valid-type]
    segments_left: int_type(8, "number of segments") = 0  # type: ignore[valid-type]
    addresses: list[Ipv6Address] = Field(default=[], max_length=127)

    @property
    def length(self) -> int:
        """Its bytes."""
        return 8 + 16 * len(self.addresses)

    def problems(self, index: int) -> Iterable[Problem]:
        """More segments left than there are addresses."""
        return _too_many_left(index, self.segments_left, len(self.addresses))


class Srh(Layer):
    """The segment routing header of SRv6 (RFC 8754); segments are in order of travel."""

    TITLE = "segment routing header"
    STANDS = OVER_IPV6
    CARRIES = "extension"
    type: Literal["srh"]
    segments: Annotated[list[Ipv6Address], Field(min_length=1, max_length=127)]
    segments_left: int_type(8, "number of segments") | None = None  # type: ignore[valid-type]
    tag: int_type(16, "tag") = 0  # type: ignore[valid-type]

    @property
    def length(self) -> int:
        """Its bytes."""
        return 8 + 16 * len(self.segments)

    def problems(self, index: int) -> Iterable[Problem]:
        """More segments left than there are."""
        return _too_many_left(index, self.segments_left or 0, len(self.segments))


def _too_many_left(index: int, left: int, count: int) -> Iterable[Problem]:
    if left > count:
        message = f"`segments_left: {left}` of {count} addresses"
        yield Problem(message, f"at most {count}", (index, "segments_left"), code="out-of-range")


class Fragment(Layer):
    """The fragment header of IPv6."""

    TITLE = "IPv6 fragment header"
    BYTES = 8
    STANDS = OVER_IPV6
    CARRIES = "extension"
    GIVEN = ("protocol", "offset")
    type: Literal["fragment"]
    id: Id32Field = 0
    more: bool = False
    offset: Offset = 0
    protocol: Protocol | None = None


class Udp(Layer):
    """UDP."""

    TITLE = "UDP"
    BYTES = 8
    STANDS = OVER_IP
    CARRIES = "udp"
    type: Literal["udp"]
    sport: PortField
    dport: PortField
    checksum: bool = True


class Tcp(Layer):
    """A stateless TCP segment."""

    TITLE = "TCP"
    BYTES = 20
    STANDS = OVER_IP
    CARRIES = "payload"
    type: Literal["tcp"]
    sport: PortField
    dport: PortField
    flags: int_type(8, "flags") = 0x10  # type: ignore[valid-type]


class Echo(Layer):
    """ICMP or ICMPv6 echo request."""

    TITLE = "ICMP echo"
    BYTES = 8
    STANDS = OVER_IP
    CARRIES = "payload"
    type: Literal["echo"]
    id: int_type(16, "identifier") = 0  # type: ignore[valid-type]


class Gre(Layer):
    """GRE, version 0."""

    TITLE = "GRE"
    STANDS = OVER_IP
    CARRIES = "gre"
    type: Literal["gre"]
    key: int_type(32, "key") | None = None  # type: ignore[valid-type]

    @property
    def length(self) -> int:
        """Its bytes."""
        return 4 if self.key is None else 8


class Vxlan(Layer):
    """VXLAN; an inner Ethernet header follows."""

    TITLE = "VXLAN"
    BYTES = 8
    STANDS = frozenset({"udp"})
    CARRIES = "frame"
    type: Literal["vxlan"]
    vni: VniField


class Gtpu(Layer):
    """GTP-U; an IP packet follows. With `qfi` it has a PDU session container of 5G."""

    TITLE = "GTP-U"
    STANDS = frozenset({"udp"})
    CARRIES = "packet"
    type: Literal["gtpu"]
    teid: Id32Field
    qfi: int_type(6, "QoS flow identifier") | None = None  # type: ignore[valid-type]

    @property
    def length(self) -> int:
        """Its bytes."""
        return 8 if self.qfi is None else 16


class Raw(Layer):
    """Bytes of any kind, an even number."""

    TITLE = "raw bytes"
    STANDS = OVER_IP | ALONE | {"type", "gre", "label", "frame", "packet", "session"}
    CARRIES = "raw"
    type: Literal["raw"]
    bytes: Hex

    @property
    def length(self) -> int:
        """Its bytes."""
        return len(self.bytes) // 2

    def problems(self, index: int) -> Iterable[Problem]:
        """An odd number of bytes, none or too many."""
        if not 2 <= self.length <= 1024 or self.length % 2:
            yield Problem(
                f"{self.length} B of raw bytes",
                "an even number, 2 to 1024",
                (index, "bytes"),
                code="out-of-range",
            )


LAYERS: tuple[type[Layer], ...] = (
    *(Ethernet, Vlan, Pppoe, Ppp, Mpls, ControlWord, Ipv4, Ipv6, HopByHop, DestinationOptions, Routing, Srh),
    *(Fragment, Udp, Tcp, Echo, Gre, Vxlan, Gtpu, Raw),
)
"""All headers, each with its class."""

if TYPE_CHECKING:
    Header = Layer
else:
    Header = Annotated[functools.reduce(operator.or_, LAYERS), Field(discriminator="type")]
"""A header of any kind, known by its `type`."""


def type_name(layer: type[Layer]) -> str:
    """What a plan calls a header."""
    name: str = layer.model_fields["type"].annotation.__args__[0]  # type: ignore[union-attr]
    return name


TITLES: Mapping[str, str] = {type_name(layer): layer.TITLE for layer in LAYERS}
"""What reports call headers, by what a plan calls them."""


def length(headers: Iterable[Any]) -> int:
    """Bytes of a header stack."""
    return sum(header.length for header in headers)


def smallest_frame(headers: Iterable[Any], *, more: int = 0, probe: bool = True) -> int:
    """Bytes of the smallest frame that holds the headers, so many more, a probe if there is one, and the FCS;
    at least 64."""
    return max(64, length(headers) + more + (PROBE if probe else 0) + FCS)


def odd_fragment(headers: Iterable[Any], size: int) -> int | None:
    """The place of a header whose fragment in frames of `size` bytes is no multiple of 8 bytes long, as all
    but the last of a packet are; None if there is none."""
    end = 0
    for index, header in enumerate(headers):
        end += header.length
        if getattr(header, "more", False) and (size - FCS - end) % 8:
            return index
    return None


def check_order(headers: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuses stacks that no parser would read as meant. Raises Problems."""
    problems = [Problem(*found, code="wrong-order") for found in _out_of_order(headers)]
    for index, header in enumerate(headers):
        problems += header.problems(index)
    problems += _of_the_payload(headers)
    if problems:
        raise Problems(problems)
    return headers


def _out_of_order(headers: tuple[Any, ...]) -> Iterator[tuple[str, str, tuple[int]]]:
    """What is wrong with the order of headers, what to write, and where."""
    if headers and headers[0].type != "ethernet":
        yield f"a frame begins with `ethernet`, not `{headers[0].type}`", "put `{type: ethernet}` first", (0,)
    for index, (above, below) in enumerate(itertools.pairwise(headers), 1):
        if above.carries not in below.STANDS:
            yield f"`{below.type}` cannot follow `{above.type}`", _followers(above), (index,)
    if headers and headers[-1].carries not in ALONE:
        last = headers[-1]
        other = f", or give `{last.GIVEN[0]}`" if last.GIVEN else ""
        yield f"the stack ends with `{last.type}`", f"{_followers(last)}{other}", (len(headers) - 1,)


def _of_the_payload(headers: tuple[Any, ...]) -> Iterable[Problem]:
    """What headers say of what they carry, and is not so."""
    last = len(headers) - 1
    kind = getattr(headers[-1], "ethertype", None) if headers else None
    if kind in ANNOUNCED:
        yield Problem(
            f"{kind:#06x} announces a header, and the payload follows",
            "add that header, or its bytes as `raw`",
            (last, "ethertype"),
            code="conflict",
        )
    version = None
    for index, header in enumerate(headers):
        if header.type in ("ethernet", "raw"):
            version = None
        elif header.type in ("ipv4", "ipv6"):
            version = header.type
        is_tunnel = index < last and headers[index + 1].type != "raw"
        if header.type == "udp" and version == "ipv6" and not header.checksum and not is_tunnel:
            yield Problem(
                "UDP over IPv6 needs its checksum",
                "leave `checksum` out",
                (index, "checksum"),
                code="conflict",
            )


def _followers(header: Any) -> str:
    """What may follow a header, as a hint."""
    names = sorted(type_name(layer) for layer in LAYERS if header.carries in layer.STANDS)
    if header.carries in ALONE:
        names.append("the payload")
    which = f"`{header.type}` with `{header.given}`" if header.given else f"`{header.type}`"
    return f"after {which} comes {', '.join(names)}"


def most_flows(headers: Iterable[Any], writes: Iterable[Any] = ()) -> int:
    """The most flows that headers can make, walking together or combined."""
    headers, writes = tuple(headers), tuple(writes)
    combined = 1 if _says_how(headers) else math.prod(count_values(how) for _, _, how in _walking(headers))
    return max(distinct_flows(headers, writes), min(combined, 2**32))


def combine(headers: tuple[Any, ...], flows: int, writes: Iterable[Any] = ()) -> tuple[Any, ...]:
    """The headers, their lists, steps and ranges as all combinations where walking together makes too few
    flows.

    The last field varies fastest. Unchanged where they make enough, with what is written over them, no
    combination does, or a field says itself how slowly it walks.
    """
    if flows <= distinct_flows(headers, writes) or flows > most_flows(headers):
        return headers
    found, each = list(headers), 1
    for at, name, how in reversed(list(_walking(headers))):
        found[at] = found[at].model_copy(update={name: slow_down(how, each)})
        each *= count_values(how)
    return tuple(found)


HeadersField: TypeAlias = Annotated[
    list[Header],
    AfterValidator(lambda stack: list(check_order(tuple(stack)))),
    Field(min_length=1, max_length=MOST_HEADERS),
]
"""A whole header stack, outermost first."""


def _says_how(headers: Iterable[Any]) -> bool:
    """Whether a field says for how many flows it stays: then the plan has its own combinations."""
    return any(stays(how) > 1 for _, _, how in _walking(headers))


def _walking(headers: Iterable[Any]) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """The fields that walk with the flow's index: the header's place, their name, and how."""
    for at, header in enumerate(headers):
        for name in type(header).model_fields:
            how = getattr(header, name)
            if is_walking(how):
                yield at, name, how


def distinct_flows(headers: Iterable[Any], writes: Iterable[Any] = ()) -> int:
    """How many different frames the fields and the writes can make, at most 2^32.

    Lists, steps and ranges walk together with the flow's index, so they repeat after the least common
    multiple of their lengths; random fields are independent.
    """
    periods, most, drawn = [], 1, 1
    for element in itertools.chain(headers, writes):
        for name in type(element).model_fields:
            how = getattr(element, name)
            if is_walking(how):
                periods.append((count_values(how), stays(how)))
                most *= periods[-1][0]
            elif isinstance(how, Mapping):
                drawn *= as_number(how["random"]["max"]) - as_number(how["random"]["min"]) + 1
    # All change at multiples of what their stays have in common.
    common = math.gcd(*(stay for _, stay in periods)) or 1
    together = math.lcm(*(count * stay for count, stay in periods)) // common
    return min(min(together, most) * drawn, 2**32)


NAMES = {"src": "source", "dst": "destination", "sport": "source port", "dport": "destination port"}
"""Of fields, as people call them."""


def list_varying(headers: Iterable[Any], flows: int) -> tuple[tuple[str, int, bool], ...]:
    """The fields in which flows differ, outermost first, each with the most values that so many have, and
    whether these are drawn at random."""
    found = []
    for header in headers:
        for name in type(header).model_fields:
            field = getattr(header, name)
            match field:
                case {"random": {"min": least, "max": most}}:
                    values = as_number(most) - as_number(least) + 1
                case {"list": listed}:
                    values = len(set(listed))
                case {"step": _} | {"range": _}:
                    values = count_values(field)
                case _:
                    continue
            if (values := min(values, flows)) > 1:
                found.append((f"{header.TITLE} {NAMES.get(name, name)}", values, "random" in field))
    return tuple(found)
