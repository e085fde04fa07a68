"""Hides secrets in configurations, errors and texts that a user may have written, before they are stored.

Broad on purpose: after a word that announces a secret, the rest of the line is hidden, also what is harmless.
Readings without such texts are kept as they are (`reach/instrument.py`).
The journal alone has the whole text, which the undo needs. Every search takes time in proportion to the text.
"""

from __future__ import annotations

import re

from netdyno.devices.secrets import HIDDEN, redact

_FILED = (
    r":[ \t]{1,8}(?:xauth|eap|ntlm|pin|(?:rsa|ecdsa|pkcs8|p12)[ \t]{1,8}\S{1,255}(?=[ \t]{1,8}[\"']))"
    r"(?![^ \t])"
)
"""Of a line of ipsec.secrets, in small letters: `: EAP "x"`, `: RSA file "x"`."""

_STEM = re.compile(
    rf"pass|pwd|secret|psk|token|credential|key|communit|md5|hmac-|auth|bearer|cak|pmk|{_FILED}"
)
"""In every word that announces a secret, in small letters. Most texts that devices print have none."""

_ANY = r"(?:(?<!\bno)passw(?:or)?d|passphrase|passcode|secret|psk|token|credential|key[-_]?string)s?"
"""At the end of any name: `md5_password`, `client_secret`; `nopassword` has none."""

_NUMBER = r"(?:[-_]?\d{1,2})?"
"""Of one of several keys: `wep_key0`, `static-key-0`."""

_BEFORE_KEY = (
    "private",
    "public",
    "shared",
    "static",
    "api",
    "auth",
    "wep",
    "encryption",
    "access",
    "secret",
)
_BEFORE_COMMUNITY = ("ro", "rw", "trap", "snmp", "read", "write")


def _after(names: tuple[str, ...]) -> str:
    """A pattern for the begin of a word, or the place behind one of these."""
    return "|".join((r"(?<![^\W_])", *(f"(?<={one})" for one in names)))


_WORDS = "|".join(
    (
        rf"{_ANY}{_NUMBER}",
        _FILED,
        r"(?<=_)pass|(?<![\w-])cak",
        # `auth_key`, `PrivateKey`, `presharedkey`, but not `Turkey`.
        rf"(?:{_after(_BEFORE_KEY)}|(?<=(?-i:[a-z]))(?=(?-i:K)))keys?{_NUMBER}"
        r"(?![ \t]+(?:chain|generate|zeroize|export|import)(?!\S))",
        rf"(?:{_after(_BEFORE_COMMUNITY)})(?<!send-)communit(?:y|ies)6?",
        r"(?<![\w-])(?:md5|hmac-[\w-]{1,20}|bearer)",
        r"(?<![\w-])auth(?:entication)?"
        r"(?![ \t]+(?:message-digest|key-?chain|null|mode|login|enable|ppp|dot1x|pre-share)(?!\S))",
    )
)
"""Before a blank or a colon."""

_NAMES = (
    rf"(?:{_ANY}|keys?|(?<![^\W_])pass|pwd){_NUMBER}|communit(?:y|ies)6?|authorization|(?<![^\W_])(?:cak|pmk)"
)
"""Before `=`, and quoted before a colon."""

_ANNOUNCED = re.compile(
    rf"(?ai)(?:(?:{_NAMES})(?P<sign>\\?[\"'][ \t]*+[:=]+>?\s*+|[ \t\xa0]*+=+>?[ \t\xa0]*+)"
    rf"|(?:{_WORDS})[\"']?[ \t\r\xa0:]++)(?=\S)"
)
"""A word, and what stands between it and its value. sign: of an assignment, whose value may be quoted."""

_END = r"(?=[ \t]*\r?(?:\n|\Z))"
_COMMUNITY = r"\(?\d{1,10}(?::\d{1,10}){1,2}(?![^\s,)])"
_HARMLESS = re.compile(
    rf"(?aim)(?<=\bmatch )community\b"
    rf"|(?:(?<=\bbgp )|(?<=\bextended ))community[ \t]+entries\b"
    rf"|(?<=\bset )community[ \t]+(?:{_COMMUNITY}|(?:internet|no-(?:advertise|export)){_END})"
    rf"|(?:authentication[ \t]+)?md5[ \t]+key-chain[ \t]+\S{{1,64}}{_END}"
    rf"|(?:(?<=\btunnel )|(?<=\btrusted-)|(?<=^)|(?<=^[ +-])|(?<=^no )|(?<=^  ))key[ \t]+\d{{1,2}}{_END}"
)
"""Lines of routes and numbers of keys whose words announce a secret elsewhere."""

_QUOTED = re.compile(r"(?s)\"(?:[^\"\\]|\\.){0,4096}+\"|'(?:[^'\\]|\\.){0,4096}+'")
_TOKEN = re.compile(r"(?:\\\r?\n[-+]?[ \t]*+|\S)*+")
_WRAP = re.compile(r"(?:\\\r?\n[-+]?[ \t]*+)?")
"""An export's line that goes on in the next one, which has the sign of a difference before it."""
_NEXT = re.compile(r"[ \t]*+(?:\\?\r?(?:\n|\Z)|[\]\[]|[^\s=]++=)")
"""After a value without blanks: the end of the line, or the next assignment."""
_BLOCK = re.compile(r"[|>][-+]?[ \t]*\r?\n")
"""The value stands in the next line, as in YAML."""
MOST_QUOTED = 4096
"""Characters from the begin of a line to the quote that ends its value in another line."""

