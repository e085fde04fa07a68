"""No secret of a device's configuration is in what is printed or stored, in any grammar."""

from __future__ import annotations

from pathlib import Path

import pytest
from configured import CASES, CONFIGURED, configurer, device_in, journal_in
from faketree import FakeCli
from netdyno.devices.configure.apply import Configurer
from netdyno.devices.configure.exports import ExportUndoing
from netdyno.devices.configure.mistakes import find_secrets
from netdyno.devices.configure.sources import READY
from netdyno.devices.hiding import hide_secrets
from netdyno.devices.wiring import LabError

PLANTED = {
    "ios": """\
enable secret 5 $1$Plan$tedA
enable password 7 PLANTED1
username pim privilege 15 secret 9 PLANTED2
snmp-server community PLANTED3 RO 10
snmp-server host 192.0.2.9 version 2c PLANTED4
snmp-server user u g v3 auth sha PLANTED5 priv aes 128 PLANTED6
tacacs-server key 7 PLANTED7
radius server r
 key 0 PLANTED8
crypto isakmp key PLANTED9 address 192.0.2.1
 key-string 7 PLANTED10
 ip ospf message-digest-key 1 md5 7 PLANTED11
 ip ospf authentication-key PLANTED12
 neighbor 192.0.2.1 password 7 PLANTED13
 standby 1 authentication PLANTED14
 ppp chap password 0 PLANTED15
crypto pki certificate chain x
 certificate self-signed 01
  30820241 308201AA A0030201 02020101
no username pim secret PLANTED16
""",
    "xr": """\
username pim
 secret 5 $1$Plan$tedB
 password 7 PLANTED21
snmp-server community encrypted PLANTED22 RO SystemOwner
tacacs-server host 192.0.2.3 port 49
 key 7 PLANTED23
key chain c
 key 1
  key-string password PLANTED24
 message-digest-key 1 md5 encrypted PLANTED25
""",
    "fsos": """\
username admin password 7 PLANTED31
enable service web-server http
snmp-server community 7 PLANTED32 rw
tacacs-server host 192.0.2.3 key 7 PLANTED33
""",
    "asa": """\
enable password PLANTED41 encrypted
passwd PLANTED42 encrypted
username pim password PLANTED43 encrypted privilege 15
 ikev1 pre-shared-key PLANTED44
 ikev2 remote-authentication pre-shared-key PLANTED45
 ldap-login-password PLANTED46
failover key PLANTED47
snmp-server host inside 192.0.2.3 community PLANTED48 version 2c
""",
    "routeros": """\
/ppp secret add name=u password=PLANTED51 service=pppoe
/interface wireless security-profiles set [ find default=yes ] wpa2-pre-shared-key="PLANTED52 x"
/snmp community set [ find default=yes ] addresses=::/0 name=PLANTED53 authentication-password=PLANTED54
/ip ipsec identity add peer=p secret="PLANTED\\"55"
/routing ospf interface-template add auth-key=PLANTED56
/interface wireguard add private-key="PLANTEDWHEcnxQ3wOyUJhQnIRXBNOTk9yhdmkPlD57I="
/radius add secret=PLANTED58 service=login
""",
}


@pytest.mark.parametrize("system", PLANTED)
@pytest.mark.parametrize("sign", ["", "+ ", "-"])
def test_planted_secrets_of_a_grammar_are_hidden(system: str, sign: str) -> None:
    hidden = hide_secrets("".join(f"{sign}{line}\n" for line in PLANTED[system].splitlines()))
    assert [word for word in ("PLANTED", "ted", "55", "308201AA") if word in hidden] == []
    assert len(hidden.splitlines()) == len(PLANTED[system].splitlines())


@pytest.mark.parametrize("system", CASES)
def test_configuration_without_secrets_is_shown_as_it_is(system: str) -> None:
    assert hide_secrets(CASES[system]) == CASES[system]


@pytest.mark.parametrize("line", [" key 7 " + "a" * 10**5, "-" * 10**5, "key-" * 30_000, "$1$" * 50_000])
def test_long_line_is_hidden_in_linear_time(line: str) -> None:
    hide_secrets(line)


def test_secret_in_a_template_is_found_with_its_line() -> None:
    """Also one that a setting gives: settings are stored as well. What Jinja2 does is none, nor a comment."""
    own = "{% set key = 5 %}\n{# password\n of # x #} key 7 PLANTED1\n{# password x #}\nsecret 5 x {# open\n"
    found = find_secrets({"own.j2": own, "more.j2": "{% if auth = x %}\nsecret {{ word }}\n{% endif %}\n"})
    assert [(one.code, one.template, one.line) for one in found] == [
        ("secret-in-template", "own.j2", 3),
        ("secret-in-template", "own.j2", 5),
        ("secret-in-template", "more.j2", 2),
    ]


IOS = """\
route-map OUT permit 10
 match community 100
key chain OSPF
 key 1
crypto isakmp policy 10
 hash md5
 group 14
interface GigabitEthernet1/0/1
 ip ospf authentication message-digest
interface Tunnel0
 tunnel key 5
ntp trusted-key 1
"""


def test_lines_of_ios_without_a_secret_are_not_warned_of() -> None:
    assert list(find_secrets({"own.j2": IOS})) == []


def test_comments_that_are_not_closed_are_searched_in_linear_time() -> None:
    assert list(find_secrets({"own.j2": "{#" * 200_000})) == []


def test_ready_templates_are_not_warned_of() -> None:
    found = {path.name: path.read_text() for path in READY.glob("*/*.j2")}
    assert len(found) > 10
    assert list(find_secrets(found)) == []


def test_stored_text_and_diff_of_a_case_have_no_secrets(tmp_path: Path) -> None:
    device = device_in(tmp_path, "ios")
    before = device.text()
    with journal_in(tmp_path) as journal:
        subject = configurer(FakeCli(device), journal, "ios")
        allowed = type(subject.allowed)(
            subject.allowed.sections, subject.allowed.ports, ("username", *subject.allowed.allow)
        )
        subject = Configurer(subject.cli, journal, allowed)
        applied = subject.apply(f"{CASES['ios']}username planted secret 5 PLANTED1\n")
        assert "username planted secret ***" in applied.text
        assert "+username planted secret ***" in applied.diff
        assert "PLANTED1" not in applied.text + applied.diff
        device.edit("hostname other")
        with pytest.raises(LabError) as raised:
            subject.undo()
        # What is to be entered by hand is hidden as well, and the file that has it is named.
        assert raised.value.code == "changed-since"
        assert "PLANTED1" not in f"{raised.value.message}{raised.value.hint}"
        assert str(journal.path) in raised.value.message
        assert "PLANTED1" in journal.path.read_text()
        device.edit("hostname fsw0")
        subject.undo()
    assert device.text() == before


def test_readings_that_differ_are_reported_without_secrets(tmp_path: Path) -> None:
    device = device_in(tmp_path, "ios", CONFIGURED["ios"])

    def edit(what: str) -> None:
        if what == "ask":
            device.edit(f"username u{device.load()['clock']} secret 5 PLANTED2")

    with journal_in(tmp_path) as journal, pytest.raises(LabError) as raised:
        configurer(FakeCli(device, edit), journal, "ios").apply(CASES["ios"])
    assert raised.value.code == "not-understood"
    assert "PLANTED2" not in raised.value.message


def test_export_that_is_not_understood_is_reported_without_secrets() -> None:
    with pytest.raises(LabError) as raised:
        ExportUndoing().read("/ppp secret\nprint password=PLANTED3\n")
    assert raised.value.code == "not-understood"
    assert "PLANTED3" not in raised.value.message
