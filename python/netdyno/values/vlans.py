"""The table of the VLANs of a link: a row for each stream on one of several, over all trials of a case."""

from __future__ import annotations

from netdyno.values.finding import columns
from netdyno.values.situation import Place

TABLE = "VLANs"
WAY, VLAN = "between", "VLAN"
FREE, FREE_AT, WORST, WORST_AT = "loss-free load", "loss-free at", "highest loss", "lost at"
COLUMNS = columns(f"{WAY} | {VLAN} | {FREE}: fps | {FREE_AT} | {WORST}: share | {WORST_AT} | latency p99: ns")


def name_way(stream: str, place: Place) -> str:
    """What the streams of one direction and class are called, on whichever VLAN: `west-east, voice`."""
    way = stream.removesuffix(f"/{place.traffic}") if place.traffic else stream
    way = way.removesuffix(f"/{place.vlan}") if place.vlan else way
    return f"{way}, {place.traffic}" if place.traffic else way
