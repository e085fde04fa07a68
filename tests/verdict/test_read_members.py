"""Shares of the members of a LAG that a driver reads: counts made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from balanced import KNOWN, PLACES, S, by_hand
from netdyno.values.load import Frames, Trial
from netdyno.values.units import FrameRate
from netdyno.verdict.causes import Polarised, find_causes
from netdyno.verdict.device_trial import count_members
from netdyno.verdict.evidence import Evidence

LAG = "Te0/1+Te0/2"
Counted = Mapping[tuple[str, str], int]
BOTH: Counted = {
    ("Te0/0", "rx_packets"): 1000,
    ("Te0/1", "tx_packets"): 600,
    ("Te0/2", "tx_packets"): 400,
}


def test_members_are_counted_by_their_lag_and_way() -> None:
    made = [(10 * S, by_hand(BOTH, sent=1000, received=1000))] * 2
    assert count_members(made, PLACES, ("Te0/0", LAG)) == {(LAG, "out"): (1200, 800)}
    assert count_members(made, PLACES, ("Te0/0", "Te0/1")) == {}


def test_lag_with_a_member_that_was_not_read_is_left_out() -> None:
    known, unread = (by_hand(one, sent=1000, received=1000) for one in (BOTH, dict(list(BOTH.items())[:2])))
    assert count_members([(10 * S, known), (10 * S, unread)], PLACES, ("Te0/0", LAG)) == {}


@pytest.mark.parametrize(("flows", "is_named"), [(10, False), (1000, True)])
def test_uneven_members_are_polarisation_where_flows_do_not_explain_them(flows: int, is_named: bool) -> None:
    """Three quarters of ten flows may be chance, of a thousand they are 16 standard deviations off."""
    counted = {**BOTH, ("Te0/1", "tx_packets"): 7500, ("Te0/2", "tx_packets"): 2500}
    outcome = by_hand(counted, sent=10_000, received=10_000)
    evidence = Evidence(replace(KNOWN, device_ports=("Te0/0", LAG)), "real", True, (), flows=flows)
    trial = Trial("trial", Frames.steady(FrameRate(1000), 10 * S))
    found = [one for one in find_causes({0: (trial, outcome)}, evidence) if isinstance(one, Polarised)]
    assert [(one.at, one.frames, one.flows) for one in found] == (
        [(f"`{LAG}`", (7500, 2500), flows)] if is_named else []
    )
