"""Finds the template of a case and renders it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from netdyno.devices.configure.sandbox import TemplateFault, expand, find_names
from netdyno.devices.wiring import LabError, LabLink
from netdyno.errors import suggestion

READY = Path(__file__).parent / "templates"
PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")
"""In the name of a template: the value of that setting."""
LONGEST_TEMPLATE = 100_000
"""Bytes of a template's file."""


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
    pattern = re.compile(".+".join(map(re.escape, PLACE.split(written)[::2])))
    names = {name for name in list_ready(driver) if pattern.fullmatch(name)}
    names |= set() if own else {written}
    sources = (_find(name, driver, beside) for name in names)
    try:
        found = [find_names(source) for source in sources if source is not None]
    except TemplateFault:
        found = []
    return (own | frozenset().union(*found)) - {"settings", "ports", "links"}


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
) -> Rendered:
    """The configuration text of a case.

    name: of a ready template, or of a file below the plan's folder, `beside`. A template has `settings`, each
    setting by its own name too, `links`, and `ports`: the device's, link by link, of a LAG all. Raises
    LabError: `template-wrong`, and `wrong-format` for a setting with a control character.
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
        **settings,
        "settings": dict(settings),
        "ports": [port for link in links for port in link.device_ports],
        "links": [_link(link) for link in links],
    }
    try:
        lines, places = expand(name, partial(_find, driver=driver, beside=beside), values)
    except TemplateFault as fault:
        place = f"{fault.name}:{fault.line}" if fault.line else fault.name
        ready = suggestion(name, list_ready(driver), f"ready for `{driver}`")
        hint = ready if fault.why.startswith("there is no") else f"settings: {', '.join(settings) or 'none'}"
        raise LabError(f"Template {place}: {fault.why}.", hint, code="template-wrong") from fault
    kept = [(line.rstrip(), place) for line, place in zip(lines, places, strict=True) if line.strip()]
    return Rendered("".join(f"{line}\n" for line, _ in kept), tuple(place for _, place in kept))


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


def _find(name: str, driver: str, beside: Path | None) -> str | None:
    """The source of a template. A file that a link leads out of the plan's folder is none of it."""
    if not re.fullmatch(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)*", name):
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
