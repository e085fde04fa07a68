"""A case that no machine like this one can hold is refused with what it takes, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from netdyno.campaign import memory
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.plan.matrix import cases

PLAN = """\
title: Memory
lab:
  nodes: {{tester: {{kind: netdyno, workers: {workers}}}, dut: {{kind: external}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 1Gbps, interface: one}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 1Gbps, interface: two}}
traffic:
  few: {{size: 64B, flows: 1000}}
  many: {{size: 64B, flows: {flows}}}
matrix: {{profile: [few, many], direction: [bidir]}}
trial: {{sample: 100ms, drain: 1s}}
method: {{ramp: {{warmup: null, ramp: 59s to 100%, hold: null}}}}
"""
GIB = 2**30


def need(flows: int, workers: int = 1) -> memory.Need:
    plan = parse(PLAN.format(flows=flows, workers=workers))
    return memory.most_needed(plan, cases(plan))


def test_flows_take_16_bytes_at_each_worker_until_they_share_a_table() -> None:
    # Both ways: twice as many. 2^27 flows of one worker are 2 GiB; more than that take a byte more each.
    assert need(2**26).flow_bytes == 2 * GIB
    assert need(2**25, workers=2).flow_bytes == 2 * GIB
    assert need(2**26, workers=2).flow_bytes == 2**27 * 17
    assert need(2**27, workers=8).flow_bytes == 2**28 * 17 < 4.5 * GIB


def test_the_largest_case_is_the_one_that_counts() -> None:
    found = need(2**20)
    assert "many" in found.case
    assert (found.flows, found.streams) == (2**21, 2)
    # 59 s and a drain of 1 s in samples of 100 ms, and the one that a border may cut.
    # Two streams and two ports, in real time.
    assert found.sample_bytes == 601 * 2 * (240 + 170 + 320)
    assert found.stream_bytes == 2 * memory.STREAM_BYTES + found.sample_bytes


def test_a_case_that_does_not_fit_is_refused_with_what_it_takes() -> None:
    plan = parse(PLAN.format(flows=2**26, workers=1))
    memory.refuse(plan, cases(plan), 3 * GIB)
    with pytest.raises(PlanErrors) as refused:
        memory.refuse(plan, cases(plan), GIB)
    (error,) = refused.value.errors
    assert error.code == "no-memory"
    assert "2 GiB" in error.message
    assert "1 GiB" in error.message
    assert "flows" in error.hint


def test_the_hint_names_what_takes_the_memory() -> None:
    classes = "classes: {voice: {share: 10%}, rest: {share: 90%}}"
    for more, sample, words in (("", "1s", "ports"), (classes, "1s", "classes"), ("", "100us", "sample")):
        many = f"many: {{size: 64B, flows: 1, {more}}}"
        text = PLAN.format(flows=1, workers=1).replace("many: {size: 64B, flows: 1}", many)
        plan = parse(
            text.replace("sample: 100ms", f"sample: {sample}").replace(
                "profile: [few, many]", "profile: [many]"
            )
        )
        with pytest.raises(PlanErrors) as refused:
            memory.refuse(plan, cases(plan), 2**14)
        (error,) = refused.value.errors
        assert words in error.hint
        assert ("sample" in error.hint) == (sample == "100us")


def test_this_machine_says_how_much_is_free() -> None:
    free = memory.find_available()
    assert free is not None
    assert 2**20 < free < 2**50


def test_of_a_cgroup_what_holds_only_files_is_free(tmp_path: Path) -> None:
    """The kernel gives such pages back: reading a large file does not use up the memory of a container."""
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/lab/run\n")
    inner = tmp_path / "sys/fs/cgroup/lab/run"
    inner.mkdir(parents=True)
    limits = {inner.parent: (GIB, GIB - 100, (300, 50)), inner: ("max", 7, (0, 0))}
    for folder, (most, used, (active, inactive)) in limits.items():
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text(f"{used}\n")
        (folder / "memory.stat").write_text(f"anon 5\nactive_file {active}\ninactive_file {inactive}\n")
    assert list(memory._of_cgroup(tmp_path)) == [450]
