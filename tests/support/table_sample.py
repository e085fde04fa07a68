"""A run whose methods made tables, for the tests of the reports: RFC 2544's sizes, loss over load, latency
percentiles, loss events. Numbers of a device that forwards 5 Mpps and waits longer near that."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from netdyno.values.finding import Column, Figure, Result, Table
from report_sample import Asked, Sample
from words import said_each

BYTES = (64, 128, 256, 512, 1024, 1280, 1518)
CAPACITY = {"ipv4": 5_000_000, "l2-xconnect": 8_000_000}
TENTHS = [Fraction(n, 10) for n in range(10, 0, -1)]
PERCENTILES = [Fraction(text) for text in ("0", "0.5", "0.9", "0.99", "0.999", "0.9999", "0.99999", "1")]
LATENCIES_NS = (8_000, 12_140, 13_500, 19_000, 55_500, 120_000, 1_400_000, 2_100_000)


def line_fps(size: int) -> Fraction:
    return Fraction(10**10, (size + 20) * 8)


def best(asked: Asked) -> tuple[int, Fraction, Fraction]:
    """Frame size, line rate and throughput of a case."""
    size = asked.size
    assert size is not None
    return size, line_fps(size), min(line_fps(size), Fraction(CAPACITY[asked.axes["forwarding"]]))


def throughput(asked: Asked) -> Table:
    size, line, rate = best(asked)
    return Table(
        "Throughput",
        (Column("Frame size", "B"), Column("Theoretical", "fps"), Column("Measured", "fps")),
        ((Fraction(size), line, rate),),
        "RFC 2544 section 26.1: the highest rate at which no frame was lost, of each direction.",
        Figure("Frame size", ("Theoretical", "Measured"), reference=("Theoretical",)),
    )


def loss(asked: Asked) -> Table:
    size, line, rate = best(asked)
    rows = tuple((Fraction(size), share, max(1 - rate / (share * line), Fraction(0))) for share in TENTHS)
    return Table(
        "Frame loss rate",
        (Column("Frame size", "B"), Column("Load", "share"), Column("Loss", "share")),
        rows,
        "RFC 2544 section 26.3: loss at a constant load, in steps of a tenth of the line.",
        Figure("Load", ("Loss",), x_range=(Fraction(0), Fraction(1)), y_range=(Fraction(0), Fraction(1))),
    )


def percentiles(asked: Asked) -> Table:
    rows = tuple(
        (stream, share, Fraction(ns) * (1 + number))
        for number, stream in enumerate(("west-east", "east-west"))
        for share, ns in zip(PERCENTILES, LATENCIES_NS, strict=True)
    )
    return Table(
        "Latency percentiles",
        (Column("Stream"), Column("Percentile", "share"), Column("Latency", "ns")),
        rows,
        "At 90 % of the throughput.",
        Figure("Percentile", ("Latency",), log_x=True, by="Stream"),
    )


def sweep(asked: Asked) -> Table:
    rows = tuple(
        (
            Fraction(load, 100),
            Fraction(load, 100) * 5_000_000,
            Fraction(9_000),
            Fraction(12_000 + max(load - 98, 0) * 90_000),
            Fraction(30_000 + max(load - 97, 0) * 400_000),
        )
        for load in range(90, 101)
    )
    names = ("Min", "Mean", "Max")
    columns = (
        Column("Load", "share"),
        Column("Achieved", "fps"),
        *(Column(name, "ns") for name in names),
    )
    return Table("Latency against load", columns, rows, "", Figure("Load", names))


def events(asked: Asked) -> Table:
    rows = tuple(
        (Fraction(number), Fraction(number * 97_000_000_317), "west-east", Fraction(3 * number), None)
        for number in range(1, 46)
    )
    columns = (
        Column("Event"),
        Column("First frame lost", "at"),
        Column("Stream"),
        Column("Lost", "frames"),
        Column("Note"),
    )
    return Table("Loss events", columns, rows, "Each run of lost frames.")


def found(asked: Asked, result: Result) -> Result:
    """Each direction has all of them, the single flow the loss events as well."""
    tables = (throughput(asked), loss(asked), percentiles(asked), sweep(asked))
    return replace(
        result,
        method="rfc2544",
        standard="RFC 2544",
        compliance=said_each(("the settle phase lasted 0.02 s, RFC 2544 section 23 phase b asks for 2 s",)),
        recommended=said_each(("the final trial lasted 3s, RFC 2544 section 24 asks for at least 60 s",)),
        tables=(*tables, events(asked)) if asked.axes["profile"] == "64b" else tables,
    )


def asked(forwarding: str, size: int) -> Asked:
    axes = {"forwarding": forwarding, "profile": f"{size}b", "direction": "uni"}
    return Asked(axes, CAPACITY[forwarding], size=size)


SUITE = Sample(cases=tuple(asked(forwarding, size) for forwarding in CAPACITY for size in BYTES), found=found)
