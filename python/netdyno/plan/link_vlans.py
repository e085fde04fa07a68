"""The VLANs of a link as a plan gives them: one or a row of them in an entry, and who the tester is there."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from netdyno.devices.addresses import MOST_VLANS
from netdyno.devices.wiring import Subinterface
from netdyno.errors import Problem, as_written
from netdyno.plan.fields import Element, MacAddress, values
from netdyno.plan.headers import Vlan
from netdyno.plan.traffic import vlans
from netdyno.values.units import L2Rate

_RANGE = re.compile(r"(\d{1,4})\s*-\s*(\d{1,4})")


def _tags(value: object) -> object:
    """Tags as of a profile, of which one may be a row of VLANs, `100-304`."""
    found: list[object] = []
    for place, tag in enumerate(value if isinstance(value, list) else [value]):
        vid = tag.get("vid") if isinstance(tag, Mapping) else tag
        match = _RANGE.fullmatch(vid) if isinstance(vid, str) else None
        if match is not None:
            low, high = int(match[1]), int(match[2])
            if low >= high or high > MOST_VLANS:
                why, hint = f"`{vid}`: there is no VLAN {high}", f"VLANs go up to {MOST_VLANS}"
                if low >= high:
                    why, hint = f"`{vid}` is no row of VLANs", "write the lowest and the highest, `100-304`"
                raise Problem(why, hint, (place,) if isinstance(value, list) else (), code="out-of-range")
            row = {"step": {"start": low, "step": 1, "count": high - low + 1}}
            tag = {**tag, "vid": row} if isinstance(tag, Mapping) else row
            found.append(tag if "vid" in tag else {"vid": row})
        else:
            found.append(tag)
    return vlans(found)


def _one_row(tags: list[Vlan]) -> list[Vlan]:
    rows = [tag.vid for tag in tags if not isinstance(tag.vid, int)]
    if len(rows) > 1:
        raise Problem(
            "two tags of one entry are rows of VLANs",
            "a row for one of them, and an entry for each VLAN of the other",
            code="wrong-count",
        )
    if rows and "random" in rows[0]:
        raise Problem("the VLANs of a link are not random", "write `100-304`, or a list", code="unsupported")
    return tags


def _address(value: str) -> str:
    try:
        if "/" in value:
            return str(ipaddress.ip_interface(value))
    except ValueError:
        pass
    raise Problem(
        f"`{as_written(value)}` is not an address with its prefix length",
        "write it like `192.0.2.1/30`",
        code="wrong-format",
    )


def _gateway(value: str) -> str:
    try:
        if "%" not in value:
            return str(ipaddress.ip_address(value))
        raise ValueError(value)
    except ValueError:
        raise Problem(
            f"`{value[:40]}` is not an IP address", "write it like `192.0.2.2`", code="wrong-format"
        ) from None


SERVER_PORT = 5201
"""Of iperf3."""


def _server(value: str) -> str:
    address, colon, port = value.partition(":")
    try:
        number = int(port) if colon else SERVER_PORT
        if 0 < number < 2**16 and (not colon or port.isascii()):
            return f"{ipaddress.IPv4Address(address)}:{number}"
    except ValueError:
        pass
    raise Problem(
        f"`{as_written(value)}` is not the address of a server",
        "IPv4, with the first TCP port if it is not 5201: `192.0.2.20`, `192.0.2.20:5301`",
        code="wrong-format",
    )


def _positive(rate: L2Rate) -> L2Rate:
    if rate.amount < 1:
        raise Problem(f"`{rate}` lets nothing pass", "a rate above zero, `40Mbps L2`", code="out-of-range")
    return rate


InterfaceAddress = Annotated[str, AfterValidator(_address)]
HostAddress = Annotated[str, AfterValidator(_gateway)]
ServerAddress = Annotated[str, AfterValidator(_server)]


class LinkVlan(Element):
    """A VLAN of a link, or a row of them, and who the tester is there."""

    vlan: Annotated[
        list[Vlan], BeforeValidator(_tags), AfterValidator(_one_row), Field(min_length=1, max_length=8)
    ] = Field(
        json_schema_extra={
            "type": ["integer", "string", "object", "array"],
            "items": {"type": ["integer", "string", "object"]},
        }
    )
    """Its tags, outermost first: `10`, `100-304`, or `[{vid: 100, tpid: 0x88a8}, 1-200]`."""
    address: InterfaceAddress | None = None
    """The tester's address on this VLAN with its prefix length. Of a row: on the first one; each further one
    has the next network of that length."""
    gateway: HostAddress | None = None
    """The device's address on this VLAN, where its frames go to."""
    mac: MacAddress | None = None
    """MAC address of the next hop, which is then not asked for."""
    shape: Annotated[L2Rate, AfterValidator(_positive)] | None = None
    """The most that an emulated router sends on this VLAN (each one of a row): bit/s, L2."""

    def subinterfaces(self) -> Iterator[Subinterface]:
        """Each VLAN of the entry. Raises Problem if the last has no network of the address's kind."""
        vids = [_vids(tag.vid) for tag in self.vlan]
        count = max(map(len, vids))
        for number in range(count):
            tags = tuple(
                (of[number if len(of) > 1 else 0], tag.tpid) for of, tag in zip(vids, self.vlan, strict=True)
            )
            yield Subinterface(
                tags,
                None if self.address is None else self._further(self.address.partition("/")[0], number),
                None if self.gateway is None else self._further(self.gateway, number),
                self.mac,
                None if self.shape is None else int(self.shape.amount),
            )

    def _further(self, address: str, number: int) -> str:
        """The same host so many networks further on."""
        own = ipaddress.ip_interface(self.address or address)
        host = ipaddress.ip_address(address)
        if host.is_link_local:
            return str(host)
        try:
            return str(host + number * own.network.num_addresses)
        except ipaddress.AddressValueError:
            raise Problem(
                f"there is no network for VLAN {number + 1} of this row after {own.network}",
                "a lower first address, or a longer prefix",
                code="out-of-range",
            ) from None


def _vids(vid: Any) -> list[int]:
    if isinstance(vid, int):
        return [vid]
    return list(islice(values(vid), MOST_VLANS + 2))
