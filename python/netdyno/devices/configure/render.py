"""Finds the template of a case and renders it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.devices.configure.sandbox import Expansion, expand_all, find_names
from netdyno.devices.configure.sources import (
    TemplateFault,
    explain_absence,
    find_source,
    list_files,
    list_ready,
)
from netdyno.devices.wiring import LabError, LabLink

PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")
"""In the name of a template: the value of that setting."""
MOST_TEMPLATES = 100
"""Templates that are searched for the settings they take."""


@dataclass(frozen=True)
class Rendered:
    """The configuration text of a case: lines of the device, each ended. places: of each line, where it
    stands in a template, `template:line`. faults: as in `Expansion`.
    """

    text: str
    places: tuple[str, ...]
    faults: tuple[TemplateFault, ...] = ()


def list_settings(written: str, driver: str, beside: Path | None = None) -> frozenset[str]:
    """The settings that a plan's `configuration` takes: those in its name, and those of its templates."""
    own = frozenset(PLACE.findall(written))
    names = _list_templates(written, driver, beside) if own else (written,)
    needed = (find_names(source)[0] for source in read_sources(names, driver, beside).values())
    return own.union(*needed) - {"settings", "ports", "links"}


def read_sources(names: Iterable[str], driver: str, beside: Path | None) -> dict[str, str]:
    """The sources of templates and of all that they include, by name; without those that cannot be read."""
    left, found = list(names), dict[str, str]()
    seen = set(left)
    while left and len(seen) <= MOST_TEMPLATES:
        name = left.pop()
        with suppress(TemplateFault):
            source = find_source(name, driver, beside)
            if source is not None:
                found[name] = source
                included = find_names(source)[1] - seen
                left += included
                seen |= included
    return found


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
) -> Rendered:
    """The configuration of a case.

    name: of a ready template, or of a file below the plan's folder, `beside`. A template has `settings`, each
    setting by its own name too, `links`, and `ports`: the device's, link by link, of a LAG all. Raises
    LabError: `template-wrong`, `process-ended`, and `wrong-format` for a setting with a control character.
    """
    check_settings(settings)
    (rendered,) = render_all([(name, settings)], driver, links, beside)
    for fault in rendered.faults:
        place = f"{fault.name}:{fault.line}" if fault.line else fault.name
        why, hint = explain(fault, driver, beside)
        said = f"{why[0].upper()}{why[1:]}" if fault.absent == fault.name else f"Template {place}: {why}"
        raise LabError(f"{said}.", hint, code="template-wrong")
    return rendered


def render_all(
    cases: Sequence[tuple[str, Mapping[str, str]]],
    driver: str,
    links: Sequence[LabLink],
    beside: Path | None,
) -> list[Rendered]:
    """The configurations of cases: the name of a template and settings each. Otherwise as `render`.

    Fewer than asked for if one takes too much time or memory: the last one says so.
    """
    common: dict[str, Any] = {
        "links": [_link(link) for link in links],
        "ports": [port for link in links for port in link.device_ports],
    }
    jobs = [(name, {**settings, **common, "settings": dict(settings)}) for name, settings in cases]
    return [_rendered(one) for one in expand_all(jobs, lambda name: find_source(name, driver, beside))]


def _rendered(found: Expansion) -> Rendered:
    kept = [
        (line.rstrip(), place) for line, place in zip(found.lines, found.places, strict=True) if line.strip()
    ]
    text = "".join(f"{line}\n" for line, _ in kept)
    return Rendered(text, tuple(place for _, place in kept), found.faults)


def check_settings(settings: Mapping[str, str]) -> None:
    """Raises LabError `wrong-format` for a setting that would write more than its place in a line."""
    for key, value in settings.items():
        if not str(value).isprintable():
            shown = str(value).encode("unicode_escape").decode("ascii")[:60]
            raise LabError(
                f"Setting `{key}`: `{shown}` holds a line break or another control character.",
                "write the value on one line; several lines belong into the template",
                code="wrong-format",
            )


def explain(fault: TemplateFault, driver: str, beside: Path | None) -> tuple[str, str | None]:
    """What is wrong with a template, a clause, and what to do."""
    if fault.absent is None:
        return fault.why, fault.hint
    return explain_absence(fault.absent, driver, beside)


def _link(link: LabLink) -> dict[str, Any]:
    """A link as templates have it."""
    return {
        "name": link.tester_port,
        "device_port": link.device_port,
        "ports": list(link.device_ports),
        "rate_bps": link.rate_bps,
        "address": link.address,
        "gateway": link.gateway,
        "mac": link.mac,
        "vlans": [
            {
                "name": vlan.name,
                "vids": [vid for vid, _ in vlan.tags],
                "address": vlan.address,
                "gateway": vlan.gateway,
                "ipv6": vlan.ipv6,
                "gateway_ipv6": vlan.gateway_ipv6,
            }
            for vlan in link.vlans
        ],
    }
