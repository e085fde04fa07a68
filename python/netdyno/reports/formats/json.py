"""The run as JSON: what was found and what it rests on, exact counts, the series of instruments.

The key of a quantity ends in its unit (`line_pps`); beside what may not be whole stands the exact fraction
(`line_pps_exact`: "312500000/21"). A limit's reason, a note or an error is its code, a sentence, and the
fields that the sentence prints. What was not measured is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from netdyno.reports import Look
from netdyno.reports.model import device, repeats, together
from netdyno.reports.model.device_rates import CounterRate, device_rates
from netdyno.reports.model.joined import Joined, marks
from netdyno.reports.model.view import CaseView, RunView, TrialView, counts
from netdyno.stats import delay_variation as variation
from netdyno.stats import response_time as response
from netdyno.stats.histogram import percentiles
from netdyno.values.finding import Figure, Table, Value
from netdyno.values.health import CatchUp
from netdyno.values.outcome import Gaps, Lag, Latency, StreamResult
from netdyno.values.proven import Proven
from netdyno.values.reason import Reason
from netdyno.values.series import Series, Steps
from netdyno.verdict.balance import Path

FORMAT = "netdyno/report/1"
UNITS = {"fps": "pps", "share": "ratio", "B": "bytes"}
"""How units inside are printed; the others as they are."""
PERCENTILES = {
    "p50_ns": Fraction(1, 2),
    "p90_ns": Fraction(9, 10),
    "p99_ns": Fraction(99, 100),
    "p99_9_ns": Fraction(999, 1000),
    "p99_99_ns": Fraction(9999, 10000),
}


def render(runs: Sequence[RunView], look: Look) -> bytes:
    """The report on one run."""
    (run,) = runs
    return text(run).encode()


def text(run: RunView) -> str:
    """The run as JSON, keys in a stable order."""
    return json.dumps(document(run), ensure_ascii=False, indent=1) + "\n"


def document(run: RunView) -> dict[str, Any]:
    """The run as a JSON document."""
    return _present(
        {
            "format": FORMAT,
            "title": run.report_title,
            "run": run.id,
            "state": run.state,
            "devices": list(run.device_titles),
            "emulated": run.emulated,
            "started": run.started,
            "ended": run.ended,
            **_quantity("durations_scaled_by", run.scale),
            "only": dict(run.only),
            "seed": run.seed,
            "versions": dict(run.versions),
            "notes": _reasons(run.notes),
            "plan": run.plan,
            "lab": run.lab or None,
            "repeats": run.repeats if run.repeats > 1 else None,
            "statistics": [_shown(table) for table in repeats.tables(run)] or None,
            "port_groups": [_explained(family) for family in together.families(run)] or None,
            "cases": [_case(case) for case in run.cases],
        }
    )


def _case(case: CaseView) -> dict[str, Any]:
    return _present(
        {
            "case": case.number,
            "name": case.name,
            "settings": dict(case.settings),
            "profile": case.profile,
            "direction": case.direction,
            "repeat": case.repeat,
            "device": case.device_title,
            "state": case.state,
            "error": _present(asdict(case.error)) if case.error else None,
            "clock": case.clock or None,
            "lab_notes": _reasons(case.notes) or None,
            "configuration": None if case.configuration is None else asdict(case.configuration),
            "streams": list(case.streams),
            "stream_shares": [str(place.share) for place in case.places] or None,
            "stream_groups": [place.group for place in case.places] if _grouped(case) else None,
            "stream_cards": [place.card for place in case.places] if _grouped(case) else None,
            **_quantity("line_pps", case.line_fps),
            **_quantity("line_l1_bps", case.line_bps),
            "line_rate_enforced": case.line_enforced,
            **_quantity("mean_frame_size_bytes", case.mean_size),
            "frame_sizes": [{"bytes": size, "weight": weight} for size, weight in case.sizes] or None,
            "flows": case.flows,
            "burst_frames": case.burst if case.burst > 1 else None,
            "arrival": case.arrival or None,
            "probe": None if case.has_probe else False,
            "seed": case.seed,
            "method": case.result.method if case.result else None,
            "values": [_value(case, value) for value in case.result.values] if case.result else None,
            "standard": case.result.standard or None if case.result else None,
            "compliance": case.result.conformity if case.result else None,
            "deviations": _reasons(case.result.compliance) if case.result else None,
            "not_as_recommended": _reasons(case.result.recommended) or None if case.result else None,
            "tables": [_own(case, table) for table in case.result.tables] or None if case.result else None,
            "notes": [
                *_reasons(case.result.notes),
                *({"code": one.code, "text": one.sentence} for one in case.neighbours),
                *({"code": f"tester-{one.kind}", "text": one.sentence} for one in case.tester),
            ]
            if case.result
            else None,
            "proven": _proven(case.proven),
            "balance": _balance(case),
            "device_rates": _device_rates(case),
            "printed_rates": _printed_rates(case) or None,
            "power": _power(case),
            "goals": [
                {"goal": name, "passed": passed, "reason": _reason(why)} for name, passed, why in case.goals
            ]
            or None,
            "rests_on_trials": list(case.result.trials) if case.result else None,
            "trials": [_trial(trial) for trial in case.trials],
        }
    )


def _grouped(case: CaseView) -> bool:
    return any(place.group for place in case.places)


def _explained(family: together.Family) -> dict[str, Any]:
    """Which resource explains the limit of cases that differ in their port groups alone."""
    return {
        **({"of": dict(family.axes)} if family.axes else {}),
        "cases": [case.number for case in family.cases.values()],
        "by_value": family.value,
        "resource": family.answer.resource,
        "cards": list(family.answer.cards),
        "reason": str(family.answer.reason),
    }


def _proven(proven: Proven | None) -> dict[str, Any] | None:
    """What the tester is calibrated for with the case's ports and frames; None without a calibration."""
    if proven is None:
        return None
    return _present(
        {
            "calibration": proven.id,
            "made_at": proven.made_at.isoformat(),
            **_quantity("max_pps", proven.max_fps),
            **_quantity("line_pps", proven.line_fps),
            "latency_floor_ns": proven.latency_floor_ns,
            "latency_noise_ns": proven.latency_noise_ns,
            **_quantity("rate_error_ppm", proven.rate_error_ppm),
            "expired": proven.expired,
        }
    )


