"""The script that draws figures in a page: Vega, Vega-Lite and vega-embed, as vl-convert ships them.

vl-convert puts it together anew in every process, which takes half the time of a report; so it is kept where
the user's programs keep what they can make again, by vl-convert's version.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import vl_convert

EDITOR_URL = "https://vega.github.io/editor/"
"""The bundle's only address that could be opened (by a menu that the page turns off)."""


def script() -> str:
    """The script, which names no place to go to."""
    text = _kept() or _made()
    if "</script" in text.lower():
        raise ValueError("the Vega bundle of vl-convert cannot stand in a page as it is")
    return text.replace(EDITOR_URL, "about:blank")


def _made() -> str:
    # Without arguments it is ready-made; with a version it is put together anew, which takes longer still.
    text: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub is wrong
    _keep(text)
    return text


def _place() -> Path | None:
    """None where there is no home to keep anything in."""
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        return None
    # The specification of base directories: a relative path is to be ignored.
    return cache / "netdyno" / f"vega-{version('vl-convert-python')}.js" if cache.is_absolute() else None


def _kept() -> str | None:
    place = _place()
    if place is not None:
        with suppress(OSError, UnicodeDecodeError):
            return place.read_text(encoding="utf-8")
    return None


def _keep(text: str) -> None:
    """Store the script whole or not at all; without a place it is built again the next time."""
    place = _place()
    if place is None:
        return
    with suppress(OSError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=place.parent, prefix=place.name, delete=False
        ) as file:
            try:
                file.write(text)
                file.flush()
                os.replace(file.name, place)
            except OSError:
                os.unlink(file.name)
