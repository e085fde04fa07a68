"""What is checked of each case of a plan: a table of rules, a row each, in the order in which they are asked.

A rule yields what is wrong with a case. What several cases have in common is reported once, of the first one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ValidationError

from netdyno import modifiers
from netdyno.devices import routes
from netdyno.devices.addresses import count_parts
from netdyno.devices.filters import SETTING as FILTERS
from netdyno.devices.wiring import PEER, Trait, Wiring
from netdyno.errors import Problem, names
from netdyno.plan import Chosen, Plan, Profile, Tables, suites
from netdyno.plan import models as m
from netdyno.plan.bursts import list_bursts
from netdyno.plan.check_matrix import MAX_CASES, possible_in_all
from netdyno.plan.check_traffic import MOST_FLOWS, at_most
from netdyno.plan.check_trials import find_longest_ns
from netdyno.plan.check_trials import problems as trial_problems
from netdyno.plan.check_vlans import problems as vlan_problems
from netdyno.plan.flows import EVEN
from netdyno.plan.groups import BESIDE, Group
from netdyno.plan.headers import Vlan, distinct_flows
from netdyno.plan.matrix import (
    Case,
    cases,
    list_sendings,
    list_spread,
    situation,
    streams,
    taken_by_classes,
    total_flows,
    wire_groups,
)
from netdyno.plan.patterns import PAIRS, PATTERNS, ways
from netdyno.plan.reached import NO_PORT
from netdyno.plan.source import Path_, Source
from netdyno.values.load import (
    FRAMES,
    MOST_CONNECTIONS,
    NO_SERVICE,
    OFFLOADS_ON,
    OFFLOADS_SETTING,
    SERVICE_SETTING,
)
from netdyno.values.mixes import OF_MTU
from netdyno.values.number import whole
from netdyno.values.rates import MTU_SETTING, longest_frame, mtu_of
from netdyno.values.situation import GROUP_AXIS, Situation
from netdyno.values.units import Percent, decimal

if TYPE_CHECKING:
    from netdyno.devices.configure.mistakes import TemplateMistake

MOST_RENDERED = 256
"""Configurations that are rendered: a template may take a tenth of a second."""


class Mistake(Problem):
    """What is wrong with a case. at: its place in the plan. once: what it has in common with that of others.

    is_key: the place is the key's, not the value's.
    """

    def __init__(
        self,
        at: Path_,
        message: str,
        hint: str | None,
        *,
        code: str,
        once: Hashable = None,
        is_key: bool = False,
    ) -> None:
        super().__init__(message, hint, at, code=code)
        self.once = at if once is None else once
        self.is_key = is_key


Wired: TypeAlias = Wiring | ValueError


@dataclass(frozen=True)
class Looked:
    """A case that rules look at. wirings: the labs of the cases before it, by settings. refused: values of
    axes that make no sense as parameters."""

    plan: Plan
    tables: Tables
    method_key: str
    case: Case
    wirings: dict[Hashable, Wired]
    refused: Mapping[Chosen, ValidationError]

    @property
    def parameters(self) -> Any:
        """The method's parameters in it."""
        return self.plan.parameters_of(self.case)

    @property
    def method(self) -> Any:
        """The method of the plan."""
        return self.tables.methods[self.plan.method]

    @property
    def sizes(self) -> list[int]:
        """How many ports send to each other, in each group or in the lab."""
        return [len(group.ports) for group in self.case.groups] or [len(self.plan.lab.links)]

    @property
    def wired(self) -> Wired:
        """The whole lab, or why there is none."""
        settings = tuple(self.case.settings.items())
        if settings not in self.wirings:
            try:
                self.wirings[settings] = self.plan.kind.wire(self.plan.lab.links, self.case.settings)
            except ValueError as error:
                self.wirings[settings] = error
        return self.wirings[settings]

    @cached_property
    def lab(self) -> Wiring:
        """The whole lab, of a case that has one."""
        wired = self.wired
        assert isinstance(wired, Wiring), "a case without a lab is looked at no further"
        return wired.for_frames(self.case.profile.pool.version)

    @cached_property
    def wiring(self) -> Wiring:
        """The lab with the ports of the case's groups alone."""
        return wire_groups(self.case, self.lab)

    @cached_property
    def situation(self) -> Situation:
        """What its method knows of it."""
        return situation(self.case, self.wiring)

    @property
    def is_routed(self) -> bool:
        """Whether the device of the whole lab routes."""
        return any(port.destination != PEER for port in self.lab.ports)

    def of_traffic(self, *field: str | int) -> Path_:
        """The place of its profile, or of a field of that."""
        return ("traffic", self.case.profile_name, *field)

    def of_method(self, *parameter: str | int) -> Path_:
        """The place of its method, or of a parameter, which may be an axis."""
        axis = str(parameter[0]) if parameter else ""
        if axis in self.plan.parameter_axes:
            value = dict(self.case.choices)[axis]
            return ("matrix", axis, dict(self.plan.axes)[axis].index(value), *parameter[1:])
        return (self.method_key, self.plan.method, *parameter)


