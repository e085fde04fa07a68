"""Routing protocols with neighbours, as far as a lab knows them: of a router that netdyno builds."""

from __future__ import annotations

from netdyno.devices import rip

SETTING = rip.SETTING

OSPF = "ospf"
"""OSPF version 2 (RFC 2328) with a neighbour on a link of its own. Routes to test traffic stay static."""

BGP = "bgp"
"""That, and BGP (RFC 4271) with the same neighbour, which announces the networks of the test traffic."""

WITH_NEIGHBOUR = (OSPF, BGP)
VALUES = (*rip.VALUES, *WITH_NEIGHBOUR)
