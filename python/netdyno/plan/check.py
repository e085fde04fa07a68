"""What the parts of a plan mean together. Every rule notes its mistakes and lets the next one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from netdyno import modifiers
from netdyno.devices import routes
from netdyno.devices.drivers import Reached
from netdyno.devices.filters import SETTING as FILTERS
from netdyno.devices.kind import Kind
from netdyno.devices.wiring import PEER, Trait, Wiring
from netdyno.errors import Problem, names, suggestion
from netdyno.methods.parts.procedure import rounded
from netdyno.plan import Plan, Profile, Tables, check_watch, problems, suites
from netdyno.plan import models as m
from netdyno.plan.check_configuration import check_configuration
from netdyno.plan.check_goals import in_reach as goals_in_reach
from netdyno.plan.check_goals import read_goals
from netdyno.plan.check_goals import timed as goals_timed
from netdyno.plan.check_groups import check_fit, groups, one_member
from netdyno.plan.check_lab import include, lab
from netdyno.plan.check_matrix import MAX_CASES, axes, filters, only_kind, possible_in_all
from netdyno.plan.check_traffic import (
    MOST_FLOWS,
    no_tags,
    of_connections,
    probes_needed,
    profiles,
    shared_out,
    swing,
    too_fast_classes,
    too_many_flows,
    uneven_load,
    wave_above_line,
)
from netdyno.plan.check_trials import problems as trial_problems
from netdyno.plan.check_trials import short_samples
from netdyno.plan.check_vlans import vlans_fit
from netdyno.plan.goals import goal_kinds
from netdyno.plan.groups import BESIDE, Group
from netdyno.plan.matrix import Case, cases, situation, total_flows, wire_groups
from netdyno.plan.patterns import PAIRS, PATTERNS, ways
from netdyno.plan.reached import check_ports
from netdyno.plan.source import Source
from netdyno.values.load import FRAMES, LoadClass
from netdyno.values.offer import Offer
from netdyno.values.rates import line_rate, load_fps
from netdyno.values.situation import GROUP_AXIS, Situation
from netdyno.values.units import L1Rate, Percent, decimal

MAX_SAMPLES = 2_000_000
"""Samples of a trial: 55 hours of 100 ms. Each takes about 100 bytes in memory. A store takes twice that."""
MAX_OF_A_CASE = 4_000_000
"""Samples of all trials of a case: 46 days of a second. A report takes 8 bytes a count of each."""


def check(source: Source, base: Path | None, tables: Tables) -> Plan | None:
    """Checks all of a plan, noting mistakes in the source; the plan, if it can be understood."""
    if not isinstance(source.value, dict):
        message = (
            "the plan is empty"
            if source.value is None
            else f"a plan is a mapping, not {problems.format_value(source.value)}"
        )
        needed = "needed are `title`, `lab`, `traffic` and `method`, or `lab` and `suite`"
        source.report((), message, f"begin with `title: ...`; {needed}", code="wrong-type")
        return None
    included = include(source, base)
    raw: dict[str, Any] = suites.fill_suite(source, source.value)
    unknown = suites.KEY in source.value and raw["method"] is None
    told = (*(() if included is not None else ("lab",)), *(("method",) if unknown else ()))
    problems.validate_part(m.PlanFile, raw, source, told=told)
    # The rules below look at the parts that are right, so that one slip does not hide another.
    whole, lost = problems.salvage_part(m.PlanFile, {**raw, **_STAND_IN})
    assert whole is not None, "what stands in is right"
    planned = lab(source, raw.get("lab"), tables, base)
    known = profiles(source, raw.get("traffic"))
    kind = tables.kinds[planned.kind] if planned else only_kind(raw, tables)
    if planned is not None and planned.driver and kind is not None and kind.takes_driver:
        check_ports(source, planned)
        ends = Reached(
            tuple(port for link in planned.links for port in link.device_ports),
            planned.links,
            planned.access,
            planned.configuration,
            base,
        )
        kind = kind.reached_by(tables.drivers[planned.driver], ends)
    ports: tuple[Group, ...] = ()
    sound = len(source.errors)
    if planned is not None and whole.groups:
        planned, ports = groups(source, whole.groups, planned)
    grouped = len(source.errors) == sound
    sizes = [len(group.ports) for group in whole.groups.values()] or [len(planned.links) if planned else 2]
    is_any = any(error.path.endswith(".driver") for error in source.errors)
    matrix = axes(source, raw, kind, tables, sizes, tuple(whole.groups), is_any)
    filtered = filters(source, raw, matrix) and not lost & {"only", "skip"}
    method, parameters, guessed = _method(source, raw.get("method"), tables)
    if method is not None and not lost & {"trial"} and "sample" in whole.trial.model_fields_set:
        longer = short_samples(parameters, whole.trial.sample)
        if longer is not None:
            source.report(("trial", "sample"), longer.message, longer.hint, code=longer.code)
    if method is not None:
        whole = _as_usual(whole, tables.methods[method])
    if method is not None and not guessed and not lost & {"scale"}:
        _samples(source, whole, tables.methods[method], parameters)
    watched = None
    if not lost & {"watch"}:
        watched = check_watch.watch(source, whole.watch, planned, kind, matrix or (), tables)
    goals = tuple(read_goals(source, raw.get("goals"), goal_kinds(tables.methods, class_names(known))))
    if not lost & {"watch"}:
        check_watch.goals_watched(source, goals, watched)
    if not lost & {"tester"}:
        _tester(source, whole.tester, kind, method, tables)
    if included is None or planned is None or matrix is None or method is None or not known:
        return None
    title = raw.get("title")
    plan = Plan(
        title=title if isinstance(title, str) else "",
        lab=planned,
        profiles=known,
        axes=matrix,
        only=_filter(whole.only),
        skip=_filter(whole.skip),
        method=method,
        parameters=parameters.scaled(whole.scale),
        trial=whole.trial.scaled(whole.scale),
        written=whole.trial,
        goals=goals,
        scale=whole.scale,
        seed=whole.seed,
        repeat=whole.repeat,
        file=source.file,
        text=source.text,
        included=included,
        kind=kind,
        tester=whole.tester,
        groups=ports,
        watch=watched,
    )
    if ports:
        able = [name for name, one in tables.methods.items() if one.groups]
        check_fit(source, tables.methods[method], dict(matrix), able)
    if filtered and grouped:
        _cases(source, plan, tables)
    return plan


_STAND_IN: dict[str, Any] = {
    "title": "?",
    "lab": {"nodes": {}, "links": []},
    "traffic": {"any": {"size": "64B"}},
    "method": {},
}
"""For what a plan needs, so that the rest of it can be read; each of these is read by itself."""


def class_names(profiles: Mapping[str, Profile]) -> dict[str, None]:
    """The names of all classes of traffic."""
    return {name: None for profile in profiles.values() for name in profile.classes}


def _filter(entries: list[dict[str, list[str]]]) -> tuple[dict[str, tuple[str, ...]], ...]:
    return tuple({axis: tuple(values) for axis, values in entry.items()} for entry in entries)


def _tester(source: Source, name: str, kind: Kind | None, method: str | None, tables: Tables) -> None:
    """The tester must be known, and offer what the method and the device need."""
    if name not in tables.testers:
        known = suggestion(name, tables.testers, "testers")
        source.report(("tester",), f"unknown tester `{name[:40]}`", known, code="unknown-name")
        return
    offers = tables.testers[name]
    needs = [] if method is None else [(f"`{method}`", need) for need in sorted(tables.methods[method].needs)]
    if kind is not None and kind.emulated:
        needs.append((f"`{kind.name}`", Offer.VIRTUAL_TIME))
    for who, need in needs:
        if need not in offers:
            able = [other for other, others in tables.testers.items() if need in others]
            step = f"`tester: {able[0]}` offers it" if able else "no tester offers it: take another method"
            source.report(
                ("tester",),
                f"{who} needs {need}, which the tester `{name}` does not offer",
                step,
                code="unsupported",
            )


def _method(source: Source, raw: object, tables: Tables) -> tuple[str | None, Any, bool]:
    """Exactly one method, its parameters as its own model has them, and whether one had to be guessed."""
    key = suites.key(source)
    if not isinstance(raw, dict):
        return None, None, False
    if len(raw) != 1:
        source.report(
            ("method",),
            f"`method` names {len(raw)} methods, and a plan has one",
            f"methods: {names(tables.methods)}",
            key=True,
            code="given-twice",
        )
    for name in raw:
        if name not in tables.methods:
            source.report(
                (key, name),
                f"unknown method `{str(name)[:40]}`",
                suggestion(str(name), tables.methods, "methods"),
                key=True,
                code="unknown-name",
            )
            continue
        model = tables.methods[name].parameters
        given = {} if raw[name] is None else raw[name]
        problems.validate_part(model, given, source, (key, name))
        parameters, lost = problems.salvage_part(model, given)
        if parameters is not None:
            for path, load in parameters.loads():
                if isinstance(load.amount, Percent) and load.amount.amount > 1:
                    source.report(
                        (key, name, *path),
                        f"a load of {load} is more than the line carries",
                        "give a percentage up to 100, or a rate such as `9.5Gbps`",
                        code="load-above-line",
                    )
        if len(raw) == 1 and parameters is not None:
            return name, parameters, bool(lost & set(problems.fields_at(model, ())))
    return None, None, False


def _routes(source: Source, case: Case, behind: tuple[str, ...], told: set[tuple[Any, ...]]) -> None:
    """Every route is sent to, so the destinations of a profile are theirs."""
    name, profile = case.profile_name, case.profile
    field, count, version = "flows", len(behind), routes.version(behind)
    why = None
    if profile.headers is not None:
        field = "headers"
        why = "destinations are drawn from the routes", "leave `headers` out: `ip` says which version"
    elif profile.pool.version != version:
        field = "ip"
        why = f"destinations are drawn from the routes, which are IPv{version}", f"take `ip: {version}`"
    elif profile.flows < count:
        why = f"{profile.flows} flows do not reach all of {count} routes", f"`flows: {count}` or more"
    if why is not None and (name, why) not in told:
        told.add((name, why))
        source.report(
            ("traffic", name, field), f"{why[0]} (case `{case.name}`)", why[1], key=True, code="conflict"
        )


def _bridged(source: Source, case: Case, wiring: Wiring, told: set[tuple[Any, ...]]) -> None:
    """A pattern of MAC addresses wants a device that forwards by them, and one stream a way."""
    why = None
    if any(port.destination != PEER for port in wiring.ports):
        why = "the device routes", "take a bridge, such as `emulated/bridge` or `linux/bridge`"
    elif case.profile.classes:
        why = f"`{case.profile_name}` has classes", "a profile without `classes`"
    if why is not None and (case.pattern, why) not in told:
        told.add((case.pattern, why))
        source.report(
            ("matrix",),
            f"`{case.pattern}` works with MAC addresses, and in case `{case.name}` {why[0]}",
            why[1],
            key=True,
            code="unsupported",
        )


def _one_filter(source: Source, plan: Plan, found: tuple[Case, ...]) -> None:
    """A device that nobody configures between two cases has the same filter in all of them."""
    asked = dict.fromkeys(case.settings.get(FILTERS) for case in found)
    if plan.kind.configured or len(asked) < 2:
        return
    named = names(dict.fromkeys(case.modifier.name for case in found))
    source.report(
        ("matrix", modifiers.AXIS),
        f"netdyno cannot change the filters of a device of kind `{plan.lab.kind}` between cases: {named}",
        "make a run for each: `only: [{modifier: none}]`, then, with the rules of `netdyno filters` in the"
        " device, `only: [{modifier: filters-1, direction: uni}]`",
        key=True,
        code="not-askable",
    )


def _as_usual(whole: m.PlanFile, method: Any) -> m.PlanFile:
    """The plan with its method's own length of a sample and own wait, unless it says them itself."""
    usual = {
        name: found
        for name in ("sample", "settle")
        if name not in whole.trial.model_fields_set and (found := getattr(method, name)) is not None
    }
    return whole.model_copy(update={"trial": whole.trial.model_copy(update=usual)}) if usual else whole


