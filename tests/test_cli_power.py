"""`opfield power` as a user meets it: the table, the sentences, and how wrong words are answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from opfield.cli.app import invoke
from opfield.warehouse.store import create_store
from tests.campaign.planning import measured
from tests.sql.build import Campaign, Metric, write_campaign

Capture = pytest.CaptureFixture[str]

NOISY = {"more": {f"{ix}": [0.1 * (ix % 7) + 0.2, 0.1 * (ix % 7), 0.1 * (ix % 7) + 0.1] for ix in range(28)}}
ALIKE = {"more": {case: values[:1] * 3 for case, values in NOISY["more"].items()}}
SINGLE = {"more": {case: values[:1] for case, values in NOISY["more"].items()}}
SHORT = {"more": {case: NOISY["more"][case] for case in ("0", "1", "2")}}
NO_DIFFERENCE = {"more": {f"{ix}": [0.0, 1.0] for ix in range(28)}}


@pytest.fixture(autouse=True)
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = create_store(tmp_path / "warehouse").root
    monkeypatch.setenv("OPFIELD_WAREHOUSE", str(root))
    return root


def wrote(root: Path, campaign: Campaign) -> None:
    with duckdb.connect() as con:
        write_campaign(con, root, campaign)


def told(capfd: Capture, *words: str, code: int = 0) -> tuple[str, str]:
    assert invoke(list(words)) == code, capfd.readouterr()
    captured = capfd.readouterr()
    return captured.out, captured.err


def told_json(capfd: Capture, *words: str) -> Any:
    out, _ = told(capfd, *words, "--json")
    return json.loads(out)


def test_the_plan_is_on_stdout_and_in_json(capfd: Capture, warehouse: Path) -> None:
    wrote(warehouse, measured(NOISY))
    out, err = told(capfd, "power", "tiny", "--effect", "0.1")
    assert err == ""
    assert "score of label more: a change of 0.1" in out
    assert [line.split()[0] for line in out.splitlines()[4:11]] == ["1", "2", "3", "5", "10", "20", "without"]
    plan = told_json(capfd, "power", "--effect", "0.1")
    # a case adds its own mean, one of 0.1 · (0 … 6) + 0.1, and repeats deviate by ±0.1 and 0
    assert plan["pilot"]["within"] == pytest.approx(0.01, abs=1e-12)
    assert plan["pilot"]["between"] == pytest.approx(28 / 27 * 0.04 - 0.01 / 3, abs=1e-12)
    assert plan["cheapest"] == plan["sizes"][0]
    assert f"Cheapest: {plan['cheapest']['cases']} cases with 1 repeat, {plan['cheapest']['cells']} cells" in out
    assert plan["sizes"][-1]["repeats"] is None
    assert all(sentence in out for sentence in plan["findings"])


@pytest.mark.parametrize(
    ("values", "effect", "sentence"),
    [
        (NOISY, 0.01, "On the pilot's cases repeats cannot bring the smallest effect below 0.1"),
        (NOISY, 0.112, "On the pilot's cases 3 repeats would be enough; repeats cannot bring"),
        (ALIKE, 0.1, "Repeats of a case are all alike: on the pilot's cases repeats cannot bring"),
        (SINGLE, 0.1, "No case was tried twice"),
        (NO_DIFFERENCE, 0.3, "repeats help as much as cases do: on the pilot's cases 2 repeats would be enough"),
    ],
)
def test_a_sentence_tells_whether_repeats_can_help(
    capfd: Capture, warehouse: Path, values: Any, effect: float, sentence: str
) -> None:
    wrote(warehouse, measured(values))
    assert sentence in told(capfd, "power", "--effect", f"{effect}")[0]


def test_what_the_plan_rests_on_is_told(capfd: Capture, warehouse: Path) -> None:
    missing = {"more": {**NOISY["more"], "0": [1.0, None, 0.0]}}
    wrote(warehouse, measured(missing, metrics=[Metric("score", kind="binary")], clusters={"0": "x", "1": "x"}))
    out, _ = told(capfd, "power", "--effect", "0.5")
    assert "27 independent units know their standard deviation to within a factor of 0.79 to 1.37" in out
    assert "Cases share clusters" in out
    assert "Fewer than 20 independent units are not planned for" in out
    assert "1 declared pair of the pilot found no value" in out
    assert "The metric is binary" in out


def test_a_margin_plans_for_noninferiority(capfd: Capture, warehouse: Path) -> None:
    wrote(warehouse, measured(NOISY))
    plan = told_json(capfd, "power", "--margin", "0.1")
    assert plan["sizes"][0]["cases"] == told_json(capfd, "power", "--effect", "0.1")["sizes"][0]["cases"]
    assert "a true change of 0 against a margin of 0.1" in told(capfd, "power", "--margin", "0.1")[0]


def test_asked_repeats_are_planned_and_a_change_too_small_has_no_plan(capfd: Capture, warehouse: Path) -> None:
    wrote(warehouse, measured(NOISY))
    out, _ = told(capfd, "power", "--effect", "0.1", "--repeats", "4")
    assert "Needed: " in out
    assert [line.split()[0] for line in out.splitlines()[4:6]] == ["4", "without"]
    out, _ = told(capfd, "power", "--effect", "1e-6")
    assert "over 1,000,000" in out
    assert "No plan of at most 1,000,000 cases" in out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "say which change is to be shown"),
        (["--effect", "0"], 1, "effect is 0.0, not above 0"),
        (["--effect", "nan"], 1, "not a finite number"),
        (["--effect", "1", "--alpha", "2"], 1, "alpha is 2.0"),
        (["--effect", "1", "--metric", "scor"], 1, "did you mean 'score'"),
        (["--effect", "1", "--candidate", "less"], 1, "known: label more"),
        (["other", "--effect", "1"], 1, "unknown campaign 'other'"),
    ],
)
def test_wrong_words_are_refused_with_the_remedy(
    capfd: Capture, warehouse: Path, words: list[str], code: int, message: str
) -> None:
    wrote(warehouse, measured(SHORT))
    out, err = told(capfd, "power", *words, code=code)
    assert message in err
    assert out == ""
