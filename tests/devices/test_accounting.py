"""Kernels that count the time of interrupts apart from that of the thread they come in."""

from __future__ import annotations

import gzip
import platform
from pathlib import Path

import pytest
from netdyno.devices.linux.accounting import counts_interrupts_apart

# Of a Linux 6.18, and of one that is built the other way.
TOGETHER = b"""\
CONFIG_TICK_CPU_ACCOUNTING=y
# CONFIG_VIRT_CPU_ACCOUNTING_GEN is not set
# CONFIG_IRQ_TIME_ACCOUNTING is not set
CONFIG_HAVE_SCHED_AVG_IRQ=y
"""
APART = b"""\
CONFIG_VIRT_CPU_ACCOUNTING_GEN=y
CONFIG_IRQ_TIME_ACCOUNTING=y
CONFIG_HAVE_SCHED_AVG_IRQ=y
"""


@pytest.mark.parametrize(
    ("config", "booted_with", "is_apart"),
    [
        (TOGETHER, "quiet", False),
        (APART, "quiet", True),
        (APART, "quiet tsc=noirqtime", False),
        (None, "quiet", False),
    ],
)
@pytest.mark.parametrize("is_in_proc", [True, False])
def test_kernel_that_counts_interrupts_apart_is_known_by_its_configuration(
    config: bytes | None, booted_with: str, is_apart: bool, is_in_proc: bool, tmp_path: Path
) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "boot").mkdir()
    (tmp_path / "proc/cmdline").write_text(f"{booted_with}\n")
    if config is not None and is_in_proc:
        (tmp_path / "proc/config.gz").write_bytes(gzip.compress(config))
    elif config is not None:
        (tmp_path / f"boot/config-{platform.release()}").write_bytes(config)
    assert counts_interrupts_apart(tmp_path) == is_apart
