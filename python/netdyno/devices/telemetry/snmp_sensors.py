"""Sensors and processors of an agent: which are read where there are too many, and what each measures."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from netdyno.devices.live import Channel
from netdyno.devices.telemetry import snmp_objects as objects
from netdyno.devices.telemetry.snmp_agent import AgentError, SnmpAgent
from netdyno.devices.telemetry.snmp_items import Index, Item, at, to_text
from netdyno.devices.telemetry.snmp_vendors import Gauge, Vendor

MOST_SENSORS, MOST_CORES = 64, 64
"""Of one device: a trial has room for so many series only."""
DEEPEST = 8
"""Entities that one is in, one in the other, at most."""

POWER, LIGHT = "power", "optical power"
_OPTICAL = re.compile(
    r"laser|optic|light|xcvr|transceiver|[sx]fp\b|\b(?:rx|tx|receive|transmit|dom)\b|lane", re.I
)
_INPUT = re.compile(r"\b(?:input|in|pin)\b|pow(?:er)?[ _-]?in\b", re.I)
_OUTPUT = re.compile(r"\b(?:output|out|pout)\b|pow(?:er)?[ _-]?out\b", re.I)
_TOTAL = re.compile(r"\btotal\b|consum", re.I)
_NO_DRAW = re.compile(r"capacity|rated|max|alloc|budget|avail|limit|remain|reserv|\bpoe\b", re.I)


@dataclass(frozen=True)
class _Sensor:
    """A sensor that can be read. own: its name and description. within: those of the entities it is in."""

    item: Item
    own: str
    within: str = ""
    is_of_port: bool = False


def list_sensors(
    agent: SnmpAgent, vendor: Vendor, interfaces: Sequence[str], until: float
) -> tuple[list[Item], int]:
    """The sensors that are read, and how many more there are. Raises AgentError.

    Those of the interfaces of these names come first, then the temperatures, fans and power of the rest.
    """
    found = list(_standard(agent, objects.SENSOR, until))
    if not found and vendor.sensors:
        found = list(_standard(agent, vendor.sensors, until))
    for gauges in vendor.gauges:
        taken = {one.item.channel.name for one in found}
        found += [
            _Sensor(one, one.channel.subject)
            for gauge in gauges
            if gauge.name not in taken
            for one in _column(agent, gauge, until)
        ]
    found.sort(key=lambda one: _rank(one, interfaces))
    items = _named_once([one.item for one in _with_draw(found)])
    return items[:MOST_SENSORS], max(len(items) - MOST_SENSORS, 0)


def _standard(agent: SnmpAgent, table: str, until: float) -> Iterator[_Sensor]:
    """Those of a table of the form of ENTITY-SENSOR-MIB."""
    kinds = agent.walk(at(table, (1,)), until)
    if not kinds:
        return
    scales, digits = (agent.walk(at(table, (column,)), until) for column in (2, 3))
    names = _texts(agent.walk(objects.PHYSICAL_NAME, until))
    shared = Counter(names.get(index, "") for index in kinds)
    # Some agents name all sensors of a kind alike, or none.
    has_own_names = shared.keys() & {""} == set() and max(shared.values()) == 1
    descriptions = {} if has_own_names else _texts(_walk_quickly(agent, objects.PHYSICAL_DESCR, until))
    has_choice = len(kinds) > MOST_SENSORS or 6 in kinds.values()
    parents = _walk_quickly(agent, objects.PHYSICAL_PARENT, until) if has_choice else {}
    classes = _walk_quickly(agent, objects.PHYSICAL_CLASS, until) if has_choice else {}
    for index, kind in kinds.items():
        decimals = _decimals(scales.get(index), digits.get(index))
        if not isinstance(kind, int) or kind not in objects.SENSORS or decimals is None:
            continue
        quantity, unit = objects.SENSORS[kind]
        name, description = names.get(index, ""), descriptions.get(index, "")
        subject = description if description and (not name or shared[name] > 1) else name
        subject = subject or f"sensor {'.'.join(map(str, index))}"
        places = list(_places(index, parents))
        within = (one for place in places for one in (names.get(place), descriptions.get(place)) if one)
        is_of_port = any(classes.get(one) == objects.PORT_CLASS for one in (index, *places))
        item = Item(
            Channel(subject, quantity, unit, max(decimals, 0)),
            at(at(table, (4,)), index),
            objects.OVERFLOW,
            1 - objects.OVERFLOW,
            10 ** max(-decimals, 0),
            at(at(table, (5,)), index),
        )
        yield _Sensor(item, f"{name}\n{description}", "\n".join(within), is_of_port)


def _walk_quickly(agent: SnmpAgent, column: str, until: float) -> Mapping[Index, object]:
    """A column that sensors can do without, in half of the time that is left; empty: it did not come."""
    now = time.monotonic()
    try:
        return agent.walk(column, now + (until - now) / 2)
    except AgentError:
        return {}


def _texts(column: Mapping[Index, object]) -> dict[Index, str]:
    return {index: to_text(one) for index, one in column.items()}


def _places(index: Index, parents: Mapping[Index, object]) -> Iterator[Index]:
    """The entities that one is in, the inner one first."""
    for _ in range(DEEPEST):
        parent = parents.get(index)
        if not isinstance(parent, int) or parent <= 0:
            return
        index = (parent,)
        yield index


def _decimals(scale: object, precision: object) -> int | None:
    """Digits behind the point: the precision, less the power of ten of the scale, 9 being units (RFC 3433).

    Negative: zeros before it. None: not what the RFC allows, or too many.
    """
    if not isinstance(scale, int) or not isinstance(precision, int):
        return None
    if not 1 <= scale <= 17 or not -8 <= precision <= 9:
        return None
    found = precision - 3 * (scale - 9)
    return found if -9 <= found <= 18 else None


def _rank(sensor: _Sensor, interfaces: Sequence[str]) -> int:
    """0: of an interface that is read; 1: of the device; 2: voltages, currents, and all of other ports."""
    words = f"{sensor.own}\n{sensor.within}"
    if any(re.search(rf"(?<![\w/]){re.escape(one)}(?![\w/.])", words) for one in interfaces):
        return 0
    if sensor.is_of_port or sensor.item.channel.name not in ("temperature", "fan", POWER):
        return 2
    return 1


def _with_draw(sensors: Sequence[_Sensor]) -> Iterator[_Sensor]:
    """Sensors, with `power` for what the device draws alone, once.

    Watts of light are optical power. A supply's output is a part of its input, and all supplies are parts of
    a total.
    """
    names = [one.own for one in sensors if _can_be_draw(one)]
    has_input, has_total = any(map(_INPUT.search, names)), any(map(_TOTAL.search, names))
    for one in sensors:
        channel = one.item.channel
        name = channel.name
        if name == POWER and not _can_be_draw(one):
            is_light = one.is_of_port or _OPTICAL.search(one.own)
            name = LIGHT if is_light else "power rating"
        elif name == POWER and has_input and _OUTPUT.search(one.own):
            name = "power given"
        elif name == POWER and has_total and not _TOTAL.search(one.own):
            name = "power of a part"
        yield replace(one, item=replace(one.item, channel=replace(channel, name=name)))


def _can_be_draw(sensor: _Sensor) -> bool:
    is_other = sensor.is_of_port or _OPTICAL.search(sensor.own) or _NO_DRAW.search(sensor.own)
    return sensor.item.channel.name == POWER and not is_other


def _named_once(items: Sequence[Item]) -> list[Item]:
    """Items, those of a name that is there before with the end of their OID behind it."""
    found: dict[Channel, Item] = {}
    for one in items:
        channel = one.channel
        if channel in found:
            channel = replace(channel, subject=f"{channel.subject[:80]} ({one.oid.rpartition('.')[2]})")
        found.setdefault(channel, replace(one, channel=channel))
    return list(found.values())


def list_processors(agent: SnmpAgent, vendor: Vendor, until: float) -> list[Item]:
    """Loads of processors, of HOST-RESOURCES-MIB and of the vendor. Raises AgentError."""
    found = [
        Item(
            Channel(f"cpu{number}", "hrProcessorLoad", "%"),
            at(objects.PROCESSOR_LOAD, index),
            101,
            window_ns=objects.PROCESSOR_WINDOW_NS,
        )
        for number, index in enumerate(agent.walk(objects.PROCESSOR_LOAD, until))
    ]
    found += (one for gauge in vendor.processors for one in _column(agent, gauge, until))
    return _named_once(found)[:MOST_CORES]


def _column(agent: SnmpAgent, gauge: Gauge, until: float) -> Iterator[Item]:
    """The values that an agent has of a gauge, if they come quickly."""
    column, rows = next(
        ((one, rows) for one in gauge.columns if (rows := _walk_quickly(agent, one, until))), ("", {})
    )
    if not rows:
        return
    names = _walk_quickly(agent, gauge.names, until) if gauge.names else {}
    kinds = _walk_quickly(agent, gauge.kinds[0], until) if gauge.kinds else {}
    wanted = gauge.kinds[1] if gauge.kinds else None
    for index, value in rows.items():
        kind = kinds.get(index)
        if gauge.kinds and (
            kind != wanted if wanted is not None else not (isinstance(kind, int) and kind > 0)
        ):
            continue
        if value == 0 and not gauge.has_zero:
            continue
        several = f"{gauge.subject} {'.'.join(map(str, index))}".strip()
        subject = to_text(names.get(index, b"")) or (several if len(rows) > 1 else gauge.subject)
        limit, least = (101, 0) if gauge.unit == "%" else (objects.OVERFLOW, 1 - objects.OVERFLOW)
        window_ns = gauge.window_s * 10**9 if gauge.window_s else None
        channel = Channel(subject, gauge.name, gauge.unit, gauge.scale)
        yield Item(channel, at(column, index), limit, least, window_ns=window_ns)
