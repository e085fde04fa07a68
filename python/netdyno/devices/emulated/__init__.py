"""Emulated devices: rehearsals in virtual time. Nothing here is a measurement of a real device."""

from __future__ import annotations

from netdyno.devices.emulated.asr1000 import ASR1000_ESP20
from netdyno.devices.emulated.asr9006 import ASR9006, ASR9006_AT_ONCE
from netdyno.devices.emulated.ccr1072 import CCR1072
from netdyno.devices.emulated.isr4321 import ISR_4321
from netdyno.devices.emulated.plain import BRIDGE, CROSS_CONNECT, ROUTER
from netdyno.devices.emulated.s5860 import S5860

KINDS = (CROSS_CONNECT, BRIDGE, ROUTER, ASR9006, ASR9006_AT_ONCE, ASR1000_ESP20, S5860, CCR1072, ISR_4321)
"""Every emulated kind, in the order the reference pages list them."""
