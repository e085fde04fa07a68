"""Who is named as the limit, over labs whose limit is known: the table of docs/verdicts-detail.md.

    make confusion        runs 500 scenarios, writes tests/data/confusion.csv (and .sha256) and the table

Each scenario goes the whole way in virtual time: plan, trials by the method, engine, emulated device,
verdict; and, unless it says otherwise, a calibration of the same ports joined to each other. Verdicts are
given as in real time: nothing but the calibration speaks for the tester.
"""

from __future__ import annotations

import ast
import csv
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

from netdyno.calibration import Proven
from netdyno.devices import KINDS, Wiring
from netdyno.methods import METHODS
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import Case, cases, situation
from netdyno.testers.netdyno import raw
from netdyno.testers.netdyno.spec import read_result, session_spec, trial_spec
from netdyno.values.finding import Result
from netdyno.values.load import Trial
from netdyno.values.outcome import InterfaceResult, Outcome
from netdyno.values.records import CaseHead, CaseWiring, StoredCase, StoredVerdict
from netdyno.verdict import Evidence, Timed, Traffic, Witnesses, across, judge

sys.path.insert(0, str(Path(__file__).parent))
from scenarios import LINE_BPS, Scenario, scenario

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "tests" / "data" / "confusion.csv"
DIGESTS = RECORD.with_suffix(".sha256")
"""Of the sources that the record was made with, as sha256sum(1) writes them."""
PAGE = ROOT / "docs" / "verdicts-detail.md"
COUNT = 500
LIMITS = (
    *("device", "line", "link", "tester", "receiver", "fixture", "licence", "none", "inconclusive"),
    "invalid",
)
BEGIN, END = "<!-- made by make confusion -->", "<!-- end -->"

PLAN = """\
title: {kind}
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/cross-connect}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: {rate}bps}}
    - {{endpoints: ["tester:east", "dut:b"], rate: {rate}bps}}
traffic:
  frames: {{size: {size}, flows: {flows}}}
matrix:
  profile: [frames]
  direction: [{direction}]
method: {method}
trial: {{settle: 100us, drain: 100ms, sample: {sample}ns}}
seed: {seed}
"""


@dataclass(frozen=True)
class Answer:
    """What came of one scenario."""

    number: int
    truth: str
    kind: str
    limit: str
    right: bool
    reason: str


def answer(number: int, clock: Literal["real", "virtual"] = "real") -> Answer:
    """Runs one scenario. Of several sizes all cases must be right, else the first other answer is shown.

    clock: as which the verdict takes it; in virtual time it takes the tester at its word.
    """
    given = scenario(number)
    ended = [_case(given, index, clock) for index in range(len(given.sizes))]
    changed = across(ended)
    verdicts = [changed.get(case.head.number, case.verdicts) for case in ended]
    sums = [next(one for one in found if one.scope == "sum") for found in verdicts]
    told = next((one for one in sums if one.limit not in given.accepts), sums[0])
    right = told.limit in given.accepts
    return Answer(number, given.truth, given.kind, told.limit, right, str(told.reason))


def _case(given: Scenario, index: int, clock: Literal["real", "virtual"]) -> StoredCase:
    """One case as a run would store it."""
    size = given.sizes[index]
    plan = _plan(given, size, _method(given, size))
    (case,) = cases(plan)
    wiring = _wiring(given, plan, case)
    known = situation(case, wiring)
    result, trials, planned = _follow(given, plan, case, wiring)
    proven = _calibrate(given, size) if given.calibrated else None
    resting = tuple(trials[number] for number in result.trials)
    planned_ns = tuple(planned[number] for number in result.trials)
    constant = given.method != "ramp"
    witnesses = Witnesses.of(
        (Timed(one, ns, constant) for one, ns in zip(trials, planned, strict=True)),
        Traffic(
            given.flows,
            ratio=1 if isinstance(size, int) else math.ceil(Fraction(1538, 84)),
            frame_ns=10**9 / known.line_fps,
            ports=len(known.streams),
        ),
    )
    given_to = Evidence(known, clock, True, resting, planned_ns, proven, witnesses, constant)
    verdicts = judge(result, given_to)
    head = CaseHead(
        number=index,
        name=f"{size}",
        axes={"profile": str(size), "direction": given.direction},
        kind="scenario",
        kind_title=given.kind,
        emulated=False,
        settings={},
        method=given.method,
        parameters="",
        seed=given.number,
    )
    stored = tuple(StoredVerdict(scope, one.limit, one.reason) for scope, one in verdicts.items())
    return StoredCase(head, "done", CaseWiring("real", known, True, (), ""), result, stored)


