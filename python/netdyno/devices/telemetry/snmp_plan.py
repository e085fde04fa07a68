"""What is read of an agent each time: resolved once, from names to the indexes that the agent has now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from netdyno.devices.live import Channel
from netdyno.devices.telemetry import snmp_objects as objects
from netdyno.devices.telemetry.snmp_agent import AT_ONCE, SnmpAgent
from netdyno.values import counter
from netdyno.values.series import LONGEST_NAME

MOST_SENSORS, MOST_CORES = 64, 64
"""Of one device: a trial has room for so many series only."""
DEVICE = "device"
UPTIME = Channel(DEVICE, counter.UPTIME, "s", counter.TICK_DIGITS)

Index = tuple[int, ...]


@dataclass(frozen=True)
class Item:
    """One value of a reading. least, limit: it is at least the one and below the other. factor: the channel
    has the value times this. status: of a sensor, the OID of its state. window_ns: as of `Sample`."""

    channel: Channel
    oid: str
    limit: int
    least: int = 0
    factor: int = 1
    status: str | None = None
    window_ns: int | None = None


@dataclass(frozen=True)
class Group:
    """Values that are asked for in one request. interface: whose they are, with the OID of its name."""

    items: tuple[Item, ...]
    interface: str | None = None
    name_oid: str | None = None

    @property
    def oids(self) -> tuple[str, ...]:
        """All that is asked for."""
        names = () if self.name_oid is None else (self.name_oid,)
        states = tuple(one.status for one in self.items if one.status is not None)
        return (*names, *(one.oid for one in self.items), *states)


@dataclass(frozen=True)
class Plan:
    """What is read each time. found: the names of all interfaces of the device."""

    groups: tuple[Group, ...]
    found: tuple[str, ...]

    def requests(self) -> Iterator[tuple[Group, ...]]:
        """Groups that share a request."""
        together: list[Group] = []
        for group in self.groups:
            if together and sum(len(one.oids) for one in (*together, group)) > AT_ONCE:
                yield tuple(together)
                together = []
            together.append(group)
        if together:
            yield tuple(together)


def resolve(agent: SnmpAgent, interfaces: Mapping[str, str], until: float) -> Plan:
    """What the agent has of all that is read. Raises AgentError.

    interfaces: by the device's own names, the subject of the channels of each. until: monotonic clock, s.
    """
    groups, found = _interfaces(agent, interfaces, until)
    others = [*_sensors(agent, until), *_cores(agent, until), *_memory(agent, until)]
    uptime = Group((Item(UPTIME, objects.SYS_UPTIME, 2**32),))
    return Plan((uptime, *groups, *(Group((one,)) for one in others)), found)


def resolve_again(agent: SnmpAgent, plan: Plan, interfaces: Mapping[str, str], until: float) -> Plan:
    """The plan with the indexes that interfaces have now. Raises AgentError.

    Those of sensors and processors stay: to look through their tables takes longer than a reading may.
    """
    groups, found = _interfaces(agent, interfaces, until)
    others = [one for one in plan.groups if one.interface is None]
    return Plan((others[0], *groups, *others[1:]), found)


def _interfaces(
    agent: SnmpAgent, interfaces: Mapping[str, str], until: float
) -> tuple[list[Group], tuple[str, ...]]:
    """The interfaces of these names, as far as the agent has them, and the names of all."""
    column = objects.IF_NAME
    names = agent.walk(column, until) if interfaces else {}
    if interfaces and not names:
        # An agent without ifXTable has the names of RFC 1213.
        column = objects.IF_DESCR
        names = agent.walk(column, until)
    indexes: dict[str, Index] = {}
    for index, name in names.items():
        indexes.setdefault(to_text(name), index)
    wanted = [one for one in interfaces if one in indexes]
    groups = [_interface(agent, one, interfaces[one], column, indexes[one], until) for one in wanted]
    return groups, tuple(indexes)


def to_text(found: object) -> str:
    """A text of the agent: printable, and no longer than a name of a series."""
    text = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
    return "".join(one if one.isprintable() else "?" for one in text.rstrip("\0"))[:LONGEST_NAME]


def _interface(agent: SnmpAgent, name: str, subject: str, column: str, index: Index, until: float) -> Group:
    """What the agent has of an interface: of two counters of the same, the wide one."""
    every = [*(one for both in objects.WIDE for one in both), *objects.NARROW]
    oids = [_at(one.column, index) for one in every]
    has = agent.get(oids, lambda: 0, until).values
    wide = [next((one for one in both if _at(one.column, index) in has), None) for both in objects.WIDE]
    chosen = [one for one in (*wide, *objects.NARROW) if one is not None and _at(one.column, index) in has]
    items = tuple(Item(one.channel(subject), _at(one.column, index), one.limit) for one in chosen)
    return Group(items, name, _at(column, index))


def _sensors(agent: SnmpAgent, until: float) -> Iterator[Item]:
    kinds = agent.walk(objects.SENSOR_TYPE, until)
    if not kinds:
        return
    scales, digits = (agent.walk(one, until) for one in (objects.SENSOR_SCALE, objects.SENSOR_PRECISION))
    names = agent.walk(objects.PHYSICAL_NAME, until)
    taken: set[Channel] = set()
    for index, kind in kinds.items():
        decimals = _decimals(scales.get(index), digits.get(index))
        if not isinstance(kind, int) or kind not in objects.SENSORS or decimals is None:
            continue
        quantity, unit = objects.SENSORS[kind]
        number = ".".join(map(str, index))
        subject = to_text(names.get(index, b"")) or f"sensor {number}"
        channel = Channel(subject, quantity, unit, max(decimals, 0))
        if channel in taken:
            channel = Channel(f"{subject[:80]} ({number})", quantity, unit, max(decimals, 0))
        taken.add(channel)
        yield Item(
            channel,
            _at(objects.SENSOR_VALUE, index),
            objects.OVERFLOW,
            1 - objects.OVERFLOW,
            10 ** max(-decimals, 0),
            _at(objects.SENSOR_STATUS, index),
        )
        if len(taken) == MOST_SENSORS:
            return


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


def _cores(agent: SnmpAgent, until: float) -> Iterator[Item]:
    loads = list(agent.walk(objects.PROCESSOR_LOAD, until))[:MOST_CORES]
    for number, index in enumerate(loads):
        channel = Channel(f"cpu{number}", "hrProcessorLoad", "%")
        oid = _at(objects.PROCESSOR_LOAD, index)
        yield Item(channel, oid, 101, window_ns=objects.PROCESSOR_WINDOW_NS)


def _memory(agent: SnmpAgent, until: float) -> Iterator[Item]:
    kinds = agent.walk(objects.STORAGE_TYPE, until)
    index = next((one for one, kind in kinds.items() if kind == objects.STORAGE_RAM), None)
    if index is None:
        return
    unit_oid = _at(objects.STORAGE_UNIT, index)
    unit = agent.get((unit_oid,), lambda: 0, until).values.get(unit_oid)
    if not isinstance(unit, int) or not 0 < unit < 2**31:
        return
    for name, column in (("hrStorageSize", objects.STORAGE_SIZE), ("hrStorageUsed", objects.STORAGE_USED)):
        yield Item(Channel("memory", name, "B"), _at(column, index), 2**31, factor=unit)


def _at(column: str, index: Index) -> str:
    return ".".join((column, *map(str, index)))
