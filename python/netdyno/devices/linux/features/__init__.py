"""What a Linux router can do to each packet, as a plan's `service` has it: one file each."""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices.linux.features.feature import Feature
from netdyno.values.table import load_table

MODULES = (
    "acl",
    "nat",
    "firewall",
    "urpf",
    "shaping",
    "flow_export",
)
"""Each has its features as `FEATURES`. In the order that help lists them."""

FEATURES: Mapping[str, Feature] = {
    feature.name: feature
    for feature in load_table(__name__, "FEATURES", Feature, MODULES)  # type: ignore[type-abstract]
}
"""Every feature, by the name a plan uses."""
