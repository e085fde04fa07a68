"""The parts of a plan, with their types, units and defaults. What they mean together is in check.py."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
    create_model,
)

from netdyno.devices.access import OLD_ALGORITHMS
from netdyno.devices.addresses import MOST_VLANS
from netdyno.errors import Problem, Problems, as_written, suggestion
from netdyno.plan.fields import NAME, Element, MacAddress, Name, OrShort
from netdyno.plan.goals import BASELINE, GOAL
from netdyno.plan.groups import BESIDE
from netdyno.plan.link_routing import LinkRouting
from netdyno.plan.link_vlans import HostAddress, InterfaceAddress, LinkVlan, ServerAddress
from netdyno.plan.traffic import Profile
from netdyno.ports.backends import ALL, OPTIONS, USUAL
from netdyno.values.load import LEAST_DRAIN_NS
from netdyno.values.units import Duration, L1Rate, Percent, PositiveDuration

TESTER = "netdyno"
"""The kind of the node that is netdyno itself."""

MOST_ADDED = 100
"""Bytes of all headers that a frame gets on a trunk."""

DIRECTIONS = ("uni", "uni-reverse", "bidir")
"""From each link's port to the next one's, the other way, and both at once (`matrix.directions`)."""


def _text(value: object) -> object:
    """A device setting as text: `9000` and `true` in YAML are `"9000"` and `"true"` to the device."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else value


Setting: TypeAlias = Annotated[
    str, BeforeValidator(_text), WithJsonSchema({"type": ["string", "integer", "boolean"]})
]


HostName: TypeAlias = Annotated[str, Field(max_length=253, pattern=r"^[A-Za-z0-9:._%-]*$")]
UserName: TypeAlias = Annotated[str, Field(max_length=64, pattern=r"^[^\s:@/]*$")]


def _old(value: str) -> str:
    if value not in OLD_NAMES:
        hint = suggestion(value, OLD_NAMES, "algorithms")
        raise Problem(f"`{value[:40]}` is no old algorithm of SSH", hint, code="unknown-name")
    return value


OLD_NAMES = tuple(name for names in OLD_ALGORITHMS.values() for name in names)
OldAlgorithm: TypeAlias = Annotated[str, AfterValidator(_old), WithJsonSchema({"enum": list(OLD_NAMES)})]
PortNumber: TypeAlias = Annotated[int, Field(ge=1, le=65535)]


class SshAccess(Element):
    """SSH of a device."""

    port: PortNumber = 22
    strict: bool = True
    """Refuse a device whose host key is not known."""
    known_hosts: Annotated[str, Field(max_length=4096)] = ""
    """A file of host keys beside the user's own."""
    old: list[OldAlgorithm] = Field(default=[])
    """Old algorithms that this device needs, by name."""


class SnmpAccess(Element):
    """SNMP of a device. Its community, or the user of version 3, comes from the environment."""

    port: PortNumber = 161


class DeviceApi(Element):
    """The API of a device's own system. User and password are those of SSH."""

    port: PortNumber | None = None
    """Without it, the usual one."""
    tls: bool = True
    """`false` sends the password in clear text."""
    strict: bool = True
    """Refuse a certificate that is not trusted."""
    ca: Annotated[str, Field(max_length=4096)] = ""
    """A file of trusted certificates (PEM) in place of this machine's."""


class Node(Element):
    """A box in the lab: the tester (`kind: netdyno`), or the device under test."""

    kind: str
    settings: dict[Name, Setting] = Field(default={})
    """Settings of the device in every case."""
    driver: str = ""
    """How a device is reached beside the traffic."""
    host: HostName = ""
    """Name or address under which its driver reaches it. Of the tester: the generator host that has its
    ports, the name of a worker of `hosts`."""
    user: UserName = ""
    """Who logs in. Passwords are never in a plan."""
    ssh: SshAccess = SshAccess()
    """How its SSH is spoken to."""
    snmp: SnmpAccess | None = None
    """That it is read by SNMP as well."""
    api: DeviceApi | None = None
    """That its system is read by its own API."""
    allow: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(default=[], max_length=64)
    """Sections of its configuration that may change beyond those of the lab."""
    configuration: Annotated[str, Field(max_length=200)] = ""
    """The template of its configuration: a ready one, or a file beside the plan."""
    workers: int | None = Field(default=None, ge=1, le=256)
    """Threads of the tester, each on its own core. Real time only."""
    cores: list[Annotated[int, Field(ge=0, le=1023)]] = Field(default=[])
    """Cores of the tester's threads, one each, and then of emulated devices. Real time only."""


_ENDPOINT = re.compile(rf"({NAME}):(\S{{1,64}})")


