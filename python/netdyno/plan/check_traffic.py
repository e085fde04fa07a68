"""The traffic profiles of a plan: frames that hold their headers, and flows that exist."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from netdyno.devices.addresses import count_parts
from netdyno.devices.wiring import Wiring
from netdyno.errors import names
from netdyno.plan.headers import Vlan, distinct_flows, length, odd_fragment, smallest_frame
from netdyno.plan.matrix import Case, taken_by_classes
from netdyno.plan.problems import salvage_part
from netdyno.plan.source import Source
from netdyno.plan.traffic import Profile
from netdyno.values.rates import FCS
from netdyno.values.units import Percent, decimal

STACK = {"ip", "protocol", "vlan", "addresses", "headers"}
"""Fields that say what headers a frame has."""


MOST_FLOWS = 2**28
"""The most flows of a trial, all streams together: crates/engine/src/observe/flows.rs, MOST."""


MOST_CONNECTIONS = 128
"""The most connections of a stream: those of an iperf3."""


def profiles(source: Source, raw: object) -> dict[str, Profile]:
    """The profiles that can be understood, by name."""
    found: dict[str, Profile] = {}
    for name, value in raw.items() if isinstance(raw, dict) else ():
        profile, lost = salvage_part(Profile, value)
        sized = profile is not None and "size" not in lost
        if profile is None and isinstance(value, dict):
            # Whatever its size: the rest is looked at with one that everything fits into.
            profile, lost = salvage_part(Profile, {**value, "size": "9216B"})
        if profile is None:
            continue
        if sized:
            found[str(name)] = profile
        place = ("traffic", name)
        extra = [
            field for field in ("ip", "protocol", "vlan", "addresses") if field in profile.model_fields_set
        ]
        if profile.headers is not None and extra:
            source.report(
                (*place, extra[0]),
                f"`{extra[0]}` beside `headers` says the same thing twice",
                "keep one of them",
                key=True,
                code="given-twice",
            )
        elif profile.headers is None and profile.pool.version != profile.ip:
            source.report(
                (*place, "addresses"),
                f"the addresses are IPv{profile.pool.version} and the profile is IPv{profile.ip}",
                f"say `ip: {profile.pool.version}`, or other addresses",
                code="conflict",
            )
            continue
        if lost & STACK:
            continue  # What its frames are is not known.
        if sized:
            _size(source, place, profile)
        if "flows" not in lost:
            _flows(source, place, profile)
        for traffic in ("", *profile.classes):
            _spacing(source, place, profile, traffic)
        if not profile.probe:
            _alike(source, place, profile)
        for traffic, own in profile.classes.items():
            if own.addresses is not None and own.addresses.version != profile.pool.version:
                source.report(
                    (*place, "classes", traffic, "addresses"),
                    f"the addresses of class `{traffic}` are IPv{own.addresses.version}, and the profile is"
                    f" IPv{profile.pool.version}",
                    "addresses of the profile's version",
                    code="conflict",
                )
            elif own.rate is not None:
                at = (*place, "classes", traffic)
                _size(source, at, profile.of_class(traffic))
                _flows(source, at, profile.of_class(traffic))
    return found


def _size(source: Source, place: tuple[str | int, ...], profile: Profile) -> None:
    """Every frame must hold its headers, a probe and the FCS."""
    least = profile.smallest()
    sizes = [size for size, _ in profile.mix.weights]
    for size in sizes:
        index = odd_fragment(profile.stack, size)
        if index is not None and size >= least:
            over = (size - FCS - length(profile.stack[: index + 1])) % 8
            source.report(
                (*place, "headers", index, "more"),
                f"in frames of {size}B the fragment is no multiple of 8 bytes long, and more follow",
                f"a size such as `{size - over if size - over >= least else size + 8 - over}B`, or no `more`",
                code="out-of-range",
            )
            break
    for size in sizes:
        if size < least:
            key: tuple[str | int, ...] = (*place, "size")
            bare = smallest_frame(profile.stack, probe=False)
            fits_bare = profile.probe and all(one >= bare for one in sizes)
            for spelling in (size, f"{size}B"):
                if (*key, spelling) in source.values:
                    key = (*key, spelling)
            source.report(
                key,
                f"frames of {size}B are too small for their headers: at least {least}B",
                f"headers {length(profile.stack)} B,{' probe 18 B,' if profile.probe else ''} FCS 4 B: give"
                f" `{least}B`, or fewer headers"
                f"{'; without latency and order, `probe: false`' if fits_bare else ''}",
                key=len(key) > len(place) + 1,
                code="frame-too-small",
            )


def _alike(source: Source, place: tuple[str | int, ...], profile: Profile) -> None:
    """That of classes without a probe each can be told by its headers from layer 3 on, or by its sizes."""
    known: dict[object, str] = {}
    for name, own in profile.classes.items():
        found = profile.of_class(name)
        looks = (own.dscp or 0, found.pool.source, found.pool.destination, found.mix.weights)
        if looks in known:
            source.report(
                (*place, "classes", name),
                f"without a probe, frames of `{known[looks]}` and `{name}` cannot be counted apart: they have"
                " the same DSCP and addresses",
                f"give `{name}` a `dscp` or `addresses` of its own, or remove `probe: false`",
                key=True,
                code="conflict",
            )
        known.setdefault(looks, name)


def _spacing(source: Source, place: tuple[str | int, ...], profile: Profile, traffic: str) -> None:
    """Either bursts or arrivals say when each frame leaves. traffic: a class; empty: the profile itself."""
    found = profile.of_class(traffic)
    own = profile.classes[traffic] if traffic else None
    if found.burst == 1 or found.arrival.is_even or (own and own.burst is None and own.arrival is None):
        return
    at = "arrival" if own is None or own.arrival is not None else "burst"
    source.report(
        (*place, *(("classes", traffic) if traffic else ()), at),
        f"`burst: {found.burst}` and `arrival: {found.arrival}` cannot be combined: each says when frames"
        " leave",
        "remove one of them",
        key=True,
        code="conflict",
    )


def _at_most(flows: int) -> str:
    return "`flows: 1`" if flows == 1 else f"`flows: {flows}` or fewer"


def _flows(source: Source, place: tuple[str | int, ...], profile: Profile) -> None:
    have = distinct_flows(profile.stack)
    if profile.flows > have:
        message = (
            f"{profile.flows} flows, but the {'headers' if profile.headers else 'addresses'} make only {have}"
        )
        source.report(
            (*place, "flows"), message, f"{_at_most(have)}, or fields with more values", code="too-many"
        )


def shared_out(source: Source, name: str, profile: Profile, ports: int, *, routed: bool) -> None:
    """That three or more ports can have addresses of their own, each enough for the flows."""
    place = ("traffic", name)
    if profile.headers is not None:
        if routed:
            source.report(
                (*place, "headers"),
                "`headers` give every port the same addresses, and a router sends them all to one port",
                "with three or more links say `addresses`, of which each port gets its own part",
                key=True,
                code="conflict",
            )
        return
    try:
        have = distinct_flows(profile.between(0, 1, ports=ports))
    except ValueError as error:
        source.report(
            (*place, "addresses"),
            f"{error}: too few for three or more links",
            "a larger network",
            code="too-many",
        )
        return
    if profile.flows > have:
        which = {8: "an eighth", 64: "a 64th"}[count_parts(ports)]
        message = f"{profile.flows} flows, but {which} of the addresses, which each port has, makes {have}"
        source.report((*place, "flows"), message, f"{_at_most(have)}, or larger networks", code="too-many")


def too_fast_classes(source: Source, case: Case, wiring: Wiring) -> bool:
    """True if classes with rates of their own leave nothing of a line; the problem is then reported."""
    for port in wiring.ports:
        taken = taken_by_classes(case, port)
        if taken >= 1:
            rated = {name: own.rate for name, own in case.profile.classes.items() if own.rate is not None}
            named = ", ".join(f"`{name}` {rate}" for name, rate in rated.items())
            source.report(
                ("traffic", case.profile_name, "classes", next(iter(rated)), "rate"),
                f"the rates of classes ({named}) take {decimal(100 * taken, 2)} % of the line of"
                f" `{port.name}`: nothing is left for the method's load, in case `{case.name}`",
                "lower rates; a load is of what they leave of the line",
                code="load-above-line",
            )
            return True
    return False


def too_many_flows(source: Source, name: str, profile: Profile, flows: int, streams: int, case: str) -> None:
    """Says of a profile that the streams of a case have more flows than can be told apart."""
    of = f", of {streams} streams," if streams > 1 else ""
    source.report(
        ("traffic", name, "flows"),
        f"{flows} flows in all{of} in case `{case}`; at most {MOST_FLOWS} are told apart",
        _at_most(profile.flows * MOST_FLOWS // flows),
        code="too-many",
    )


def swing(profile: Profile) -> Fraction:
    """How far waves take the load of a method above itself, as a share of it."""
    shared = [name for name, own in profile.classes.items() if own.rate is None] or [""]
    found = ((name, profile.of_class(name).arrival) for name in shared)
    return sum(
        (
            (profile.classes[name].share or Percent(Fraction(0))).amount * arrival.swing.amount
            if name
            else arrival.swing.amount
            for name, arrival in found
            if arrival.period is not None
        ),
        Fraction(0),
    )


def wave_above_line(
    source: Source, place: tuple[str | int, ...], load: str, part: tuple[Fraction, Fraction], case: str
) -> None:
    """Says of a load that its wave goes above the line. part: the crest as a share of the line; the swing."""
    crest, depth = part
    source.report(
        place,
        f"a load of {load} is {decimal(100 * crest, 2)} % of the line at the crest of its wave, in case"
        f" `{case}`",
        f"at most `{decimal(Fraction(int(1000 / (1 + depth)), 10), 1)}%`, or less `depth`",
        code="load-above-line",
    )


def uneven_load(source: Source, name: str, profile: Profile, method: str) -> None:
    """Says of a profile whose frames do not leave evenly that a method has a load of its own shape."""
    uneven = next(
        traffic for traffic in profile.classes or ("",) if not profile.of_class(traffic).arrival.is_even
    )
    own = uneven and profile.classes[uneven].arrival is not None
    source.report(
        ("traffic", name, *(("classes", uneven) if own else ()), "arrival"),
        f"`{method}` changes its load by itself and cannot be combined with"
        f" `arrival: {profile.of_class(uneven).arrival}`",
        "use a method of constant loads, such as `sweep`, `ndr`, `throughput` or `soak`, or remove `arrival`",
        key=True,
        code="unsupported",
    )


def probes_needed(source: Source, name: str, method: str, counting: Sequence[str]) -> None:
    """Says of a profile without probes that its cases need them.

    counting: methods that would not; none where routes are why.
    """
    who, hint = "`routes` are checked", "remove `probe: false`, or `routes` from the matrix"
    if counting:
        who = f"`{method}` tells frames apart"
        hint = f"remove `probe: false`, or use a method that only counts: {names(counting)}"
    source.report(
        ("traffic", name, "probe"),
        f"{who} by the probe in each frame, and frames of `{name}` have none",
        hint,
        key=True,
        code="unsupported",
    )


def of_connections(source: Source, name: str, profile: Profile, method: str) -> None:
    """A profile of connections has one size, the longest frame, and as many flows as they are."""
    place = ("traffic", name)
    said = profile.model_fields_set - {"size", "flows"}
    for field in sorted(said):
        source.report(
            (*place, field),
            f"`{method}` opens connections, whose frames the tester's kernel makes: `{field}` cannot be said",
            "say `size` and `flows` alone",
            key=True,
            code="unsupported",
        )
    if len(profile.mix.weights) > 1:
        source.report(
            (*place, "size"),
            f"`{method}` opens connections, and their segments are as long as fits: a mix cannot be said",
            "the longest frame: `size: 1518B`",
            code="unsupported",
        )
    message = f"`{method}` opens a connection for each flow, at most {MOST_CONNECTIONS} of a stream"
    hint = "say how many: `flows: 5`"
    if "flows" not in profile.model_fields_set:
        source.report(place, message, hint, key=True, code="missing-field")
    elif profile.flows > MOST_CONNECTIONS:
        source.report((*place, "flows"), message, hint, code="out-of-range")


def no_tags(source: Source, name: str, profile: Profile, kind: str, case: str) -> None:
    """Says of a profile with VLAN tags that the device of a case takes none."""
    tags = [place for place, header in enumerate(profile.stack) if isinstance(header, Vlan)]
    outermost = 1  # behind Ethernet; what is farther in belongs to whoever opens the tunnel
    if outermost not in tags:
        return
    written: tuple[str | int, ...] = ("headers", outermost) if profile.headers is not None else ("vlan",)
    source.report(
        ("traffic", name, *written),
        f"frames of `{name}` have a VLAN tag, and `{kind}` has no VLANs in case `{case}`: it would not"
        " answer, and drop them",
        "take the tag out, or give a device that forwards tagged frames, such as `emulated/bridge`",
        key=profile.headers is None,
        code="unsupported",
    )
