"""What a campaign of `make power` found, as tables of docs/verdicts-detail.md."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from faults import FAULTS, INNOCENT, OF_INNOCENT, TESTERS

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "tests" / "data" / "power.csv"
PAGE = ROOT / "docs" / "verdicts-detail.md"
BEGIN, END = "<!-- made by make power -->", "<!-- end of make power -->"
COLUMNS = (
    "fault",
    "tester",
    "seed",
    "limit",
    "code",
    "core_share_ppm",
    "longest_gap_ns",
    "faulty",
    "own_drops",
)
"""What the page rests on."""

UNDISTURBED_PPM, UNDISTURBED_NS = 970_000, 1_000_000
"""What a run must have had to count as undisturbed: core share, and the longest gap."""


def read(record: Path) -> list[dict[str, str]]:
    """The rows of a record; none if there is none."""
    if not record.exists():
        return []
    with record.open(newline="") as file:
        return list(csv.DictReader(file))


def publish(rows: Sequence[Mapping[str, str]]) -> None:
    """Writes what the page rests on to the tests' data, and the page."""
    order = (*FAULTS, *INNOCENT)
    rows = sorted(rows, key=lambda row: (order.index(row["fault"]), row["tester"], int(row["seed"])))
    with RECORD.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text(rows)}\n\n{END}{after}")


def text(rows: Sequence[Mapping[str, str]]) -> str:
    """The tables, and the bound."""
    guilty, innocent = ([row for row in rows if row["fault"] in of] for of in (FAULTS, INNOCENT))
    return f"{table(guilty)}\n\n{table(innocent)}\n\n{bound(innocent)}"


def state(row: Mapping[str, str]) -> str:
    """The tester's state as it was, not as it was meant."""
    if row["tester"] != "undisturbed":
        return row["tester"]
    share, gap = (int(row.get(name) or 0) for name in ("core_share_ppm", "longest_gap_ns"))
    return "undisturbed" if share >= UNDISTURBED_PPM and gap <= UNDISTURBED_NS else "disturbed"


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """What was named, by fault and state of the tester: each limit with its runs, the most frequent first."""
    faults = [fault for fault in (*FAULTS, *INNOCENT) if any(row["fault"] == fault for row in rows)]
    found = {state(row) for row in rows}
    states = [one for one in (TESTERS[0], "disturbed", *OF_INNOCENT[1:]) if one in found]
    lines = [f"| the fault | {' | '.join(states)} |", "|---" * (len(states) + 1) + "|"]
    for name in (*faults, "all"):
        cells = []
        for of in states:
            counts = Counter(
                row["limit"] for row in rows if name in (row["fault"], "all") and state(row) == of
            )
            cells.append(", ".join(f"`{limit}` {count}" for limit, count in counts.most_common()))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def bound(rows: Sequence[Mapping[str, str]]) -> str:
    """How many runs without a fault blamed the device, and what that says of all such runs, and of those in
    which it dropped frames.

    Where none of n did, the share is below 1 - 0.05^(1/n) with 95 % confidence: the exact bound of Clopper
    and Pearson (Biometrika 26, 1934) for no event, one-sided.
    """
    blamed = sum(row["limit"] == "device" for row in rows)
    dropped = sum(int(row["faulty"] or 0) + int(row["own_drops"] or 0) > 0 for row in rows)
    told = f"{blamed} of {len(rows)} runs without a fault blamed the device; in {dropped} its log has drops"
    if blamed or not dropped:
        return told
    each, lossy = (f"{100 * (1 - 0.05 ** (1 / number)):.2f} %" for number in (len(rows), dropped))
    return f"{told}. The share of false blame is below {each} (95 % confidence), of those with drops {lossy}"
