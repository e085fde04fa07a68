"""From a stored run to what a report needs of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from netdyno.reports.model.standing import NOT_MADE
from netdyno.reports.model.view import CaseView, RunView, TrialView
from netdyno.store import StoredRun
from netdyno.values import number as printed
from netdyno.values.reason import Reason
from netdyno.values.records import StoredCase, StoredTrial
from netdyno.values.situation import Situation
from netdyno.values.verdict import Verdict
from netdyno.verdict.knee import with_capped_knees
from netdyno.verdict.so_far import SearchSoFar


def view(run: StoredRun, *, with_texts: bool = False, with_trials: bool = True) -> RunView:
    """Everything reports print of a run. Trials are read once, whole. with_texts: with device texts.

    with_trials: without, results alone, of which a hundred runs are read in the time of one with its trials.
    """
    stored = run.cases
    repeated = any(case.head.repeat > 1 for case in stored)
    return RunView(
        id=run.folder.resolve().name,
        head=run.head,
        device_titles=tuple(dict.fromkeys(case.head.kind_title for case in stored)),
        emulated=any(case.head.emulated for case in stored),
        state=run.state,
        started=_time(run.started),
        ended=None if run.ended is None else _time(run.ended),
        cases=tuple(
            _case(case, _trials(run, case, with_texts=with_texts) if with_trials else (), repeated=repeated)
            for case in stored
        ),
        annotations=run.notes,
    )


def _trials(run: StoredRun, case: StoredCase, *, with_texts: bool) -> tuple[StoredTrial, ...]:
    """No report shows the series of ports: of 480 cases they took a seventh of its memory and time."""
    return tuple(run.trials(case.head.number, with_ports=False, with_lists=False, with_texts=with_texts))


def _case(case: StoredCase, trials: tuple[StoredTrial, ...], *, repeated: bool) -> CaseView:
    head, wiring = case.head, case.wiring
    # Trials of a steady load have one spec: it is read once.
    read = {text: json.loads(text) for text in {trial.spec for trial in trials}}
    specs = [read[trial.spec] for trial in trials]
    first = next((one.value for one in case.verdicts), "")
    stream = _measured_stream(case, trials, specs)
    ports = json.loads(wiring.session).get("ports", ()) if wiring else ()
    shown = tuple(
        TrialView(
            one.number,
            one.attempt,
            one.name,
            one.state,
            segments,
            one.result,
            spec.get("seed"),
            spec.get("omit_ns", 0),
        )
        for one, spec in zip(trials, specs, strict=True)
        for segments in [wiring.situation.in_frames(one.segments) if wiring else ()]
    )
    # As the plan asks for them: a trial at the rate of the line has no bursts.
    asked = [spec for trial, spec in zip(shown, specs, strict=True) if trial.is_load] or specs
    sent = [stream for spec in asked for stream in spec.get("streams", ())]
    return CaseView(
        number=head.number,
        settings={name: value for name, value in head.axes.items() if name not in ("profile", "direction")},
        profile=head.axes.get("profile", ""),
        direction=head.axes.get("direction", ""),
        device_title=head.kind_title,
        state=case.state,
        streams=wiring.situation.streams if wiring else (),
        line_fps=wiring.situation.line_fps or None if wiring else None,
        places=wiring.situation.places if wiring else (),
        ports=tuple(port["name"] for port in ports),
        mean_size=wiring.situation.mean_size or None if wiring else None,
        stream_sizes=wiring.situation.sizes if wiring else (),
        sizes=_sizes(stream, specs, wiring.situation if wiring else None),
        flows=stream.get("flows"),
        burst=max((stream.get("burst", 1) for stream in sent), default=1),
        arrival=_arrival(sent),
        has_probe=stream.get("probe", True),
        seed=head.seed,
        repeat=head.repeat if repeated else None,
        result=None if case.result is None else with_capped_knees(case.result),
        verdicts={one.scope: Verdict(one.limit, one.reason) for one in case.verdicts if one.value == first},
        others={
            (one.value, one.scope): Verdict(one.limit, one.reason)
            for one in case.verdicts
            if one.value != first
        },
        trials=shown,
        clock=wiring.clock if wiring else "",
        line_enforced=wiring.enforced_rate if wiring else True,
        goals=tuple((goal.name, goal.passed, goal.reason) for goal in case.goals),
        error=case.error,
        notes=wiring.notes if wiring else (),
        configuration=wiring.configuration if wiring else None,
        headers=tuple(header.get("type", "") for header in stream.get("headers", ())),
        backends=tuple(dict.fromkeys(port.get("backend", {}).get("kind", "") for port in ports)),
        lines_bps=_lines(specs),
        proven=wiring.proven if wiring else None,
        hosts=wiring.hosts if wiring else (),
        device_ports=wiring.situation.device_ports if wiring else (),
        port_lines=wiring.situation.lines if wiring else (),
        lags=wiring.situation.lags if wiring else (),
        tags=wiring.situation.tags if wiring else 0,
        so_far=_so_far(case, trials),
    )


MOST_WEIGHT = 10_000
"""Weights of sizes that are no round numbers are rounded to so many."""


def _sizes(
    stream: Mapping[str, Any], specs: Sequence[Mapping[str, Any]], situation: Situation | None
) -> tuple[tuple[int, int], ...]:
    """Frame sizes and their weights: of a measured stream, or of all where those of classes differ."""
    if situation is None or not situation.sizes:
        return tuple((size["size"], size["weight"]) for size in stream.get("sizes", ()))
    mixes = {one["name"]: one["sizes"] for spec in specs[:1] for one in spec.get("streams", ())}
    parts: dict[int, Fraction] = {}
    for name in situation.streams:
        mix = mixes.get(name, ())
        total = sum(size["weight"] for size in mix)
        for size in mix:
            part = situation.share(name) * Fraction(size["weight"], total)
            parts[size["size"]] = parts.get(size["size"], Fraction(0)) + part
    whole = math.lcm(*(part.denominator for part in parts.values()))
    weights = {size: int(part * whole) for size, part in sorted(parts.items())}
    common = math.gcd(*weights.values()) or 1
    rough = max(Fraction(max(weights.values(), default=1), common * MOST_WEIGHT), Fraction(1))
    return tuple((size, max(round(weight / common / rough), 1)) for size, weight in weights.items())


def _so_far(case: StoredCase, trials: Sequence[StoredTrial]) -> tuple[Reason, ...]:
    """How far the search of a case without a result is."""
    if case.state not in NOT_MADE or case.wiring is None or not trials:
        return ()
    search = SearchSoFar.of_stored(case.head, case.wiring)
    for trial in trials:
        search.add(trial)
    return tuple(search.find())


def _measured_stream(
    case: StoredCase, trials: Sequence[StoredTrial], specs: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any]:
    """The first stream of a trial that the first headline rests on; without a result, of any trial.

    A trial that only proves routes or learns addresses may have other flows than the one that was measured.
    """
    result = case.result
    name = next(iter(result.headlines), "") if result is not None else ""
    resting = () if result is None else (*result.resting(name), *result.trials)
    of_number = {
        trial.number: spec
        for trial, spec in zip(trials, specs, strict=True)
        if trial.state == "done" and spec.get("streams")
    }
    found = next((of_number[number] for number in resting if number in of_number), None)
    found = found or next((spec for spec in specs if spec.get("streams")), None)
    stream: Mapping[str, Any] = {} if found is None else found["streams"][0]
    return stream


def _lines(specs: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    found = {port.get("line_bps", 0) for spec in specs[:1] for port in spec.get("ports", ())}
    return tuple(sorted(found - {0}))


def _arrival(sent: Sequence[Mapping[str, Any]]) -> str:
    """How frames were placed in time, if not evenly: `poisson`; of some classes `poisson (voice)`."""
    found: dict[str, dict[str, None]] = {}
    for stream in sent:
        if stream.get("arrival", "constant") != "constant":
            name = str(stream.get("name", "")).rpartition("/")[2]
            found.setdefault(_describe_arrival(stream["arrival"]), {})[name] = None
    everywhere = len(found) == 1 and all(stream.get("arrival", "constant") != "constant" for stream in sent)
    return " and ".join(
        kind if everywhere else f"{kind} ({', '.join(names)})" for kind, names in found.items()
    )


def _describe_arrival(arrival: Any) -> str:
    if isinstance(arrival, str):
        return arrival
    wave = arrival["wave"]
    swing = printed.percent(Fraction(wave["depth_ppm"], 10**6))
    return f"{wave['shape']} of {printed.duration(wave['period_ns'])}, {swing} up and down"


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
