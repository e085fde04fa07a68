"""Incidents of a lab: read from a setting, and placed in the trials of a load."""

from __future__ import annotations

from fractions import Fraction

import pytest
from emulated import MS, plan, wire_case
from netdyno.devices.incidents import Incident, carrier_losses, events, parse
from netdyno.values.load import Event, Frames, Trial
from netdyno.values.outcome import CarrierLoss
from netdyno.values.units import FrameRate

LINKS = [("d0", "west"), ("d1", "east")]
S = 10**9


def part(begin_s: int, length_s: int = 10) -> Trial:
    load = Frames.steady(FrameRate(1), length_s * S)
    return Trial("part", load, counts_carrier_losses=True, begin_ns=begin_s * S)


def test_incidents_are_read_with_port_and_exact_times() -> None:
    found = parse("d0 down at 2h for 3s, d1 drops at 0s for 200ms,d1 shut at 9h for 1min", LINKS)
    assert found == (
        Incident("west", "down", 7200 * S, 7203 * S),
        Incident("east", "drops", 0, 200 * MS),
        Incident("east", "shut", 32_400 * S, 32_460 * S),
    )
    assert found[0].scaled(Fraction(1, 3600)) == Incident("west", "down", 2 * S, 2_000_833_333)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("d0 down at 2h", "is not `d0 down at 2h`, but like"),
        ("d7 down at 2h for 3s", "the device has no port `d7`; its ports: `d0`, `d1`"),
        ("d0 burns at 2h for 3s", "but like"),
        ("d0 down at 2h for 3", "without a unit"),
        ("d0 down at 2h for 0s", "0s"),
        ("d0 down at 2h for 3s, d0 drops at 7202s for 9s", "overlap"),
        (", ".join(["d0 down at 2h for 3s"] * 1001), "1001 incidents, at most 1000"),
    ],
)
def test_incidents_that_cannot_be_are_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse(text, LINKS)


def test_incidents_fall_into_the_part_that_has_their_time() -> None:
    befalls = parse("d0 down at 12s for 3s, d1 drops at 21s for 1s", LINKS)
    assert [events(befalls, part(begin)) for begin in (0, 10, 20)] == [
        [],
        [Event(2 * S, "link-down", "west"), Event(5 * S, "link-up", "west")],
        [Event(1 * S, "mute", "east"), Event(2 * S, "unmute", "east")],
    ]
    assert carrier_losses(befalls, part(10)) == (CarrierLoss("west", 2 * S, 5 * S),)
    assert carrier_losses(befalls, part(20)) == ()


def test_incident_over_a_border_goes_on_in_the_next_part() -> None:
    befalls = parse("d0 shut at 8s for 15s", LINKS)
    assert [events(befalls, part(begin)) for begin in (0, 10, 20)] == [
        [Event(8 * S, "link-down", "west")],
        [Event(0, "link-down", "west")],
        [Event(0, "link-down", "west"), Event(3 * S, "link-up", "west")],
    ]
    assert [carrier_losses(befalls, part(begin)) for begin in (0, 10, 20)] == [
        (CarrierLoss("west", 8 * S, None, "device"),),
        (CarrierLoss("west", 0, None, "device"),),
        (CarrierLoss("west", 0, 3 * S, "device"),),
    ]


def test_what_ends_comes_before_what_begins_at_the_same_time() -> None:
    befalls = parse("d0 down at 2s for 1s, d0 down at 1s for 1s", LINKS)
    assert [(event.at_ns // S, event.kind) for event in events(befalls, part(0))] == [
        (1, "link-down"),
        (2, "link-up"),
        (2, "link-down"),
        (3, "link-up"),
    ]


def test_lab_with_incidents_says_so() -> None:
    settings = {"incidents": '"d1 down at 5ms for 10ms"'}
    _, wiring = wire_case(plan("emulated/cross-connect", "size: 64B", settings=settings))
    assert wiring.incidents == (Incident("east", "down", 5 * MS, 15 * MS),)
    (note,) = [one for one in wiring.notes if one.code == "device-set-to"]
    assert note.fields() == {"settings": [["incidents", "d1 down at 5ms for 10ms"]]}
