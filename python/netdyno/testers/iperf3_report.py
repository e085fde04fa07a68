"""What an iperf3 client reports in JSON of a stream."""

from __future__ import annotations

from netdyno.values.iperf3 import ReportError, as_carried, read_reports
from netdyno.values.outcome import Carried
from netdyno.values.reason import Reason
from netdyno.values.unmeasured import ProgramFailed


def read_report(name: str, asked: int, printed: str) -> Carried | Reason:
    """What a client reported of a stream of so many connections; the reason if it failed."""
    try:
        report = read_reports(printed)[0]
        found = as_carried(name, report, report.directions[0])
    except ReportError as error:
        said = error.said if error.kind == "failed" else f"its report is cut or wrong: {printed[-80:]!r}"
        return ProgramFailed("iperf3", name, said)
    if found.connections != asked:
        return ProgramFailed("iperf3", name, f"{found.connections} of {asked} connections were open")
    return found
