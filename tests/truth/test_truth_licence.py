"""A policer is distinguished from a slow device by several frame sizes, and its rate is exact."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from laboratory import Device, measure

pytest.importorskip("netdyno._engine", reason="the engine is not built")


def test_a_run_names_the_policer_of_an_emulated_device(tmp_path: Path) -> None:
    """The whole way: plan, engine, method, store. 300 Mbit/s of a 1 Gbit/s line; a slow device."""
    devices: Mapping[str, Device] = {
        "policed": Device(police={"rate_bps": 300_000_000, "layer": "l2", "burst_bytes": 20_000}),
        "slow": Device(in_fps=60_000),
    }
    found = measure(
        tmp_path,
        devices=devices,
        traffic={"256b": "{size: 256B}", "512b": "{size: 512B}", "1518b": "{size: 1518B}"},
        method="{ramp: {warmup: null, ramp: 50ms to 100%, hold: 50ms}}",
        matrix={"direction": ["bidir"]},
    )
    limits = {key: {verdict.limit for verdict in one.case.verdicts} for key, one in found.items()}
    for size in ("256b", "512b", "1518b"):
        assert limits[size, "policed", "bidir"] == {"licence"}, found[size, "policed", "bidir"].case.verdicts
        # In the hold the bucket is empty: to within a frame at each end, what comes out is what filled it.
        hold = found[size, "policed", "bidir"].value("hold rate", "west-east").number
        frame = 8 * int(size.removesuffix("b"))
        assert abs(hold * frame - 300_000_000) <= Fraction(2 * frame * 1000, 50)
    assert limits["256b", "slow", "bidir"] == limits["512b", "slow", "bidir"] == {"device"}
