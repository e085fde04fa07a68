"""Finds the template of a case and renders it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from netdyno.devices.configure.sandbox import TemplateFault, expand, find_names, stand_in
from netdyno.devices.wiring import LabError, LabLink
from netdyno.errors import suggestion

READY = Path(__file__).parent / "templates"
PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")
"""In the name of a template: the value of that setting."""
LONGEST_TEMPLATE = 100_000
"""Bytes of a template's file."""
MOST_TEMPLATES = 100
"""Templates that are searched for the settings they take."""
MOST_FILES = 1000
"""Files of a folder beside the plan that are looked at."""


@dataclass(frozen=True)
class Rendered:
    """The configuration text of a case: lines of the device, each ended. places: of each line, where it
    stands in a template, `template:line`.
    """

    text: str
    places: tuple[str, ...]


def list_ready(driver: str) -> tuple[str, ...]:
    """Names of the ready templates for a driver."""
    return tuple(sorted(path.stem for path in (READY / driver).glob("*.j2")))


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
    names = [*list_ready(driver)]
    if beside is not None and _is_name(folder or "-"):
        with suppress(OSError):
            here = (beside / folder).iterdir()
            names += [f"{folder}{slash}{path.name}" for path in islice(here, MOST_FILES)]
    return (name for name in names if _can_mean(parts, name))


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
        hint = hint_for(fault, name, driver, settings)
        raise LabError(f"Template {place}: {fault.why}.", hint, code="template-wrong") from fault


def finder(driver: str, beside: Path | None, used: dict[str, str]) -> Callable[[str], str | None]:
    """Finds templates by their names, and keeps the texts of those that were found in `used`."""

    def find(name: str) -> str | None:
        source = find_source(name, driver, beside)
        if source is not None:
            used[name] = source
        return source

    return find


def render_lines(
    name: str,
    settings: Mapping[str, str],
    links: Sequence[LabLink],
    find: Callable[[str], str | None],
    missing: Collection[str] = (),
) -> Rendered:
    """The text that a template writes. Raises TemplateFault, LabError.

    find: the source of a template by its name. missing: names whose lack is known, and no fault.
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
        **{name: stand_in(name) for name in missing},
        **settings,
        "settings": dict(settings),
        "ports": [port for link in links for port in link.device_ports],
        "links": [_link(link) for link in links],
    }
    lines, places = expand(name, find, values)
    kept = [(line.rstrip(), place) for line, place in zip(lines, places, strict=True) if line.strip()]
    return Rendered("".join(f"{line}\n" for line, _ in kept), tuple(place for _, place in kept))


def hint_for(fault: TemplateFault, name: str, driver: str, settings: Mapping[str, str]) -> str:
    """What helps against a fault of a template: the ready ones, or what it may use."""
    if fault.why.startswith("there is no"):
        return suggestion(name, list_ready(driver), f"ready for `{driver}`")
    return f"settings: {', '.join(settings) or 'none'}"


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


def _is_name(text: str) -> bool:
    """Whether a text is the name of a file below the plan's folder."""
    return re.fullmatch(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)*", text) is not None


def find_source(name: str, driver: str, beside: Path | None) -> str | None:
    """The source of a template. A file that a link leads out of the plan's folder is none of it."""
    if not _is_name(name):
        return None
    ready = READY / driver / f"{name}.j2"
    if "/" not in name and ready.is_file():
        return ready.read_text(encoding="utf-8")
    if beside is None:
        return None
    path = (beside / name).resolve()
    if not path.is_relative_to(beside.resolve()) or not path.is_file():
        return None
    try:
        if path.stat().st_size > LONGEST_TEMPLATE:
            raise TemplateFault(name, 0, f"it is longer than {LONGEST_TEMPLATE:,} bytes")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TemplateFault(name, 0, f"it cannot be read: {error}") from error
