"""Y.1564: pass or fail for each service."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from netdyno.errors import counted
from netdyno.reports.model import soaked
from netdyno.reports.model.answer import capital, judged
from netdyno.reports.model.shown import Family, Number, Record, Shown, records
from netdyno.reports.model.table import small_table
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import FAIL, NOT_KNOWN, PASS


def show(run: RunView) -> Shown:
    """Y.1564: pass or fail for each service, with the step that failed and by how much."""
    rows: list[tuple[str, ...]] = []
    whys: dict[str, dict[str, list[str]]] = {"FAIL": {}, "UNKNOWN": {}}
    for case in run.cases:
        if case.result is None:
            whys["UNKNOWN"].setdefault("not measured", []).append(run.name_apart(case))
        not_run = _steps_not_run(case)
        steps = [*records(case, "Service configuration"), *records(case, "Service performance")]
        for service in dict.fromkeys(str(step["service"]) for step in steps):
            own = [step for step in steps if step["service"] == service]
            bad = [step for step in own if step["result"] == FAIL]
            open_ = [step for step in own if step["result"] == NOT_KNOWN]
            left_out = not_run.get(service, [])
            verdict = "FAIL" if bad else "UNKNOWN" if open_ or left_out else "PASS"
            name = f"{run.name_apart(case)}: {service}" if len(run.cases) > 1 else service
            if bad or open_:
                what, by = _why((bad or open_)[0])
                whys[verdict].setdefault(what, []).append(f"{name}{by}")
            elif left_out:
                whys[verdict].setdefault("not run", []).append(f"{name} {', '.join(left_out)}")
            passed = sum(step["result"] == PASS for step in own)
            rows.append((name, verdict, f"{passed} of {len(own)}", *_performance(own)))
    failed, unknown = (sum(map(len, whys[word].values())) for word in ("FAIL", "UNKNOWN"))
    verdict = "FAIL" if failed else "UNKNOWN" if unknown else "PASS"
    outcomes = [
        (word, f"{what}, {'; '.join(by)}") for word, found in whys.items() for what, by in found.items()
    ]
    passes = len(rows) - failed - unknown
    numbers = (
        Number("Acceptance", verdict, f"{passes} of {counted(len(rows), 'service')} passed"),
        *(
            Number(capital(row[0]), row[1], f"{row[2]} steps; {row[3]} at CIR, loss {row[4]}")
            for row in rows[:2]
        ),
    )
    headings = ("service", "result", judged(run)[0], "at CIR: rate, L2", "loss", "mean delay")
    return Shown(
        numbers,
        small_table(headings, tuple(rows), left=2),
        caveats=tuple(soaked.caveats(run)),
        passed=None if unknown and not failed else not failed,
        outcomes=tuple(outcomes or [("PASS", "every step of every service")]),
    )


def _steps_not_run(case: CaseView) -> dict[str, list[str]]:
    """Steps that exceed the line, by service: nothing is known of them."""
    found: dict[str, list[str]] = {}
    for note in case.result.notes if case.result else ():
        if note.code == "step-not-run":
            fields = note.fields()
            found.setdefault(str(fields["service"]), []).append(str(fields["step"]))
    return found


def _performance(steps: Sequence[Record]) -> tuple[str, str, str]:
    """Rate, loss and delay of a service while all run at their committed rate, the worst of its streams."""
    own = [step for step in steps if "step" not in step]
    rates = [rate for step in own if isinstance(rate := step["IR, L2"], Fraction)]
    losses = [loss for step in own if isinstance(loss := step["FLR"], Fraction)]
    times = [mean for step in own if isinstance(mean := step["FTD mean"], Fraction)]
    return (
        printed.rate(min(rates), "bit/s") if rates else "n/a",
        printed.percent(max(losses), 3, trim=True) if losses else "n/a",
        printed.latency(max(times)) if times else "n/a",
    )


def _why(step: Record) -> tuple[str, str]:
    """What a step did not pass and by how much: `no policing`, ` passes 25.0 Mbit/s, allowed 20.2 Mbit/s`."""
    found, most = step["IR, L2"], step["IR at most, L2"]
    is_policing = step["step"] == "policing" and step["result"] == FAIL
    if is_policing and isinstance(found, Fraction) and isinstance(most, Fraction) and found > most:
        for more in range(9):
            passes, allowed = (printed.rate(rate, "bit/s", more=more) for rate in (found, most))
            if passes != allowed:
                break
        return "no policing", f" passes {passes}, allowed {allowed}"
    return str(step.get("step", "performance")), f" {step['reason']}"


FAMILY = Family("y1564", show)
