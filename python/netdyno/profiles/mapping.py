"""A stream of T-Rex as a class of traffic: its headers, what varies in them, sizes and bursts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.profiles.frame import (
    SHORTEST_TYPE,
    Part,
    Place,
    differences,
    is_sum_right,
    length_of,
    read_headers,
)
from netdyno.profiles.streams import BURST, BURSTS, CONTINUOUS, MOST_FRAME, PADDED, Stream, number
from netdyno.profiles.walks import Walk, limit_of, walks
from netdyno.values.printable import printable
from netdyno.values.units import Duration

FCS, PROBE = 4, 18
MOST_FLOWS = 1 << 24
"""The most flows that are counted apart: 16 bytes each at the receiver."""
DRAWN_FLOWS = 1 << 16
"""Flows of frames in which something is drawn."""
LONGEST_RAW = 1024
OF_UDP, OF_TCP = 11, 13
"""T-Rex's numbers of the checksums of a card."""
MOST_SIZES, FEW_SIZES = 4096, 64
"""The most sizes of a profile; of more that are drawn, how many stand for all."""


@dataclass(frozen=True)
class Write:
    """What a program writes: `(walk + add) << shift`, of which the bits in `mask` change the frame."""

    at: int
    bytes: int
    variable: str
    walk: Walk
    add: int = 0
    mask: int | None = None
    shift: int = 0
    order: int = 0
    """Its place in the program."""

    @property
    def end(self) -> int:
        """The offset behind its last byte."""
        return self.at + self.bytes

    def overlaps(self, at: int, size: int) -> bool:
        """Whether it changes one of so many bytes at an offset."""
        return self.at < at + size and at < self.end


@dataclass
class Mapped:
    """A stream as a plan has it. fields: those of a class or a profile but its rate. notes: what differs."""

    stream: Stream
    fields: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    mean: Fraction = Fraction(0)
    """Average frame, bytes with FCS."""
    addresses: tuple[tuple[int, int], ...] = ()
    """Where pairs of addresses stand, source and destination, and how many bytes each of them has."""

    @property
    def has_probe(self) -> bool:
        """Whether its frames hold a probe."""
        return self.fields.get("probe", True) is True

    @property
    def is_single(self) -> bool:
        """Whether it is a burst of one frame."""
        return self.stream.mode == BURST and self.stream.frames == 1

    def same(self) -> dict[str, Any]:
        """What two streams have in common that send the same."""
        stream = self.stream
        chain = (stream.name, stream.next, stream.self_start, stream.action_count)
        return {**self.fields, "stream": (stream.rate, stream.mode, stream.rule, chain)}

    def swapped(self) -> Mapped:
        """What comes back of it: source and destination of IP, and of Ethernet if it has both, swapped."""
        headers = [dict(one) for one in self.fields["headers"]]
        outer = headers[0]
        spans = list(self.addresses) + ([(0, 6)] if {"src", "dst"} <= set(outer) else [])
        for one in headers:
            if one["type"] in ("ipv4", "ipv6") or (one is outer and (0, 6) in spans):
                one["src"], one["dst"] = one["dst"], one["src"]
        fields = {**self.fields, "headers": headers}
        if "writes" in fields:
            moved = [{**one, "at": _swapped(one["at"], one["bytes"], spans)} for one in fields["writes"]]
            fields["writes"] = moved
        return replace(self, fields=fields)


def map_stream(stream: Stream, *, exact: bool) -> Mapped:
    """A stream as a plan has it. Raises NetdynoError.

    exact: frames as T-Rex sends them byte by byte, wrong checksums too, and no probe.
    """
    try:
        read = _Mapping(stream, exact)
    except (KeyError, TypeError, ValueError) as error:
        why = f"stream {stream.index} has no program of T-Rex's: {type(error).__name__} {error}"
        raise NetdynoError(printable(why[:200]), None, code="wrong-format") from error
    return read.run()


