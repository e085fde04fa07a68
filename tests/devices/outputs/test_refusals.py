"""What is no answer, or not a whole one, has no rows: an error with its code, line and numbers."""

from __future__ import annotations

import pytest
from netdyno.devices.outputs import OutputError, number, parse
from netdyno.devices.wiring import LabError
from printed import BY_NAME, FSOS, IOS, PRINTED, TOP, XE, XR, Printed


def refusal(system: str, command: str, text: str) -> OutputError:
    """The error for a text."""
    with pytest.raises(OutputError) as caught:
        parse(system, command, text)
    return caught.value


def changed(name: str, before: str, after: str) -> OutputError:
    """The error for an output with one text replaced."""
    printed = BY_NAME[name]
    text = printed.texts()[0]
    assert before in text
    return refusal(printed.system, printed.command, text.replace(before, after, 1))


@pytest.mark.parametrize(
    ("name", "before", "after", "totals"),
    [
        ("iosxr_power", "2219.3", "2219.4", ("2219.4", "2219.3")),
        ("iosxr_power", "741.1", "741.0", ("2219.3", "2219.2")),
        ("iosxr_lldp", "displayed: 5", "displayed: 6", ("6", "5")),
        ("iosxr_ospf", "count: 3", "count: 4", ("4", "3")),
        ("iosxr_ospfv3", "count: 3", "count: 2", ("2", "3")),
        ("iosxe_top", "316 total", "7 total", ("7", "8")),
        ("fsos_members", "count=2", "count=3", ("3", "2")),
        ("fsos_mac_count", ": 9", ": 10", ("10", "9")),
        ("fsos_ospf", "1 Neighbors", "2 Neighbors", ("2", "1")),
        ("fsos_ospf", "1 is Full", "0 is Full", ("0", "1")),
        ("fsos_ospfv3", "1 Neighbors", "2 Neighbors", ("2", "1")),
        ("fsos_ospfv3", "Full/ -", "Init/ -", ("1", "0")),
        ("fsos_route_ipv6", "12 entries", "14 entries", ("14", "13")),
    ],
)
def test_total_that_differs_is_refused_with_both(
    name: str, before: str, after: str, totals: tuple[str, str]
) -> None:
    error = changed(name, before, after)
    assert (error.code, error.printed, error.counted) == ("total-differs", *totals)


def test_total_of_several_processes_is_their_sum() -> None:
    block = BY_NAME["fsos_ospf"].texts()[0]
    second = block.replace("process 1", "process 2").replace("100.65.2.1 ", "100.65.3.1 ")
    parsed = parse(FSOS, "show ip ospf neighbor", block + second)
    assert (parsed.total, [row["process"] for row in parsed.rows]) == ("2", ["1", "2"])
    cut_off = refusal(FSOS, "show ip ospf neighbor", block + second.split("\n")[0])
    assert (cut_off.code, cut_off.printed, cut_off.counted) == ("total-differs", "2", "1")


def test_list_of_processes_that_the_article_cut_off_is_refused() -> None:
    error = refusal(XE, TOP, BY_NAME["iosxe_top"].texts()[1])
    assert (error.code, error.printed, error.counted) == ("total-differs", "316", "8")
    error = refusal(IOS, "show processes cpu", BY_NAME["ios_cpu_cef"].texts()[1] + "…\n")
    assert (error.code, error.line, error.shown) == ("not-understood", 6, "…")


@pytest.mark.parametrize("printed", PRINTED, ids=lambda one: one.name)
def test_unknown_line_is_refused_with_its_number(printed: Printed) -> None:
    for text in printed.texts():
        lines = text.rstrip("\n").split("\n")
        for place in range(len(lines) + 1):
            strange = "\n".join([*lines[:place], "~ line of a later release", *lines[place:]])
            if _is_in_prose(lines, place):
                continue
            error = refusal(printed.system, printed.command, strange)
            assert (error.code, error.line) == ("not-understood", place + 1), place
            assert error.shown == "~ line of a later release"


def _is_in_prose(lines: list[str], place: int) -> bool:
    """Whether a place is inside the licence or the notice of IOS, whose wording may be any."""
    before = "\n".join(lines[:place])
    licence = "IOS-XE software, Copyright" in before and "\nsoftware." not in before
    notice = "cryptographic features" in before and "export@cisco.com." not in before
    return licence or notice


