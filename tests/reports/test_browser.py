"""The HTML report in Debian's Chromium, headless: seen, quiet, alone, zoomable, printable."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from many_streams import many_streams
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.campaign.run import Selection
from netdyno.cli.live import watcher
from netdyno.plan import load
from netdyno.reports import Look, comparisons
from netdyno.reports.formats import html_pack
from netdyno.reports.model.compared import Comparison
from netdyno.reports.model.from_store import view
from netdyno.reports.model.run_set import RunSet
from netdyno.store import open_run
from netdyno.values.finding import Value
from pages import report_text
from report_sample import SMALL, article, write
from table_sample import SUITE
from words import said_each

EXAMPLES = Path(__file__).parents[2] / "examples"
PHONE = {"width": 390, "height": 844}
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the Python package playwright is not installed"
)
pytestmark = pytest.mark.skipif(
    not Path(CHROMIUM).exists(), reason="no Chromium here: `apt-get install chromium` for the browser tests"
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    with write(folder, article((30, 120, 30))) as run:
        file = folder / "report.html"
        file.write_text(report_text("html", view(run)), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page as `report`, of six cases: what axe-core finds in it takes a quarter of the time."""
    folder = tmp_path_factory.mktemp("few")
    with write(folder, SMALL) as run:
        file = folder / "report.html"
        file.write_text(report_text("html", view(run)), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose first figure has tiles, and whose tables are wider than a phone."""
    folder = tmp_path_factory.mktemp("services")
    plan = load(EXAMPLES / "activation.yaml")
    outcome = runner.run(plan, folder, watcher(), Selection(Fraction(1, 40)))
    with open_run(outcome.folder, REASONS) as run:
        file = folder / "report.html"
        file.write_text(report_text("html", view(run)), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as engine:
        # The sandbox of Chromium needs what containers and root do not have; the page is our own.
        found = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


class Opened:
    """A page, with everything it asked for and everything it complained of."""

    def __init__(self, browser: Any, file: Path, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1200, "height": 1400}, **options})
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.goto(file.as_uri())

    def live(self) -> Any:
        """The page once every figure is live."""
        # A function: an expression would be evaluated in the page, which forbids that.
        everything = "() => document.querySelector('figure:not(.is-live)') === null"
        self.page.wait_for_function(everything, timeout=60_000)
        # Everything below the first screen is folded.
        self.page.evaluate("document.querySelectorAll('details.fold').forEach(d => { d.open = true; })")
        return self.page


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Opened]:
    found = Opened(browser, report)
    yield found
    found.context.close()


def test_it_asks_for_nothing_but_itself_and_says_nothing(opened: Opened, report: Path) -> None:
    page = opened.live()
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert opened.asked == [report.as_uri()]
    assert opened.said == []
    assert page.title() == "ASR9006 / RSP440-SE (emulated Cisco ASR9006)"


def test_figures_are_live_and_zoom(opened: Opened) -> None:
    page = opened.live()
    figure = page.locator("figure").nth(3)
    assert figure.locator(".live svg").count() == 1
    assert not figure.locator(".still").is_visible()
    figure.scroll_into_view_if_needed()
    box = figure.locator(".live svg").bounding_box()
    texts = "document.querySelectorAll('figure')[3].querySelectorAll('.live svg text')"
    labels = f"[...{texts}].map(t => t.textContent)"
    before = page.evaluate(labels)
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(300)
    assert page.evaluate(labels) == before, "a plain wheel turns the page"
    figure.scroll_into_view_if_needed()
    box = figure.locator(".live svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
    page.keyboard.down("Shift")
    for _ in range(5):
        page.mouse.wheel(0, -200)
    page.keyboard.up("Shift")
    page.wait_for_function(f"() => JSON.stringify({labels}) !== {labels_of(before)!r}", timeout=10_000)
    assert opened.said == []


def test_figures_behind_the_one_with_a_still_are_drawn(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    with write(tmp_path, SMALL) as run:
        file.write_text(report_text("html", view(run)), encoding="utf-8")
    found = Opened(browser, file)
    page = found.live()
    assert page.locator("figure .still svg").count() == 1 < page.locator("figure .live svg").count()
    assert found.said == []
    found.context.close()
    without = Opened(browser, file, java_script_enabled=False)
    figures = without.page.locator("figure")
    shown = figures.locator("svg").count() + figures.locator("p.still").count()
    assert shown == figures.count() > 1, "each has a still, or says who draws it"
    without.context.close()


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page whose cases are packed, and one of them speaks in markup."""
    monkeypatch.setattr(html_pack, "PACKED_FROM", len(SMALL.cases))
    hostile = replace(SMALL, notes=said_each(("<b class=hostile>bold</b>",)))
    file = tmp_path / "report.html"
    with write(tmp_path, hostile) as run:
        file.write_text(report_text("html", view(run)), encoding="utf-8")
    return file


def test_a_packed_case_opens_by_its_link_and_by_hand(browser: Any, packed: Path) -> None:
    found = Opened(browser, packed)
    page = found.live()
    assert page.locator("details [data-packed]").count() == len(SMALL.cases)
    page.locator("table.heat a").last.click()
    case = page.locator("details details[open]")
    case.locator(".tools button").nth(1).wait_for()
    page.wait_for_timeout(300)
    assert case.bounding_box()["y"] < 100, "also the last one is scrolled to"
    assert page.locator("details details[open] table.cards").count() > 2
    assert page.locator("details [data-packed]").count() == len(SMALL.cases) - 1
    page.locator("details.fold details:not([open]) > summary").first.click()
    page.locator("details details[open]").nth(1).locator(".tools button").nth(1).wait_for()
    assert "<b class=hostile>" in page.locator("details details[open] dl").first.inner_text()
    assert page.locator(".hostile").count() == 0
    assert found.said == []
    found.context.close()


def test_each_of_many_streams_is_shown_when_it_is_asked_for(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_text("html", many_streams(tmp_path)), encoding="utf-8")
    found = Opened(browser, file)
    page = found.live()
    page.goto(f"file://{file}#case-0")
    each = page.locator("#case-0 details.rows")
    assert each.locator("table").count() == 0
    each.locator("> summary").click()
    each.locator("td", has_text="west-east/207").first.wait_for(timeout=10_000)
    # Of its value, its counts and its latency.
    assert each.locator("table").count() == 3
    assert found.said == []
    found.context.close()


def test_where_a_packed_case_cannot_be_shown_it_is_said(browser: Any, packed: Path) -> None:
    without = Opened(browser, packed, java_script_enabled=False)
    words = without.page.locator("[data-packed] > p")
    assert words.count() == len(SMALL.cases)
    without.context.close()
    context = browser.new_context()
    context.add_init_script("delete window.DecompressionStream")
    page = context.new_page()
    page.goto(f"{packed.as_uri()}#case-1")
    page.locator("#case-1 > div", has_text="--as json").wait_for()
    context.close()


def labels_of(found: list[str]) -> str:
    """As the browser's JSON.stringify writes it."""
    import json

    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def test_a_point_says_what_it_is(opened: Opened) -> None:
    page = opened.live()
    page.locator("figure").nth(3).scroll_into_view_if_needed()
    marks = page.locator("figure").nth(3).locator(".live path[aria-roledescription='circle']")
    marks.nth(60).hover(force=True)
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for(timeout=10_000)
    text = tip.inner_text()
    assert "received, Mpps" in text
    assert "64b-multi" in text


def test_without_javascript_the_figure_of_the_first_screen_stands(browser: Any, report: Path) -> None:
    found = Opened(browser, report, java_script_enabled=False)
    stills = found.page.locator("figure .still svg")
    assert stills.count() == 1
    assert stills.first.is_visible()
    for fold in found.page.locator("details.fold > summary").all():
        fold.click()
    words = found.page.locator("figure p.still")
    assert words.count() > 1, "who draws the others"
    assert all(one.is_visible() for one in words.all())
    found.context.close()


def test_a_case_opens_by_its_link(opened: Opened) -> None:
    page = opened.live()
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = false; })")
    page.locator("table.heat a").nth(5).click()
    page.wait_for_selector("details.fold[open] details[open] table", timeout=10_000)
    assert page.locator("details[open]").count() == 2, "the case, and the part that it is in"