def check_cases(
    source: Source, plan: Plan, tables: Tables, refused: Mapping[Chosen, ValidationError]
) -> list[Situation]:
    """Reports what is wrong with cases, each thing once; the situations of the others.

    refused: values of axes that make no sense as parameters.

    What is unknown has been reported; the cases that can be understood are looked at all the same.
    """
    found = _understood_cases(source, plan, (*plan.variants, *refused))
    _check_filters(source, plan, found)
    _check_configuration(source, plan, found)
    reported: set[Hashable] = set()
    wirings: dict[Hashable, Wired] = {}
    reached = []
    for case in found:
        looked = Looked(plan, tables, suites.key(source), case, wirings, refused)
        for rule in RULES:
            mistakes = list(rule.find(looked))
            for one in mistakes:
                if (rule.find, one.once) not in reported:
                    reported.add((rule.find, one.once))
                    source.report(one.at, one.message, one.hint, key=one.is_key, code=one.code)
            if mistakes and rule.ends:
                break
        else:
            reached.append(looked.situation)
    return reached


def _understood_cases(source: Source, plan: Plan, variants: Iterable[Chosen]) -> tuple[Case, ...]:
    """Each case once; in place of an unknown value of an axis the first that there is.

    variants: the values of axes that parameters may have, whether they make sense together or not.
    """
    sizes = [len(group.ports) for group in plan.groups] or [len(plan.lab.links)]
    known = {
        **plan.kind.settings,
        "profile": tuple(plan.profiles),
        "pattern": tuple(name for name in PATTERNS if possible_in_all(name, sizes)[0]),
        modifiers.AXIS: tuple(modifiers.MODIFIERS),
    }
    if plan.groups:
        groups = {group.name for group in plan.groups}
        right = (value for value in dict(plan.axes)[GROUP_AXIS] if groups.issuperset(value.split(BESIDE)))
        known[GROUP_AXIS] = tuple(right) or tuple(groups)
    parameters: dict[str, dict[str, None]] = {}
    for axis, value in itertools.chain(*variants):
        parameters.setdefault(axis, {})[value] = None
    known |= {axis: tuple(values) for axis, values in parameters.items()}
    patterns = _understood(dict(plan.axes).get("pattern", (PAIRS,)), known["pattern"])
    # What none of the patterns has was reported with the matrix.
    known["direction"] = tuple(
        way for way in m.DIRECTIONS if any(way in possible_in_all(name, sizes)[0] for name in patterns)
    )
    axes = tuple((axis, _understood(values, known.get(axis))) for axis, values in plan.axes)
    found = cases(replace(plan, axes=axes, repeat=m.Repeat()))
    made = len(found) * plan.repeat.count
    if made > MAX_CASES:
        message = f"{len(found)} cases {plan.repeat.count} times are {made}"
        hint = f"at most {MAX_CASES}: repeat less, or split the plan"
        source.report(("repeat",), message, hint, code="too-many")
    if not found and not source.errors:
        message = "`only` and `skip` leave no case of the matrix"
        hint = "name fewer cases in `skip`, or more in `only`"
        source.report_key(("only" if plan.only else "skip",), message, hint, code="no-case")
    return found


def _understood(values: tuple[str, ...], known: tuple[str, ...] | None) -> tuple[str, ...]:
    """The values of an axis that there are; of a wrong one, the first there would be."""
    if not known:
        return values
    return tuple(value for value in values if value in known) or known[:1]


def _check_filters(source: Source, plan: Plan, found: tuple[Case, ...]) -> None:
    """A device that nobody configures between two cases has the same filter in all of them."""
    asked = dict.fromkeys(case.settings.get(FILTERS) for case in found)
    if plan.kind.configured or len(asked) < 2:
        return
    named = names(dict.fromkeys(case.modifier.name for case in found))
    source.report_key(
        ("matrix", modifiers.AXIS),
        f"netdyno cannot change the filters of a device of kind `{plan.lab.kind}` between cases: {named}",
        "make a run for each: `only: [{modifier: none}]`, then, with the rules of `netdyno filters` in the"
        " device, `only: [{modifier: filters-1, direction: uni}]`",
        code="not-askable",
    )


