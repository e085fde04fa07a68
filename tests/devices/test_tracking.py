"""What the kernel's connection table refused: read from `conntrack -S` of Linux 6.18."""

from __future__ import annotations

from typing import Any, cast

import pytest
from netdyno.devices import LabError
from netdyno.devices.linux.features import FEATURES
from netdyno.devices.linux.features.tracking import Refused, check_table, prepare, read_refused
from netdyno.devices.linux.services.service import Lab
from netdyno.devices.wiring import Wiring

COUNTED = (
    "found=0 invalid=0 insert=0 insert_failed=0 drop=0 early_drop=0 error=0 search_restart=0 clash_resolve=0"
    " chaintoolong=0 \n"
)
BEFORE = f"cpu=0   \t{COUNTED}cpu=1   \t{COUNTED}"
OVERFULL = BEFORE.replace("early_drop=0", "early_drop=37856", 1)
"""After 300,000 flows that nobody answered, through a firewall with a table of 262,144."""
NO_ROOM = BEFORE.replace(" drop=0", " drop=12", 1)
"""Where every connection was answered: none is forgotten, and packets are dropped."""
EXHAUSTED = BEFORE.replace("insert_failed=0 drop=0", "insert_failed=6980 drop=6980", 1)
"""After 70,000 flows to one destination through masquerade."""


class Device:
    """Which answers every command with this."""

    def __init__(self, said: str) -> None:
        self.said = said

    def ask(self, command: str) -> tuple[int, str]:
        is_refused = command.startswith("echo ")
        return (1, "Permission denied") if is_refused else (0, self.said)


def lab(said: str, flows: int = 0) -> Lab:
    return Lab(cast(Any, Device(said)), Wiring("real", (), {}, flows=flows))


@pytest.mark.parametrize(
    ("name", "said", "code"),
    [
        ("firewall", OVERFULL, "conntrack-full"),
        ("masquerade", NO_ROOM, "conntrack-full"),
        ("masquerade", EXHAUSTED, "nat-exhausted"),
        ("firewall-nat", EXHAUSTED, "nat-exhausted"),
        ("masquerade", BEFORE, None),
        # Two first packets of a flow at once, on two cores.
        ("firewall", EXHAUSTED, None),
    ],
)
def test_full_table_and_exhausted_pool_have_codes_of_their_own(
    name: str, said: str, code: str | None
) -> None:
    before = read_refused(lab(BEFORE), name)
    assert before == Refused(0, 0)
    if code is None:
        check_table(lab(said), FEATURES[name], before)
        return
    with pytest.raises(LabError) as found:
        check_table(lab(said), FEATURES[name], before)
    assert found.value.code == code
    check_table(lab(said), FEATURES[name], read_refused(lab(said), name))


def test_flows_are_held_against_half_the_table_that_there_is() -> None:
    small = "65536\n30\n120\n"
    found = prepare(lab(small, 32_768), "masquerade")
    assert (found.most, found.udp_s, found.answered_s) == (65_536, 30, 120), "the times could not be set"
    with pytest.raises(LabError) as refused:
        prepare(lab(small, 32_769), "masquerade")
    assert refused.value.code == "too-many-flows"
