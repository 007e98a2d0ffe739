"""What files state is set beside what their samples amount to, and what it is over is said in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import opfield as of
from tests.ingest.toy import results, taken, write_rows

OTHER = results({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4})


def stated(tmp_path: Path, rows: list[dict[str, Any]], *figures: dict[str, Any]) -> list[dict[str, Any]]:
    files = write_rows(tmp_path / "base.jsonl", [*rows, *figures]), write_rows(tmp_path / "new.jsonl", OTHER)
    told = taken(tmp_path / "warehouse", *files)
    query = """
        select stated, over_scored, over_samples, over_declared, unscored, agrees, difference
        from stated_figures order by name, stated
    """
    return list(of.open(told.root).sql(query).pl().to_dicts())


def mean(value: float) -> dict[str, Any]:
    return {"figure": "mean", "stated": value, "metric": "score"}


def test_a_mean_over_everything_agrees(tmp_path: Path) -> None:
    (row,) = stated(tmp_path, results({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.6}), mean(0.3))
    # (.1 + .2 + .3 + .6) / 4
    assert (row["agrees"], row["difference"], row["unscored"]) == (True, "none", 0)


def test_a_mean_over_what_survived_agrees_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    rows = [*results({"a": 0.2, "b": 0.4, "c": 0.6}), {"case": "d", "status": "infrastructure_failure"}]
    (row,) = stated(tmp_path, rows, mean(0.4))
    assert (row["agrees"], row["unscored"]) == (True, 1)
    assert row["difference"] == "the file's figure leaves out 1 of the declared cells"
    assert abs(row["over_declared"] - 0.3) < 1e-12  # (.2 + .4 + .6 + 0) / 4


def test_a_mean_that_counts_failures_as_the_worst_is_told(tmp_path: Path) -> None:
    rows = [*results({"a": 0.2, "b": 0.4, "c": 0.6}), {"case": "d", "status": "infrastructure_failure"}]
    (row,) = stated(tmp_path, rows, mean(0.3))
    assert (row["agrees"], row["difference"]) == (False, "the file counts 1 cells without a value as the worst")


def test_a_mean_over_samples_is_told_from_one_over_cases(tmp_path: Path) -> None:
    rows = [
        *({"case": "a", "score": 0.0, "repeat": repeat} for repeat in range(3)),
        *results({"b": 1.0, "c": 1.0, "d": 1.0}, repeat=0),
    ]
    (row,) = stated(tmp_path, rows, mean(0.5))
    # 3 of 6 samples, but 3 of 4 cases
    assert (row["over_samples"], row["over_scored"]) == (0.5, 0.75)
    assert row["difference"] == "the file's mean is over samples, not over cases"


def test_a_mean_that_nothing_explains_is_off_by_so_much(tmp_path: Path) -> None:
    (row,) = stated(tmp_path, results({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.6}), mean(0.31))
    assert (row["agrees"], row["difference"]) == (False, "the file's figure is off by 0.01")


def test_counts_are_set_beside_cells(tmp_path: Path) -> None:
    rows = [
        *results({"a": 0.2, "b": 0.4}),
        {"case": "c", "status": "infrastructure_failure"},
        {"case": "d", "repeats": 1},
    ]
    figures = [{"figure": "samples", "stated": 4}, {"figure": "scored", "stated": 2}]
    samples, scored = stated(tmp_path, rows, *figures)
    assert (samples["stated"], samples["over_scored"], samples["over_declared"], samples["unscored"]) == (4, 3, 4, 1)
    assert samples["difference"] == "the file states 4 and holds 3"
    assert (scored["over_scored"], scored["agrees"]) == (2, True)
    assert scored["difference"] == "of the declared cells 2 are none of these"


def test_a_campaign_without_stated_figures_has_no_row(tmp_path: Path) -> None:
    assert stated(tmp_path, results({"a": 0.1})) == []
