"""Ports whose peer is another process (memif): how long to wait for it, and errors if it does not come.

Such a process may come once and never again: DPDK's net_memif as a client looks for its server when it is
started, and not after it lost it. So the session stays open from one case to the next where the ports are the
same, and the device is the same connection from the first case to the last.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netdyno.ports.threads import workers_of
from netdyno.values.engine_reason import EngineReason
from netdyno.values.reason import Reason

PATIENCE_S = 60.0
"""How long a device that is to connect to us is waited for: somebody has to start it, once we listen. Nobody
came in one case: the next ones do not wait so long again."""


class Peers:
    """The peers of a session's ports.

    has_given_up: whether one that is to connect did not come in an earlier case on the same ports.
    """

    def __init__(self, session: Mapping[str, Any], *, has_given_up: bool = False) -> None:
        self._session = session
        self._has_given_up = has_given_up
        memifs = [port for port in session["ports"] if port["backend"]["kind"] == "memif"]
        self._here = [port for port in memifs if port["backend"]["role"] == "server"]
        self._there = [port for port in memifs if port["backend"]["role"] != "server"]
        self._workers = workers_of(session)
        self._until: float | None = None
        self._so_far: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._here or self._there)

    def of_next_case(self) -> Peers:
        """The same peers, for the next case on the same ports."""
        return Peers(self._session, has_given_up=self._has_given_up)

    def came(self) -> None:
        """Notes that all are there: one that goes away is waited for as long as at first."""
        self._has_given_up = False

    @property
    def waiting(self) -> str:
        """The peers still missing, a clause."""
        parts = []
        if self._there:
            parts.append(f"waiting for the device's memif server at {_ends(self._there)}")
        if self._here:
            # Once nobody came in time, further cases wait only as long as a trial does.
            left = "" if self._has_given_up else f", it has {self._left():.0f} s"
            parts.append(
                f"listening for the device as a memif client at {_ends(self._here)}; start it now{left}"
            )
        return "; ".join([*parts, *(f"so far {why}" for why in self._so_far)])

    def _left(self) -> float:
        return PATIENCE_S if self._until is None else max(self._until - time.monotonic(), 0)

    def patient(self, reasons: Sequence[Reason]) -> bool:
        """Whether to go on waiting for a device that is to connect to us, after a time in vain."""
        if not self._here:
            return False
        self._so_far = list(dict.fromkeys(_disagreements(reasons)))
        now = time.monotonic()
        if self._until is None:
            self._until = now if self._has_given_up else now + PATIENCE_S
        self._has_given_up = now >= self._until
        return not self._has_given_up

    def hint(self, reasons: Sequence[Reason]) -> str | None:
        """What to do about a trial that could not begin for these reasons."""
        if not self:
            return None
        if any(reason.kind == "memif-fewer-queues" for reason in _coded(reasons)):
            queues = self._workers
            return (
                f"the tester has a queue for each of its {queues} workers, and the device has fewer: start it"
                f" with as many (testpmd: `--rxq={queues} --txq={queues}`), or take `workers: 1` in the plan"
            )
        if self._here:
            return (
                "start netdyno first, and the device when netdyno says that it is listening: a client such as"
                " testpmd looks for its server once, when it is started"
            )
        # A socket's file whose server was killed, or did not remove it.
        left = dict.fromkeys(
            str(reason.about["socket"]) for reason in _coded(reasons) if reason.about.get("is_left_over")
        )
        if left:
            return (
                f"nobody listens at that file any more: remove it (`rm {' '.join(left)}`) and start the"
                " device again; testpmd does not start where an earlier one left its file"
            )
        return (
            "start the device first, with a memif server at this socket and of this id; its own log says more"
        )


def _coded(reasons: Sequence[Reason]) -> list[EngineReason]:
    """Those that the engine gave."""
    return [reason for reason in reasons if isinstance(reason, EngineReason)]


def _disagreements(reasons: Sequence[Reason]) -> Iterator[str]:
    """Clauses: why a peer that was there is not connected."""
    for reason in _coded(reasons):
        if reason.kind in ("memif-disagreed", "memif-fewer-queues"):
            yield f"the connection at `{reason.about['socket']}` failed: {reason.about['why']}"
        elif reason.kind == "memif-ended":
            yield str(reason.about["why"])


def _ends(ports: Sequence[Mapping[str, Any]]) -> str:
    """`/tmp/dut.sock` (`west` id 0, `east` id 1)."""
    sockets: dict[str, list[str]] = {}
    for port in ports:
        backend = port["backend"]
        sockets.setdefault(backend["socket"], []).append(f"`{port['name']}` id {backend['id']}")
    return " and ".join(f"{socket} ({', '.join(names)})" for socket, names in sockets.items())
