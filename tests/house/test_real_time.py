"""Outside of tests/real nothing runs in real time, and nothing builds a namespace."""

from __future__ import annotations

import subprocess
import sys

import pytest
import real_time
from campaigns import ENVIRONMENT
from netdyno.devices.linux import device, namespaces
from netdyno.testers.netdyno import raw


def refused() -> str:
    (why,) = real_time.REFUSED
    real_time.REFUSED.clear()
    return why


def test_a_session_in_real_time_outside_of_real_is_refused() -> None:
    with pytest.raises(RuntimeError, match="move it to tests/real"), raw({"clock": "real", "ports": []}):
        pass
    assert "opens a session in real time" in refused()


@pytest.mark.parametrize("builder", [namespaces.tester_namespace, device.device_namespace])
def test_a_namespace_outside_of_real_is_refused(builder: object) -> None:
    assert callable(builder)
    with pytest.raises(RuntimeError, match="move it to tests/real"), builder():
        pass
    assert "builds a network namespace" in refused()


def test_a_program_that_a_test_starts_is_refused_too() -> None:
    code = "from netdyno.testers.netdyno import raw\nraw({'clock': 'real', 'ports': []}).__enter__()"
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True)
    assert "move it to tests/real" in done.stderr
