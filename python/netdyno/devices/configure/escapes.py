"""Lines that are no configuration: they would leave configuration mode or run a command."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netdyno.devices.configure.refused import RefusedLine

LONGEST_LINE = 1000
"""Characters of a configuration line: systems cut longer ones."""

_WORDS = """
abort abo abor admin adm admi clear cl cle clea commit com comm commi configure conf confi config
configu configur copy cop debug deb delete del dele disable do do-exec end en erase era exec exit ex
exi format form help hw-module hw hw-mod load lo logout more pwd quit qu qui reload rel relo reloa
rename request restart rollback rol roll root ro roo run send setup show sh sho squeeze start telnet
tel tclsh terminal ter term test top undebug un undelete verify write wr wri writ zeroize
"""
COMMANDS = frozenset(_WORDS.split())
"""First words, as systems take them, that `allow:` does not allow either."""


def find_escapes(text: str, comment: str = "!") -> Iterator[RefusedLine]:
    """The lines of a text that are no configuration."""
    for number, line in enumerate(text.split("\n"), 1):
        if why := _why(line, comment):
            shown = line.strip()[:80].encode("unicode_escape").decode("ascii")
            yield RefusedLine(number, "", shown, why, is_command=True)


def _why(line: str, comment: str) -> str | None:
    if not line.isprintable():
        return "it holds a control character"
    if "?" in line:
        return "`?` asks the device for help"
    if len(line) > LONGEST_LINE:
        return f"it is longer than {LONGEST_LINE} characters"
    words = line.split()
    if not words or line.lstrip().startswith(comment):
        return None
    first = words[1] if words[0].lower() in ("no", "default") and len(words) > 1 else words[0]
    if first.lower() in COMMANDS:
        return "it is a command, no configuration"
    if re.search(r"[;|]|\\$", first):
        return "it holds a separator of commands"
    return None
