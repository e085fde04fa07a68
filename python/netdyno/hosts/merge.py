"""What several hosts found in one trial, as one: what left, by the sending host; what came, by the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from netdyno.hosts.clocks import Offset
from netdyno.hosts.split import HERE, list_messages

OF_SENDER = ("name", "intended", "offered", "refused", "offered_bytes", "lag", "tx")
"""Fields of a stream that its sending host has; the receiving one has the others."""
LATE_NS = 10_000_000
"""A host that begins later than that begins another trial than the others."""
NOTHING_TIMED = {"count": 0, "p50_ns": 0, "p99_ns": 0, "max_ns": 0}


def merge_snapshots(
    found: Mapping[str, Mapping[str, Any]], owners: Sequence[str], streams: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """How a trial stands over all hosts. Phase and times are the first host's."""
    first = next(iter(found.values()))
    merged = {
        **first,
        "ports": [
            found[owner]["ports"][number] for number, owner in enumerate(owners) if found[owner]["ports"]
        ],
    }
    intervals = {
        host: {one["number"]: one for one in snapshot.get("intervals", ())}
        for host, snapshot in found.items()
    }
    ended = set.intersection(*map(set, intervals.values()))
    if ended:
        merged["intervals"] = [
            {
                "number": number,
                "streams": [
                    _interval(place, number, intervals, owners[one["tx_port"]], owners[one["rx_port"]])
                    for place, one in enumerate(streams)
                ],
            }
            for number in sorted(ended)
        ]
    return merged


def _interval(
    place: int, number: int, intervals: Mapping[str, Mapping[int, Any]], tx: str, rx: str
) -> dict[str, Any]:
    sent, came = intervals[tx][number]["streams"][place], intervals[rx][number]["streams"][place]
    latency = came["latency"] if tx == rx else NOTHING_TIMED
    return {**came, "sent": sent["sent"], "late_ns": sent["late_ns"], "latency": latency}


def merge_results(
    found: Mapping[str, Mapping[str, Any]],
    owners: Sequence[str],
    trial: Mapping[str, Any],
    clocks: Mapping[str, Offset],
    jumps_ps: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Any]:
    """The answer of one session to a trial, of those of all hosts. clocks: what bounds the offset of each.
    jumps_ps: by how much each clock jumped meanwhile."""
    trials = {host: answer["trial"] for host, answer in found.items()}
    longest = max(trials.values(), key=_sending_ns)
    streams = [
        _stream(place, trials, owners[one["tx_port"]], owners[one["rx_port"]], trial["sample_ns"])
        for place, one in enumerate(trial["streams"])
    ]
    invalid = [*_invalid(trials), *_late(trials), *_jumped(jumps_ps), *_too_many(streams)]
    merged = {
        # Phases of the host that took longest.
        **longest,
        "streams": streams,
        "ports": [trials[owner]["ports"][number] for number, owner in enumerate(owners)],
        "health": _health([one["health"] for one in trials.values()]),
        "invalid": invalid,
        "hosts": [_host(host, one, clocks.get(host), owners, trial) for host, one in trials.items()],
        "said": [
            {**one, "message": list_messages(trial, owners, host)[one["message"]]}
            for host, each in trials.items()
            for one in each["said"]
        ],
        "heard_beyond": sum(one["heard_beyond"] for one in trials.values()),
        "heard_damaged": sum(one["heard_damaged"] for one in trials.values()),
    }
    for name in ("resolved", "next_hops", "conflicts", "heard"):
        merged[name] = [item for one in trials.values() for item in one[name]]
    merged.pop("began_late_ns", None)
    answer = {"trial": merged, "devices": []}
    if any("spacing" in one for one in found.values()):
        answer["spacing"] = [found[owner]["spacing"][number] for number, owner in enumerate(owners)]
    return answer


def _stream(
    place: int, trials: Mapping[str, Mapping[str, Any]], tx: str, rx: str, sample_ns: int
) -> dict[str, Any]:
    sent, came = trials[tx]["streams"][place], trials[rx]["streams"][place]
    elsewhere = sum(one["streams"][place]["elsewhere"] for one in trials.values())
    if tx == rx:
        return {**sent, "elsewhere": elsewhere}
    merged: dict[str, Any] = {**came, **{name: sent[name] for name in OF_SENDER}}
    if came["is_bare"]:
        # Without a probe a copy is a frame like others: so many there were at least.
        copies = min(max(came["received"] + came["corrupted"] - sent["offered"], 0), came["received"])
        merged["received"], merged["duplicates"] = came["received"] - copies, came["duplicates"] + copies
    lost = sent["offered"] - merged["received"] - came["corrupted"]
    if came["by_flow"] is not None and sent["by_flow"] is not None:
        merged["by_flow"] = {**came["by_flow"], "sent": sent["by_flow"]["sent"]}
    gaps = _gaps(came["gaps"], lost + came["corrupted"])
    behind = (
        number
        for number, (tx_, arrived) in enumerate(zip(sent["tx"], came["arrived"], strict=False))
        if tx_ > arrived
    )
    first = next(behind, None) if lost > 0 or came["corrupted"] else None
    return {
        **merged,
        "elsewhere": elsewhere,
        "lost": lost,
        "gaps": gaps,
        "first_loss_ns": None if first is None else _first_ns(gaps, first * sample_ns),
        # Two clocks: what lies between them is known to some hundred microseconds, and latency is less.
        "latency": None,
        "intervals": [],
    }


