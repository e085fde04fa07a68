"""What is read of an agent each time: resolved once, from names to the indexes that the agent has now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from netdyno.devices.live import Channel
from netdyno.devices.telemetry import snmp_objects as objects
from netdyno.devices.telemetry.snmp_agent import AT_ONCE, SnmpAgent
from netdyno.devices.telemetry.snmp_items import Index, Item, at, to_text
from netdyno.devices.telemetry.snmp_sensors import list_processors, list_sensors
from netdyno.devices.telemetry.snmp_vendors import SYS_OBJECT_ID, find_vendor
from netdyno.values import counter

DEVICE = "device"
UPTIME = Channel(DEVICE, counter.UPTIME, "s", counter.TICK_DIGITS)


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
        narrow = tuple(one.narrow.oid for one in self.items if one.narrow is not None)
        return (*names, *(one.oid for one in self.items), *states, *narrow)


@dataclass(frozen=True)
class Plan:
    """What is read each time. found: the names of all interfaces of the device. left_out: its sensors for
    which there is no room."""

    groups: tuple[Group, ...]
    found: tuple[str, ...]
    left_out: int = 0

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
    vendor = find_vendor(agent.get((SYS_OBJECT_ID,), lambda: 0, until).values.get(SYS_OBJECT_ID))
    sensors, left_out = list_sensors(agent, vendor, tuple(interfaces), until)
    others = [*sensors, *list_processors(agent, vendor, until), *_memory(agent, until)]
    uptime = Group((Item(UPTIME, objects.SYS_UPTIME, 2**32),))
    return Plan((uptime, *groups, *(Group((one,)) for one in others)), found, left_out)


def resolve_again(agent: SnmpAgent, plan: Plan, interfaces: Mapping[str, str], until: float) -> Plan:
    """The plan with the indexes that interfaces have now. Raises AgentError.

    Those of sensors and processors stay: to look through their tables takes longer than a reading may.
    """
    groups, found = _interfaces(agent, interfaces, until)
    others = [one for one in plan.groups if one.interface is None]
    return replace(plan, groups=(others[0], *groups, *others[1:]), found=found)


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


def _interface(agent: SnmpAgent, name: str, subject: str, column: str, index: Index, until: float) -> Group:
    """What the agent has of an interface: of two counters of the same, the wide one.

    One that is 0 is read with the narrow one beside it: some agents never count in it.
    """
    every = [*(one for both in objects.WIDE for one in both), *objects.NARROW]
    has = agent.get([at(one.column, index) for one in every], lambda: 0, until).values

    def item(one: objects.Object) -> Item | None:
        oid = at(one.column, index)
        return Item(one.channel(subject), oid, one.limit) if oid in has else None

    items: list[Item | None] = []
    for wide, narrow in ((item(wide), item(narrow)) for wide, narrow in objects.WIDE):
        if wide is not None and has[wide.oid] == 0:
            items.append(replace(wide, narrow=narrow))
        else:
            items.append(wide or narrow)
    items += map(item, objects.NARROW)
    return Group(tuple(one for one in items if one is not None), name, at(column, index))


def _memory(agent: SnmpAgent, until: float) -> Iterator[Item]:
    kinds = agent.walk(objects.STORAGE_TYPE, until)
    index = next((one for one, kind in kinds.items() if kind == objects.STORAGE_RAM), None)
    if index is None:
        return
    unit_oid = at(objects.STORAGE_UNIT, index)
    unit = agent.get((unit_oid,), lambda: 0, until).values.get(unit_oid)
    if not isinstance(unit, int) or not 0 < unit < 2**31:
        return
    for name, column in (("hrStorageSize", objects.STORAGE_SIZE), ("hrStorageUsed", objects.STORAGE_USED)):
        yield Item(Channel("memory", name, "B"), at(column, index), 2**31, factor=unit)
