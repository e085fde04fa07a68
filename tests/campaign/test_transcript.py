"""What devices print during a trial: kept once a text, bounded, sealed with the trial, and read again."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netdyno.campaign import readings
from netdyno.campaign.instants import with_instants
from netdyno.campaign.readings import ReadingsLeftOut, Texts, pack_transcript
from netdyno.devices.live import Channel
from netdyno.reports.model.from_store import view
from netdyno.store import DamagedError, RunWriter, open_run, write
from netdyno.values import transcript
from netdyno.values.sample import Printed, Sample
from netdyno.values.transcript import Said, Transcript
from pages import report_text
from report_sample import SMALL
from report_sample import write as write_run

IDLE = Printed("show power", "Total: 2219.3\n")
BUSY = Printed("show power", "Total: 2301.9\n")


def sample(printed: Printed, at_ns: int) -> Sample:
    return Sample(at_ns, at_ns + 1, 1, raw=printed)


def transcript_of(*readings: tuple[Printed, int]) -> Transcript:
    texts = Texts()
    for printed, at_ns in readings:
        # A reading of three quantities has one text.
        texts.add([sample(printed, at_ns)] * 3)
    return Transcript.unpack(pack_transcript([texts], 1000))


def test_text_that_repeats_is_kept_once_with_its_times() -> None:
    found = transcript_of((IDLE, 500), (BUSY, 1500), (IDLE, 2500))
    assert found.texts == (
        Said("show power", "Total: 2219.3\n", (-499, 1501)),
        Said("show power", "Total: 2301.9\n", (501,)),
    )
    assert found.left_out == 0


def test_texts_beyond_the_room_of_a_trial_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "MOST_BYTES", 20)
    found = transcript_of((IDLE, 500), (BUSY, 1500), (BUSY, 2500), (IDLE, 3500))
    assert [said.text for said in found.texts] == [IDLE.text]
    assert found.left_out == 2


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: zlib.compress(text.encode())))
def test_transcript_of_any_bytes_is_read_or_refused(data: bytes) -> None:
    try:
        found = Transcript.unpack(data)
    except ValueError:
        return
    assert Transcript.unpack(found.pack()) == found


@given(st.lists(st.text(st.characters(), max_size=50), min_size=1, max_size=20), st.integers(120, 400))
def test_texts_beyond_the_room_of_a_transcript_are_counted(texts: list[str], room: int) -> None:
    """Also escaped characters are counted as they are stored, and half a surrogate pair as its `?`."""
    said = tuple(Said("show x", text, (at_ns,)) for at_ns, text in enumerate(texts))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(transcript, "MOST_BYTES", room)
        found = Transcript.unpack(Transcript(said).pack())
    assert len(found.texts) + found.left_out == len(said)
    stored = {replace(one, text=one.text.encode(errors="replace").decode()) for one in said}
    assert set(found.texts) <= stored
    if sum(6 * len(text) + 30 for text in texts) < room - 100:
        assert found.left_out == 0


def test_trial_of_texts_that_are_no_ascii_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three instruments print as much as there is room for: 2**26 bytes for a trial, a 1024th of it here."""
    monkeypatch.setattr(transcript, "MOST_BYTES", 2**16)
    monkeypatch.setattr(readings, "MOST_BYTES", 2**12)
    instruments = []
    for number in range(3):
        texts = Texts()
        for at_ns in range(10):
            texts.add([sample(Printed("show log", f"{number} {at_ns} ".ljust(1024, "\ufffd")), at_ns)])
        instruments.append(texts)
    data = pack_transcript(instruments, 0)
    found = Transcript.unpack(data)
    # 3 bytes a character: one text of each has room.
    assert (len(found.texts), found.left_out) == (3, 27)
    monkeypatch.setattr(transcript, "MOST_BYTES", 2**13)
    data = pack_transcript(instruments, 0)
    with open_run(run_with(tmp_path, monkeypatch, data)) as run:
        (trial, *_) = run.trials(0, with_texts=True)
        found = Transcript.unpack(trial.result.transcript)
        assert (len(found.texts), found.left_out) == (2, 28)
        assert "28 texts are left out" in report_text("transcript", view(run, with_texts=True))


def test_transcript_that_unpacks_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="more than"):
        Transcript.unpack(zlib.compress(b" " * (2**26 + 1)))


