"""The configuration that a text will probably give, for `--dry-run`: no device is asked."""

from __future__ import annotations

import re

from netdyno.devices.configure.grammars import Grammar
from netdyno.devices.configure.tree import Tree, key, render_tree, without_no


def predict(before: Tree, text: Tree, grammar: Grammar) -> str:
    """A reading after the text, as text."""
    return render_tree(_merged(before, text, grammar))


def _merged(before: Tree, text: Tree, grammar: Grammar) -> Tree:
    merged = dict(before)
    for line, inside in text.items():
        alike = next((one for one in merged if key(one) == key(line)), line)
        if line.startswith("no "):
            gone = key(without_no(line))
            merged = {one: own for one, own in merged.items() if not f"{key(one)} ".startswith(f"{gone} ")}
            continue
        for pattern in grammar.single:
            if found := re.match(pattern, line):
                words = found[0]
                merged = {one: own for one, own in merged.items() if not one.startswith(words) or one == line}
        merged[alike] = _merged(merged.get(alike, {}), inside, grammar)
    return merged
