"""Counters of ports that the command lines of several systems print alike, as patterns."""

from __future__ import annotations

from collections.abc import Iterable

from netdyno.devices.drivers.reading import Quantity, Reading
from netdyno.devices.live import Channel

OF_TRAFFIC = ("rx_packets", "tx_packets")
"""Of these a port of the lab counts what the test sends."""


def port_counter(port: str, name: str) -> Channel:
    """The channel of a counter of 64 bits of a port. Its unit is in its name."""
    unit = "bytes" if name.endswith("_bytes") else "packets"
    return Channel(port, name, unit, is_counter=True, counts_traffic=name in OF_TRAFFIC, bits=64)


def counter(name: str, pattern: str, bits: int | None = 64, unshown: str = "") -> Quantity:
    """A counter of a port. Its unit is in its name."""
    unit = "bytes" if name.endswith("_bytes") else "packets"
    is_traffic = name in OF_TRAFFIC
    return Quantity(
        name, unit, pattern, is_counter=True, counts_traffic=is_traffic, bits=bits, unshown=unshown
    )


def counters(
    command: str,
    patterns: Iterable[tuple[str, str]],
    bits: int | None = 64,
    unshown: str = "",
    beside: tuple[Quantity, ...] = (),
    lines: str = "",
) -> Reading:
    """The counters of each port of the lab, read every second by one command a port.

    unshown: as `Quantity` has it. beside: gauges and averages that the same text has. lines: as of `Reading`.
    """
    found = tuple(counter(name, pattern, bits, unshown) for name, pattern in patterns)
    return Reading("counters and drops", command, 1.0, (*found, *beside), is_optional=False, lines=lines)


COUNTED_LINES = (
    r"^(?P<broken>[ \t]*\d+)$"
    r"|^(?![ \t]*Description)[^\n]*\d ?(?:packets (?:in|out)put\b|(?:in|out)put errors\b)"
)
"""Lines of the counters of `CISCO`, and a number alone: the begin of one of them."""

CISCO = (
    ("rx_packets", r"^[ \t]*(?P<n>\d+) ?packets input, \d+ ?bytes"),
    ("rx_bytes", r"^[ \t]*\d+ ?packets input, (?P<n>\d+) ?bytes"),
    ("in_errors", r"^[ \t]*(?P<n>\d+) input errors\b"),
    ("tx_packets", r"^[ \t]*(?P<n>\d+) ?packets output, \d+ ?bytes"),
    ("tx_bytes", r"^[ \t]*\d+ ?packets output, (?P<n>\d+) ?bytes"),
    ("out_errors", r"^[ \t]*(?P<n>\d+) output errors\b"),
)
"""As IOS, IOS XE, IOS XR, ASA and FSOS print them."""
PAUSES = (
    ("in_pauses", r"^[^\n]{0,80}?\b(?P<n>\d+) pause input\b"),
    ("out_pauses", r"^[^\n]{0,80}?\b(?P<n>\d+) pause output\b"),
)
"""Frames of flow control, as IOS, IOS XE and ASA print them."""

_AVERAGED = r"^[ \t]*(?:(?P<window>\d{1,5}) seconds?|(?P<minutes>\d{1,4}) minutes?)"
CISCO_RATES = (
    Quantity("rx_bit_rate", "bit/s", rf"{_AVERAGED} input rate *:? (?P<n>\d+) bits/sec"),
    Quantity(
        "rx_packet_rate", "packets/s", rf"{_AVERAGED} input rate *:? \d+ bits/sec, (?P<n>\d+) packets/sec"
    ),
    Quantity("tx_bit_rate", "bit/s", rf"{_AVERAGED} output rate *:? (?P<n>\d+) bits/sec"),
    Quantity(
        "tx_packet_rate", "packets/s", rf"{_AVERAGED} output rate *:? \d+ bits/sec, (?P<n>\d+) packets/sec"
    ),
)
"""Averages as IOS, IOS XE, IOS XR and FSOS print them, over the window that they name."""

STATE = r"^\S[^\n]{0,100}? is (?P<n>[\w -]{1,40}?), line protocol is (?:administratively )?\w+"
"""The state of a port in `show interfaces`."""

REFUSED = (
    r"^% ?(?:Invalid|Incomplete|Ambiguous|Unknown|Unrecognized|Bad|Error|Access denied|Authorization)[^\n]*",
    r"^Command authorization failed[^\n]*",
)
"""Lines by which these systems refuse a command."""

ECHO = 'echo net""dyno-{number}'
"""Of any shell, typed in another way than it prints."""
NO_COMMAND = (r"^(?:\S+: ){0,3}\S+: command not found", r"^\S*sh: [^\n]*: not found$")
"""The same of a shell."""

IOS_DATED = (
    r"^Building configuration",
    r"^Current configuration : \d+ bytes",
    r"^! (?:Last configuration change|NVRAM config last updated|No configuration change)[^\n]*",
    r"^ntp clock-period \d+",
)
"""Lines of IOS's running configuration that change by themselves."""