_WHOLE = re.compile(
    r"(?im)^([-+ \t]*(?:no[ \t]+)?(?:snmp-server[ \t]+(?:user|host|engineid|group)|r[ow]user|createuser"
    r"|usmuser|com2sec6?|com2secunix|trap2?sink|informsink|trapsess)\b"
    r"|[-+ \t]*(?:no[ \t]+)?aaa-server[ \t]+\S++[ \t]+(?:\([^)\s]*+\)[ \t]+)?host[ \t]+\S++)"
    r"(?=[^\n]*\S)[^\n]*"
)
"""Names of communities and keys of users stand at several places of these lines."""

_IN_WHOLE = ("snmp-server", "user", "com2sec", "sink", "trapsess", "aaa-server")
"""One of them is in each of these lines."""

_ELEMENT = re.compile(
    r"(?i)(<(?:[\w.-]*:)?[\w.-]*(?:secret|passw(?:or)?d|passphrase|passcode|psk|token|key|string|community"
    r"|credential)s?(?:\s[^<>]*)?(?<!/)>\s*"
    r"(?:<(?:[\w.-]*:)?(?:text-)?(?:name|value)(?:\s[^<>]*)?(?<!/)>\s*)?)(?:<!\[CDATA\[[^\]]*|[^<\s][^<]*)"
)
_COMMUNITIES = re.compile(r"(?m)^([^\n/]*)/snmp community\b[^\n]*(?:\n(?!\1/)[^\n]*)*")
"""The section of an export: its communities are names."""
_NAME = re.compile(r"(?s)\b(name=(?:\\\r?\n[-+]?[ \t]*+)?)(?:\"(?:[^\"\\]|\\.){0,4096}+\"?|[^\s\]]+)")

_PEM = re.compile(r"(-----BEGIN [\w ]{1,40}-----)[^-]*")
_LOGIN = re.compile(r"(://[^\s/:]*+:)[^\s/]+@")
"""`ftp://user:password@host`; each may have an `@`."""

_BLOB = re.compile(
    r"([\s\"=:])(?![0-9a-f]{32}(?: [0-9a-f]{2,4}){4} +\S)(?:\$\w{1,10}\$[^\s\"]++"
    r"|(?:[0-9A-Fa-f]{8}[ \t]++){2,}[0-9A-Fa-f]{2,8}"
    r"|(?=[A-Za-z+/]*+\d)[A-Za-z0-9+/]{32,}+={0,2})(?![^\s\":])"
)
"""Hashes, and lines of certificates and keys, in hexadecimal or base64. No address of /proc/net/if_inet6."""


def hide_secrets(text: str) -> str:
    """The text with `***` for passwords, communities, keys and certificates."""
    text = redact(text)
    if "<" in text:
        text = _ELEMENT.sub(rf"\1{HIDDEN}", text)
    if "-----BEGIN" in text:
        text = _PEM.sub(rf"\1{HIDDEN}", text)
    if "://" in text:
        text = _LOGIN.sub(rf"\1{HIDDEN}@", text)
    if "/snmp community" in text:
        text = _COMMUNITIES.sub(lambda found: _NAME.sub(rf"\1{HIDDEN}", found[0]), text)
    lowered = text.lower()
    if any(word in lowered for word in _IN_WHOLE):
        text = _WHOLE.sub(rf"\1 {HIDDEN}", text)
    return _BLOB.sub(_hide_blob, f"\n{_hide_announced(text)}")[1:]


def _hide_blob(found: re.Match[str]) -> str:
    """`***`, but for columns of decimal numbers."""
    return found[0] if "".join(found[0].split()).isdigit() else f"{found[1]}{HIDDEN}"


def _hide_announced(text: str) -> str:
    """The text with `***` for what stands after a word that announces a secret."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(one.lower() if one.isascii() else one for one in text)
    parts, at, stem = [], 0, _STEM.search(lowered)
    while stem:
        next_at = stem.start() + 1
        found = _ANNOUNCED.match(text, stem.start())
        if found and (found["sign"] or not _HARMLESS.match(text, stem.start())):
            begin = found.end()
            if found["sign"] is None:
                next_at = _end_of_line(text, begin)
            else:
                begin = _WRAP.match(text, begin).end()  # type: ignore[union-attr]
                next_at = _end_of_value(text, begin, found["sign"])
            parts += [text[at:begin], HIDDEN]
            at = next_at
        stem = _STEM.search(lowered, next_at)
    return "".join((*parts, text[at:]))


def _end_of_value(text: str, begin: int, sign: str) -> int:
    """Where an assigned value ends: behind its quotes, before the next assignment, or with its line."""
    if quoted := _QUOTED.match(text, begin):
        return quoted.end()
    if sign.strip("=>") or text[begin : begin + 1] in ("", '"', "'"):
        return _end_of_line(text, begin)
    token = _TOKEN.match(text, begin)
    assert token is not None
    end = begin + len(token[0].rstrip("]"))
    return end if _NEXT.match(text, end) else _end_of_line(text, end)


def _end_of_line(text: str, begin: int) -> int:
    """The end of the line, or of a later one: where it goes on, or where its quote is closed."""
    end = _line_end(text, begin)
    if block := _BLOCK.match(text, begin):
        return _line_end(text, block.end())
    line = text[begin:end]
    quotes = [one for one in "\"'" if line.startswith(one) and one not in line[1:]]
    quotes += ['"'] if line.count('"') % 2 else []
    for quote in quotes[:1]:
        closed = text.find(quote, end, begin + MOST_QUOTED)
        end = end if closed < 0 else _line_end(text, closed)
    return end


def _line_end(text: str, begin: int) -> int:
    """The end of the first line from here that does not end in a backslash."""
    end = begin - 1
    while True:
        end = text.find("\n", end + 1)
        if end < 0:
            return len(text)
        if not text.endswith(("\\", "\\\r"), begin, end):
            return end
