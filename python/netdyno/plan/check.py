"""What the parts of a plan mean together. Every rule notes its mistakes and lets the next one run."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from netdyno.devices.drivers import Reached
from netdyno.devices.watches import Watch
from netdyno.errors import names
from netdyno.plan import Plan, Profile, Tables, check_goals, check_watch, problems, suites
from netdyno.plan import models as m
from netdyno.plan.check_cases import check_cases
from netdyno.plan.check_groups import check_fit, groups
from netdyno.plan.check_lab import include, lab, servers
from netdyno.plan.check_lags import bundles, lags
from netdyno.plan.check_matrix import axes, filters, not_parameters, only_kind
from netdyno.plan.check_routing import routing_neighbours
from netdyno.plan.check_traffic import profiles
from netdyno.plan.check_trials import short_samples
from netdyno.plan.goals import goal_kinds
from netdyno.plan.groups import Group
from netdyno.plan.overrides import names_lab, override, override_sizes
from netdyno.plan.parameters import Values, Variants, read_parameters, read_values
from netdyno.plan.reached import check_ports
from netdyno.plan.sizes import write_out_sizes
from netdyno.plan.source import Source
from netdyno.values.load import CONNECTIONS
from netdyno.values.offer import EVERY_OFFER, Offer

MAX_SAMPLES = 2_000_000
"""Samples of a trial: 55 hours of 100 ms. What they take of memory: campaign/memory.py."""
MAX_OF_A_CASE = 4_000_000
"""Samples of all trials of a case: 46 days of a second. A report takes 8 bytes a count of each."""


def check(source: Source, base: Path | None, tables: Tables, overrides: Sequence[str] = ()) -> Plan | None:
    """Checks all of a plan, noting mistakes in the source; the plan, if it can be understood.

    overrides: values to put into it, `traffic.64b.size=128B`.
    """
    if not isinstance(source.value, dict):
        message = (
            "the plan is empty"
            if source.value is None
            else f"a plan is a mapping, not {problems.format_value(source.value)}"
        )
        needed = "needed are `title`, `lab`, `traffic` and `method`, or `lab` and `suite`"
        source.report((), message, f"begin with `title: ...`; {needed}", code="wrong-type")
        return None
    override(source, filter(names_lab, overrides))
    included = include(source, base)
    later = override(source, itertools.filterfalse(names_lab, overrides))
    raw: dict[str, Any] = write_out_sizes(source, suites.fill_suite(source, source.value))
    raw = override_sizes(source, raw, later)
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
    if kind is not None and Offer.VIRTUAL_TIME not in tables.testers.get(whole.tester, (Offer.VIRTUAL_TIME,)):
        kind = kind.in_real_time()
    ports: tuple[Group, ...] = ()
    sound = len(source.errors)
    if planned is not None and whole.groups:
        planned, ports = groups(source, whole.groups, planned)
    grouped = len(source.errors) == sound
    sizes = [len(group.ports) for group in whole.groups.values()] or [len(planned.links) if planned else 2]
    is_any = any(error.path.endswith(".driver") for error in source.errors)
    matrix = axes(source, raw, kind, tables, sizes, tuple(whole.groups), is_any)
    values = read_values(source, raw, tables, not_parameters(kind, tables))
    filtered = filters(source, raw, matrix) and not lost & {"only", "skip"}
    method, variants = _method(source, raw.get("method"), tables, values)
    if method is not None and not lost & {"trial"} and "sample" in whole.trial.model_fields_set:
        longer = (short_samples(one, whole.trial.sample) for one in variants.right.values())
        for first in itertools.islice(filter(None, longer), 1):
            source.report(("trial", "sample"), first.message, first.hint, code=first.code)
    if method is not None:
        whole = _as_usual(whole, tables.methods[method])
    if method is not None and not variants.lost and not lost & {"scale"}:
        _samples(source, whole, tables.methods[method], list(variants.right.values()))
    watched = None
    if not lost & {"watch"}:
        watched = check_watch.watch(source, whole.watch, planned, kind, matrix or (), tables)
    if planned is not None and kind is not None and matrix is not None:
        connects = method is not None and tables.methods[method].load_class is CONNECTIONS
        planned = routing_neighbours(source, planned, kind, matrix, whole.scale, has_connections=connects)
        planned = lags(source, planned, kind, known.values(), tables.testers.get(whole.tester, EVERY_OFFER))
        if any(link.lag for link in planned.links):
            watched = replace(watched or Watch(), members=True)
    kinds = goal_kinds(tables.methods, class_names(known))
    goals = tuple(check_goals.read_goals(source, raw.get("goals"), kinds))
    if method is not None and not variants.lost:
        own = goal_kinds({method: tables.methods[method]}, class_names(known))
        check_goals.found_by_method(source, goals, method, own)
    if not lost & {"watch"}:
        check_watch.goals_watched(source, goals, watched)
    if not lost & {"tester"}:
        _tester(source, whole.tester, method, tables)
        if planned is not None:
            servers(source, planned, whole.tester, tables)
            bundles(source, planned, known.values())
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
        variants={chosen: one.scaled(whole.scale) for chosen, one in variants.right.items()},
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
        overrides=tuple(overrides),
    )
    if ports:
        able = [name for name, one in tables.methods.items() if one.groups]
        check_fit(source, tables.methods[method], dict(matrix), able)
    if filtered and grouped:
        reached = check_cases(source, plan, tables, variants.refused)
        check_goals.timed(source, plan.goals, kinds, known)
        check_goals.in_reach(source, plan.goals, kinds, reached)
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


def _tester(source: Source, name: str, method: str | None, tables: Tables) -> None:
    """The tester must be known, and offer what the method needs."""
    if name not in tables.testers:
        source.report_unknown(("tester",), f"unknown tester `{name[:40]}`", name, tables.testers, "testers")
        return
    offers = tables.testers[name]
    needs = [] if method is None else [(f"`{method}`", need) for need in sorted(tables.methods[method].needs)]
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


def _method(source: Source, raw: object, tables: Tables, values: Values) -> tuple[str | None, Variants]:
    """Exactly one method and its parameters, as its own model has them."""
    key = suites.key(source)
    none = Variants({}, {}, frozenset())
    if not isinstance(raw, dict):
        return None, none
    if len(raw) != 1:
        source.report_key(
            ("method",),
            f"`method` names {len(raw)} methods, and a plan has one",
            f"methods: {names(tables.methods)}",
            code="given-twice",
        )
    for name in raw:
        if name not in tables.methods:
            message = f"unknown method `{str(name)[:40]}`"
            source.report_unknown((key, name), message, str(name), tables.methods, "methods", key=True)
            continue
        model = tables.methods[name].parameters
        given = {} if raw[name] is None else raw[name]
        if not isinstance(given, dict):
            problems.validate_part(model, given, source, (key, name))
            continue
        found = read_parameters(source, (key, name), model, given, values)
        if len(raw) == 1 and found.right:
            return name, found
    return None, none


def _as_usual(whole: m.PlanFile, method: Any) -> m.PlanFile:
    """The plan with its method's own length of a sample and own wait, unless it says them itself."""
    usual = {
        name: found
        for name in ("sample", "settle")
        if name not in whole.trial.model_fields_set and (found := getattr(method, name)) is not None
    }
    trial = whole.trial.model_copy(update=usual)
    # What is as usual the plan still does not say.
    trial.model_fields_set.intersection_update(whole.trial.model_fields_set)
    return whole.model_copy(update={"trial": trial}) if usual else whole


def _samples(source: Source, whole: m.PlanFile, method: Any, variants: Sequence[Any]) -> None:
    """The series of a trial must fit into memory, and a report's figures into a page."""
    trial = whole.trial.scaled(whole.scale)
    # Each trial is drained as well.
    longest = max((one.scaled(whole.scale) for one in variants), key=method.traffic_seconds)
    sending = method.traffic_seconds(longest)
    trials = (None if method.trials is None else method.trials(longest)) or 1
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