def _plan(given: Scenario, size: int | str, method: str) -> Plan:
    text = PLAN.format(
        kind=given.kind,
        rate=LINE_BPS,
        size=size if isinstance(size, str) else f"{size}B",
        flows=given.flows,
        direction=given.direction,
        method=method,
        sample=given.trial_ns(size) // 100,
        seed=given.number,
    )
    return parse(text, name="scenario.yaml", base=Path())


def _method(given: Scenario, size: int | str) -> str:
    most, length = f"{float(given.most * 100):.4f}%", given.trial_ns(size)
    if given.method == "ramp":
        return f"{{ramp: {{warmup: null, ramp: {length}ns to {most}, hold: {length // 2}ns}}}}"
    return f"{{throughput: {{duration: {length}ns, maximum: {most}}}}}"


def _wiring(given: Scenario, plan: Plan, case: Case) -> Wiring:
    """That of an ideal device, with what the scenario changes."""
    kind = "emulated/asr9006" if given.members > 1 else plan.lab.kind
    settings = {"forwarding": "l2-xconnect", "lag": "lacp"} if given.members > 1 else case.settings
    wiring = KINDS[kind].wire(plan.lab.links, settings)
    session = json.loads(json.dumps(session_spec(wiring)))
    (device,) = session["devices"]
    device.update(given.device)
    for port in device["ports"]:
        # The published device's own limits are none of this one's.
        port.update({"in_fps": None, "both_fps": None, "hash": "src-dst-ip", "partner_hash": "src-dst-ip"})
        port.update(given.ports)
    _limit(session, given)
    return replace(wiring, session=session)


def _limit(session: dict[str, Any], given: Scenario) -> None:
    for port, limit in zip(session["ports"], given.limits, strict=True):
        if limit is not None:
            port["limit"] = limit


def _follow(
    given: Scenario, plan: Plan, case: Case, wiring: Wiring
) -> tuple[Result, list[Outcome], list[int]]:
    """Gives the method what it asks for until it has a result."""
    outcomes: list[Outcome] = []
    planned: list[int] = []
    with raw(session_spec(wiring)) as session:
        method = METHODS[plan.method].start(plan.parameters, situation(case, wiring))
        trial: Trial = next(method)
        while True:
            planned.append(trial.duration_ns)
            found = read_result(session.trial(trial_spec(plan, case, wiring, trial)))
            outcomes.append(_with_interfaces(found) if given.interfaces else found)
            try:
                trial = method.send(outcomes[-1])
            except StopIteration as stop:
                return stop.value, outcomes, planned


def _with_interfaces(found: Outcome) -> Outcome:
    """With what interfaces of the tester's count: whatever left the device's ports came to them."""
    if not found.devices:
        return found
    (device,) = found.devices
    counted = zip(found.ports, device["ports"], strict=True)
    interfaces = [
        InterfaceResult(port.name, port.name, {"rx_packets": there["tx_frames"]}) for port, there in counted
    ]
    return replace(found, interfaces=tuple(interfaces))


def _calibrate(given: Scenario, size: int | str) -> Proven:
    """What the same ports pass with nothing between them: a search from a full line down, to 1 %."""
    length = given.trial_ns(size)
    if given.quiet:
        given = replace(given, limits=(None, None))
    plan = _plan(given, size, f"{{throughput: {{duration: {length}ns, width: 1%}}}}")
    (case,) = cases(plan)
    wired = _wiring(given, plan, case)
    rate = wired.ports[0].rate_bps
    session: Mapping[str, Any] = {
        "clock": "virtual",
        "ports": wired.session["ports"],
        "loops": [{"ports": [0, 1], "rate_bps": rate}],
    }
    result, _, _ = _follow(given, plan, case, replace(wired, session=session))
    numbers = [value.number for value in result.values if value.scope != "sum"]
    most = None if None in numbers else min(number for number in numbers if number is not None)
    return Proven(f"scenario {given.number}", datetime(2026, 1, 1, tzinfo=UTC), most or None)


