"""Every fault a device injects is found in the store, and only those."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from closed_forms import Stretch, departures, sent_before
from laboratory import RATE, Device, Found, measure

pytest.importorskip("netdyno._engine", reason="the engine is not built")

# 2000 rounds of imix/trex (7 frames of 64, 4 of 594, one of 1518: 36,656 bits of line) at half the line.
SENT_PS = 2000 * 36_656 * 10**12 // (RATE // 2)
METHOD = f"{{throughput: {{duration: {SENT_PS // 1000}ns, maximum: 50%, width: 50%}}}}"
HALF = [Stretch(SENT_PS, RATE // 2, RATE // 2)]
TRAFFIC = {
    "64b-one": "{size: 64B, flows: 1}",
    "64b-many": "{size: 64B, flows: 65536}",
    "imix-one": "{size: imix/trex, flows: 1}",
    "imix-many": "{size: imix/trex, flows: 65536}",
}
OFFERED = {name: 24_000 if name.startswith("imix") else sent_before(HALF, 64, SENT_PS) for name in TRAFFIC}

# Apart from each other by more than the reordering below, and within the shortest stream.
LISTED = sorted(random.Random(7).sample(range(5, 23_900, 50), 37))
CHANCE = {"parts": 1, "of": 211, "seed": 20_261_121}
WHEN: Mapping[str, Mapping[str, Any]] = {
    "every": {"every": {"every": 97, "first": 11}},
    "listed": {"frames": LISTED},
    "random": {"chance": CHANCE},
}
FAULT: Mapping[str, Any] = {
    "lose": "lose",
    "duplicate": "duplicate",
    "reorder": {"reorder": {"by": 2}},
    "corrupt": "corrupt",
}
DEVICES = {
    f"{fault}-{when}": Device(impairments=({"fault": FAULT[fault], "when": WHEN[when]},))
    for fault in FAULT
    for when in WHEN
}
CASES = [
    (profile, device, direction)
    for profile in TRAFFIC
    for device in DEVICES
    for direction in ("uni", "bidir")
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Found]:
    """Every fault at every kind of frames, to every kind of traffic."""
    return measure(
        tmp_path_factory.mktemp("faults"),
        devices=DEVICES,
        traffic=TRAFFIC,
        method=METHOD,
        matrix={"direction": ["uni", "bidir"]},
        sample="10ms",
    )


def draws(seed: int, count: int) -> list[int]:
    """SplitMix64 as published (S. Vigna, splitmix64.c)."""
    mask, drawn = 2**64 - 1, []
    for number in range(1, count + 1):
        z = (seed + number * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        drawn.append(z ^ (z >> 31))
    return drawn


def test_our_splitmix_is_the_published_one() -> None:
    """The first outputs for seed 1234567, as in Rosetta Code's table for this generator."""
    assert draws(1_234_567, 3) == [6457827717110365317, 3203168211198807973, 9817491932198370423]


DRAWN = draws(CHANCE["seed"], max(OFFERED.values()))


def hit(when: str, count: int) -> list[int]:
    """Which of so many frames the fault meets."""
    match when:
        case "every":
            return list(range(11, count, 97))
        case "listed":
            return [frame for frame in LISTED if frame < count]
        case _:
            parts, of = CHANCE["parts"], CHANCE["of"]
            return [frame for frame in range(count) if DRAWN[frame] * of < parts << 64]


def per_sample(hits: list[int], samples: int) -> list[int]:
    """How many of the 64-byte frames hit depart in each sample of 10 ms."""
    counts = [0] * samples
    for frame in hits:
        counts[TIMES_64[frame] // (10 * 10**9)] += 1
    return counts


TIMES_64 = departures(HALF, 64)


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_what_is_injected_is_found(case: tuple[str, str, str], found: dict[tuple[str, ...], Found]) -> None:
    profile, device, direction = case
    fault, when = device.split("-")
    count = OFFERED[profile]
    hits = hit(when, count)
    assert len(hits) > 30
    assert hits[-1] < count - 3, "a frame held at the end has nobody to overtake it"
    (trial,) = found[case].trials
    result = trial.result
    assert result.devices[0]["injected"] == {fault: len(hits) * len(result.streams)}
    assert len(result.streams) == (1 if direction == "uni" else 2)
    for stream in result.streams:
        assert (stream.intended, stream.offered) == (count, count)
        lost = len(hits) if fault == "lose" else 0
        corrupted = len(hits) if fault == "corrupt" else 0
        assert (stream.lost, stream.corrupted) == (lost, corrupted)
        assert stream.received == count - lost - corrupted
        assert stream.duplicates == (len(hits) if fault == "duplicate" else 0)
        if fault == "reorder" and profile.endswith("one"):
            assert stream.out_of_order == len(hits)
        else:
            # Of many flows the next frames are of others: nobody of the same flow overtakes.
            assert stream.out_of_order == 0
        assert (stream.elsewhere, stream.beyond_window) == (0, 0)
        if fault == "lose" and profile.startswith("64b"):
            # One flow outlasts the tester's memory of 65,536 frames: then the sample is known.
            known = profile == "64b-many"
            assert stream.first_loss_ns == (TIMES_64[hits[0]] // 1000 if known else 0)
        # In each sample what is missing is what was hit in it.
        if fault in ("lose", "corrupt") and profile.startswith("64b"):
            gone = [sent - came for sent, came in zip(stream.tx, stream.arrived, strict=True)]
            assert gone == per_sample(hits, len(gone))
    copies = len(hits) * (fault == "duplicate")
    losses = len(hits) * (fault == "lose")
    for port in result.ports[1:] if direction == "uni" else result.ports:
        assert port.rx_frames == count + copies - losses
        assert port.foreign == 0
    value = found[case].value("throughput", "sum")
    # A frame out of order is no loss (RFC 1242); anything else is no throughput.
    assert (value.number == 0) == (fault != "reorder")
