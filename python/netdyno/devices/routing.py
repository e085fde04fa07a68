"""How a router that netdyno makes learns its routes, as far as a lab knows it."""

from __future__ import annotations

SETTING = "routing"

STATIC = "static"
RIP = "rip"
"""RIP version 2 (RFC 2453): it learns and announces nothing."""
OSPF = "ospf"
"""OSPF version 2 (RFC 2328) with a neighbour on a link of its own. Routes to test traffic stay static."""
BGP = "bgp"
"""That, and BGP (RFC 4271) with the same neighbour, which announces the networks of the test traffic."""

BIRD = "bird"
"""BIRD 2 with the tester's speakers as its neighbours, by what the links say."""

FRR = "frr"
"""FRR in its place."""
WITH_SPEAKERS = (BIRD, FRR)
WITHOUT_NEIGHBOUR = (STATIC, RIP)
WITH_NEIGHBOUR = (OSPF, BGP)
