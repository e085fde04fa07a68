"""`netdyno worker`: the command of Dask that it becomes."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from netdyno.cli.worker import worker
from netdyno.errors import NetdynoError

pytest.importorskip("distributed", reason="wants the extra `hosts`")


@pytest.mark.parametrize(
    ("more", "listens"), [((), "127.0.0.1"), (("--listen", "127.0.0.9"), "127.0.0.9")], ids=str
)
def test_worker_listens_towards_the_scheduler_alone(more: tuple[str, ...], listens: str) -> None:
    words = ["tcp://127.0.0.1:8786", "--name", "gen1", "--dry-run", *more]
    ended = CliRunner().invoke(worker, words, catch_exceptions=False)
    assert ended.exit_code == 0
    command = ended.stderr.split()
    assert command[command.index("--host") + 1] == listens


def test_worker_without_a_way_to_the_scheduler_is_refused() -> None:
    words = ["tls://no-such-host.invalid:8786", "--name", "gen1", "--dry-run"]
    with pytest.raises(NetdynoError) as caught:
        CliRunner().invoke(worker, words, catch_exceptions=False)
    assert caught.value.code == "host-unreachable"