def _check_configuration(source: Source, plan: Plan, found: tuple[Case, ...]) -> None:
    """Reports the mistakes of templates that show without the device, each with the first case that has it.

    What depends on the device's running configuration is found when the case configures it.
    """
    kind = plan.kind
    # An endpoint that is wrong has been reported: templates would be blamed for the port that they lack.
    if not plan.lab.configuration or any(link.device_port == NO_PORT for link in plan.lab.links):
        return
    by_mistake: dict[tuple[str, int, str], tuple[TemplateMistake, list[str]]] = {}
    first = {tuple(case.settings.items()): case for case in reversed(found)}
    rendered = list(reversed(first.values()))[:MOST_RENDERED]
    mistaken = kind.driver.find_mistakes(kind.reached, [one.settings for one in rendered])
    for case, mistakes in zip(rendered, mistaken, strict=False):
        for mistake in mistakes:
            key = (mistake.template, mistake.line, mistake.why)
            by_mistake.setdefault(key, (mistake, []))[1].append(case.name)
    place = ("lab", "nodes", plan.lab.device, "configuration")
    for mistake, of in by_mistake.values():
        more = f" and {len(of) - 1} more" if len(of) > 1 else ""
        source.report(place, f"{mistake} (case `{of[0]}`{more})", mistake.hint, code=mistake.code)


def _find_direction(looked: Looked) -> Iterator[Mistake]:
    """A direction that the pattern does not have between so many ports."""
    case = looked.case
    there, why = possible_in_all(case.pattern, looked.sizes, [group.name for group in case.groups])
    if case.direction not in there:
        yield Mistake(
            ("matrix",),
            f"`{case.pattern}` has no direction `{case.direction}` in case `{case.name}`: {why}",
            f"leave it out: `skip: [{{pattern: {case.pattern}, direction: {case.direction}}}]`",
            once=(case.pattern, case.direction),
            is_key=True,
            code="unsupported",
        )


def _find_parameters(looked: Looked) -> Iterator[Mistake]:
    """Values of axes that make no sense together, or beside the other parameters."""
    error = looked.refused.get(looked.plan.chosen_of(looked.case))
    for finding in () if error is None else error.errors(include_url=False):
        cause = finding["ctx"]["error"]
        assert isinstance(cause, Problem), "parameters that do not fit together are refused by a problem"
        yield Mistake(
            looked.of_method(*cause.at),
            f"{cause.message}, in case `{looked.case.name}`",
            cause.hint,
            code=cause.code,
        )


def _find_mtu(looked: Looked) -> Iterator[Mistake]:
    """Frames that are longer than the MTU of the lab lets pass, or of an MTU that it does not have."""
    case, kind = looked.case, looked.plan.kind
    profile = case.profile
    mtu = mtu_of(case.settings)
    if any(part.size is OF_MTU for part in (profile, *profile.parts)) and MTU_SETTING not in case.settings:
        has = MTU_SETTING in kind.settings
        own = next((name for name in profile.classes if profile.of_class(name).size is OF_MTU), "")
        yield Mistake(
            looked.of_traffic(*(() if profile.size is OF_MTU else ("classes", own)), "size"),
            f"`size: mtu` is the longest frame of an MTU, and the lab of case `{case.name}` has none",
            "give one: `matrix: {mtu: [1500, 9000]}`" if has else f"a size: `{kind.name}` has no `mtu`",
            once=case.profile_name,
            code="missing-field",
        )
        return
    # A template's is the user's. One that is no number is reported with the lab.
    if mtu is None or MTU_SETTING in kind.taken:
        return
    for name in ("", *profile.classes):
        most = longest_frame(mtu, profile.of_class(name).own_tags)
        size = profile.of_class(name).mix.largest
        if size > most:
            yield Mistake(
                looked.of_traffic(*(("classes", name) if name else ()), "size"),
                f"frames of {size}B are longer than an `mtu` of {mtu} lets pass, {most}B, in case"
                f" `{case.name}`",
                f"`size: mtu`, `{most}B` or less, or an `mtu` of {size - most + mtu}",
                once=(case.profile_name, mtu, size),
                code="out-of-range",
            )


def _find_offloads(looked: Looked) -> Iterator[Mistake]:
    """Joined segments under a tester of frames, which counts each."""
    plan = looked.plan
    if looked.case.settings.get(OFFLOADS_SETTING) != OFFLOADS_ON or looked.method.load_class is not FRAMES:
        return
    if OFFLOADS_SETTING in plan.kind.taken:
        return
    values = dict(plan.axes).get(OFFLOADS_SETTING)
    place: Path_ = ("lab", "nodes", plan.lab.device, "settings", OFFLOADS_SETTING)
    if values is not None:
        place = ("matrix", OFFLOADS_SETTING, values.index(OFFLOADS_ON))
    yield Mistake(
        place,
        f"`{plan.method}` counts frames, and with `offloads: on` the kernel joins them",
        "`offloads: on` is for connections: `tester: iperf3` with `method: tcp`",
        code="unsupported",
    )