def _gaps(found: Mapping[str, Any] | None, missing: int) -> Mapping[str, Any] | None:
    """When frames were lost, if all that are missing are among them: the receiving host takes what it was to
    be sent for sent."""
    if found is None:
        return None
    frames = sum(one["frames"] for one in found["gaps"]) + found["further_frames"]
    return found if frames == missing else None


def _first_ns(gaps: Mapping[str, Any] | None, sample_ns: int) -> int:
    """When the first frame that is missing was due; without dates the begin of its sample."""
    return int(gaps["gaps"][0]["first_ns"]) if gaps and gaps["gaps"] else sample_ns


def _invalid(trials: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Why hosts say that the trial does not count. One that was cancelled for another's reason has none."""
    every = [(host, reason) for host, one in trials.items() for reason in one["invalid"]]
    own = [(host, reason) for host, reason in every if reason["code"] != "cancelled"]
    return [_of_host(host, reason) for host, reason in own or every[:1]]


def _of_host(host: str, reason: Mapping[str, Any]) -> dict[str, Any]:
    if host == HERE:
        return dict(reason)
    fields = {**reason["fields"], "host": host}
    return {**reason, "fields": fields, "text": f"host `{host}`: {reason['text']}"}


def _late(trials: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A host whose traffic began later than that of the others."""
    return [
        _of_host(
            host,
            {
                "code": "begin-missed",
                "fields": {"late_us": late_ns // 1000},
                "text": f"traffic began {late_ns / 1e6:.1f} ms after the instant that all hosts had;"
                f" more than {LATE_NS // 10**6} ms is another trial than theirs",
            },
        )
        for host, one in trials.items()
        if (late_ns := one.get("began_late_ns") or 0) > LATE_NS
    ]


def _jumped(jumps_ps: Mapping[str, int]) -> list[dict[str, Any]]:
    """A host whose clock jumped: its instants were others, and its frames are not known by their times."""
    return [
        _of_host(
            host,
            {
                "code": "clock-jumped",
                "fields": {"jumped_us": jump_ps // 10**6},
                "text": f"its clock jumped by {jump_ps / 10**12:.3g} s during the trial; do not move or"
                " suspend a virtual machine meanwhile",
            },
        )
        for host, jump_ps in jumps_ps.items()
        if jump_ps
    ]


def _too_many(streams: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """As one session has it of streams that it sends and receives."""
    return [
        {
            "code": "too-many-received",
            "fields": {
                "stream": one["name"],
                "received": one["received"] + one["corrupted"],
                "offered": one["offered"],
            },
            "text": f"stream `{one['name']}`: {one['received'] + one['corrupted']} distinct frames received,"
            f" more than the {one['offered']} offered",
        }
        for one in streams
        if one["lost"] < 0
    ]


SUMS = (
    *("unsent", "rx_dropped", "rx_too_long", "tx_full", "tx_no_peer", "tx_dropped", "rx_full"),
    *("rx_full_ns", "unheard", "split_flows"),
)
MOST = ("latest_departure_ns", "longest_gap_ns", "tx_ahead", "tx_ahead_ns")


def _health(every: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts of all hosts together, and times of the worst one."""
    crowded = max(every, key=lambda one: one["threads"] / max(one["cores"], 1))
    return {
        **{name: _of_known(sum, every, name) for name in SUMS},
        **{name: _of_known(max, every, name) for name in MOST},
        "catch_up": _catch_up([one["catch_up"] for one in every if one["catch_up"] is not None]),
        "core_share_ppm": _of_known(min, every, "core_share_ppm"),
        "workers": [worker for one in every for worker in one["workers"]],
        "threads": crowded["threads"],
        "cores": crowded["cores"],
        "peers": [peer for one in every for peer in one["peers"]],
    }


def _of_known(pick: Callable[[list[int]], int], every: Sequence[Mapping[str, Any]], name: str) -> int | None:
    known = [one[name] for one in every if one[name] is not None]
    return pick(known) if known else None


def _catch_up(every: Sequence[Mapping[str, int]]) -> dict[str, int] | None:
    if not every:
        return None
    sums = {name: sum(one[name] for one in every) for name in ("pauses", "frames")}
    most = {
        name: max(one[name] for one in every)
        for name in ("percent", "longest_ns", "longest_run", "most_in_round")
    }
    return {**sums, **most}


def _sending_ns(trial: Mapping[str, Any]) -> int:
    """How long a host sent, what it made up for included."""
    around = ("resolve", "settle", "drain")
    return sum(one["duration_ns"] for one in trial["phases"] if one["name"] not in around)


def _host(
    host: str, found: Mapping[str, Any], clock: Offset | None, owners: Sequence[str], trial: Mapping[str, Any]
) -> dict[str, Any]:
    """How one host did. clock: how well its clock is known."""
    health = found["health"]
    return {
        "name": host,
        "began_late_ns": found.get("began_late_ns"),
        "sent_ns": _sending_ns(found),
        "streams": [one["name"] for one in trial["streams"] if owners[one["tx_port"]] == host],
        "clock_bound_ns": None if clock is None else clock.bound_ps // 1000,
        **{
            name: health[name]
            for name in ("core_share_ppm", "longest_gap_ns", "unsent", "rx_dropped", "tx_dropped")
        },
    }
