"""A port that only receives is known to its router before traffic: a uni run loses nothing at its start."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from netdyno.plan import load
from netdyno.plan.matrix import cases
from netdyno.testers.netdyno.spec import read_result, session_spec, trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.units import FrameRate

pytestmark = pytest.mark.paired

ARTICLE = Path(__file__).parents[2] / "examples/asr9006.yaml"
SPEED = Fraction(1_000_000)


def specs(kind: str, tmp_path: Path) -> dict[str, tuple[dict[str, object], dict[str, object]]]:
    text = ARTICLE.read_text().replace("emulated/asr9006", kind)
    if kind == "emulated/router":
        text = re.sub(r"(?m)^  (forwarding|lag): .*\n", "", text)
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    plan = load(path)
    found = {}
    for case in cases(plan):
        wiring = plan.kind.wire(plan.lab.links, case.settings)
        trial = Trial("trial", Frames.steady(FrameRate(SPEED), 20_000_000))
        found[case.name] = (session_spec(wiring), trial_spec(plan, case, wiring, trial))
    return found


def test_next_hops_are_the_gateways_and_peers_are_none(tmp_path: Path) -> None:
    found = specs("emulated/asr9006", tmp_path)
    routed = found["ipv4 / plain / 64b-multi / uni"][1]["ports"]
    bridged = found["bridge-domain / plain / 64b-multi / uni"][1]["ports"]
    assert isinstance(routed, list)
    assert isinstance(bridged, list)
    assert [port["gateway"] for port in routed] == ["100.64.0.1", "100.64.1.1"]
    assert [port["gateway"] for port in bridged] == [None, None]


def test_a_uni_run_through_a_router_that_has_to_ask_loses_nothing(tmp_path: Path) -> None:
    engine = pytest.importorskip("netdyno._engine", reason="the engine is not built")
    session, spec = specs("emulated/router", tmp_path)["64b-multi / uni"]

    def run() -> Outcome:
        opened = engine.Session(json.dumps(session))
        opened.start(json.dumps(spec))
        assert opened.wait(30)
        result = read_result(opened.result())
        opened.close()
        return result

    found = run()
    assert found.invalid == ()
    assert sorted(address for address, _ in found.resolved) == ["100.64.0.1", "100.64.1.1"]
    # 20 ms at a million frames a second.
    assert (found.streams[0].offered, found.streams[0].lost) == (20_000, 0)
    # Without it the router asks while frames come in, and holds only a few.
    ports = spec["ports"]
    assert isinstance(ports, list)
    for port in ports:
        port["gateway"] = None
    assert run().streams[0].lost > 0
