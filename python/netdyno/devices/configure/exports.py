"""Undoes configuration of RouterOS, which prints it as the statements of `/export verbose`.

Verbose, because what a `set` changed can only be restored if the value before it was printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from netdyno.devices.configure.undo import Undoing
from netdyno.devices.hiding import hide_secrets
from netdyno.devices.wiring import LabError

_VALUE = re.compile(r'([\w.-]+)=("(?:[^"\\]|\\.)*"|[^\s\]]*)')
_ITEM = re.compile(r" ?([\w*.-]+)(?= |$)")
"""Such as `telnet`, `0` and `*FFFFFFFE`."""
_STATEMENT = re.compile(
    r"(?P<path>/[\w /-]*?) ?\b(?P<verb>add|set|remove)\b ?(?:\[ ?find ?(?P<find>[^\]]*)\])?(?P<rest>.*)"
)


@dataclass(frozen=True)
class Statement:
    """One statement. find: what selects the item of a `set` or `remove`. item: the word that does so instead.

    Both empty: the menu has one item.
    """

    path: str
    verb: str
    find: tuple[tuple[str, str], ...] = ()
    values: dict[str, str] = field(default_factory=dict, hash=False)
    item: str = ""

    @property
    def line(self) -> str:
        """As it is entered from any menu."""
        found = f" [ find {_joined(self.find)} ]" if self.find else ""
        values = f" {_joined(tuple(self.values.items()))}" if self.values else ""
        item = f" {self.item}" if self.item else ""
        return f"{self.path} {self.verb}{item}{found}{values}"

    def selects(self, other: Statement) -> bool:
        """Whether a `set` or `remove` is of the item of another statement."""
        own = {"name": other.item} | dict(other.find) | other.values
        is_of_item = self.item in ("", own["name"])
        return (
            self.path == other.path
            and is_of_item
            and all(own.get(name) == value for name, value in self.find)
        )

    def undone(self) -> Statement:
        """The `remove` of an `add`: by its name, or by all that it was added with."""
        name = self.values.get("name")
        found = (("name", name),) if name else tuple(self.values.items())
        return Statement(self.path, "remove", found)


def _joined(values: tuple[tuple[str, str], ...]) -> str:
    return " ".join(f"{name}={value}" for name, value in values)


def statements(text: str) -> Iterator[Statement]:
    """The statements of an export or of a template. Raises LabError `not-understood`."""
    path = ""
    for line in re.sub(r"\\\r?\n\s*", "", text.replace("\r\n", "\n")).split("\n"):
        plain = line.strip()
        if not plain or plain.startswith("#"):
            continue
        if plain.startswith("/") and not _STATEMENT.fullmatch(plain):
            path = plain
            continue
        found = _STATEMENT.fullmatch(plain if plain.startswith("/") else f"{path} {plain}")
        if found is None:
            raise LabError(
                f"`{hide_secrets(plain)[:80]}` is no statement of an export.",
                "enter `/export verbose` by hand",
                code="not-understood",
            )
        find, rest = (tuple(_VALUE.findall(found[name] or "")) for name in ("find", "rest"))
        item = None if found["verb"] == "add" else _ITEM.match(found["rest"])
        menu = " ".join(found["path"].split())
        yield Statement(menu, found["verb"], find, dict(rest), item[1] if item else "")


@dataclass(frozen=True)
class ExportUndoing(Undoing):
    """As `Undoing`, for systems whose configuration is a list of statements."""

    def read(self, printed: str) -> str:
        """One statement a line."""
        return _text(list(statements(printed)))

    def commands(self, text: str) -> str:
        """The statements with their whole path."""
        return _text(list(statements(text)))

    def undo(self, now: str, before: str) -> str:
        """Removes what was added, last first; then restores values and what was removed."""
        there, wanted = list(statements(now)), list(statements(before))
        gone = [one for one in there if one.verb == "add" and one not in wanted]
        back = [one for one in wanted if one.verb == "add" and one not in there]
        return _text([*(one.undone() for one in reversed(gone)), *_restored(there, wanted), *back])

    def missing(self, text: str, now: str) -> tuple[str, ...]:
        """Statements whose item is not there, or has other values."""
        there = list(statements(now))
        return tuple(one.line for one in statements(text) if not _is_in_effect(one, there))

    def lacking(self, text: str, now: str) -> str:
        """As `Undoing.lacking`; of a `set` the values that an item has not."""
        found: list[Statement] = []
        for one in statements(text):
            there = list(statements(now))
            items = [other for other in there if one.verb == "set" and one.selects(other)]
            if items and one.values:
                values = {k: v for k, v in one.values.items() if any(i.values.get(k) != v for i in items)}
                one = replace(one, values=values)
            if one.values if items else not _is_in_effect(one, there):
                found.append(one)
                now = self.predict(now, one.line)
        return _text(found)

    def clashes(self, text: str, now: str) -> tuple[tuple[str, str], ...]:
        """As `Undoing.clashes`: an item of that name, or one that is disabled."""
        there = list(statements(now))
        return tuple(
            (one.line, other.line)
            for one in statements(self.lacking(text, now))
            for other in there
            if one.verb == "add" and _is_in_the_way(one, other)
        )

    def predict(self, before: str, text: str) -> str:
        """Values replaced, items added and removed."""
        found = list(statements(before))
        for one in statements(text):
            if one.verb == "set":
                found = [
                    replace(other, values=other.values | one.values) if one.selects(other) else other
                    for other in found
                ]
            elif one.verb == "remove":
                found = [other for other in found if not one.selects(other)]
            elif one not in found:
                found.append(one)
        return _text(found)

    def only_ours(self, before: str, now: str, text: str | None, after: str | None) -> str:
        """The reading without items and values that are neither as before nor as we entered them."""
        old, ours = list(statements(before)), list(statements(after or self.predict(before, text or "")))
        there = list(statements(now))
        found = []
        for one in old:
            then = next((other for other in ours if _is_same(one, other)), None)
            is_there = next((other for other in there if _is_same(one, other)), None)
            if is_there is None:
                found += [one] if then is not None else []
                continue
            entered = then.values if then is not None else {}
            values = {
                name: is_there.values[name] if is_there.values.get(name) == entered.get(name) else value
                for name, value in one.values.items()
            }
            found.append(replace(one, values=values))
        added = [one for one in there if one.verb == "add" and not any(_is_same(one, other) for other in old)]
        mine = [
            one for one in added if any(_is_in_effect(other, [one]) for other in ours if other.verb == "add")
        ]
        return _text([*found, *mine])


def _text(several: list[Statement]) -> str:
    return "".join(f"{one.line}\n" for one in several)


def _is_same(one: Statement, other: Statement) -> bool:
    """Whether two statements are of one item: by its name or selector, else by all its values."""
    if (one.path, one.verb, one.find, one.item) != (other.path, other.verb, other.find, other.item):
        return False
    if one.verb == "set":
        return True
    name = one.values.get("name")
    return name == other.values.get("name") if name else one.values == other.values


def _restored(there: list[Statement], wanted: list[Statement]) -> Iterator[Statement]:
    for one in wanted:
        now = next((other for other in there if one.verb == "set" and _is_same(one, other)), None)
        if now is not None and now.values != one.values:
            yield replace(one, values={k: v for k, v in one.values.items() if now.values.get(k) != v})


def _is_in_the_way(one: Statement, other: Statement) -> bool:
    name = one.values.get("name")
    if name is None:
        return one.path == other.path and other.verb == "add" and one.values.items() <= other.values.items()
    is_interface = one.path.startswith("/interface ") and other.path.startswith("/interface ")
    return (is_interface or one.path == other.path) and name == other.values.get("name")


def _is_in_effect(one: Statement, there: list[Statement]) -> bool:
    if one.verb == "remove":
        return not any(one.selects(other) for other in there)
    return any(
        one.path == other.path
        and (one.verb == other.verb == "add" or (one.verb == "set" and one.selects(other)))
        and one.values.items() <= other.values.items()
        and (one.verb == "set" or one.values.get("disabled", "no") == other.values.get("disabled", "no"))
        for other in there
    )
