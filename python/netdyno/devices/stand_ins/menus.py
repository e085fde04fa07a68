"""A RouterOS whose configuration is lists of items in menus, in a file; it prints them as an export does.

Written after how the system behaves, without the code that is tested: an item has all properties of its menu,
with defaults where none were given; `set` of items that are not there does nothing; names are unique.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Item = dict[str, str]

MENUS: Mapping[str, Item] = {
    "/interface ethernet": {"advertise": "10M-half,10M-full,100M-half,100M-full,1000M-half,1000M-full"}
    | {"arp": "enabled", "arp-timeout": "auto", "auto-negotiation": "yes", "bandwidth": "unlimited/unlimited"}
    | {"disabled": "no", "full-duplex": "yes", "l2mtu": "1580", "loop-protect": "default"}
    | {
        "loop-protect-disable-time": "5m",
        "loop-protect-send-interval": "5s",
        "mac-address": "",
        "mtu": "1500",
    }
    | {"name": "", "rx-flow-control": "off", "sfp-rate-select": "high", "speed": "10Gbps"}
    | {"tx-flow-control": "off"},
    "/interface vlan": {"arp": "enabled", "arp-timeout": "auto", "disabled": "no", "interface": ""}
    | {"loop-protect": "default", "loop-protect-disable-time": "5m", "loop-protect-send-interval": "5s"}
    | {"mtu": "1500", "name": "", "use-service-tag": "no", "vlan-id": "1"},
    "/interface bonding": {"disabled": "no", "lacp-rate": "30secs", "mode": "balance-rr", "mtu": "1500"}
    | {"name": "", "slaves": "", "transmit-hash-policy": "layer-2"},
    "/interface bridge port": {"bridge": "", "disabled": "no", "interface": ""},
    "/ip pool": {"name": "", "ranges": ""},
    **{
        f"/ip firewall {table}": {"action": "accept", "chain": "", "connection-state": "", "disabled": "no"}
        | {"dscp": "", "in-interface": "", "log": "no", "log-prefix": '""', "new-packet-mark": ""}
        | {"out-interface": "", "passthrough": "", "src-address": "", "to-addresses": ""}
        for table in ("filter", "mangle", "nat")
    },
    "/ip address": {"address": "", "disabled": "no", "interface": "", "network": ""},
    "/ip arp": {"address": "", "disabled": "no", "interface": "", "mac-address": "", "published": "no"},
    "/ip route": {"disabled": "no", "distance": "1", "dst-address": "", "gateway": "", "scope": "30"}
    | {"target-scope": "10"},
    "/ip service": {"address": '""', "disabled": "no", "port": ""},
    "/ip settings": {"allow-fast-path": "yes", "rp-filter": "no", "tcp-syncookies": "no"},
    "/ip traffic-flow": {"active-flow-timeout": "30m", "cache-entries": "256k", "enabled": "no"}
    | {"inactive-flow-timeout": "15s", "interfaces": "all"},
    "/ip traffic-flow target": {"disabled": "no", "dst-address": "", "port": "2055", "src-address": "0.0.0.0"}
    | {"v9-template-refresh": "20", "v9-template-timeout": "30m", "version": "9"},
    "/queue tree": {"bucket-size": "0.1", "burst-limit": "0", "burst-threshold": "0", "burst-time": "0s"}
    | {"disabled": "no", "limit-at": "0", "max-limit": "0", "name": "", "packet-mark": '""', "parent": ""}
    | {"priority": "8", "queue": "default"},
    "/snmp community": {"addresses": "::/0", "name": "", "read-access": "yes", "write-access": "no"},
    "/system identity": {"name": ""},
    "/system logging": {"action": "memory", "disabled": "no", "prefix": '""', "topics": ""},
}
"""Properties with their defaults, as they are printed in order; menus as they are."""
FIXED = {"/interface ethernet": "default-name", "/snmp community": "default"}
"""What an export selects items by that cannot be added: a property that does not change."""
NAMED = ("/ip service",)
"""Menus whose items an export selects by their names alone."""
NUMBERED = ("/system logging",)
SINGLE = ("/ip settings", "/ip traffic-flow", "/system identity")


class RefusedError(Exception):
    """What the system prints instead."""


def _pairs(text: str) -> Item:
    """Names and values in a text."""
    return dict(word.partition("=")[::2] for word in re.findall(r'[\w-]+=(?:"(?:[^"\\]|\\.)*"|\S*)', text))


class Menus:
    """The items of each menu."""

    def __init__(self, items: dict[str, list[Item]]) -> None:
        self.items = items

    def enter(self, line: str) -> None:
        """A statement with its whole path. Raises RefusedError."""
        menu = max((menu for menu in MENUS if line.startswith(f"{menu} ")), key=len, default="")
        if not menu:
            raise RefusedError(f"bad command name {line.split()[0].strip('/')} (line 1 column 2)")
        verb, _, rest = line[len(menu) + 1 :].partition(" ")
        found = re.match(r"\[ ?find ([^\]]*)\] ?", rest)
        values = _pairs(rest[found.end() :] if found else rest)
        for name in values:
            if name not in MENUS[menu]:
                raise RefusedError(f"expected end of command (line 1 column {line.index(name) + 1})")
        there = self.items.setdefault(menu, [])
        if verb == "add":
            self._add(menu, there, values)
        elif verb == "set":
            for item in self._selected(menu, there, found, rest):
                item.update(values)
        elif verb == "remove" and found:
            gone = list(self._selected(menu, there, found, rest))
            self.items[menu] = [item for item in there if item not in gone]
        else:
            raise RefusedError(f"bad command name {verb} (line 1 column {len(menu) + 2})")

    def _selected(
        self, menu: str, there: list[Item], found: re.Match[str] | None, rest: str
    ) -> Iterator[Item]:
        if found:
            wanted = _pairs(found[1])
            yield from (item for item in there if wanted.items() <= item.items())
        elif menu in SINGLE:
            yield from there
        else:
            who = rest.split()[0]
            numbered = [item for number, item in enumerate(there) if str(number) == who]
            chosen = numbered if menu in NUMBERED else [item for item in there if item.get("#") == who]
            if "=" in who or not chosen:
                # It asks `numbers:` and waits for an answer.
                raise RefusedError("numbers: \nno such item")
            yield from chosen

    def _add(self, menu: str, there: list[Item], values: Item) -> None:
        item = MENUS[menu] | values
        interfaces = {
            one["name"]
            for kind in ("/interface ethernet", "/interface vlan", "/interface bonding")
            for one in self.items.get(kind, [])
        }
        parents = interfaces | {one["name"] for one in self.items.get("/queue tree", [])}
        for name in ("interface", "in-interface", "out-interface", "parent"):
            if item.get(name) and item[name] not in (parents if name == "parent" else interfaces):
                raise RefusedError(f"input does not match any value of {name}")
        if menu in ("/interface vlan", "/interface bonding") and item["name"] in interfaces:
            raise RefusedError("failure: already have interface with such name")
        if menu == "/ip address":
            item["network"] = str(ipaddress.ip_interface(item["address"]).network.network_address)
            if any(
                one["address"] == item["address"] and one["interface"] == item["interface"] for one in there
            ):
                raise RefusedError("failure: already have such address")
        there.append(item)

    def text(self) -> str:
        """All of it as an export has it."""
        return "".join(self._menu(menu, items) for menu in MENUS if (items := self.items.get(menu)))

    def _menu(self, menu: str, items: list[Item]) -> str:
        text = f"{menu}\n"
        for number, item in enumerate(items):
            if menu in SINGLE:
                who = "set"
            elif menu in NAMED:
                who = f"set {item['#']}"
            elif menu in NUMBERED:
                who = f"set {number}"
            elif menu in FIXED:
                who = f"set [ find {FIXED[menu]}={item[FIXED[menu]]} ]"
            else:
                who = "add"
            values = (f"{name}={item[name]}" for name in MENUS[menu] if item.get(name, "") != "")
            text += _wrapped(f"{who} {' '.join(values)}")
        return text


def _wrapped(line: str) -> str:
    """At most 80 characters a line where it can be, broken between words and before a long value."""
    found, words = "", line.split(" ")
    row = words[0]
    for word in words[1:]:
        name, _, value = word.partition("=")
        if len(value) > 40:
            found, row = f"{found}{row} {name}=\\\n", f"    {value}"
        elif len(row) + len(word) > 76:
            found, row = f"{found}{row} \\\n", f"    {word}"
        else:
            row += f" {word}"
    return f"{found}{row}\n"


class MenuDevice:
    """The device behind its file. Every change is in the file at once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self, items: Mapping[str, list[Item]]) -> None:
        """Starts it with these items, completed by their defaults."""
        full = {menu: [MENUS[menu] | item for item in several] for menu, several in items.items()}
        self.save(Menus(full))

    def load(self) -> Menus:
        """Its items."""
        found: dict[str, Any] = json.loads(self.path.read_text())
        return Menus(found)

    def save(self, menus: Menus) -> None:
        """Stores them as a whole."""
        spare = self.path.with_suffix(".new")
        spare.write_text(json.dumps(menus.items))
        spare.rename(self.path)

    def enter(self, line: str) -> None:
        """A statement. Raises RefusedError."""
        menus = self.load()
        menus.enter(line)
        self.save(menus)

    def text(self) -> str:
        """`/export verbose` without its head."""
        return self.load().text()