def _find_connections(looked: Looked) -> Iterator[Mistake]:
    """A profile of connections has one size, the longest frame, and as many flows as they are."""
    profile, method = looked.case.profile, looked.method
    if method.load_class is FRAMES:
        return
    for number, link in enumerate(looked.plan.lab.links):
        if link.bundle:
            yield Mistake(
                ("lab", "links", number, "bundle"),
                f"`{method.name}` opens connections, each with a port as its host: another one cannot answer",
                "leave `bundle` out, or take a method of frames",
                once="bundle",
                is_key=True,
                code="unsupported",
            )
    for field in sorted(profile.model_fields_set - {"size", "flows"}):
        yield Mistake(
            looked.of_traffic(field),
            f"`{method.name}` opens connections, whose frames the tester's kernel makes: `{field}` cannot be"
            " said",
            "say `size` and `flows` alone",
            is_key=True,
            code="unsupported",
        )
    if len(profile.mix.weights) > 1:
        yield Mistake(
            looked.of_traffic("size"),
            f"`{method.name}` opens connections, and their segments are as long as fits: a mix cannot be"
            " said",
            "the longest frame: `size: 1518B`",
            code="unsupported",
        )
    if not looked.parameters.needs_flows:
        return
    message = f"`{method.name}` opens a connection for each flow, at most {MOST_CONNECTIONS} of a stream"
    hint = "say how many: `flows: 5`"
    if "flows" not in profile.model_fields_set:
        yield Mistake(looked.of_traffic(), message, hint, is_key=True, code="missing-field")
    elif profile.flows > MOST_CONNECTIONS:
        yield Mistake(looked.of_traffic("flows"), message, hint, code="out-of-range")


def _find_servers(looked: Looked) -> Iterator[Mistake]:
    """What needs a host of the tester's at an end where a server on another host is."""
    links, method = looked.plan.lab.links, looked.method
    if not any(port.server for port in looked.lab.ports) or method.load_class is FRAMES:
        return
    for number, link in enumerate(links):
        if not link.server and not link.address:
            yield Mistake(
                ("lab", "links", number),
                f"a server on another host answers to an address, and `{link.tester_port}` has none",
                "give the link its `address`, and `gateway` if a router is between",
                is_key=True,
                code="missing-field",
            )
    if method.needs_path:
        yield Mistake(
            looked.of_method(),
            f"`{method.name}` needs the tester's own frames, which no server on another host receives",
            "`method: tcp`, or a port of this machine in place of `server`",
            is_key=True,
            code="unsupported",
        )
        return
    ends = {"receive_buffer": False, "send_buffer": True}
    for stream in streams(looked.case, looked.wiring):
        sender, receiver = (looked.wiring.ports[port] for port in (stream.place.tx, stream.place.rx))
        if sender.server and receiver.server:
            yield Mistake(
                ("lab", "links", looked.wiring.in_lab(stream.place.rx), "server"),
                f"`{stream.name}` is between two servers, and netdyno is at neither end",
                "a port of this machine for one of them",
                is_key=True,
                code="conflict",
            )
            continue
        for parameter, is_sender in ends.items():
            if (
                getattr(looked.parameters, parameter) is not None
                and (sender if is_sender else receiver).server
            ):
                yield Mistake(
                    looked.of_method(parameter),
                    f"`{parameter}` of `{stream.name}` would be of the server's host, which is another one",
                    "`window` sets both buffers at both ends",
                    is_key=True,
                    once=parameter,
                    code="unsupported",
                )


def _find_set_twice(looked: Looked) -> Iterator[Mistake]:
    """An axis of a setting that the modifier sets."""
    case, links = looked.case, len(looked.plan.lab.links)
    found = ways(case.pattern, case.direction, links)
    axes = dict(looked.plan.axes)
    for setting in case.modifier.settings(case.profile, found, links):
        if setting in axes:
            yield Mistake(
                ("matrix", setting),
                f"`{setting}` is what the modifier `{case.modifier.name}` sets: it is no axis of its own",
                f"leave `{setting}` out of the matrix",
                once=(setting, case.modifier.name),
                code="conflict",
            )


def _find_modifier(looked: Looked) -> Iterator[Mistake]:
    """A modifier that the case cannot be run under."""
    plan, case = looked.plan, looked.case
    found = ways(case.pattern, case.direction, len(plan.lab.links))
    asked = modifiers.Asked(case.profile, found, plan.kind, plan.lab.links, case.settings)
    problem = case.modifier.problem(asked)
    if looked.method.load_class is not FRAMES and (case.modifier.share or case.modifier.words is not None):
        problem = Problem(
            f"its frames are the tester's own, and `{plan.method}` opens connections alone",
            "leave it out",
            code="unsupported",
        )
    if problem is not None:
        yield Mistake(
            ("matrix", modifiers.AXIS, dict(plan.axes)[modifiers.AXIS].index(case.modifier.name)),
            f"`{case.modifier.name}` cannot be in case `{case.name}`: {problem.message}",
            problem.hint,
            once=(case.modifier.name, problem.message),
            code=problem.code,
        )


