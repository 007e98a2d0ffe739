from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from opfield.warehouse import results
from opfield.warehouse.files import check_results
from opfield.warehouse.results import RECORD, are_as_written, differing_results, results_folder, write_results

CAMPAIGN = "sha256:" + "a" * 64
NAMES = ("labels", "sums")


class Killed(BaseException):
    """The process is dead."""


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        say(opened, 1)
        yield opened


def say(con: duckdb.DuckDBPyConnection, number: int) -> None:
    con.execute(f"create or replace table labels as select {number} as n, 'x' as label")
    con.execute(f"create or replace table sums as select sum({number}::bigint) as total, null::double as unknown")


def content_of(root: Path) -> dict[str, bytes]:
    folder = results_folder(root, CAMPAIGN)
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def test_what_is_written_equals_what_the_connection_answers(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    write_results(tmp_path, CAMPAIGN, con, NAMES)
    assert differing_results(con, tmp_path, CAMPAIGN, NAMES) == []
    assert are_as_written(tmp_path, CAMPAIGN, NAMES)
    assert not are_as_written(tmp_path, CAMPAIGN, NAMES[:1])
    stray = results_folder(tmp_path, CAMPAIGN) / "more.parquet"
    stray.touch()
    assert not are_as_written(tmp_path, CAMPAIGN, NAMES)
    stray.unlink()
    say(con, 2)
    assert differing_results(con, tmp_path, CAMPAIGN, NAMES) == [*NAMES]


def test_a_sum_of_integers_is_exact(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    say(con, 2**62 + 1)
    write_results(tmp_path, CAMPAIGN, con, NAMES)
    path = results_folder(tmp_path, CAMPAIGN) / "sums.parquet"
    assert con.execute(f"select total::hugeint from '{path}'").fetchall() == [(2**62 + 1,)]


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("name", ["_copy", "write_bytes", "os.fsync", "os.replace", "sync_folder"])
def test_death_at_any_step_leaves_whole_results_or_none(
    tmp_path: Path, con: duckdb.DuckDBPyConnection, name: str, is_new: bool
) -> None:
    write_results(tmp_path / "expected", CAMPAIGN, con, NAMES)
    expected = content_of(tmp_path / "expected")
    for at in range(10):
        root = tmp_path / str(at)
        if not is_new:
            say(con, 2)
            write_results(root, CAMPAIGN, con, NAMES)
            say(con, 1)
        old = content_of(root)
        try:
            with pytest.MonkeyPatch.context() as patch:
                dies_at(patch, name, at)
                write_results(root, CAMPAIGN, con, NAMES)
        except Killed:
            assert content_of(root) in (old, expected, {})
            write_results(root, CAMPAIGN, con, NAMES)
        else:
            assert at > 0  # every call was passed
            break
        assert content_of(root) == expected
        assert [path.name for path in (root / "results").iterdir()] == [results_folder(root, CAMPAIGN).name]


def dies_at(patch: pytest.MonkeyPatch, name: str, at: int) -> None:
    """Let the process die before the call that is counted so; the dead remove nothing."""
    holder, _, member = name.rpartition(".")
    target = vars(results)["os"] if holder else results
    real, calls = getattr(target, member), iter(range(1_000))

    def dying(*arguments: object) -> object:
        if next(calls) == at:
            patch.setattr(results, "sweep_results", lambda *_: None)
            raise Killed
        return real(*arguments)

    patch.setattr(target, member, dying)


def test_a_record_that_is_gone_or_altered_is_named(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    write_results(tmp_path, CAMPAIGN, con, NAMES)
    record = results_folder(tmp_path, CAMPAIGN) / RECORD
    content = record.read_bytes()
    for harmed in (content[:-3], content.replace(b"sums", b"sumz"), b"", None):
        record.unlink(missing_ok=True)
        if harmed is not None:
            record.write_bytes(harmed)
        (finding,) = check_results(tmp_path, CAMPAIGN)
        assert (finding.file, finding.law) == (record.relative_to(tmp_path).as_posix(), "result")
        assert "`opfield seal`" in finding.detail
