"""`netdyno send`: exact on an emulated device, and what it refuses."""

from __future__ import annotations

import io
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from commands import said
from netdyno.campaign.events import Looked
from netdyno.campaign.reasons import REASONS
from netdyno.campaign.run import Outcome
from netdyno.cli.app import cli
from netdyno.cli.quick import Asked
from netdyno.cli.quick_options import IPERF3, LETTERS
from netdyno.cli.send import _summary, send
from netdyno.cli.send_view import SendView
from netdyno.reports.model.from_store import view
from netdyno.reports.model.headline import headline
from netdyno.store import open_run
from netdyno.testers.tester import Progress
from netdyno.values.interval import NOTHING, StreamInterval, TrialInterval
from netdyno.verdict.uneven import SentUnevenly

ROUTER = ("send", "--emulated", "router", "--setting", "capacity=1Mpps")


def test_emulated_router_s_loss_is_exact_by_second(tmp_path: Path) -> None:
    done = said(*ROUTER, "--rate", "80%", "-t", "2.5", cwd=tmp_path, COLUMNS="80")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("west -> east  64 B, 1 Gbit/s line, 4,096 flows, emulated")
    # 80 % of the line is 1,190,476 frames/s, and a queue of 1,024 frames fills in the first second.
    assert [line.split()[:9] for line in lines[2:5]] == [
        ["1", "s", "1.19", "Mpps", "1.00", "Mpps", "189", "k", "15.9"],
        ["2", "s", "1.19", "Mpps", "1.00", "Mpps", "190", "k", "16.0"],
        ["2.5", "s", "1.19", "Mpps", "1.00", "Mpps", "95.2", "k", "16.0"],
    ]
    summary = lines[lines.index("") + 1 :]
    assert [line.split()[0] for line in summary if line[0] != " "] == [
        *("2.5", "received", "latency", "limit", "next", "details")
    ]
    assert "2,976,191 sent, 2,501,024 received, 475,167 lost (15.97 %)" in summary[0]


def test_each_second_has_its_line_however_fast_virtual_time_passes(tmp_path: Path) -> None:
    done = said("send", "--emulated", "router", "-t", "200", cwd=tmp_path, COLUMNS="80")
    lines = done.stdout.splitlines()
    seconds = lines[2 : lines.index("")]
    assert [line.split()[:4] for line in seconds] == [
        [str(second), "s", "14.9", "kpps"] for second in range(1, 201)
    ]
    assert {len(line) for line in seconds} == {75}


def test_rate_of_a_line_is_of_its_interval_behind_missing_ones() -> None:
    stream = io.StringIO()
    tenth = TrialInterval(9, 10 * 10**9, (StreamInterval(1000, 1000, 0, NOTHING),))
    view = SendView(stream, stream, 10**9, 80)
    view.event(Looked(0, "part 1 of 1", 0, Progress("traffic", 0, 0, intervals=(tenth,))))
    assert stream.getvalue().split()[:6] == ["10", "s", "1.00", "kpps", "1.00", "kpps"]


