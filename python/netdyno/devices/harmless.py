"""Words in what a device prints that announce a secret elsewhere, but none here, and columns of counters."""

from __future__ import annotations

import re

_END = r"(?=[ \t]*\r?(?:\n|\Z))"
_COMMUNITY = r"\(?\d{1,10}(?::\d{1,10}){1,2}(?![^\s,)])"
_WELL_KNOWN = (
    r"internet|local-as|no-(?:advertise|export|peer)|none|gshut|graceful-shutdown|blackhole|additive"
)

_ANYWHERE = re.compile(
    rf"(?ai)(?<=\bmatch )community\b"
    rf"|(?<![\w-])communit(?:y|ies):[ \t]*{_COMMUNITY}"
    rf"|(?<=\bset )community[ \t]+(?:{_COMMUNITY}|(?:{_WELL_KNOWN}){_END}|\S{{1,64}}[ \t]+additive{_END})"
    rf"|authentication[ \t]+failures?[ \t]*:?[ \t]*\d{{1,20}}(?:,|{_END})"
    rf"|authentication[ \t]+(?:rsa-sig|rsa-encr|ecdsa-sig){_END}"
    rf"|(?:authentication[ \t]+)?md5[ \t]+key-chain[ \t]+\S{{1,64}}{_END}"
    rf"|passwords?[ \t]+(?:min-length[ \t]+\d{{1,3}}|encryption[ \t]+aes){_END}"
    rf"|(?<=\bbgp-)community[ \t]+new-format{_END}"
    rf"|tokens:?[ \t]+-?\d{{1,20}}(?:,|{_END}|(?=[ \t]+ctokens\b))"
    rf"|(?:(?<=\btunnel )|(?<=\btrusted-))key[ \t]+\d{{1,10}}{_END}"
)
"""Of routes, counters, tc, tunnels and the like. Only with values that no secret has."""

_METHODS = r"(?:[ \t]+(?:dot1x|mab|webauth)){1,3}"
_AT_BEGIN = re.compile(
    rf"(?ai)authentication[ \t]+(?:(?:open|periodic){_END}|(?:order|priority){_METHODS}{_END}"
    rf"|port-control[ \t]+(?:auto|force-authorized|force-unauthorized){_END}"
    rf"|host-mode[ \t]+(?:multi-(?:auth|domain|host)|single-host){_END}"
    rf"|violation[ \t]+(?:protect|replace|restrict|shutdown){_END}"
    rf"|timer[ \t]+(?:inactivity|reauthenticate|restart)[ \t]+(?:\d{{1,5}}|server){_END}"
    r"|event[ \t]+(?:fail|no-response|server[ \t]+(?:alive|dead))[ \t]+action[ \t])"
    rf"|key[ \t]+\d{{1,2}}{_END}"
    rf"|(?-i:Key)[ \t]+(?:disabled|enabled)(?:,|{_END})"
)
"""With nothing before them in the line. `key 1` is the number of a key, of a key chain."""
_MOST_BEFORE = 64
_BEFORE = ("", "no", "default")

_LEAST_COLUMNS = 9
"""More than a line of a certificate has."""


def is_harmless(text: str, at: int) -> bool:
    """Whether the word that begins here, which can announce a secret, stands before none."""
    if _ANYWHERE.match(text, at):
        return True
    if _AT_BEGIN.match(text, at) is None:
        return False
    begin = max(at - _MOST_BEFORE, 0)
    line = text.rfind("\n", begin, at) + 1
    return (line > 0 or begin == 0) and text[line:at].strip("-+ \t") in _BEFORE


def is_counters(columns: str) -> bool:
    """Whether these hexadecimal columns are decimal, or counters as in /proc/net/softnet_stat."""
    numbers = columns.split()
    if "".join(numbers).isdigit():
        return True
    small = sum(one.startswith("0000") for one in numbers)
    return len(numbers) >= _LEAST_COLUMNS and 2 * small >= len(numbers)
