"""Why the engine refused, failed or has a trial that does not count: codes and fields, across the door."""

from __future__ import annotations

import json
import pickle

import pytest
from netdyno import _engine
from netdyno.values.engine_reason import EngineReason


def test_engine_error_of_unreadable_spec_has_code_fields_and_no_hint() -> None:
    with pytest.raises(_engine.EngineError) as caught:
        _engine.Session("{")
    error = caught.value
    assert (error.code, error.fields["what"], error.hint) == ("spec-unreadable", "session", None)


def test_engine_error_of_wrong_session_has_code_and_hint() -> None:
    ports = [{"name": "west", "backend": {"kind": "wire"}}]
    with pytest.raises(_engine.EngineError) as caught:
        _engine.Session(json.dumps({"clock": "real", "ports": ports}))
    assert (caught.value.code, caught.value.hint is None) == ("session-spec", False)


def test_engine_error_of_result_without_trial_has_its_code() -> None:
    session = _engine.Session(
        json.dumps({"clock": "real", "ports": [{"name": "west", "backend": {"kind": "null"}}]})
    )
    for code, ask in (("no-trial", session.result), ("no-trial", session.snapshot)):
        with pytest.raises(_engine.EngineError) as caught:
            ask()
        assert (caught.value.code, caught.value.fields) == (code, {})
    session.close()
    with pytest.raises(_engine.EngineError) as caught:
        session.ports()
    assert caught.value.code == "session-closed"


def test_reason_copied_to_another_process_keeps_code_and_fields() -> None:
    reason = EngineReason.of("nobody", "memif-ended", {"port": "west", "waited_ms": 5})
    copy = pickle.loads(pickle.dumps(reason))
    assert copy == reason
    assert (copy.kind, copy.about) == ("memif-ended", {"port": "west", "waited_ms": 5})


def test_code_of_each_reason_is_its_own_and_has_a_meaning() -> None:
    known = json.loads(_engine.reasons())
    assert len({one["code"] for one in known}) == len(known)
    assert all(one["meaning"].endswith(".") and len(one["meaning"]) <= 120 for one in known)