def _balance(case: CaseView) -> dict[str, Any] | None:
    """Frames at four points of each path, over the trials that the result rests on; None: not counted.

    What is unknown is its reason. `missing_..._frames`: signed, below 0 where more came than went.
    """
    found = device.balance(case)
    if found.answer is None:
        return None
    return {
        **_reason(found.answer),
        "paths": [_present(_path(path)) for path in found.paths],
        "byte_counters": [
            {
                "port": one.port,
                "way": one.way,
                "frames": one.frames,
                "counted_bytes": one.counted,
                "conventions": [each.name for each in one.conventions],
                "nearest": one.nearest.name,
                "off_bytes": one.off,
            }
            for one in found.bytes
        ],
        "byte_conventions": _reasons(found.conventions),
    }


def _path(path: Path) -> dict[str, Any]:
    return {
        "from": list(path.senders),
        "to": list(path.receivers),
        "tester_sent_frames": path.sent,
        "device_in_frames": _known(path.taken),
        "device_out_frames": _known(path.given),
        "tester_received_frames": path.received,
        "tester_own_frames": path.own,
        "foreign_frames": path.foreign,
        "copies_frames": path.copies,
        "dropped_by_device_frames": path.dropped,
        "missing_before_device_frames": path.link_in,
        "missing_in_device_frames": path.rest,
        "missing_behind_device_frames": path.link_out,
        "drops": [
            {"subject": drop.subject, "name": drop.name, "frames": _known(drop.frames)} for drop in path.drops
        ],
    }


