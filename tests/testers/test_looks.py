"""What looks at connections keep of those that ended, and of those that share a port; at programs, of two."""

from __future__ import annotations

import os
import time
from threading import Thread

import pytest
from netdyno.testers.looks import Looks, ProgramLooks, StreamLooks
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


def test_program_is_measured_though_the_thread_of_looks_has_no_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Thread, "start", lambda self: None)
    monkeypatch.setattr(Thread, "join", lambda self: None)
    own = ProgramLooks(os.getpid())
    began_ns = time.thread_time_ns()
    with Looks([own], {}):
        assert own.had() is None
        while time.thread_time_ns() - began_ns < S // 20:
            pass
    had = own.had()
    assert had is not None
    assert S // 25 < had.ran_ns <= had.elapsed_ns
