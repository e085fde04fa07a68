"""Whether a router learns routes by RIP version 2 (RFC 2453), as far as a lab knows it."""

from __future__ import annotations

SETTING = "routing"
"""Of a router that netdyno makes."""

STATIC = "static"
RIP = "rip"
VALUES = (STATIC, RIP)
