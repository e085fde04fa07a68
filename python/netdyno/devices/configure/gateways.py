"""Next hops of the plan that a device would not have: its configuration says which addresses it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address

from netdyno.devices.reasons import GatewayAbsent
from netdyno.devices.wiring import LabLink

_OWN = re.compile(r"\b(?:address|standby|vrrp|hsrp|glbp|virtual)\b")
"""In a line that gives a device an address."""
_UNKNOWN = re.compile(r"\b(?:address (?:dhcp|negotiated|autoconfig)|unnumbered|dhcp-client|eui-64)\b", re.I)
"""In a line that gives it one that the line has not."""
_ADDRESS = re.compile(r"[\da-fA-F:.]*[:.][\da-fA-F:.]+")


def list_gateways(links: Sequence[LabLink]) -> dict[str, str]:
    """The next hops of links and of their VLANs, by name. Those that no configuration has are left out."""
    found = {link.tester_port: link.gateway for link in links}
    for link in links:
        for vlan in link.vlans:
            found |= {f"{link.tester_port}, {vlan.name}": vlan.gateway}
    return {name: hop for name, hop in found.items() if hop and not ip_address(hop).is_link_local}


def find_absent(gateways: Mapping[str, str], reading: str) -> Iterator[GatewayAbsent]:
    """The next hops that a running configuration gives to no interface; in doubt it has them."""
    if _UNKNOWN.search(reading):
        return
    own = set()
    for line in filter(_OWN.search, reading.splitlines()):
        for word in _ADDRESS.findall(line):
            try:
                own.add(ip_address(word))
            except ValueError:
                continue
    for name, hop in gateways.items():
        if ip_address(hop) not in own:
            yield GatewayAbsent(name, hop)
