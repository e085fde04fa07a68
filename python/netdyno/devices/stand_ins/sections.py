"""A device whose configuration has sections, as IOS XR and as IOS and FSOS have them, in a file.

Written after how the systems behave, without the code that is tested: lines are looked up in the section they
are in and then in those above it; a line with one value replaces another; an unknown line is refused.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from netdyno.devices.stand_ins.lines import SYSTEMS, System, Word

Node = dict[str, Any]
"""By what identifies a line: `[the line, the node below it]`."""


class RefusedError(Exception):
    """A line that the system does not take, or a commit; its text is the line."""


class Editor:
    """Enters lines into a configuration."""

    def __init__(self, system: System, root: Node) -> None:
        self.system = system
        self.stack: list[tuple[str, Node]] = [("", root)]

    def enter(self, line: str) -> None:
        """Raises RefusedError."""
        if line == "exit" and len(self.stack) > 1:
            self.stack.pop()
            return
        if line == "root" and self.system.has_candidate:
            del self.stack[1:]
            return
        stack = [*self.stack]
        while True:
            name, node = self.stack[-1]
            plain = re.sub(r"^no ", "", line)
            for word in self.system.sections.get(name, ()):
                if re.fullmatch(word.pattern, word.completed(line)):
                    return self._set(word, word.completed(line), node)
                if line == word.absent:
                    return self._remove(word, plain, node)
                gone = plain.removesuffix(" forced") if word.asks else plain
                if plain != line and re.fullmatch(word.pattern, word.completed(gone)):
                    if word.asks and gone == plain:
                        raise RefusedError(line)
                    return self._remove(word, word.completed(gone), node)
                if not self.system.switches and re.fullmatch(word.pattern, f"no {line}"):
                    return self._remove(word, f"no {line}", node)
            if name == "if" and self.system.switches and line == "switchport":
                for key in [key for key in node if key in ("no switchport", "ip address", "ipv6 address")]:
                    del node[key]
                return None
            if len(self.stack) == 1:
                # A line that no section knows leaves none.
                self.stack = stack
                raise RefusedError(line)
            self.stack.pop()

    def _set(self, word: Word, line: str, node: Node) -> None:
        key = word.key(line)
        if re.match(self.system.fixed, line) and key not in node:
            raise RefusedError(line)
        if self.system.switches and "ip address" in line and not {"no switchport", "#routed"} & {*node}:
            # Interfaces switch by default; virtual ones begin routed.
            raise RefusedError(line)
        if key == "no switchport":
            for other in [other for other in node if other.startswith("switchport ")]:
                del node[other]
        if line.startswith("route ") and line.split()[1] not in self._names():
            raise RefusedError(line)
        if key == "nameif":
            node.setdefault(
                "security-level", [f"security-level {100 if line.endswith(' inside') else 0}", {}]
            )
        if re.match(r"ip nat (?:inside|outside)$|zone-member ", line):
            # Comes by itself, and stays when what it came for goes.
            node.setdefault("ip virtual-reassembly in", ["ip virtual-reassembly in", {}])
        old = node.get(key, [line, {}])
        node[key] = [line, old[1]]
        if word.opens:
            if re.match(r"interface (?:VLAN|Loopback|Port-channel|.*\.\d+$)", line):
                node[key][1].setdefault("#routed", ["", {}])
            self.stack.append((word.opens, node[key][1]))

    def _names(self) -> set[str]:
        """Names of interfaces of a firewall."""
        root = self.stack[0][1]
        return {inside["nameif"][0].split()[1] for _, inside in root.values() if "nameif" in inside}

    def _forget_names(self) -> None:
        """Removes the routes of interfaces that have lost their names."""
        root, names = self.stack[0][1], self._names()
        for key in [key for key in root if key.startswith("route ") and key.split()[1] not in names]:
            del root[key]

    def _remove(self, word: Word, line: str, node: Node) -> None:
        if re.match(self.system.fixed, line):
            raise RefusedError(line)
        found = word.key(line) if word.key(line) in node else None
        if found is None and line.startswith(("ip route", "route", "vlan")) and not self.system.has_candidate:
            raise RefusedError(line)
        if found == "ip address" and any(one.endswith(" secondary") for one in node):
            raise RefusedError(line)
        if found:
            del node[found]
        if word.single == "nameif":
            node.pop("security-level", None)
            self._forget_names()
        if bundle := re.match(r"interface Port-channel(\d+)", line):
            for _, inside in node.values():
                if inside.get("channel-group", [""])[0].startswith(f"channel-group {bundle[1]} "):
                    del inside["channel-group"]


def _print(system: System, name: str, node: Node, depth: int) -> str:
    words = system.sections.get(name, ())

    def place(line: str) -> tuple[int, list[tuple[int, str]]]:
        at = next(
            n for n, word in enumerate(words) if line == word.absent or re.fullmatch(word.pattern, line)
        )
        return at, [(int(one), "") if one.isdigit() else (0, one) for one in re.split(r"(\d+)", line)]

    text = ""
    lines = [one for one in node.values() if one[0]]
    lines += [[word.absent, {}] for word in words if word.absent and word.single not in node]
    for line, inside in sorted(lines, key=lambda one: place(one[0])):
        word = words[place(line)[0]]
        text += f"{' ' * depth}{line}\n"
        if word.opens:
            text += _print(system, word.opens, inside, depth + 1) + f"{' ' * depth}!\n"
    return text


class Sections:
    """The device behind its file. Every change is in the file at once, as in a device that keeps running."""

    def __init__(self, path: Path, name: str) -> None:
        """path: of its file. name: of its system, in `lines.SYSTEMS`."""
        self.path, self.name = path, name
        self.system = SYSTEMS[name]

    def create(self, text: str) -> None:
        """Starts it with a configuration, which is also what it boots with."""
        root: Node = {}
        editor = Editor(self.system, root)
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
        editor = Editor(self.system, state["running"])
        for line in text.splitlines():
            editor.enter(line.strip())
        self.save(state)

    def commit(self, state: dict[str, Any], running: Node, confirm_s: int | None) -> None:
        """Makes the candidate of a state effective. running: what it is without. Raises RefusedError."""
        root = state["running"]
        for key in [
            key for key, (line, inside) in root.items() if line.startswith("interface") and not inside
        ]:
            del root[key]
        for line, inside in root.values():
            if "l2transport" in inside and "ipv4 address" in inside:
                raise RefusedError(line)
        trial = {"until": state["clock"] + confirm_s, "was": running} if confirm_s else None
        self.save(state | {"trial": trial})
