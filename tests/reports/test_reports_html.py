"""The HTML page as text: self-contained, escaped, complete. tests/reports/test_browser.py opens it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import sys
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair
import jsonschema
import pytest
from netdyno.campaign.reasons import REASONS
from netdyno.errors import NetdynoError
from netdyno.reports.figures import vega
from netdyno.reports.figures.figures import _drawn_once, _line, figures
from netdyno.reports.formats import bundle, html_pack
from netdyno.reports.model.from_store import view
from netdyno.reports.model.headline import headline
from netdyno.reports.model.view import RunView
from netdyno.store import open_run
from pages import report_text
from report_sample import SMALL, Asked, Sample, article, write
from sealing import changing
from words import said_each

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&</title>"


class Page(HTMLParser):
    """Elements, attributes and the text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self._within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._within = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within == "script":
            self.scripts[-1] += data
        elif self._within != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def rendered(folder: object, sample: Sample) -> tuple[RunView, str]:
    with write(folder, sample) as run:  # type: ignore[arg-type]
        found = view(run)
    return found, report_text("html", found)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunView, str, Page]:
    run, text = rendered(tmp_path_factory.mktemp("whole"), article((30, 120, 30)))
    return run, text, Page(text)


def test_the_page_loads_nothing(whole: tuple[RunView, str, Page]) -> None:
    _, text, page = whole
    for tag, attributes in page.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form", "img"), tag
        for name, value in attributes.items():
            if name in ("src", "href", "action", "poster", "data", "srcset", "xlink:href"):
                assert value is not None
                assert value.startswith("#"), f"{tag} {name}={value}"
    # Namespaces and schema names are not addresses to load; nothing else may look like one.
    addresses = set(re.findall(r"https?://[^\s\"'`<>)\\]+", text))
    names = (
        "http://www.w3.org/",
        "https://vega.github.io/schema/",
        "https://github.com/vega/vega-lite/issues",
    )
    assert {address for address in addresses if not address.startswith(names)} == set()
    assert "@import" not in text
    assert "url(http" not in text


