"""The run as JSON, written by the types of what it holds: `FULL` and `SMALL` say which keys each type has.

The key of a quantity ends in its unit (`line_pps`); beside it stands the exact fraction (`line_pps_exact`:
"312500000/21"). A limit's reason, a note or an error is its code, a sentence, and the fields that the
sentence prints. What was not measured is left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from netdyno.reports import Look
from netdyno.reports.model import alike, bundle_shares, device, families, lag_members, repeats, together
from netdyno.reports.model.device_rates import CounterRate, DeviceRates, device_rates
from netdyno.reports.model.health import Finding
from netdyno.reports.model.joined import marks
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.view import CaseView, RunView, TrialView, counts
from netdyno.stats import delay_variation, response_time
from netdyno.stats.histogram import percentiles
from netdyno.values.finding import Column, Figure, Table, Value
from netdyno.values.health import CatchUp, Health, HostHealth, PeerHealth, WorkerHealth
from netdyno.values.host_facts import ClockState, HostFacts, PortFacts
from netdyno.values.load import FRAMES, Segment
from netdyno.values.outcome import (
    Gap,
    Gaps,
    InterfaceResult,
    Lag,
    Latency,
    Outcome,
    Phase,
    PortResult,
    StreamResult,
)
from netdyno.values.proven import Proven
from netdyno.values.reason import Reason
from netdyno.values.records import CaseError, Note
from netdyno.values.series import Series, Steps
from netdyno.verdict.balance import Path
from netdyno.verdict.conventions import Bytes
from netdyno.verdict.device_counts import Drop
from netdyno.verdict.neighbours import Incident
from netdyno.verdict.printed_rates import PrintedRate

FORMAT = "netdyno/report/1"
UNITS = {"fps": "pps", "share": "ratio", "B": "bytes"}
"""How units inside are printed; the others as they are."""
SMALL_UNITS = ("pps", "ns", "bps", "ratio")
"""Units that keys of the small level end in; any other stands beside its number."""
EACH_STREAM = "`netdyno report RUN --as json` has the values of each stream"
PERCENTILES = {
    "p50_ns": Fraction(1, 2),
    "p90_ns": Fraction(9, 10),
    "p99_ns": Fraction(99, 100),
    "p99_9_ns": Fraction(999, 1000),
    "p99_99_ns": Fraction(9999, 10000),
}

Keys: TypeAlias = Callable[[Any], Iterator[tuple[str, object]]]
"""The keys of an object and their values, still to be written."""


def render(runs: RunSet, look: Look) -> bytes:
    """The report on one run: the full level, or the small one."""
    return text(runs.only, small=look.level == "json-small").encode()


def text(run: RunView, *, small: bool = False) -> str:
    """The run as JSON, keys in a stable order."""
    found = _write(run, SMALL if small else FULL)
    return json.dumps(found, ensure_ascii=False, indent=2 if small else 1) + "\n"


class Part(dict[str, object]):
    """Keys that no type has, to be written as those of a type are: None is left out, fractions are exact."""


def _write(value: object, forms: Mapping[type, Keys]) -> Any:
    """A value by the form of its type; of a dataclass without one all fields, as of a mapping."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    form = forms[Reason] if isinstance(value, Reason) else forms.get(type(value))
    if form is not None:
        return _object(form(value), forms)
    if isinstance(value, Part):
        return _object(value.items(), forms)
    if isinstance(value, Mapping):
        return {name: _write(one, forms) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [_write(one, forms) for one in value]
    if isinstance(value, datetime):
        return value.isoformat()
    assert is_dataclass(value), f"{value!r} has no form"
    return {one.name: _write(getattr(value, one.name), forms) for one in fields(value)}


def _object(keys: Any, forms: Mapping[type, Keys]) -> dict[str, Any]:
    """Keys with their values, but None. `*` in front of a key: what its value has stands here itself."""
    found: dict[str, Any] = {}
    for key, value in keys:
        if key.startswith("*"):
            found |= _write(value, forms) or {}
        elif value is not None:
            found[key] = _write(value, forms)
            if isinstance(value, Fraction):
                found[f"{key}_exact"] = str(value)
    return found


def keys(listed: str, **derived: Callable[[Any], object]) -> Keys:
    """The keys of a type, in order. derived: those that are no field or property of it.

    `sent` is the field `sent`, `sent_frames=sent` as well, and `phases=result.phases` that of another field,
    which may be None. `~` at the end: left out if it is empty or 0. `*`: see `_object`.
    """
    parts = []
    for one in listed.split():
        key, _, path = one.removesuffix("~").partition("=")
        steps = (path or key.lstrip("*")).split(".")
        parts.append((key, derived.get(key.lstrip("*")), steps, one.endswith("~")))

    def found(value: Any) -> Iterator[tuple[str, object]]:
        for key, derive, steps, drops_empty in parts:
            one = _follow(value, steps) if derive is None else derive(value)
            if one or not drops_empty:
                yield key, one

    return found


def _follow(value: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        value = None if value is None else getattr(value, step)
    return value


class _Counted(NamedTuple):
    """A stream of a trial, with the outcome that says which of its counts are known."""

    outcome: Outcome
    stream: StreamResult


class _Found(NamedTuple):
    """A value of a case."""

    case: CaseView
    value: Value

    @property
    def unit(self) -> str:
        """As keys have it."""
        return _unit(self.value.unit)

    @property
    def ends(self) -> dict[str, Fraction | None]:
        """Number and bounds, and of a search the load that passed."""
        value = self.value
        known = {"number": value.number, "low": value.low, "high": value.high}
        if value.is_refuted:
            known = {"number": None, "low": None, "high": value.high}
        return known | ({"as_searched": value.load} if value.searched and value.unit == "fps" else {})


class _Kind(NamedTuple):
    """A value of many streams that are alike."""

    case: CaseView
    name: str
    """Of the streams, `branch-core`."""
    values: Sequence[Value]


class _Printed(NamedTuple):
    """A rate that the device printed in a trial."""

    trial: TrialView
    rate: PrintedRate


def _in_groups(case: CaseView, name: str) -> list[str] | None:
    grouped = any(place.group for place in case.places)
    return [getattr(place, name) for place in case.places] if grouped else None


def _balance(case: CaseView) -> device.Balance | None:
    found = device.balance(case)
    return None if found.answer is None else found


def _numbers(found: _Found) -> Part:
    end = f"_{found.unit}" if found.unit else ""
    return Part({f"{name}{end}": one for name, one in found.ends.items()})


def _unit(unit: str) -> str:
    return UNITS.get(unit, unit)


def _small_numbers(found: _Found) -> dict[str, object]:
    """As `_numbers`, but the exact ones without a unit in their keys."""
    unit = found.unit if found.unit in SMALL_UNITS else ""
    return {
        key: one
        for name, number in found.ends.items()
        if number is not None
        for key, one in ((f"{name}_{unit}" if unit else name, number), (f"{name}_exact", str(number)))
    }


def _share(found: _Found, of: int) -> Fraction | None:
    share = None if found.value.is_refuted else found.case.share_of_line(found.value)
    return None if share is None else share * of


def _counter_rate(one: CounterRate) -> Part:
    unit, found = "pps" if one.unit == "pps" else "bps", one.found
    return Part({f"rate_{unit}": found.rate, f"low_{unit}": found.low, f"high_{unit}": found.high})


def _printed_rate(one: _Printed) -> Part:
    unit = "pps" if one.rate.is_of_frames else "bps"
    return Part({f"printed_{unit}": one.rate.rate, f"predicted_{unit}": one.rate.predicted})


def _tables(case: CaseView) -> list[Part]:
    """The tables of a case, with what is marked in them."""
    found = []
    for table in case.result.tables if case.result else ():
        places = marks(table.columns, table.rows, [case] * len(table.rows))
        names = [column.name for column in table.columns]
        rows = [[names[place] for row, place in places if row == number] for number in range(len(table.rows))]
        found.append(_marked(table, rows))
    return found


def _statistics(run: RunView) -> list[Part]:
    """The tables over all cases of a run, of methods, LAGs and bundles."""
    return [
        _marked(
            Table(one.name, one.columns, tuple(one.rows), one.caption),
            [one.marked(row) for row in range(len(one.rows))],
        )
        for one in (
            *repeats.tables(run),
            *families.tables_of(run),
            *lag_members.tables(run),
            *bundle_shares.tables(run),
        )
    ]


def _marked(table: Table, rows: Sequence[Sequence[str]]) -> Part:
    """A table, and of each row the columns that are, or stand on, a contradicted throughput."""
    return Part({"*": table, "contradicted_columns": rows if any(rows) else None})


def _rows_exact(table: Table) -> list[list[str | None]] | None:
    """The fractions among the cells, `312500000/21`; None if all are whole, and exact as they are."""
    exact = [
        [str(cell) if isinstance(cell, Fraction) and cell.denominator != 1 else None for cell in row]
        for row in table.rows
    ]
    return exact if any(cell is not None for row in exact for cell in row) else None


def _health(trial: TrialView) -> Part | None:
    if trial.result.counts.load_class is not FRAMES or trial.result.is_health_unknown:
        return None
    return Part({"*": trial.result.health, "softirq_waited_ns": trial.result.softirq_waited_ns or None})


def _latency(latency: Latency | None, definition: str = "first bit out to last bit in (FILO)") -> Part | None:
    if latency is None or latency.count == 0:
        return None
    return Part(
        {
            "definition": definition,
            "count": latency.count,
            "min_ns": latency.min_ns,
            "mean_ns": Fraction(latency.sum_ns, latency.count),
            "max_ns": latency.max_ns,
            **dict(zip(PERCENTILES, percentiles(latency, PERCENTILES.values()), strict=True)),
            "over_range": latency.over,
            "negative": latency.negative,
        }
    )


def _response(stream: StreamResult) -> Part | None:
    """What is known of latency from when frames were due: two bounds each."""
    latency, lag = stream.latency, stream.lag
    if latency is None or latency.count == 0 or lag is None or not lag.max_ns:
        return None
    means = response_time.mean(latency, lag)
    known = response_time.percentiles(latency, lag, PERCENTILES.values())
    return Part(
        {
            "definition": "from when a frame was due to last bit in: at least, at most",
            "mean_ns": means,
            "mean_ns_exact": [str(mean) for mean in means],
            **dict(zip(PERCENTILES, known, strict=True)),
        }
    )


def _reordering(stream: StreamResult) -> Part | None:
    order = stream.order
    if order is None:
        return None
    return Part(
        {
            "definition": "RFC 4737, in the sequence of each flow",
            "ratio": Fraction(stream.out_of_order, stream.received) if stream.received else None,
            "extent_mean_frames": Fraction(order.extent_sum, order.placed) if order.placed else None,
            "extent_max_frames": order.extent_max if order.placed else None,
            "extent_unknown_frames": order.unplaced or None,
            "n_reordered_frames": order.n_reordered,
        }
    )


def _variation(stream: StreamResult) -> Part | None:
    found = stream.variation
    if found is None:
        return None
    return Part(
        {
            "definition": "RFC 5481: PDV, latency less the least; IPDV, less that of the frame sent before",
            "pdv_p99_9_ns": None if stream.latency is None else delay_variation.pdv(stream.latency),
            "ipdv_pairs": found.pairs,
            "ipdv_min_ns": found.min_ns,
            "ipdv_median_ns": delay_variation.median(found),
            "ipdv_mean_ns": Fraction(found.sum_ns, found.pairs),
            "ipdv_max_ns": found.max_ns,
            "ipdv_over_range": found.over or None,
        }
    )


def _times(series: Series) -> Part:
    if isinstance(series.at_ns, Steps):
        return Part(first_ns=series.at_ns.first_ns, every_ns=series.at_ns.every_ns)
    return Part(at_ns=series.times_ns)


def _values(case: CaseView) -> list[_Found]:
    return [_Found(case, value) for value in case.values]


def _small_values(case: CaseView) -> list[_Found | _Kind]:
    """Each value; of many streams that are alike one for all of them."""
    return [
        _Found(case, values[0]) if len(values) == 1 else _Kind(case, kind, values)
        for (_, kind), values in alike.group_values(case, case.values).items()
    ]


def _limits(kind: _Kind) -> dict[str, int]:
    """How many of its streams have which limit."""
    return dict(Counter(filter(None, map(kind.case.limit_of, kind.values))))


_JUDGED: Mapping[str, Callable[[_Found], object]] = {
    "limit": lambda one: one.case.limit_of(one.value),
    "contradicted": lambda one: one.case.doubt(one.value),
    # That of the load as searched is no doubt of the number, which is what lasts of it.
    "as_searched_contradicted": lambda one: (
        one.value.contradicted if one.value.is_only_searched_doubted else None
    ),
}
"""Keys that a value has at both levels."""

FULL: Mapping[type, Keys] = {
    Reason: keys("code=full_code text fields", text=str, fields=lambda reason: reason.fields()),
    RunView: keys(
        """format title=report_title run=id state devices=device_titles emulated started ended
        durations_scaled_by=head.scale only=head.only set=head.overrides~ seed=head.seed
        versions=head.versions tags=annotations.tags~ remarks=annotations.notes~ notes plan=head.plan
        lab=head.lab~ repeats statistics~ port_groups~ cases""",
        format=lambda run: FORMAT,
        repeats=lambda run: run.repeats if run.repeats > 1 else None,
        statistics=_statistics,
        port_groups=together.families,
    ),
    CaseView: keys(
        """case=number name settings profile direction repeat device=device_title state error so_far~ clock~
        lab_notes=notes~ configuration streams stream_shares~ stream_groups stream_cards line_pps=line_fps
        line_l1_bps=line_bps line_rate_enforced=line_enforced mean_frame_size_bytes=mean_size frame_sizes~
        flows burst_frames arrival~ probe seed method=result.method values standard=result.standard~
        compliance=result.conformity deviations=result.compliance not_as_recommended=result.recommended~
        tables~ notes proven hosts~ balance device_rates printed_rates~ power goals~
        rests_on_trials=result.trials trials""",
        stream_shares=lambda case: [str(place.share) for place in case.places],
        stream_groups=lambda case: _in_groups(case, "group"),
        stream_cards=lambda case: _in_groups(case, "card"),
        frame_sizes=lambda case: [{"bytes": size, "weight": weight} for size, weight in case.sizes],
        burst_frames=lambda case: case.burst if case.burst > 1 else None,
        probe=lambda case: None if case.has_probe else False,
        values=lambda case: _values(case) if case.result else None,
        tables=_tables,
        notes=lambda case: [*case.result.notes, *case.neighbours, *case.tester] if case.result else None,
        balance=_balance,
        device_rates=device_rates,
        printed_rates=lambda case: [_Printed(*one) for one in device.printed_rates(case)],
        power=device.power,
        goals=lambda case: [
            {"goal": name, "passed": passed, "reason": why} for name, passed, why in case.goals
        ],
    ),
    CaseError: keys("code message hint"),
    Note: keys("at text"),
    Incident: keys("code text=sentence"),
    Finding: keys("code text=sentence", code=lambda finding: f"tester-{finding.kind}"),
    together.Family: keys(
        "of=axes~ cases by_value=value resource=answer.resource cards=answer.cards reason",
        cases=lambda family: [case.number for case in family.cases.values()],
        reason=lambda family: str(family.answer.reason),
    ),
    Proven: keys(
        """calibration=id made_at max_pps=max_fps line_pps=line_fps latency_floor_ns latency_noise_ns
        rate_error_ppm expired"""
    ),
    device.Balance: keys("*answer paths byte_counters=bytes byte_conventions=conventions"),
    Path: keys(
        """from=senders to=receivers tester_sent_frames=sent device_in_frames=taken device_out_frames=given
        tester_received_frames=received tester_own_frames=own foreign_frames=foreign copies_frames=copies
        dropped_by_device_frames=dropped missing_before_device_frames=link_in missing_in_device_frames=rest
        missing_behind_device_frames=link_out drops"""
    ),
    Drop: keys("subject name frames"),
    Bytes: keys(
        "port way frames counted_bytes=counted conventions nearest=nearest.name off_bytes=off",
        conventions=lambda one: [each.name for each in one.conventions],
    ),
    DeviceRates: keys("trial=trial.number begin_ns end_ns counters=rates"),
    CounterRate: keys(
        "source port way counter begin_ns=found.begin_ns end_ns=found.end_ns *rates reason=found.reason",
        rates=_counter_rate,
    ),
    _Printed: keys(
        "trial=trial.number port=rate.port way=rate.way window_ns=rate.window_ns *rates *answer=rate.answer",
        rates=_printed_rate,
    ),
    device.Power: keys(
        "trial hold_w=hold_watts idle_w=idle_watts received_pps=rx_fps mpps_per_w=mpps_per_watt"
    ),
    _Found: keys(
        """value=value.kind.display_name meaning=value.kind.meaning scope=value.scope *numbers l1_bps
        share_of_line_percent limit~ reason note=value.note contradicted as_searched_contradicted""",
        numbers=_numbers,
        l1_bps=lambda one: None if one.value.is_refuted else one.case.l1_of(one.value),
        share_of_line_percent=lambda one: _share(one, 100),
        reason=lambda one: one.case.reason_of(one.value),
        **_JUDGED,
    ),
    Table: keys("table=name caption~ columns rows rows_exact figure", rows_exact=_rows_exact),
    Column: keys("name unit~", unit=lambda column: _unit(column.unit)),
    Figure: keys("x ys reference~ x_range y_range log_x~ by"),
    TrialView: keys(
        """trial=number attempt name state seed asked=segments phases=result.phases streams
        ports=result.ports connections=result.carried~ health~ hosts=result.hosts~
        invalid=result.invalid~ devices=result.devices~ happened=result.happened~
        carrier_losses=result.carrier_losses~ interfaces=result.interfaces~ series=result.series~""",
        streams=lambda trial: [_Counted(trial.result, stream) for stream in trial.result.streams],
        health=_health,
    ),
    Segment: keys("segment=name duration_ns from_pps=from_rate.amount to_pps=to_rate.amount"),
    Phase: keys("phase=name start_ns duration_ns"),
    _Counted: keys(
        "stream=stream.name *counts *stream",
        counts=lambda one: {f"{name}_frames": count for name, count in counts(*one).items()},
    ),
    StreamResult: keys(
        """refused_frames=refused~ altered_frames=altered~ offered_bytes received_bytes
        beyond_reordering_window_frames flows_received first_loss_ns latency lag response_time gaps
        longest_silence=silence reordering delay_variation time_between_arrivals""",
        beyond_reordering_window_frames=lambda one: None if one.is_bare else one.beyond_window,
        flows_received=lambda one: None if one.is_bare else one.flows_received,
        latency=lambda one: _latency(one.latency),
        lag=lambda one: one.lag if one.lag and one.lag.max_ns else None,
        response_time=_response,
        reordering=_reordering,
        delay_variation=_variation,
        time_between_arrivals=lambda one: _latency(one.spacing, "at the receiving port"),
    ),
    Lag: keys(
        "mean_ns max_ns late_frames=late late_beyond_ns=limit_ns",
        mean_ns=lambda lag: Fraction(lag.sum_ns, lag.count),
    ),
    Gaps: keys(
        "missing_frames=frames gaps further_gaps=further missing_frames_in_further_gaps=further_frames"
    ),
    Gap: keys(
        """first_frame=first last_frame=last missing_frames=frames first_departure_ns=first_ns
        last_departure_ns=last_ns"""
    ),
    PortResult: keys(
        """port=name tx_frames tx_bytes rx_frames rx_bytes foreign_frames=foreign others_frames=others~
        stale_frames=stale~ rx_full_spans_ns=rx_full_spans~ back_pressure"""
    ),
    Health: keys(
        """unsent_frames=unsent latest_departure_ns longest_gap_ns rx_dropped_frames=rx_dropped tx_full
        tx_no_peer~ catch_up core_share_ppm tx_dropped_frames=tx_dropped~ rx_full~ rx_full_ns~
        tx_ahead_frames=tx_ahead~ tx_ahead_ns unheard_frames=unheard~ rx_too_long_frames=rx_too_long~
        split_flows~ threads~ cores~ workers~ peers~"""
    ),
    CatchUp: keys(
        """up_to_percent_of_the_rate=percent pauses longest_pause_ns=longest_ns frames
        most_frames_after_one_pause=longest_run most_frames_in_one_round=most_in_round"""
    ),
    HostFacts: keys("host=name cpu usable_cores=cores kernel clock ports"),
    ClockState: keys("kept_by offset_ns ptp_clocks=hardware"),
    PortFacts: keys("port=name interface driver mtu offloads"),
    HostHealth: keys(
        """host=name began_late_ns clock_bound_ns core_share_ppm longest_gap_ns unsent_frames=unsent
        rx_dropped_frames=rx_dropped tx_dropped_frames=tx_dropped~ sent_ns streams pressure_ns"""
    ),
    **{kind: keys(" ".join(one.name for one in fields(kind))) for kind in (PeerHealth, WorkerHealth)},
    InterfaceResult: keys(
        """port interface link_went_down=downs waited_for_link_ns=waited_ns counters driver_counters=driver
        found=kinds"""
    ),
    Series: keys(
        """source subject name unit *times values=numbers values_exact took_ns~ window_ns is_counter~ bits
        command~ missed~""",
        times=_times,
        values_exact=lambda one: [str(number) for number in one.numbers] if one.scale else None,
    ),
}
"""Everything: values, verdicts, counts, phases, health, latency, series of instruments."""

SMALL: Mapping[type, Keys] = {
    Reason: keys("code=full_code text", text=str),
    RunView: keys(
        "run=id title=head.title devices=device_titles emulated state scale cases",
        scale=lambda run: str(run.head.scale),
    ),
    CaseView: keys(
        "name settings profile direction state limit reason error so_far~ goals~ values each_stream",
        limit=lambda case: case.limit(),
        reason=lambda case: verdict.reason if (verdict := case.verdict()) else None,
        goals=lambda case: [{"goal": name, "passed": passed} for name, passed, _ in case.goals],
        values=_small_values,
        each_stream=lambda case: EACH_STREAM if alike.kinds(case) and case.values else None,
    ),
    CaseError: keys("code text", text=str),
    _Found: keys(
        """value=value.name scope=value.scope limit unit~ *numbers contradicted as_searched_contradicted
        *share""",
        unit=lambda one: "" if one.unit in SMALL_UNITS else one.value.unit,
        numbers=_small_numbers,
        share=lambda one: {"share_of_line_ratio": share} if (share := _share(one, 1)) else {},
        **_JUDGED,
    ),
    _Kind: keys(
        "value scope=name streams limits without_number~ contradicted~ least most",
        value=lambda one: one.values[0].name,
        streams=lambda one: len(one.values),
        limits=_limits,
        without_number=lambda one: sum(value.number is None for value in one.values),
        contradicted=lambda one: sum(one.case.doubt(value) is not None for value in one.values),
        least=lambda one: _Found(one.case, alike.ends(one.values)[0]),
        most=lambda one: _Found(one.case, alike.ends(one.values)[1]),
    ),
}
"""The results alone, for gates and dashboards; its keys are those of the full level."""