def _unmodifiable(
    source: Source, plan: Plan, case: Case, load_class: LoadClass, told: set[tuple[Any, ...]]
) -> bool:
    """True if a case cannot be run under its modifier; the problem is then reported."""
    found = ways(case.pattern, case.direction, len(plan.lab.links))
    axes = dict(plan.axes)
    for setting in case.modifier.settings(case.profile, found, len(plan.lab.links)):
        if setting in axes and (setting, case.modifier.name) not in told:
            told.add((setting, case.modifier.name))
            message = (
                f"`{setting}` is what the modifier `{case.modifier.name}` sets: it is no axis of its own"
            )
            source.report(
                ("matrix", setting), message, f"leave `{setting}` out of the matrix", code="conflict"
            )
    asked = modifiers.Asked(case.profile, found, plan.kind, plan.lab.links, case.settings)
    problem = case.modifier.problem(asked)
    if load_class is not FRAMES and (case.modifier.share or case.modifier.words is not None):
        problem = Problem(
            f"its frames are the tester's own, and `{plan.method}` opens connections alone",
            "leave it out",
            code="unsupported",
        )
    if problem is None:
        return False
    if (case.modifier.name, problem.message) not in told:
        told.add((case.modifier.name, problem.message))
        place = ("matrix", modifiers.AXIS, dict(plan.axes)[modifiers.AXIS].index(case.modifier.name))
        message = f"`{case.modifier.name}` cannot be in case `{case.name}`: {problem.message}"
        source.report(place, message, problem.hint, code=problem.code)
    return True


