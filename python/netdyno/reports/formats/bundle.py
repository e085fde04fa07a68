"""The script that draws figures in a page: Vega, Vega-Lite and vega-embed, as vl-convert ships them.

It is written once, when netdyno is built, as `assets/vega.js`; without that file vl-convert makes it anew in
every process, which takes half the time of a report.
"""

from __future__ import annotations

from functools import cache

from netdyno.errors import NetdynoError
from netdyno.reports.formats.html_templates import asset

EDITOR_URL = "https://vega.github.io/editor/"
"""The bundle's only address that could be opened (by a menu that the page turns off)."""
NAME = "vega.js"


@cache
def script() -> str:
    """The script, which names no place to go to."""
    try:
        return asset(NAME)
    except FileNotFoundError:
        return made()


def made() -> str:
    """The script as vl-convert makes it. Raises NetdynoError `extra-missing`."""
    try:
        import vl_convert
    except ImportError:
        raise NetdynoError(
            "this build has no script for figures, and `vl-convert-python` is not installed",
            "pip install 'netdyno[figures]', or build with `make`, which writes the script",
            code="extra-missing",
        ) from None

    # Without arguments it is ready-made; with a version it is put together anew, which takes longer still.
    text: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub is wrong
    if "</script" in text.lower():
        raise ValueError("the Vega bundle of vl-convert cannot stand in a page as it is")
    return text.replace(EDITOR_URL, "about:blank")
