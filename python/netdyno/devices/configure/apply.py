"""Applies the configuration of a case and undoes it. The undo is in the journal before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import NoReturn

from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.by_hand import (
    changed_since,
    commands_by_hand,
    is_changed,
    is_ours,
    lost,
    shown,
    with_commands,
)
from netdyno.devices.configure.gateways import find_absent
from netdyno.devices.configure.journal import Journal
from netdyno.devices.configure.systems import find_undoing
from netdyno.devices.configure.tree import diff_text
from netdyno.devices.configure.undo import Undoing
from netdyno.devices.hiding import hide_secrets
from netdyno.devices.live import Applied
from netdyno.devices.reasons import AlreadyThere
from netdyno.devices.shell import Cli
from netdyno.devices.wiring import LabError
from netdyno.values.reason import Reason

ROUNDS = 5
"""Times that the undo is entered: taking one line back may reset others, which the next round restores."""

READINGS = 3
"""Times that a running configuration is read again until two readings are equal."""

WITHIN_S = 120.0
"""Longest time for a device to print its running configuration, or to take another, s."""

UNDO_S = 300.0
"""Longest time for the whole undo, s: then the error has what is left of it."""


@dataclass
class Configurer:
    """Configures one device for one case after another.

    cli: an open session. journal: of the same device, open. allowed: the sections that may be changed.
    run: the folder of the run.
    """

    cli: Cli
    journal: Journal
    allowed: Allowed
    run: str = ""
    _until: float | None = None
    """When the undo is to be over, on the monotonic clock, s; None: nothing is undone."""

    @property
    def _undoing(self) -> Undoing:
        return find_undoing(self.cli.shell)

    def apply(self, text: str, confirm_s: int | None = None) -> Applied:
        """Applies a rendered text, verified by reading back and permanent when it returns.

        What it returns to be stored has no secrets of the configuration.

        confirm_s: the device reverts by itself after so long if this process dies before it has verified
        the text; ignored where the system cannot. Raises LabError: `undo-pending`, `section-not-allowed`,
        `configuration-differs`, `journal-not-written`, `not-applied`, `configuration-lost`, `changed-since`,
        `not-undone`, or as `Cli.configure`. The device is then as before, or the error has the commands that
        make it so.
        """
        if self.journal.pending is not None:
            raise LabError(
                f"{self.journal.identity.host}: an earlier configuration is not undone yet.",
                "undo it first: the next start of a run does it",
                code="undo-pending",
            )
        confirm_s, self._until = confirm_s if self._can_confirm else None, None
        before = self._read_twice()
        lacking = _find_lacking(text, before, self._undoing, self.allowed)
        commands = self._undoing.commands(lacking)
        if not commands:
            has_lines = bool(self._undoing.commands(text))
            return Applied(hide_secrets(text), notes=(AlreadyThere(),) if has_lines else ())
        self.journal.begin(before, lacking, confirm_s, self.run)
        try:
            self.cli.configure(commands, confirm_s, WITHIN_S)
            after = self.read()
            if self._undoing.foreign(before, after, lacking):
                # What others changed meanwhile must not become what we left: the undo would take it back.
                assert self.journal.pending is not None
                raise changed_since(self._undoing, self.journal.pending, after, self.journal.path)
            self.journal.store_left(after)
            if missing := self._undoing.missing(text, after):
                raise LabError(
                    f"{self.journal.identity.host}: not in the running configuration after it was entered: "
                    f"{'; '.join(map(hide_secrets, missing))}.",
                    "write these lines as the device prints them, or take them out of the template",
                    code="not-applied",
                )
            if confirm_s is not None:
                self.cli.confirm()
                # If its timer had run out before, there was nothing left to confirm.
                self._require(after)
        except BaseException as error:
            # Also after Ctrl-C. If this fails too, the journal has it for the next start.
            self._give_up(error)
        return Applied(hide_secrets(text), hide_secrets(diff_text(before, after)), self.undo)

    def undo(self) -> None:
        """Restores the configuration before `apply`, verified by reading back. Does nothing if it has been.

        Raises LabError: `changed-since`, `configuration-lost`, `not-undone`, or as `Cli.configure`.
        """
        entry = self.journal.pending
        if entry is None:
            return
        self._until = monotonic() + UNDO_S
        now = self.read()
        if entry.after != entry.before and not commands_by_hand(self._undoing, entry, now):
            self.journal.mark_undone()
            if entry.is_undoing:
                return
            raise lost(entry.identity.host)
        # An undo that Ctrl-C interrupted is taken up where it was.
        if now != entry.after and not (entry.is_undoing and is_ours(self._undoing, entry, now)):
            raise changed_since(self._undoing, entry, now, self.journal.path)
        self.restore(now)

    def read(self) -> str:
        """The running configuration, without what changes by itself. Raises LabError as `Cli.ask`."""
        return self._undoing.read(self.cli.ask(self.cli.shell.running, self._within_s))

    def _read_twice(self) -> str:
        """A reading that the next one confirms: what it lacks by mistake, the undo would remove."""
        last = self.read()
        for _ in range(READINGS):
            now, before = self.read(), last
            if now == before:
                return now
            last = now
        raise LabError(
            f"{self.journal.identity.host}: the running configuration differs each time it is read:\n"
            f"{hide_secrets(diff_text(before, last))}",
            "configure the device alone; a line that changes by itself belongs into the driver's `volatile`",
            code="not-understood",
        )

    def _require(self, after: str) -> None:
        """Raises LabError `configuration-lost` if the running configuration is not this reading."""
        if self.read() != after:
            raise lost(self.journal.identity.host)

    def restore(self, now: str) -> None:
        """Undoes the pending entry from a reading in which all changes are ours. Raises LabError."""
        entry = self.journal.pending
        assert entry is not None
        if now != entry.before:
            self.journal.mark_undoing()
        if self._until is None:
            self._until = monotonic() + UNDO_S
        refused: LabError | None = None
        for _ in range(ROUNDS):
            commands = self._undoing.undo(now, entry.before)
            if now == entry.before or not commands or monotonic() > self._until:
                break
            try:
                self.cli.configure(commands, None, self._within_s)
            except LabError as error:
                if error.code != "command-refused":
                    raise with_commands(error, commands, self.journal.path) from error
                refused = error
            last, now = now, self.read()
            if now == last:
                break
        if now != entry.before:
            raise LabError(
                f"{entry.identity.host}: the configuration is not undone"
                f"{f' ({refused.message})' if refused else ''}. "
                f"Still needed:\n{shown(self._undoing.undo(now, entry.before), self.journal.path)}",
                "enter these lines in configuration mode; the next start of a run verifies it",
                code="not-undone",
            ) from refused
        self.journal.mark_undone()

    @property
    def _within_s(self) -> float:
        """Longest time for one exchange, s."""
        return WITHIN_S if self._until is None else min(WITHIN_S, max(self._until - monotonic(), 1.0))

    @property
    def _can_confirm(self) -> bool:
        configuring = self.cli.shell.configuring
        return configuring is not None and configuring.confirmed is not None

    def _give_up(self, error: BaseException) -> NoReturn:
        """Undoes what was entered in part, then raises the error."""
        entry = self.journal.pending
        assert entry is not None
        if isinstance(error, LabError) and error.code == "changed-since":
            raise error
        self._until = monotonic() + UNDO_S
        try:
            now = self.read()
            if now != entry.after and not is_ours(self._undoing, entry, now):
                raise changed_since(self._undoing, entry, now, self.journal.path)
            self.restore(now)
        except LabError as second:
            if isinstance(error, LabError):
                commands, is_changed = commands_by_hand(self._undoing, entry), second.code == "changed-since"
                raise with_commands(error, commands, self.journal.path, is_changed=is_changed) from second
            raise second from error
        raise error


@dataclass(frozen=True)
class DryRun:
    """sent: what would be entered. undo: what would probably undo it: the real one follows from what the
    device then prints. diff: the lines that would change. None of them has secrets. warnings: what may be
    different in the real run.
    """

    sent: str
    undo: str
    diff: str
    warnings: tuple[Reason, ...] = ()


def plan_changes(
    text: str, printed: str, undoing: Undoing, allowed: Allowed, gateways: Mapping[str, str] | None = None
) -> DryRun:
    """What a text would do to a printed running configuration.

    gateways: by the name of their link; one that the device would not have then is warned of.
    Raises LabError: `configuration-differs`, or as `Allowed.check`.
    """
    before = undoing.read(printed)
    lacking = _find_lacking(text, before, undoing, allowed)
    after = undoing.predict(before, lacking)
    # Compared as it is predicted, too: a line that stands twice is no change.
    undo, diff = undoing.undo(after, before), diff_text(undoing.predict(before, ""), after)
    sent = undoing.commands(lacking)
    warnings = tuple(find_absent(gateways or {}, after))
    return DryRun(hide_secrets(sent), hide_secrets(undo), hide_secrets(diff), warnings)


def _find_lacking(text: str, before: str, undoing: Undoing, allowed: Allowed) -> str:
    """The part of a text that a reading has not yet. Raises LabError as `plan_changes`."""
    allowed.check(text, before)
    if clashes := undoing.clashes(text, before):
        shown = (
            f"`{hide_secrets(line)}` where the device has `{hide_secrets(old)}`" for line, old in clashes
        )
        raise LabError(
            f"A configuration line cannot be beside what is there: {'; '.join(shown)}.",
            "take it off the device for the test, or write the template as the device has it",
            code="configuration-differs",
        )
    return undoing.lacking(text, before)


def replay(cli: Cli, journal: Journal) -> bool:
    """Undoes the pending entry of a journal; False: there is none, or the device has nothing of it.

    Raises LabError `changed-since` with the commands if the device is not as we left it, nothing being sent
    then; `not-undone`; or as `Cli.configure`.
    """
    entry = journal.pending
    if entry is None:
        return False
    how = find_undoing(cli.shell)
    configurer = Configurer(cli, journal, Allowed())
    now = configurer.read()
    if not commands_by_hand(how, entry, now):
        # Undone by hand, by the device's own timer or by a reboot; others may have changed the rest.
        journal.mark_undone()
        return False
    if is_changed(how, entry, now):
        raise changed_since(how, entry, now, journal.path)
    configurer.restore(now)
    return True
