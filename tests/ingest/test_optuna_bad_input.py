"""Journals and databases that are damaged, foreign or contradictory: each ends in a message with place and remedy."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opfield.errors import UnknownNameError
from opfield.ingest.readers.optuna import reader
from opfield.ingest.records import IngestError, Note, Refused, Sample
from tests.ingest.optuna_journals import COMPLETE, FAIL, N, X, op, study, trial, write
from tests.ingest.reading import only, read

WHOLE = [study(), *trial(0, COMPLETE, [1.0], params={"x": (1.0, X)})]


def test_a_last_line_that_is_cut_off_is_told_of_and_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "j.log", WHOLE)
    with path.open("a") as file:
        file.write(json.dumps(op(4, study_id=0, datetime_start=None))[:-9])
    records = read(reader, path)
    assert len(only(Sample, records)) == 1
    assert [note.place for note in only(Note, records) if "cut off" in note.text] == ["j.log: line 5"]


def test_a_line_that_is_cut_off_before_others_is_refused_by_its_number(tmp_path: Path) -> None:
    path = write(tmp_path / "j.log", WHOLE)
    lines = path.read_text().splitlines()
    lines[2] = lines[2][:30]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(IngestError, match="line 3"):
        read(reader, path)


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (op(11), "op_code 11 is unknown"),
        (op(-1), "op_code -1 is unknown"),
        ({"a": 1}, "no op_code"),
        ([1], "no op_code"),
        (op(0, study_name=3, directions=[1]), "study_name is 3"),
        (op(0, study_name="s", directions=[7]), "directions"),
        (op(4, study_id=0, datetime_start=None, state=9), "state is 9"),
        (op(4, study_id=0, datetime_start=None, params={"x": 1.0}), "no distribution"),
        (op(5, trial_id=1, param_name="y", param_value_internal=1.0, distribution="{"), "its distribution is no JSON"),
        (op(5, trial_id=1, param_name="y", param_value_internal="1", distribution=json.dumps(X)), "no number"),
        (
            op(5, trial_id=1, param_name="y", param_value_internal=1.0, distribution='{"name": "Odd"}'),
            "distribution is",
        ),
        (op(6, trial_id=1, state=1, values=["a"], datetime_complete=""), "no list of numbers"),
        (op(7, trial_id=1, step="0", intermediate_value=1.0), "step '0'"),
        (op(8, trial_id=1, user_attr=[1]), "no object"),
    ],
)
def test_an_operation_that_optuna_never_writes_is_refused_by_its_line(
    tmp_path: Path, operation: Any, said: str
) -> None:
    path = write(tmp_path / "j.log", WHOLE, trial(1, 0), operation)
    with pytest.raises(IngestError, match=r"j\.log: line 6 is no operation") as caught:
        read(reader, path)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"\0\0\0", b"not json\n", b'{"op_code"', b"SQLite format 3\0", b"\xff\xfe"]
)
def test_what_is_no_storage_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd"
    path.write_bytes(content)
    with pytest.raises(IngestError, match="odd"):
        read(reader, path)


def test_a_database_of_another_tool_is_refused_with_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as con:
        con.execute("create table songs (title text)")
    assert not reader.recognizes(path)
    with pytest.raises(IngestError, match=r"other\.db is a database, but not of Optuna: it holds songs"):
        read(reader, path)


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    with closing(sqlite3.connect(path)) as con:
        con.execute("create table studies (a text)")
        con.executemany("insert into studies values (?)", [("x" * 500,)] * 50)
        con.commit()
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(IngestError, match=r"d\.db is a damaged or cut-off SQLite file"):
        read(reader, path)


def test_a_study_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    path = write(tmp_path / "j.log", WHOLE)
    with pytest.raises(UnknownNameError, match="did you mean 'tune'"):
        read(reader, path, study=("tuna",))


def test_a_storage_without_trials_is_refused(tmp_path: Path) -> None:
    (refused,) = only(Refused, read(reader, write(tmp_path / "j.log", study())))
    assert refused.reason == "there is no trial in it"


def test_the_same_trial_in_two_files_is_refused_with_both_places(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, WHOLE) for name in ("a.log", "b.log")]
    (refused,) = only(Refused, read(reader, *paths))
    assert refused.place == "b.log: line 2"
    assert "a.log: line 2" in refused.reason


def test_a_trial_with_too_many_values_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "j.log", study(), trial(0, COMPLETE, [1.0, 2.0], params={"x": (1.0, X)}))
    (refused,) = only(Refused, read(reader, path))
    assert refused.reason == "it has 2 values, and its study 1 objectives"


@pytest.mark.parametrize("attrs", [{}, {"fold": 1.5}, {"fold": True}, {"fold": None}, {"fold": [1]}, {"fold": ""}])
def test_a_completed_trial_without_a_usable_case_is_refused(tmp_path: Path, attrs: dict[str, Any]) -> None:
    path = write(tmp_path / "j.log", study(), trial(0, COMPLETE, [1.0], params={"x": (1.0, X)}, attrs=attrs))
    options: dict[str, Any] = {"case-attr": "fold"}
    (refused,) = only(Refused, read(reader, path, **options))
    assert refused.place == "j.log: line 2"


PARTS = [
    study(),
    study("two", (2, 1)),
    *trial(0, COMPLETE, [1.0], params={"x": (1.0, X), "n": (2.0, N)}, reports=(0.5,), attrs={"fold": "a"}),
    *trial(1, FAIL),
]
VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_change_of_a_journal_ends_in_anything_but_records_or_a_message(tmp_path: Path, data: st.DataObject) -> None:
    parts = [dict(part) for part in PARTS]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(parts) - 1))
        member = data.draw(st.sampled_from(sorted(parts[at])))
        parts[at][member] = data.draw(VALUES | st.dictionaries(st.text(max_size=2), VALUES, max_size=2))
    said = None
    try:
        read(reader, write(tmp_path / "j.log", parts))
    except IngestError as error:
        said = str(error)
    assert said is None or "j.log" in said
