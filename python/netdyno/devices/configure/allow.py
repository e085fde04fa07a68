"""Refuses configuration that is not the lab's: management, logins, default routes and other interfaces."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from netdyno.devices.configure.escapes import find_escapes
from netdyno.devices.configure.interfaces import Interfaces
from netdyno.devices.configure.refused import NotAllowedError, RefusedLine
from netdyno.devices.configure.sections import Kind, Scope, Sections
from netdyno.devices.configure.tree import Path, Tree, at, key, numbered_paths, parse, paths, without_no


@dataclass(frozen=True)
class Allowed:
    """What a case may change on a device.

    sections: of its system; None: nothing but `allow`. ports: of the lab, by the names that the device has
    for them. allow: lines of the plan, with all lines below them. places: where each line of the text stands
    in its templates; empty: unknown.
    """

    sections: Sections | None = None
    ports: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    comment: str = "!"
    places: tuple[str, ...] = ()

    def check(self, text: str, before: str) -> None:
        """Raises NotAllowedError with all lines that may not be entered.

        before: the reading that the text is to be entered on.
        """
        if refused := tuple(sorted(self.refused(text, before), key=lambda one: one.number)):
            raise NotAllowedError(refused, code="section-not-allowed")

    def refused(self, text: str, before: str | None) -> Iterator[RefusedLine]:
        """The lines that may not be entered; of a section that may not, only its header.

        before: None, whatever the device has already.
        """
        commands = {one.number: one for one in find_escapes(text, self.comment)}
        for number, one in commands.items():
            yield replace(one, place=self._place(number))
        # Judged with single spaces, as systems read a line.
        single = "\n".join(re.sub(r"(?<=\S) +", " ", line) for line in text.split("\n"))
        tree, running = parse(single, self.comment), parse(before or "", self.comment)
        interfaces = Interfaces(self.sections or Sections(()), self.ports, tree, running, before is not None)
        judged: dict[Path, bool] = {}
        for number, path in numbered_paths(single, self.comment):
            if path in judged or number in commands:
                continue
            is_inside = any(judged.get(path[:depth]) for depth in range(1, len(path)))
            why = None if is_inside or self._is_listed(path) else self._refusal(path, interfaces)
            judged[path] = is_inside or why is not None
            if why:
                full = next(filter(None, map(interfaces.in_full, _names(path[-1:]))), "")
                yield RefusedLine(number, self._place(number), " / ".join(path), why, in_full=full)

    def _place(self, number: int) -> str:
        return self.places[number - 1] if number <= len(self.places) else ""

    def _is_listed(self, path: Path) -> bool:
        plain = " ".join(key(without_no(line).removeprefix("default ")) for line in path)
        # `no ip cef` lists the removal alone, `ip cef` both.
        own = " ".join(map(key, path))
        listed = [" ".join(key(line).split()) for line in self.allow]
        # `vlan` lists `vlan 20`, whose space `key` drops; `interface TenGigE0/1` is not `TenGigE0/10`.
        begins = (rf"{re.escape(one)}(?: |$|(?<=[a-z])\d)" for one in listed if one)
        return any(re.match(begin, text) for begin in begins for text in (plain, own))

    def _refusal(self, path: Path, interfaces: Interfaces) -> str | None:
        """Why a line may not be entered; None: it may."""
        top = without_no(path[0]).removeprefix("default ")
        kind, found = self._kind(top)
        if kind is None or found is None:
            return "it is not among what a template may change"
        if len(path) > 1:
            line = without_no(path[-1])
            if not any(re.match(pattern, line, re.IGNORECASE) for pattern in kind.inside):
                return f"a case changes no such line in `{top}`"
        running = interfaces.running
        match kind.scope:
            case Scope.PORT:
                return self._port_refusal(path, found["name"], interfaces)
            case Scope.MEMBERS:
                return self._member_refusal(path, kind, running, interfaces)
            case Scope.ROUTES:
                return self._route_refusal(path, kind, running)
            case Scope.NEIGHBOURS:
                is_near = interfaces.has_network(found["name"]) or not interfaces.is_complete
                return None if is_near else "the address is in no network of the lab's interfaces"
            case Scope.HARMLESS:
                return None
            case Scope.NEW:
                foreign = _foreign(_names(path[1:]), interfaces)
                return foreign or self._completion_refusal(path, top, interfaces)

    def _kind(self, top: str) -> tuple[Kind | None, re.Match[str] | None]:
        for kind in self.sections.kinds if self.sections else ():
            if found := re.match(kind.header, top, re.IGNORECASE):
                return kind, found
        return None, None

    def _port_refusal(self, path: Path, name: str, interfaces: Interfaces) -> str | None:
        if not interfaces.is_of_lab(name):
            return f"`{name}` is no port of the plan's links"
        return interfaces.find_sharer(path[-1]) if len(path) > 1 else None

    def _completion_refusal(self, path: Path, top: str, interfaces: Interfaces) -> str | None:
        """A section that the device has may be completed if all that it has is of the text."""
        there, wanted = at(interfaces.running, (top,)), at(interfaces.text, (top,))
        if there is None or (path[0] == top and at(interfaces.running, path) is not None):
            return None
        is_part = wanted is not None and all(
            at(wanted, one) is not None
            or (one[-1] == "shutdown" and at(wanted, (*one[:-1], "no shutdown")) is not None)
            for one in paths(there)
            if not one[-1].startswith("no ")
        )
        if path[0] == top and is_part and path[-1] != "shutdown":
            return None
        return (
            "the device has it already, with other lines" if path[0] == top else "the device has it already"
        )

    def _member_refusal(self, path: Path, kind: Kind, running: Tree, interfaces: Interfaces) -> str | None:
        """Judges a line by what it touches: a section by all in it, another line by the section around it."""
        line = without_no(path[-1])
        is_removal = path[-1] != line
        is_group = len(path) == 1 or any(re.match(pattern, line) for pattern in kind.groups)
        touched: Path = (*path[:-1], line) if is_group else path[:-1]
        names = set(_names(path))
        if is_removal or not is_group:
            below = at(running, touched)
            names |= {name for one in paths(below or {}) for name in _names(one)}
        return _foreign(names, interfaces)

    def _route_refusal(self, path: Path, kind: Kind, running: Tree) -> str | None:
        line = without_no(path[-1])
        if path[-1] != line:
            there = at(running, path[:-1]) or {}
            if any(f"{key(one)} ".startswith(f"{key(line)} ") for one in there):
                return "it removes a route that the device had"
        is_group = any(re.match(group, line) for group in (kind.header, *kind.groups) if "name>" not in group)
        return None if is_group or is_narrow(line) else "its prefix takes the place of a default route"


def _names(path: Path) -> Iterator[str]:
    """Interfaces that a line names as a member."""
    if path and (found := re.match(r"interface (\S+(?: [\d/.]+)?)", without_no(path[-1]), re.IGNORECASE)):
        yield found[1]


def is_narrow(line: str) -> bool:
    """Whether the first prefix in a line leaves most addresses to other routes: from /8, in IPv6 /16."""
    found = re.search(r"([\da-fA-F:.]*[:.][\da-fA-F:.]*)(?:/(\d+)| (\d[\d.]+))", line)
    try:
        prefix = ipaddress.ip_network(f"{found[1]}/{found[2] or found[3]}", strict=False) if found else None
    except ValueError:
        return False
    return prefix is not None and prefix.prefixlen >= (8 if prefix.version == 4 else 16)


def _foreign(names: set[str] | Iterator[str], interfaces: Interfaces) -> str | None:
    for name in sorted(names):
        if not interfaces.is_of_lab(name):
            return f"`{name}` is in it, which is not the lab's"
    return None
