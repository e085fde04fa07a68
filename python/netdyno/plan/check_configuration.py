"""The configuration that each case enters on its device: templates must render, and keep to the lab."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netdyno.plan import Plan
from netdyno.plan.matrix import Case
from netdyno.plan.source import Source

if TYPE_CHECKING:
    from netdyno.devices.configure.mistakes import TemplateMistake

MOST = 256
"""Configurations that are rendered: a template may take a tenth of a second."""


def check_configuration(source: Source, plan: Plan, found: Iterable[Case]) -> None:
    """Reports the mistakes of templates that show without the device, each with the first case that has it.

    What depends on the device's running configuration is found when the case configures it.
    """
    kind = plan.kind
    if not plan.lab.configuration:
        return
    told: dict[tuple[str, int, str], tuple[TemplateMistake, list[str]]] = {}
    first = {tuple(case.settings.items()): case for case in reversed(tuple(found))}
    rendered = list(reversed(first.values()))[:MOST]
    mistaken = kind.driver.find_mistakes(kind.reached, [one.settings for one in rendered])
    for case, mistakes in zip(rendered, mistaken, strict=False):
        for mistake in mistakes:
            key = (mistake.template, mistake.line, mistake.why)
            told.setdefault(key, (mistake, []))[1].append(case.name)
    for mistake, names in told.values():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        source.report(
            ("lab", "nodes", plan.lab.device, "configuration"),
            f"{mistake} (case `{names[0]}`{more})",
            mistake.hint,
            code=mistake.code,
        )
