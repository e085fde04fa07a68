"""Undoes configuration of Linux by `ip` and `sysctl`, whose output it reads as commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address, ip_interface

from netdyno.devices.configure.ipprinted import read_commands
from netdyno.devices.configure.undo import Undoing

_EFFECTS = (
    (
        "sysctl -w net.ipv4.ip_forward=",
        r"sysctl -w net(?:/ipv4/conf/\S+/forwarding|\.ipv4\.conf\.all\.accept_redirects)=",
    ),
    ("sysctl -w net.ipv6.conf.all.forwarding=", r"sysctl -w net/ipv6/conf/\S+/forwarding="),
)
"""A setting, and those that the kernel sets with it."""

_ORDER = ("sysctl ", "ip link ", "ip address ", "ip route ", "ip -6 route ")
"""What is entered later needs what is entered earlier."""


def _key(statement: str) -> str | None:
    """What a command gives a value, of which there is one; None: it adds something."""
    words = statement.split()
    if words[0] == "sysctl":
        return statement.partition("=")[0]
    if words[1] == "link":
        return " ".join(words[:5]) + (" mtu" if "mtu" in words else " state")
    return None


def _inverse(statement: str) -> str:
    return re.sub(r"^(ip (?:-6 )?\w+) add ", r"\1 del ", statement)


def _has(there: Iterable[str], statement: str) -> bool:
    """Whether a command is in effect: routes are printed with more words than they were entered with."""
    return any(f"{one} ".startswith(f"{_canonical(statement)} ") for one in there)


def _is_in_effect(statement: str, there: Iterable[str]) -> bool:
    return _has(there, statement.replace(" del ", " add ", 1)) != (" del " in statement)


@cache
def _canonical(statement: str) -> str:
    """A command as it is read: addresses in their short form, the family of a route with it."""
    words = [_short(word) for word in statement.split()]
    if words[:3] == ["ip", "route", "add"] and ":" in words[3]:
        words.insert(1, "-6")
    if "route" in words[1:3]:
        words = [re.sub(r"(?<=\.)(\d+)/32$|(?<=:)([\da-f]*)/128$", r"\1\2", word) for word in words]
    return " ".join(words)


def _short(word: str) -> str:
    try:
        return str(ip_interface(word)) if "/" in word else str(ip_address(word))
    except ValueError:
        return word


def _destination(statement: str) -> tuple[str, ...] | None:
    """What of a route there is one: family, destination, and what else tells it apart; None: it is none."""
    found = re.match(
        r"ip (?:-6 )?route add (?:blackhole |unreachable |prohibit |throw )?(\S+)", _canonical(statement)
    )
    if found is None:
        return None
    more = re.findall(r" (table|metric|tos) (\S+)", statement)
    usual = ("metric", "1024") if ":" in found[1] else ("metric", "0")
    return (found[1], *sorted(" ".join(one) for one in more if one != usual))


def _is_rest(line: str, old: list[str], there: list[str]) -> bool:
    """Whether it is what a route of several next hops is when some of them are gone."""
    begin = re.match(r"ip (?:-6 )?route add \S+ ", line)
    return begin is not None and any(
        one.startswith(begin[0]) and " nexthop " in one and one not in there for one in old
    )


def _devices(lines: Iterable[str]) -> set[str]:
    """The interfaces that commands name."""
    found = (re.search(r" dev (\S+)|/conf/([^/]+)/", one) for one in lines)
    return {one[1] or one[2] for one in found if one}


def _effects(entered: list[str], there: list[str]) -> list[str]:
    """Settings that are there because others were entered."""
    return [
        one
        for begin, pattern in _EFFECTS
        if any(line.startswith(begin) for line in entered)
        for one in there
        if re.match(pattern, one)
    ]


def _orders(there: list[str], wanted: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Addresses of each interface and family that are all there, in another order: now, and as wanted."""

    def by_interface(lines: list[str]) -> dict[tuple[str, bool], list[str]]:
        found: dict[tuple[str, bool], list[str]] = {}
        for one in lines:
            if one.startswith("ip address "):
                words = one.split()
                found.setdefault((words[words.index("dev") + 1], ":" in words[3]), []).append(one)
        return found

    then = by_interface(wanted)
    for place, now in by_interface(there).items():
        wished = then.get(place, [])
        if now != wished and sorted(now) == sorted(wished):
            yield now, wished


