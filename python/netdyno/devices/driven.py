"""What a kind does through its driver: shared by your own devices and by emulated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from netdyno.devices.drivers.driver import Driver, Facts, Reached
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from netdyno.devices.configure.dry import DryRun
    from netdyno.devices.configure.mistakes import TemplateMistake


class Driven:
    """A kind with a driver, or without one: `kind.Looked` and `kind.Configures`."""

    driver: Driver | None
    reached: Reached

    def look(self) -> Facts | None:
        """What it says of itself, read by its driver."""
        return None if self.driver is None or self.driver.look is None else self.driver.look(self.reached)

    def find_mistakes(self, cases: Sequence[Mapping[str, str]]) -> Iterator[tuple[TemplateMistake, ...]]:
        """The mistakes of each case's template that show without the device; cases: their settings."""
        return iter(()) if self.driver is None else self.driver.find_mistakes(self.reached, cases)

    def read_templates(self, settings: Mapping[str, str]) -> Mapping[str, str]:
        """The templates beside the plan that a case uses: name and text. Raises LabError."""
        return {} if self.driver is None else self.driver.read_templates(self.reached, settings)

    def await_turn(self, say: Callable[[Reason], None]) -> None:
        """Returns once no other netdyno configures the device; said if it is not at once. Raises LabError."""
        if self.driver is not None and self.driver.await_turn is not None:
            self.driver.await_turn(self.reached, say)

    def dry_run(self, settings: Mapping[str, str]) -> DryRun:
        """What a case would enter, read by its driver."""
        assert self.driver is not None, "a checked plan has one"
        return self.driver.plan_case(self.reached, settings)
