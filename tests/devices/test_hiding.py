"""No secret that a grammar can hold is left, what is none is, and a hostile text costs its length."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from configured import CONFIGURED
from hypothesis import given
from hypothesis import strategies as st
from netdyno.devices.drivers.reading import Reading, Value
from netdyno.devices.hiding import hide_secrets
from netdyno.devices.live import Channel
from netdyno.devices.reach.instrument import CliInstrument, Turn
from netdyno.devices.stand_ins.iosxr import SHOWS

DATA = Path(__file__).parents[1] / "data"

WORDS = """\
username x password~
username x privilege 15 secret~5~
enable password~
snmp-server community~
snmp-server~host 192.0.2.9 version 2c~
no snmp-server host 192.0.2.9~
 key~7~
+ key-string~
 keystring~
 neighbor 192.0.2.1 password~7~
 auth_key~
 md5_password~
client_secret~
wpa_passphrase~
wpa-psk~
PrivateKey~=~
PrivateKey=~
privatekey~
adminPassword~
psk~=~
 password~:~
 authentication~
 ip ospf message-digest-key 1 md5~
rocommunity~
rwcommunity6~
rouser~
rwuser~
createUser x MD5~
com2sec x default~
trapsink 192.0.2.1~
snmp_community~
 auth_pass~
ftp_pass=
static-key-0~
wep_key0=
wep_key1~=~
cak=
pmk=
 cak~
@u :~XAUTH~
:~EAP~
:~PSK~
:~RSA~key.pem "" #~
aaa-server T (inside) host 192.0.2.1~
no aaa-server T host 192.0.2.1~
 key~5~
 key 1~key~
tunnel key 5~
 authentication open~
 authentication order dot1x~
authentication failures:~12~
standby 1 authentication md5~
set community~
set community internet~
 community:~
tokens~
Key disabled~
Authorization: Bearer~
"""
"""Before a secret; `~` stands for any blanks."""

QUOTED = (
    "/ppp secret add name=u password={}",
    "/interface wireguard add private-key={} disabled=no",
    "+/interface wireless security-profiles set [ find default=yes ] wpa2-pre-shared-key={}",
    "/snmp community set [ find default=yes ] name={}",
    "/snmp community\nset [ find default=yes ] addresses=::/0 name={} disabled=no",
    "/routing ospf interface-template add auth-key={} type=ptp",
    '<user name="u" password={} level="1"/>',
    '{{"user": "u", "password": {}, "level": 1}}',
    '{{"user": "u", "api_key"\t:\n  {}}}',
    "{{'user': 'u', 'secret': {}, 'level': 1}}",
)
"""Around a value in quotes."""

ELSEWHERE = (
    "<password>{}</password>",
    "<ns:shared-secret type='plain'>\n  {}\n</ns:shared-secret>",
    "<password><![CDATA[{}]]></password>",
    "password: |\n  {}",
    "copy ftp://u:{}@192.0.2.1/x",
    "copy ftp://u@x.example:{}@192.0.2.1/x",
    "<community><name>{}</name></community>",
    "<snmp:community a='1'>\n  <snmp:text-name>{}</snmp:text-name>\n</snmp:community>",
    "key 7\\\n  {}",
    "/ppp secret add name=u password=\\\n    {}",
    "+/radius add address=192.0.2.1 secret=\\\n+    {} service=login",
    "/snmp community add name=\\\n    {}",
    "username x password \\\n  {}",
    "psk={}",
    "password=two words {}",
)
"""Around a value as it is."""

HARMLESS = """\
service password-encryption
no service password-encryption
ip ssh key-exchange algorithm curve25519
key chain NAME
 key chain NAME
crypto key generate rsa modulus 2048
username x nopassword privilege 15
 neighbor 192.0.2.1 send-community both
ip community-list standard x permit 65000:1
 ip ospf authentication message-digest
aaa authentication login default local
 description to Turkey
set [ find default=yes ] name=ether1
<name>uplink</name>
 set community 65000:1
 set community no-export
 match community LIST exact-match
 tunnel key 5
ntp trusted-key 12
 authentication pre-share
 standby 1 authentication md5 key-chain NAME
 hash md5
 key 1
no key 12
fe800000000000000202b3fffe1e8329 02 40 20 80     eth0
                 (bps)     95102112     95104000     92511232     36304912
