"""Two devices that lose frames by chance: what differs by 2 % is found, what is equal is not.

The draws of a device are its own, so each trial scatters as counted frames do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest
from compared import Sample, compare, run_of, sample
from driving import shoot
from emulated import plan, wire_case
from netdyno.reports.model.compared import Comparison
from netdyno.testers.netdyno.engine import Opened
from netdyno.testers.netdyno.spec import session_spec, trial_spec
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.units import FrameRate

pytest.importorskip("netdyno._engine", reason="the engine is not built")

TIMES, CASES, REPEATS = 200, 2, 5
FRAMES, FPS = 1000, 1_000_000


def received(parts: int, seed: int, trials: int) -> Iterator[Fraction]:
    """Frames a second that a device passed that loses `parts` in 10,000 by chance, in trials of 1 ms."""
    asked = plan("emulated/router", "size: 64B, flows: 16", rate="1Gbps", direction="uni")
    case, wiring = wire_case(asked)
    spec = session_spec(wiring, case)
    when = {"chance": {"parts": parts, "of": 10_000, "seed": seed}}
    spec["devices"][0]["impairments"] = [{"fault": "lose", "when": when}]
    rate = FrameRate(Fraction(FPS))
    trial = Trial("trial", Frames((Segment("traffic", FRAMES * 10**9 // FPS, rate, rate),)))
    with Opened(spec) as session:
        for _ in range(trials):
            (stream,) = shoot(session, wiring, trial, trial_spec(asked, case, wiring, trial)).streams
            yield Fraction(stream.received * FPS, stream.offered)


def comparisons(case: Sample, first: Sequence[Fraction], second: Sequence[Fraction]) -> Iterator[Comparison]:
    """Of runs of some cases, each with some repeats."""
    size = CASES * REPEATS
    for begin in range(0, len(first), size):
        runs = [
            run_of(
                case,
                cases={
                    f"case {number}": side[begin + number * REPEATS : begin + (number + 1) * REPEATS]
                    for number in range(CASES)
                },
            )
            for side in (first, second)
        ]
        yield compare(*runs, limit="0.02")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return sample(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def device() -> list[Fraction]:
    return list(received(300, 1, TIMES * CASES * REPEATS))


def outcomes(found: Comparison) -> list[str]:
    return [change.outcome for row in found.rows for change in row.changes]


def test_equal_devices_differ_in_no_more_than_one_comparison_of_twenty(
    case: Sample, device: list[Fraction]
) -> None:
    twin = list(received(300, 2, TIMES * CASES * REPEATS))
    found = list(comparisons(case, device, twin))
    assert len(found) == TIMES
    false = sum(set(outcomes(one)) != {"none shown"} for one in found)
    # 10 of 200 are expected at the most; 1 set in 100 has over 18.
    assert false <= 18
    assert [one.verdict for one in found[:20]] == ["within"] * 20


def test_devices_two_per_cent_apart_are_found_to_differ(case: Sample, device: list[Fraction]) -> None:
    """Of 97 % that pass, 95.06 % are 2 % less."""
    slower = list(received(494, 3, TIMES * CASES * REPEATS))
    found = [one for each in comparisons(case, device, slower) for one in outcomes(each)]
    # A trial of 1,000 frames scatters by 0.6 %, the difference of two means of five by 0.4 %.
    assert found.count("worse") >= 0.9 * len(found)
    assert "better" not in found


def test_a_device_five_per_cent_slower_is_worse_than_two_per_cent(
    case: Sample, device: list[Fraction]
) -> None:
    slower = list(received(785, 4, 20 * CASES * REPEATS))
    assert [one.verdict for one in comparisons(case, device[: len(slower)], slower)] == ["worse"] * 20
