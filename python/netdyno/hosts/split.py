"""A session and its trials, by host. Each host has all ports and streams, and uses the ports of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

HERE = ""
"""The name of the host that runs the load test, in place of one of the inventory."""
OF_ANOTHER = {"kind": "null"}
"""In place of the backend of another host's port."""


def find_owners(session: Mapping[str, Any]) -> tuple[str, ...]:
    """The host of each port, in order."""
    return tuple(port.get("host", HERE) for port in session["ports"])


def split_session(session: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The SessionSpec of each host, by its name, in the order of the ports."""
    owners = find_owners(session)
    common = {name: value for name, value in session.items() if name not in ("hosts", "workers", "cores")}
    here = {name: session[name] for name in ("workers", "cores") if name in session}
    threads = session["hosts"]["threads"]
    found = {}
    for host in dict.fromkeys(owners):
        ports = [
            {"name": port["name"], "backend": port["backend"] if owner == host else OF_ANOTHER}
            for port, owner in zip(session["ports"], owners, strict=True)
        ]
        found[host] = {**common, **(here if host == HERE else threads.get(host, {})), "ports": ports}
    return found


def split_trial(trial: Mapping[str, Any], owners: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The TrialSpec of each host, by its name. All wait for the instant at which traffic begins."""
    found = {}
    for host in dict.fromkeys(owners):
        ports = [
            port if owner == host else _as_remote(port)
            for port, owner in zip(trial["ports"], owners, strict=True)
        ]
        found[host] = {**trial, "ports": ports, "waits": True}
    return found


def _as_remote(port: Mapping[str, Any]) -> dict[str, Any]:
    """Another host's port: its address on the network, and nothing to say or to ask there."""
    return {"mac": port["mac"], "line_bps": port.get("line_bps", 0), "remote": True}


def list_messages(trial: Mapping[str, Any], owners: Sequence[str], host: str) -> list[int]:
    """The number, among the messages of all ports, of each message of a host's own."""
    found: list[int] = []
    number = 0
    for port, owner in zip(trial["ports"], owners, strict=True):
        count = len(port.get("messages", ()))
        found += range(number, number + count) if owner == host else ()
        number += count
    return found


def find_unsplittable(trial: Mapping[str, Any], owners: Sequence[str]) -> str | None:
    """What a trial asks for that no two hosts can do together, a noun; None: nothing."""
    if any(one.get("answers") is not None for one in trial["streams"]):
        return "streams that answer others (`answers: true`, or a device that keeps state)"
    return None