def test_the_methods_tables_are_drawn_and_said(browser: Any, tmp_path: Path) -> None:
    with write(tmp_path, SUITE) as run:
        file = tmp_path / "report.html"
        file.write_text(report_text("html", view(run)), encoding="utf-8")
    found = Opened(browser, file)
    page = found.live()
    assert found.asked == [file.as_uri()]
    assert found.said == []
    section = page.locator("section", has=page.locator("h3", has_text="Frame loss rate"))
    assert section.locator("figure .live svg").count() == 2
    labels = section.locator("figure .live svg").first.locator("text").all_text_contents()
    assert {"0", "100", "Load, %", "Loss, %", "64b", "1518b"} <= set(labels)
    assert not section.locator("table").is_visible(), "140 rows are folded"
    section.locator("details.rows > summary").click()
    assert section.locator("tbody tr").count() == 140
    marks = section.locator("figure .live path[aria-roledescription='circle']")
    marks.nth(0).hover(force=True)
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for(timeout=10_000)
    assert "Loss, %" in tip.inner_text()
    found.context.close()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024), (1440, 900)])
def test_first_screen_of_any_width_holds_the_answer(
    browser: Any, report: Path, width: int, height: int
) -> None:
    found = Opened(browser, report)
    found.page.set_viewport_size({"width": width, "height": height})
    page = found.live()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is off the screen"
    for name in ("Line rate?", "Limit", "Lowest"):
        box = page.locator(".fact", has_text=name).first.bounding_box()
        assert box["y"] + box["height"] <= height, name
    if width == 1440:
        box = page.locator("figure").first.bounding_box()
        assert box["y"] < height / 2, "the figure stands beside the table"
    found.context.close()


