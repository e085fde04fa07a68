"""What a trial observes beyond counts, from the engine through a lab in virtual time to values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from importlib import util
from typing import Any

import pytest
from netdyno.stats import delay_variation as variation
from netdyno.stats.losses import LossEvent, events
from netdyno.testers.netdyno import raw
from netdyno.testers.netdyno.session import essence as asked
from netdyno.testers.netdyno.spec import read_result
from netdyno.values.load import Observe
from netdyno.values.outcome import FlowCounts, Gap, Gaps, Latency, StreamResult, Variation

SIZE = 64
LINE_BPS = 10 * 10**9
APART_NS = 1000


CROSS_CONNECT = {"kind": "cross-connect", "pairs": [[0, 1]]}


def measured(
    observe: dict[str, Any],
    impairments: list[dict[str, Any]],
    flows: int = 1,
    forwarding: dict[str, Any] = CROSS_CONNECT,
    names: Sequence[str] = ("west", "east"),
    events: Sequence[dict[str, Any]] = (),
) -> StreamResult:
    """A thousand frames, one a microsecond, through an emulated device with these faults.

    names: of the tester's ports; frames go from the first to the second.
    """
    if util.find_spec("netdyno._engine") is None:
        pytest.skip("the engine is not built")
    ports = [
        {
            "name": name,
            "mac": f"02:00:00:00:02:0{index}",
            "rate_bps": LINE_BPS,
            "in_queue": 64,
            "out_queue": 64,
        }
        for index, name in enumerate(names)
    ]
    device = {
        "name": "faults",
        "ports": ports,
        "forwarding": forwarding,
        "delay_ns": 0,
        "impairments": impairments,
    }
    links = [
        {"port": side, "device": 0, "device_port": side, "rate_bps": LINE_BPS} for side in range(len(names))
    ]
    lab = {
        "clock": "virtual",
        "ports": [{"name": name, "backend": {"kind": "wire"}} for name in names],
        "devices": [device],
        "links": links,
    }
    bps = (SIZE + 20) * 8 * 10**9 // APART_NS
    stream = {
        "name": "west-east",
        "tx_port": 0,
        "rx_port": 1,
        "headers": [
            {"type": "ethernet", "src": "02:00:00:00:01:00", "dst": "00:00:00:00:00:00"},
            {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"},
            {"type": "udp", "sport": 1025, "dport": 12},
        ],
        "destination": "peer",
        "sizes": [{"size": SIZE, "weight": 1}],
        "flows": flows,
        "schedule": [{"name": "traffic", "duration_ns": 1000 * APART_NS, "from_bps": bps, "to_bps": bps}],
    }
    spec = {
        "seed": 1,
        "streams": [stream],
        "ports": [{"mac": f"02:00:00:00:01:0{index}"} for index in range(len(names))],
        "settle_ns": 10**6,
        "drain_ns": 10**7,
        "sample_ns": 10**7,
        "learn": forwarding["kind"] == "bridge",
        "observe": observe,
    }
    with raw(lab) as session:
        result = read_result(session.trial(spec, events))
    assert result.invalid == ()
    (found,) = result.streams
    assert found.offered == 1000
    return found


def fault(kind: Any, frames: list[int]) -> dict[str, Any]:
    return {"port": 1, "fault": kind, "when": {"frames": frames}}


def test_losses_are_dated_by_when_frames_were_due() -> None:
    lost = [fault("lose", [*range(100, 200), 500, 999])]
    found = measured({"gaps": 2}, lost, flows=300)
    assert found.gaps == Gaps(
        (
            Gap(100, 199, 100, 100 * APART_NS, 199 * APART_NS),
            Gap(999, 999, 1, 999 * APART_NS, 999 * APART_NS),
        ),
        1,
        1,
    )
    assert found.gaps.frames == found.lost == 102
    assert (found.first_loss_ns, found.last_loss_ns) == (100 * APART_NS, 999 * APART_NS)
    assert found.silence is not None
    # From the arrival of frame 99 to that of frame 200, which took as long.
    assert found.silence.until_ns - found.silence.from_ns == 101 * APART_NS
    assert (found.order, found.variation) == (None, None)


def test_a_frame_held_back_until_four_have_passed_has_an_extent_of_four() -> None:
    found = measured({"order": True, "variation": True}, [fault({"reorder": {"by": 4}}, [50])])
    assert found.order is not None
    assert (found.out_of_order, found.order.placed, found.order.extent_max) == (1, 1, 4)
    assert found.order.n_reordered == (1, 1, 1, 1)
    # It leaves behind frame 54: 4 us and a frame of 67.2 ns later than it would have.
    assert found.variation is not None
    assert (found.variation.pairs, found.variation.max_ns, found.variation.min_ns) == (999, 4067, -4067)
    assert variation.median(found.variation) == 0
    assert found.latency is not None
    # The greatest of 1000 is beyond the 99.9th percentile, which wants ten thousand frames.
    assert variation.pdv(found.latency) is None
    assert variation.pdv(found.latency, Fraction(99, 100)) == 0


def test_what_departed_before_is_not_timed() -> None:
    found = measured({"timed_from_ns": 400 * APART_NS, "variation": True}, [])
    assert found.latency is not None
    assert found.variation is not None
    assert (found.received, found.latency.count, found.variation.pairs) == (1000, 600, 599)


def test_times_between_arrivals_are_those_of_frames_that_came() -> None:
    found = measured({"spacing": True}, [fault("lose", [5, 6])])
    assert found.spacing is not None
    # 998 frames came, and between two of them there was room for three gaps.
    assert (found.spacing.count, found.spacing.min_ns, found.spacing.max_ns) == (997, APART_NS, 3 * APART_NS)
    assert found.spacing.sum_ns == 999 * APART_NS


def test_flows_that_come_to_another_port_after_a_cut_are_counted_there() -> None:
    """A bridge floods what went to a port whose link is cut: each flow comes to the third one from then."""
    cut = 500  # The last frame that comes to the second port: half of the time to the next is left.
    events = [{"at_ns": cut * APART_NS + APART_NS // 2, "kind": "link-down", "port": 1}]
    lost = [5, 12, *range(700, 1000, 7), 999]
    # The third port's first frame is the one that the bridge learnt the second port's address from.
    before, behind = ([at for at in lost if at <= cut], [at - cut for at in lost if at > cut])
    found = measured(
        {"by_flow": True},
        [fault("lose", before), {**fault("lose", behind), "port": 2}],
        flows=7,
        forwarding={"kind": "bridge"},
        names=("west", "east", "south"),
        events=events,
    )
    came = [frame for frame in range(1000) if frame not in lost]
    by_flow = [[frame for frame in came if frame % 7 == flow] for flow in range(7)]
    assert found.by_flow == FlowCounts(
        sent=(143,) * 6 + (142,),
        received=tuple(sum(frame <= cut for frame in frames) for frames in by_flow),
        elsewhere=tuple(sum(frame > cut for frame in frames) for frames in by_flow),
        last_ns=tuple(max(frames) * APART_NS for frames in by_flow),
        port=(2,) * 7,
        moved=(1,) * 7,
    )
    assert sum(found.by_flow.received) == found.received == 501 - 2
    assert sum(found.by_flow.elsewhere) == found.elsewhere
    # Frames of flow 0 are lost from number 700 on.
    assert found.by_flow.last_ns[0] == 693 * APART_NS


def test_flow_of_which_nothing_came_has_no_last_frame() -> None:
    found = measured({"by_flow": True}, [fault("lose", [*range(1, 1000, 3)])], flows=3)
    counts = (334, 333, 333), (334, 0, 333), (0,) * 3, (999_000, -1, 998_000)
    assert found.by_flow == FlowCounts(*counts, port=(1, -1, 1), moved=(0,) * 3)


def test_what_was_not_asked_is_absent() -> None:
    found = measured({}, [fault("lose", [5])])
    assert (found.gaps, found.silence, found.order, found.variation, found.spacing) == (None,) * 5
    assert found.by_flow is None
    assert found.last_loss_ns is None
    assert Observe() == Observe(0, 0, 0, False, False)


def test_a_stored_trial_stands_for_one_that_observes_the_same() -> None:
    old = {
        "streams": [{"name": "west-east", "schedule": [{"name": "traffic", "from_bps": 1}]}],
        "settle_ns": 1,
        "drain_ns": 2,
    }

    def spec(observe: Observe) -> str:
        return json.dumps({**old, "observe": asdict(observe)})

    nothing, some = spec(Observe()), spec(Observe(gaps=5, order=True))
    assert asked(json.dumps(old)) == asked(nothing) != asked(some)
    assert asked(some) == asked(spec(Observe(gaps=5, order=True))) != asked(spec(Observe(gaps=5)))
    assert asked(nothing) != asked(json.dumps({**old, "drain_ns": 3}))


# Encoded by the Python package hdrhistogram 0.10: 990 times 1,000, 9 times 2,000, once 50,000.
THOUSAND = "HISTFAAAACt4nJNpmSzMwMDAxQABzFCaEYiZQrifMNh/gAic59/Df5ZfaKInEwCFNgc8"


def test_percentiles_of_ipdv_go_through_zero() -> None:
    both = Variation(2000, -50_000, 50_000, 0, 0, THOUSAND, THOUSAND)
    shares = [Fraction(1, 200), Fraction(1, 2), Fraction(3, 4), Fraction(99, 100), Fraction(199, 200)]
    # In ascending order: -50,000 once, -2,000 nine times, -1,000 and 1,000 990 times each, and back.
    assert [variation.ipdv(both, share) for share in shares] == [-2000, -1000, 1000, 1000, 1000]
    assert variation.ipdv(both, Fraction(0)) == -50_000
    assert variation.ipdv(both, Fraction(1)) == 50_000
    assert variation.ipdv(both, Fraction(999, 1000)) is None, "two of 2000 are too few beyond it"
    one_sided = Variation(1000, -50_000, -1000, 0, 0, None, THOUSAND)
    assert variation.median(one_sided) == -1000
    assert variation.median(Variation(1000, 0, 10**12, 10**12, 1, THOUSAND, None)) is None


def test_pdv_is_counted_from_the_least_delay() -> None:
    timed = Latency(1000, 998, 1_058_000, 50_000, 0, 0, THOUSAND)
    assert variation.pdv(timed, Fraction(99, 100)) == 2
    assert variation.pdv(timed, Fraction(1)) == 49_002
    assert variation.pdv(Latency(1000, 998, 1_058_000, 50_000, 1, 0, THOUSAND), Fraction(1, 2)) is None


def lossy(name: str, *gaps: tuple[int, int, int], further: tuple[int, int] = (0, 0)) -> StreamResult:
    """Of gaps with these first and last departures and counts."""
    dated = tuple(Gap(first, last, frames, first, last) for first, last, frames in gaps)
    nothing: Any = (0,) * 12
    return StreamResult(name, *nothing, None, (), (), (), None, gaps=Gaps(dated, *further))


def test_what_is_lost_at_one_time_is_one_event() -> None:
    there = lossy("there", (100, 150, 51), (160, 160, 1), (900, 900, 1))
    back = lossy("back", (120, 500, 9), (505, 505, 1), further=(3, 7))
    losses = events([there, back], apart_ns=5)
    assert losses.events == (
        LossEvent(100, 505, 62, ("there", "back")),
        LossEvent(900, 900, 1, ("there",)),
    )
    assert losses.undated == 7
    assert len(events([there, back], apart_ns=4).events) == 3
    assert events([there], apart_ns=1000).events == (LossEvent(100, 900, 53, ("there",)),)
    assert events([], apart_ns=1).events == ()
