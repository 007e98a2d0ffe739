"""What a CI reads: exit codes by the candidates' decisions, JUnit XML, and a word where record and views disagree."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import opfield as of
from opfield.cli.app import invoke
from opfield.cli.junit import TEXT_LIMIT, junit_xml
from opfield.cli.verdict import exit_code
from opfield.warehouse.projection import campaigns_on_disk
from tests.campaign.campaigns import fails_on_b, small
from tests.sql.build import record_files

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`less` and `more` fail: one at the mean, one at a failed case."""
    root = tmp_path_factory.mktemp("ci") / "warehouse"
    of.run(small(run=fails_on_b), root, executor="inline")
    return root


def verdict_of(decisions: list[str], outcome: str | None, state: str = "completed") -> dict[str, Any]:
    return {
        "campaign": {
            "name": "demo",
            "state": state,
            "campaign_id": "sha256:c",
            "root": None,
            "policy_digest": "sha256:p",
            "finished_at": datetime(2026, 1, 2, 3, 4, 5, 678),
        },
        "conclusion": {"message": "nothing is known yet"},
        "selection": None if outcome is None else {"outcome": outcome},
        "decisions": [
            {"candidate": f"c{ix}", "candidate_id": f"id{ix}", "decision": each} for ix, each in enumerate(decisions)
        ],
    }


@pytest.mark.parametrize(
    ("decisions", "outcome", "codes"),
    [
        # without --fail-on; none; fail; indeterminate; both
        (["pass", "pass"], "selected", [0, 0, 0, 0, 0]),
        (["pass", "fail"], "selected", [0, 0, 3, 0, 3]),
        (["pass", "pass"], "kept_baseline", [3, 0, 0, 0, 0]),
        (["fail", "indeterminate"], "undecided", [4, 0, 3, 4, 3]),
        (["pass", "indeterminate"], "selected", [0, 0, 0, 4, 4]),
        ([], "kept_baseline", [3, 0, 0, 0, 0]),
        (["pass"], None, [4, 0, 0, 4, 4]),
    ],
)
def test_the_exit_code_follows_the_decisions_that_are_named(
    decisions: list[str], outcome: str | None, codes: list[int]
) -> None:
    verdict = verdict_of(decisions, outcome)
    named: list[set[str] | None] = [None, set(), {"fail"}, {"indeterminate"}, {"fail", "indeterminate"}]
    assert [exit_code(verdict, each) for each in named] == codes


def test_a_cancelled_campaign_is_indeterminate() -> None:
    verdict = verdict_of(["pass"], "selected", state="cancelled")
    assert [exit_code(verdict, each) for each in (None, {"fail"}, {"indeterminate"})] == [4, 0, 4]


def gate_row(**changes: Any) -> dict[str, Any]:
    row = {"candidate_id": "id0", "candidate": "c0", "gate": "g", "kind": "k", "status": "pass", "is_reached": True}
    return {**row, "message": "it says", **changes}


def checked(content: bytes) -> ET.Element:
    """Return a document that has the elements, attributes and counts that readers of JUnit XML agree on."""
    root = ET.fromstring(content)
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        cases = suite.findall("testcase")
        assert [each.tag for each in suite] == ["properties", *("testcase" for _ in cases)]
        for case in cases:
            assert set(case.attrib) == {"name", "classname"}
            assert [each.tag for each in case] in ([], ["failure"], ["skipped"])
        for name, tag in (("failures", "failure"), ("skipped", "skipped"), ("errors", "error")):
            assert int(suite.attrib[name]) == sum(case.find(tag) is not None for case in cases)
        assert int(suite.attrib["tests"]) == len(cases)
        datetime.fromisoformat(suite.attrib["timestamp"])
    for name in ("tests", "failures", "skipped", "errors"):
        assert int(root.attrib[name]) == sum(int(suite.attrib[name]) for suite in root)
    return root


@pytest.mark.parametrize(
    ("changes", "fail_on", "expected"),
    [
        ({}, set(), None),
        ({"status": "fail"}, None, "failure"),
        ({"status": "fail"}, set(), "skipped"),
        ({"status": "fail"}, {"fail"}, "failure"),
        ({"status": "indeterminate"}, {"fail"}, "skipped"),
        ({"status": "indeterminate"}, None, "skipped"),
        ({"status": "indeterminate"}, {"fail", "indeterminate"}, "skipped"),  # the candidate is decided otherwise
        ({"status": "fail", "is_reached": False}, {"fail", "indeterminate"}, "skipped"),
        ({"status": "pass", "is_reached": False}, set(), "skipped"),
    ],
)
def test_a_gate_is_a_test_case(changes: dict[str, Any], fail_on: set[str] | None, expected: str | None) -> None:
    root = checked(junit_xml(verdict_of(["fail"], "kept_baseline"), [gate_row(**changes)], fail_on))
    (case,) = root.iter("testcase")
    assert (case.attrib["name"], case.attrib["classname"]) == ("g", "demo.c0")
    assert [each.tag for each in case] == ([] if expected is None else [expected])
    assert 'timestamp="2026-01-02T03:04:05"' in ET.tostring(root, "unicode")


