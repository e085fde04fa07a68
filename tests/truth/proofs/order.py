"""What `order` is to find, and how tests ask for it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from bench import Bench, Plan
from proof import Proof, strange


def order(bench: Bench) -> None:
    """RFC 4737: a frame is reordered if one that was sent later came before it (3.3); its extent is how many
    arrivals back the earliest such one is (4.2.2); it is n-reordered if the n just before it were all sent
    later (5.3). All of it in the sequence of its flow."""
    rows = {row["stream"]: row for row in bench.table("Reordering")}
    for number, name in enumerate(bench.known.streams):
        late, extents, three, received = 0, [0], 0, 0
        for expected, flow in product(bench.expected, range(bench.flows)):
            arrived = [one.number for one in expected[number].intact if one.number % bench.flows == flow]
            received += len(arrived)
            highest = -1
            for place, frame in enumerate(arrived):
                if frame < highest:
                    late += 1
                    earliest = next(at for at, other in enumerate(arrived) if other > frame)
                    extents.append(place - earliest)
                    three += place >= 3 and all(other > frame for other in arrived[place - 3 : place])
                highest = max(highest, frame)
        copies = sum(expected[number].copies for expected in bench.expected)
        if not received:
            assert bench.value("reordered", name).number is None
            continue
        assert bench.value("reordered", name).number == Fraction(late, received)
        assert bench.value("duplicated", name).number == Fraction(copies, received)
        row = rows[name]
        assert (row["reordered"], row["extent, most"]) == (late, max(extents) if late else None)
        # Of a frame that comes after very many others its place is unknown, which is reported.
        assert 0 <= three - row["3-reordered share"] * received <= row["extent not known"] <= 1


PROOF = Proof(
    strange=strange("load: 50%, duration: 20ms, repeats: 2", 2),
    plan=Plan("order", "load: 75%, duration: 10ms, repeats: 2"),
    row="ffffffffrffrfrrfrffffrfr",
    finding=order,
)
