"""What netdyno says when something is wrong: what, where, why, and what to do instead."""

from __future__ import annotations

import difflib
import errno
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

CODES: Mapping[str, str] = {
    # Of a plan, a file or an option.
    "bad-plan": "The plan has mistakes; each has a code of its own",
    "cannot-read": "A file, or a device's counters, cannot be read",
    "changes-above-loads": "While routes change more is sent than under the loads of the plan",
    "conflict": "Two settings exclude each other",
    "empty": "A list or mapping is empty, and needs an entry",
    "frame-too-small": "A frame has no room for its headers",
    "given-twice": "A name, value or port is given twice",
    "goal-above-line": "No line carries the rate that a goal asks for",
    "goal-not-of-method": "The plan's method does not find the value that a goal is for",
    "load-above-line": "A load is more than the line carries",
    "missing-field": "A field is missing",
    "no-case": "No case is left of the matrix",
    "no-such-file": "A file does not exist",
    "not-a-table": "A file is no MRT dump of a routing table, or only a part of one",
    "not-beside-the-plan": "An included file is outside the plan's folder",
    "not-utf8": "A file is not UTF-8 text",
    "not-yaml": "A file is not plain YAML",
    "out-of-range": "A value is outside its limits",
    "not-forwarded": "A router drops packets of this kind",
    "profile-failed": "A traffic profile of T-Rex raised, took too long, or returned no streams",
    "secret-refused": "A secret stands where it does not belong",
    "shared-subnet": "Two links of a router are in one subnet",
    "too-large": "A file has too many bytes, values, levels or aliases",
    "too-many": "More cases, flows, loads or parts than netdyno can hold",
    "trial-too-short": "A trial is too short to tell anything",
    "unknown-field": "A field is unknown, or does not belong here",
    "unknown-name": "Nothing has this name",
    "unsupported": "The device, method, pattern or tester cannot do this",
    "wrong-count": "The number of entries is wrong",
    "wrong-format": "A text is not written as needed",
    "wrong-order": "Headers stand in an order that no frame has",
    "wrong-type": "A value has the wrong type: a list for a number, a number for a text",
    "wrong-unit": "A quantity has no unit, or a wrong one",
    # Of a device that a driver reaches.
    "algorithms-differ": "A device speaks only old algorithms of SSH",
    "certificate-refused": "The certificate of a device is not trusted",
    "command-refused": "A device refused a command",
    "device-unreachable": "A device cannot be reached",
    "driver-differs": "Another system answers than the one that a plan's driver is for",
    "host-key-changed": "A device has another host key than before",
    "host-key-unknown": "The host key of a device is not in known_hosts",
    "login-missing": "No environment variable has what a device asks for at login",
    "login-refused": "A device refused the login",
    "not-understood": "A device prints something that netdyno does not understand",
    "lag-all-dead": "All members of a LAG are to be dead at once, so the device stops it",
    "lag-silence-short": "LACP is to be silent for less time than a device takes to notice",
    "lag-not-formed": "LACP brought up no member of a LAG of the tester; each has its reason",
    "session-refused": "A device is no routing neighbour of the tester's: its side differs, or is not there",
    "table-incomplete": "A device took in fewer routes than the tester announced",
    "session-lost": "The session with a device ended",
    "too-long": "A device answers without end",
    "total-differs": "A device printed a total that its own rows do not add up to",
    "no-template": "netdyno cannot read what a command of this system prints",
    # Of the configuration of a device.
    "changed-since": "Somebody changed the device since netdyno configured it, so it is not undone",
    "configuration-differs": "A configuration line cannot be beside what the device has",
    "configuration-lost": "The configuration of a case was gone before the case ended",
    "device-in-use": "Another netdyno uses this device",
    "journal-damaged": "The stored undo of a device is damaged",
    "journal-not-written": "The undo of a device cannot be stored",
    "not-applied": "A configuration line is not in effect after it was entered",
    "not-undone": "The configuration before a case could not be restored",
    "section-not-allowed": "A configuration line may not be entered without `allow:`",
    "template-wrong": "A configuration template is missing or has a mistake",
    "undo-pending": "An earlier configuration of the device is not undone yet",
    # Of the machine, the lab and the tester.
    "bug": "netdyno has a bug; the run's folder has its trace",
    "command-failed": "A command that sets up the device failed",
    "device-ended": "A program of the device ended during the run",
    "device-silent": "A device, or a program of it, does not answer",
    "extra-missing": "A Python package that a plan needs is not installed",
    "host-lost": "A generator host, or its worker, ended or does not answer in time",
    "host-not-encrypted": "A port of Dask that others can reach has no TLS",
    "host-settings": "Dask's scheduler or a worker has other settings than generator hosts need",
    "host-unreachable": "A generator host or Dask's scheduler is not there",
    "host-version": "A generator host has another version of netdyno",
    "interface-in-use": "This machine uses an interface itself",
    "interface-unfit": "An interface cannot be used with this backend",
    "line-down": "The line of a port stays down",
    "loopback-interface": "A plan uses this machine's loopback, which no device is behind",
    "no-cable": "Ports that should face each other do not",
    "no-loopback": "A port does not receive what it sends",
    "no-memory": "A load test needs more memory than there is",
    "no-namespace": "The kernel gives no network namespace",
    "no-process": "No process could be started for a load test",
    "no-routing-daemon": "The device runs no routing daemon that answers the user of its login",
    "no-rights": "This user lacks a right",
    "not-askable": "netdyno cannot ask this device to do this",
    "no-such-interface": "This machine, or a device, has no interface of this name",
    "port-in-use": "Another program listens at this port of this machine",
    "port-absent": "The other end of a port does not exist",
    "process-ended": "A process of a load test or of its check ended unexpectedly",
    "ports-not-joinable": "Ports cannot be joined with each other for calibration",
    "refused-by-system": "The operating system refused something",
    "too-few-cores": "A plan asks for cores that this machine, or this process, has not",
    "tester-missing": "The tester cannot be loaded",
    "tester-unfit": "The tester's program is too old, or another one of its name",
    "tester-preempted": "The tester was preempted in every attempt",
    "conntrack-full": "The connection table of a device's service was full",
    "nat-exhausted": "A service of a device had no address and port left to translate to",
    "too-many-flows": "The traffic has more flows than a service of the device has room for",
    "service-bypassed": "Test frames came through a device past its service",
    "service-idle": "No test frame came to the service of a device",
    "service-unavailable": "A device cannot be given the service",
    "service-unproven": "A service of a device does not do what it says",
    "tool-missing": "A program is not installed",
    "trial-invalid": "No attempt at a trial was valid",
    # Of what is stored.
    "cannot-write": "Nothing can be written to a folder",
    "disk-full": "The disk is full or fails",
    "newer-calibration": "A newer netdyno wrote the calibration",
    "newer-store": "A newer netdyno wrote the run",
    "no-such-run": "The folder holds no run",
    "not-a-calibration": "The file is no calibration",
    "not-a-store": "The file is no store of netdyno",
    "nothing-stored": "The run was stopped before anything was stored",
    "old-store": "A netdyno before 0.1.0 wrote the run",
    "other-plan": "The stored run belongs to another plan",
    "run-in-use": "Another process writes the run",
    "store-damaged": "The store is damaged",
}
"""What kind of mistake an error is, for programs: each code and its meaning. Sentences may change."""


