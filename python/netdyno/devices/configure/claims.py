"""Which changes of a configuration are ours, where an administrator may have made others since."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain

from netdyno.devices.configure.grammars import Grammar
from netdyno.devices.configure.tree import Path, Tree, changed_paths, key, paths, without_no

_TWO_WORDS = ("ip", "ipv4", "ipv6")


@dataclass(frozen=True)
class Claims:
    """Lines that we have entered or may have, with `no` taken away, as they are compared.

    topics: section and first word of each, for what a line replaces. replaced: section and first words of
    those of which there is one (`Grammar.single`). removed: of `no` lines. resets: section, and pattern of
    the lines there, that a line removes beside itself (`Grammar.resets`). brought: the same of lines that
    come with one (`Grammar.brings`).
    """

    lines: frozenset[Path]
    topics: frozenset[tuple[Path, str]]
    removed: frozenset[Path]
    resets: frozenset[tuple[Path, str]]
    brought: frozenset[tuple[Path, str]]
    replaced: frozenset[tuple[Path, str]]

    @classmethod
    def of_text(cls, text: Tree, grammar: Grammar) -> Claims:
        """Of a text that may have been entered in part."""
        every = list(paths(text))
        gone = (path for path in every if path[-1].startswith("no "))
        return cls._of(every, [_plain(path) for path in gone], grammar)

    @classmethod
    def of_change(cls, before: Tree, after: Tree, grammar: Grammar) -> Claims:
        """Of a change that was read back complete, and may have been undone in part."""
        return cls._of(list(chain(*changed_paths(before, after))), [], grammar)

    @classmethod
    def _of(cls, every: list[Path], removed: list[Path], grammar: Grammar) -> Claims:
        inner = [(_plain(path)[:-1], without_no(path[-1])) for path in every if len(path) > 1]
        resets, brought = (
            frozenset((above, also) for above, line in inner for one, also in pairs if re.match(one, line))
            for pairs in (grammar.resets, grammar.brings)
        )
        return cls(
            frozenset(_plain(path) for path in every),
            frozenset((above, _topic(line)) for above, line in inner),
            frozenset(removed),
            resets,
            brought,
            frozenset(
                (_plain(path)[:-1], key(found[0]))
                for path in every
                for pattern in grammar.single
                if (found := re.match(pattern, path[-1]))
            ),
        )

    def has_added(self, path: Path) -> bool:
        """Whether a line that was not there before is ours.

        Also one of ours that is absent, where systems print that: `no ip address`; and what comes with ours.
        """
        plain = _plain(path)
        is_absent = path[-1].startswith("no ") and (plain[:-1], _topic(plain[-1])) in self.topics
        comes_with = any(above == plain[:-1] and re.match(also, path[-1]) for above, also in self.brought)
        return plain in self.lines or is_absent or comes_with

    def is_near(self, path: Path) -> bool:
        """Whether a changed line is ours, or in a section of which a line is ours."""
        plain = _plain(path)
        above = (plain[:depth] for depth in range(1, len(plain)))
        return plain in self.lines or self.has_removed(path, False) or any(one in self.lines for one in above)

    def has_removed(self, path: Path, is_section: bool) -> bool:
        """Whether it is ours that a line is gone: replaced, removed, or reset by a line beside it."""
        plain, line = _plain(path), without_no(path[-1])
        if plain in self.lines or any(self._covers(gone, plain) for gone in self.removed):
            return True
        if is_section:
            return False
        if any(above == plain[:-1] and plain[-1].startswith(f"{begin} ") for above, begin in self.replaced):
            return True
        is_reset = any(above == plain[:-1] and re.match(also, line) for above, also in self.resets)
        return is_reset or (plain[:-1], _topic(line)) in self.topics

    @staticmethod
    def _covers(gone: Path, path: Path) -> bool:
        depth = len(gone) - 1
        if len(path) <= depth or path[:depth] != gone[:-1]:
            return False
        return f"{path[depth]} ".startswith(f"{gone[-1]} ")


def keep_claimed(before: Tree, now: Tree, claims: Claims, above: Path = ()) -> Tree:
    """`before` with the changes in `now` that are ours, and no others."""
    found: Tree = {}
    for line, inside in now.items():
        path = (*above, line)
        if line in before or claims.has_added(path):
            found[line] = keep_claimed(before.get(line, {}), inside, claims, path)
    for line, inside in before.items():
        if line not in now and not claims.has_removed((*above, line), bool(inside)):
            found[line] = inside
    return found


def _plain(path: Path) -> Path:
    return (*(key(line) for line in path[:-1]), key(without_no(path[-1])))


def _topic(line: str) -> str:
    words = line.casefold().split()
    return " ".join(words[:2] if words[0] in _TWO_WORDS else words[:1])
