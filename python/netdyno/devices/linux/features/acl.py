"""Access lists: rules in a row or as a set, with and without a log of what they let pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from netdyno.devices.linux.features.feature import COUNTER, HOST, INSIDE, NftFeature, Packet, Step
from netdyno.devices.linux.services.service import Lab
from netdyno.devices.reasons import LogUnread
from netdyno.values.reason import Reason

TO_GROUP = "log group 5"
FIRST_DENIED = IPv4Address("198.51.100.1")
"""RFC 5737: nobody's traffic is from there."""


@dataclass(frozen=True)
class Acl(NftFeature):
    """Of so many rules the last one lets test packets pass, the others deny hosts that are not in the test.

    log: what is logged of what the last rule lets pass.
    """

    counts_frames = True
    count_of_rules: int = 25
    as_set: bool = False
    log: str = ""

    def rules(self, lab: Lab) -> Sequence[str]:
        denied = [str(FIRST_DENIED + number) for number in range(self.count_of_rules - 1)]
        passes = "ip saddr != 203.0.113.0/24"
        in_set = [f"ip saddr {{ {', '.join(denied)} }} drop"] if denied else []
        return (
            "chain forward {",
            "type filter hook forward priority 0; policy drop;",
            f"iifname != {INSIDE} accept",
            *(in_set if self.as_set else (f"ip saddr {one} drop" for one in denied)),
            # A limit ends its rule: what is beyond it goes on to the next one.
            *((f"{passes} {self.log}",) if self.log else ()),
            f"{passes} counter name {COUNTER} accept",
            "}",
        )

    def notes(self) -> tuple[Reason, ...]:
        return (LogUnread(),) if self.log == TO_GROUP else ()

    def proof(self, lab: Lab) -> Sequence[Step]:
        last = str(FIRST_DENIED + self.count_of_rules - 2)
        denied = (Step(Packet(source=last), "a host that it denies is let through", comes=False),)
        return (
            Step(Packet(source=HOST), "it lets no test packet pass"),
            *(denied if self.count_of_rules > 1 else ()),
            Step(Packet(source="203.0.113.9"), "what no rule permits is let through", comes=False),
        )


RULES = (1, 25, 50, 100, 250)
SETS = (25, 250)
LIMITED = 'limit rate 5/second log prefix "netdyno "'

FEATURES = (
    *(
        Acl(f"acl-{count}", f"an access list of {count} rules, looked at in a row", count_of_rules=count)
        for count in RULES
    ),
    *(
        Acl(
            f"acl-{count}-set", f"an access list of {count} rules as a set", count_of_rules=count, as_set=True
        )
        for count in SETS
    ),
    Acl("acl-25-log", "25 rules in a row, and five log lines a second", log=LIMITED),
    Acl("acl-25-nflog", "25 rules in a row, and each packet to a log group", log=TO_GROUP),
)
