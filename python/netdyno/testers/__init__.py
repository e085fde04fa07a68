"""What makes and counts the traffic. Only `testers.netdyno` loads the engine or writes a TrialSpec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from netdyno.devices.extras import find_missing
from netdyno.values.offer import ENGINE_OFFERS, Offer
from netdyno.values.table import load_entry

if TYPE_CHECKING:
    from netdyno.plan import Tables
    from netdyno.testers.tester import Tester


@dataclass(frozen=True)
class TesterEntry:
    """A tester as a plan can name it, known before it is loaded. module: has it as `TESTER`."""

    name: str
    offers: frozenset[Offer]
    module: str
    extra: str = ""
    """What it needs beside netdyno itself (devices/extras.py); empty: nothing."""

    @classmethod
    def own(cls, name: str, *offers: Offer, extra: str = "") -> TesterEntry:
        """The tester of the module here with that name."""
        return cls(name, frozenset(offers), f"netdyno.testers.{name}", extra)

    def load(self) -> Tester:
        """The tester. Raises TesterMissingError."""
        from netdyno.testers.tester import Tester, TesterMissingError

        missing = find_missing(self.extra, f"the tester `{self.name}`") if self.extra else None
        if missing is not None:
            raise TesterMissingError(missing.message, missing.hint, code="tester-missing")
        try:
            return load_entry(self.module, "TESTER", Tester)  # type: ignore[type-abstract]
        except ImportError as error:
            raise TesterMissingError(
                f"the tester `{self.name}` cannot be loaded: {error}",
                "install it, or name another `tester:`",
                code="tester-missing",
            ) from error


_ALL = (
    TesterEntry.own("netdyno", *ENGINE_OFFERS),
    TesterEntry.own("iperf3", Offer.CONNECTIONS, Offer.SERVERS, extra="tcp"),
)  # fmt: skip
TESTERS: Mapping[str, TesterEntry] = {tester.name: tester for tester in _ALL}
"""Every tester, by the name a plan uses."""


def read_versions(tester: str) -> dict[str, str]:
    """As `Tester.versions`, of a tester by its name on the machine that this runs on. Raises
    TesterMissingError."""
    return TESTERS[tester].load().versions()


def tables() -> Tables:
    """What there is to name in a plan, testers included."""
    from netdyno.plan import Tables

    return replace(Tables.real(), testers={name: entry.offers for name, entry in TESTERS.items()})
