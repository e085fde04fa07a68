"""Packet sockets on an interface of the kernel."""

from __future__ import annotations

from fractions import Fraction

from netdyno.ports.backends.backend import Backend
from netdyno.ports.nic import fit

BACKEND = Backend(
    name="af_packet",
    noun="a packet socket",
    whose="a packet socket's",
    fit=fit.packet_fit,
    usual_fps=Fraction(340_000),
    restores_tags=True,
)
