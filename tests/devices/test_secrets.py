"""Secrets: found for a host first, never printed, and taken out of any text."""

from __future__ import annotations

import copy
import json
import os
import pickle
import resource
import traceback

import pytest
from netdyno.devices import secrets
from netdyno.devices.secrets import Secret, find, redact, variables

WORD = 'h"unter\\2'


@pytest.fixture(autouse=True)
def _none_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_read", set())
    for name in ("USER", "PASSWORD", "SNMP_COMMUNITY"):
        monkeypatch.delenv(f"NETDYNO_{name}", raising=False)


def test_secret_of_the_host_comes_before_the_one_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    assert variables("PASSWORD", "r1.example.net")[0] == "NETDYNO_R1_EXAMPLE_NET_PASSWORD"
    assert find("PASSWORD", "10.0.0.1") is None
    monkeypatch.setenv("NETDYNO_PASSWORD", "all")
    monkeypatch.setenv("NETDYNO_10_0_0_1_PASSWORD", "own")
    found = [find("PASSWORD", host) for host in ("10.0.0.1", "10.0.0.2")]
    assert [one and one.reveal() for one in found] == ["own", "all"]


def test_empty_variable_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", "")
    assert find("PASSWORD", "r1") is None


def test_secret_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", WORD)
    one = find("PASSWORD", "r1")
    assert one is not None
    shown = [repr(one), str(one), f"{one}", f"{one!r:>20}", f"{one:>20}", "%s" % one, repr([one])]  # noqa: UP031
    assert not [text for text in shown if "unter" in text]
    for write in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError) as caught:
            write(one)
        assert "unter" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("wrap", [str, repr, json.dumps, lambda text: f"login {text}{text}!"])
def test_redact_takes_each_secret_out_of_a_text(wrap: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", WORD)
    monkeypatch.setenv("NETDYNO_SNMP_COMMUNITY", "unter")
    assert redact(WORD) == WORD
    find("PASSWORD", "r1")
    find("SNMP_COMMUNITY", "r1")
    found = redact(wrap(WORD))  # type: ignore[operator]
    assert "***" in found
    assert "unter" not in found
    assert redact("no secret here") == "no secret here"


def test_name_of_a_user_is_left_in_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_USER", "cisco")
    one = find("USER", "r1")
    assert isinstance(one, Secret)
    assert redact("cisco IOS") == "cisco IOS"


@pytest.mark.parametrize(("hard", "expected"), [(resource.RLIM_INFINITY, 1), (4096, 1), (0, 0)])
def test_core_dumps_are_off_once_a_secret_is_held(hard: int, expected: int) -> None:
    child = os.fork()
    if child == 0:
        is_right = False
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
            os.environ["NETDYNO_PASSWORD"] = WORD
            find("PASSWORD", "r1")
            is_right = resource.getrlimit(resource.RLIMIT_CORE) == (expected, hard)
        finally:
            os._exit(not is_right)
    assert os.waitpid(child, 0)[1] == 0
