"""Dump every number and limit that a redesign must not change, and compare two dumps.

    .venv/bin/python tools/record.py OUT.json          the truth table, the confusion matrix, the examples
    .venv/bin/python tools/record.py --compare A B     list the differences; exit 1 if there are any

A dump holds numbers, limits and counts, and no sentence: wording may change, results may not. Each entry is
one cell of the truth table (`tests/truth/table.py`), one scenario of the confusion matrix, or one case of an
emulated example plan. Rates are in frames per second, times in ns, all exact.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "support"), str(ROOT / "tests" / "truth")]

EXAMPLES: Mapping[str, str] = {
    "asr9006": "1/1000",
    "asr9006-at-once": "1/1000",
    "asr1000-latency": "1/400",
    "rfc2544": "1/200",
    "rfc2544-suite": "1/600",
    "ndr": "1/20",
    "bursts": "1/10",
    "activation": "1/100",
    "modifiers": "1/20",
    "soak": "1/1000",
}
"""Plans with emulated devices, and the scale each is run at: all of them take two minutes on two cores."""

SCENARIOS = 500
"""Of the confusion matrix (tools/confusion.py)."""


def result(found: Any) -> dict[str, Any]:
    """The values of a result, its trials and the numbers in its tables, in the order the method gives."""
    return {
        "method": found.method,
        "values": [
            [
                value.name,
                value.scope,
                {"fps": "pps"}.get(value.unit, value.unit),
                *(None if one is None else str(one) for one in (value.number, value.low, value.high)),
                value.searched,
                bool(value.contradicted),
            ]
            for value in found.values
        ],
        "trials": list(found.trials),
        "conformity": found.conformity,
        "tables": [
            [
                [str(cell) for cell in row if cell is not None and not isinstance(cell, str)]
                for row in table.rows
            ]
            for table in found.tables
        ],
    }


def counts(outcome: Any) -> str:
    """A digest of all that one trial counted of each stream: counts, samples, latency, dated losses."""
    rows = [
        [
            *(one.name, one.intended, one.offered, one.offered_bytes, one.received, one.received_bytes),
            *(one.duplicates, one.elsewhere, one.out_of_order, one.corrupted, one.lost, one.beyond_window),
            *(one.flows_received, one.first_loss_ns, list(one.tx), list(one.rx), list(one.arrived)),
            None
            if one.latency is None
            else [one.latency.count, one.latency.min_ns, one.latency.sum_ns, one.latency.max_ns],
            None
            if one.gaps is None
            else [[gap.first, gap.last, gap.frames, gap.first_ns, gap.last_ns] for gap in one.gaps.gaps],
        ]
        for one in outcome.streams
    ]
    return sha256(json.dumps(rows).encode()).hexdigest()[:16]


def cell(name: str, device: str) -> tuple[str, dict[str, Any]]:
    """One cell of the truth table: values, counts of each trial, and the limit of each scope."""
    from bench import run
    from devices import CLASSES
    from netdyno.verdict import Evidence, judge
    from table import asked

    plan, marked = asked(name, CLASSES[device])
    bench = run(plan, CLASSES[device].model, classes=marked)
    limits = {}
    for headline in bench.result.headlines:
        resting = bench.result.resting(headline)
        evidence = Evidence(
            bench.known,
            "virtual",
            True,
            tuple(bench.outcomes[number] for number in resting),
            tuple(bench.trials[number].duration_ns for number in resting),
            None,
        )
        limits[headline] = {
            scope: verdict.limit for scope, verdict in judge(bench.result, evidence, headline).items()
        }
    trials = [counts(outcome) for outcome in bench.outcomes]
    return f"truth: {name} on {device}", {**result(bench.result), "counts": trials, "limits": limits}


def scenario(number: int) -> tuple[str, dict[str, Any]]:
    """One scenario of the confusion matrix: the limit that was named."""
    import confusion

    found = confusion.answer(number)
    return f"scenario {number}", {"truth": found.truth, "limit": found.limit, "right": found.right}


def example(name: str, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each case of an example plan as stored, and the limit of each of its headlines and scopes."""
    from netdyno.campaign.reasons import REASONS
    from netdyno.store import open_run

    command = [sys.executable, "-m", "netdyno", "run", f"examples/{name}.yaml", "--scale", EXAMPLES[name]]
    done = subprocess.run(
        [*command, "--out", str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False
    )
    (stored,) = folder.iterdir()
    yield f"{name}: the run", {"exit code": done.returncode}
    with open_run(stored, REASONS) as run:
        for case in run.cases:
            assert case.result is not None, (name, case.head.name, case.error)
            trials = [
                (trial.number, trial.attempt, counts(trial.result)) for trial in run.trials(case.head.number)
            ]
            yield (
                f"{name}: {case.head.number} {case.head.name}",
                {
                    **result(case.result),
                    "counts": [list(one) for one in trials],
                    "limits": [[one.value, one.scope, one.limit] for one in case.verdicts],
                    "goals": [[goal.name, goal.passed] for goal in case.goals],
                },
            )


def dump(file: Path) -> None:
    """Runs everything and writes the dump, one entry a line."""
    from table import CELLS

    entries: dict[str, Any] = {}
    for name in EXAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            entries.update(example(name, Path(folder)))
        print(f"{name}: done", file=sys.stderr)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        entries.update(pool.map(scenario, range(SCENARIOS), chunksize=4))
        print("confusion matrix: done", file=sys.stderr)
        entries.update(pool.map(cell, *zip(*CELLS, strict=True), chunksize=4))
    lines = (f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(entries)} entries in {file}", file=sys.stderr)


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Each place at which two dumps differ, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            if key not in before or key not in after:
                yield f"{place} / {key}: only {'after' if key in after else 'before'}"
            else:
                yield from differences(before[key], after[key], f"{place} / {key}" if place else key)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif before != after:
        yield f"{place}: {json.dumps(before)[:200]} -> {json.dumps(after)[:200]}"


def main() -> int:
    """Dumps to a file, or compares two dumps."""
    if len(sys.argv) == 4 and sys.argv[1] == "--compare":
        before, after = (json.loads(Path(name).read_text()) for name in sys.argv[2:])
        found = list(differences(before, after))
        print("\n".join(found))
        print(f"{len(before)} entries before, {len(after)} after, {len(found)} differences")
        return 1 if found else 0
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    dump(Path(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
