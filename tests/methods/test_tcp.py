"""TCP: goodput and what was sent again, of counts made by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from netdyno.methods.tcp import GOODPUT, RETRANSMITTED, TcpParameters, tcp
from netdyno.values.health import Health
from netdyno.values.load import Connections
from netdyno.values.outcome import Carried, ConnectionCounts, Outcome
from netdyno.values.situation import Situation

S = 10**9
BOTH = Situation(("west-east", "east-west"), Fraction(1_000_000), Fraction(1518))


def _carried(name: str, received: int, retransmitted: int | None) -> Carried:
    return Carried(name, 5, received + 1000, 2 * S, received, 2 * S, retransmitted, 1448, 2000, "cubic")


def _found(*streams: Carried) -> dict[tuple[str, str], Fraction | None]:
    method = tcp(TcpParameters.model_validate({"duration": "2s"}), BOTH)
    assert next(method).load == Connections(2 * S, "cubic")
    outcome = Outcome(ConnectionCounts(streams, S), Health(0, 0, 0, 0, 0, None), ())
    with pytest.raises(StopIteration) as ended:
        method.send(outcome)
    return {(value.name, value.scope): value.number for value in ended.value.value.values}


def test_goodput_is_payload_received_a_second_of_each_stream_and_their_sum() -> None:
    found = _found(_carried("west-east", 25_000_000, 3), _carried("east-west", 12_500_000, 4))
    assert found == {
        (GOODPUT.name, "west-east"): 100_000_000,
        (GOODPUT.name, "east-west"): 50_000_000,
        (GOODPUT.name, "sum"): 150_000_000,
        (RETRANSMITTED.name, "west-east"): 3,
        (RETRANSMITTED.name, "east-west"): 4,
        (RETRANSMITTED.name, "sum"): 7,
    }


def test_retransmissions_of_one_stream_unknown_have_no_sum() -> None:
    found = _found(_carried("west-east", 1, 3), _carried("east-west", 1, None))
    assert found[RETRANSMITTED.name, "east-west"] is None
    assert found[RETRANSMITTED.name, "sum"] is None