def _endpoints(value: object) -> tuple[tuple[str, str], tuple[str, str]]:
    if not isinstance(value, list) or len(value) != 2:
        raise Problem(
            "a link has two endpoints",
            'write `endpoints: ["tester:west", "dut:Te0/1/0/0"]`',
            code="wrong-count",
        )
    found, problems = [], []
    for index, end in enumerate(value):
        match = _ENDPOINT.fullmatch(end) if isinstance(end, str) else None
        if match:
            found.append((match[1], match[2]))
        else:
            problems.append(
                Problem(
                    f"`{str(end)[:60]}` is not an endpoint",
                    "write `node:port`, as in `dut:Te0/1/0/0`",
                    (index,),
                    code="wrong-format",
                )
            )
    if problems:
        raise Problems(problems)
    return found[0], found[1]


def _positive_rate(value: L1Rate) -> L1Rate:
    if value.amount.denominator != 1 or not 0 < value.amount <= 10**13:
        raise Problem(
            f"`{value}` is no rate of a line",
            "a whole number of bits per second above zero: `10Gbps`",
            code="out-of-range",
        )
    return value


MOST_MEMBERS = 16
"""Of a LAG."""

CardName: TypeAlias = Annotated[str, Field(min_length=1, max_length=64)]


if TYPE_CHECKING:
    _Carried = Element
else:
    _Carried = create_model(
        "_Carried",
        __base__=Element,
        backend=(
            Literal[ALL],
            Field(
                default=USUAL,
                description="What carries the tester's frames: packet sockets, AF_XDP, shared memory, or our"
                " choice.",
            ),
        ),
        **OPTIONS,
    )
"""The options of every backend; which of them go together is looked at in check_lab.py."""


class LinkLag(Element):
    """Interfaces of the tester that LACP makes one LAG with ports of the device."""

    interfaces: list[Annotated[str, Field(min_length=1, max_length=15)]] = Field(
        min_length=2, max_length=MOST_MEMBERS, examples=[["eth1", "eth2"]]
    )
    """The tester's interfaces, in place of `interface`."""
    protocol: Literal["lacp"] = "lacp"
    """What brings the LAG up."""
    mode: Literal["active", "passive"] = "active"
    """Whether the tester speaks first."""
    rate: Literal["fast", "slow"] = "fast"
    """How often it asks its partner for a LACPDU: every second, or every 30 s."""


class Link(_Carried):
    """A cable between a port of the tester and a port of the device."""

    endpoints: Annotated[
        tuple[tuple[str, str], tuple[str, str]],
        PlainValidator(_endpoints),
        PlainSerializer(lambda ends: [":".join(end) for end in ends]),
        WithJsonSchema(
            {
                "type": "array",
                "items": {"type": "string", "pattern": "^[^:]+:.+$"},
                "minItems": 2,
                "maxItems": 2,
            }
        ),
    ] = Field(examples=[["tester:west", "dut:Te0/1/0/0"]])
    """The two ends, `node:port` each."""
    rate: Annotated[L1Rate, AfterValidator(_positive_rate)]
    """L1 rate of the line (of one member, if the port is one of a group)."""
    interface: str | None = Field(default=None, max_length=15)
    """The tester's interface, for `kind: external`."""
    address: InterfaceAddress | None = None
    """The tester's address on this link with its prefix length, for `kind: external`."""
    gateway: HostAddress | None = None
    """The device's address frames are sent to, for `kind: external`."""
    mac: MacAddress | None = None
    """MAC address frames are sent to, in place of `gateway`, for `kind: external`."""
    server: ServerAddress | None = None
    """In place of an interface: an iperf3 server on another host behind this port of the device, and its
    first TCP port, for `tester: iperf3`."""
    vlans: list[LinkVlan] = Field(default=[], max_length=MOST_VLANS)
    """VLANs of this link: frames of profiles without `vlan` are on these, a stream each."""
    routing: LinkRouting | None = None
    """Routing protocols that the tester speaks on this link, and the routes that it announces."""
    lag: LinkLag | None = None
    """Several interfaces of the tester that are one LAG, for `kind: external`."""
    card: CardName | None = None
    """What the device's port shares with others: the name of a card, any text."""
    bundle: Name | None = None
    """A LAG or ECMP group of the device that this link is one of, any name: frames for the port behind it may
    come by any of its links."""
    members: list[Annotated[str, Field(pattern=r"^\S{1,64}$")]] = Field(default=[], max_length=63)
    """Further ports of the device behind this link, of a LAG: its driver reads them, too."""