def _find_lab(looked: Looked) -> Iterator[Mistake]:
    """Settings that the device cannot be wired with."""
    if isinstance(looked.wired, ValueError):
        once = tuple(looked.case.settings.items())
        message = f"`{looked.plan.lab.kind}`: {looked.wired}"
        yield Mistake(("lab",), message, None, once=once, is_key=True, code="out-of-range")


SHAPED = ("shaped-100mbit", "llq-100mbit", "fair-queue-100mbit")
"""Services that are a limit themselves."""
FOLLOWED = "take UDP or TCP over IPv4, with a probe"
"""What flows are to be so that answers to them are known."""
MOST_TRACKED = 131_072
"""Flows: half of the connections that Linux tracks by default (`nf_conntrack_max`)."""


def _find_service(looked: Looked) -> Iterator[Mistake]:
    """A service that traffic goes both ways through, or of more flows than it can keep apart."""
    case, kind = looked.case, looked.plan.kind
    if case.settings.get(SERVICE_SETTING, NO_SERVICE) == NO_SERVICE:
        return
    if kind.emulated or SERVICE_SETTING in kind.taken:
        # What a model's service takes has no direction, and it tracks nothing. A template's is the user's.
        return
    service = case.settings[SERVICE_SETTING]
    keeps_state = isinstance(looked.wired, Wiring) and Trait.KEEPS_STATE in looked.wired.traits
    parts = [case.profile.of_class(name) for name in ("", *case.profile.classes)]
    if case.direction == "bidir" and keeps_state:
        # What comes back answers.
        if not all(part.can_answer for part in parts):
            yield Mistake(
                looked.of_traffic(),
                f"traffic goes both ways through the service `{service}`, and flows of `{case.profile_name}`"
                " cannot be followed through it",
                f"{FOLLOWED}; or `direction: [uni]`",
                code="unsupported",
                once=(SERVICE_SETTING, case.profile_name),
            )
    elif case.direction != "uni":
        yield Mistake(
            ("matrix", "direction"),
            f"the service `{service}` works from the first port to the second, and traffic goes both ways",
            "`direction: [uni]`",
            code="unsupported",
            once=SERVICE_SETTING,
        )
    if looked.plan.method == "service-cost" and service in SHAPED:
        yield Mistake(
            (looked.method_key, looked.plan.method),
            f"the service `{service}` has a rate of its own: what is less with it is that rate, and no cost",
            "`shaper` and `priority` are the same work at a rate above the load; or take `sweep`",
            code="unsupported",
            once=SERVICE_SETTING,
        )
    if case.profile.flows > MOST_TRACKED:
        yield Mistake(
            looked.of_traffic("flows"),
            f"`{case.profile_name}` has {whole(case.profile.flows)} flows, and connection tracking room for"
            f" {whole(2 * MOST_TRACKED)}",
            f"take {whole(MOST_TRACKED)} flows or fewer, half of that",
            code="out-of-range",
        )


def _find_answers(looked: Looked) -> Iterator[Mistake]:
    """Answers that there are none of, or to flows that cannot be followed through a translator."""
    case, profile = looked.case, looked.case.profile
    if not profile.answers:
        return
    if case.direction != "bidir" or case.pattern != PAIRS:
        why = "answers go the way back between two ports", "`direction: [bidir]`, and no `pattern`"
    elif not profile.can_answer:
        why = f"flows of `{case.profile_name}` cannot be followed through a translator", FOLLOWED
    else:
        return
    yield Mistake(
        looked.of_traffic("answers"), why[0], why[1], code="unsupported", once=(why, case.profile_name)
    )


def _find_routes(looked: Looked) -> Iterator[Mistake]:
    """Every route is sent to, so the destinations of a profile are theirs."""
    if not looked.lab.routes:
        return
    name, profile, behind = looked.case.profile_name, looked.case.profile, looked.lab.routes[0]
    version = routes.version(behind)
    if any(part.headers is not None for part in (profile, *profile.parts)):
        field = "headers"
        why = "destinations are drawn from the routes", "leave `headers` out: `ip` says which version"
    elif profile.pool.version != version:
        field = "ip"
        why = f"destinations are drawn from the routes, which are IPv{version}", f"take `ip: {version}`"
    elif (flows := min(part.flows for part in profile.parts)) < len(behind):
        field = "flows"
        why = (
            f"{flows} flows do not reach all of {len(behind)} routes",
            f"`flows: {len(behind)}` or more",
        )
    else:
        yield from _find_no_next_hop(looked)
        return
    message, hint = f"{why[0]} (case `{looked.case.name}`)", why[1]
    place = looked.of_traffic(field)
    yield Mistake(place, message, hint, once=(name, why), is_key=True, code="conflict")


