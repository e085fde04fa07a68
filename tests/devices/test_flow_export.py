"""What softflowd's own capture lost, from `softflowctl statistics` of softflowd 1.1.0."""

from __future__ import annotations

from pathlib import Path

import pytest
from netdyno.devices.linux.features import flow_export

SAID = """\
softflowd[4242]: Accumulated statistics since 2026-11-29T15:00:12 UTC:
Number of active flows: 1024
Packets processed: 185829
Packets received by libpcap: 198464
Packets dropped by libpcap: 12635
Packets dropped by interface: 0
"""


def test_share_that_the_capture_lost_is_a_gauge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow_export, "_ask", lambda *_: SAID)
    found = flow_export.Capture(tmp_path).read(lambda: 1)
    assert {(one.name, one.is_counter, one.scale): sample.value for one, sample in found.items()} == {
        ("seen by its capture", True, 0): 198_464,
        ("lost by its capture", True, 0): 12_635,
        ("lost by its capture, of what it saw", False, 2): 636,
    }
