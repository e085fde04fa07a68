"""The table of truth (table.py) is whole, its reference agrees with closed forms, and a half of it holds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from devices import CLASSES, SERVICE
from model import member
from netdyno.methods import METHODS
from netdyno.values.load import FRAMES
from plans import MIXED, PATTERNS
from proofs import PROOFS, list_missing
from reference import Reference
from servers import Packet, line_time
from table import CELLS, FIRST, TABLE, UNKNOWN, WITHIN, hold
from way import splitmix64

pytest.importorskip("netdyno._engine", reason="the engine is not built")


def test_every_method_has_its_proof() -> None:
    assert list_missing() == []
    assert list(PROOFS) == [name for name, one in METHODS.items() if one.load_class is FRAMES]


def test_the_table_has_every_method_and_every_class() -> None:
    assert list(TABLE) == [*PROOFS, *PATTERNS, *MIXED]
    assert {len(row) for row in TABLE.values()} == {len(CLASSES)}
    assert set("".join(TABLE.values())) == {"f", "r", "~", "-"}
    assert set(WITHIN) == {name for name, row in TABLE.items() if "~" in row}
    assert set(UNKNOWN) == {name for name, row in TABLE.items() if "-" in row}


@pytest.mark.parametrize(("name", "device"), [cell for cell in CELLS if cell[0] in FIRST])
def test_a_method_finds_what_is_true(name: str, device: str) -> None:
    hold(name, device)


# The reference itself.


END = 1 << 62
"""When nobody looks any more."""


def even(frames: int, spacing: int) -> list[Packet]:
    """Frames of one stream that come so far apart."""
    return [Packet(0, number, number * spacing, 0, 64) for number in range(frames)]


@pytest.mark.parametrize("spacing", [6_720_000, 7_000_001, 9_999_999, SERVICE, 13_000_007])
@pytest.mark.parametrize("device", [name for name, one in CLASSES.items() if one.form is not None])
def test_the_reference_is_as_the_closed_forms_say(device: str, spacing: int) -> None:
    """Bursts of any length, at the line's rate, just above what is served, at it, and below."""
    made = CLASSES[device]
    assert made.form is not None
    before = 0
    reference = Reference(made.model, 2)
    for number, frames in enumerate((1, 2, 7, 41, 48, 49, 97, 160, 411, 1_000), 1):
        begin = number * 10**12
        sent = even(frames, spacing)
        for packet in sent:
            packet.departure += begin
        _, came = reference.forward([sent, []], lambda packet, port: [1], begin + 3 * 10**11)
        through = len({one.number for one in came if not one.corrupted and one.departure >= begin})
        assert through == made.form(frames, (frames - 1) * spacing, before)
        before += frames


def test_our_splitmix_is_the_published_one() -> None:
    """The first outputs for seed 1234567, as in Rosetta Code's table for this generator."""
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [splitmix64(1_234_567, number) for number in range(3)] == published


def test_a_burst_through_a_pause_is_what_fits_in_the_queue() -> None:
    """Frames every 6.72 us at a line that pauses for 401 us: as many wait as there is room for, and all that
    come while it is full are lost. Behind the pause the line is as fast as they come."""
    model = CLASSES["periodic stalls"].model
    assert model.stall is not None
    first, _, length = model.stall
    reference = Reference(model, 2)
    sent = even(400, line_time(64))
    # The first frame reaches the line 10.76 us after it departed (5.76 us of bits, 5 us through the device).
    _, came = reference.forward([sent, []], lambda packet, port: [1], END)
    reach = [one.departure + 10_760_000 for one in even(400, line_time(64))]
    inside = sum(first < at < first + length for at in reach)
    assert len(came) == 400 - (inside - model.queue)


def test_a_class_that_goes_first_waits_for_one_frame_at_most() -> None:
    """Strict priority that never stops in a frame: beside any other load a frame of the first class waits for
    the one that has begun, and in a shaper for the tokens that it took: 10 us (A. Cobham 1954)."""
    model = CLASSES["priority queues"].model
    for rest in (6_720_000, 9_000_000, 20_000_000):
        voice = [Packet(0, number, number * 40_000_003, 0, 64, "voice") for number in range(200)]
        other = [Packet(1, number, number * rest, 0, 64, "rest") for number in range(800)]
        _, _, came = Reference(model, 3).forward([voice, other, []], lambda packet, port: [2], END)
        took = [one.at - one.departure for one in came if one.stream == 0]
        assert len(took) == 200
        assert min(took) == 16_520_000
        assert max(took) <= 16_520_000 + SERVICE


def test_while_two_classes_wait_each_has_its_turns() -> None:
    """Deficit round robin of quanta of 256 and 768 bytes: four frames of 64 bytes and twelve, in turns
    (M. Shreedhar and G. Varghese 1995)."""
    model = CLASSES["weighted queues"].model
    voice = [Packet(0, number, number * 6_720_000, 0, 64, "voice") for number in range(800)]
    rest = [Packet(1, number, number * 6_720_000 + 1, 0, 64, "rest") for number in range(800)]
    _, _, came = Reference(model, 3).forward([voice, rest, []], lambda packet, port: [2], END)
    last = 799 * 6_720_000
    order = "".join("vr"[one.stream] for one in came if one.at < last)
    # At first the bucket lets six frames leave as they come, one of each in turns; then both queues fill.
    begin = order.index("v" * 4 + "r" * 12)
    turns = order[begin : begin + (len(order) - begin) // 16 * 16]
    assert turns == ("v" * 4 + "r" * 12) * (len(turns) // 16)
    assert begin < 40 < 400 < len(turns)


def test_a_blocked_input_costs_the_uncongested_port_its_frames() -> None:
    """RFC 2889 section 5.5: one port sends half to a port that another fills. Both inputs are full and wait
    for the same time, so let out the same rate r, and r / 2 + r is the line: a third is lost of what goes to
    either port. Without blocking nothing is lost at the port that is not congested."""
    model = CLASSES["head-of-line blocking"].model
    for blocking, shares in ((True, (2 / 3, 2 / 3)), (False, (1, 2 / 3))):
        sent = [even(6_000, line_time(64)), even(6_000, line_time(64)), [], []]
        reference = Reference(replace(model, head_of_line=blocking), 4)
        came = reference.forward(sent, lambda packet, port: [3 - packet.number % 2 if port == 0 else 3], END)
        for port, count, share in ((2, 3_000, shares[0]), (3, 9_000, shares[1])):
            # Of each input 24 frames wait at the end, and 4 of the output.
            assert abs(len(came[port]) - count * share) <= 60


@pytest.mark.parametrize("spacing", [6_720_000, 9_999_999, 13_440_000, 20_000_000])
def test_one_flow_of_a_group_has_one_member(spacing: int) -> None:
    """16.0.0.1 and 48.0.0.1: 16 ^ 48 ^ 1 ^ 1 = 32, even. Half of the line, and a queue in front (D/D/1/K)."""
    model = CLASSES["link aggregation"].model
    sent = [Packet(0, 3 * number, number * spacing, 0, 64) for number in range(500)]
    _, came = Reference(model, 2).forward([sent, []], lambda packet, port: [1], END)
    last = 499 * spacing
    assert len(came) == min(500, last // 13_440_000 + 1 + model.partner_queue)
    assert [member(flow, 2) for flow in range(4)] == [0, 1, 0, 0]