def _find_no_next_hop(looked: Looked) -> Iterator[Mistake]:
    """IPv6 frames to a port where the tester has no IPv6 address: the device could not send them there."""
    lab, plan = looked.wiring, looked.plan
    if plan.kind.configured or routes.version(lab.routes[0]) == 4:
        return
    for number in sorted({stream.place.rx for stream in streams(looked.case, lab)}):
        port, place = lab.ports[number], ("lab", "links", lab.in_lab(number))
        bgp = None if port.speaker is None else port.speaker.bgp
        if port.ipv6 is None and (bgp is None or not bgp.has_ipv6):
            message = f"IPv6 frames go to `{port.name}`, and the device has no next hop for them there"
            hint = "a `direction` or `pattern` to links with IPv6 routes, or IPv6 as `address` and `gateway`"
            yield Mistake(place, message, hint, is_key=True, code="missing-field")


def _find_bridged(looked: Looked) -> Iterator[Mistake]:
    """A pattern of MAC addresses wants a device that forwards by them, and one stream a way."""
    case = looked.case
    if not PATTERNS[case.pattern].bridged:
        return
    if looked.is_routed:
        why = "the device routes", "take a bridge, such as `emulated/bridge` or `linux/bridge`"
    elif case.profile.classes:
        why = f"`{case.profile_name}` has classes", "a profile without `classes`"
    else:
        return
    message = f"`{case.pattern}` works with MAC addresses, and in case `{case.name}` {why[0]}"
    once = (case.pattern, why)
    yield Mistake(("matrix",), message, why[1], once=once, is_key=True, code="unsupported")


def _find_tags(looked: Looked) -> Iterator[Mistake]:
    """VLAN tags of a profile that the device takes none of."""
    profile, name = looked.case.profile, looked.case.profile_name
    # Behind Ethernet; a tag farther in belongs to whoever opens the tunnel.
    is_tagged = any(isinstance(header, Vlan) for part in profile.parts for header in part.stack[1:2])
    if is_tagged and Trait.REFUSES_TAGS in looked.lab.traits:
        written: Path_ = ("headers", 1) if profile.headers is not None else ("vlan",)
        yield Mistake(
            looked.of_traffic(*written),
            f"frames of `{name}` have a VLAN tag, and `{looked.plan.lab.kind}` has no VLANs in case"
            f" `{looked.case.name}`: it would not answer, and drop them",
            "take the tag out, or give a device that forwards tagged frames, such as `emulated/bridge`",
            is_key=profile.headers is None,
            code="unsupported",
        )


def _find_vlans(looked: Looked) -> Iterator[Mistake]:
    """VLANs of the links that the case cannot be on. The first is reported: others may follow from it."""
    for problem in vlan_problems(looked.case, looked.wiring):
        message = f"{problem.message}, in case `{looked.case.name}`"
        once = (problem.at, problem.message)
        yield Mistake(problem.at, message, problem.hint, once=once, is_key=True, code=problem.code)
        return


def _find_fast_classes(looked: Looked) -> Iterator[Mistake]:
    """Classes with rates of their own that leave nothing of a line."""
    case = looked.case
    for port in looked.wiring.ports:
        taken = taken_by_classes(case, port)
        if taken > 1 or (taken == 1 and not case.profile.sends_by_itself):
            rated = {name: own.rate for name, own in case.profile.classes.items() if own.rate is not None}
            named = ", ".join(f"`{name}` {rate}" for name, rate in rated.items())
            yield Mistake(
                looked.of_traffic("classes", next(iter(rated)), "rate"),
                f"the rates of classes ({named}) take {decimal(100 * taken, 2)} % of the line of"
                f" `{port.name}`: nothing is left for the method's load, in case `{case.name}`",
                "lower rates; a load is of what they leave of the line",
                code="load-above-line",
            )
            return


def _find_own_rates(looked: Looked) -> Iterator[Mistake]:
    """Classes that all send by themselves, of a method that has a load."""
    if looked.case.profile.sends_by_itself and not looked.method.sends_by_itself:
        able = [name for name, one in looked.tables.methods.items() if one.sends_by_itself]
        yield Mistake(
            looked.of_traffic("classes"),
            "every class has a time of its own to send: none is left for the load of the method",
            f"add a class such as `default: {{}}`, or one with a `rate` alone; or use {names(able)}",
            is_key=True,
            once=looked.case.profile_name,
            code="missing-field",
        )


def _find_many_bursts(looked: Looked) -> Iterator[Mistake]:
    """More bursts than a schedule has room for."""
    case = looked.case
    if not any(own.has_time for own in case.profile.classes.values()):
        return
    longest_ns = find_longest_ns(looked.method, looked.parameters)
    for number in sorted({stream.place.tx for stream in streams(case, looked.wiring)}):
        try:
            list_bursts(list_sendings(case, looked.wiring.ports[number]), longest_ns)
        except Problem as problem:
            yield Mistake(
                looked.of_traffic("classes", *problem.at),
                f"{problem.message}, in case `{case.name}`",
                problem.hint,
                is_key=True,
                once=case.profile_name,
                code=problem.code,
            )
            return


