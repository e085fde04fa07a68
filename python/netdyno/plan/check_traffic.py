"""The traffic profiles of a plan: frames that hold their headers, and flows that exist."""

from __future__ import annotations

from netdyno.plan.headers import distinct_flows, length, most_flows, odd_fragment, smallest_frame
from netdyno.plan.problems import salvage_part
from netdyno.plan.source import Source
from netdyno.plan.traffic import Profile
from netdyno.plan.writes import find_overlaps
from netdyno.values.rates import FCS

STACK = {"ip", "protocol", "vlan", "addresses", "headers"}
"""Fields that say what headers a frame has."""


MOST_FLOWS = 2**28
"""The most flows of a trial, all streams together: crates/engine/src/observe/flows.rs, MOST."""


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
            source.report_key(
                (*place, extra[0]),
                f"`{extra[0]}` beside `headers` says the same thing twice",
                "keep one of them",
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
        _writes(source, place, profile)
        _back(source, place, profile)
        if sized:
            _size(source, place, profile)
        if "flows" not in lost:
            _flows(source, place, profile)
        for traffic in ("", *profile.classes):
            _spacing(source, place, profile, traffic)
        _alike(source, place, profile)
        for traffic, own in profile.classes.items():
            found_of = profile.of_class(traffic)
            if own.addresses is not None and found_of.headers is not None:
                source.report_key(
                    (*place, "classes", traffic, "addresses"),
                    f"`addresses` of class `{traffic}` beside `headers` says the same thing twice",
                    "keep one of them",
                    code="given-twice",
                )
            elif own.addresses is not None and own.addresses.version != profile.pool.version:
                source.report(
                    (*place, "classes", traffic, "addresses"),
                    f"the addresses of class `{traffic}` are IPv{own.addresses.version}, and the profile is"
                    f" IPv{profile.pool.version}",
                    "addresses of the profile's version",
                    code="conflict",
                )
            elif own.bursts is not None and len(found_of.mix.weights) > 1:
                source.report_key(
                    (*place, "classes", traffic, "bursts"),
                    f"frames of `{traffic}` have several sizes: how long a burst of so many takes is open",
                    "one size of its own: `size: 64B`",
                    code="unsupported",
                )
            elif own.own:
                at = (*place, "classes", traffic)
                if own.writes is not None:
                    _writes(source, at, found_of)
                if own.back is not None:
                    _back(source, at, found_of)
                _size(source, at, found_of)
                _flows(source, at, found_of)
    return found


def _writes(source: Source, place: tuple[str | int, ...], profile: Profile) -> None:
    """What is written changes neither the probe nor a checksum."""
    for problem in find_overlaps(profile.writes, profile.stack, probe=profile.probe):
        source.report((*place, "writes", *problem.at), problem.message, problem.hint, code=problem.code)


def _back(source: Source, place: tuple[str | int, ...], profile: Profile) -> None:
    """What comes back has room for its headers, and as many flows."""
    if profile.back is None:
        return
    back = profile.of_way(True)
    _writes(source, (*place, "back"), back)
    if profile.mix.smallest >= profile.smallest():
        _size(source, place, back)
    _flows(source, place, back)


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
            last = max((write.end for write in profile.writes), default=0)
            parts = f"headers {length(profile.stack)} B,{' probe 18 B,' if profile.probe else ''}"
            if last + FCS == least:
                parts += f" a write up to byte {last - 1},"
            fits_bare = profile.probe and all(one >= bare for one in sizes)
            for spelling in (size, f"{size}B"):
                if (*key, spelling) in source.values:
                    key = (*key, spelling)
            source.report(
                key,
                f"frames of {size}B are too small for their headers: at least {least}B",
                f"{parts} FCS 4 B: give `{least}B`, or fewer headers"
                f"{'; without latency and order, `probe: false`' if fits_bare else ''}",
                key=len(key) > len(place) + 1,
                code="frame-too-small",
            )


def _alike(source: Source, place: tuple[str | int, ...], profile: Profile) -> None:
    """That of classes without a probe each can be told by its headers from layer 3 on, or by its sizes."""
    known: dict[object, str] = {}
    for name, own in profile.classes.items():
        found = profile.of_class(name)
        if found.probe:
            continue
        headers = None if own.headers is None else str([one.model_dump() for one in own.headers])
        looks = (own.dscp or 0, found.pool.source, found.pool.destination, found.mix.weights, headers)
        if looks in known:
            source.report_key(
                (*place, "classes", name),
                f"without a probe, frames of `{known[looks]}` and `{name}` cannot be counted apart: they have"
                " the same DSCP and addresses",
                f"give `{name}` a `dscp` or `addresses` of its own, or remove `probe: false`",
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
    source.report_key(
        (*place, *(("classes", traffic) if traffic else ()), at),
        f"`burst: {found.burst}` and `arrival: {found.arrival}` cannot be combined: each says when frames"
        " leave",
        "remove one of them",
        code="conflict",
    )


def at_most(flows: int) -> str:
    return "`flows: 1`" if flows == 1 else f"`flows: {flows}` or fewer"


def _flows(source: Source, place: tuple[str | int, ...], profile: Profile) -> None:
    writes = profile.writes
    have = most_flows(profile.headers, writes) if profile.headers else distinct_flows(profile.stack, writes)
    if profile.flows > have:
        given = "" if "flows" in profile.model_fields_set else " unless given"
        what = "headers" if profile.headers else "addresses"
        message = f"{profile.flows} flows{given}, but the {what} make only {have}"
        source.report(
            (*place, "flows"), message, f"{at_most(have)}, or fields with more values", code="too-many"
        )
