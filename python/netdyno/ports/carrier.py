"""Carrier losses of the interfaces under the tester's ports, dated by rtnetlink while a trial runs.

The kernel reports a change of an interface by a message, and some drivers' changes up to a second late; then
one message may be of several. The counts of an interface (`carrier_down_count`) tell how many they were.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Thread

from netdyno.ports.nic import netlink
from netdyno.ports.nic.netlink import Link

LATE_NS = 10**9
"""How late the kernel reports a change of the carrier at most: it gathers those of a second (link_watch)."""

MOST = 10_000
"""Messages kept of an interface; of one that flaps on the last state is still known."""

END_S = 2.0


@dataclass(frozen=True)
class Change:
    """An interface as a message has it. at_ns: monotonic clock. is_there: False if it was removed."""

    at_ns: int
    link: Link
    is_there: bool = True


@dataclass(frozen=True)
class Lost:
    """A time without carrier, monotonic clock, ns. until_ns: None if there was none at the end."""

    from_ns: int
    until_ns: int | None
    times: int


class Monitor:
    """Listens in a thread of its own, in the network namespace of the thread that made it."""

    def __init__(self, indexes: Mapping[str, int]) -> None:
        """indexes: the interfaces to listen for, by port."""
        self._found: dict[int, list[Change]] = {index: [] for index in indexes.values()}
        self._socket = netlink.subscribe()
        self._woken, self._wake = os.pipe()
        self._thread = Thread(target=self._listen, name="carrier", daemon=True)
        self._thread.start()

    def end(self) -> Mapping[int, list[Change]]:
        """Stops listening; every change since the begin, by the interface's index, in order of time."""
        if self._wake >= 0:
            os.close(self._wake)
            self._wake = -1
            self._thread.join(END_S)
        return self._found

    def _listen(self) -> None:
        try:
            while True:
                ready, _, _ = select.select([self._socket.fileno(), self._woken], [], [])
                at_ns = time.monotonic_ns()
                for link, is_there in netlink.changes(self._socket):
                    changes = self._found.get(link.index)
                    if changes is not None and len(changes) < MOST:
                        changes.append(Change(at_ns, link, is_there))
                if self._woken in ready:
                    return
        finally:
            self._socket.close()
            os.close(self._woken)


def losses(before: Change, changes: list[Change]) -> Iterator[Lost]:
    """The times without carrier from `before` on. The last change is how the interface was at the end."""
    downs, since, times, last_ns = before.link.downs, None, 0, before.at_ns
    if before.link.carrier is False:
        since, times = before.at_ns, 1
    for change in changes:
        if change.link.up and change.link.carrier is None:
            continue
        more = max(change.link.downs - downs, 0)
        downs = max(downs, change.link.downs)
        # An interface that is switched off says nothing of its carrier.
        has_carrier = change.link.carrier is True
        if since is None and not has_carrier:
            since, times = change.at_ns, max(more, 1)
        elif since is None and more:
            # Lost and there again before the kernel said so.
            yield Lost(max(last_ns, change.at_ns - LATE_NS), change.at_ns, more)
        elif since is not None:
            # A loss that was there at the begin counts once.
            times += more
            if has_carrier:
                yield Lost(since, change.at_ns, times)
                since = None
        last_ns = change.at_ns
    if since is not None:
        yield Lost(since, None, times)