class LabHosts(Element):
    """Where the generator hosts of a lab are found."""

    scheduler: Annotated[str, Field(max_length=200, pattern=r"^(tcp|tls)://\S+:[0-9]{1,5}$")] = Field(
        examples=["tls://192.0.2.9:8786"]
    )
    """Dask's scheduler that their workers are at. `tcp://` is for one on this machine's loopback."""
    ssh: dict[Name, Annotated[str, Field(max_length=200, pattern=r"^[^\s-]\S*$")]] = Field(
        default={}, max_length=256, examples=[{"gen1": "root@192.0.2.11"}]
    )
    """Where `netdyno hosts --start` logs in, as `ssh` takes it; of hosts left out it is their own name."""


class LabTrunk(Element):
    """A line inside the device under test, between two halves of it."""

    ports: list[str] = Field(min_length=1)
    """The tester's ports on one half, by name; the others are on the other."""
    rate: Annotated[L1Rate, AfterValidator(_positive_rate)]
    """L1 rate of the trunk each way, its members together."""
    adds: int = Field(ge=1, le=MOST_ADDED)
    """Bytes that each frame is longer on the trunk: a VLAN tag has 4."""


class Lab(Element):
    """What is joined to what. Also the content of a lab file of its own."""

    nodes: dict[Name, Node]
    links: list[Link]
    hosts: LabHosts | None = None
    """Generator hosts: nodes of the tester with `host` have their ports there."""
    trunk: LabTrunk | None = None
    """A line between two halves of an external device, such as two switches."""
    licence: Annotated[L1Rate, AfterValidator(_positive_rate)] | None = None
    """What the device is licensed to pass, bits of frames a second: `50Mbps` of an ISR 4321."""


class PortGroup(Element):
    """Ports of the tester that are loaded among themselves, alone or beside other groups."""

    ports: list[str] = Field(min_length=1)
    """The tester's ports, by name."""
    card: CardName | None = None
    """The card of all of them, as of a link."""


def _ports(value: object) -> object:
    return {"ports": value} if isinstance(value, list) else value


def _group_name(value: str) -> str:
    if BESIDE in value or value == "sum":
        hint = f"`{BESIDE}` joins the names of groups, and `sum` is all of them: another name"
        raise Problem(f"`{value}` cannot be the name of a group", hint, code="wrong-format")
    return value


Groups: TypeAlias = dict[
    Annotated[Name, AfterValidator(_group_name)],
    Annotated[
        PortGroup,
        BeforeValidator(_ports),
        OrShort({"type": "array", "items": {"type": "string"}}),
    ],
]


def _catch_up(value: Percent) -> Percent:
    if (value.amount * 100).denominator != 1 or not 1 <= value.amount <= 100:
        raise Problem(
            f"`{value}` is no rate to catch up at",
            "whole per cent of the intended rate, from `100%` (late frames stay late) to `10000%`",
            code="out-of-range",
        )
    return value


class TrialSettings(Element):
    """How every trial is run, whatever the method."""

    resolve: PositiveDuration = PositiveDuration.of_ns(3 * 10**9)
    """Give up on ARP and ND after this."""
    poll: Duration = Duration.of_ns(10 * 10**9)
    """Ask each next hop this often whether it is still there; `0s` is never."""
    settle: Duration = Duration.of_ns(2 * 10**9)
    """Wait between learning and traffic; `7s` in RFC 2544's tests (its section 23)."""
    drain: Duration = Duration.of_ns(2 * 10**9)
    """Keep receiving this long after the last frame (same)."""
    sample: PositiveDuration = PositiveDuration.of_ns(10**8)
    """Length of a sample of the series."""
    verify: bool = True
    """Check the checksums of what is received."""
    catch_up: Annotated[Percent, AfterValidator(_catch_up)] = Percent(Fraction(2))
    """After a pause of the tester late frames leave at up to this share of the intended rate."""
    # Runs of before it was called so have `again` in their plan, and can be resumed.
    retries: int = Field(validation_alias=AliasChoices("retries", "again"), default=2, ge=0, le=20)
    """How often a constant load that a pause of the tester spoiled is retried."""

    def scaled(self, scale: Fraction) -> TrialSettings:
        """Settle, drain and sample of a rehearsal. Resolving is a time limit, polling no phase: they stay.

        A device's queue is as long in a rehearsal, and what it holds when the drain ends counts as lost: so
        the drain is not shortened below 200 ms.
        """
        changes = {}
        for name in ("settle", "drain", "sample"):
            time = getattr(self, name)
            least = min(time.ns, LEAST_DRAIN_NS if name == "drain" else 1)
            changes[name] = type(time).of_ns(max(least, round(time.ns * scale)))
        return self.model_copy(update=changes)


def _goal(value: object) -> str:
    if not isinstance(value, str) or not (GOAL.fullmatch(value) or BASELINE.fullmatch(value)):
        raise Problem(
            f"`{as_written(value)}` is not a goal",
            "a value, a comparison and a bound, `throughput >= 95%`; or `no worse than RUN by 2%`",
            code="wrong-format",
        )
    return value


