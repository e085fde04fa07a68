"""The configuration that each case enters on its device: templates must render, and keep to the lab."""

from __future__ import annotations

from collections.abc import Iterable

from netdyno.devices.kind import Configures
from netdyno.plan import Plan
from netdyno.plan.matrix import Case
from netdyno.plan.source import Source

MOST = 256
"""Configurations that are rendered: a template may take a tenth of a second."""


def check_configuration(source: Source, plan: Plan, found: Iterable[Case]) -> None:
    """Reports the mistakes of templates that show without the device, each with the first case that has it.

    What depends on the device's running configuration is found when the case configures it.
    """
    kind = plan.kind
    if not plan.lab.configuration or not isinstance(kind, Configures):
        return
    told: set[tuple[str, int, str]] = set()
    first = {tuple(case.settings.items()): case for case in reversed(tuple(found))}
    for case in list(reversed(first.values()))[:MOST]:
        for mistake in kind.find_mistakes(case.settings):
            key = (mistake.template, mistake.line, mistake.why)
            if key not in told:
                told.add(key)
                source.report(
                    ("lab", "nodes", plan.lab.device, "configuration"),
                    f"{mistake}, in case `{case.name}`",
                    mistake.hint,
                    code=mistake.code,
                )