def _place(statement: str) -> int:
    return next((place for place, begin in enumerate(_ORDER) if statement.startswith(begin)), len(_ORDER))


def _text(several: Iterable[str]) -> str:
    return "".join(f"{one}\n" for one in several)


@dataclass(frozen=True)
class IpUndoing(Undoing):
    """As `Undoing`. Templates are written in `ip link set`, `ip address add`, `ip route add`, `sysctl -w`."""

    def read(self, printed: str) -> str:
        """The commands that would make it so, in the order in which they can be entered."""
        return _text(sorted(read_commands(printed), key=_place))

    def commands(self, text: str) -> str:
        """The commands of a text, without comments."""
        lines = (" ".join(line.split()) for line in text.split("\n"))
        return _text(line for line in lines if line and not line.startswith("#"))

    def undo(self, now: str, before: str) -> str:
        """Deletes what was added, last first; then restores values and what is gone."""
        there, wanted = now.splitlines(), before.splitlines()
        gone = [one for one in reversed(there) if _key(one) is None and one not in wanted]
        back = [one for one in wanted if one not in there]
        for now_in_order, then in _orders(there, wanted):
            # Of addresses in a network the first is the primary one; kernels add before or behind others.
            again = then if now_in_order != then[::-1] else now_in_order
            gone += now_in_order[::-1]
            back += again
        return _text([*map(_inverse, gone), *sorted(back, key=_place)])

    def missing(self, text: str, now: str) -> tuple[str, ...]:
        """Commands that are not in effect."""
        there = now.splitlines()
        return tuple(one for one in self.commands(text).splitlines() if not _is_in_effect(one, there))

    def lacking(self, text: str, now: str) -> str:
        """As `Undoing.lacking`; one command may undo what another has found in effect."""
        found = []
        for one in self.commands(text).splitlines():
            if not _is_in_effect(one, now.splitlines()):
                found.append(one)
                now = self.predict(now, one)
        return _text(found)

    def clashes(self, text: str, now: str) -> tuple[tuple[str, str], ...]:
        """As `Undoing.clashes`: of a destination there is one route, in a table and of a metric."""
        there = {what: one for one in now.splitlines() if (what := _destination(one)) is not None}
        return tuple(
            (one, there[what])
            for one in self.lacking(text, now).splitlines()
            if (what := _destination(one)) in there
        )

    def predict(self, before: str, text: str) -> str:
        """Values replaced, the rest added or deleted."""
        found = before.splitlines()
        for one in self.commands(text).splitlines():
            one = _canonical(one)
            if (what := _key(one)) is not None:
                found = [other for other in found if _key(other) != what]
            elif " del " in one:
                gone = one.replace(" del ", " add ", 1)
                found = [other for other in found if not f"{other} ".startswith(f"{gone} ")]
                continue
            if not _has(found, one):
                found.append(one)
        return _text(sorted(found, key=_place))

    def only_ours(self, before: str, now: str, text: str | None, after: str | None) -> str:
        """The reading without what is neither as before nor as entered."""
        old, there = before.splitlines(), now.splitlines()
        entered = after.splitlines() if after else self.commands(text or "").splitlines()
        entered += _effects(entered, there)
        values = {what for one in entered if (what := _key(one)) is not None}
        mine = [one for one in there if one not in old and any(_has([one], other) for other in entered)]
        mine += [one for one in there if one not in [*old, *mine] and _is_rest(one, old, there)]
        taken = {_key(one) for one in mine}
        touched = _devices(self.commands(text or "").splitlines())
        kept = []
        for one in old:
            what = _key(one)
            # Routes, addresses and settings go with what they depend on, and come back with the undo.
            is_gone = one not in there and (what is None or not any(_key(other) == what for other in there))
            is_side_effect = is_gone and (" route " in one or not touched.isdisjoint(_devices([one])))
            if not is_side_effect and (what is None or not (what in values and what in taken)):
                kept.append(one)
        # In the order of what is there: another order of addresses would be a change of others.
        at = {line: place for place, line in enumerate(there)}
        return _text(sorted([*kept, *mine], key=lambda one: (_place(one), at.get(one, len(at)))))
