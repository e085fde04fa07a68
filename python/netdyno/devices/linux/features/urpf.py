"""Reverse path forwarding (RFC 3704): sources that are not routed back, or not that way, are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netdyno.devices.linux.features.feature import STRANGER, Feature, Packet, Step, do
from netdyno.devices.linux.services.service import Lab


@dataclass(frozen=True)
class ReversePath(Feature):
    """The kernel's own check. mode: of `rp_filter`, 1 strict, 2 loose (the kernel's ip-sysctl)."""

    mode: int = 1

    def install(self, lab: Lab) -> None:
        self._set(lab, self.mode)

    def remove(self, lab: Lab) -> None:
        self._set(lab, 0)

    def _set(self, lab: Lab, mode: int) -> None:
        for name in lab.ports:
            do(lab, f"echo {mode} > /proc/sys/net/ipv4/conf/{name}/rp_filter", self.name)

    def proof(self, lab: Lab) -> Sequence[Step]:
        spoofed = Packet(source="48.0.0.77")
        is_strict = self.mode == 1
        what = f"a source behind the other port is {'let through' if is_strict else 'dropped'}"
        return (
            Step(Packet(), "it lets no packet pass"),
            Step(spoofed, what, comes=not is_strict),
            Step(Packet(source=STRANGER), "a source without a route is let through", comes=False),
        )


FEATURES = (
    ReversePath("urpf-strict", "sources must be routed back the way they came (RFC 3704, 2.2)", (), mode=1),
    ReversePath("urpf-loose", "sources must be routed anywhere (RFC 3704, 2.4)", (), mode=2),
)
