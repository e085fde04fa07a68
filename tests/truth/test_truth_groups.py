"""Which member of a group a frame meets, told by what each hash looks at, and what the group carries then."""

from __future__ import annotations

import math
from fractions import Fraction
from ipaddress import ip_address

import pytest
from closed_forms import Stretch, admitted, line_ps, sent_before, wire_bits
from laboratory import RATE, Device, Found, measure

pytest.importorskip("netdyno._engine", reason="the engine is not built")

QUEUE = 8
SIZE = 64
SENT_PS = 4 * 10**9
FLOWS = 64
HASHES = ("l2", "src-dst-ip", "src-ip", "dst-ip", "l3-l4")
DEVICES = {hash_: Device(members=2, partner_queue=QUEUE, hash=hash_) for hash_ in HASHES}

ETHERNET = "{type: ethernet}"
UDP = "{type: udp, sport: 1025, dport: 12}"
TRAFFIC = {
    # Flow f: source port 1025 + f, source address 16.0.0.1 + f, both, or the destination.
    "ports": f"{{size: 64B, flows: {FLOWS}, headers: [{ETHERNET},"
    " {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1},"
    f" {{type: udp, sport: {{step: {{start: 1025, step: 1, count: {FLOWS}}}}}, dport: 12}}]}}",
    "sources": f"{{size: 64B, flows: {FLOWS}, headers: [{ETHERNET},"
    f" {{type: ipv4, src: {{step: {{start: 16.0.0.1, step: 1, count: {FLOWS}}}}}, dst: 48.0.0.1}}, {UDP}]}}",
    "together": f"{{size: 64B, flows: {FLOWS}, headers: [{ETHERNET},"
    f" {{type: ipv4, src: {{step: {{start: 16.0.0.1, step: 1, count: {FLOWS}}}}},"
    f" dst: {{step: {{start: 48.0.0.1, step: 1, count: {FLOWS}}}}}}}, {UDP}]}}",
}


def member(profile: str, hash_: str, flow: int) -> int:
    """As Linux bonding folds: the XOR of all bytes that the hash looks at, modulo the members."""
    source = ip_address("16.0.0.1") + (flow if profile in ("sources", "together") else 0)
    target = ip_address("48.0.0.1") + (flow if profile == "together" else 0)
    port = 1025 + (flow if profile == "ports" else 0)
    looked_at = {
        # 02:00:00:00:01:01 and :02, in either order.
        "l2": bytes.fromhex("020000000101020000000102"),
        "src-dst-ip": source.packed + target.packed,
        "src-ip": source.packed,
        "dst-ip": target.packed,
        "l3-l4": source.packed + target.packed + port.to_bytes(2) + (12).to_bytes(2),
    }[hash_]
    folded = 0
    for byte in looked_at:
        folded ^= byte
    return folded % 2


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Found]:
    """All searches."""
    return measure(
        tmp_path_factory.mktemp("groups"),
        devices=DEVICES,
        traffic=TRAFFIC,
        method="{throughput: {duration: 4ms, width: 2%}}",
        matrix={"direction": ["uni"]},
    )


@pytest.mark.parametrize("hash_", HASHES)
@pytest.mark.parametrize("profile", TRAFFIC)
def test_a_group_carries_what_its_hash_spreads(
    profile: str, hash_: str, found: dict[tuple[str, ...], Found]
) -> None:
    members = [member(profile, hash_, flow) for flow in range(FLOWS)]
    spread = len(set(members)) == 2
    assert members == ([members[0], 1 - members[0]] * (FLOWS // 2) if spread else [members[0]] * FLOWS)
    line = Fraction(2 * RATE, wire_bits(SIZE))
    expected = {}
    for step in range(1, 51):
        bps = 2 * RATE * step // 50
        count = sent_before([Stretch(SENT_PS, bps, bps)], SIZE, SENT_PS)
        last = math.floor(Fraction((count - 1) * wire_bits(SIZE) * 10**12, bps))
        # One member takes all frames; or each takes every other one, which never fills more than its line.
        one = admitted(count, last, line_ps(SIZE, RATE), QUEUE) if bps > RATE else count
        expected[bps] = (count, count if spread else one)
    best = max(step for step, (count, taken) in enumerate(expected.values(), 1) if count == taken)
    value = found[profile, hash_, "uni"].value("throughput", "west-east")
    assert value.load == line * best / 50
    assert spread == (best == 50)
    for trial in found[profile, hash_, "uni"].trials:
        (stream,) = trial.result.streams
        count, taken = expected[math.floor(trial.segments[0].from_rate.amount * wire_bits(SIZE))]
        assert (stream.offered, stream.received, stream.lost) == (count, taken, count - taken)
        assert (stream.duplicates, stream.out_of_order, stream.corrupted) == (0, 0, 0)
        if count == taken:
            assert stream.flows_received == FLOWS
        west, east = trial.result.devices[0]["ports"]
        met = [0, 0]
        if spread:
            for frame in range(count):
                met[members[frame % FLOWS]] += 1
        else:
            met[members[0]] = taken
        # The same hash on both sides of a device that leaves frames as they are.
        assert west["member_rx"] == east["member_tx"] == met
        assert west["partner_drops"] == count - taken
