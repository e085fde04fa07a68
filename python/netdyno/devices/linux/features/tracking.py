"""The kernel's connection table: room for the flows of a test, and what found none."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from netdyno.devices.linux.features.feature import Feature, do
from netdyno.devices.linux.services.service import Lab
from netdyno.devices.reasons import ConnectionTable
from netdyno.devices.wiring import LabError

UDP_S = 300
"""How long an entry of UDP is to stay without a frame: as RFC 4787 (REQ-5) recommends. By the kernel's own
30 s a flow of very many would be a new one whenever it is its turn."""

_SETTING = "/proc/sys/net/netfilter/nf_conntrack_"
_TIMEOUTS = (f"{_SETTING}udp_timeout", f"{_SETTING}udp_timeout_stream")


def prepare(lab: Lab, name: str) -> ConnectionTable:
    """Has entries stay for `UDP_S`, where this may be set; what the table is like then. name: of the feature.
    Raises LabError where the flows of the test are more than half of it."""
    for setting in _TIMEOUTS:
        # Where it is refused the report has what holds.
        lab.device.ask(f"echo {UDP_S} > {setting}")
    # The size is the whole machine's: a namespace reads it.
    said = do(lab, f"cat {_SETTING}max {' '.join(_TIMEOUTS)}", name)
    most, udp_s, answered_s = map(int, said.split())
    flows = lab.wiring.flows
    if flows > most // 2:
        raise LabError(
            f"the traffic has {flows} flows, and the service `{name}` room for {most} connections"
            " (`nf_conntrack_max`), half of which a test may have",
            f"take {most // 2} flows or fewer, or `sudo sysctl net.netfilter.nf_conntrack_max={2 * flows}`",
            code="too-many-flows",
        )
    return ConnectionTable(most, udp_s, answered_s)


@dataclass(frozen=True)
class Refused:
    """What the kernel could not keep since the namespace was made. full: connections forgotten, or packets
    dropped, as the table was full. untranslated: packets dropped as no address and port was free."""

    full: int
    untranslated: int


def read_refused(lab: Lab, name: str) -> Refused:
    """From `conntrack -S`, which counts by core. Raises LabError."""
    counts: Counter[str] = Counter()
    for what, number in re.findall(r"(\w+)=(\d+)", do(lab, "conntrack -S", name)):
        counts[what] += int(number)
    failed = counts["insert_failed"]
    # A packet that finds no place in the table is in `drop`, too.
    return Refused(counts["early_drop"] + max(counts["drop"] - failed, 0), failed)


def check_table(lab: Lab, feature: Feature, before: Refused) -> None:
    """Raises LabError where the table or the translation refused anything since then."""
    now = read_refused(lab, feature.name)
    if now.full > before.full:
        raise LabError(
            f"the connection table of the service `{feature.name}` was full: the kernel forgot connections or"
            f" dropped packets {now.full - before.full} times",
            "take fewer flows, or a larger table: `sudo sysctl net.netfilter.nf_conntrack_max=...`",
            code="conntrack-full",
        )
    if feature.translates and now.untranslated > before.untranslated:
        raise LabError(
            f"the service `{feature.name}` dropped {now.untranslated - before.untranslated} packets: no"
            " address and port was free to translate them to",
            "take fewer flows, or more destinations: toward each one an address has about 60,000 ports; or"
            " `nat-pool`, which has fourteen addresses",
            code="nat-exhausted",
        )
