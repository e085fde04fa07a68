"""What a generator host answers to who asks it, in this process."""

from __future__ import annotations

from pathlib import Path

from netdyno.hosts.resident import answer


def test_setting_that_a_hosts_kernel_refuses_is_an_answer() -> None:
    # An OSError that leaves here reads as one of the connection to the host.
    message, _, code = answer(Path("/proc/version").write_text, "1")["error"]
    assert code == "command-failed"
    assert message
