"""The figure of a case in Debian's Chromium: drawn when its case is opened, in a page that is packed too."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from device_sample import with_device
from netdyno.reports.formats import html_pack
from netdyno.reports.model.from_store import view
from pages import report_text
from report_sample import SMALL, write

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
playwright = pytest.importorskip(
    "playwright.sync_api", reason="the Python package playwright is not installed"
)
pytestmark = pytest.mark.skipif(
    not Path(CHROMIUM).exists(), reason="no Chromium here: `apt-get install chromium` for the browser tests"
)
LIVE = "() => document.querySelector('#case-1 figure.is-live svg') !== null"
PANELS = 3
"""Of a case without loss: traffic, CPU, power."""
PHONE = 390


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as engine:
        found = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.mark.parametrize("packed_from", [1, 65])
@pytest.mark.parametrize("width", [1200, PHONE])
def test_figure_of_a_case_is_drawn_when_the_case_is_opened(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed_from: int, width: int
) -> None:
    monkeypatch.setattr(html_pack, "PACKED_FROM", packed_from)
    with write(tmp_path, SMALL) as run:
        (tmp_path / "report.html").write_text(report_text("html", with_device(view(run))), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((tmp_path / "report.html").as_uri())
    # The second case has the spec of the first one, which is not opened.
    page.evaluate("location.hash = '#case-1'")
    page.wait_for_function(LIVE, timeout=30_000)
    assert page.locator("#case-1 figure .live svg .mark-group.role-scope.concat_0_group").count() == 1
    groups = [
        page.locator(f"#case-1 figure .live svg .concat_{number}_group").count() for number in range(PANELS)
    ]
    assert groups == [1] * PANELS
    assert page.locator("#case-0 figure.is-live").count() == 0
    over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert over <= 0
    assert said == []
    page.close()