def _known(count: int | Reason) -> Any:
    return count if isinstance(count, int) else _reason(count)


def _device_rates(case: CaseView) -> dict[str, Any] | None:
    """Rates of the device's counters while the load was held; None: none was counted meanwhile."""
    found = device_rates(case)
    if found is None:
        return None
    return {
        "trial": found.trial.number,
        "begin_ns": found.begin_ns,
        "end_ns": found.end_ns,
        "counters": [_counter_rate(one) for one in found.rates],
    }


def _counter_rate(one: CounterRate) -> dict[str, Any]:
    """The rate with its bounds, or the reason why it is unknown, and the window that it is of."""
    found, unit = one.found, "pps" if one.unit == "pps" else "bps"
    return _present(
        {
            "source": one.source,
            "port": one.port,
            "way": one.way,
            "counter": one.counter,
            "begin_ns": found.begin_ns,
            "end_ns": found.end_ns,
            **_quantity(f"rate_{unit}", found.rate),
            **_quantity(f"low_{unit}", found.low),
            **_quantity(f"high_{unit}", found.high),
            "reason": None if found.reason is None else _reason(found.reason),
        }
    )


def _printed_rates(case: CaseView) -> list[dict[str, Any]]:
    """Averages that the device printed, each with what the tester's counts predict over its window."""
    return [
        _present(
            {
                "trial": trial.number,
                "port": one.port,
                "way": one.way,
                "window_ns": one.window_ns,
                **_quantity("printed_pps" if one.is_of_frames else "printed_bps", one.rate),
                **_quantity("predicted_pps" if one.is_of_frames else "predicted_bps", one.predicted),
                **_reason(one.answer),
            }
        )
        for trial, one in device.printed_rates(case)
    ]


def _power(case: CaseView) -> dict[str, Any] | None:
    """Power of all supplies in the trial that received most; None: it was not read."""
    found = device.power(case)
    if found is None:
        return None
    return _present(
        {
            "trial": found.trial,
            **_quantity("hold_w", found.hold_watts),
            **_quantity("idle_w", found.idle_watts),
            **_quantity("received_pps", found.rx_fps),
            **_quantity("mpps_per_w", found.mpps_per_watt),
        }
    )


def _value(case: CaseView, value: Value) -> dict[str, Any]:
    end = f"_{UNITS.get(value.unit, value.unit)}" if value.unit else ""
    share = case.share_of_line(value)
    verdict = case.verdict_of(value)
    rate = value.number if value.unit == "fps" else None
    doubt = case.doubt(value)
    return _present(
        {
            "value": value.kind.display_name,
            "meaning": value.kind.meaning,
            "scope": value.scope,
            **_quantity(f"number{end}", value.number),
            **_quantity(f"low{end}", value.low),
            **_quantity(f"high{end}", value.high),
            **_quantity("l1_bps", None if rate is None else case.l1_bps(rate)),
            **_quantity("share_of_line_percent", None if share is None else share * 100),
            "limit": case.limit_of(value) or None,
            "reason": _reason(verdict.reason) if verdict and case.limit_of(value) else None,
            "note": _reason(value.note) if value.note else None,
            "contradicted": None if doubt is None else _reason(doubt),
        }
    )


def _own(case: CaseView, table: Table) -> dict[str, Any]:
    """A table of a case, with what is marked in it."""
    found = marks(table.columns, table.rows, [case] * len(table.rows))
    names = [column.name for column in table.columns]
    marked = [[names[place] for row, place in found if row == number] for number in range(len(table.rows))]
    return _table(table) | (_contradicted(marked) if found else {})


def _shown(table: Joined) -> dict[str, Any]:
    """A table over all cases, as those of the methods."""
    shown = _table(Table(table.name, table.columns, table.rows, " ".join(table.captions)))
    return shown | _contradicted([table.marked(row) for row in range(len(table.rows))])


