"""The commands that lead from one configuration back to another.

hier_config was compared with this and not taken. On generated configurations both are right, but it enters an
interface after a bridge domain without leaving that, so that it becomes a member of it; it removes `no
switchport` before the addresses that need it; and it refuses a configuration with a line twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from netdyno.devices.configure.claims import Claims, keep_claimed
from netdyno.devices.configure.grammars import GRAMMARS, Grammar
from netdyno.devices.configure.lacking import find_lacking, list_clashes, list_missing
from netdyno.devices.configure.tree import (
    Tree,
    begins,
    changed_paths,
    key,
    parse,
    read_running,
    render_tree,
    without_no,
)
from netdyno.devices.hiding import hide_secrets
from netdyno.devices.shell import Shell
from netdyno.devices.wiring import LabError


class Undoing(Protocol):
    """How one kind of system reads, enters and undoes configuration: pure, it sends nothing."""

    def read(self, printed: str) -> str:
        """The part of a printed running configuration that does not change by itself.

        Raises LabError `not-understood` for one that is cut short or garbled.
        """
        ...

    def commands(self, text: str) -> str:
        """What is entered for a text, each section left again. Nothing of it depends on the prompt."""
        ...

    def undo(self, now: str, before: str) -> str:
        """What is entered to get from one reading to an earlier one; empty: they are equal."""
        ...

    def missing(self, text: str, now: str) -> tuple[str, ...]:
        """Lines of a text that are not in effect in a reading, each with its sections before it."""
        ...

    def lacking(self, text: str, now: str) -> str:
        """The part of a text that has something to do on a reading, in its order; empty: all is there.

        In doubt a line is in it: what does nothing, the undo does not undo.
        """
        ...

    def clashes(self, text: str, now: str) -> tuple[tuple[str, str], ...]:
        """Lines of a text that cannot be entered beside a line of a reading, and that line."""
        return ()

    def predict(self, before: str, text: str) -> str:
        """The reading that a text will probably give: for `--dry-run`, never for the undo."""
        ...

    def foreign(self, before: str, after: str, text: str) -> tuple[str, ...]:
        """Changed lines that a text has not made, also not beside itself in the sections that it changes."""
        kept = self.only_ours(before, after, text, None).splitlines()
        return tuple(line for line in after.splitlines() if line not in kept)

    def only_ours(self, before: str, now: str, text: str | None, after: str | None) -> str:
        """The reading without what others changed since `before`.

        text: what was being entered; after: the reading when it was complete, which is then used instead.
        """
        ...


@dataclass(frozen=True)
class TreeUndoing(Undoing):
    """Undoes configuration of a system that shows structure by indentation."""

    shell: Shell

    @property
    def grammar(self) -> Grammar:
        """What is particular to its lines."""
        return GRAMMARS.get(self.shell.grammar or "", Grammar())

    def read(self, printed: str) -> str:
        """As `Undoing.read`."""
        last = printed.rstrip().rpartition("\n")[2].strip()
        garbled = re.search(r"[^\s\x03\x20-\x7e\xa0-\ufffc]", printed)
        if garbled or (self.grammar.ends and last != self.grammar.ends):
            shown = (garbled[0] if garbled else hide_secrets(last)[-60:]).encode("unicode_escape").decode()
            raise LabError(
                f"`{self.shell.running}` printed no whole configuration: "
                + (
                    f"it holds `{shown}`."
                    if garbled
                    else f"its last line is `{shown}`, not `{self.grammar.ends}`."
                ),
                "enter the command by hand: paging, a busy device or a lost session cuts it short",
                code="not-understood",
            )
        return read_running(printed, self.shell)

    def parse(self, text: str) -> Tree:
        """The tree of a text or of a reading."""
        return parse(text, self.shell.comment)

    def commands(self, text: str) -> str:
        """As `Undoing.commands`."""
        return self._entered(self.parse(text))

    def undo(self, now: str, before: str) -> str:
        """As `Undoing.undo`: first all that is to go, what is used last; then all that comes back."""
        there, wanted = self.parse(now), self.parse(before)
        return self._entered(self._removals(there, wanted)) + self._entered(additions(there, wanted))

    def missing(self, text: str, now: str) -> tuple[str, ...]:
        """As `Undoing.missing`."""
        return tuple(list_missing(self.parse(text), self.parse(now), self.grammar))

    def lacking(self, text: str, now: str) -> str:
        """As `Undoing.lacking`."""
        return render_tree(find_lacking(self.parse(text), self.parse(now), self.grammar))

    def clashes(self, text: str, now: str) -> tuple[tuple[str, str], ...]:
        """As `Undoing.clashes`."""
        return tuple(list_clashes(self.parse(text), self.parse(now), self.grammar))

    def predict(self, before: str, text: str) -> str:
        """As `Undoing.predict`."""
        return render_tree(_merged(self.parse(before), self.parse(text), self.grammar))

    def foreign(self, before: str, after: str, text: str) -> tuple[str, ...]:
        """As `Undoing.foreign`."""
        claims = Claims.of_text(self.parse(text), self.grammar)
        changed = chain(*changed_paths(self.parse(before), self.parse(after)))
        return tuple(" / ".join(path) for path in changed if not claims.is_near(path))

    def only_ours(self, before: str, now: str, text: str | None, after: str | None) -> str:
        """As `Undoing.only_ours`."""
        old = self.parse(before)
        claims = (
            Claims.of_change(old, self.parse(after), self.grammar)
            if after
            else Claims.of_text(self.parse(text or ""), self.grammar)
        )
        return render_tree(keep_claimed(old, self.parse(now), claims))

    def _removals(self, now: Tree, before: Tree) -> Tree:
        inner = {
            line: gone
            for line, inside in now.items()
            if line in before and (gone := self._removals(inside, before[line]))
        }
        left = [line for line in reversed(now) if line not in before and not self._is_replaced(line, before)]
        return inner | {self.grammar.negate(line): {} for line in left}

    def _is_replaced(self, line: str, before: Tree) -> bool:
        """Whether what comes back takes its place: a line of its kind, or the one that it says is absent."""
        if re.match(self.grammar.overwritten, line):
            return any(re.match(self.grammar.overwritten, one) for one in before)
        founds = (re.match(pattern, one) for one in before for pattern in self.grammar.single)
        return line.startswith("no ") and any(one and one[0].strip() == without_no(line) for one in founds)

    def _entered(self, tree: Tree) -> str:
        return "".join(f"{line}\n" for line in self._lines(tree, 0))

    def _lines(self, tree: Tree, depth: int) -> Iterator[str]:
        for line, inside in tree.items():
            yield " " * depth + line
            if inside:
                yield from self._lines(inside, depth + 1)
                yield self.grammar.to_top if not depth and self.grammar.to_top else " " * depth + "exit"


def additions(now: Tree, before: Tree) -> Tree:
    """The part of the second tree that the first lacks, with the sections it is in."""
    found: Tree = {}
    for line, inside in before.items():
        if line not in now:
            found[line] = inside
        elif lacking := additions(now[line], inside):
            found[line] = lacking
    return found


def _merged(before: Tree, text: Tree, grammar: Grammar) -> Tree:
    """The tree after the text."""
    merged = dict(before)
    for line, inside in text.items():
        alike = next((one for one in merged if key(one) == key(line)), line)
        if line.startswith("no "):
            gone = without_no(line)
            merged = {one: own for one, own in merged.items() if not begins(one, gone)}
            continue
        for pattern in grammar.single:
            if found := re.match(pattern, line):
                words = found[0]
                merged = {
                    one: own
                    for one, own in merged.items()
                    if one == line or not (one.startswith(words) and re.match(pattern, one))
                }
        merged[alike] = _merged(merged.get(alike, {}), inside, grammar)
    return merged
