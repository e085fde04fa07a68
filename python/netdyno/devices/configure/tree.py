"""Configuration of systems that show structure by indentation, as a tree of lines.

A tree maps each line, without its indentation, to the tree below it, in the order that the device prints.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import TypeAlias

from netdyno.devices.shell import Shell

Tree: TypeAlias = "dict[str, Tree]"
Path: TypeAlias = tuple[str, ...]

NOT_CONFIGURATION = (
    r"^Building configuration",
    r"^Current configuration ?:",
    r"^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} +\d",
    r"^end$",
    r"^: (Saved|end)",
    r"^\s*exit-[\w-]+$",
)
"""Lines that systems print with a running configuration and that are no part of it."""


def read_running(printed: str, shell: Shell) -> str:
    """The lines of a printed running configuration that do not change by themselves.

    Comments, blank lines and `Shell.volatile` are dropped: two readings are equal if nobody changed anything.
    """
    dropped = re.compile("|".join((*NOT_CONFIGURATION, *shell.volatile)))
    lines = (line.rstrip() for line in printed.replace("\r", "").split("\n"))
    kept = [
        line
        for line in lines
        if line and not line.lstrip().startswith(shell.comment) and not dropped.search(line)
    ]
    return "".join(f"{line}\n" for line in kept)


def parse(text: str, comment: str = "!") -> Tree:
    """The tree of a text. A section that stands twice is one; comments and blank lines are left out."""
    root: Tree = {}
    for _, path in numbered_paths(text, comment):
        inside = root
        for line in path:
            inside = inside.setdefault(line, {})
    return root


def numbered_paths(text: str, comment: str = "!") -> Iterator[tuple[int, Path]]:
    """The number of each line of a text, from 1, and its path; comments and blank lines are left out."""
    above: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        content = line.strip()
        if not content or content.startswith(comment):
            continue
        depth = len(line) - len(line.lstrip())
        while above and above[-1][0] >= depth:
            above.pop()
        above.append((depth, content))
        yield number, tuple(one for _, one in above)


def render_tree(tree: Tree, depth: int = 0) -> str:
    """A tree as text, one space a level."""
    return "".join(f"{' ' * depth}{line}\n{render_tree(inside, depth + 1)}" for line, inside in tree.items())


def paths(tree: Tree, above: Path = ()) -> Iterator[Path]:
    """The path of each line, sections before the lines in them."""
    for line, inside in tree.items():
        yield (*above, line)
        yield from paths(inside, (*above, line))


def at(tree: Tree, path: Path) -> Tree | None:
    """The tree below a path, whose lines need only be alike (`key`); None: there is no such line."""
    for wanted in path:
        alike = key(wanted)
        found = tree.get(wanted)
        if found is None:
            found = next((inside for line, inside in tree.items() if key(line) == alike), None)
        if found is None:
            return None
        tree = found
    return tree


def changed_paths(before: Tree, after: Tree) -> tuple[list[Path], list[Path]]:
    """Paths that only the second has, and paths that only the first has."""
    old, new = dict.fromkeys(paths(before)), dict.fromkeys(paths(after))
    return [path for path in new if path not in old], [path for path in old if path not in new]


def diff_text(before: str, after: str) -> str:
    """The lines that differ between two readings, `-` and `+`, below the sections they are in; empty: equal.

    Nothing else of them: what a case does not change, such as logins, is not in any record of it.
    """
    sides = (before.splitlines(), after.splitlines())
    found: list[str] = []
    shown: list[str] = []
    matcher = difflib.SequenceMatcher(None, *sides, autojunk=False)
    for kind, gone, gone_end, new, new_end in matcher.get_opcodes():
        if kind == "equal":
            continue
        for sign, lines, begin, end in (("-", sides[0], gone, gone_end), ("+", sides[1], new, new_end)):
            for number in range(begin, end):
                above = _sections_of(lines, number)
                same = next((n for n, one in enumerate(above) if shown[n : n + 1] != [one]), len(above))
                found += [f" {line}" for line in above[same:]]
                found.append(f"{sign}{lines[number]}")
                shown = [*above, lines[number]]
    return "".join(f"{line}\n" for line in found)


def _sections_of(lines: list[str], number: int) -> list[str]:
    """The lines that a line is below, outermost first."""
    depth = len(lines[number]) - len(lines[number].lstrip())
    found: list[str] = []
    for line in reversed(lines[:number]):
        own = len(line) - len(line.lstrip())
        if own < depth:
            found.append(line)
            depth = own
    return found[::-1]


def key(line: str) -> str:
    """A line as it is compared.

    Systems change case and the space before a number, merge VLAN lists, and number the rules of access lists.
    """
    plain = re.sub(r"(?<=[a-z]) +(?=\d)", "", " ".join(line.casefold().split()))
    plain = re.sub(r"^\d+ (?=permit |deny )", "", plain)
    return re.sub(r"\d+(?:[,-]\d+)+", _expanded, plain) if "vlan" in plain else plain


def begins(line: str, words: str) -> bool:
    """Whether a line begins with these words; systems differ in the space before a number."""
    own, wanted = line.casefold().split(), words.casefold().split()
    return own[: len(wanted)] == wanted or f"{key(line)} ".startswith(f"{key(words)} ")


def _expanded(found: re.Match[str]) -> str:
    numbers: set[int] = set()
    for part in found[0].split(","):
        first, _, last = part.partition("-")
        if not last.isdigit() and last:
            return found[0]
        low, high = int(first), int(last or first)
        if not low <= high <= 4095:
            return found[0]
        numbers.update(range(low, high + 1))
    return ",".join(str(number) for number in sorted(numbers))


def without_no(line: str) -> str:
    """The line that a `no` line removes; another line as it is."""
    return line[3:].lstrip() if line.startswith("no ") else line
