"""Each driver on a stand-in for its device, from the first login to the last undo."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from fakes import STAND_INS
from fakes.fridge import texts_of
from fakes.lab import Lab, series_of
from fakes.stand_in import StandIn


@pytest.fixture(params=STAND_INS.values(), ids=list(STAND_INS))
def stand_in(request: pytest.FixtureRequest) -> StandIn:
    found: StandIn = request.param
    return found


@pytest.fixture
def lab(stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    if stand_in.enable:
        monkeypatch.setenv("NETDYNO_ENABLE", stand_in.enable)
    with stand_in.serve(tmp_path) as (_, found):
        yield found


def test_check_of_a_stand_in_prints_its_version_and_ports(lab: Lab, stand_in: StandIn) -> None:
    before = lab.device.text()
    code, said = lab.run("check", "--device", "--format", "json", str(lab.plan()))
    assert code == 0, said
    found = json.loads(said)["device"]
    assert found["version"].startswith(stand_in.version)
    assert found["ports"] == dict.fromkeys(stand_in.ports, stand_in.state)
    assert lab.device.text() == before


def test_case_on_a_stand_in_is_configured_counted_and_undone(lab: Lab, stand_in: StandIn) -> None:
    before = lab.device.text()
    code, said = lab.run("run", str(lab.plan()))
    assert code == 0, said
    assert lab.device.text() == before
    # One for all its cases; one before the run begins, to wait for a device that is configured.
    assert lab.server.sessions == (2 if stand_in.template else 1)
    secrets = {lab.server.password.encode(), stand_in.enable.encode()} - {b""}
    for path, data in texts_of(lab.folder):
        assert not any(secret in data for secret in secrets), path
    (case,) = lab.cases()
    assert bool(stand_in.template) == bool(case.get("configuration", {}).get("diff"))
    # Every frame that the tester counted, on each of the four sides.
    assert case["balance"]["code"] == "every-frame-accounted"
    (trial,) = case["trials"]
    for stream, path in zip(trial["streams"], case["balance"]["paths"], strict=True):
        assert stream["offered_frames"] > 1_000
        own = path["device_in_frames"] - stream["offered_frames"]
        # Beside the test frames it asks who its next hop is.
        assert own == path["tester_own_frames"] <= 3
        assert path["device_out_frames"] == stream["received_frames"] + path["foreign_frames"]
    for one in series_of(case, "rx_packets"):
        assert not one.get("missed")
        assert len(one["values"]) > 5
        assert one["values"][0] == stand_in.before["rx"]
    for name, values in stand_in.gauges.items():
        read = {Decimal(str(value)) for one in series_of(case, name) for value in one["values"]}
        assert read == {Decimal(value) for value in values}
