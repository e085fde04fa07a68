"""A plan for an external device as one for an emulated device behind a command line that stands in for it."""

from __future__ import annotations

import io
from collections.abc import Mapping, MutableMapping
from typing import Any

from ruamel.yaml import YAML

OF_THE_TESTER = ("workers", "cores")
OF_A_LINK = ("interface", "backend", "socket", "role", "id", "workers", "card")
NOT_THERE = ("snmp", "api")
"""Ways to read a device that a stand-in has not."""


def rehearsed(
    text: str, device: str, changes: Mapping[str, Any], included: Mapping[str, str]
) -> tuple[str, list[str]]:
    """The plan's text, and what of it is left out.

    device: the device's node. changes: what its node has instead. included: texts of files that the plan
    names, which are written out.
    """
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 110
    plan: MutableMapping[str, Any] = yaml.load(text)
    if isinstance(plan["lab"], str):
        plan["lab"] = yaml.load(included[plan["lab"]])
    nodes, left_out = plan["lab"]["nodes"], []
    for name, node in nodes.items():
        for key in NOT_THERE if name == device else OF_THE_TESTER:
            if node.pop(key, None) is not None and name == device:
                left_out.append(key)
    for link in plan["lab"]["links"]:
        for key in OF_A_LINK:
            link.pop(key, None)
    if plan.pop("watch", None) is not None:
        left_out.append("watch")
    nodes[device].update(changes)
    made = io.StringIO()
    yaml.dump(plan, made)
    return made.getvalue(), left_out