def _find_addresses(looked: Looked) -> Iterator[Mistake]:
    """Three or more ports without addresses of their own, each enough for the flows."""
    profile, ports = looked.case.profile, len(looked.lab.ports)
    if ports < 3:
        return
    if any(part.headers is not None for part in profile.parts):
        if looked.is_routed:
            yield Mistake(
                looked.of_traffic("headers"),
                "`headers` give every port the same addresses, and a router sends them all to one port",
                "with three or more links say `addresses`, of which each port gets its own part",
                is_key=True,
                code="conflict",
            )
        return
    try:
        have = distinct_flows(profile.between(0, 1, ports=ports), profile.writes)
    except ValueError as error:
        message = f"{error}: too few for three or more links"
        yield Mistake(looked.of_traffic("addresses"), message, "a larger network", code="too-many")
        return
    flows = max(part.flows for part in profile.parts)
    if flows > have:
        which = {8: "an eighth", 64: "a 64th"}[count_parts(ports)]
        message = f"{flows} flows, but {which} of the addresses, which each port has, makes {have}"
        hint = f"{at_most(have)}, or larger networks"
        yield Mistake(looked.of_traffic("flows"), message, hint, code="too-many")


def _find_single_flow(looked: Looked) -> Iterator[Mistake]:
    """A single flow that does not meet the same ceiling in all groups."""
    case = looked.case
    rates = {port.name: (port.rate_bps, port.member_bps) for port in looked.wiring.ports}
    if case.profile.flows == 1 and not _is_one_member(case.groups, rates):
        yield Mistake(
            looked.of_traffic("flows"),
            f"a single flow uses one member of a port, and the groups of case `{case.name}` have"
            " different members",
            "more flows, or the groups in plans of their own",
            code="unsupported",
        )


def _is_one_member(groups: tuple[Group, ...], rates: Mapping[str, tuple[int, int]]) -> bool:
    """Whether a single flow meets the same ceiling in all groups. rates: of each port, and of its member."""
    return len({min(rates[port] for port in group.ports) for group in groups}) <= 1 or all(
        rate == member for rate, member in rates.values()
    )


