#!/usr/bin/env python3
"""Draws the pictures of the documents: docs/report.png, the begin of the page of examples/asr9006.yaml.

The picture says what it was drawn from (a `tEXt` chunk, Portable Network Graphics section 11.3.4.3):
the digest of the plan, and the version of netdyno. tests/house/test_documents.py compares them.
"""

from __future__ import annotations

import hashlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLAN = ROOT / "examples" / "asr9006.yaml"
PICTURE = ROOT / "docs" / "report.png"
SCALE = "1/400"
SIZE = {"width": 1440, "height": 1010}
BEGIN = b"\x89PNG\r\n\x1a\n"
SOURCE = b"Source"


def source_of_now() -> str:
    """What a picture drawn now is drawn from."""
    return f"{PLAN.name} {hashlib.sha256(PLAN.read_bytes()).hexdigest()} netdyno {version('netdyno')}"


def chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Type and data of each chunk of a PNG file."""
    at = len(BEGIN)
    while at < len(picture):
        (size,) = struct.unpack_from(">I", picture, at)
        yield picture[at + 4 : at + 8], picture[at + 8 : at + 8 + size]
        at += 12 + size


def source_of(picture: bytes) -> str:
    """What a picture says that it was drawn from; empty: nothing."""
    texts = (data.partition(b"\0") for kind, data in chunks(picture) if kind == b"tEXt")
    return next((text.decode() for key, _, text in texts if key == SOURCE), "")


def with_source(picture: bytes, source: str) -> bytes:
    """The picture that says what it was drawn from, behind its header."""
    data = b"tEXt" + SOURCE + b"\0" + source.encode()
    chunk = struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))
    header = len(BEGIN) + 12 + 13
    return picture[:header] + chunk + picture[header:]


def draw(page: Path) -> bytes:
    """The begin of a page, as Chromium shows it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as engine:
        # The sandbox of Chromium needs what containers and root do not have; the page is our own.
        options = ["--no-sandbox", "--disable-gpu"]
        browser = engine.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        shown = browser.new_page(viewport=SIZE)
        shown.goto(page.as_uri())
        picture: bytes = shown.screenshot()
        browser.close()
    return picture


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "netdyno", "run", str(PLAN), "--scale", SCALE, "--out", folder]
        subprocess.run([*command, "--report", "html"], check=True, stdout=subprocess.DEVNULL)
        (page,) = Path(folder).glob("*/report.html")
        picture = draw(page)
    PICTURE.write_bytes(with_source(picture, source_of_now()))
    print(f"{PICTURE.relative_to(ROOT)}: {source_of_now()}")


if __name__ == "__main__":
    main()
