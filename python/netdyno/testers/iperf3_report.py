"""What an iperf3 client reports in JSON of a stream, and what its errors mean."""

from __future__ import annotations

from netdyno.values.iperf3 import ReportError, as_carried, read_reports
from netdyno.values.outcome import Carried
from netdyno.values.reason import Reason
from netdyno.values.unmeasured import CongestionRefused, NotConnected, ProgramFailed, ServerBusy

NOT_CONNECTED = ("unable to connect to server", "unable to connect stream")
BUSY = "the server is busy"
REFUSED = "unable to set TCP_CONGESTION"
"""Begin such errors; behind its last colon of the first stands the system's reason."""


def read_report(
    name: str, asked: int, printed: str, to: str = "", complained: str = "", congestion: str = ""
) -> Carried | Reason:
    """What a client reported of a stream of so many connections; the reason if it failed.

    to: its server, `ADDRESS:PORT`. complained: what it printed beside the report. congestion: the control
    that it was asked for.
    """
    try:
        report = read_reports(printed)[0]
        found = as_carried(name, report, report.directions[0])
    except ReportError as error:
        return _failure(name, error, printed, to, complained, congestion)
    if found.connections != asked:
        return ProgramFailed("iperf3", name, f"{found.connections} of {asked} connections were open")
    return found


def _failure(
    name: str, error: ReportError, printed: str, to: str, complained: str, congestion: str
) -> Reason:
    if error.kind == "failed":
        # Of 3.2 and some later ones.
        said = error.said.removeprefix("error - ")
        if said.startswith(NOT_CONNECTED):
            return NotConnected("iperf3", name, to, said.rpartition(": ")[2])
        if said.startswith(BUSY):
            return ServerBusy("iperf3", name, to)
        if said.startswith(REFUSED):
            return CongestionRefused("iperf3", name, congestion)
        return ProgramFailed("iperf3", name, said)
    if not printed.strip():
        return ProgramFailed("iperf3", name, complained or "it printed no report")
    return ProgramFailed("iperf3", name, f"its report is cut or wrong: {printed[-80:]!r}")
