"""Plans changed at random from a fixed seed: `check` answers in time, without a traceback.

NETDYNO_FUZZ is how many; NETDYNO_FUZZ_SEED another seed.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
from pathlib import Path

import pytest
from alarm import at_most
from campaigns import SEARCH
from netdyno.cli.app import main
from netdyno.cli.codes import PASSED, USAGE
from sampling import examples

COUNT = int(os.environ.get("NETDYNO_FUZZ", examples(300)))
SEED = int(os.environ.get("NETDYNO_FUZZ_SEED", "14"))
LIMIT_S = 20

EXAMPLES = sorted((Path(__file__).parent.parent.parent / "examples").glob("*.yaml"))
BASES = [SEARCH, SEARCH, *(path.read_text() for path in EXAMPLES if path.stat().st_size < 3000)]

TOKENS = [
    *("", " ", "\n", "  ", "-", ":", ": ", "{", "}", "[", "]", ",", "#", "&a ", "*a", "!", "!!str "),
    *("|", ">", "'", '"', "\\", '"\\ud83d"', '"\\U0001F600"', "\t", "\0", "\x1b[2J", "\ufeff", "\u202e"),
    *("null", "~", "true", "0", "-1", "1e999", ".inf", ".nan", "0x10", "1/0", "9" * 400, "1e-999"),
    *("64B", "0B", "10Gbps", "-5%", "101%", "imix", "10G", "1s", "0s", "1e30s", "bidir", "throughput"),
    *("ndr", "soak", "linux/router", "emulated/router", "../../etc/passwd", "/dev/zero", "lab.yaml"),
    *("? ", "---\n", "...\n", "<<: *a", "%YAML 1.2\n", "a" * 3000),
]


def mutated(chance: random.Random) -> str:
    """A plan with one to six changes: characters, words, values, lines."""
    text = chance.choice(BASES)
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        lines = text.splitlines(keepends=True) or [""]
        at = chance.randrange(len(lines))
        match chance.randrange(7):
            case 0:
                place = chance.randrange(len(text) + 1)
                text = text[:place] + chance.choice(TOKENS) + text[place + chance.randrange(4) :]
            case 1:
                del lines[at]
                text = "".join(lines)
            case 2:
                lines.insert(chance.randrange(len(lines) + 1), lines[at])
                text = "".join(lines)
            case 3:
                key, colon, _ = lines[at].partition(":")
                lines[at] = f"{key}{colon} {chance.choice(TOKENS)}\n"
                text = "".join(lines)
            case 4:
                lines[at] = " " * chance.randrange(9) + lines[at].lstrip()
                text = "".join(lines)
            case 5:
                words = lines[at].split(" ")
                words[chance.randrange(len(words))] = chance.choice(TOKENS)
                lines[at] = " ".join(words)
                text = "".join(lines)
            case 6:
                text = text[: chance.randrange(len(text) + 1)]
    return text


def code_of(arguments: list[str]) -> tuple[int, str]:
    """Exit code and stderr of a command in this process. What it raises besides is raised."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        at_most(LIMIT_S),
    ):
        patch.setattr(sys, "argv", ["netdyno", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
    assert isinstance(ended.value.code, int)
    # What a program reads must be bytes that can be written.
    (out.getvalue() + err.getvalue()).encode()
    return ended.value.code, err.getvalue()


def test_check_mutated_plans_end_in_time_without_traceback(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    plan = tmp_path / "plan.yaml"
    accepted = 0
    for number in range(COUNT):
        text = mutated(chance)
        plan.write_text(text, encoding="utf-8", newline="")
        try:
            code, err = code_of(["check", str(plan)])
        except BaseException as error:
            raise AssertionError(f"plan {number} of seed {SEED}:\n{text}") from error
        assert code in (PASSED, USAGE), f"plan {number} of seed {SEED}: {err}\n{text}"
        assert code == PASSED or err.startswith("error: "), f"plan {number} of seed {SEED}: {err}\n{text}"
        accepted += code == PASSED
    assert 0 < accepted < COUNT
