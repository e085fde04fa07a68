"""Parts of a page that its script opens when they are wanted.

The texts of 480 cases are 4 MB of much the same, and the rows of their figures 1.5 MB: packed they are a
tenth of that, and a browser has as much less to lay out. A page of few cases has all of it as it is, to be
read without a script and found by any search; but for the rows of streams that are alike, 1.5 MB of 410.
"""

from __future__ import annotations

import base64
import json
import zlib

from markupsafe import Markup

PACKED_FROM = 65
"""Cases of a page from which it is packed."""


GZIP = 31
"""What zlib calls the format of gzip with the widest window."""


class Pack:
    """Texts by the names that the page asks for them by, packed as they come: those of 480 cases are 6 MB."""

    def __init__(self, cases: int) -> None:
        self.is_used = cases >= PACKED_FROM
        # As `gzip.compress` without a time: the same run makes the same page.
        self._gzip = zlib.compressobj(9, wbits=GZIP)
        self._packed = bytearray()
        self._begun = False

    def place(self, name: str, text: str) -> Markup:
        """What stands in the page for a part: the part, or nothing if it is packed."""
        return self.fold(name, text) if self.is_used else Markup(text)

    def fold(self, name: str, text: str) -> Markup:
        """The same of what is packed in a page of few cases too: a row for each of hundreds of streams."""
        entry = json.dumps({name: text}, ensure_ascii=False, separators=(",", ":"))[1:-1]
        self._packed += self._gzip.compress(f"{',' if self._begun else '{'}{entry}".encode())
        self._begun = True
        return Markup()

    def script(self) -> Markup:
        """All that was packed, as a JSON text: base64 of gzip of names and texts. Empty if nothing was.

        Once, at the end: it ends what packs.
        """
        if not (self.is_used or self._begun):
            return Markup()
        whole = self._packed + self._gzip.compress(b"}" if self._begun else b"{}") + self._gzip.flush()
        return Markup(f'"{base64.b64encode(whole).decode()}"')
