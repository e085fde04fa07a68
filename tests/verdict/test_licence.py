"""A cap in bits a second differs from a capacity in frames by what it does to frames of other sizes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from kinds import kind
from netdyno.store import CaseHead, CaseWiring, StoredCase, StoredVerdict
from netdyno.values.finding import Result, Value
from netdyno.values.situation import Situation
from netdyno.values.verdict import Limit
from netdyno.verdict import across
from netdyno.verdict.proof_reasons import SameBits
from words import said

GIGABIT = 10**9
SIZES = (64, 128, 512, 1518)


def case(
    number: int, size: int, fps: Fraction, *, limit: Limit = "device", forwarding: str = "ipv4"
) -> StoredCase:
    """A ramp whose hold forwarded so many frames a second each way."""
    head = CaseHead(
        number=number,
        name=f"{forwarding} / {size}",
        axes={"forwarding": forwarding, "profile": f"{size}b", "direction": "bidir"},
        kind="external",
        kind_title="device",
        emulated=False,
        settings={"forwarding": forwarding},
        method="ramp",
        parameters="{}",
        seed=number,
    )
    streams = ("west-east", "east-west")
    line = Fraction(GIGABIT, 8 * (size + 20))
    wiring = CaseWiring("real", Situation(streams, line, Fraction(size)), True, (), "{}")
    values = [Value(kind(name), scope, fps) for scope in streams for name in ("ramp max Rx", "hold rate")]
    verdicts = tuple(StoredVerdict(scope, limit, said("because")) for scope in (*streams, "sum"))
    return StoredCase(
        head, "done", wiring, Result("ramp", tuple(values), (0,), headlines=("ramp max Rx",)), verdicts
    )


def named(rate: Callable[[int], Fraction], sizes: tuple[int, ...] = SIZES) -> set[Limit]:
    """The limits named on cases of these sizes."""
    cases = [case(number, size, rate(size)) for number, size in enumerate(sizes)]
    changed = across(cases)
    return {verdict.limit for one in cases for verdict in changed.get(one.head.number, one.verdicts)}


@pytest.mark.parametrize("counted", [20, 0, -4, -18], ids=["L1", "L2", "L2 without FCS", "L3"])
@pytest.mark.parametrize("bps", [50_000_000, 100_000_000, 250_000_000, 300_000_000])
def test_the_same_round_rate_in_bits_at_all_sizes_is_a_licence(counted: int, bps: int) -> None:
    assert named(lambda size: Fraction(bps, 8 * (size + counted))) == {"licence"}


def test_the_same_frames_a_second_are_a_devices_capacity() -> None:
    assert named(lambda size: Fraction(100_000)) == {"device"}


def test_a_rate_in_bits_that_is_not_round_stays_the_devices() -> None:
    """A bus or a memory counts bytes as well."""
    assert named(lambda size: Fraction(273_000_000, 8 * size)) == {"device"}


def test_one_size_or_two_that_are_nearly_one_say_nothing() -> None:
    rate = lambda size: Fraction(100_000_000, 8 * size)  # noqa: E731
    assert named(rate, (512,)) == {"device"}
    assert named(rate, (1500, 1518)) == {"device"}
    assert named(rate, (512, 1518)) == {"licence"}


def test_only_the_cases_at_the_cap_are_its() -> None:
    """Short frames are limited by the processor, long ones by the licence: so are routers sold."""
    fps = [min(Fraction(150_000), Fraction(200_000_000, 8 * size)) for size in SIZES]
    cases = [case(number, size, rate) for number, (size, rate) in enumerate(zip(SIZES, fps, strict=True))]
    changed = across(cases)
    # 64 and 128 bytes at 150,000 a second are 77 and 154 Mbit/s.
    assert set(changed) == {2, 3}
    for verdicts in changed.values():
        assert [(one.scope, one.limit) for one in verdicts] == [
            ("west-east", "licence"),
            ("east-west", "licence"),
            ("sum", "licence"),
        ]
        assert verdicts[0].reason == SameBits(Fraction(200_000_000), "L2", (Fraction(512), Fraction(1518)))


def test_cases_of_other_configurations_and_other_limits_are_left_out() -> None:
    rates = {size: Fraction(100_000_000, 8 * size) for size in SIZES}
    other = [case(number, size, rates[size], forwarding=f"f{size}") for number, size in enumerate(SIZES)]
    assert across(other) == {}
    for limit in ("line", "tester", "receiver", "fixture", "inconclusive", "invalid"):
        assert across([case(n, s, rates[s], limit=limit) for n, s in enumerate(SIZES)]) == {}  # type: ignore[arg-type]


def test_devices_of_any_capacity_in_frames_are_never_taken_for_a_licence() -> None:
    draw = random.Random(5)
    for _ in range(2000):
        fps = Fraction(draw.randrange(1000, 80_000))
        assert named(lambda size, fps=fps: fps * draw.choice((1, Fraction(99, 100)))) == {"device"}  # type: ignore[misc]


def test_searches_in_which_no_load_passed_hint_at_nothing() -> None:
    """All of them came down to the same step of their search, 5 % of the line, which is a round figure."""
    cases = []
    for number, size in enumerate((64, 512)):
        one = case(number, size, Fraction(1))
        line = Fraction(GIGABIT, 8 * (size + 20))
        values = tuple(
            Value(kind("throughput"), scope, Fraction(0), Fraction(0), line / 20, searched=True)
            for scope in ("west-east", "east-west")
        )
        assert values[0].only_below is not None
        result = Result("throughput", values, (0,), headlines=("throughput",))
        cases.append(replace(one, result=result))
    assert across(cases) == {}
