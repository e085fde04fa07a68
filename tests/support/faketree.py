"""A device whose configuration has sections, as IOS XR and as IOS and FSOS have them, in a file.

Written after how the systems behave, without the code that is tested: lines are looked up in the section they
are in and then in those above it; a line with one value replaces another; an unknown line is refused.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.devices.drivers.shell import Configuring, Shell
from netdyno.devices.wiring import LabError

Node = dict[str, Any]
"""By what identifies a line: `[the line, the node below it]`."""


@dataclass(frozen=True)
class Word:
    """A line of a section. single: words of which the section has one line. opens: the section it begins."""

    pattern: str
    single: str = ""
    opens: str = ""

    def key(self, line: str) -> str:
        """What identifies the line among its kind."""
        return self.single or line


def _values(*names: str) -> tuple[Word, ...]:
    return tuple(Word(rf"{name}(?: .+)?", name) for name in names)


@dataclass(frozen=True)
class System:
    """The lines of each section, in the order in which they are printed; `` is the top."""

    shell: Shell
    sections: dict[str, tuple[Word, ...]]
    has_candidate: bool
    fixed: str
    """Pattern of interfaces that cannot be removed."""


_TOP = (*_values("hostname"), Word(r"username .+"), Word(r"aaa .+"), Word(r"banner .+"))
_VTY = (Word(r"line vty .+", opens="vty"),)
XR = System(
    Shell(
        "cisco_xr",
        (),
        "show running-config",
        (r"^!! ", r"^Building"),
        configuring=Configuring(commit="commit", confirmed="commit confirmed {seconds}", abort="abort"),
        grammar="cisco_xr",
    ),
    {
        "": (
            *_TOP,
            Word(r"arp vrf \S+ \S+ \S+ ARPA"),
            Word(r"interface \S+(?: l2transport)?", opens="if"),
            Word(r"router static", opens="static"),
            Word(r"l2vpn", opens="l2vpn"),
            *_VTY,
        ),
        "vty": _values("exec-timeout", "transport input"),
        "if": (
            *_values("description", "bundle id", "bundle load-balancing hash", "mtu", "ipv4 address"),
            *_values("load-interval", "shutdown"),
            Word(r"l2transport", opens="l2"),
        ),
        "l2": _values("mtu"),
        "static": (Word(r"address-family ipv[46] unicast", opens="af"),),
        "af": (Word(r"[\d.]+/\d+ \S+"),),
        "l2vpn": (
            *_values("load-balancing flow"),
            Word(r"xconnect group \S+", opens="xc"),
            Word(r"bridge group \S+", opens="bg"),
        ),
        "xc": (Word(r"p2p \S+", opens="p2p"),),
        "p2p": (Word(r"interface \S+"),),
        "bg": (Word(r"bridge-domain \S+", opens="bd"),),
        "bd": (*_values("mtu"), Word(r"interface \S+", opens="ac")),
        "ac": (*_values("static-mac-address"),),
    },
    True,
    "(?!)",
)
IOS = System(
    Shell("cisco_ios", (), "show running-config", (r"^Current",), configuring=Configuring(), grammar="fs_os"),
    {
        "": (
            *_TOP,
            Word(r"vlan \d+", opens="vlan"),
            Word(r"interface \S+ ?[\d/.]*", opens="if"),
            Word(r"router ospf \d+", opens="ospf"),
            Word(r"ip route \S+ \S+ \S+"),
            Word(r"arp \S+ \S+ arpa"),
            *_VTY,
        ),
        "vty": _values("exec-timeout", "transport input"),
        "vlan": _values("name"),
        "if": (
            *_values("description"),
            Word(r"no switchport"),
            *_values("mtu"),
            *_values("switchport mode", "switchport access vlan", "switchport trunk allowed vlan"),
            Word(r"switchport dot1q-tunnel allowed vlan.*", "switchport dot1q-tunnel allowed vlan"),
            *_values("switchport dot1q-tunnel native vlan", "spanning-tree bpdufilter"),
            *_values("ip address", "ipv6 address", "channel-group", "shutdown"),
        ),
        "ospf": (Word(r"network \S+ \S+ area \S+"), *_values("graceful-restart")),
    },
    False,
    r"interface (?:TenGig|Forty)\w+ \d",
)
SYSTEMS = {"xr": XR, "ios": IOS}


class _RefusedError(Exception):
    pass


class _Editor:
    """Enters lines into a configuration."""

    def __init__(self, system: System, root: Node) -> None:
        self.system = system
        self.stack: list[tuple[str, Node]] = [("", root)]

    def enter(self, line: str) -> None:
        """Raises _RefusedError."""
        if line == "exit" and len(self.stack) > 1:
            self.stack.pop()
            return
        if line == "root" and self.system.has_candidate:
            del self.stack[1:]
            return
        while True:
            name, node = self.stack[-1]
            plain = re.sub(r"^no ", "", line)
            for word in self.system.sections.get(name, ()):
                if re.fullmatch(word.pattern, line):
                    return self._set(word, line, node)
                if plain != line and re.fullmatch(word.pattern, plain):
                    return self._remove(word, plain, node)
            if name == "if" and not self.system.has_candidate and line == "switchport":
                for key in [key for key in node if key in ("no switchport", "ip address", "ipv6 address")]:
                    del node[key]
                return None
            if len(self.stack) == 1:
                raise _RefusedError(line)
            self.stack.pop()

    def _set(self, word: Word, line: str, node: Node) -> None:
        key = word.key(line)
        if re.match(self.system.fixed, line) and key not in node:
            raise _RefusedError(line)
        if (
            not self.system.has_candidate
            and "ip address" in line
            and not {"no switchport", "#routed"} & {*node}
        ):
            # Interfaces switch by default; virtual ones begin routed.
            raise _RefusedError(line)
        if key == "no switchport":
            for other in [other for other in node if other.startswith("switchport ")]:
                del node[other]
        old = node.get(key, [line, {}])
        node[key] = [line, old[1]]
        if word.opens:
            if re.match(r"interface (?:VLAN|Loopback|Port-channel)", line):
                node[key][1].setdefault("#routed", ["", {}])
            self.stack.append((word.opens, node[key][1]))

    def _remove(self, word: Word, line: str, node: Node) -> None:
        if re.match(self.system.fixed, line):
            raise _RefusedError(line)
        found = word.key(line) if word.key(line) in node else None
        if found is None and line.startswith(("ip route", "vlan")) and not self.system.has_candidate:
            raise _RefusedError(line)
        if found:
            del node[found]
        if bundle := re.match(r"interface Port-channel(\d+)", line):
            for _, inside in node.values():
                if inside.get("channel-group", [""])[0].startswith(f"channel-group {bundle[1]} "):
                    del inside["channel-group"]


def _print(system: System, name: str, node: Node, depth: int) -> str:
    def place(line: str) -> tuple[int, list[tuple[int, str]]]:
        words = system.sections.get(name, ())
        at = next(number for number, word in enumerate(words) if re.fullmatch(word.pattern, line))
        return at, [(int(one), "") if one.isdigit() else (0, one) for one in re.split(r"(\d+)", line)]

    text = ""
    for line, inside in sorted((one for one in node.values() if one[0]), key=lambda one: place(one[0])):
        word = next(word for word in system.sections[name] if re.fullmatch(word.pattern, line))
        text += f"{' ' * depth}{line}\n"
        if word.opens:
            text += _print(system, word.opens, inside, depth + 1) + f"{' ' * depth}!\n"
    return text


class FakeDevice:
    """The device behind its file. Every change is in the file at once, as in a device that keeps running."""

    def __init__(self, path: Path, system: str) -> None:
        self.path = path
        self.system = SYSTEMS[system]

    def create(self, text: str) -> None:
        """Starts it with a configuration, which is also what it boots with."""
        root: Node = {}
        editor = _Editor(self.system, root)
        for line in text.splitlines():
            if line.strip() and not line.strip().startswith("!"):
                del editor.stack[1 + len(line) - len(line.lstrip()) :]
                if re.match(self.system.fixed, line):
                    root[line] = [line, {}]
                editor.enter(line.strip())
        self.save({"running": root, "boot": root, "trial": None, "clock": 0})

    def load(self) -> dict[str, Any]:
        """Its state; a commit for a time that has passed is taken back."""
        state: dict[str, Any] = json.loads(self.path.read_text())
        if state["trial"] and state["clock"] >= state["trial"]["until"]:
            state["running"], state["trial"] = state["trial"]["was"], None
        return state

    def save(self, state: dict[str, Any]) -> None:
        """Stores its state as a whole."""
        spare = self.path.with_suffix(".new")
        spare.write_text(json.dumps(state))
        spare.rename(self.path)

    def text(self) -> str:
        """Its configuration as it prints it, byte for byte."""
        return _print(self.system, "", self.load()["running"], 0)

    def pass_time(self, seconds: int) -> None:
        """Lets its clock go on."""
        state = self.load()
        state["clock"] += seconds
        self.save(state)

    def reboot(self) -> None:
        """Starts it again with what it boots with."""
        state = self.load()
        self.save(state | {"running": state["boot"], "trial": None})

    def edit(self, text: str) -> None:
        """An administrator's change."""
        state = self.load()
        editor = _Editor(self.system, state["running"])
        for line in text.splitlines():
            editor.enter(line.strip())
        self.save(state)


