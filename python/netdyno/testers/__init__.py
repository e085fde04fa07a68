"""What makes and counts the traffic. Only `testers.netdyno` loads the engine or writes a TrialSpec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from netdyno.values.offer import EVERY_OFFER, Offer

if TYPE_CHECKING:
    from netdyno.plan import Tables
    from netdyno.testers.tester import Tester


@dataclass(frozen=True)
class TesterEntry:
    """A tester as a plan can name it, known before it is loaded. module: has it as `TESTER`."""

    name: str
    offers: frozenset[Offer]
    module: str

    def load(self) -> Tester:
        """The tester. Raises TesterMissingError."""
        from netdyno.testers.tester import TesterMissingError

        try:
            tester: Tester = import_module(self.module).TESTER
        except ImportError as error:
            raise TesterMissingError(
                f"the tester `{self.name}` cannot be loaded: {error}", "install it, or name another `tester:`"
            ) from error
        return tester


TESTERS: Mapping[str, TesterEntry] = {
    tester.name: tester for tester in (TesterEntry("netdyno", EVERY_OFFER, "netdyno.testers.netdyno"),)
}
"""Every tester, by the name a plan uses."""


def tables() -> Tables:
    """What there is to name in a plan, testers included."""
    from netdyno.plan import Tables

    return replace(Tables.real(), testers={name: entry.offers for name, entry in TESTERS.items()})