class _Mapping:
    def __init__(self, stream: Stream, exact: bool) -> None:
        self.stream, self.exact = stream, exact
        self.frame = stream.frame
        self.walks = walks(stream, exact=exact)
        self.notes: list[str] = []
        self.is_filled = False
        self.trimmed = self._trimmed()
        self.cached = self._cached()
        self.fixes: list[tuple[int, str, int]] = []
        """Checksums that the program computes: the place in it, the kind, the offset of the header."""
        self.writes = self._read_writes()
        self.limit = limit_of(stream)

    def run(self) -> Mapped:
        """The whole stream."""
        parts = read_headers(self.frame)
        if parts[0].fields.get("ethertype", SHORTEST_TYPE) < SHORTEST_TYPE:
            self.stream.refuse("a frame of IEEE 802.3, with a length in place of a type")
        self._check_fixes(parts)
        if parts[-1].is_unknown and not self.exact:
            # Its checksum may be of the payload.
            self.exact = True
            self._note("a header that a plan does not have: frames are T-Rex's, without a probe")
        writes, parts = self._without_lengths(parts)
        parts = self._with_sums(parts, writes)
        end, fills = parts[-1].end, writes
        headers = [self._header(part) for part in parts]
        placed: list[Write] = []
        for write in writes:
            alone = all(other is write or not write.overlaps(other.at, other.bytes) for other in writes)
            if not (alone and self._in_field(write, parts, headers)):
                placed.append(write)
        behind = max([write.end for write in fills if write.end > end], default=end)
        smallest = min(self.sizes)
        if behind > end and not self.exact:
            more = behind - end + (behind - end) % 2
            if end + more + PROBE + FCS <= smallest and more <= LONGEST_RAW:
                headers.append({"type": "raw", "bytes": self.frame[end : end + more].hex()})
                end += more
        probe = not self.exact and behind <= end and end + PROBE + FCS <= smallest
        if not probe and not self.exact:
            room = f"no room for a probe of {PROBE} bytes in frames of {smallest} B"
            self._note(f"{room}: frames are counted, not timed")
        fields: dict[str, Any] = {"size": self._size(), "flows": self._flows(), "headers": headers}
        fields |= {} if probe else {"probe": False}
        with_lengths = self.exact and not self.trimmed and not self.is_filled
        constants = list(differences(self.frame, parts, with_lengths=with_lengths))
        written = [
            {"at": at, "bytes": count, "value": int.from_bytes(self.frame[at : at + count], "big")}
            for at, count in constants
        ]
        written += [self._written(write) for write in placed]
        fields |= {"writes": written} if written else {}
        payload = _repeated(self.frame[end + (PROBE if probe else 0) :])
        if payload is not None:
            fields["payload"] = payload.hex()
        self._say_rest(parts)
        fields |= self._bursts()
        if max(self.sizes) > MOST_FRAME + FCS:
            self.stream.refuse(f"frames of {max(self.sizes)} B with FCS", f"{MOST_FRAME + FCS} B at most")
        mean = Fraction(sum(self.sizes), len(self.sizes))
        pairs = {"ipv4": (12, 4), "ipv6": (8, 16)}
        spans = tuple((one.at + pairs[one.kind][0], pairs[one.kind][1]) for one in parts if one.kind in pairs)
        return Mapped(self.stream, fields, self.notes, mean, spans)

    # What the program says.

    def _trimmed(self) -> str:
        names = [str(one.get("name")) for one in self.stream.instructions if one["type"] == "trim_pkt_size"]
        if len(names) > 1 or (names and names[0] not in self.walks):
            self.stream.refuse(f"`{names[-1][:80]}` cuts the frame: no variable, or the second one")
        if not names:
            return ""
        self.walks[names[0]] = self._fitting(self.walks[names[0]])
        return names[0]

    def _cached(self) -> int:
        """How many frames are made once and sent again and again; 0: none are. Walks end with them."""
        count = 0 if self.stream.rule == "latency" else self.stream.cache
        if not count:
            return 0
        if self.trimmed or any(walk.is_random for walk in self.walks.values()):
            self.stream.refuse("a cache of frames in which something is drawn, or of several sizes")
        for name, walk in self.walks.items():
            if count % walk.period:
                self.walks[name] = replace(walk, values=tuple(map(walk.value, range(count))), every=1)
        return count

    def _fitting(self, walk: Walk) -> Walk:
        """Sizes within 60 bytes and the template's."""
        high, low = min(walk.most, len(self.frame)), max(walk.least, PADDED)
        if walk.values:
            if (low, high) != (walk.least, walk.most):
                self.stream.refuse("sizes outside of 60 bytes and the template's")
            return walk
        first = min(max(walk.first, low), high)
        return replace(walk, low=low, high=high, first=first)

    def _read_writes(self) -> list[Write]:
        found = []
        for order, one in enumerate(self.stream.instructions):
            kind = str(one.get("type"))
            if kind in ("write_flow_var", "write_mask_flow_var"):
                found.append(self._read_write(order, one, is_masked=kind == "write_mask_flow_var"))
            elif kind == "fix_checksum_ipv4":
                self.fixes.append((order, "ipv4", number(one, "pkt_offset")))
            elif kind == "fix_checksum_hw":
                at = number(one, "l2_len")
                self.fixes.append((order, "ipv4", at))
                if number(one, "l4_type") in (OF_UDP, OF_TCP):
                    self.fixes.append((order, "above", at + number(one, "l3_len")))
            elif kind == "fix_checksum_icmpv6":
                self.stream.refuse("`STLVmFixIcmpv6`: netdyno computes no checksum of ICMPv6 messages")
            elif kind not in ("flow_var", "flow_var_rand_limit", "tuple_flow_var", "trim_pkt_size"):
                self.stream.refuse(f"the instruction `{kind[:60]}`")
        return found

    def _read_write(self, order: int, one: Mapping[str, Any], *, is_masked: bool) -> Write:
        name = str(one.get("name"))
        if name not in self.walks:
            self.stream.refuse(f"a write of `{name[:80]}`, which is no variable")
        walk, at = self.walks[name], number(one, "pkt_offset")
        add, big = one.get("add_value", 0), one.get("is_big_endian", True) is True
        if isinstance(add, bool) or not isinstance(add, int) or abs(add) >= 1 << 63:
            self.stream.refuse(f"`add_value` {str(add)[:40]}")
        size = number(one, "pkt_cast_size") if is_masked else walk.bytes
        if at + size > len(self.frame):
            self.stream.refuse(f"a write behind the end of its frame, at byte {at}")
        mask = shift = 0
        if is_masked:
            mask, shift = number(one, "mask"), one.get("shift", 0)
            if isinstance(shift, bool) or not isinstance(shift, int) or abs(shift) > 31 or walk.bytes == 8:
                self.stream.refuse(f"a masked write of {walk.bytes} bytes, shifted by {str(shift)[:40]}")
        if not big and size > 1:
            swapped = None
            if not is_masked and not add:
                swapped = walk.mapped(lambda value: int.from_bytes(value.to_bytes(size, "big"), "little"))
            if swapped is None:
                self.stream.refuse(f"`{name[:80]}` is written in little-endian order")
            walk = swapped
        # T-Rex counts modulo the width of the variable, a masked write modulo 2^32; netdyno modulo 2^64.
        width = 1 << (32 if is_masked else 8 * size)
        add = next(
            (try_ for try_ in (add, add % width) if 0 <= walk.least + try_ <= walk.most + try_ < width), None
        )
        if add is None:
            more = int(one.get("add_value", 0))
            wrapped = walk.mapped(lambda value: (value + more) % width)
            if wrapped is None:
                self.stream.refuse(f"`{name[:80]}` and `add_value` go beyond the width of the variable")
            walk, add = wrapped, 0
        if not is_masked:
            return Write(at, size, name, walk, add, order=order)
        mask &= (1 << 8 * size) - 1
        return Write(at, size, name, walk, add, mask, shift, order)

    # Headers.

    def _check_fixes(self, parts: list[Part]) -> None:
        """Refuses checksums that the program computes and netdyno would not."""
        summed = {part.at for part in parts if part.sum_at}
        for _, kind, at in self.fixes:
            is_other = kind == "ipv4" and any(part.at == at and part.kind == "ipv6" for part in parts)
            if at not in summed and not is_other:
                what = "an IPv4 header" if kind == "ipv4" else "UDP or TCP"
                self.stream.refuse(f"the checksum of {what} at byte {at}, which netdyno does not compute")

    def _without_lengths(self, parts: list[Part]) -> tuple[list[Write], list[Part]]:
        """The writes without those of the frame's size into lengths, which follow from the size."""
        left = []
        for write in self.writes:
            if self.trimmed and write.variable == self.trimmed and write.mask is None:
                behind = {at: part for part in parts for at in part.lengths if at == write.at}
                if write.at in behind and write.bytes == 2:
                    part = behind[write.at]
                    is_right = write.add == -(part.end if part.kind == "ipv6" else part.at)
                    if not is_right:
                        self._note(f"T-Rex's length at byte {write.at} is not that of the frame; here it is")
                    continue
            left.append(write)
        if self.trimmed:
            for part in parts:
                written = {write.at for write in self.writes if write.variable == self.trimmed}
                if part.lengths and part.lengths[0] not in written:
                    self._note(f"T-Rex leaves the length of `{part.kind}`; here it is right in each frame")
        elif not self.exact:
            for part in parts:
                if part.lengths and _length_wanted(self.frame, part) != length_of(self.frame, part):
                    self._fill_frame(part)
                    break
        return left, parts

    def _with_sums(self, parts: list[Part], writes: Sequence[Write]) -> list[Part]:
        """The headers, in exact frames raw from the first one whose checksum T-Rex leaves as it was."""
        for index, part in enumerate(parts):
            is_zero = part.fields.get("checksum") is False
            if is_zero and not self.exact and parts[index - 1].kind == "ipv6":
                self._note("T-Rex sends UDP over IPv6 without a checksum; here it is right")
                part.fields.pop("checksum")
            if is_zero and self._is_fixed(part, parts, writes):
                part.fields.pop("checksum", None)
            if not part.sum_at or (is_zero and not (self.exact and parts[index - 1].kind == "ipv6")):
                continue
            if is_zero:
                return self._raw_from(parts, index)
            if any(write.overlaps(part.sum_at, 2) for write in writes):
                self.stream.refuse(
                    f"a write over the checksum of `{part.kind}`", "leave the checksum to netdyno"
                )
            below = parts[index - 1]
            fits = part.kind == "ipv4" or _length_wanted(self.frame, below) == length_of(self.frame, below)
            stays = not self._is_touched(part, parts, writes) and is_sum_right(self.frame, parts, part)
            if self._is_fixed(part, parts, writes) or (stays and fits):
                if not fits:
                    self._fill_frame(below)
                continue
            if not self.exact or self.trimmed:
                if not stays:
                    self._note(f"T-Rex leaves the checksum of `{part.kind}` wrong; here it is right")
                continue
            return self._raw_from(parts, index)
        return parts

    def _fill_frame(self, part: Part) -> None:
        """Says that packets end with their frames, as lengths are computed."""
        self.is_filled = True
        length = length_of(self.frame, part)
        self._note(f"`{part.kind}` fills the frame; T-Rex has a packet of {length} B and padding")

    def _raw_from(self, parts: list[Part], index: int) -> list[Part]:
        below = parts[index - 1]
        field_ = "protocol" if below.kind in ("ipv4", "ipv6") else "ethertype"
        at = {"ipv4": 9, "ipv6": 6}.get(below.kind)
        start, end = below.end, parts[-1].end + (parts[-1].end - below.end) % 2
        if field_ == "protocol" and at is not None:
            below.fields[field_] = self.frame[below.at + at]
        elif below.kind in ("ethernet", "vlan"):
            below.fields[field_] = int.from_bytes(self.frame[below.end - 2 : below.end], "big")
        elif below.kind != "raw":
            self._note(f"T-Rex leaves the checksum of `{parts[index].kind}` wrong; here it is right")
            return parts
        data = self.frame[start:end]
        return [*parts[:index], Part("raw", start, len(data), {"bytes": data.hex()}, data)]

    def _is_touched(self, part: Part, parts: list[Part], writes: Sequence[Write]) -> bool:
        return bool(self._touching(part, parts, writes)) or (bool(self.trimmed) and part.kind != "ipv4")

    def _touching(self, part: Part, parts: list[Part], writes: Sequence[Write]) -> list[Write]:
        """The writes after which its checksum is another."""
        if part.kind == "ipv4":
            return [write for write in writes if write.overlaps(part.at, part.size)]
        below = parts[parts.index(part) - 1]
        first = {"ipv4": 12, "ipv6": 8}.get(below.kind, 0)
        length = max(length_of(self.frame, below) + (40 if below.kind == "ipv6" else 0), part.size)
        spans = [(below.at + first, below.size - first), (part.at, below.at + length - part.at)]
        return [write for write in writes if any(write.overlaps(*span) for span in spans)]

    def _is_fixed(self, part: Part, parts: list[Part], writes: Sequence[Write]) -> bool:
        kind = "ipv4" if part.kind == "ipv4" else "above"
        after = max((write.order for write in self._touching(part, parts, writes)), default=-1)
        return any(order > after and what == kind and at == part.at for order, what, at in self.fixes)

    def _header(self, part: Part) -> dict[str, Any]:
        fields = dict(part.fields)
        if part.kind == "ethernet" and part.at == 0:
            # The lab says what the packet does not.
            if not self.stream.source_is_own:
                del fields["src"]
            if not self.stream.destination_is_own:
                del fields["dst"]
        return {"type": part.kind, **fields}

    def _in_field(self, write: Write, parts: list[Part], headers: list[dict[str, Any]]) -> bool:
        """Says in a header's field what is written into it; False if no field is what the write changes."""
        for part, header in zip(parts, headers, strict=True):
            if part.kind == "vlan" and write.at == part.at and write.bytes == 2:
                return self._in_vlan(write, header)
            if part.kind == "mpls" and write.at == part.at and write.bytes == 4:
                is_label = (write.mask, write.shift) == (0xFFFFF000, 12)
                if is_label and write.walk.most + write.add < 1 << 20:
                    header["label"] = self._value(write, write.walk.plus(write.add), int)
                    return True
            for place in part.places:
                if place.name in header and self._in_place(write, place, header):
                    return True
        return False

    def _in_vlan(self, write: Write, header: dict[str, Any]) -> bool:
        whole = write.mask in (None, 0xFFFF)
        if write.shift or write.mask not in (None, 0xFFFF, 0x0FFF) or write.walk.most + write.add > 4094:
            return False
        if whole:
            header.pop("pcp", None)
            header.pop("dei", None)
        header["vid"] = self._value(write, write.walk.plus(write.add), int)
        return True

    def _in_place(self, write: Write, place: Place, header: dict[str, Any]) -> bool:
        """The last bytes of a field; those before stay as the template has them."""
        if write.end != place.at + place.bytes or write.at < place.at:
            return False
        if write.mask not in (None, (1 << 8 * write.bytes) - 1) or write.shift:
            return False
        high = int.from_bytes(self.frame[place.at : write.at], "big") << 8 * write.bytes
        header[place.name] = self._value(write, write.walk.plus(write.add + high), place.written)
        return True

    def _value(self, write: Write, walk: Walk, written: Any) -> Any:
        several = sum(other.variable == write.variable for other in self.writes) > 1
        seed = None
        if walk.is_random and several:
            # The same draws at each place.
            seed = 1 + list(self.walks).index(write.variable)
        for note in walk.notes:
            self._note(note)
        return walk.field(written, seed)

    def _written(self, write: Write) -> dict[str, Any]:
        value = self._value(write, write.walk, int)
        found: dict[str, Any] = {"at": write.at, "bytes": write.bytes, "value": value}
        found |= {} if write.mask in (None, (1 << 8 * write.bytes) - 1) else {"mask": write.mask}
        found |= {"shift": write.shift} if write.shift else {}
        return found | ({"add": write.add} if write.add else {})

    # The frame as a whole.

    @property
    def sizes(self) -> tuple[int, ...]:
        """Its sizes with FCS, in the order in which they are sent."""
        if not self.trimmed:
            return (len(self.frame) + FCS,)
        walk = self.walks[self.trimmed]
        if walk.is_random:
            low, span = walk.low + FCS, walk.high - walk.low
            if span < MOST_SIZES:
                return tuple(range(low, low + span + 1))
            return tuple(low + span * number // (FEW_SIZES - 1) for number in range(FEW_SIZES))
        if walk.count > MOST_SIZES:
            self.stream.refuse(f"{walk.count} sizes", f"{MOST_SIZES} at most")
        return tuple(walk.value(index * walk.every) + FCS for index in range(walk.count))

    def _size(self) -> Any:
        sizes = self.sizes
        if len(sizes) == 1:
            return f"{sizes[0]}B"
        walk = self.walks[self.trimmed]
        if not walk.is_random:
            if walk.every > 1 or len(set(sizes)) < len(sizes):
                self.stream.refuse("sizes that stay for several frames, or come several times")
            return dict.fromkeys(sizes, 1)
        drawn = walk.high - walk.low + 1
        if len(sizes) < drawn:
            self._note(
                f"T-Rex draws one of {drawn} sizes for each frame; here are {len(sizes)} of them, in turn"
            )
            return dict.fromkeys(sizes, 1)
        self._note("T-Rex draws the size of each frame; here each is sent as often as the others")
        return f"{sizes[0]}B-{sizes[-1]}B"

    def _flows(self) -> int:
        """Frames until all begins again."""
        if self.cached:
            return self.cached
        used = {write.variable for write in self.writes}
        walked = [walk for name, walk in self.walks.items() if name in used and name != self.trimmed]
        period = math.lcm(*(walk.period for walk in walked if not walk.is_random))
        limit = self.limit
        if 0 < limit < period:
            if any(limit % walk.period for name, walk in self.walks.items() if "." not in name):
                self.stream.refuse("`limit_flows` beside other variables")
            period = limit
        elif limit % period:
            self._note(f"T-Rex's tuple begins again after {limit} frames, in the middle of its addresses")
        if period > MOST_FLOWS:
            self._note(f"T-Rex begins again after {period} frames, these after {MOST_FLOWS}")
            return MOST_FLOWS
        drawn = [walk for walk in walked if walk.is_random]
        if not drawn:
            return period
        self._note("values are drawn by netdyno: others than T-Rex's, as many")
        most = period * math.prod(walk.high - walk.low + 1 for walk in drawn)
        whole = max(1, DRAWN_FLOWS // period) * period
        return min(whole, most, MOST_FLOWS)

    def _bursts(self) -> dict[str, Any]:
        stream = self.stream
        found: dict[str, Any] = {}
        if stream.mode == CONTINUOUS:
            return found
        bursts: dict[str, Any] = {"frames": stream.frames}
        if stream.mode == BURST:
            bursts["count"] = 1
        elif stream.mode == BURSTS:
            bursts |= {"count": stream.count} if stream.count else {}
            bursts["gap"] = duration(stream.gap_us)
            if stream.rate.unit == "pps" and stream.gap_us < 1_000_000 / stream.rate.value:
                self._note("T-Rex's bursts are closer than their frames; here they are as far apart as these")
        found["bursts"] = bursts
        if stream.isg_us:
            found["delay"] = duration(stream.isg_us)
        return found

    def _say_rest(self, parts: list[Part]) -> None:
        stream = self.stream
        if stream.rule == "latency":
            self._note("a latency stream of T-Rex: netdyno times every frame that has a probe")
        elif stream.rule:
            self._note("T-Rex's flow statistics: netdyno counts every stream by its probe")
        if stream.is_pinned or any(one.get("split_to_cores") is False for one in stream.instructions):
            self._note("as on one core of T-Rex: it splits variables over its cores")
        if any(part.kind == "echo" for part in parts):
            self._note("the sequence number of ICMP counts up; T-Rex's stays")
        if stream.isg_us and stream.mode == CONTINUOUS:
            self._note(f"T-Rex begins it {duration(stream.isg_us)} later")

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _swapped(at: int, size: int, spans: Sequence[tuple[int, int]]) -> int:
    """Where a write is when each pair of addresses is swapped."""
    for first, length in spans:
        if first <= at and at + size <= first + length:
            return at + length
        if first + length <= at and at + size <= first + 2 * length:
            return at - length
    return at


def duration(us: Fraction) -> str:
    """A time as a plan has it."""
    return str(Duration.of_ns(round(us * 1000)))


def _length_wanted(frame: bytes, part: Part) -> int:
    """The length that a header has if its packet ends with the frame; 0 of others."""
    if not part.lengths:
        return 0
    return len(frame) - part.at - (40 if part.kind == "ipv6" else 8 if part.kind == "gtpu" else 0)


def _repeated(payload: bytes) -> bytes | None:
    """The shortest bytes that make the payload when they are repeated; None without any."""
    if not payload:
        return None
    for size in range(1, min(len(payload), 64) + 1):
        if payload == (payload[:size] * (len(payload) // size + 1))[: len(payload)]:
            return payload[:size]
    return payload