def _ignore(_what: str) -> None:
    pass


@dataclass
class FakeCli:
    """A session. step: called around everything that the device does, with what that is; it may kill."""

    device: FakeDevice
    step: Callable[[str], None] = _ignore

    @property
    def shell(self) -> Shell:
        """Of its system."""
        return self.device.system.shell

    def ask(self, command: str, within_s: float = 15.0) -> str:
        """Only its running configuration."""
        assert command == self.shell.running
        self.step("ask")
        self.device.pass_time(1)
        clock = self.device.load()["clock"]
        text = self.device.text()
        self.step("asked")
        head = (
            f"Sun Nov  1 00:00:{clock % 60:02}.123 UTC\nBuilding configuration...\n!! Last change {clock}\n"
        )
        return f"{head}Current configuration : {clock} bytes\n!\n{text}end\n\n".replace("\n", "\r\n")

    def configure(self, text: str, confirm_s: int | None = None, within_s: float = 30.0) -> str:
        """Candidate and commit, or each line at once."""
        state = self.device.load()
        running = state["running"]
        if self.device.system.has_candidate:
            state["running"] = copy.deepcopy(running)
        editor = _Editor(self.device.system, state["running"])
        for line in text.splitlines():
            self.step("line")
            try:
                editor.enter(line.strip())
            except _RefusedError as error:
                raise LabError(f"refused: {line.strip()}", code="command-refused") from error
            if not self.device.system.has_candidate:
                self.device.save(state)
            self.step("entered")
        if self.device.system.has_candidate:
            self._commit(state, running, confirm_s)
        return ""

    def _commit(self, state: dict[str, Any], running: Node, confirm_s: int | None) -> None:
        root = state["running"]
        for key in [
            key for key, (line, inside) in root.items() if line.startswith("interface") and not inside
        ]:
            del root[key]
        for line, inside in root.values():
            if "l2transport" in inside and "ipv4 address" in inside:
                raise LabError(f"% Failed to commit: {line}", code="command-refused")
        self.step("commit")
        trial = {"until": state["clock"] + confirm_s, "was": running} if confirm_s else None
        self.device.save(state | {"trial": trial})
        self.step("committed")

    def confirm(self) -> None:
        """Ends the time of a commit."""
        self.step("confirm")
        self.device.save(self.device.load() | {"trial": None})
        self.step("confirmed")
