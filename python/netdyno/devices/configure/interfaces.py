"""Which interfaces of a device are the lab's, and what they share with others."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from netdyno.devices.configure.sections import Sections
from netdyno.devices.configure.tree import Tree, key


@dataclass(frozen=True)
class Interfaces:
    """The interfaces of a device, on which a text is to be entered. ports: of the lab.

    is_complete: the running configuration is known; else a bundle without members in the text may be the
    lab's.
    """

    sections: Sections
    ports: tuple[str, ...]
    text: Tree
    running: Tree
    is_complete: bool = True

    def is_of_lab(self, name: str) -> bool:
        """Whether it is a port of the lab, its subinterface, or a bundle of such ports alone."""
        plain = _key(name)
        # A subinterface of a bundle is the lab's if the bundle is.
        parent = re.sub(r"\.\d+$", "", plain)
        labs = {_key(port) for port in self.ports}
        if plain in labs or parent in labs:
            return True
        members = self._members.get(parent, set())
        if not members and not self.is_complete:
            return any(re.fullmatch(_key(title).format(r"\d+"), parent) for _, title in self.sections.bundles)
        return bool(members) and members <= labs

    def in_full(self, name: str) -> str:
        """The port of the lab that a name abbreviates, `Te0/1/0/0` or `te 0/1/0/0`; empty: none."""
        word, number = _split(name)
        for port in self.ports:
            whole, same = _split(port)
            if number == same and word and whole.startswith(word) and not self.is_of_lab(name):
                return port
        return ""

    def find_sharer(self, line: str) -> str | None:
        """Why a line of an interface joins it with another that is not the lab's; None: it does not."""
        for pattern in self.sections.joins:
            if not (found := re.match(pattern, line, re.IGNORECASE)):
                continue
            for name, inside in _interfaces(self.running):
                same = (re.match(pattern, one) for one in inside)
                if any(other and other[1] == found[1] for other in same) and not self._is_port(name):
                    return f"`{name}` is in the same, which is not the lab's"
        return None

    def has_network(self, address: str) -> bool:
        """Whether an IPv4 address is in a network of an interface of the lab."""
        try:
            wanted = ipaddress.ip_address(address)
            networks = [
                ipaddress.ip_interface(f"{found[1]}/{found[2]}").network
                for tree in (self.text, self.running)
                for name, inside in _interfaces(tree)
                if self.is_of_lab(name)
                for line in inside
                if (found := re.match(r"ip(?:v4)? address ([\d.]+)[ /]([\d.]+)", line))
            ]
        except ValueError:
            return False
        return any(wanted in network for network in networks)

    def _is_port(self, name: str) -> bool:
        return re.sub(r"\.\d+$", "", _key(name)) in {_key(port) for port in self.ports}

    @cached_property
    def _members(self) -> Mapping[str, set[str]]:
        """The ports that each bundle has or gets."""
        found: dict[str, set[str]] = {}
        for tree in (self.text, self.running):
            for name, inside in _interfaces(tree):
                for line in inside:
                    for pattern, title in self.sections.bundles:
                        if member := re.match(pattern, line, re.IGNORECASE):
                            found.setdefault(_key(title.format(member[1])), set()).add(_key(name))
        return found


def _interfaces(tree: Tree) -> list[tuple[str, Tree]]:
    return [
        (line.split(" ", 1)[1], inside)
        for line, inside in tree.items()
        if re.match("interface .", line, re.IGNORECASE)
    ]


def _key(name: str) -> str:
    return key(name).removesuffix(" l2transport").replace(" ", "")


def _split(name: str) -> tuple[str, str]:
    """The word and the number of an interface's name."""
    plain = _key(name)
    word = plain.rstrip("0123456789/.:")
    return word.rstrip(), plain[len(word) :]
