"""The comparison with testpmd leaves nothing running."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "bench_peers.py"
STUBBORN = """\
#!/bin/sh
trap '' TERM
echo $$ > "$STUBBORN_ID"
echo "Tx-pps:      7000000"
while :; do sleep 0.1; done
"""


def test_a_testpmd_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("bench_peers", TOOL)
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    program = tmp_path / "dpdk-testpmd"
    program.write_text(STUBBORN)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("STUBBORN_ID", str(tmp_path / "id"))
    monkeypatch.setattr(bench, "SECONDS", 1)
    monkeypatch.setattr(bench, "PATIENCE_S", 0.5)
    assert bench.testpmd("txonly") == 7.0
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "id").read_text()), 0)