def test_the_policy_allows_these_scripts_and_nothing_else(whole: tuple[RunView, str, Page]) -> None:
    _, _, page = whole
    policy = next(
        a["content"]
        for tag, a in page.elements
        if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.split("style-src")[0]
    kinds = [attributes.get("type") for tag, attributes in page.elements if tag == "script"]
    for kind, script in zip(kinds, page.scripts, strict=True):
        if kind != "application/json":
            digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy


def test_every_case_and_every_limit_is_there(whole: tuple[RunView, str, Page]) -> None:
    run, _, page = whole
    ids = {attributes.get("id") for _, attributes in page.elements}
    for case in run.cases:
        assert f"case-{case.number}" in ids
        assert case.name in page.text
        assert case.verdict() is not None
    summaries = sum(tag == "summary" for tag, _ in page.elements)
    folds = sum("fold" in (attributes.get("class") or "").split() for _, attributes in page.elements)
    assert summaries - folds == len(run.cases) == 48
    limits = [a["class"] for tag, a in page.elements if tag == "span" and "limit-" in (a.get("class") or "")]
    assert len(limits) >= 48 * 4, "in a table, below a figure, in the summary of the case and by each value"


def test_figures_are_checked_against_vega_lite(whole: tuple[RunView, str, Page]) -> None:
    run, text, _ = whole
    drawn = list(figures(run))
    assert [figure.profile for figure in drawn] == ["1514b", "imix", "64b-multi", "64b-single"]
    for figure in drawn:
        for spec in (figure.live, vega.still(figure.live)):
            altair.HConcatChart.validate(spec)
        assert f'data-spec="{figure.key}"' in text
    assert text.count("<svg") >= len(drawn)


def test_the_rows_of_a_figure_stand_in_the_page_as_columns(whole: tuple[RunView, str, Page]) -> None:
    """As the page's script reads them; the browser's tests see what it makes of them."""
    run, text, _ = whole
    for figure in figures(run):
        (found,) = re.findall(rf'<script type="application/json" id="{figure.key}">(.*?)</script>', text)
        packed = json.loads(found)["packed"]
        assert {name: unpacked(columns) for name, columns in packed.items()} == figure.live["datasets"]
        assert len(found) < len(json.dumps(figure.live)) / 2


def unpacked(columns: Any) -> list[dict[str, Any]]:
    if isinstance(columns, list):
        return columns
    every = {
        name: column
        if isinstance(column, list)
        else [value for value, times in zip(column["of"], column["times"], strict=True) for _ in range(times)]
        for name, column in columns.items()
    }
    return [dict(zip(every, row, strict=True)) for row in zip(*every.values(), strict=True)]


def test_a_wrong_figure_would_be_found(whole: tuple[RunView, str, Page]) -> None:
    spec = json.loads(json.dumps(next(figures(whole[0])).live))
    spec["hconcat"][0]["vconcat"][0]["layer"][0]["mark"] = {"type": "no such mark"}
    with pytest.raises(jsonschema.ValidationError):
        altair.HConcatChart.validate(spec)


def test_lines_differ_by_more_than_colour(whole: tuple[RunView, str, Page]) -> None:
    rows = list(figures(whole[0]))[2].live["datasets"]["rows0"]
    looks = {row["case"]: (row["colour"], row["dash"]) for row in rows}
    assert len(looks) == len(set(looks.values())) == 6
    assert {dash for _, dash in looks.values()} == {"plain", "lacp"}


def test_lines_that_coincide_are_drawn_once_and_named(whole: tuple[RunView, str, Page]) -> None:
    """Frames of 1514 bytes fill the line whatever the device does, so cases of one line rate coincide."""
    drawn = next(figures(whole[0]))
    rows = [row for rows in drawn.live["datasets"].values() for row in rows if "loss" in row]
    names = {case.name for case in whole[0].cases if case.profile == drawn.profile}
    told = {name for name in names if name in drawn.note}
    assert "Drawn once where lines coincide" in drawn.note
    assert {row["case"] for row in rows} < names
    assert {row["case"] for row in rows} | told == names


def test_lines_of_one_shape_and_other_rates_do_not_coincide(whole: tuple[RunView, str, Page]) -> None:
    line = _line(whole[0], whole[0].cases[0])
    twice = tuple(p._replace(offered_fps=2 * p.offered_fps, rx_fps=2 * p.rx_fps) for p in line.points)
    drawn, also = _drawn_once([line, replace(line, points=twice), replace(line)], lambda case: case.name)
    assert [len(drawn), len(also)] == [2, 1]


def test_cases_of_one_load_have_no_figure_over_the_load(whole: tuple[RunView, str, Page]) -> None:
    line = _line(whole[0], whole[0].cases[0])
    assert line.has_several_loads
    alone = replace(line, points=(line.points[-1], line.points[-1]))
    assert not alone.has_several_loads
    assert not replace(line, points=()).has_several_loads


def test_caption_tells_what_the_pale_band_is(whole: tuple[RunView, str, Page]) -> None:
    figure = next(figures(whole[0]))
    rows = [row for rows in figure.live["datasets"].values() for row in rows if "lo" in row]
    assert any(row["lo"] < row["hi"] for row in rows)
    assert "pale band" in figure.note


def test_columns_that_are_empty_in_all_rows_are_left_out(tmp_path: object) -> None:
    """A method without a ramp has no knee."""
    run, whole = rendered(tmp_path, SMALL)
    assert '<th class="n">Knee</th>' in whole
    cases = []
    for case in run.cases:
        found = case.result
        if found is not None:
            values = tuple(value for value in found.values if value.kind.role != "knee")
            case = replace(case, result=replace(found, values=values))
        cases.append(case)
    text = report_text("html", replace(run, cases=tuple(cases)))
    assert '<th class="n">Knee</th>' not in text
    assert f'<th class="n">{run.headline_names[0]}</th>' in text


def test_command_to_run_it_again_has_the_scale_and_the_part_of_the_run(tmp_path: object) -> None:
    run, _ = rendered(tmp_path, replace(SMALL, plan="title: none"))
    part = {"profile": "64b", "lag": "a b"}
    other = replace(run, head=replace(run.head, scale=Fraction(1, 400), only=part))
    again = r'<code id="again">(.*?)</code>'
    (command,) = re.findall(again, report_text("html", other))
    assert html.unescape(command) == (
        "netdyno run plan.yaml --scale 1/400 --only profile=64b --only 'lag=a b'"
    )
    (whole,) = re.findall(again, report_text("html", replace(run, head=replace(run.head, scale=Fraction(1)))))
    assert whole == "netdyno run plan.yaml"
    (full,) = re.findall(
        again,
        report_text("html", replace(run, head=replace(run.head, scale=Fraction(1), plan="scale: 1/10"))),
    )
    assert full == "netdyno run plan.yaml --scale 1", "the plan has a scale, and the run had none"


def test_marks_of_a_figure_over_the_load_are_clipped_to_its_panel(whole: tuple[RunView, str, Page]) -> None:
    for figure in figures(whole[0]):
        for column in figure.live["hconcat"]:
            layers = [layer for panel in column["vconcat"] for layer in panel["layer"]]
            drawn = [one for one in layers if "x" in one["encoding"]]
            assert drawn
            assert all(one["mark"].get("clip") for one in drawn)


def test_caption_promises_only_what_its_figure_does(whole: tuple[RunView, str, Page]) -> None:
    for found in re.findall(r"<figure.*?</figure>.*?</script>", whole[1], re.DOTALL):
        moves = '"params":' in found.rsplit("<script", 1)[1]
        assert ("drag to move" in found) == moves


def extent(run: RunView) -> tuple[float, list[float]]:
    """The upper end of the first panel's x axis, and the line rates drawn in it."""
    spec = next(figures(run)).live
    layers = spec["hconcat"][0]["vconcat"][0]["layer"]
    top = next(
        layer["encoding"]["x"]["scale"]["domain"][1]
        for layer in layers
        if "domain" in layer.get("encoding", {}).get("x", {}).get("scale", {})
    )
    drawn = [
        row["x"]
        for layer in layers
        if isinstance(layer["mark"], dict) and layer["mark"].get("strokeDash") == [2, 3]
        for row in spec["datasets"][layer["data"]["name"]]
    ]
    return top, drawn


def test_axes_follow_the_data_and_not_a_line_far_away(tmp_path: object) -> None:
    sample = replace(SMALL, cases=SMALL.cases[2:3])
    run, _ = rendered(tmp_path, sample)
    top, drawn = extent(run)
    assert drawn == [pytest.approx(14.880952)], "64 B at 10 Gbit/s, RFC 5180 appendix A.1"
    assert top == pytest.approx(1.02 * 14.880952)
    (case,) = run.cases
    assert case.line_fps is not None
    far = replace(run, cases=(replace(case, line_fps=10 * case.line_fps, line_enforced=False),))
    top, drawn = extent(far)
    assert drawn == []
    assert top == pytest.approx(1.02 * 14.880952, rel=1e-6)


def test_a_line_that_nothing_enforces_gets_no_colour(tmp_path: object) -> None:
    run, _ = rendered(tmp_path, SMALL)
    bare = replace(run, cases=tuple(replace(case, line_enforced=False) for case in run.cases))
    text = report_text("html", bare)
    heat = text[text.index('<table class="heat">') :]
    heat = heat[: heat.index("</table>")]
    assert not re.search(r'class="h[0-9]"', heat)
    assert "14.66 Mpps" in heat
    assert "Share of line rate" not in text


def test_rare_counts_and_latencies_of_no_frame_are_noted(tmp_path: object) -> None:
    run, usual = rendered(tmp_path, replace(SMALL, cases=SMALL.cases[2:3]))
    assert usual.count("Too late to tell from copies") == 1, "in the terms alone"
    (case,) = run.cases
    (trial,) = case.trials
    (stream,) = trial.result.streams
    assert stream.latency is not None
    late = replace(stream, beyond_window=12_345, latency=replace(stream.latency, min_ns=0))
    result = trial.result.with_counts(streams=(late,))
    changed = replace(case, clock="real", trials=(replace(trial, result=result),))
    assert "12345 frames came too late" in report_text("markdown", replace(run, cases=(changed,)))
    page = Page(report_text("html", replace(run, cases=(changed,))))
    assert "12,345" in page.text
    assert page.text.count("Too late to tell from copies") == 2
    assert "below the clock's resolution" in page.text
    assert "not the latency of the device alone" in page.text


def test_a_sentence_of_the_page_has_no_backticks(tmp_path: object) -> None:
    """Names are set as code, also those of trials in the statement of compliance."""
    run, _ = rendered(tmp_path, SMALL)
    first, *others = run.cases
    assert first.result is not None
    deviating = replace(first.result, compliance=said_each(("the trial `latency 1` was one of its own",)))
    page = report_text("html", replace(run, cases=(replace(first, result=deviating), *others)))
    assert "<code>latency 1</code> was one of its own" in page
    assert "`latency 1`" not in page


def test_text_of_the_plan_cannot_become_markup(tmp_path: object) -> None:
    axes = {**SMALL.cases[0].axes, "forwarding": HOSTILE}
    sample = replace(
        SMALL,
        cases=(Asked(axes, 14_000_000),),
        title=HOSTILE,
        device=HOSTILE,
        plan=HOSTILE,
        notes=said_each((HOSTILE,)),
    )
    _, text = rendered(tmp_path, sample)
    page = Page(text)
    assert not [tag for tag, attributes in page.elements if tag == "img" or "onerror" in attributes]
    assert sum(tag == "script" for tag, _ in page.elements) == 4, (
        "the bundle, the page's own, two figures' data"
    )
    for script in page.scripts[:1]:
        assert "alert(1)" in json.dumps(json.loads(script)), "as data it is kept as it was"
    assert "alert(1)" in page.text


def test_a_page_of_many_cases_has_their_texts_and_figures_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("plain", "packed"):
        (tmp_path / name).mkdir()
    _, plain = rendered(tmp_path / "plain", SMALL)
    monkeypatch.setattr(html_pack, "PACKED_FROM", len(SMALL.cases))
    run, packed = rendered(tmp_path / "packed", SMALL)
    (whole,) = re.findall(r'<script type="application/json" id="packed">(.*?)</script>', packed)
    parts = json.loads(gzip.decompress(base64.b64decode(json.loads(whole))))
    keys = [key for key, _ in figures_of(plain)]
    assert set(parts) == {*(f"case-{case.number}" for case in run.cases), *keys}
    assert dict(figures_of(plain)) == {key: parts[key] for key in keys}
    for case in run.cases:
        text = parts[f"case-{case.number}"]
        assert "<dl>" in text
        assert text in plain
        assert text not in packed
    assert len(packed) < len(plain)


def figures_of(text: str) -> list[tuple[str, str]]:
    return re.findall(r'<script type="application/json" id="([^"]+)">(.*?)</script>', text)


def test_the_48_cases_fit_in_2_megabytes(tmp_path: object) -> None:
    _, text = rendered(tmp_path, article())
    assert len(text.encode()) < 2_000_000


def test_frames_an_interface_had_no_room_for_are_reported_and_escaped(tmp_path: Path) -> None:
    write(tmp_path, SMALL).close()
    counted = [
        {
            "port": "west",
            "interface": HOSTILE,
            "counters": {"rx_packets": 9},
            "driver": {"rx_no_dma_resources": 1234, "rx_queue_0_packets": 9},
            "kinds": {"no room to receive": {"rx_no_dma_resources": 1234}},
            "downs": 0,
            "waited_ns": 0,
        }
    ]
    with changing(tmp_path) as record:
        interfaces = "json_set(unpacked(data), '$.outcome.interfaces', json(?))"
        record.execute(
            f"UPDATE contents SET data = packed({interfaces}) WHERE id IN (SELECT body FROM trials)",
            (json.dumps(counted),),
        )
    with open_run(tmp_path, REASONS) as run:
        text = report_text("html", view(run))
    page = Page(text)
    assert f"Interface {HOSTILE} of west: no room to receive (rx_no_dma_resources 1,234)" in page.text
    assert "rx_queue_0_packets" not in page.text, "what is not amiss is left to the JSON report"
    assert "<img src=x" not in text


def test_script_that_was_written_at_build_time_is_what_vl_convert_makes() -> None:
    made = bundle.made()
    assert bundle.script() == made
    assert bundle.EDITOR_URL not in made


def test_build_without_script_and_vl_convert_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(NetdynoError) as caught:
        bundle.made()
    assert caught.value.code == "extra-missing"


def test_without_vl_convert_the_script_draws_all_figures(
    whole: tuple[RunView, str, Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, text, _ = whole
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    bare = report_text("html", run)
    assert ('class="still" role="img"' in text, 'class="still" role="img"' in bare) == (True, False)
    assert text.count("<figure") == bare.count("<figure") > 0
    assert bundle.script() in bare


def test_calibration_has_no_tile_where_none_is_needed(whole: tuple[RunView, str, Page]) -> None:
    run, page, _ = whole
    is_needed = headline(run).calibrated[0] not in ("", "not needed")
    assert ("Tester calibrated?" in page) == is_needed
