"""What several hosts found, as one: the result of one session, dealt to hosts by port and merged again."""

from __future__ import annotations

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from netdyno import _engine
from netdyno.hosts.clocks import Offset, find_jump_ps, measure_offset
from netdyno.hosts.door import Door, HostError, find_unfit, is_loopback, refuse_unencrypted
from netdyno.hosts.merge import merge_results, merge_snapshots
from netdyno.hosts.split import HERE, find_unsplittable, list_messages, split_session, split_trial

PORTS = ("west", "east", "north", "south")
OWNERS = ("gen1", "gen2", "gen1", HERE)
"""Streams lead from host to host, between ports of one host, and from and to this one."""
CLOCKS = {"gen1": Offset(5, 1000), "gen2": Offset(-5, 2000), HERE: Offset(0, 0)}


def spec() -> dict[str, Any]:
    streams = [
        {
            "name": f"{PORTS[tx]}-{PORTS[rx]}", "tx_port": tx, "rx_port": rx, "destination": "peer",
            "flows": 3,
            "headers": [
                {"type": "ethernet", "src": f"02:00:00:00:00:0{tx}", "dst": f"02:00:00:00:00:0{rx}"},
                {"type": "ipv4", "src": f"198.18.{tx}.1", "dst": f"198.18.{rx}.1"},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "sizes": [{"size": 64, "weight": 1}],
            "schedule": [
                {"name": "traffic", "duration_ns": 2_000_000, "from_bps": 10**9, "to_bps": 10**9}
            ],
        }
        for tx, rx in ((0, 1), (1, 0), (2, 3), (3, 2))
    ]  # fmt: skip
    ports = [{"mac": f"02:00:00:00:00:0{port}", "line_bps": 10**10} for port in range(4)]
    return {
        **{"seed": 1, "streams": streams, "ports": ports, "observe": {"by_flow": True}},
        **{"settle_ns": 10**6, "drain_ns": 10**6, "sample_ns": 10**6},
    }


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    """The answer of one session whose ports are joined in pairs."""
    ports = [{"name": name, "backend": {"kind": "wire"}} for name in PORTS]
    loops = [{"ports": pair, "rate_bps": 10**10} for pair in ([0, 1], [2, 3])]
    session = _engine.Session(json.dumps({"clock": "virtual", "ports": ports, "loops": loops}))
    session.start(json.dumps(spec()))
    answer: dict[str, Any] = json.loads(session.result())
    return answer


def dealt(whole: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What each host would have found: nothing sent by ports of others, and nothing received by them."""
    found = {}
    for host in dict.fromkeys(OWNERS):
        own = copy.deepcopy(whole)
        trial = own["trial"]
        for one, stream in zip(trial["streams"], spec()["streams"], strict=True):
            if OWNERS[stream["tx_port"]] != host:
                one |= {"intended": 0, "offered": 0, "offered_bytes": 0, "tx": [0] * len(one["tx"])}
                one["by_flow"]["sent"] = [0] * 3
            if OWNERS[stream["rx_port"]] != host:
                one |= {"received": 0, "received_bytes": 0, "flows_received": 0, "latency": None}
                one |= {"rx": [0] * len(one["rx"]), "arrived": [0] * len(one["arrived"])}
            one["lost"] = one["offered"] - one["received"]
        for one, owner in zip(trial["ports"], OWNERS, strict=True):
            if owner != host:
                one |= {"tx_frames": 0, "rx_frames": 0}
        found[host] = own
    return found


def test_merged_results_count_what_one_session_counted(whole: dict[str, Any]) -> None:
    merged = merge_results(dealt(whole), OWNERS, spec(), CLOCKS)["trial"]
    assert merged["ports"] == whole["trial"]["ports"]
    for one, other, stream in zip(
        merged["streams"], whole["trial"]["streams"], spec()["streams"], strict=True
    ):
        is_between = OWNERS[stream["tx_port"]] != OWNERS[stream["rx_port"]]
        assert one["offered"] == other["offered"] > 0
        assert {**other, "latency": None if is_between else other["latency"]} == one
    assert merged["invalid"] == []


def test_lost_frames_are_counted_and_dated_by_sample(whole: dict[str, Any]) -> None:
    found = dealt(whole)
    came = found["gen2"]["trial"]["streams"][0]
    came["received"] -= 3
    came["arrived"][1] -= 3
    (one, *_) = merge_results(found, OWNERS, spec(), CLOCKS)["trial"]["streams"]
    assert (one["lost"], one["first_loss_ns"]) == (3, 10**6)


def test_dates_of_losses_stand_where_they_are_all_that_is_missing(whole: dict[str, Any]) -> None:
    gap = {"first": 7, "last": 9, "frames": 3, "first_ns": 1_234, "last_ns": 1_300}
    for missing, dated, first_ns in ((3, 1, 1_234), (5, None, 10**6)):
        found = dealt(whole)
        came = found["gen2"]["trial"]["streams"][0]
        came["gaps"] = {"gaps": [gap], "further": 0, "further_frames": 0}
        came["received"] -= missing
        came["arrived"][1] -= missing
        (one, *_) = merge_results(found, OWNERS, spec(), CLOCKS)["trial"]["streams"]
        assert (one["gaps"] and len(one["gaps"]["gaps"]), one["first_loss_ns"]) == (dated, first_ns)


def test_frames_beyond_those_sent_make_a_trial_invalid(whole: dict[str, Any]) -> None:
    found = dealt(whole)
    found["gen2"]["trial"]["streams"][0]["received"] += 1
    (reason,) = merge_results(found, OWNERS, spec(), CLOCKS)["trial"]["invalid"]
    assert (reason["code"], reason["fields"]["stream"]) == ("too-many-received", "west-east")


def test_late_host_makes_a_trial_invalid_by_name(whole: dict[str, Any]) -> None:
    found = dealt(whole)
    found["gen1"]["trial"]["began_late_ns"] = 2_000
    found["gen2"]["trial"]["began_late_ns"] = 5_000_000_000
    merged = merge_results(found, OWNERS, spec(), CLOCKS)["trial"]
    (reason,) = merged["invalid"]
    assert (reason["code"], reason["fields"]) == ("begin-missed", {"host": "gen2", "late_us": 5_000_000})
    assert [(one["name"], one["began_late_ns"]) for one in merged["hosts"]] == [
        ("gen1", 2_000), ("gen2", 5_000_000_000), (HERE, None),
    ]  # fmt: skip


def test_clock_that_jumps_makes_a_trial_invalid_by_name(whole: dict[str, Any]) -> None:
    known, second_ps = Offset(7, 10**9), 10**12
    jumped_ps = find_jump_ps(known, Offset(7 - 5 * second_ps, 10**9), 3 * second_ps)
    (reason,) = merge_results(dealt(whole), OWNERS, spec(), CLOCKS, {"gen2": jumped_ps})["trial"]["invalid"]
    assert (reason["code"], reason["fields"]) == ("clock-jumped", {"host": "gen2", "jumped_us": 5_000_000})
    # Two crystals of 50 ppm in a soak of twelve hours.
    drifted = Offset(7 + 12 * 3600 * second_ps // 10_000, 10**9)
    assert find_jump_ps(known, drifted, 12 * 3600 * second_ps) == 0


def test_hosts_that_were_cancelled_for_another_give_no_reason(whole: dict[str, Any]) -> None:
    found = dealt(whole)
    cancelled = {"code": "cancelled", "fields": {}, "text": "cancelled"}
    silent = {"code": "next-hop-silent", "fields": {"port": "east"}, "text": "no answer"}
    found["gen1"]["trial"]["invalid"] = [cancelled]
    found["gen2"]["trial"]["invalid"] = [silent]
    (reason,) = merge_results(found, OWNERS, spec(), CLOCKS)["trial"]["invalid"]
    assert (reason["code"], reason["fields"]["host"]) == ("next-hop-silent", "gen2")


def test_snapshot_has_each_port_of_its_host() -> None:
    def stands(moved: int) -> dict[str, Any]:
        ports = [{"name": name, "tx_frames": moved} for name in PORTS]
        return {"phase": "traffic", "elapsed_ns": moved, "total_ns": 9, "ports": ports}

    found = {"gen1": stands(1), "gen2": stands(2), HERE: stands(3)}
    assert [one["tx_frames"] for one in merge_snapshots(found, OWNERS, spec()["streams"])["ports"]] == [
        1,
        2,
        1,
        3,
    ]


def test_each_host_opens_its_own_ports_with_its_own_threads() -> None:
    ports = [
        {
            "name": name,
            "backend": {"kind": "af_packet", "interface": name},
            **({"host": owner} if owner else {}),
        }
        for name, owner in zip(PORTS, OWNERS, strict=True)
    ]
    hosts = {"scheduler": "tls://192.0.2.1:8786", "threads": {"gen1": {"workers": 4}}}
    session = {"clock": "real", "ports": ports, "hosts": hosts, "workers": 2, "max_frame": 60}
    found = split_session(session)
    kinds = {host: [port["backend"]["kind"] for port in one["ports"]] for host, one in found.items()}
    assert kinds == {
        "gen1": ["af_packet", "null", "af_packet", "null"],
        "gen2": ["null", "af_packet", "null", "null"],
        HERE: ["null", "null", "null", "af_packet"],
    }
    assert {host: one.get("workers") for host, one in found.items()} == {"gen1": 4, "gen2": None, HERE: 2}
    assert all("hosts" not in one and one["max_frame"] == 60 for one in found.values())


def test_another_hosts_port_says_and_asks_nothing() -> None:
    trial = spec()
    for number, port in enumerate(trial["ports"]):
        port |= {"gateway": "192.0.2.1", "messages": [{"frame": "00"}] * number, "ipv4": "192.0.2.2"}
    own = split_trial(trial, OWNERS)["gen2"]
    assert [port.get("remote", False) for port in own["ports"]] == [True, False, True, True]
    assert set(own["ports"][0]) == {"mac", "line_bps", "remote"}
    assert own["waits"]
    assert {host: list_messages(trial, OWNERS, host) for host in dict.fromkeys(OWNERS)} == {
        "gen1": [1, 2], "gen2": [0], HERE: [3, 4, 5],
    }  # fmt: skip


def test_what_hosts_cannot_measure_together_is_named() -> None:
    trial = spec()
    assert find_unsplittable(trial, OWNERS) is None
    trial["streams"][1]["answers"] = 0
    assert find_unsplittable(trial, OWNERS) is not None


def test_offset_is_that_of_the_quickest_exchange() -> None:
    """A clock 7 s ahead: one question takes 2 us to get there, the others 2 ms."""
    now, ways = 0, iter([1000] * 20 + [1] + [1000] * 29)

    def own() -> int:
        return now

    def read() -> int:
        nonlocal now
        now += next(ways) * 10**6 * 2
        return now + 7 * 10**12

    found = measure_offset(read, own)
    assert found.bound_ps == 10**6
    assert abs(found.ps - 7 * 10**12) <= found.bound_ps


def test_scheduler_off_loopback_without_tls_is_refused() -> None:
    here = ("127.0.0.1", "[::1]", "localhost")
    assert all(is_loopback(f"tcp://{host}:8786") for host in here)
    assert not is_loopback("tcp://192.0.2.1:8786")
    refuse_unencrypted("tls://192.0.2.1:8786")
    with pytest.raises(HostError) as refused:
        refuse_unencrypted("tcp://192.0.2.1:8786")
    assert refused.value.code == "host-not-encrypted"


def test_tls_without_a_certificate_is_named() -> None:
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    with dask.config.set({"distributed.comm.tls.ca-file": None}), pytest.raises(HostError) as refused:
        Door("tls://192.0.2.1:8786")
    assert refused.value.code == "host-not-encrypted"


def test_worker_asked_while_it_ends_is_lost() -> None:
    """Its pool of threads is closed, and its connection is still there."""
    pytest.importorskip("distributed")
    pool = ThreadPoolExecutor()
    pool.shutdown()
    door = Door.__new__(Door)
    door.scheduler, door._known, door._client = "tls://192.0.2.1:8786", {}, SimpleNamespace(status="closed")
    with pytest.raises(HostError) as lost:
        door._answer("gen1", lambda timeout: pool.submit(int))
    assert lost.value.code == "host-lost"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({}, None),
        ({"netdyno": "0.0.9"}, "host-version"),
        ({"has_nanny": True}, "host-settings"),
        ({"nthreads": 2}, "host-settings"),
        ({"profiles": True}, "host-settings"),
        ({"moves_memory": True}, "host-settings"),
    ],
)
def test_worker_of_another_version_or_setting_is_refused(changed: dict[str, Any], code: str | None) -> None:
    found = {"netdyno": "0.1.0", "has_nanny": False, "nthreads": 1, "profiles": False, "moves_memory": False}
    unfit = find_unfit("gen1", {**found, **changed}, "0.1.0")
    assert (unfit and unfit.code) == code
