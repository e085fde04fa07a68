"""Parts of a page that its script opens when they are wanted.

The texts of 480 cases are 4 MB of much the same, and the rows of their figures 1.5 MB: packed they are a
tenth of that, and a browser has as much less to lay out. A page of few cases has all of it as it is, to be
read without a script and found by any search.
"""

from __future__ import annotations

import base64
import gzip
import json

from markupsafe import Markup

PACKED_FROM = 65
"""Cases of a page from which it is packed."""


class Pack:
    """Texts by the names that the page asks for them by."""

    def __init__(self, cases: int) -> None:
        self.is_used = cases >= PACKED_FROM
        self._texts: dict[str, str] = {}

    def place(self, name: str, text: str) -> Markup:
        """What stands in the page for a part: the part, or nothing if it is packed."""
        if not self.is_used:
            return Markup(text)
        self._texts[name] = text
        return Markup()

    def script(self) -> Markup:
        """All that was packed, as a JSON text: base64 of gzip of names and texts. Empty if nothing was."""
        if not self.is_used:
            return Markup()
        whole = json.dumps(self._texts, ensure_ascii=False, separators=(",", ":")).encode()
        # Without a time: the same run makes the same page.
        return Markup(f'"{base64.b64encode(gzip.compress(whole, mtime=0)).decode()}"')