class NetdynoError(Exception):
    """Something a user, a file, a device or a network got wrong. Not for bugs: those are assertions.

    code: what kind of mistake it is, for programs: one of `CODES`, or what the tester calls it.
    """

    def __init__(self, message: str, hint: str | None = None, *, code: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code


class Problem(ValueError):  # noqa: N818, it becomes part of an error
    """One mistake in a value. A ValueError, so that pydantic validators may raise it.

    at: path from the value to the part of it that is wrong, if it has parts. code: one of `CODES`.
    """

    def __init__(
        self, message: str, hint: str | None = None, at: tuple[str | int, ...] = (), *, code: str
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.at = at
        self.code = code

    def below(self, *above: str | int) -> Problem:
        """The same mistake, told of a value that this one is a part of."""
        return Problem(self.message, self.hint, (*above, *self.at), code=self.code)


class Problems(ValueError):  # noqa: N818
    """Several mistakes in one value, so that all of them are reported at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problem.message for problem in self.problems))


@dataclass(frozen=True, order=True)
class PlanError:
    """One mistake in a plan. line and column count from 1, as editors do; both 0: the file as a whole.

    path: where it is in the plan, `traffic.imix.size`. code: one of `CODES`.
    """

    line: int
    column: int
    path: str
    message: str
    hint: str | None = None
    file: str = "plan.yaml"
    code: str = field(kw_only=True)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.message}"


MOST_ALIKE = 3
"""The same mistake more often than this is reported once, with its first places."""


def _once(errors: Sequence[PlanError]) -> Iterator[PlanError]:
    """The mistakes, each that was made many times over at its first place, with how often that was."""
    alike: dict[tuple[object, ...], list[PlanError]] = {}
    for error in errors:
        alike.setdefault(_mistake(error), []).append(error)
    for error in errors:
        same = alike[_mistake(error)]
        if len(same) <= MOST_ALIKE:
            yield error
        elif error is same[0]:
            places = ", ".join(f"{one.line}:{one.column}" for one in same[1:MOST_ALIKE])
            more = len(same) - MOST_ALIKE
            yield replace(
                error, message=f"{error.message} ({len(same)} times: also at {places} and at {more} more)"
            )


def _mistake(error: PlanError) -> tuple[object, ...]:
    """The key of one mistake: a value of a wrong type is the same mistake under the same name."""
    name = re.sub(r"\[[0-9]+\]", "", error.path.rpartition(".")[2])
    return error.file, error.code, name if error.code == "wrong-type" else error.message, error.hint


class PlanErrors(NetdynoError):  # noqa: N818, there are several
    """Every mistake of a plan, sorted by position. Nothing has been started."""

    def __init__(self, file: str, errors: Iterable[PlanError]) -> None:
        self.file = file
        # What an alias repeats stands at one place, and is one mistake.
        told = {(error.file, error.line, error.column, error.message): error for error in errors}
        in_order = [told[key] for key in sorted(told, key=lambda key: (key[0] != file, *key))]
        self.errors = tuple(_once(in_order))
        super().__init__(self.render(), code="bad-plan")

    def render(self) -> str:
        """The mistakes as lines of text, each followed by its hint."""
        lines = []
        for error in self.errors:
            lines.append(str(error))
            if error.hint:
                lines.append(f"  hint: {error.hint}")
        return "\n".join(lines)


def as_written(value: object) -> str:
    """A value as YAML writes it, cut to 40 characters."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def names(known: Iterable[str]) -> str:
    """`a`, `b` and `c`."""
    quoted = [f"`{name}`" for name in known]
    if not quoted:
        return "none"
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


CHANGED = "changed-since"
"""The error of a device that others have changed: no run undoes it."""
_COMMANDS = re.compile(r"[.;]\s(?:by hand|still needed):", re.IGNORECASE)


def without_commands(text: str) -> str:
    """The sentences of a message before the commands to enter by hand that it goes on with."""
    found = _COMMANDS.search(text)
    return text if found is None else f"{text[: found.start()]}."


def counted(number: int, what: str) -> str:
    """`1 case`, `3 cases`, `1,000 cases`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def as_cabling(cables: Sequence[Sequence[str]]) -> str:
    """``cable `a` with `b`, `c` with `d` ``: of ports in pairs; one alone takes a loopback plug."""
    joined = [" with ".join(f"`{name}`" for name in pair) for pair in cables if len(pair) == 2]
    plugs = [pair[0] for pair in cables if len(pair) == 1]
    each = [f"cable {', '.join(joined)}"] if joined else []
    each += (
        [f"put a loopback plug into {'each of ' if len(plugs) > 1 else ''}{names(plugs)}"] if plugs else []
    )
    return ", ".join(each)


_ADVICE = {
    errno.ENOSPC: "the disk is full: `df -h` shows which; `--out` and `TMPDIR` name folders elsewhere",
    errno.EDQUOT: "your share of the disk is used up: `quota` shows it; `--out` names a folder elsewhere",
    errno.EROFS: "nothing can be written there: take a folder elsewhere",
    errno.EACCES: "look at the rights of it and of its folder: `ls -ld`",
    errno.EMFILE: "too many files are open: `ulimit -n`",
    errno.ENFILE: "too many files are open on this machine: `sysctl fs.file-max`",
    errno.ENOMEM: "there is not enough memory: `ulimit -v`, and memory.max of the cgroup",
}


def advice(error: OSError) -> str | None:
    """What helps where the operating system refused something; None: nothing is known."""
    return _ADVICE.get(error.errno or 0)


SHORTEST = 3
"""Letters of a known name that, written in full, is taken to be meant."""


def closest(name: str, known: Iterable[str]) -> list[str]:
    """All known names, those spelled most like `name` first."""
    table = list(known)
    lower = {candidate.lower(): candidate for candidate in reversed(table)}
    near = [lower[match] for match in difflib.get_close_matches(name.lower()[:100], lower, n=3, cutoff=0.6)]
    return near + [candidate for candidate in table if candidate not in near]


def suggestion(name: str, known: Iterable[str], what: str = "known", meant: Sequence[str] = ()) -> str:
    """A hint for an unknown name: the nearest, and then what there is. meant: known names that may be."""
    table = list(known)
    if meant:
        others = [one for one in table if one not in meant]
        ors = " or ".join(f"`{one}`" for one in meant)
        return f"did you mean {ors}? {what}: {names((*meant, *others))}"
    lower = [candidate.lower() for candidate in table]
    ordered = closest(name, table)
    if not ordered:
        return f"{what}: none"
    near = difflib.get_close_matches(name.lower()[:100], lower, n=1, cutoff=0.6)
    longer = [one for one in table if len(one) >= SHORTEST and name.lower().startswith(one.lower())]
    if longer and not near:
        # `bidirectional` for `bidir`: too long to be spelled alike.
        near = [max(longer, key=len)]
        ordered = [near[0], *(one for one in ordered if one != near[0])]
    listed = f"{what}: {names(ordered)}"
    return f"did you mean `{ordered[0]}`? {listed}" if near else listed