@given(
    st.lists(st.tuples(st.sampled_from(["pass", "fail", "indeterminate"]), st.booleans()), max_size=3),
    st.sets(st.sampled_from(["fail", "indeterminate"])),
    st.sampled_from([None, "selected"]),
    st.sampled_from(["running", "completed", "cancelled"]),
)
def test_with_fail_on_there_are_failures_exactly_where_the_exit_code_says_so(
    decided: list[tuple[str, bool]], fail_on: set[str], outcome: str | None, state: str
) -> None:
    verdict = verdict_of([each for each, _ in decided], outcome, state)
    rows = []
    for ix, (decision, is_explained) in enumerate(decided):
        # a gate decides, or one that fails so far decides nothing yet, or none does
        status = decision if is_explained or decision != "indeterminate" else "fail"
        rows.append(gate_row(candidate_id=f"id{ix}", status=status))
        if status != decision:
            rows.append(gate_row(candidate_id=f"id{ix}", gate="decision", status=decision))
    root = checked(junit_xml(verdict, rows, fail_on))
    assert (int(root.attrib["failures"]) > 0) == (exit_code(verdict, fail_on) != 0)


@given(st.text() | st.sampled_from(["]]>", "<!--", "&amp;", "\x1b[31m", "\x00\x0b\ufffe\ud800", "\u202e", "x" * 9_000]))
def test_any_text_leaves_the_document_whole(text: str) -> None:
    verdict = verdict_of(["fail", "pass"], "kept_baseline")
    verdict["campaign"]["name"] = verdict["decisions"][0]["candidate"] = text
    rows = [gate_row(gate=text, message=text, kind=text, status="fail"), gate_row(candidate_id="id1", message=None)]
    root = checked(junit_xml(verdict, rows, None))
    (failure,) = root.iter("failure")
    plain = text.isprintable() and text == text.strip()
    assert not plain or len(text) > TEXT_LIMIT or failure.attrib["message"] == text
    assert len(failure.attrib["message"]) < TEXT_LIMIT + 40
    assert "\x1b" not in ET.tostring(root, "unicode")


def test_compare_writes_junit_beside_the_table(
    finished: Path, tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPFIELD_WAREHOUSE", str(finished))
    path = tmp_path / "out" / "gates.xml"
    assert invoke(["compare", "--junit", str(path), "--fail-on", "fail,indeterminate"]) == 3
    assert "deciding gate" in capfd.readouterr().out
    suites = {suite.attrib["name"]: suite for suite in checked(path.read_bytes())}
    told = {
        name: [(case.attrib["name"], *(each.tag for each in case)) for case in suite.iter("testcase")]
        for name, suite in suites.items()
    }
    assert told == {
        "less": [("coverage",), ("failures",), ("mean_delta(score)", "failure")],
        "more": [("coverage",), ("failures", "failure"), ("mean_delta(score)", "skipped")],
    }
    assert invoke(["compare", "--fail-on", "indeterminate"]) == 0
    assert "but computed again" not in capfd.readouterr().err
    for wrong in ("", "failed", "none,fail"):
        assert invoke(["compare", "--fail-on", wrong]) == 2
    assert invoke(["compare", "--junit", str(finished / "gates.xml")]) == 1
    assert "lies inside the warehouse" in capfd.readouterr().err


def test_compare_says_where_its_decision_is_not_the_recorded_one(
    finished: Path, tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(shutil.copytree(finished, tmp_path / "copy"))
    for path in root.glob("measurements/campaign=[!n]*/0000000000*[1-9].parquet"):
        path.unlink()
    # Damage is refused; in this warehouse the records vouch for what is left.
    record_files(root, campaigns_on_disk(root)[0])
    monkeypatch.setenv("OPFIELD_WAREHOUSE", str(root))
    invoke(["compare"])
    told = capfd.readouterr().err
    assert "the recorded decision of less is fail, but computed again from the files it is indeterminate" in told
    assert "the recorded selection is baseline, but computed again" in told
    assert "`opfield audit` tells why" in told
