"""Hides secrets in a device's configuration text before it is printed or stored with a run.

Broad on purpose: after a word that announces a secret, the rest of the line is hidden, also what is harmless.
The journal alone has the whole text, which the undo needs.
"""

from __future__ import annotations

import re

from netdyno.devices.secrets import HIDDEN, redact

_WORDS = (
    *(r"(?:[\w-]*-)?(?:secret|password|passwd|passphrase|passcode|key|keys|psk|keystring)", r"key-string"),
    *(r"community", r"communities", r"md5", r"hmac-\S+", r"wpa-psk", r"token", r"auth(?:entication)?"),
)
_AFTER_WORD = re.compile(rf"(?i)(?<![\w=/.-])({'|'.join(_WORDS)})([ :]+)(?=\S)[^\n]*")
"""`username x secret 5 $1$a$b`, `key 7 0822455D0A16`, `snmp-server community public RO`."""

_WHOLE = re.compile(r"(?im)^([-+ \t]*(?:no )?snmp-server (?:user|host|engineid|group))\b[^\n]*\S[^\n]*")
"""Names of communities and keys of users stand at several places of these lines."""

_VALUE = re.compile(
    r"(?i)(?<![\w.-])([\w.-]*(?:secret|password|passphrase|passcode|key|psk|token|communit(?:y|ies)))"
    r'=("(?:[^"\\\n]|\\.)*"?|[^\s\]]*)'
)
"""`password=x`, `wpa2-pre-shared-key="a b"`, as RouterOS prints them."""

_COMMUNITY_NAME = re.compile(r'(?m)(/snmp community [^\n]*?\bname=)("(?:[^"\\\n]|\\.)*"?|[^\s\]]+)')

_BLOB = re.compile(
    r"(?<![^\s\"=])(?:\$\w{1,10}\$[^\s\"]+"
    r"|(?:[0-9A-Fa-f]{8}[ \t]+){2,}[0-9A-Fa-f]{2,8}"
    r"|(?=[^\s\"]*\d)[A-Za-z0-9+/]{32,}={0,2})(?![^\s\"])"
)
"""Hashes, and lines of certificates and keys, in hexadecimal or base64."""


def hide_secrets(text: str) -> str:
    """The text with `***` for passwords, communities, keys and certificates, line by line."""
    text = _VALUE.sub(rf"\1={HIDDEN}", redact(text))
    text = _COMMUNITY_NAME.sub(rf"\1{HIDDEN}", text)
    text = _AFTER_WORD.sub(rf"\1\2{HIDDEN}", text)
    text = _WHOLE.sub(rf"\1 {HIDDEN}", text)
    return _BLOB.sub(HIDDEN, text)