GoalText: TypeAlias = Annotated[str, PlainValidator(_goal), WithJsonSchema({"type": "string"})]
"""A goal as it is written; what it says is read with the values that methods find (goals.py)."""


PingTo: TypeAlias = Annotated[str, Field(min_length=1, max_length=45, pattern=r"^\S+$")]


class PingSettings(Element):
    """A series of pings beside the traffic."""

    to: PingTo
    """An address; of a Linux router also `device` or `neighbour`."""
    interface: str = Field(default="", max_length=15)
    """This machine's interface, for `kind: external`."""
    every: PositiveDuration = PositiveDuration.of_ns(10**8)
    """Time from one ping to the next, and for its answer."""


def _pings(value: object) -> object:
    """`device` stands for `{to: device}`."""
    return {"to": value} if isinstance(value, str) else value


Pings: TypeAlias = Annotated[PingSettings, BeforeValidator(_pings), OrShort({"type": "string"})]


class WatchSettings(Element):
    """What is watched beside the traffic. Real time only."""

    ping: list[Pings] = Field(default=[], max_length=16)
    """Addresses that are pinged, each as a watch of its own."""
    adjacencies: bool = False
    """Adjacencies of the device's routing protocols."""
    cli: PositiveDuration | None = None
    """The longest that the device's command line may take to answer."""


def _scale(value: object) -> Fraction:
    if value == 1 and not isinstance(value, bool):
        return Fraction(1)
    if isinstance(value, str) and re.fullmatch("1/[1-9][0-9]{0,5}", value):
        return Fraction(value)
    raise Problem(
        f"`{as_written(value)}` is not a scale",
        "write `1/100` to run everything in a hundredth of the time",
        code="wrong-format",
    )


Scale: TypeAlias = Annotated[
    Fraction,
    PlainValidator(_scale),
    PlainSerializer(str),
    WithJsonSchema({"type": ["string", "integer"], "pattern": "^1/[1-9][0-9]{0,5}$", "examples": ["1/100"]}),
]

MOST_REPEATS = 200
"""Of each case: four times what any RFC asks for (RFC 2544 section 26.4: 50)."""


class Repeat(Element):
    """How often each case is run, for its statistics."""

    count: int = Field(default=1, ge=1, le=MOST_REPEATS)
    """How often each case is run."""
    seeds: Literal["same", "each"] = "same"
    """Whether a repeat sends the same frames, or its own."""


def _count(value: object) -> object:
    return {"count": value} if isinstance(value, int) and not isinstance(value, bool) else value


Repeats: TypeAlias = Annotated[
    Repeat,
    BeforeValidator(_count),
    OrShort({"type": "integer", "minimum": 1, "maximum": MOST_REPEATS}),
]

AxisValue: TypeAlias = Annotated[
    str, BeforeValidator(_text), WithJsonSchema({"type": ["string", "integer", "boolean"]})
]


def _one_or_many(value: object) -> object:
    return value if isinstance(value, list) else [value]


Filter: TypeAlias = dict[str, Annotated[list[AxisValue], BeforeValidator(_one_or_many)]]


class PlanFile(Element):
    """A load test: the lab, the traffic, the cases, and the method that is applied to each."""

    title: str = Field(min_length=1, max_length=200)
    """What the report is called."""
    lab: Lab
    """The lab, or the name of a file that holds it."""
    traffic: dict[Name, Profile] = Field(min_length=1)
    """Traffic profiles by name."""
    matrix: dict[Name, Annotated[list[AxisValue], Field(min_length=1)]] = Field(default={})
    """Axes in order: `profile`, `direction`, `pattern`, `modifier`, `group`, device settings, parameters of
    the method."""
    groups: Groups = Field(default={})
    """Port groups by name: lists of the tester's ports."""
    only: list[Filter] = Field(default=[])
    """Keep the cases that match one of these."""
    skip: list[Filter] = Field(default=[])
    """Leave out the cases that match one of these."""
    method: dict[str, Any]
    """One method and its parameters."""
    tester: str = TESTER
    """What sends and counts the traffic."""
    suite: Any = None
    """All tests of a standard, in place of `method`."""
    trial: TrialSettings = TrialSettings()
    watch: WatchSettings | None = None
    """What is watched beside the traffic: pings, adjacencies, the command line."""
    goals: list[GoalText] = Field(default=[])
    """What the verdict asks for."""
    scale: Scale = Fraction(1)
    """Fraction of the durations to run, for rehearsals: `1/100`; a stated deviation."""
    repeat: Repeats = Repeat()
    """How often each case is run: all of them once, then all again."""
    seed: int = Field(default=1, ge=0, le=2**63 - 1)
    """Everything random follows from it."""