def test_json_is_one_object_and_the_run_is_stored(tmp_path: Path) -> None:
    done = said(*ROUTER, "-J", "-b", "10M", "-t", "2", "-i", "1", "-R", "-u", "-P", "16", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    # 10 Mbit/s of L1 are 14,880.95 frames of 64 B a second.
    assert (found["sent"], found["lost"], found["limit"]) == (29762, 0, "none")
    assert [one["streams"][0]["sent"] for one in found["intervals"]] == [14881, 14881]
    with open_run(tmp_path / found["run"], REASONS) as stored:
        assert stored.head.name == "send-west-east"
        assert [case.state for case in stored.cases] == ["done"]
    verified = said("verify", found["run"], cwd=tmp_path)
    assert verified.returncode == 0
    reported = said("report", found["run"], cwd=tmp_path)
    assert "Intervals" in reported.stdout


def test_uneven_load_is_the_same_in_the_summary_and_in_the_report(tmp_path: Path) -> None:
    said(*ROUTER, "--rate", "1%", "-t", "0.1", cwd=tmp_path)
    (folder,) = (tmp_path / "runs").iterdir()
    with open_run(folder, REASONS) as stored:
        run = view(stored)
    (case,) = run.cases
    assert case.result is not None
    note = SentUnevenly(30_000_000, 1, 1)
    uneven = replace(run, cases=(replace(case, result=replace(case.result, notes=(note,))),))
    limits = [dict(_summary(one, Outcome(folder, 0), Asked()))["limit"] for one in (run, uneven)]
    assert limits[1] == f"{limits[0]}; {note}"
    assert any(str(note)[1:] in line for line in headline(uneven).caveats)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give two ports"),
        (("eth1",), "give two ports"),
        (("eth1", "eth2", "--emulated", "router"), "give two ports"),
        (("--emulated", "rooter"), "did you mean `router`"),
        (("--emulated", "router", "--via", "10.0.0.1"), "--via: leave it out"),
        (("--emulated", "router", "--rate", "100Gbps"), "of the line"),
        (("--emulated", "router", "--rate", "80"), "--rate"),
        (("--emulated", "router", "--rate", "1%", "-b", "1M"), "the same"),
        (("--emulated", "router", "-b", "fast"), "no bit rate of iperf3"),
        (("--emulated", "router", "-b", "1.2.3"), "no bit rate of iperf3"),
        (("--emulated", "router", "-t", "soon"), "-t"),
        (("--emulated", "router", "-i", "7ms"), "-i"),
        (("--emulated", "router", "--bidir", "-R"), "--bidir"),
        (("--emulated", "router", "--size", "63B"), "63B"),
        (("--emulated", "router", "--vlan", "10", "--size", "64B"), "68B"),
        (("-c", "10.0.0.1"), "needs no server"),
        (("--emulated", "router", "-l", "1400"), "--size"),
        (("--emulated", "router", "--length", "1400"), "--length of iperf3: netdyno counts"),
        (("--emulated", "router", "--bitrate=fast"), "-b: `fast`"),
        (("--memif", "a", "--memif", "b", "--memif", "c"), "two sockets"),
        (("--memif", "a", "--via", "router"), "--via"),
        (("--memif", "a", "--bidir", "--via", "10.0.0.1"), "--bidir"),
        (("--memif", "a", "--via", "10.0.0.1"), "no address to send to"),
        (("--memif", "a", "--via", ",10.0.0.1"), "no address to send to"),
    ],
)
def test_what_is_not_understood_is_said_and_nothing_is_stored(
    arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    done = said("send", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert list(tmp_path.iterdir()) == []


# All letters of `iperf3 --help`, 3.12.
OF_IPERF3 = "pfiIFABVJdvhsD1cXubtnklPRwCMN46SLZOT"
UNKNOWN = {"-I", "-X", "-d", "-v"}
"""Of a daemon, of SCTP and of iperf3 itself."""


@pytest.mark.parametrize("command", ["send", "ndr"])
def test_letters_of_iperf3_are_understood_or_answered(command: str) -> None:
    known = {word for one in cli.commands[command].params for word in one.opts} | {"-h"}
    assert {f"-{letter}" for letter in OF_IPERF3} - known - set(IPERF3) == UNKNOWN
    assert not set(LETTERS) & known
    assert set(LETTERS.values()) <= known | set(IPERF3)


def test_long_words_of_iperf3_are_its_letters(tmp_path: Path) -> None:
    asked = (
        "--udp",
        "--bitrate",
        "10M",
        "--parallel=16",
        "--reverse",
        "--time",
        "2",
        "--interval",
        "0",
        "--json",
    )
    found = json.loads(said("send", "--emulated", "router", *asked, cwd=tmp_path).stdout)
    assert (found["sent"], found["streams"]) == (29762, ["east-west"])
    assert [one["streams"][0]["sent"] for one in found["intervals"]] == [29762]
    (plan,) = tmp_path.glob("runs/*")
    with open_run(plan, REASONS) as stored:
        assert "flows: 16" in stored.head.plan


def test_command_that_is_proposed_asks_for_the_same_again() -> None:
    given = ["eth1", "eth2", "--address", "10.0.1.2/24", "--setting", "a=b", "--setting", "c=d"]
    given += ["--bidir", "--vlan", "10", "-P", "7", "--memif", "@s", "--force"]

    def asked(arguments: list[str]) -> Asked:
        found = send.make_context("send", [*arguments]).params
        return Asked(**{field.name: found[field.name] for field in fields(Asked)})

    first = asked(given)
    assert asked(first.arguments()) == first
    assert first != Asked()


@pytest.mark.parametrize(
    ("more", "size", "flows"),
    [
        ({}, "64B", 4096),
        ({"vlan": 10, "flows": 5000, "to": "10.0.0.5/24"}, "68B", 5000),
        ({"to": "10.0.0.5/24"}, "64B", 254),
        ({"to": "2001:db8::1"}, "84B", 4096),
        ({"via": "2001:db8::1", "vlan": 10}, "88B", 4096),
        ({"size": "512"}, "512B", 4096),
    ],
)
def test_size_and_flows_fit_where_frames_go(more: dict[str, Any], size: str, flows: int) -> None:
    asked = Asked(**more)
    assert (asked.used_size, asked.used_flows) == (size, flows)


def test_interface_that_the_machine_uses_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from netdyno.ports import in_use
    from netdyno.ports.nic import netlink

    (loopback,) = (link for link in netlink.links() if link.loopback)
    monkeypatch.setattr(in_use, "find_links", lambda names: (loopback, loopback))
    used = in_use.Use("lo", "it holds the default route")
    monkeypatch.setattr(in_use, "find_uses", lambda *_, **__: [used])
    done = said("send", "eth1", "eth2", cwd=tmp_path)
    assert done.returncode == 2
    assert "it holds the default route" in done.stderr
    assert "--force" in done.stderr


@pytest.mark.parametrize("command", ["send", "ndr"])
def test_missing_right_and_interface_down_are_no_mistake_of_the_command(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3, as of a run."""
    from netdyno.ports import in_use, nic
    from netdyno.ports.nic import fit

    lo = nic.read("lo")
    assert lo is not None
    card = replace(lo, link=replace(lo.link, ethernet=True, up=False))
    monkeypatch.setattr(in_use, "find_links", lambda names: (card.link, card.link))
    monkeypatch.setattr(nic, "read", lambda name: card)
    for refusal, words in ((("it may not", None), "sudo"), (None, "ip link set")):
        monkeypatch.setattr(fit, "rights", lambda found=refusal: fit.Rights(found, None))
        done = said(command, "eth1", "eth2", "--force", cwd=tmp_path)
        assert done.returncode == 3, done.stderr
        assert words in done.stderr


def test_ndr_of_an_emulated_router_is_its_capacity(tmp_path: Path) -> None:
    done = said("ndr", *ROUTER[1:], "-t", "0.1", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # 1 Mpps less the width of the search, 0.5 %.
    assert 994_000 < found["ndr"]["pps"] <= 1_000_000
    assert (found["limit"], Path(found["run"]).name.split("-", 3)[3][:14]) == ("device", "ndr-west-east-")


def test_ndr_prints_the_first_screen_of_its_run(tmp_path: Path) -> None:
    done = said("ndr", *ROUTER[1:], "-t", "0.1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Search for NDR and PDR" in done.stdout


def test_calibrate_takes_the_plan_of_a_run(tmp_path: Path) -> None:
    sent = json.loads(said(*ROUTER, "-t", "0.1", "-J", cwd=tmp_path).stdout)
    done = said("calibrate", sent["run"], "--quick", cwd=tmp_path)
    assert done.returncode == 0
    assert "virtual time" in done.stderr
    refused = said("calibrate", "eth1", "nowhere1", "--quick", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "no interface `" in refused.stderr
