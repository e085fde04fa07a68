"""When the session of one case serves the next, with a tester of a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from netdyno.campaign.sessions import Sessions
from netdyno.values.unmeasured import NotAskable, NotMeasuredError


@dataclass
class Opened:
    number: int
    lasts: bool

    def take(self, wiring: Any) -> bool:
        return bool(wiring.number == self.number)


class Tester:
    """Notes what is opened and closed."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    @contextmanager
    def open(self, plan: Any, wiring: Any, cases: Any) -> Iterator[Opened]:
        self.noted.append(f"open {wiring.number}")
        yield Opened(wiring.number, wiring.lasts)
        self.noted.append(f"close {wiring.number}")


def of(sessions: Sessions, tester: Any, number: int, *, lasts: bool = True) -> Any:
    wiring: Any = SimpleNamespace(number=number, lasts=lasts)
    return sessions.of_case(tester, SimpleNamespace(), wiring, ())  # type: ignore[arg-type]


def test_a_lasting_session_stays_open_until_another_is_wanted() -> None:
    sessions, tester = Sessions(), Tester()
    for _ in range(2):
        with of(sessions, tester, 7):
            pass
    with pytest.raises(NotMeasuredError), of(sessions, tester, 7):
        raise NotMeasuredError(NotAskable(()))
    assert tester.noted == ["open 7"]
    with of(sessions, tester, 8, lasts=False):
        assert tester.noted == ["open 7", "close 7", "open 8"]
    assert tester.noted[-1] == "close 8"


def test_a_session_in_which_something_broke_is_closed() -> None:
    sessions, tester = Sessions(), Tester()
    with pytest.raises(RuntimeError), of(sessions, tester, 7):
        raise RuntimeError("a bug")
    assert tester.noted == ["open 7", "close 7"]


def test_the_session_of_another_tester_is_not_taken() -> None:
    sessions, first, second = Sessions(), Tester(), Tester()
    with of(sessions, first, 7):
        pass
    with of(sessions, second, 7):
        pass
    sessions.close()
    assert first.noted == second.noted == ["open 7", "close 7"]
