"""Which lines of a text a device has already, of systems that show structure by indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netdyno.devices.configure.grammars import Grammar
from netdyno.devices.configure.tree import Tree, begins, key, without_no


def list_missing(text: Tree, now: Tree, grammar: Grammar, above: str = "") -> Iterator[str]:
    """Lines of a text that are not in effect, each with its sections before it."""
    for line, inside in text.items():
        if re.match("default ", line):
            continue
        there = grammar.find(line, now)
        if there is not None:
            yield from list_missing(inside, there, grammar, f"{above}{line} / ")
        elif line.startswith("no "):
            gone = without_no(line)
            again = any(begins(other, gone) for other in text if other != line)
            if not again and any(begins(other, gone) for other in now):
                yield above + line
        elif not grammar.is_default(line, now):
            yield above + line
            yield from list_missing(inside, {}, grammar, f"{above}{line} / ")


def find_lacking(text: Tree, now: Tree, grammar: Grammar) -> Tree:
    """The part of a text that is to be entered, with the sections it is in."""
    found: Tree = {}
    entered: list[str] = []
    for line, inside in text.items():
        there = grammar.find(line, now)
        if there is not None and not _is_taken_away(line, entered, grammar):
            if part := find_lacking(inside, there, grammar):
                found[line] = part
        elif not _is_done(line, text, now, grammar) or _is_taken_away(line, entered, grammar):
            found[line] = inside
            entered.append(line)
    return found


def list_clashes(
    text: Tree, now: Tree, grammar: Grammar, whole: Tree | None = None
) -> Iterator[tuple[str, str]]:
    """Lines of a text that cannot stand beside one of the device, which no line of the text removes."""
    whole = now if whole is None else whole
    for line, inside in text.items():
        if (there := grammar.find(line, now)) is not None:
            yield from list_clashes(inside, there, grammar, whole)
            continue
        removed = [without_no(one) for one in text if one.startswith("no ")]
        patterns = [other for one, other in grammar.excludes if re.match(one, line)]
        for old in now:
            is_removed = any(begins(old, one) for one in removed)
            if not is_removed and any(re.match(pattern, old) for pattern in patterns):
                yield line, old
        if grammar.named and (name := re.match(grammar.named, line)):
            yield from _name_clashes(name, now, grammar, whole)


def _name_clashes(new: re.Match[str], now: Tree, grammar: Grammar, whole: Tree) -> Iterator[tuple[str, str]]:
    """What goes by the name that an interface has, or by the one that it is given: it would go with it."""
    own = [found[1] for old in now if (found := re.match(grammar.named, old))]
    for line, inside in whole.items():
        if inside is not now and new[0] in inside:
            yield new[0], f"{line} / {new[0]}"
        if any(name in line.split() for name in own):
            yield new[0], line


def _is_done(line: str, text: Tree, now: Tree, grammar: Grammar) -> bool:
    """Whether a line that is not printed is in effect."""
    if not line.startswith("no "):
        return not line.startswith("default ") and grammar.is_default(line, now)
    gone = without_no(line)
    if grammar.is_absent(gone, now):
        return True
    # What is removed and entered again is there as it will be.
    again = [one for one in text if one != line and begins(one, gone)]
    there = {one: now[one] for one in now if begins(one, gone)}
    return bool(again) and bool(there) and _plain(there) == _plain({one: text[one] for one in again})


def _is_taken_away(line: str, entered: list[str], grammar: Grammar) -> bool:
    """Whether lines that are entered before it remove it."""
    return any(
        (one.startswith("no ") and begins(line, without_no(one)))
        or any(re.match(first, one) and re.match(also, line) for first, also in grammar.resets)
        for one in entered
    )


def _plain(tree: Tree) -> Tree:
    return {key(line): _plain(inside) for line, inside in tree.items()}
