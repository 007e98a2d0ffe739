"""`opfield export` as a user meets it: what goes where, and what it says when the request cannot be."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow.parquet
import pytest

from opfield.cli.app import invoke
from tests.export.odd import FORMULA

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _warehouse(odd_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPFIELD_WAREHOUSE", str(odd_root))
    monkeypatch.chdir(tmp_path)


def told(capfd: Capture, *words: str, code: int = 0) -> tuple[str, str]:
    assert invoke(["export", *words]) == code, capfd.readouterr()
    captured = capfd.readouterr()
    return captured.out, captured.err


def test_rows_go_to_stdout_and_nothing_else_does(capfd: Capture) -> None:
    out, err = told(capfd, "decisions")
    (row,) = csv.DictReader(out.splitlines())
    assert (row["label"], row["decision"], err) == (FORMULA, "fail", "")
    out, err = told(capfd, "decisions", "--format", "jsonl")
    assert json.loads(out)["label"] == FORMULA
    out, _ = told(capfd, "decisions", "--guard-formulas", "-o", "-")
    assert f"'{FORMULA}" in next(csv.DictReader(out.splitlines())).values()


def test_the_format_follows_the_ending_and_json_tells_what_was_written(capfd: Capture, tmp_path: Path) -> None:
    out, _ = told(capfd, "--wide", "-o", "here/wide.parquet", "--json")
    assert json.loads(out) == [
        {
            "relation": "wide",
            "path": "here/wide.parquet",
            "rows": 12,
            "renamed": {"score #2": "score", "status #2": "status"},
        }
    ]
    assert pyarrow.parquet.read_metadata(tmp_path / "here" / "wide.parquet").num_rows == 12
    _, err = told(capfd, "--wide", "-o", "wide.csv")
    assert "wide.csv: wide, 12 rows" in err
    assert "column 'score #2' holds the metric 'score'" in err


def test_several_relations_go_into_a_folder_or_into_one_duckdb_file(capfd: Capture, tmp_path: Path) -> None:
    told(capfd, "decisions", "coverage", "--format", "parquet", "-o", "out/")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["coverage.parquet", "decisions.parquet"]
    told(capfd, "decisions", "coverage", "--wide", "-o", "some.duckdb")
    with duckdb.connect("some.duckdb", read_only=True) as con:
        assert {name for (name,) in con.execute("select table_name from duckdb_tables()").fetchall()} == {
            "decisions",
            "coverage",
            "wide",
        }


def test_a_campaign_s_rows_can_be_had_alone(capfd: Capture) -> None:
    assert told(capfd, "decisions", "--campaign", "odd") == told(capfd, "decisions")
    _, err = told(capfd, "decisions", "--campaign", "even", code=1)
    assert "unknown campaign 'even'; known:" in err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "name a relation, such as decisions"),
        (["decisions", "coverage"], 2, "one file holds one relation"),
        (["decisions", "--format", "parquet"], 2, "parquet does not go to stdout"),
        (["decisions", "-o", "out/"], 2, "a folder does not say its format"),
        (["decisions", "-o", "out/", "--format", "duckdb"], 2, "a DuckDB file holds all relations"),
        (["decisions", "--json"], 2, "say --format jsonl"),
        (["decisions", "-o", "a.parquet", "--guard-formulas"], 2, "--guard-formulas is for CSV, not parquet"),
        (["decisions", "-o", "a.xlsx"], 1, "end it with one of .parquet"),
        (["decision"], 1, "did you mean 'decisions'?"),
        (["decisions; drop table x"], 1, "unknown relation"),
        (["decisions", "-o", "/proc/none/a.csv"], 1, "cannot write /proc/none/a.csv"),
        (["decisions", "-o", f"{'a' * 300}.csv"], 1, "File name too long; name another place"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_written(
    capfd: Capture, tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    out, err = told(capfd, *words, code=code)
    assert message in " ".join(err.split())
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_leaves_the_pipe_is_no_error(odd_root: Path) -> None:
    words = [sys.executable, "-m", "opfield", "export", "events", "--format", "jsonl", "--warehouse", str(odd_root)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.stderr is not None
        assert running.stderr.read() == b""
        assert running.wait(timeout=60) == 0
