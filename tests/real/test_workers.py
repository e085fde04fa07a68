"""Workers that do not end by themselves are ended."""

from __future__ import annotations

import multiprocessing
import signal
import time
from multiprocessing.connection import Connection
from tempfile import TemporaryFile

import pytest
from netdyno.campaign import workers
from netdyno.campaign.events import Failed
from netdyno.values.records import CaseError

pytestmark = pytest.mark.paired


def say_and_stay(connection: Connection) -> None:
    """A worker that has told how its case ended and hangs in what comes after."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    connection.send(Failed(7, CaseError("bug", "it failed")))
    time.sleep(600)


def leave_the_pipe_and_stay(connection: Connection) -> None:
    """A worker that hangs after its connection has gone."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    connection.close()
    time.sleep(600)


@pytest.mark.parametrize("hangs", [say_and_stay, leave_the_pipe_and_stay])
def test_a_worker_that_hangs_at_its_end_is_killed(hangs: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "STOP_S", 0.3)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=hangs, args=(theirs,))  # type: ignore[arg-type]
    process.start()
    theirs.close()
    try:
        with TemporaryFile() as said, workers.Workers(1, fresh=True) as pool:
            pool._running[ours] = workers._Worker(process, said, 7)
            (event,) = [event for event in pool.run([]) if event is not None]
        assert isinstance(event, Failed)
        assert event.case == 7
        assert process.exitcode == -signal.SIGKILL
    finally:
        process.kill()
        process.join()
