"""What looks at connections keep of those that ended, and of those that share a port."""

from __future__ import annotations

from netdyno.testers.looks import StreamLooks
from tcp_outcomes import S, connection


def test_counters_of_a_stream_stay_when_a_connection_ends() -> None:
    stream = StreamLooks("west-east", {5201, 5202})
    both = [
        connection(port=40000, to=to, retransmitted_segments=again) for to, again in ((5201, 3), (5202, 4))
    ]
    stream.add(S, both)
    stream.add(2 * S, both[:1])
    found = {one.name: one.values for one in stream.series(0)}
    assert found["retransmitted"] == (7, 7)
    assert len(stream.last) == 2
