"""What a report says is what the relations say: nothing counted again, nothing left out unsaid, nothing made up."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import opfield as of
from opfield.core import canonical_json, digest, parse_json
from opfield.errors import DamageError, OpfieldError
from opfield.report import content as content_module
from opfield.report.content import FORMAT, read_report
from opfield.report.markdown import render_markdown
from opfield.report.page import render_html
from opfield.warehouse.views import ViewSet, installed_views
from tests.report.campaigns import Judged, written
from tests.report.conftest import Made
from tests.sql import build

Make = Callable[[str], Made]


def cells_of(made: Made) -> pl.DataFrame:
    """The accepted cells, read without any view."""
    return pl.read_parquet(made.root / "cells" / "*" / "*.parquet", hive_partitioning=False)


def test_changes_are_the_rows_of_the_relation(made: Make) -> None:
    campaign = made("win")
    columns = ["baseline_mean", "candidate_mean", "mean_delta", "ci_low", "ci_high", "pairs", "cases"]
    relation = of.open(campaign.root).rows(
        f"select label, metric, {', '.join(columns)} from comparisons inner join candidates using (candidate_id)"
    )
    expected = {(row["label"], row["metric"]): [row[name] for name in columns] for row in relation}
    told = {(row["label"], row["metric"]): [row[name] for name in columns] for row in campaign.rows("comparisons")}
    assert told == expected
    assert len(told) == 3 * 2


def test_the_denominator_is_every_declared_cell_and_each_has_one_fate(made: Make) -> None:
    campaign = made("missing_evidence")
    counted = dict(cells_of(campaign).group_by("status").len().iter_rows())
    both, *arms = campaign.rows("denominator")
    assert both["declared"] == 4 * 30 * 2
    assert {name: both[name] for name in counted} == counted
    fates = ("success", "domain_failure", "infrastructure_failure", "cancelled", "missing")
    for row in (both, *arms, *campaign.rows("arms")):
        assert sum(row[name] for name in fates) == row["declared"]
    assert both["extra"] == 0


def test_what_was_never_run_is_missing_in_every_part(made: Make) -> None:
    campaign = made("cancelled")
    missing = 4 * 30 * 2 - cells_of(campaign).height
    assert campaign.rows("denominator")[0]["missing"] == missing > 0
    assert sum(row["missing"] for row in campaign.rows("coverage")) == missing
    assert sum(row["missing"] for row in campaign.rows("arms")) == missing
    part = campaign.content["parts"]["failing_cells"]
    assert len(part["rows"]) + part["left_out"] == missing


def test_failures_and_the_cells_behind_them_are_counted_alike(made: Make) -> None:
    campaign = made("missing_evidence")
    failed = cells_of(campaign).filter(pl.col("status") != "success")
    assert sum(row["cells"] for row in campaign.rows("failures")) == failed.height
    grid = campaign.rows("coverage")
    assert sum(row["affected"] for row in grid if row["class"] != "success") == failed.height
    known = set(failed.select("case_id", "repeat", "failure_message").iter_rows())
    told = {(row["case_id"], row["repeat"], row["failure_message"]) for row in campaign.rows("failing_cells")}
    assert told <= known
    assert len(told) > 0


def test_slopes_stand_for_every_case_and_extremes_for_the_largest_changes(made: Make) -> None:
    campaign = made("win")
    for row in campaign.rows("candidates"):
        assert (
            sum(each["cases"] for each in campaign.rows("slopes") if each["position"] == row["position"])
            == row["cases"]
        )
    deltas = of.open(campaign.root).rows(
        "select candidate_id, case_id, mean_delta from case_deltas where metric = 'score'"
    )
    first = campaign.rows("candidates")[0]
    best = sorted(
        (-row["mean_delta"], row["case_id"]) for row in deltas if row["candidate_id"] == first["candidate_id"]
    )
    wins = [row["case_id"] for row in campaign.rows("extremes") if row["position"] == 1 and row["kind"] == "win"]
    assert wins == [case_id for _, case_id in best[:5]]


def test_of_many_cases_groups_are_drawn_that_add_up(tmp_path: Path) -> None:
    values = {f"case {ix:03d}": ((ix * 37) % 100) / 100 for ix in range(150)}
    trials = [
        build.Trial(who, case_id, values={"score": min(1.0, value + lift)})
        for case_id, value in values.items()
        for who, lift in (("base", 0.0), ("c1", 0.07))
    ]
    campaign = Judged(
        cases={case_id: {} for case_id in values},
        metrics=[build.Metric("score", lower=0, upper=1)],
        trials=trials,
        gates=[{"kind": "coverage"}],
        preference="score",
    )
    rows = read_report(tmp_path / "w", written(tmp_path / "w", campaign))["parts"]["slopes"]["rows"]
    assert sum(row["cases"] for row in rows) == 150
    assert len(rows) <= 100 < 150
    assert all(0 <= row["baseline_value"] <= 1 for row in rows)
    better = sum(row["cases"] for row in rows if row["outcome"] == "better")
    assert better == sum(min(1.0, value + 0.07) > value for value in values.values())


def test_unknown_costs_are_counted_and_never_zero(made: Make) -> None:
    campaign = made("win")
    known = cells_of(campaign).filter(pl.col("cost_usd").is_not_null())
    rows = campaign.rows("costs")
    assert sum(row["known_cost_cells"] for row in rows) == known.height == 120
    assert all(row["cost_per_success_usd"] is None for row in rows)
    assert "at least 0.06" in campaign.page
    assert all(row["known_cost_usd"] is None for row in made("ingested").rows("costs"))


def test_of_three_hundred_candidates_all_are_listed_and_what_is_left_out_is_said(made: Make) -> None:
    campaign = made("many")
    assert len(campaign.rows("candidates")) == 300
    scores = [row["score"] for row in campaign.rows("candidates") if row["decision"] == "pass"]
    assert scores == sorted(scores, reverse=True)
    parts = campaign.content["parts"]
    assert len(parts["comparisons"]["rows"]) + parts["comparisons"]["left_out"] == 600
    assert parts["comparisons"]["left_out"] == 520
    assert "520 more comparisons are left out here" in campaign.page


def test_nothing_is_selected_before_the_end(made: Make) -> None:
    (row,) = made("not_ended").rows("candidates")
    assert (row["decision"], row["is_selected"]) == ("pass", False)
    assert not made("not_ended").rows("selection")
    assert [each["is_selected"] for each in made("win").rows("candidates")].count(True) == 1


def test_what_a_candidate_changes_is_told_readably_and_cut(made: Make) -> None:
    campaign = made("no_preference")
    (row,) = campaign.rows("candidates")
    cut = f"{'a' * 80}… (200 characters)"
    assert row["changes"] == f'k = 4 (was 2), new[0] = true (new), prompt = "" (was {cut})'
    assert row["changes"].replace('"', "&#34;") in campaign.page
    travels = read_report(campaign.root, campaign.campaign_id, has_texts=False)
    assert "aaaa" not in json.dumps(travels)
    assert "changes k, new[0], prompt" in render_html(travels)


def test_clusters_are_told_as_the_unit(made: Make) -> None:
    campaign = made("no_preference")
    assert [row["clusters"] for row in campaign.rows("comparisons")] == [4]
    assert "clusters of cases as the unit" in campaign.page
    assert "8 cases in 4 clusters" in campaign.page
    assert "clusters of cases" not in made("loss").page


def test_a_group_that_fails_is_told_with_its_group(made: Make) -> None:
    campaign = made("failed_stratum")
    (row,) = campaign.rows("scopes")
    assert (row["label"], row["scope"], row["status"]) == ("for-users", "role = admin", "fail")
    by_group = {(row["label"], row["group_value"]): row["mean_delta"] for row in campaign.rows("strata")}
    assert by_group["for-users", "admin"] < 0 < by_group["for-users", "user"]


def test_the_digest_is_that_of_the_content(made: Make) -> None:
    told = dict(parse_json(json.dumps(made("win").content)))
    stated = told.pop("report_digest")
    assert stated == digest(FORMAT, canonical_json(told))


def test_the_same_evidence_gives_the_same_bytes_wherever_it_lies(made: Make, tmp_path: Path) -> None:
    campaign = made("missing_evidence")
    elsewhere = shutil.copytree(campaign.root, tmp_path / "copied elsewhere")
    again = read_report(elsewhere, campaign.campaign_id)
    assert render_html(again) == campaign.page
    assert render_markdown(again) == render_markdown(campaign.content)


def test_what_was_recorded_otherwise_than_found_is_told(tmp_path: Path) -> None:
    cases: dict[str, dict[str, str]] = {"a": {}, "b": {}}
    trials = [build.Trial(who, case, values={"score": 0.5}) for who in ("base", "c1") for case in cases]
    compared: tuple[str, dict[str, Any]] = (
        "comparison.recorded",
        {"candidate_id": "c1", "coverage": {}, "comparisons": []},
    )
    decided: tuple[str, dict[str, Any]] = (
        "decision.recorded",
        {"candidate_id": "c1", "decision": "fail", "gate": None, "score": None, "gates": []},
    )
    campaign = Judged(
        cases=cases,
        metrics=[build.Metric("score", lower=0, upper=1)],
        trials=trials,
        gates=[{"kind": "coverage"}],
        records=[compared, decided],
        ending={"selected": "c1", "outcome": "selected", "score": 1.0},
    )
    content = read_report(tmp_path / "w", written(tmp_path / "w", campaign))
    assert [(row["figure"], row["recorded"], row["found"]) for row in content["parts"]["records"]["rows"]] == [
        ("selection", "selected: label c1", "kept_baseline: baseline"),
        ("decision", "fail", "pass"),
    ]
    assert "What was recorded is not what the evidence gives now" in render_html(content)
    assert "What was recorded differs" in render_markdown(content)


def test_older_sql_that_cannot_answer_is_told_and_the_rest_stands(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = made("win")
    # Read before anything is altered: what is read of a campaign is kept for all tests.
    candidates = campaign.rows("candidates")
    kept = {name: text for name, text in installed_views().sources().items() if name not in ("pareto_noise", "pareto")}
    monkeypatch.setattr(content_module, "judging_views", lambda *_: ViewSet.from_sources(kept))
    content = read_report(campaign.root, campaign.campaign_id)
    assert content["parts"]["pareto"]["rows"] is None
    assert "cannot answer" in content["parts"]["pareto"]["problem"]
    assert content["parts"]["candidates"]["rows"] == candidates
    assert "cannot answer" in render_html(content)


@pytest.mark.parametrize("table", ["cells", "measurements", "events"])
def test_a_damaged_file_is_named_as_the_audit_names_it(made: Make, tmp_path: Path, table: str) -> None:
    campaign = made("loss")
    root = shutil.copytree(campaign.root, tmp_path / "damaged")
    file = max((root / table).rglob("*.parquet"), key=lambda path: path.stat().st_size)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(DamageError) as refused:
        read_report(root, campaign.campaign_id)
    assert file.relative_to(root).as_posix() in str(refused.value)
    file.unlink()
    with pytest.raises(OpfieldError, match="opfield audit"):
        read_report(root, campaign.campaign_id)


def test_a_report_that_travels_holds_no_text_of_a_case(made: Make) -> None:
    campaign = made("hostile")
    travels = read_report(campaign.root, campaign.campaign_id, has_texts=False)
    told = json.dumps(travels, ensure_ascii=False), render_html(travels), render_markdown(travels)
    inputs = [row["input"] for row in campaign.rows("extremes")]
    assert any("text" in each for each in inputs)
    for text in told:
        assert "long long long" not in text
        assert "&#34;html&#34;" not in text
        assert "xxxxxxxx" not in text
    assert "long long long" in campaign.page
    assert travels["artifacts"] == []
    assert numbers_of(travels) == numbers_of(campaign.content)


def numbers_of(content: Mapping[str, Any]) -> list[float]:
    return [
        value
        for part in content["parts"].values()
        for row in part["rows"]
        for value in row.values()
        if isinstance(value, int | float)
    ]


def test_long_texts_are_cut_with_their_length_stated(made: Make) -> None:
    campaign = made("hostile")
    whole = dict(pl.read_parquet(campaign.root / "cases" / "*" / "*.parquet")["case_id", "input"].iter_rows())
    inputs = [row for row in campaign.rows("extremes") if row["kind"] == "loss"]
    assert inputs
    for row in inputs:
        assert row["input"] == f"{whole[row['case_id']][:1500]}… ({len(whole[row['case_id']])} characters)"
    large = [each for each in campaign.content["artifacts"] if each["size_bytes"] > 3_000_000]
    assert large
    assert all(each["text"].endswith("characters)") and len(each["text"]) < 4100 for each in large)
