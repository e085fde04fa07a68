"""A plan for an external device as one for an emulated device behind a command line that stands in for it."""

from __future__ import annotations

import io
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from netdyno.plan.overrides import LAB, names_lab, put, split
from netdyno.plan.source import read_text

if TYPE_CHECKING:
    from netdyno.plan import Plan

OF_THE_TESTER = ("workers", "cores", "host")
OF_A_LINK = ("interface", "lag", "backend", "socket", "role", "id", "workers", "card")
OF_A_VLAN = ("address", "gateway", "mac")
NOT_THERE = ("snmp", "api")
"""Ways to read a device that a stand-in has not."""


def rehearsed(
    read: Plan, changes: Mapping[str, Any], *, has_routing: bool
) -> tuple[str, list[str], list[str]]:
    """The plan's text, with its lab written out; what of it is left out; and what is to be put into it still.

    changes: what the device's node has instead. has_routing: the stand-in has a table and neighbours.
    """
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 110
    plan: MutableMapping[str, Any] = yaml.load(read.text)
    later = []
    for text in sorted(read.overrides, key=lambda text: not names_lab(text)):
        path, value = split(text)
        if isinstance(plan.get(LAB), str) and not names_lab(text):
            plan[LAB] = yaml.load(read.included[plan[LAB]])
        # What is set in the lab gives way to what stands in for the device; in profiles there may be more.
        if path.startswith("traffic"):
            later.append(text)
        else:
            put(plan, path, read_text(value, path).value)
    if isinstance(plan[LAB], str):
        plan[LAB] = yaml.load(read.included[plan[LAB]])
    device = read.lab.device
    nodes, left_out = plan["lab"]["nodes"], []
    for name, node in nodes.items():
        for key in NOT_THERE if name == device else OF_THE_TESTER:
            if node.pop(key, None) is not None and name == device:
                left_out.append(key)
    # One tester in place of one on each host.
    plan["lab"].pop("hosts", None)
    testers = [name for name in nodes if name != device]
    for link in plan["lab"]["links"]:
        ends = link["endpoints"]
        for place, end in enumerate(ends):
            node, _, port = end.partition(":")
            ends[place] = f"{testers[0]}:{port}" if node in testers[1:] else end
    for name in testers[1:]:
        del nodes[name]
    speakers = [] if has_routing else [link.pop("routing", None) for link in plan["lab"]["links"]]
    if any(one is not None for one in speakers):
        left_out.append("routing")
    # What a stand-in has in its table stays there.
    bgps = [link.speaker.bgp for link in read.lab.links if link.speaker and link.speaker.bgp]
    if has_routing and any(one.withdraw or one.withdraw_ipv6 for one in bgps):
        left_out.append("withdraw")
    for link in plan["lab"]["links"]:
        for key in OF_A_LINK:
            link.pop(key, None)
        for vlan in link.get("vlans", ()):
            # An emulated router has addresses of its own there.
            for key in OF_A_VLAN:
                vlan.pop(key, None)
    # A stand-in's ports are no LAGs whose members die.
    methods = plan.get("method", {}) if any(link.lag for link in read.lab.links) else {}
    if isinstance(methods, MutableMapping) and (methods.get("soak") or {}).pop("failures", None):
        left_out.append("failures")
    watch = plan.get("watch", {})
    lacking = [key for key in ("ping", *([] if has_routing else ["adjacencies"])) if watch.pop(key, None)]
    if lacking and not watch:
        plan.pop("watch")
    left_out += lacking if watch else ["watch"] if lacking else []
    nodes[device].update(changes)
    made = io.StringIO()
    yaml.dump(plan, made)
    return made.getvalue(), left_out, later
