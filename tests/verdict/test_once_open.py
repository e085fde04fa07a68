"""Cases of real campaigns whose verdict once was open or named the tester, each whole: what is said now.

A method asks for the trials; the tester's pauses and the device are frame by frame (`lateness`).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from lateness import MS, NS, PS, US, Admit, Tester, bucket, queue, shoot
from netdyno.campaign.events import Measured
from netdyno.campaign.judging import Made, judge_case
from netdyno.methods import METHODS
from netdyno.methods.wrap import witness
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.proven import Proven
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from netdyno.verdict import Traffic
from sampling import WHOLE

LINE = Fraction(1_488_095)
ALONE = Situation(("west-east",), LINE, Fraction(64))
ON_TIME = (US, 5 * US)
"""Rounds of a tester that is left alone."""


@dataclass
class Lab:
    """A device that is new in each trial, and a tester with pauses. pauses: of the trial of that number, when
    and how long, ps. changed: what becomes of an outcome else."""

    device: Callable[[], Admit]
    pauses: Callable[[int, int], list[tuple[int, int]]] = lambda number, duration_ps: []
    changed: Callable[[Outcome], Outcome] = lambda outcome: outcome
    proven_fps: int = 336_000
    seed: int = 1
    beside: tuple[Trial, ...] = ()
    """Trials of the case that no value rests on."""
    lost: list[tuple[Fraction, int]] = field(default_factory=list)
    """The load of each trial, and what it lost."""

    def judge(self, method: str, **parameters: object) -> Measured:
        """What a case by a method says."""
        draw = random.Random(self.seed)
        trials: dict[int, tuple[Trial, Outcome]] = {}
        asking = witness.witnessed(
            METHODS[method].start(METHODS[method].parameters(**parameters), ALONE), ALONE
        )
        try:
            trial = next(asking)
            while True:
                outcome = self._shoot(trial, len(trials), draw)
                trials[len(trials)] = trial, outcome
                assert len(trials) < 200, "the method does not end"
                trial = asking.send(outcome)
        except StopIteration as stop:
            result = stop.value
        for more in self.beside:
            trials[len(trials)] = more, trials[0][1]
        proven = Proven("hand", datetime(2026, 1, 1, tzinfo=UTC), Fraction(self.proven_fps))
        self.lost = [
            (ALONE.fps(trial.segments[0].from_rate), one.streams[0].lost) for trial, one in trials.values()
        ]
        return judge_case(
            Made(
                0,
                method,
                ALONE,
                "real",
                False,
                Traffic(1),
                result,
                trials,
                proven,
                (),
                has_one_profile=True,
            )
        )

    def _shoot(self, trial: Trial, number: int, draw: random.Random) -> Outcome:
        assert isinstance(trial.load, Frames)
        (segment,) = trial.segments
        assert segment.is_constant
        fps, duration_ps = float(ALONE.fps(segment.from_rate)), trial.duration_ns * NS
        burst = trial.load.burst
        # A loop that comes round once a burst sends all of it at once.
        rounds = ON_TIME if burst is None else (round(burst * PS / fps),) * 2
        tester = Tester(rounds, self.pauses(number, duration_ps))
        return self.changed(shoot(fps, duration_ps, tester, self.device(), draw))


def limits(measured: Measured) -> set[str]:
    """The limits of all values of all streams."""
    return {one.limit for one in measured.verdicts if one.scope == "sum"}


def away(begin_ps: int, length_ps: int) -> Callable[[], Admit]:
    """A device that forwards nothing for a while, once a trial."""
    return lambda: lambda at: not begin_ps <= at < begin_ps + length_ps


def tidying(silence_ps: int, busy_ps: int) -> Admit:
    """A device that tidies up for a while after a silence, and forwards nothing meanwhile."""
    last, until = 0, 0

    def admits(at: int) -> bool:
        nonlocal last, until
        if at - last > silence_ps:
            until = at + busy_ps
        last = at
        return at >= until

    return admits


SLOW, FAST = (Segment("step", NS, rate, rate) for rate in map(FrameRate, (9_000, 18_000)))
STEPS = Trial("steps", Frames((SLOW, FAST)))


@pytest.mark.parametrize("beside", [(), (STEPS,)], ids=["alone", "beside a trial in steps"])
def test_device_that_tidies_up_is_not_blamed_in_any_company(beside: tuple[Trial, ...]) -> None:
    """As in a case of RFC 2544: its recovery has two loads, and its search only one in each trial."""
    lab = Lab(
        lambda: tidying(3 * MS, 75 * MS), lambda number, duration_ps: [(110 * MS, 4 * MS)], beside=beside
    )
    measured = lab.judge("sweep", loads=["5kpps", "10kpps"], duration="2s")
    assert max(lost for _, lost in lab.lost) > 700
    assert "device" not in limits(measured)


@pytest.mark.parametrize("outage_us", [37_300, 87_000], ids=["outage of 37.3 ms", "reset of 87 ms"])
def test_outage_is_the_devices_though_frames_are_caught_up_later(outage_us: int) -> None:
    """Was `tester`: 980 frames were caught up half a second after it."""
    lab = Lab(away(200 * MS, outage_us * US), lambda number, duration_ps: [(700 * MS, 98 * MS)])
    measured = lab.judge("sweep", loads=["5kpps", "10kpps"], duration="1s")
    assert limits(measured) == {"device"}


@pytest.mark.parametrize(("pause_ms", "limit"), [(3, "device"), (40, "inconclusive")])
def test_reset_by_hand_is_the_devices_unless_pauses_decide_it(pause_ms: int, limit: str) -> None:
    """87 ms of 10 kpps: 870 frames. A pause explains 30 of them, or 400, more than a tenth."""
    pauses = [(300 * MS, pause_ms * MS)]
    lab = Lab(away(1200 * MS, 87 * MS), lambda number, duration_ps: pauses)
    searched = {"duration": "500ms", "maximum": "10kpps", "width": "1kpps"}
    measured = lab.judge("reset", kind="by-hand", before="1s", watch="1s", repeats=2, throughput=searched)
    (found,) = (one for one in measured.verdicts if one.scope == "sum" and one.value == "reset time")
    assert found.limit == limit, found.reason
    value = measured.result.value("reset time", "sum")
    assert value is not None
    assert value.number == 87 * MS // NS


@pytest.mark.parametrize("seed", range(7))
def test_exact_policer_is_named_beside_pauses_of_each_trial(seed: int) -> None:
    """20 kpps, with a tester calibrated for 336 kpps. The number was right in 7 of 7, `device` in 2."""
    draw = random.Random(seed)

    def pauses(number: int, duration_ps: int) -> list[tuple[int, int]]:
        return [(draw.randrange(duration_ps * 9 // 10), draw.randrange(100 * US, 5 * MS)) for _ in range(2)]

    lab = Lab(lambda: bucket(20_000, 64), pauses, seed=seed)
    measured = lab.judge("throughput", duration="500ms", maximum="40kpps", width="200pps")
    assert limits(measured) == {"device"}
    found = measured.result.value("throughput", "sum")
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    # 64 frames of the bucket last for 128 frames a second more in half a second.
    assert found.low <= 20_128 <= found.high + 128


def test_frames_sent_to_the_wrong_port_are_the_devices() -> None:
    """One in 211. Was `inconclusive`: the tester was late at times."""

    def astray(outcome: Outcome) -> Outcome:
        (stream,) = outcome.streams
        count = stream.offered // 211
        changed = replace(
            stream,
            received=stream.received - count,
            lost=stream.lost + count,
            elsewhere=count,
            arrived=(stream.arrived[0] - count, *stream.arrived[1:]),
        )
        return outcome.with_counts(streams=(changed,))

    pauses = Lab(lambda: lambda at: True, lambda number, duration_ps: [(30 * MS, 3 * MS)], astray)
    measured = pauses.judge("sweep", loads=["10kpps", "20kpps"], duration="500ms")
    assert limits(measured) == {"device"}


def test_no_bound_is_below_what_the_device_does() -> None:
    """A device of 50 kpps; a pause lost frames at 25 kpps. The bound was 25 kpps, the limit `tester`."""

    def pauses(number: int, duration_ps: int) -> list[tuple[int, int]]:
        return [(40 * MS, 8 * MS)] if number in (1, 2) else []

    lab = Lab(lambda: queue(50_000, 4), pauses)
    measured = lab.judge("throughput", duration="200ms", maximum="100kpps", width="2kpps")
    lossy = {fps for fps, lost in lab.lost if lost and fps <= 50_000}
    assert {24_000, 50_000} < lossy
    found = measured.result.value("throughput", "sum")
    assert found is not None
    assert found.high == 100_000
    for one in measured.verdicts:
        assert one.reason.fields()["reached"]["fields"]["most_pps"] == "100000", "the sentence says both"


def test_trial_with_a_pause_leaves_the_verdict_to_the_others() -> None:
    """Of the trials that an NDR rests on one had a pause of 5.2 ms, which made all of them open."""
    found = []
    every = range(0, 6, 1 if WHOLE else 3)
    for disturbed in every:

        def pauses(number: int, duration_ps: int, disturbed: int = disturbed) -> list[tuple[int, int]]:
            return [(duration_ps // 3, 5200 * US)] if number == disturbed else []

        lab = Lab(lambda: queue(20_000, 128), pauses)
        measured = lab.judge("throughput", duration="500ms", maximum="40kpps", width="400pps")
        found.append(limits(measured))
    assert found == [{"device"}] * len(every)