def test_half_a_surrogate_pair_is_stored_as_a_question_mark() -> None:
    found = Transcript.unpack(Transcript((Said("show", "a\ud800b", (1,)),)).pack())
    assert found.texts == (Said("show", "a?b", (1,)),)


def test_text_that_is_no_unicode_is_refused() -> None:
    """Half of a surrogate pair: no report can write it."""
    with pytest.raises(ValueError, match="surrogates"):
        Transcript.unpack(zlib.compress(rb'{"left_out":0,"texts":[["show","\ud800",[1]]]}'))


def run_with(folder: Path, monkeypatch: pytest.MonkeyPatch, data: bytes = b"") -> Path:
    """A run of the reports' sample in whose trials a device printed these, or two texts."""
    data = data or pack_transcript([_texts()], 0)
    add_trial = RunWriter.add_trial
    monkeypatch.setattr(
        RunWriter,
        "add_trial",
        lambda self, trial: add_trial(self, replace(trial, result=replace(trial.result, transcript=data))),
    )
    with write_run(folder, SMALL) as run:
        return Path(run.folder)


def _texts() -> Texts:
    texts = Texts()
    texts.add([sample(IDLE, 10**9), sample(BUSY, 2 * 10**9)])
    return texts


def test_report_has_the_texts_and_only_that_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run_with(tmp_path, monkeypatch)
    with open_run(folder) as run:
        page = report_text("transcript", view(run, with_texts=True))
        assert page.count("Total: 2301.9") == run.trial_count()
        assert "at 2.000 s" in page
        assert not any(trial.result.transcript for trial in view(run).cases[0].trials)


def test_texts_are_checked_with_their_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run_with(tmp_path, monkeypatch)
    with open_run(folder) as run:
        assert not run.verify().damage
    with sqlite3.connect(folder / "run.sqlite") as sql:
        changed = zlib.compress(b'{"left_out":0,"texts":[]}')
        sql.execute(
            "UPDATE contents SET data = ? WHERE id = (SELECT data FROM transcripts LIMIT 1)", (changed,)
        )
    with open_run(folder) as run:
        assert run.verify().damage
        with pytest.raises(DamagedError):
            list(run.trials(0, with_texts=True))


def test_trial_whose_texts_are_gone_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run_with(tmp_path, monkeypatch)
    with sqlite3.connect(folder / "run.sqlite") as sql:
        sql.execute("DELETE FROM transcripts WHERE trial = (SELECT min(trial) FROM transcripts)")
    with open_run(folder) as run:
        assert run.verify().damage


def test_record_without_room_counts_the_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "MOST_TRANSCRIPTS", 150)
    folder = run_with(tmp_path, monkeypatch)
    with open_run(folder) as run:
        found = [
            Transcript.unpack(trial.result.transcript)
            for case in run.cases
            for trial in run.trials(case.head.number, with_texts=True)
        ]
    assert [len(one.texts) for one in found[:2]] == [2, 0]
    assert found[1].left_out == 2
    assert "2 texts are left out" in report_text("transcript", view(open_run(folder), with_texts=True))


class Standing:
    """Stands for an emulated device, whose one counter it reads."""

    counted = 0

    def stand_at(self, at_ns: int, counters: Sequence[Mapping[str, Any]], mean_bytes: float) -> bool:
        self.counted = counters[0]["counted"]
        return True

    def instruments(self) -> tuple[Standing, ...]:
        return (self,)

    name, period_s = "stand-in", 1e-6

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        channel = Channel("p1", "rx_packets", "packets", is_counter=True)
        return {channel: Sample(now(), now(), self.counted, raw=IDLE)}


def test_readings_left_out_are_missed_between_the_last_two(tmp_path: Path) -> None:
    """30,000 of them: the first and the last count, which the balance needs."""
    with write_run(tmp_path, SMALL) as run:
        outcome = next(run.trials(0)).result
    readings = tuple((second * 10**9, ({"counted": second},)) for second in (0, 1, 40_000))
    live: Any = Standing()
    found = with_instants(
        live, replace(outcome, readings=readings, readings_left_out=30_000, series=()), Fraction(1)
    )
    (series,) = found.series
    assert (series.values[-2:], series.command) == ((1, 40_000), "show power")
    assert [(one.at_ns, one.reason) for one in series.missed] == [(10**9, ReadingsLeftOut(30_000))]
