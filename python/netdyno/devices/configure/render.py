"""Finds the template of a case and renders it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.devices.configure.faults import TemplateFault
from netdyno.devices.configure.sandbox import expand, find_names
from netdyno.devices.configure.sources import explain_absence, find_source, finder, list_files, list_ready
from netdyno.devices.configure.unknown import Fields
from netdyno.devices.wiring import LabError, LabLink

PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")
"""In the name of a template: the value of that setting."""
MOST_TEMPLATES = 100
"""Templates that are searched for the settings they take."""


@dataclass(frozen=True)
class Rendered:
    """The configuration text of a case: lines of the device, each ended. places: of each line, where it
    stands in a template, `template:line`.
    """

    text: str
    places: tuple[str, ...]


def list_settings(written: str, driver: str, beside: Path | None = None) -> frozenset[str]:
    """The settings that a plan's `configuration` takes: those in its name, and those of its templates."""
    own = frozenset(PLACE.findall(written))
    names = set(_list_templates(written, driver, beside)) if own else {written}
    found, seen = set(own), set[str]()
    while names and len(seen) < MOST_TEMPLATES:
        name = names.pop()
        seen.add(name)
        try:
            source = find_source(name, driver, beside)
        except TemplateFault:
            continue
        if source is not None:
            needed, included = find_names(source)
            found |= needed
            names |= included - seen
    return frozenset(found) - {"settings", "ports", "links"}


def _list_templates(written: str, driver: str, beside: Path | None) -> Iterator[str]:
    """Ready templates, and files in one folder beside the plan, that a name with settings in it can mean."""
    parts = PLACE.split(written)[::2]
    folder, slash, _ = written.rpartition("/")
    found = (*list_ready(driver), *list_files(f"{folder}{slash}", beside))
    return (name for name in found if _can_mean(parts, name))


def _can_mean(parts: Sequence[str], name: str) -> bool:
    """Whether a name has these parts in order, with a text between each two."""
    at = len(parts[0])
    for part in parts[1:-1]:
        found = name.find(part, at + 1)
        if found < 0:
            return False
        at = found + len(part)
    return name.startswith(parts[0]) and name.endswith(parts[-1]) and at < len(name) - len(parts[-1])


def render(
    name: str,
    driver: str,
    settings: Mapping[str, str],
    links: Sequence[LabLink],
    beside: Path | None = None,
) -> str:
    """The text that `render_with_places` makes."""
    return render_with_places(name, driver, settings, links, beside).text


def render_with_places(
    name: str,
    driver: str,
    settings: Mapping[str, str],
    links: Sequence[LabLink],
    beside: Path | None = None,
    used: dict[str, str] | None = None,
) -> Rendered:
    """The configuration text of a case. used: gets the texts of the templates.

    name: of a ready template, or of a file below the plan's folder, `beside`. A template has `settings`, each
    setting by its own name too, `links`, and `ports`: the device's, link by link, of a LAG all. Raises
    LabError: `template-wrong`, and `wrong-format` for a setting with a control character.
    """
    try:
        return render_lines(name, settings, links, finder(driver, beside, {} if used is None else used))
    except TemplateFault as fault:
        place = f"{fault.name}:{fault.line}" if fault.line else fault.name
        why, hint = explain(fault, driver, beside)
        said = f"{why[0].upper()}{why[1:]}" if fault.absent == fault.name else f"Template {place}: {why}"
        raise LabError(f"{said}.", hint, code="template-wrong") from fault


def explain(fault: TemplateFault, driver: str, beside: Path | None) -> tuple[str, str]:
    """What is wrong with a template, a clause, and what to do."""
    if fault.absent is None:
        return fault.why, fault.hint
    return explain_absence(fault.absent, driver, beside)


def render_lines(
    name: str,
    settings: Mapping[str, str],
    links: Sequence[LabLink],
    find: Callable[[str], str | None],
    missing: Collection[tuple[str, str]] = (),
) -> Rendered:
    """The text that a template writes. Raises TemplateFault, LabError.

    find: the source of a template by its name. missing: values whose lack is known: a stand-in is written
    for each.
    """
    for key, value in settings.items():
        if not str(value).isprintable():
            shown = str(value).encode("unicode_escape").decode("ascii")[:60]
            raise LabError(
                f"Setting `{key}`: `{shown}` holds a line break or another control character.",
                "write the value on one line; several lines belong into the template",
                code="wrong-format",
            )
    values: dict[str, Any] = {
        "links": [_link(link) for link in links],
        "ports": [port for link in links for port in link.device_ports],
        "settings": Fields("`settings`", settings),
    }
    lines, places = expand(name, find, values | dict(settings) | values, missing)
    kept = [(line.rstrip(), place) for line, place in zip(lines, places, strict=True) if line.strip()]
    return Rendered("".join(f"{line}\n" for line, _ in kept), tuple(place for _, place in kept))


def _link(link: LabLink) -> Fields:
    """A link as templates have it."""
    vlans = [
        {
            "name": vlan.name,
            "vids": [vid for vid, _ in vlan.tags],
            "address": vlan.address,
            "gateway": vlan.gateway,
            "ipv6": vlan.ipv6,
            "gateway_ipv6": vlan.gateway_ipv6,
        }
        for vlan in link.vlans
    ]
    fields = {
        "name": link.tester_port,
        "device_port": link.device_port,
        "ports": list(link.device_ports),
        "rate_bps": link.rate_bps,
        "address": link.address,
        "gateway": link.gateway,
        "mac": link.mac,
        "vlans": [Fields("a VLAN", vlan) for vlan in vlans],
    }
    return Fields("a link", fields)