def _find_flows(looked: Looked) -> Iterator[Mistake]:
    """More flows of all streams than can be distinguished."""
    case = looked.case
    flows, streams = total_flows(case, looked.wiring), len(looked.situation.streams)
    if flows > MOST_FLOWS:
        of = f", of {streams} streams," if streams > 1 else ""
        yield Mistake(
            looked.of_traffic("flows"),
            f"{flows} flows in all{of} in case `{case.name}`; at most {MOST_FLOWS} can be distinguished",
            at_most(case.profile.flows * MOST_FLOWS // flows),
            code="too-many",
        )


def _find_members(looked: Looked) -> Iterator[Mistake]:
    """Flows for the members of a LAG where there is none, or one of other members than shares."""
    case, spread, method = looked.case, looked.case.profile.spread, looked.method
    if spread is None:
        return
    place = looked.of_traffic("flows", "members")
    why = ""
    if method.load_class is not FRAMES:
        why = f"`{method.name}` opens connections, whose members are not learned"
    elif not case.profile.probe:
        why = f"the members of flows are learned by probes, and frames of `{case.profile_name}` have none"
    if why:
        yield Mistake(place, why, "a number of flows alone", once=(place, why), code="unsupported")
        return
    to_lags = list(list_spread(looked.plan, case, looked.wiring))
    senders = {one.place.tx for one in streams(case, looked.wiring)}
    if not to_lags and not any(map(looked.wiring.arrival_ports, senders)):
        yield Mistake(
            place,
            f"no LAG is at an end of the traffic of case `{case.name}`",
            "a `lag` or `bundle` of links, a device whose members its `driver` or an emulation counts, or a"
            " number of flows alone",
            code="unsupported",
        )
    for stream, members in to_lags:
        if spread.shares and len(spread.shares) != members:
            yield Mistake(
                place,
                f"{len(spread.shares)} shares, and `{stream.name}` goes to {members} members, in case"
                f" `{case.name}`",
                f"a share for each member, in order, or `{EVEN}`",
                code="out-of-range",
            )
        elif members > spread:
            yield Mistake(
                looked.of_traffic("flows"),
                f"{members} members cannot share {spread} flows, in case `{case.name}`",
                f"`count: {members}` or more",
                code="out-of-range",
            )


def _find_uneven(looked: Looked) -> Iterator[Mistake]:
    """Frames that do not leave evenly, of a method that has a load of its own shape."""
    profile, method = looked.case.profile, looked.method
    if not looked.situation.is_uneven or not method.needs_even:
        return
    uneven = next(name for name in profile.classes or ("",) if not profile.of_class(name).arrival.is_even)
    own = uneven and profile.classes[uneven].arrival is not None
    yield Mistake(
        looked.of_traffic(*(("classes", uneven) if own else ()), "arrival"),
        f"`{method.name}` changes its load by itself and cannot be combined with"
        f" `arrival: {profile.of_class(uneven).arrival}`",
        "use a method of constant loads, such as `sweep`, `ndr`, `throughput` or `soak`, or remove `arrival`",
        is_key=True,
        code="unsupported",
    )


def _find_probe(looked: Looked) -> Iterator[Mistake]:
    """Frames without a probe where the case needs one."""
    method, name = looked.method, looked.case.profile_name
    profile = looked.case.profile
    if all(part.probe for part in profile.parts) or (method.counts_alone and not looked.lab.routes):
        return
    if looked.lab.routes:
        who, hint = "`routes` are checked", "remove `probe: false`, or `routes` from the matrix"
    else:
        counting = [other for other, one in looked.tables.methods.items() if one.counts_alone]
        who = f"`{method.name}` tells frames apart"
        hint = f"remove `probe: false`, or use a method that only counts: {names(counting)}"
    message = f"{who} by the probe in each frame, and frames of `{name}` have none"
    bare = next((traffic for traffic, own in profile.classes.items() if own.probe is False), "")
    at = ("classes", bare, "probe") if profile.probe else ("probe",)
    yield Mistake(looked.of_traffic(*at), message, hint, is_key=True, code="unsupported")


def _find_fit(looked: Looked) -> Iterator[Mistake]:
    """What its method says of the case; reported of one case."""
    fits = looked.method.fits
    problem = None if fits is None else fits(looked.parameters, looked.situation)
    if problem is not None:
        yield Mistake(
            looked.of_method(*problem.at),
            f"{problem.message}, in case `{looked.case.name}`",
            problem.hint,
            is_key=True,
            code=problem.code,
        )


def _find_trials(looked: Looked) -> Iterator[Mistake]:
    """Trials that can show nothing."""
    plan = looked.plan
    found = trial_problems(looked.parameters, looked.situation, looked.case, plan.scale)
    for problem in found:
        yield Mistake(looked.of_method(*problem.at), problem.message, problem.hint, code=problem.code)


def _find_loads(looked: Looked) -> Iterator[Mistake]:
    """Loads above the line, and those whose wave goes above it."""
    case, line, frames = looked.case, looked.situation.line_fps, looked.case.profile.mix.name
    for path, load in looked.parameters.loads():
        if isinstance(load.amount, Percent) and load.amount.amount > 1:
            continue  # which has been reported
        asked = looked.situation.fps(load.amount)
        swing = _swing(case.profile)
        if asked > line:
            yield Mistake(
                looked.of_method(*path),
                f"a load of {load} is {decimal(100 * asked / line, 2)} % of the line in case `{case.name}`",
                f"{looked.wiring.slowest} carries at most {whole(line)} frames/s of {frames}",
                code="load-above-line",
            )
        elif asked * (1 + swing) > line:
            yield Mistake(
                looked.of_method(*path),
                f"a load of {load} is {decimal(100 * asked * (1 + swing) / line, 2)} % of the line at the"
                f" crest of its wave, in case `{case.name}`",
                f"at most `{decimal(Fraction(int(1000 / (1 + swing)), 10), 1)}%`, or less `depth`",
                code="load-above-line",
            )


def _swing(profile: Profile) -> Fraction:
    """How far waves take the load of a method above itself, as a share of it."""
    shares = {name: own.share for name, own in profile.classes.items() if own.rate is None} or {"": None}
    found = Fraction(0)
    for name, share in shares.items():
        arrival = profile.of_class(name).arrival
        if arrival.period is not None:
            part = Fraction(1) if not name else share.amount if share is not None else Fraction(0)
            found += part * arrival.swing.amount
    return found


@dataclass(frozen=True)
class Rule:
    """A row of the table. ends: a case in which it finds anything is looked at no further."""

    find: Callable[[Looked], Iterator[Mistake]]
    ends: bool = False


RULES = (
    Rule(_find_parameters, ends=True),
    Rule(_find_direction, ends=True),
    Rule(_find_mtu, ends=True),
    Rule(_find_offloads),
    Rule(_find_connections),
    Rule(_find_set_twice),
    Rule(_find_modifier, ends=True),
    Rule(_find_lab, ends=True),
    Rule(_find_service),
    Rule(_find_answers),
    Rule(_find_routes),
    Rule(_find_servers),
    Rule(_find_bridged),
    Rule(_find_tags),
    Rule(_find_vlans, ends=True),
    Rule(_find_own_rates, ends=True),
    Rule(_find_fast_classes, ends=True),
    Rule(_find_many_bursts, ends=True),
    Rule(_find_addresses),
    Rule(_find_single_flow),
    Rule(_find_flows),
    Rule(_find_members),
    Rule(_find_uneven),
    Rule(_find_probe),
    Rule(_find_fit),
    Rule(_find_trials),
    Rule(_find_loads),
)
"""In order: what ends comes before what takes it for granted."""