def _contradicted(marked: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Of each row the columns that are, or stand on, a throughput which later trials contradict."""
    return {"contradicted_columns": [list(names) for names in marked]} if any(marked) else {}


def _table(table: Table) -> dict[str, Any]:
    """A table, its cells in the units of its columns; where any is not whole, all of those exact as well."""
    exact = [[_exact(cell) if isinstance(cell, Fraction) else None for cell in row] for row in table.rows]
    return _present(
        {
            "table": table.name,
            "caption": table.caption or None,
            "columns": [
                _present({"name": one.name, "unit": UNITS.get(one.unit, one.unit) or None})
                for one in table.columns
            ],
            "rows": [
                [cell if isinstance(cell, str) else _number(cell) for cell in row] for row in table.rows
            ],
            "rows_exact": exact if any(cell is not None for row in exact for cell in row) else None,
            "figure": _figure(table.figure),
        }
    )


def _figure(figure: Figure | None) -> dict[str, Any] | None:
    """How a table is drawn."""
    if figure is None:
        return None

    def ends(pair: tuple[Fraction, Fraction] | None) -> list[int | float | None] | None:
        return None if pair is None else [_number(end) for end in pair]

    return _present(
        {
            "x": figure.x,
            "ys": list(figure.ys),
            "reference": list(figure.reference) or None,
            "x_range": ends(figure.x_range),
            "y_range": ends(figure.y_range),
            "log_x": figure.log_x or None,
            "by": figure.by,
        }
    )


def _trial(trial: TrialView) -> dict[str, Any]:
    result = trial.result
    health = result.health
    return _present(
        {
            "trial": trial.number,
            "attempt": trial.attempt,
            "name": trial.name,
            "state": trial.state,
            "seed": trial.seed,
            "asked": [
                {
                    "segment": segment.name,
                    "duration_ns": segment.duration_ns,
                    **_quantity("from_pps", segment.from_fps),
                    **_quantity("to_pps", segment.to_fps),
                }
                for segment in trial.segments
            ],
            "phases": [
                {"phase": p.name, "start_ns": p.start_ns, "duration_ns": p.duration_ns} for p in result.phases
            ],
            "streams": [
                _present(
                    {
                        "stream": stream.name,
                        **{f"{name}_frames": count for name, count in counts(result, stream).items()},
                        "refused_frames": stream.refused or None,
                        "offered_bytes": stream.offered_bytes,
                        "received_bytes": stream.received_bytes,
                        "beyond_reordering_window_frames": None if stream.is_bare else stream.beyond_window,
                        "flows_received": None if stream.is_bare else stream.flows_received,
                        "first_loss_ns": stream.first_loss_ns,
                        "latency": _latency(stream.latency),
                        "lag": _lag(stream.lag),
                        "response_time": _response(stream.latency, stream.lag),
                        "gaps": _gaps(stream.gaps),
                        "longest_silence": None if stream.silence is None else asdict(stream.silence),
                        "reordering": _order(stream),
                        "delay_variation": _variation(stream),
                        "time_between_arrivals": _latency(stream.spacing, "at the receiving port"),
                    }
                )
                for stream in result.streams
            ],
            "ports": [
                {
                    "port": port.name,
                    "tx_frames": port.tx_frames,
                    "tx_bytes": port.tx_bytes,
                    "rx_frames": port.rx_frames,
                    "rx_bytes": port.rx_bytes,
                    "foreign_frames": port.foreign,
                    **({"stale_frames": port.stale} if port.stale else {}),
                    **({"rx_full_spans_ns": port.rx_full_spans} if port.rx_full_spans else {}),
                    **({"back_pressure": asdict(port.back_pressure)} if port.back_pressure else {}),
                }
                for port in result.ports
            ],
            "connections": [asdict(one) for one in result.carried] or None,
            "health": _present(
                {
                    "unsent_frames": health.unsent,
                    "latest_departure_ns": health.latest_departure_ns,
                    "longest_gap_ns": health.longest_gap_ns,
                    "rx_dropped_frames": health.rx_dropped,
                    "tx_full": health.tx_full,
                    "tx_no_peer": health.tx_no_peer or None,
                    "catch_up": _catch_up(health.catch_up),
                    "core_share_ppm": health.core_share_ppm,
                    "tx_dropped_frames": health.tx_dropped or None,
                    "rx_full": health.rx_full or None,
                    "rx_full_ns": health.rx_full_ns or None,
                    "tx_ahead_frames": health.tx_ahead or None,
                    "tx_ahead_ns": health.tx_ahead_ns,
                    "unheard_frames": health.unheard or None,
                    "rx_too_long_frames": health.rx_too_long or None,
                    "split_flows": health.split_flows or None,
                    "threads": health.threads or None,
                    "cores": health.cores or None,
                    "workers": [_present(asdict(worker)) for worker in health.workers] or None,
                    "peers": [_present(asdict(peer)) for peer in health.peers] or None,
                    "softirq_waited_ns": result.softirq_waited_ns or None,
                }
            ),
            "invalid": _reasons(result.invalid) or None,
            "devices": [dict(device) for device in result.devices] or None,
            "happened": [asdict(happened) for happened in result.happened] or None,
            "carrier_losses": [asdict(loss) for loss in result.carrier_losses] or None,
            "interfaces": [
                {
                    "port": one.port,
                    "interface": one.interface,
                    "link_went_down": one.downs,
                    "waited_for_link_ns": one.waited_ns,
                    "counters": dict(one.counters),
                    "driver_counters": dict(one.driver),
                    "found": {kind: dict(found) for kind, found in one.kinds.items()},
                }
                for one in result.interfaces
            ]
            or None,
            "series": [_series(one) for one in result.series] or None,
        }
    )


def _series(series: Series) -> dict[str, Any]:
    """What an instrument read in a trial: its times, ns from the begin of traffic, and a value for each.

    `took_ns`: from question to answer, of each. `window_ns`: what the device averaged each value over.
    """
    steps = series.at_ns if isinstance(series.at_ns, Steps) else None
    return _present(
        {
            "source": series.source,
            "subject": series.subject,
            "name": series.name,
            "unit": series.unit,
            "first_ns": None if steps is None else steps.first_ns,
            "every_ns": None if steps is None else steps.every_ns,
            "at_ns": list(series.times_ns) if steps is None else None,
            "values": [_number(number) for number in series.numbers],
            "values_exact": [str(number) for number in series.numbers] if series.scale else None,
            "took_ns": list(series.took_ns) or None,
            "window_ns": series.window_ns,
            "is_counter": series.is_counter or None,
            "bits": series.bits,
            "command": series.command or None,
            "missed": [{"at_ns": one.at_ns, "reason": _reason(one.reason)} for one in series.missed] or None,
        }
    )


def _catch_up(caught: CatchUp | None) -> dict[str, Any] | None:
    """How pauses of the tester were made up for, if there were any."""
    if caught is None:
        return None
    return {
        "up_to_percent_of_the_rate": caught.percent,
        "pauses": caught.pauses,
        "longest_pause_ns": caught.longest_ns,
        "frames": caught.frames,
        "most_frames_after_one_pause": caught.longest_run,
        "most_frames_in_one_round": caught.most_in_round,
    }


def _lag(lag: Lag | None) -> dict[str, Any] | None:
    """How late the frames were sent; None if none was. With `late_frames` the latency is not usable."""
    if lag is None or not lag.max_ns:
        return None
    return {
        **_quantity("mean_ns", Fraction(lag.sum_ns, lag.count)),
        "max_ns": lag.max_ns,
        "late_frames": lag.late,
        "late_beyond_ns": lag.limit_ns,
    }


def _latency(
    latency: Latency | None, definition: str = "first bit out to last bit in (FILO)"
) -> dict[str, Any] | None:
    if latency is None or latency.count == 0:
        return None
    return _present(
        {
            "definition": definition,
            "count": latency.count,
            "min_ns": latency.min_ns,
            **_quantity("mean_ns", Fraction(latency.sum_ns, latency.count)),
            "max_ns": latency.max_ns,
            **dict(zip(PERCENTILES, percentiles(latency, PERCENTILES.values()), strict=True)),
            "over_range": latency.over,
            "negative": latency.negative,
        }
    )


def _gaps(gaps: Gaps | None) -> dict[str, Any] | None:
    """When frames were lost or corrupted, by departure."""
    if gaps is None:
        return None
    return {
        "missing_frames": gaps.frames,
        "gaps": [
            {
                "first_frame": gap.first,
                "last_frame": gap.last,
                "missing_frames": gap.frames,
                "first_departure_ns": gap.first_ns,
                "last_departure_ns": gap.last_ns,
            }
            for gap in gaps.gaps
        ],
        "further_gaps": gaps.further,
        "missing_frames_in_further_gaps": gaps.further_frames,
    }


def _order(stream: StreamResult) -> dict[str, Any] | None:
    order = stream.order
    if order is None:
        return None
    ratio = Fraction(stream.out_of_order, stream.received) if stream.received else None
    return _present(
        {
            "definition": "RFC 4737, in the sequence of each flow",
            **_quantity("ratio", ratio),
            **_quantity(
                "extent_mean_frames", Fraction(order.extent_sum, order.placed) if order.placed else None
            ),
            "extent_max_frames": order.extent_max if order.placed else None,
            "extent_unknown_frames": order.unplaced or None,
            "n_reordered_frames": list(order.n_reordered),
        }
    )


def _variation(stream: StreamResult) -> dict[str, Any] | None:
    found = stream.variation
    if found is None:
        return None
    return _present(
        {
            "definition": "RFC 5481: PDV, latency less the least; IPDV, less that of the frame sent before",
            "pdv_p99_9_ns": None if stream.latency is None else variation.pdv(stream.latency),
            "ipdv_pairs": found.pairs,
            "ipdv_min_ns": found.min_ns,
            "ipdv_median_ns": variation.median(found),
            **_quantity("ipdv_mean_ns", Fraction(found.sum_ns, found.pairs)),
            "ipdv_max_ns": found.max_ns,
            "ipdv_over_range": found.over or None,
        }
    )


def _response(latency: Latency | None, lag: Lag | None) -> dict[str, Any] | None:
    """What is known of latency from when frames were due: two bounds each."""
    if latency is None or latency.count == 0 or lag is None or not lag.max_ns:
        return None
    least, most = response.mean(latency, lag)
    known = response.percentiles(latency, lag, PERCENTILES.values())
    return _present(
        {
            "definition": "from when a frame was due to last bit in: at least, at most",
            "mean_ns": [_number(least), _number(most)],
            "mean_ns_exact": [str(least), str(most)],
            **{
                name: None if bounds is None else list(bounds)
                for name, bounds in zip(PERCENTILES, known, strict=True)
            },
        }
    )


def _reasons(found: Iterable[Reason]) -> list[dict[str, Any]]:
    return [_reason(one) for one in found]


def _reason(reason: Reason) -> dict[str, Any]:
    """Its code and fields for programs, and the sentence for people."""
    return {"code": reason.full_code, "text": str(reason), "fields": reason.fields()}


def _quantity(key: str, number: Fraction | int | None) -> dict[str, Any]:
    """A plain number and, beside it, the exact one; nothing of what was not measured."""
    if number is None:
        return {}
    return {key: _number(Fraction(number)), f"{key}_exact": str(number)}


def _number(number: Fraction | None) -> int | float | None:
    if number is None:
        return None
    return number.numerator if number.denominator == 1 else float(number)


def _exact(number: Fraction | None) -> str | None:
    """`312500000/21`; None for whole numbers, which are exact as they are."""
    return None if number is None or number.denominator == 1 else str(number)


def _present(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if value is not None}