def _samples(source: Source, whole: m.PlanFile, method: Any, parameters: Any) -> None:
    """The series of a trial must fit into memory, and a report's figures into a page."""
    trial = whole.trial.scaled(whole.scale)
    # Each trial is drained as well.
    scaled = parameters.scaled(whole.scale)
    sending = method.traffic_seconds(scaled)
    trials = (None if method.trials is None else method.trials(scaled)) or 1
    of_a_trial = (sending / trials + trial.drain.amount) / trial.sample.amount
    of_all = sending / trial.sample.amount
    if of_a_trial > MAX_SAMPLES or of_all > MAX_OF_A_CASE:
        count, most = (of_a_trial, MAX_SAMPLES) if of_a_trial > MAX_SAMPLES else (of_all, MAX_OF_A_CASE)
        message = f"{int(count)} samples of {trial.sample} are more than {most}"
        source.report(
            ("trial", "sample"),
            message,
            "longer samples, `100ms` by default, or shorter trials and drain",
            code="too-many",
        )


def _understood(values: tuple[str, ...], known: tuple[str, ...] | None) -> tuple[str, ...]:
    """The values of an axis that there are; of a wrong one, the first there would be."""
    if not known:
        return values
    return tuple(value for value in values if value in known) or known[:1]


def _cases(source: Source, plan: Plan, tables: Tables) -> None:
    """Every case must be wirable and one its method can measure, and no load above what its line carries."""
    method = tables.methods[plan.method]
    # What is unknown has been reported; the cases that can be understood are looked at all the same.
    sizes = [len(group.ports) for group in plan.groups] or [len(plan.lab.links)]
    known = {
        **plan.kind.settings,
        "profile": tuple(plan.profiles),
        "pattern": tuple(name for name in PATTERNS if possible_in_all(name, sizes)[0]),
        modifiers.AXIS: tuple(modifiers.MODIFIERS),
    }
    if plan.groups:
        names = {group.name for group in plan.groups}
        right = (value for value in dict(plan.axes)[GROUP_AXIS] if names.issuperset(value.split(BESIDE)))
        known[GROUP_AXIS] = tuple(right) or tuple(names)
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
        source.report(
            ("repeat",), message, f"at most {MAX_CASES}: repeat less, or split the plan", code="too-many"
        )
    if not found and not source.errors:
        place: tuple[str | int, ...] = ("only",) if plan.only else ("skip",)
        source.report(
            place,
            "`only` and `skip` leave no case of the matrix",
            "name fewer cases in `skip`, or more in `only`",
            key=True,
            code="no-case",
        )
    _one_filter(source, plan, found)
    check_configuration(source, plan, found)
    told: set[tuple[Any, ...]] = set()
    tagged: set[str] = set()
    shaped: set[str] = set()
    bare: set[str] = set()
    shared: set[str] = set()
    single: set[str] = set()
    many: set[str] = set()
    opened: set[str] = set()
    fast: set[str] = set()
    wirings: dict[tuple[tuple[str, str], ...], Any] = {}
    reached: list[tuple[Situation, L1Rate]] = []
    for case in found:
        there, why = possible_in_all(
            case.pattern,
            [len(group.ports) for group in case.groups] or sizes,
            [group.name for group in case.groups],
        )
        if case.direction not in there:
            if (case.pattern, case.direction) not in told:
                told.add((case.pattern, case.direction))
                source.report(
                    ("matrix",),
                    f"`{case.pattern}` has no direction `{case.direction}` in case `{case.name}`: {why}",
                    f"leave it out: `skip: [{{pattern: {case.pattern}, direction: {case.direction}}}]`",
                    key=True,
                    code="unsupported",
                )
            continue
        if method.load_class is not FRAMES and case.profile_name not in opened:
            opened.add(case.profile_name)
            of_connections(source, case.profile_name, case.profile, method.name)
        if _unmodifiable(source, plan, case, method.load_class, told):
            continue
        chosen = tuple(case.settings.items())
        if chosen not in wirings:
            try:
                wirings[chosen] = plan.kind.wire(plan.lab.links, case.settings)
            except ValueError as error:
                wirings[chosen] = None
                source.report(("lab",), f"`{plan.lab.kind}`: {error}", None, key=True, code="out-of-range")
        if wirings[chosen] is None:
            continue
        if wirings[chosen].routes:
            _routes(source, case, wirings[chosen].routes[0], told)
        if PATTERNS[case.pattern].bridged:
            _bridged(source, case, wirings[chosen], told)
        if Trait.REFUSES_TAGS in wirings[chosen].traits and case.profile_name not in tagged:
            tagged.add(case.profile_name)
            no_tags(source, case.profile_name, case.profile, plan.lab.kind, case.name)
        wiring = wire_groups(case, wirings[chosen])
        if not vlans_fit(source, case, wiring, told):
            continue
        if case.profile_name in fast or too_fast_classes(source, case, wiring):
            fast.add(case.profile_name)
            continue
        if len(wirings[chosen].ports) > 2 and case.profile_name not in shared:
            shared.add(case.profile_name)
            routed = any(port.destination != PEER for port in wirings[chosen].ports)
            shared_out(source, case.profile_name, case.profile, len(wirings[chosen].ports), routed=routed)
        rates = {port.name: (port.rate_bps, port.member_bps) for port in wiring.ports}
        if case.profile.flows == 1 and not one_member(case.groups, rates) and case.profile_name not in single:
            single.add(case.profile_name)
            source.report(
                ("traffic", case.profile_name, "flows"),
                f"a single flow uses one member of a port, and the groups of case `{case.name}` have"
                " different members",
                "more flows, or the groups in plans of their own",
                code="unsupported",
            )
        at_hand = situation(case, wiring)
        slowest = L1Rate(Fraction(min(port.rate_bps for port in wiring.ports)))
        reached.append((at_hand, slowest))
        flows = total_flows(case, wiring)
        if flows > MOST_FLOWS and case.profile_name not in many:
            many.add(case.profile_name)
            too_many_flows(source, case.profile_name, case.profile, flows, len(at_hand.streams), case.name)
        if at_hand.is_uneven and method.needs_even and case.profile_name not in shaped:
            shaped.add(case.profile_name)
            uneven_load(source, case.profile_name, case.profile, method.name)
        routed = bool(wirings[chosen].routes)
        if not case.profile.probe and (routed or not method.counts_alone) and case.profile_name not in bare:
            bare.add(case.profile_name)
            counting = [name for name, one in tables.methods.items() if one.counts_alone]
            probes_needed(source, case.profile_name, method.name, [] if routed else counting)
        problem = None if method.fits is None else method.fits(plan.parameters, at_hand)
        if problem is not None and ("method",) not in told:
            told.add(("method",))
            place = (suites.key(source), plan.method, *problem.at)
            source.report(
                place, f"{problem.message}, in case `{case.name}`", problem.hint, key=True, code=problem.code
            )
        for nonsense in trial_problems(plan.parameters, at_hand, case, slowest, plan.scale):
            if nonsense.at not in told:
                told.add(nonsense.at)
                place = (suites.key(source), plan.method, *nonsense.at)
                source.report(place, nonsense.message, nonsense.hint, code=nonsense.code)
        for path, load in plan.parameters.loads():
            asked = load_fps(load, line=slowest, size=at_hand.mean_size)
            above = isinstance(load.amount, Percent) and load.amount.amount > 1  # which has been reported
            crest = asked.amount * (1 + swing(case.profile))
            if asked.amount <= at_hand.line_fps < crest and path not in told and not above:
                told.add(path)
                part = (crest / at_hand.line_fps, swing(case.profile))
                wave_above_line(source, (suites.key(source), plan.method, *path), str(load), part, case.name)
            if asked.amount > at_hand.line_fps and path not in told and not above:
                told.add(path)
                share = decimal(100 * asked.amount / at_hand.line_fps, 2)
                most = rounded(line_rate(slowest, at_hand.mean_size).amount)
                source.report(
                    (suites.key(source), plan.method, *path),
                    f"a load of {load} is {share} % of the line in case `{case.name}`",
                    f"{slowest} carries at most {most} frames/s of {case.profile.mix.name}",
                    code="load-above-line",
                )
    known_goals = goal_kinds(tables.methods, class_names(plan.profiles))
    goals_timed(source, plan.goals, known_goals, plan.profiles)
    goals_in_reach(source, plan.goals, known_goals, reached)
