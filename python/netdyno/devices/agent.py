"""A device's SNMP agent, as far as a lab knows it."""

from __future__ import annotations

SETTING = "agent"
"""Of a router that netdyno makes: whether it has one."""

SNMP = "snmp"
VALUES = ("none", SNMP)

INDEX = "if_index"
"""Of an external device: the ifIndex (RFC 2863) of its port at the first tester port that sends."""


def index(text: str) -> int:
    """Parses an ifIndex. Raises ValueError with a sentence."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**31):
        raise ValueError(f"`{INDEX}` is not `{text}`: interfaces of SNMP are numbered from 1 (RFC 2863)")
    return int(text)
