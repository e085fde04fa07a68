"""The tester's session, kept open from one case to the next where its peers would not come a second time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from netdyno.testers.tester import Session, Tester
from netdyno.values.unmeasured import NotMeasuredError

if TYPE_CHECKING:
    from netdyno.devices import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case


class Sessions:
    """The sessions of one process: one at a time."""

    def __init__(self) -> None:
        self._open: AbstractContextManager[Session] | None = None
        self._session: Session | None = None
        self._tester: Tester | None = None

    @contextmanager
    def of_case(self, tester: Tester, plan: Plan, wiring: Wiring, cases: Sequence[Case]) -> Iterator[Session]:
        """The session of the case before if it takes this lab too, else a new one.

        Stays open behind a case that ended well, or that could not be measured for want of a peer: who is
        late for one case may be there for the next. cases: as `Tester.open` has them.
        """
        session = self._session
        if session is None or tester is not self._tester or not session.take(wiring):
            # First the old one: its sockets may be those of the new one.
            self.close()
            opened = tester.open(plan, wiring, cases)
            session = opened.__enter__()
            self._open, self._session, self._tester = opened, session, tester
        keep = False
        try:
            yield session
            keep = True
        except NotMeasuredError:
            keep = True
            raise
        finally:
            if not (keep and session.lasts):
                self.close()

    def close(self) -> None:
        """Closes the session that is open, if one is."""
        opened, self._open, self._session, self._tester = self._open, None, None, None
        if opened is not None:
            opened.__exit__(None, None, None)


SESSIONS = Sessions()
"""Of this process."""
