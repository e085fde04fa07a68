"""Exit codes of the command line; docs/reference.md lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netdyno.errors import NetdynoError

PASSED, MISSED, USAGE, NOT_MEASURED, NO_NUMBER, OUT_OF_TIME, INTERRUPTED = 0, 1, 2, 3, 4, 124, 130

MEANINGS: Mapping[int, str] = {
    PASSED: "every goal was met, or the plan has none; of `calibrate`: no check failed;"
    " of `compare`: no side is worse than the limit, or there is none",
    MISSED: "a goal was missed, or an acceptance test failed; of `calibrate`: a check failed;"
    " of `compare`: a side is worse",
    USAGE: "the command line or the plan is wrong, or an interface that `send` and `ndr` are given is not"
    " there or in use; nothing was started. Or a record cannot be read; of `verify`: it is damaged",
    NOT_MEASURED: "could not measure (port, device, permission, full disk), a result is `invalid`,"
    " a goal or criterion (of `compare`: the limit) could not be judged and none was missed, or a report"
    " could not be written",
    NO_NUMBER: "everything was measured, and no case has a number of the device, as when nothing came back,"
    " or the tester was the limit in every case and the plan has no goal",
    OUT_OF_TIME: "the `--time-limit` ended the run before every case was measured; finished trials are kept",
    INTERRUPTED: "interrupted; finished trials are kept",
}
"""What each code says to a script."""


def code_of(error: NetdynoError) -> int:
    """The exit code of an error that ends a command."""
    from netdyno.calibration import CalibrationError
    from netdyno.devices.wiring import LabError
    from netdyno.hosts.door import HostError
    from netdyno.store import NoRoomError
    from netdyno.testers.tester import TesterError, TesterMissingError

    not_measured = LabError | HostError | TesterError | TesterMissingError | NoRoomError | CalibrationError
    return NOT_MEASURED if isinstance(error, not_measured) else USAGE
