"""The template of each case of a plan, for the ports of its device. No session is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.mistakes import TemplateMistake, find_mistakes
from netdyno.devices.configure.render import PLACE, Rendered, check_settings, read_sources, render, render_all
from netdyno.devices.configure.sources import list_ready
from netdyno.devices.configure.systems import find_allowed
from netdyno.devices.drivers.driver import Reached
from netdyno.devices.drivers.system import System
from netdyno.devices.wiring import LabError, LabLink


def render_case(system: System, reached: Reached, settings: Mapping[str, str]) -> Rendered:
    """What a case enters. Raises LabError `template-wrong`, `wrong-format`."""
    name = template_name(reached.configuration, settings)
    return render(name, system.name, settings, _links(system, reached), reached.folder)


def find_case_mistakes(
    system: System, reached: Reached, cases: Sequence[Mapping[str, str]]
) -> Iterator[tuple[TemplateMistake, ...]]:
    """The mistakes of each case's template that show without the device; settings of each case.

    Behind a case that takes too much time or memory, which its mistake says, none is rendered.
    Raises LabError `process-ended`.
    """
    names = [_name_or_mistake(reached, settings) for settings in cases]
    named = [(one, settings) for one, settings in zip(names, cases, strict=True) if isinstance(one, str)]
    every = iter(render_all(named, system.name, _links(system, reached), reached.folder))
    allowed = find_allowed_of(system, reached)
    for name in names:
        if isinstance(name, TemplateMistake):
            yield (name,)
        elif (rendered := next(every, None)) is None:
            yield ()
        else:
            yield tuple(find_mistakes(rendered, name, system.name, reached.folder, allowed))


def _name_or_mistake(reached: Reached, settings: Mapping[str, str]) -> str | TemplateMistake:
    try:
        check_settings(settings)
        return template_name(reached.configuration, settings)
    except LabError as error:
        return TemplateMistake(error.code, reached.configuration, 0, error.message, error.hint)


def read_case_templates(system: System, reached: Reached, settings: Mapping[str, str]) -> Mapping[str, str]:
    """The templates beside the plan that a case uses: name and text. Raises LabError."""
    name = template_name(reached.configuration, settings)
    ready = list_ready(system.name)
    found = read_sources([name], system.name, reached.folder)
    return {name: text for name, text in found.items() if name not in ready}


def find_allowed_of(system: System, reached: Reached, places: tuple[str, ...] = ()) -> Allowed:
    """What a case may change on the device of a plan. places: as in `Allowed`."""
    ports = tuple(map(system.long_name, reached.ports))
    return find_allowed(system.shell, ports, reached.access.allow if reached.access else (), places)


def template_name(written: str, settings: Mapping[str, str]) -> str:
    """The template of a case: `{name}` stands for the value of that setting. Raises LabError."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in settings:
            raise LabError(
                f"the case has no setting `{found[1]}`",
                f"its settings: {', '.join(settings) or 'none'}",
                code="template-wrong",
            )
        return settings[found[1]]

    return PLACE.sub(value, written)


def _links(system: System, reached: Reached) -> tuple[LabLink, ...]:
    """The links with the device's ports as the system writes them."""
    return tuple(
        replace(
            link,
            device_port=system.long_name(link.device_port),
            members=tuple(map(system.long_name, link.members)),
        )
        for link in reached.links
    )