"""

HOSTILE = (
    *("key ", 'key "\n', "key '\n", "key \\\n", "key", "hmac-", 'hmac-"', "passw", "password: |\n"),
    *("password=", 'password="', "password='\"", 'password="\\', "password=a ", "password=\\\n", '"key":\n'),
    *("/snmp community ", "/snmp community\n", "name=", "snmp-server user\n", "<password>", "<password "),
    *(
        "<password><![CDATA[",
        "<",
        "<a:",
        "://",
        "://a:",
        "-----BEGIN a-----",
        "$1$",
        "A=",
        ":",
        ": eap ",
        ": rsa ",
        ": rsa a ",
        "=",
        "00000000 ",
    ),
    *(
        "key 1\n",
        "key 1 ",
        "tokens 1 ",
        "set community 1:1 ",
        "set community a ",
        "community:1:1 ",
        "Key disabled,",
    ),
    *(
        "authentication open\n",
        "authentication open ",
        "aaa-server a host ",
        "aaa-server a (",
        "<community><name>",
    ),
    *(
        "authentication failures 1,",
        "md5 key-chain ",
        "_pass ",
        "key0",
        "cak",
        "0000abcd ",
        "://a@a:",
        "<key> ",
    ),
    *("\n", " ", "\t", '"', "'", "\\", "-", "- ", "/", "]", "a", "A1", "\u0130key "),
)

CHARACTERS = "abcXYZ0189!#$%*+,-./:;?^_|~]}"
SECRETS = st.text(CHARACTERS, min_size=6, max_size=20).map(lambda one: f"Q{one}Z")
IN_URLS = SECRETS.map(lambda one: one.replace("/", "x"))
BLANKS = st.text(" \t", min_size=1, max_size=5)


def hidden_between_lines(shown: str) -> str:
    """What is printed for a text. The lines around it must stay."""
    hidden = hide_secrets(f"interface 1\n{shown}\ninterface 2\n")
    assert hidden.startswith("interface 1\n")
    assert hidden.endswith("interface 2\n")
    return hidden


@given(st.sampled_from(WORDS.splitlines()), SECRETS, st.sampled_from(["", '"', "'"]), st.data())
def test_secret_behind_a_word_is_hidden(line: str, secret: str, quote: str, data: st.DataObject) -> None:
    first, *others = line.split("~")
    shown = first + "".join(data.draw(BLANKS) + other for other in others)
    hidden = hidden_between_lines(f"{shown}{quote}{secret}{quote}")
    assert secret not in hidden
    assert hidden.endswith("***\ninterface 2\n")
    assert hide_secrets(hidden) == hidden


@given(
    st.sampled_from(QUOTED), SECRETS, SECRETS, st.sampled_from("\"'"), st.sampled_from([" ", "\n", "\\\n "])
)
def test_secret_in_quotes_is_hidden(line: str, first: str, second: str, quote: str, between: str) -> None:
    quote = '"' if " name=" in line else quote
    hidden = hidden_between_lines(line.format(f"{quote}{first}{between}{second}{quote}"))
    assert first not in hidden
    assert second not in hidden
    # What stands behind the value is kept.
    for kept in ("disabled=no", "type=ptp", "level"):
        assert (kept in hidden) == (kept in line)


@given(st.sampled_from(ELSEWHERE), IN_URLS)
def test_secret_where_a_format_puts_it_is_hidden(line: str, secret: str) -> None:
    assert secret not in hidden_between_lines(line.format(secret))


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("root:$6$salt$abc/.xyz:19000:0:99999:7:::", "salt$abc/.xyz"),
        ("u:500:0123456789ABCDEF0123456789ABCDEF:[U]", "0123456789ABCDEF"),
        ("cak=12345678901234567890123456789012", "1234567890"),
        ("static-key-0=0x1234567890 static-key-1=0x1234567890", "1234567890"),
        (" key 5 0822455D0A16", "0822455D0A16"),
        (" key 7 12345", "12345"),
        (" key 123", "123"),
        ("tacacs-server host 192.0.2.1 key 12", "12"),
        ("snmp-server community 65000:1 RO", "65000:1"),
        ("snmp_community: 65000:1", "65000:1"),
        ("standby 1 authentication open", "open"),
        ("  30820241 308201aa a0030201 02020101 30820241 308201aa a0030201 02020101 30820241", "308201aa"),
    ],
)
def test_secret_that_looks_like_harmless_text_is_hidden(line: str, secret: str) -> None:
    hidden = hide_secrets(line)
    assert "***" in hidden
    assert secret not in hidden.replace("192.0.2.1", "")


@pytest.mark.parametrize("line", HARMLESS.splitlines())
def test_line_without_a_secret_is_kept(line: str) -> None:
    assert hide_secrets(line) == line


def test_texts_of_devices_are_kept_but_for_their_secrets() -> None:
    texts = [path.read_text() for path in sorted(DATA.glob("[ot]*/*.txt"))] + [
        SHOWS["show running-config"],
        *CONFIGURED.values(),
    ]
    assert len(texts) > 60
    changed = {
        line.strip()
        for text in texts
        for line, hidden in zip(text.splitlines(), hide_secrets(text).splitlines(), strict=True)
        if line != hidden
    }
    assert sorted(changed) == [
        "Running Permanent Activation Key: 0x1234abcd 0x1234abcd 0x1234abcd 0x1234abcd 0x1234abcd",
        "enable password 8Ry2YjIyt7RRXU24 encrypted",
        "enable secret 5 $1$mtAn$x.y",
        "username admin privilege 15 secret 5 $1$x",
        "username admin secret 5 $1$mtAn$x.y",
        "username lab password 8Ry2YjIyt7RRXU24 encrypted privilege 15",
        "username lab secret 5 $1$mtAn$x.y",
        "username pim secret 5 $1$mtAn$x.y",
    ]


@pytest.mark.parametrize("begin", ["", "key", 'password="', "<password ", "/snmp community"])
def test_hostile_text_takes_linear_time(begin: str) -> None:
    """At most 2 us a character: whoever takes the square of the time takes minutes."""
    for part in HOSTILE:
        text = begin + part * (2**18 // len(part))
        began = time.process_time()
        hide_secrets(text)
        assert time.process_time() - began < 0.5, part


class Printing:
    """A command line that prints a text for each command."""

    def __init__(self, text: str) -> None:
        self.text = text

    def ask(self, command: str, within_s: float = 15.0) -> str:
        return self.text


@pytest.mark.parametrize(
    ("command", "shown"), [("show tokens", "tokens 193 ctokens"), ("show {port}", "tokens ***")]
)
def test_text_of_a_port_alone_is_searched_for_secrets(command: str, shown: str) -> None:
    """A port has a description, which a user wrote; the rest holds no more than known secrets."""
    value = Value(Channel("a", "b", "1"), Fraction())
    reading = Reading("tokens", command, 1.0, by_text=lambda text: iter([value]))
    cli: Any = Printing("tokens 193 ctokens")
    rows: Any = None
    (sample,) = CliInstrument("x", cli, reading, (("p", "p"),), rows, Turn()).read(lambda: 0).values()
    assert sample.raw is not None
    assert sample.raw.text == shown
