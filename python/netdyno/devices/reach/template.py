"""The template of each case of a plan, for the ports of its device. No session is needed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.mistakes import TemplateMistake, find_mistakes
from netdyno.devices.configure.render import PLACE, Rendered, render_with_places
from netdyno.devices.configure.sources import list_ready
from netdyno.devices.configure.systems import find_allowed
from netdyno.devices.drivers.driver import Reached
from netdyno.devices.drivers.system import System
from netdyno.devices.wiring import LabError, LabLink


def render_case(
    system: System, reached: Reached, settings: Mapping[str, str], used: dict[str, str] | None = None
) -> Rendered:
    """What a case enters. used: gets the texts of the templates. Raises LabError `template-wrong`,
    `wrong-format`."""
    name = template_name(reached.configuration, settings)
    return render_with_places(name, system.name, settings, _links(system, reached), reached.folder, used)


def case_mistakes(
    system: System, reached: Reached, settings: Mapping[str, str]
) -> tuple[TemplateMistake, ...]:
    """The mistakes of a case's template that show without the device."""
    try:
        name = template_name(reached.configuration, settings)
        links, allowed = _links(system, reached), find_allowed_of(system, reached)
        return tuple(find_mistakes(name, system.name, settings, links, reached.folder, allowed))
    except LabError as error:
        return (TemplateMistake(error.code, reached.configuration, 0, error.message, error.hint),)


def case_templates(system: System, reached: Reached, settings: Mapping[str, str]) -> Mapping[str, str]:
    """The templates beside the plan that a case uses: name and text. Raises LabError as `render_case`."""
    used: dict[str, str] = {}
    render_case(system, reached, settings, used)
    ready = list_ready(system.name)
    return {name: text for name, text in used.items() if name not in ready}


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
