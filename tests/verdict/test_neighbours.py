"""What befell the tester's neighbours, told to a reader."""

from __future__ import annotations

from netdyno.values.health import Health
from netdyno.values.outcome import Conflict, FrameCounts, HopChange, HopSilence, NextHop, Outcome
from netdyno.verdict.neighbours import incidents

SECOND = 10**9
A, B = "02:00:00:00:00:0a", "02:00:00:00:00:0b"


def result(*hops: NextHop, conflicts: tuple[Conflict, ...] = ()) -> Outcome:
    health = Health(0, 0, 0, 0, 0, None)
    return Outcome(FrameCounts((), (), 1), health, (), next_hops=hops, conflicts=conflicts)


def hop(
    changes: tuple[HopChange, ...] = (),
    silences: tuple[HopSilence, ...] = (),
    vlans: tuple[int, ...] = (),
    further: int = 0,
) -> NextHop:
    return NextHop("west", vlans, "192.0.2.1", B, 3, 3, changes, further, silences)


def test_of_neighbours_that_are_well_nothing_is_said() -> None:
    assert incidents([(0, result(hop())), (1, result())]) == ()


def test_takeover_is_reported_once_with_its_count() -> None:
    change = HopChange(5 * SECOND, A, B)
    (told,) = incidents(
        [(0, result(hop())), (2, result(hop((change,), further=1))), (3, result(hop((change,))))]
    )
    assert told.code == "next-hop-changed"
    assert told.sentence.startswith(
        f"next hop 192.0.2.1 of `west` became {B} 5.0 s into trial 2 (it was {A})"
    )
    assert told.sentence.endswith("the stream followed it (and 2 more times)")


def test_silences_say_from_when_to_when() -> None:
    silent = (HopSilence(20 * SECOND, 25 * SECOND),)
    (told,) = incidents([(0, result(hop(silences=silent, vlans=(10, 20))))])
    assert told.code == "next-hop-fell-silent"
    assert "`west` on VLAN 10.20 did not answer" in told.sentence
    assert "from 20.0 s into trial 0 until 25.0 s" in told.sentence
    (told,) = incidents([(0, result(hop(silences=(HopSilence(20 * SECOND, None),))))])
    assert "from 20.0 s into trial 0 to its end" in told.sentence


def test_a_conflict_names_both() -> None:
    (told,) = incidents([(1, result(conflicts=(Conflict("west", "192.0.2.2", A),)))])
    assert told.code == "address-conflict"
    assert told.sentence.startswith(f"{A} claims 192.0.2.2, the tester's address on `west`, in trial 1")
