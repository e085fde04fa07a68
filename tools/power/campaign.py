"""How often the right one is named, on real ports with a device that is not netdyno's own.

    make power                  every scenario that is not yet in runs/power.csv, then the tables
    .venv/bin/python tools/power/campaign.py --count 20 --seed 7 --only policer,outage --tester undisturbed
    .venv/bin/python tools/power/campaign.py --only innocent --count 150
    .venv/bin/python tools/power/campaign.py --only guilty --tester undisturbed --count 400 --undisturbed 20
    .venv/bin/python tools/power/campaign.py --judge-again        no new run: by the rules as they are now

The device is tools/power/device.c, or on memifs tools/power/memif_device.c: a process of its own with one
declared fault, which logs what it did, or with none (`innocent`): whatever is lost then, the tester caused.
The tester is undisturbed, half loaded (another process competes for its core, in turns of 100 ms), starved
(all the time) or stopped (by signals, for 1 to 30 ms at a time). Each run is one `netdyno run` as a user
makes it, in a network namespace, with a calibration over the same ports. What the verdicts follow from is
kept beside the record, for --judge-again when a rule has changed.
"""

from __future__ import annotations

import argparse
import csv
import pickle
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import page
from faults import FAULTS, INNOCENT, OF_INNOCENT, TESTERS, Scenario, scenario
from lab import lab, measure
from netdyno.campaign.judging import judge_case
from page import read

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "runs" / "power.csv"
SOURCES = ROOT / "tools" / "power"
COLUMNS = (
    *("fault", "tester", "seed", "arguments", "method", "limit", "code", "core_share_ppm", "longest_gap_ns"),
    *("in", "passed", "faulty", "own_drops", "away_ns", "number", "reason"),
)


def _row(
    given: Scenario, log: Mapping[str, Any], kept: Path, failed: Mapping[str, Any] | None
) -> dict[str, Any]:
    """failed: the case as the JSON report has it, where nothing was judged."""
    sides = log["sides"]
    found = {
        "arguments": " ".join(map(str, given.arguments)),
        "method": given.method,
        "in": sum(side["in"] for side in sides),
        "passed": sum(side["passed"] for side in sides),
        "faulty": sum(side["faulty"] for side in sides),
        "own_drops": sum(side["own_drops"] for side in sides),
        "away_ns": log["longest_away_ns"],
    }
    if failed is None:
        return found | _judged(given, kept)
    error = failed.get("error") or {}
    return found | {
        "limit": failed["state"],
        "code": error.get("code", ""),
        "reason": error.get("message", ""),
    }


def _judged(given: Scenario, kept: Path) -> dict[str, Any]:
    """How the tester fared, and what the verdict says of all streams together. Of a device without a fault,
    any value that names it is false."""
    with kept.open("rb") as file:
        made = pickle.load(file)
    health = [outcome.health for _, outcome in made.trials.values()]
    measured = judge_case(made)
    verdicts = measured.verdicts
    (headline, *_) = measured.result.headlines
    found = next(one for one in verdicts if one.value == headline and one.scope == "sum")
    if given.right in ("tester", "inconclusive"):
        found = next((one for one in verdicts if one.limit == "device"), found)
    value = measured.result.value(headline, "sum")
    return {
        "limit": found.limit,
        "code": found.reason.code,
        "core_share_ppm": min(one.core_share_ppm or 0 for one in health),
        "longest_gap_ns": max(one.longest_gap_ns for one in health),
        "number": "" if value is None or value.number is None else str(value.number),
        "reason": str(found.reason),
    }


def main() -> int:
    """Measures what is not measured yet, and prints the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=20, help="runs of each fault and tester")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only",
        default="guilty,innocent",
        help="faults, or all of these kinds; `policer@half`: with that tester only",
    )
    parser.add_argument("--tester", help="the tester's states instead of all, or of a drawn one")
    parser.add_argument(
        "--undisturbed", type=int, metavar="N", help="no more runs of a fault once N counted as undisturbed"
    )
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--judge-again", action="store_true")
    parser.add_argument(
        "--publish", action="store_true", help="the record, to tests/data and docs/verdicts-detail.md"
    )
    asked = parser.parse_args()
    beside = asked.record.with_suffix("")
    beside.mkdir(parents=True, exist_ok=True)
    if asked.judge_again:
        _judge_again(asked.record, beside)
        return _show(asked.record)
    if asked.publish:
        page.publish(read(asked.record))
        return 0
    rows = read(asked.record)
    known = {(row["fault"], row["tester"], row["seed"]) for row in rows}
    counted = Counter(row["fault"] for row in rows if page.state(row) == "undisturbed")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for source in sorted(SOURCES.glob("*.c")):
            subprocess.run(["gcc", "-O2", "-o", str(folder / source.stem), str(source)], check=True)
        name = stack.enter_context(lab())
        for fault, tester, seed in _asked(asked):
            if (fault, tester, str(seed)) in known:
                continue
            if asked.undisturbed is not None and counted[fault] >= asked.undisturbed:
                continue
            given = scenario(fault, seed)
            began = time.monotonic()
            kept = beside / f"{fault}-{tester}-{seed}.pickle"
            kept.unlink(missing_ok=True)
            log, failed = measure(given, tester, seed, name, folder, kept)
            row = _row(given, log, kept, failed) | {"fault": fault, "tester": tester, "seed": seed}
            _append(asked.record, row)
            counted[fault] += page.state(row) == "undisturbed"
            shown = f"{row.get('core_share_ppm')} ppm, {row.get('longest_gap_ns')} ns"
            print(
                f"{fault} {tester} {seed}: {row['limit']} {row['code']} ({shown},"
                f" {time.monotonic() - began:.1f} s) {row['reason']}",
                flush=True,
            )
    return _show(asked.record)


def _judge_again(record: Path, beside: Path) -> None:
    """Makes the verdicts of the record again. Says which changed."""
    rows = read(record)
    for row in rows:
        kept = beside / f"{row['fault']}-{row['tester']}-{row['seed']}.pickle"
        if kept.exists():
            before = row["limit"], row["code"]
            row |= _judged(scenario(row["fault"], int(row["seed"])), kept)
            if before != (row["limit"], row["code"]):
                print(f"{kept.stem}: {' '.join(before)} is now {row['limit']} {row['code']}: {row['reason']}")
    record.unlink(missing_ok=True)
    for row in rows:
        _append(record, row)


def _show(record: Path) -> int:
    print(page.text(read(record)))
    return 0


def _asked(asked: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """Each run: its fault, the tester's state, its seed."""
    kinds = {"guilty": FAULTS, "innocent": INNOCENT}
    words = [one for word in asked.only.split(",") for one in kinds.get(word, (word,))]
    for seed in range(asked.seed, asked.seed + asked.count):
        for word in words:
            fault, _, tester = word.partition("@")
            drawn = random.Random(f"{fault} {seed} tester").choice(OF_INNOCENT)
            usual = (drawn,) if fault in INNOCENT else TESTERS
            testers = tester or asked.tester
            for one in testers.split(",") if testers else usual:
                yield fault, one, seed


def _append(record: Path, row: Mapping[str, Any]) -> None:
    is_new = not record.exists()
    with record.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


if __name__ == "__main__":
    sys.exit(main())
