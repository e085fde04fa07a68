"""Emulated devices: rehearsals in virtual time. Nothing here is a measurement of a real device."""

from __future__ import annotations

from netdyno.devices.emulated.model import Emulated
from netdyno.values.table import load_table

MODULES = (
    "plain",
    "path",
    "asr9006",
    "asr1000",
    "s5860",
    "ccr1072",
    "isr4321",
    "isr881",
)
"""Each has its kind, or several, as `KIND`. In the order the reference pages list them."""

KIND = load_table(__name__, "KIND", Emulated, MODULES)
"""Every emulated kind."""