def table(answers: Sequence[tuple[str, str, bool]]) -> str:
    """The table of the page: truth, limit named, whether that was right."""
    counts = Counter((truth, limit) for truth, limit, _ in answers)
    lines = [f"| the limit was | {' | '.join(f'`{limit}`' for limit in LIMITS)} | accepted | named |"]
    lines.append("|---" * (len(LIMITS) + 3) + "|")
    for truth in dict.fromkeys(truth for truth, _, _ in answers):
        row = [str(counts[truth, limit] or "") for limit in LIMITS]
        mine = [right for one, _, right in answers if one == truth]
        named = f"{counts[truth, truth]} of {len(mine)}" if truth in LIMITS else ""
        lines.append(f"| {truth} | {' | '.join(row)} | {sum(mine)} of {len(mine)} | {named} |")
    right = sum(right for _, _, right in answers)
    share = Fraction(right * 100, len(answers))
    known = [(truth, limit) for truth, limit, _ in answers if truth in LIMITS]
    named = sum(truth == limit for truth, limit in known)
    lines += [
        "",
        f"{right} of {len(answers)} are right, {float(share):.1f} %: an answer that the scenario accepts.",
    ]
    lines += [f"Of the {len(known)} with one limit that has a name, {named} are called by it."]
    return "\n".join(lines)


def read_record() -> list[dict[str, str]]:
    """The record as written: number, truth, kind, limit, right."""
    with RECORD.open(newline="") as file:
        return list(csv.DictReader(file))


def table_of_record(rows: Iterable[Mapping[str, str]]) -> str:
    """The table that belongs to a record."""
    return table([(row["truth"], row["limit"], row["right"] == "yes") for row in rows])


def sources() -> dict[str, str]:
    """What the answers rest on beside the engine: each file with its digest.

    All verdicts; of the methods those that scenarios use, and what these and the verdicts import.
    """
    package = ROOT / "python"
    verdicts = sorted((package / "netdyno" / "verdict").rglob("*.py"))
    used = {scenario(number).method for number in range(COUNT)}
    starts = [package / f"{METHODS[one].start.__module__.replace('.', '/')}.py" for one in sorted(used)]
    files = {*verdicts, *starts, ROOT / "tools/confusion.py", ROOT / "tools/scenarios.py"}
    waiting = [*verdicts, *starts]
    while waiting:
        found = set(_imported_methods(waiting.pop(), package)) - files
        files |= found
        waiting += found
    # The table of methods: what is added to it changes no answer.
    files -= {package / "netdyno" / "methods" / "__init__.py"}
    return {str(file.relative_to(ROOT)): sha256(file.read_bytes()).hexdigest() for file in sorted(files)}


def _imported_methods(file: Path, package: Path) -> Iterator[Path]:
    """The files of `netdyno.methods` that a file imports."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("netdyno.methods."):
            for name in (f"{node.module}", *(f"{node.module}.{one.name}" for one in node.names)):
                path = package / name.replace(".", "/")
                yield from (one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file())


def main() -> int:
    """Runs all, tells what was wrong, writes record and page."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    found: list[Answer] = []
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for one in pool.map(answer, range(count), chunksize=4):
            found.append(one)
            if not one.right:
                print(f"{one.number}: {one.truth}, {one.kind}: {one.limit}: {one.reason}", flush=True)
    print(table([(one.truth, one.limit, one.right) for one in found]))
    if count == COUNT:
        with RECORD.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("number", "truth", "kind", "limit", "right"))
            for one in found:
                writer.writerow((one.number, one.truth, one.kind, one.limit, "yes" if one.right else "no"))
        DIGESTS.write_text("".join(f"{digest}  {name}\n" for name, digest in sources().items()))
        page = PAGE.read_text()
        before, _, rest = page.partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n\n{table_of_record(read_record())}\n\n{END}{after}")
    return 0 if all(one.right for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