@pytest.mark.parametrize("printed", PRINTED, ids=lambda one: one.name)
def test_empty_text_and_a_date_alone_are_refused(printed: Printed) -> None:
    for text in ("", " \r\n\t\n"):
        assert refusal(printed.system, printed.command, text).code == "not-understood"
    error = refusal(XR, "show lldp neighbors", "Sun Feb 20 19:14:21.775 UTC\n")
    assert (error.code, error.line) == ("not-understood", None)


@pytest.mark.parametrize(
    "line",
    [
        "--More--",
        " --More-- \x08\x08\x08\x08        \x08\x08\x08fsw0",
        "<--- More --->",
        "\x00",
        "fsw0 Te0/1/0/0 41 P,B,R \x07",
        "fsw0 Te0/1/0/0 41 P,B,R Te0/9\rfsw1",
        "fsw0 Te0/1/0/0 41 P,B,R Te\u2028",
        "fsw0 Te0/1/0/0 41 P,B,R \ud800",
        "fsw0 Te0/1/0/0 41 P,B,R " + "x" * 3000,
        "%LINK-3-UPDOWN: Interface TenGigE0/1/0/0, changed state to down",
    ],
)
def test_line_that_is_no_answer_is_refused_and_shown_printable(line: str) -> None:
    lines = BY_NAME["iosxr_lldp"].texts()[1].split("\n")
    error = refusal(XR, "show lldp neighbors", "\n".join([*lines[:7], line, *lines[7:]]))
    assert (error.code, error.line) == ("not-understood", 8)
    assert len(error.shown) <= 80
    assert error.shown.isprintable()
    assert str(error).isprintable()


@pytest.mark.parametrize(
    ("line", "before"),
    [
        ("% Invalid input detected at '^' marker.", "          ^"),
        ("% Incomplete command.", ""),
        ('% Ambiguous command:  "sh p"', ""),
        ("ERROR: % Invalid input detected at '^' marker.", ""),
        ("% This command is not authorized", "Sun Feb 20 19:14:21.775 UTC"),
        ("bad command name sho (line 1 column 1)", ""),
    ],
)
def test_command_that_the_device_refuses_has_its_code(line: str, before: str) -> None:
    error = refusal(XR, "show lldp neighbors", f"{before}\n{line}\n")
    assert (error.code, error.line, error.shown) == ("command-refused", 2, line)


@pytest.mark.parametrize(
    ("system", "command"),
    [
        (XR, "show lldp"),
        (XR, "show lldp neighbors detail"),
        (XR, "show LLDP neighbors"),
        (XR, "sh lldp neighbors"),
        (XE, "show platform"),
        (XE, f"{TOP} lines many"),
        (FSOS, "show int te0/1 | inc"),
        (FSOS, "show interfaces transceiver"),
        ("routeros", "/interface print stats"),
        ("linux", "ip -s -j link"),
        ("vpp", "show interface"),
        ("", ""),
    ],
)
def test_unknown_command_has_no_template(system: str, command: str) -> None:
    assert refusal(system, command, "text").code == "no-template"


@pytest.mark.parametrize("name", ["iosxr_power", "iosxr_bgp_ipv6", "fsos_transceiver", "asa_interface"])
def test_output_that_ends_inside_a_row_is_refused(name: str) -> None:
    printed = BY_NAME[name]
    lines = printed.texts()[0].rstrip("\n").split("\n")
    error = refusal(
        printed.system, printed.command, "\n".join(lines[:-1] if name != "asa_interface" else lines[:8])
    )
    assert (error.code, error.line) == ("not-understood", None)


def test_row_that_is_there_twice_is_refused() -> None:
    printed = BY_NAME["fsos_usage"]
    text = printed.texts()[0]
    assert refusal(FSOS, printed.command, text + text.split("\n")[2]).code == "not-understood"


@pytest.mark.parametrize(
    ("text", "value"),
    [("1,234", "1234"), ("54.9", "549/10"), ("-0.10", "-1/10"), ("0.0000005799", "5799/10000000000")],
)
def test_number_of_a_field_is_exact(text: str, value: str) -> None:
    assert str(number(text)) == value


@pytest.mark.parametrize(
    "text", ["", "Unknown", "1,23", "1e9", "0x10", "5 %", "٣", "nan", "1/2", "9" * 61, " 1"]
)
def test_text_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(LabError) as caught:
        number(text)
    assert caught.value.code == "wrong-format"
