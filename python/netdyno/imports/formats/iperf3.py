"""Reports of iperf3 (`-J`, `--json-stream`): TCP as the method `tcp` has it, UDP as iperf3 counted it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

from netdyno.errors import counted
from netdyno.imports import datagrams
from netdyno.imports.imported import (
    LONGEST_VALUE,
    Imported,
    Importer,
    ImportFileError,
    Known,
    as_text,
    axes_of_name,
    take_repeat,
)
from netdyno.imports.reasons import ImportedConnections, ImportedDatagrams
from netdyno.methods import tcp
from netdyno.values.finding import Result, Table, columns
from netdyno.values.health import Health
from netdyno.values.iperf3 import Direction, Report, ReportError, as_carried, read_reports
from netdyno.values.number import bits, decimal, duration
from netdyno.values.outcome import ConnectionCounts, Outcome, Phase
from netdyno.values.printable import printable
from netdyno.values.rates import line_rate
from netdyno.values.series import Series
from netdyno.values.situation import Situation

TOOL = "iperf3"
SECOND = 10**9
UNKNOWN = Fraction(0)
HOW_TO = "`iperf3 -c HOST -J > FILE` writes a report"
REFUSALS: Mapping[str, tuple[str, str, str]] = {
    "empty": ("", "empty", HOW_TO),
    "text": ("text, not the JSON of iperf3: ", "wrong-format", f"run the test again with `-J`: {HOW_TO}"),
    "damaged": ("", "wrong-format", "a test that was killed leaves no whole report: take it out"),
    "foreign": ("no report of iperf3: ", "wrong-format", HOW_TO),
    "failed": ("iperf3 reports an error: ", "trial-invalid", "a failed test has no result: leave it out"),
}
"""By the kind of a ReportError: what is said before its own words, the code and the hint."""
USUAL_BLOCK = 128 << 10
"""What is written at once unless `-l` says another length, bytes."""
OPTIONS = columns("iperf3 | client | server | -t, -n, -k | -O | -b | -l | -w | -M")
OPTIONS_CAPTION = (
    "Time, bytes or blocks; time omitted at the start; bitrate of each stream; bytes written at once; socket"
    " buffers; MSS."
)


def read(path: Path, content: bytes, known: Known) -> tuple[Imported, ...]:
    """The tests in a file, one or several. Raises ImportFileError."""
    try:
        text = content.decode(json.detect_encoding(content))
    except UnicodeDecodeError as error:
        raise ImportFileError(f"{path}: it is not text", HOW_TO, code="not-utf8") from error
    try:
        reports = read_reports(text)
    except ReportError as error:
        raise _refused(_place(path, error.number), error) from error
    return tuple(_imported(path, number, one, known) for number, one in enumerate(reports, 1))


def _place(path: Path, number: int) -> str:
    return f"{path}: report {number}" if number > 1 else f"{path}"


def _refused(place: str, error: ReportError) -> ImportFileError:
    says, code, hint = REFUSALS[error.kind]
    return ImportFileError(f"{place}: {says}{printable(error.said)}", hint, code=code)


def _imported(path: Path, number: int, report: Report, known: Known) -> Imported:
    place = _place(path, number)
    if report.is_of_server:
        raise ImportFileError(
            f"{place}: it is of a server (`-s`), which does not know what the client counted",
            f"import the client's report: {HOW_TO}",
            code="unsupported",
        )
    if report.protocol not in ("TCP", "UDP"):
        raise ImportFileError(
            f"{place}: it is a test of `{printable(report.protocol)}`, not of TCP or UDP",
            code="unsupported",
        )
    try:
        carried = [as_carried(_name(one), report, one) for one in report.directions]
        series = tuple(each for one in report.directions for each in _series(one))
    except ReportError as error:
        raise _refused(place, error) from error
    is_udp = report.protocol == "UDP"
    if is_udp:
        result = datagrams.as_result([(_name(one), one) for one in report.directions])
    else:
        result = tcp.as_result(carried, (0,))
    axes = axes_of_name(path)
    repeat = take_repeat(axes)
    axes.setdefault("profile", _profile(report))
    axes.setdefault("direction", _direction(report))
    options = _options(report)
    took_ns = max(one.sent.ns for one in report.directions)
    sizes = known.mix.weights if known.mix is not None else ()
    mean = known.mix.mean if known.mix is not None else UNKNOWN
    names = tuple(one.name for one in carried)
    line_fps = line_rate(known.line, mean).amount if known.line is not None and mean else UNKNOWN
    return Imported(
        source=path,
        axes=axes,
        repeat=repeat,
        options=options,
        situation=Situation(names, line_fps, mean),
        spec={
            "streams": [
                {
                    "name": one.name,
                    "flows": one.connections,
                    "sizes": [{"size": size, "weight": weight} for size, weight in sizes],
                    **options,
                }
                for one in carried
            ]
        },
        segments=(),
        outcome=Outcome(
            ConnectionCounts(tuple(carried), SECOND),
            Health(0, 0, 0, 0, 0, None),
            (Phase("traffic", 0, took_ns),),
            series=series,
            is_health_unknown=True,
        ),
        result=_with_options(result, report),
        reason=ImportedDatagrams(TOOL) if is_udp else ImportedConnections(TOOL, report.target_bps or None),
        started=report.started,
        ended=report.started and report.started + timedelta(microseconds=(report.omit_ns + took_ns) // 1000),
        versions={TOOL: report.version} if report.version else {},
    )


def _name(direction: Direction) -> str:
    return "server-client" if direction.is_by_server else "client-server"


def _profile(report: Report) -> str:
    if report.protocol == "UDP":
        return f"{report.streams}-udp-stream{'' if report.streams == 1 else 's'}"
    return f"{report.streams}-connection{'' if report.streams == 1 else 's'}"


def _direction(report: Report) -> str:
    if len(report.directions) > 1:
        return "bidir"
    return "uni-reverse" if report.directions[0].is_by_server else "uni"


def _options(report: Report) -> dict[str, str]:
    """What was asked of a test beside streams and direction, without what iperf3 takes by itself: named and
    written as the parameters of the method `tcp`, so that cases meet those of a plan."""
    found = {
        "server": report.host,
        "duration": _seconds(report.duration_ns) if report.duration_ns else "",
        "bytes": f"{report.asked_bytes}B" if report.asked_bytes else "",
        "blocks": f"{report.asked_blocks}" if report.asked_blocks else "",
        "omit": _seconds(report.omit_ns) if report.omit_ns else "",
        "bitrate": bits(report.target_bps).replace(" ", "").replace("bit/s", "bps")
        if report.target_bps
        else "",
        "length": f"{report.block_bytes}B" if report.block_bytes != USUAL_BLOCK else "",
        "congestion": report.sender_congestion,
        "window": f"{report.asked_socket_bytes}B" if report.asked_socket_bytes else "",
        "mss": f"{report.asked_mss_bytes}" if report.asked_mss_bytes else "",
    }
    return {name: as_text(value)[:LONGEST_VALUE] for name, value in found.items() if value}


def _seconds(ns: int) -> str:
    return f"{decimal(Fraction(ns, SECOND))}s"


def _how_much(report: Report) -> str:
    """How long, or how much was sent: `10 s`, `1,000,000 B`."""
    if report.asked_bytes:
        return _bytes(report.asked_bytes)
    return counted(report.asked_blocks, "block") if report.asked_blocks else duration(report.duration_ns)


def _bytes(size: int | None) -> str:
    """`131,072 B`."""
    return f"{size:,} B" if size else "default"


def _with_options(result: Result, report: Report) -> Result:
    """The result with a table of what was asked for, and of the version and hosts."""
    row = (
        report.version,
        report.local_address,
        report.host,
        _how_much(report),
        duration(report.omit_ns) if report.omit_ns else "none",
        bits(report.target_bps) if report.target_bps else "unlimited",
        _bytes(report.block_bytes),
        _bytes(report.asked_socket_bytes),
        _bytes(report.asked_mss_bytes),
    )
    table = Table("As asked of iperf3", OPTIONS, (tuple(map(as_text, row)),), OPTIONS_CAPTION)
    return replace(result, tables=(*result.tables, table))


def _series(direction: Direction) -> Iterator[Series]:
    """What iperf3 read of the kernel at each interval, of the streams that its own end sent.

    Raises ReportError: no series can be made of it.
    """
    counted = [one for one in direction.intervals if not one.sum.is_omitted]
    ends_ns = list(accumulate(one.sum.ns for one in counted))
    again = [one.sum.retransmitted_segments for one in counted]
    rows: dict[str, tuple[str, int, Sequence[int | None]]] = {
        "RTT": ("ms", 3, [_mean([each.rtt_us for each in one.streams]) for one in counted]),
        "congestion window": ("B", 0, [_sum([each.cwnd_bytes for each in one.streams]) for one in counted]),
        "path MTU": ("B", 0, [_mean([each.pmtu_bytes for each in one.streams]) for one in counted]),
        "retransmitted": (
            "segments",
            0,
            [] if None in again else [*accumulate(number or 0 for number in again)],
        ),
    }
    for name, (unit, scale, values) in rows.items():
        found = {at: value for at, value in zip(ends_ns, values, strict=False) if value is not None}
        if not found:
            continue
        is_counter = name == "retransmitted"
        times, numbers = tuple(found), tuple(found.values())
        try:
            yield Series(TOOL, _name(direction), name, unit, times, numbers, scale, is_counter=is_counter)
        except ValueError as error:
            raise ReportError("foreign", f"its intervals: {error}") from error


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [one for one in numbers if one is not None]
    return sum(known) if known else None


def _mean(numbers: Sequence[int | None]) -> int | None:
    known = [one for one in numbers if one is not None]
    return sum(known) // len(known) if known else None


IMPORTER = Importer(
    name="iperf3",
    tool=TOOL,
    help="reports of iperf3, as `iperf3 -J` prints them, one or several a file",
    most_bytes=64 << 20,
    read=read,
)
