"""The small JSON: plain numbers with their unit in the key, equal to the exact ones beside them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from netdyno.reports.formats import json as whole_json
from netdyno.reports.model.from_store import view
from report_sample import SMALL, write


def test_values_of_the_small_form_are_plain_and_exact(tmp_path: Path) -> None:
    with write(tmp_path, SMALL) as stored:
        run = view(stored)
    document = json.loads(whole_json.text(run, small=True))
    assert [case["name"] for case in document["cases"]] == [case.name for case in run.cases]
    whole = {case["name"]: case for case in json.loads(whole_json.text(run))["cases"]}
    for case in document["cases"]:
        assert all(case[key] == whole[case["name"]][key] for key in ("settings", "profile", "direction"))
    values = [value for case in document["cases"] for value in case["values"]]
    rates = [value for value in values if "number_pps" in value]
    assert rates
    for value in rates:
        assert value["number_pps"] == float(Fraction(value["number_exact"]))
    assert not [key for value in values for key in value if key.endswith("_fps")]