IMPACTS = ("serious", "critical")
"""Of what axe-core finds; `minor` and `moderate` are its advice."""


@pytest.mark.parametrize(
    ("sample", "width", "height", "theme"),
    [
        ("report", 390, 844, "light"),
        ("few", 1440, 900, "dark"),
        ("services", 390, 844, "light"),
        ("services", 1440, 900, "dark"),
    ],
)
def test_page_that_is_unfolded_has_no_serious_finding(
    browser: Any, request: pytest.FixtureRequest, sample: str, width: int, height: int, theme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python", reason="the package axe-playwright-python is missing")
    script = Path(axe.__path__[0], "axe.min.js").read_text(encoding="utf-8")
    found = Opened(browser, request.getfixturevalue(sample), color_scheme=theme)
    found.page.set_viewport_size({"width": width, "height": height})
    page = found.live()
    # Cases are alike, and axe-core takes a second for each that is open.
    page.evaluate(
        "[...document.querySelectorAll('#cases details')].slice(0, 2).forEach(d => { d.open = true; })"
    )
    page.evaluate(script)
    findings = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    serious = [(one["id"], one["nodes"][0]["html"][:200]) for one in findings if one["impact"] in IMPACTS]
    assert serious == []
    assert found.said == [], "nothing on the console"
    found.context.close()


def test_buttons_cover_neither_headings_nor_captions_nor_tables(opened: Opened) -> None:
    page = opened.live()
    covered = page.evaluate(
        """() => {
          const shown = (every) =>
            [...document.querySelectorAll(every)].filter((one) => one.checkVisibility());
          const bars = shown('.tools button').map((one) => one.getBoundingClientRect());
          const told = shown('h2, h3, h4, figcaption, p, table, figure svg')
            .map((one) => [one.textContent.slice(0, 30), one.getBoundingClientRect()]);
          return told.filter(([, box]) => box.height && bars.some((bar) => bar.height &&
            bar.left < box.right - 1 && box.left < bar.right - 1 &&
            bar.top < box.bottom - 1 && box.top < bar.bottom - 1)).map(([name]) => name);
        }"""
    )
    assert covered == []
    assert page.locator(".tools button").count() > 10


def test_text_of_a_tile_is_no_wider_than_the_tile(browser: Any, services: Path) -> None:
    found = Opened(browser, services)
    page = found.live()
    tiles, widest = page.evaluate(
        """() => {
          const within = (part) => [...document.querySelector('figure .live svg').querySelectorAll(part)]
            .map((one) => one.getBoundingClientRect().width);
          return [Math.min(...within('.mark-rect path')), Math.max(...within('.mark-text text'))];
        }"""
    )
    assert 0 < widest <= tiles - 2
    found.context.close()


def test_no_two_parts_of_a_page_have_one_name(browser: Any, report: Path) -> None:
    """A live figure that shares the name of a clip with a hidden still is drawn beyond its panel."""
    found = Opened(browser, report)
    names = found.live().evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert sorted({name for name in names if names.count(name) > 1}) == []
    assert any(name.startswith("still-clip") for name in names)
    found.context.close()


def test_figures_of_a_phone_are_as_wide_as_its_screen(browser: Any, report: Path) -> None:
    """Panels stand below each other, so that what happens at the highest loads is seen."""
    found = Opened(browser, report, viewport=PHONE)
    page = found.live()
    for live in page.locator("figure.is-live .live").all():
        wide, room = live.evaluate("one => [one.querySelector('svg').clientWidth, one.clientWidth]")
        assert 0 < wide <= room + 1
        assert not live.evaluate("one => one.classList.contains('more')")
    found.context.close()


def test_figure_whose_tiles_cannot_shrink_shows_that_it_scrolls(browser: Any, services: Path) -> None:
    found = Opened(browser, services, viewport=PHONE)
    page = found.live()
    live = page.locator("figure .live").first
    page.wait_for_function("one => one.classList.contains('more')", arg=live.element_handle())
    live.evaluate("one => { one.scrollLeft = one.scrollWidth; }")
    page.wait_for_function("one => !one.classList.contains('more')", arg=live.element_handle())
    found.context.close()


def test_figures_of_a_dark_page_have_no_box(browser: Any, few: Path) -> None:
    found = Opened(browser, few, color_scheme="dark")
    page = found.live()
    grounds = page.evaluate(
        "[...document.querySelectorAll('figure svg')].map(one => [one, one.querySelector(':scope > rect')])"
        ".map(([svg, rect]) => [getComputedStyle(svg).backgroundColor,"
        " rect ? getComputedStyle(rect).fill : 'none'])"
    )
    assert grounds
    assert {tuple(ground) for ground in grounds} == {("rgba(0, 0, 0, 0)", "none")}
    found.context.close()


@pytest.mark.parametrize("sample", ["report", "services"])
def test_printed_tables_fit_the_page_and_break_no_number(
    browser: Any, request: pytest.FixtureRequest, sample: str
) -> None:
    found = Opened(browser, request.getfixturevalue(sample))
    page = found.live()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    # As wide as A4 between its margins.
    page.set_viewport_size({"width": 695, "height": 1020})
    page.emulate_media(media="print")
    broken, wide = page.evaluate(
        """() => {
          const shown = (every) =>
            [...document.querySelectorAll(every)].filter((one) => one.checkVisibility());
          const lines = (cell) => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            return new Set([...range.getClientRects()].map((box) => Math.round(box.top / 4))).size;
          };
          const cells = shown('main table:not(.heat) td:not(.wrap)')
            .filter((cell) => /^[<>=\\s]*[0-9]/.test(cell.textContent));
          return [
            cells.filter((cell) => lines(cell) > 1).map((cell) => cell.textContent),
            shown('main table').map((one) => one.getBoundingClientRect().right).filter((end) => end > 696),
          ];
        }"""
    )
    assert broken == []
    assert wide == []
    found.context.close()


def test_it_prints(opened: Opened, tmp_path: Path) -> None:
    page = opened.live()
    file = tmp_path / "report.pdf"
    page.pdf(path=str(file), prefer_css_page_size=True)
    assert file.read_bytes().startswith(b"%PDF")
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext here: `apt-get install poppler-utils` to read the printed report")
    text = subprocess.run(
        ["pdftotext", "-layout", str(file), "-"], capture_output=True, check=True, encoding="utf-8"
    ).stdout
    pages = text.rstrip("\f").split("\f")
    assert len(pages) > 1
    assert "ASR9006 / RSP440-SE (emulated Cisco ASR9006)" in " ".join(pages[0].split())
    assert "Share of line rate" in pages[0], "the first page is not blank"
    assert "offered, Mpps" in text, "figures print as text and lines, not as bitmaps"
    assert all(len(page.split()) > 10 for page in pages), "no page is blank"


def test_a_comparison_draws_its_figures_and_asks_for_nothing(browser: Any, tmp_path: Path) -> None:
    with write(tmp_path, SMALL) as run:
        first = view(run)
    slower = tuple(
        replace(one, result=replace(one.result, values=tuple(_halved(value) for value in one.result.values)))
        for one in first.cases
        if one.result is not None
    )
    runs = RunSet((first, replace(first, id="slow", cases=slower)))
    file = tmp_path / "compare.html"
    file.write_bytes(comparisons.render(Comparison(runs, ("fast", "<slow>")), "html", Look()))
    found = Opened(browser, file)
    page = found.live()
    assert found.asked == [file.as_uri()]
    assert found.said == []
    assert page.locator("figure .live svg").count() == page.locator("figure").count() >= 3
    assert "<slow>" in page.locator("h1").text_content()


def _halved(value: Value) -> Value:
    return value if value.number is None else replace(value, number=value.number / 2)
