"""Which samples are one case, which repeats they take, and what is refused, with both places named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opfield.ingest import intake
from opfield.ingest.intake import open_intake
from opfield.ingest.records import IngestError, Reading, Record, Sample, Source
from opfield.ingest.sources import FileFacts, file_facts
from opfield.ingest.spool import Spool
from tests.ingest.toy import request, results, write_rows

Rows = Sequence[Mapping[str, Any]]
FINE: Rows = results({"a": 0.1, "b": 0.2})


def read(tmp_path: Path, base: Rows, new: Rows, query: str, **more: Any) -> list[dict[str, Any]]:
    files = [write_rows(tmp_path / "base.jsonl", base), write_rows(tmp_path / "new.jsonl", new)]
    folder = tmp_path / "read"
    folder.mkdir()
    with open_intake(request(*files, **more), folder) as read_in:
        return read_in.rows(query)


def refusal(tmp_path: Path, base: Rows, new: Rows, **more: Any) -> str:
    with pytest.raises(IngestError) as caught:
        read(tmp_path, base, new, "select 1", **more)
    return str(caught.value)


PLACED = """
    select systems.label, case_id, repeat from placed_samples inner join systems using (system)
    order by label, case_id, repeat
"""


def test_a_sample_takes_the_coordinate_of_its_case(tmp_path: Path) -> None:
    placed = read(tmp_path, FINE, FINE, PLACED)
    assert [tuple(row.values()) for row in placed] == [
        ("base.jsonl", "a", 0),
        ("base.jsonl", "b", 0),
        ("new.jsonl", "a", 0),
        ("new.jsonl", "b", 0),
    ]


def test_ids_that_are_equal_only_as_text_are_refused_with_both_places(tmp_path: Path) -> None:
    told = refusal(tmp_path, results({1: 0.1}), results({"1": 0.1}))
    assert "case 1 is a number in one place and text in another" in told
    assert "base.jsonl: line 1 and new.jsonl: line 1" in told


def test_one_key_with_two_inputs_is_refused_with_both_places(tmp_path: Path) -> None:
    told = refusal(tmp_path, results({"1": 0.1}, input="what is x?"), results({"1": 0.1}, input="what is y?"))
    assert "case 1 asks one thing in one place and another in the other" in told
    assert "base.jsonl: line 1" in told
    assert "new.jsonl: line 1" in told
    assert "--pair-by input" in told


def test_cases_pair_by_what_was_asked(tmp_path: Path) -> None:
    base = [{"case": "1", "score": 0, "input": "x?"}, {"case": "2", "score": 0, "input": "y?"}]
    new = [{"case": "2", "score": 1, "input": "x?"}, {"case": "1", "score": 1, "input": "y?"}]
    placed = read(
        tmp_path,
        base,
        new,
        """
        select case_id, list(place order by place) as places
        from placed_samples inner join samples using (sample_ix) group by case_id order by case_id
        """,
        pair_by="input",
    )
    assert placed == [
        {"case_id": "1", "places": ["base.jsonl: line 1", "new.jsonl: line 1"]},
        {"case_id": "2", "places": ["base.jsonl: line 2", "new.jsonl: line 2"]},
    ]


def test_two_cases_of_a_system_with_one_input_do_not_pair_by_it(tmp_path: Path) -> None:
    told = refusal(tmp_path, results({"1": 0, "2": 0}, input="x?"), results({"1": 0}, input="x?"), pair_by="input")
    assert "cases 1 and 2 ask the same" in told


def test_pairing_by_input_needs_inputs(tmp_path: Path) -> None:
    told = refusal(tmp_path, FINE, results({"a": 0.1}, input="x?"), pair_by="input")
    assert "2 of 2 mentions of cases do not say what was asked" in told


def test_exact_duplicates_are_dropped_and_counted(tmp_path: Path) -> None:
    files = [
        write_rows(tmp_path / "base.jsonl", [*FINE, FINE[0]]),
        write_rows(tmp_path / "new.jsonl", FINE),
    ]
    (tmp_path / "read").mkdir()
    with open_intake(request(*files), tmp_path / "read") as read_in:
        assert len(read_in.rows("from placed_samples")) == 4
        assert "exact duplicates dropped: 1" in [note.text for note in read_in.notes]


def test_duplicates_that_differ_are_refused_with_both_places(tmp_path: Path) -> None:
    told = refusal(tmp_path, [*FINE, {"case": "a", "score": 0.9}], FINE)
    assert "base.jsonl: line 1 and base.jsonl: line 3: case a has two results that differ" in told


def test_unnumbered_repeats_are_no_duplicates_of_each_other(tmp_path: Path) -> None:
    base = [{"case": "a", "score": 0.1, "repeat": "observed"}] * 3
    grid = read(tmp_path, base, FINE, "select repeats, found from grid order by system, case_id")
    assert grid == [
        {"repeats": 3, "found": 3},
        {"repeats": 1, "found": 0},  # b, which the baseline lacks
        {"repeats": 1, "found": 1},
        {"repeats": 1, "found": 1},
    ]


def test_repeats_of_independent_rounds_count_for_each_system(tmp_path: Path) -> None:
    base = [{"case": "a", "score": 0.1, "repeat": seed} for seed in (3, 11)]
    new = [{"case": "a", "score": 0.1, "repeat": seed} for seed in (11, 40)]
    assert [row["repeat"] for row in read(tmp_path, base, new, PLACED)] == [0, 1, 0, 1]


def test_repeats_that_share_their_seed_stand_at_equal_repeats(tmp_path: Path) -> None:
    base = [{"case": "a", "score": 0.1, "repeat": seed} for seed in (3, 11)]
    new = [{"case": "a", "score": 0.1, "repeat": seed} for seed in (11, 40)]
    placed = read(tmp_path, base, new, PLACED, coupling="common_seed")
    assert [(row["label"], row["repeat"]) for row in placed] == [
        ("base.jsonl", 0),
        ("base.jsonl", 1),
        ("new.jsonl", 1),
        ("new.jsonl", 2),
    ]


def test_shared_seeds_make_the_grid_even_over_systems(tmp_path: Path) -> None:
    base = [{"case": "a", "score": 0.1, "repeat": seed} for seed in (3, 11)]
    new = [{"case": "a", "score": 0.1, "repeat": 3}]
    grid = read(tmp_path, base, new, "select repeats, found from grid order by system", coupling="common_seed")
    assert grid == [{"repeats": 2, "found": 2}, {"repeats": 2, "found": 1}]


def test_declared_trials_without_a_sample_are_missing(tmp_path: Path) -> None:
    base = [*FINE, {"case": "a", "repeats": 2}, {"case": "c", "repeats": 2}]
    missing = read(tmp_path, base, FINE, "select system, case_id, repeat from missing_cells order by all")
    assert [tuple(row.values()) for row in missing] == [
        ("base.jsonl", "a", 1),
        ("base.jsonl", "c", 0),
        ("base.jsonl", "c", 1),
        ("new.jsonl", "c", 0),
    ]


def test_suites_keep_equal_keys_apart(tmp_path: Path) -> None:
    rows = [{"case": "1", "suite": "maths", "score": 0}, {"case": "1", "suite": "chess", "score": 0}]
    cases = read(tmp_path, rows, rows, "select case_id from named_cases order by case_id")
    assert [row["case_id"] for row in cases] == ["chess/1", "maths/1"]


@pytest.mark.parametrize(
    ("keys", "way"),
    [
        (("x", "y"), "no other way of writing keys pairs any"),
        (("q/01\r\n", "q/02\r\n"), "line ends as \\n would pair 2"),
        (("Q/01", "Q/02"), "the key in lower case would pair 2"),
        (("01", "02"), "the last part of the key, after / or \\ would pair 2"),
        (("case 01", "case 02"), "the number at the end of the key would pair 2"),
    ],
)
def test_systems_without_a_common_case_are_refused_with_what_would_pair_them(
    tmp_path: Path, keys: tuple[str, str], way: str
) -> None:
    told = refusal(tmp_path, results({"q/01": 0, "q/02": 0}), results(dict.fromkeys(keys, 0.0)))
    assert "new.jsonl: shares no case with the baseline (2 there, 2 here), by keys" in told
    assert way in told


def test_a_partial_match_goes_on_and_says_so(tmp_path: Path) -> None:
    files = [
        write_rows(tmp_path / "base.jsonl", results({"a": 0, "b": 0, "c": 0})),
        write_rows(tmp_path / "new.jsonl", results({"a": 0, "d": 0})),
    ]
    (tmp_path / "read").mkdir()
    with open_intake(request(*files), tmp_path / "read") as read_in:
        (note,) = [note.text for note in read_in.notes if note.place == "new.jsonl"]
    assert note == (
        "cases that pair by keys: 1; that do not, and stay as missing: 2 of the baseline, 1 of the candidate"
    )


def test_two_runs_with_one_id_are_refused_with_both_places(tmp_path: Path) -> None:
    told = refusal(tmp_path, results({"a": 0}, run="r1"), results({"a": 1}, run="r1"))
    assert "base.jsonl and new.jsonl: two runs call themselves r1" in told


def test_one_file_named_twice_is_refused(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "base.jsonl", FINE)
    (tmp_path / "read").mkdir()
    with (
        pytest.raises(IngestError, match=r"base\.jsonl is named twice"),
        open_intake(request(path, path), tmp_path / "read"),
    ):
        pass


def test_files_of_the_same_bytes_are_told_of(tmp_path: Path) -> None:
    files = [write_rows(tmp_path / name, FINE) for name in ("base.jsonl", "new.jsonl")]
    (tmp_path / "read").mkdir()
    with open_intake(request(*files), tmp_path / "read") as read_in:
        assert ("new.jsonl", "holds the same bytes as base.jsonl") in [
            (each.place, each.text) for each in read_in.notes
        ]


def test_groups_that_differ_between_runs_are_refused(tmp_path: Path) -> None:
    told = refusal(tmp_path, results({"a": 0}, groups={"g": "x"}), results({"a": 1}, groups={"g": "y"}))
    assert "case a is in other groups" in told


def test_without_a_baseline_the_systems_are_listed(tmp_path: Path) -> None:
    assert "'base.jsonl', 'new.jsonl'" in refusal(tmp_path, FINE, results({"a": 1}), baseline=None)


def test_a_baseline_is_found_by_alias(tmp_path: Path) -> None:
    rows = read(tmp_path, FINE, results({"a": 1}), "select label from systems where is_baseline", baseline="base")
    assert rows == [{"label": "base.jsonl"}]


def test_an_unknown_baseline_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    told = refusal(tmp_path, FINE, results({"a": 1}), baseline="nobody")
    assert "'nobody' names no system; the files hold 'base.jsonl', 'new.jsonl'" in told


def test_everything_that_stands_in_the_way_is_told_at_once(tmp_path: Path) -> None:
    base = [*results({"a": 0, "b": 0}), {"case": "a", "score": 0.5}, {"case": "b", "score": 0.5}]
    told = refusal(tmp_path, base, results({"a": 0.3}))
    assert told.startswith("2 things stand in the way, and nothing was recorded:")


def test_a_value_beyond_the_bounds_of_its_metric_is_refused_with_its_place(tmp_path: Path) -> None:
    told = refusal(tmp_path, FINE, [*FINE, {"case": "c", "score": 1.5}])
    assert "new.jsonl: line 3: metric 'score' is 1.5, above its declared upper bound 1" in told


def test_a_value_that_the_user_says_is_binary_is_held_to_it(tmp_path: Path) -> None:
    told = refusal(tmp_path, results({"a": 1}), results({"a": 0.5}), changes={"score": {"kind": "binary"}})
    assert "new.jsonl: line 1: metric 'score' is 0.5, but a binary metric is 0 or 1" in told


def test_rows_that_differ_in_their_evidence_alone_are_no_duplicates(tmp_path: Path) -> None:
    told = refusal(tmp_path, [{**FINE[0], "answer": "x"}, {**FINE[0], "answer": "y"}, FINE[1]], FINE)
    assert "case a has two results that differ" in told


def test_two_inputs_alike_are_told_once_and_not_as_results_that_differ(tmp_path: Path) -> None:
    told = refusal(tmp_path, results({"1": 0, "2": 1}, input="x?"), results({"1": 0}, input="x?"), pair_by="input")
    assert "results that differ" not in told


def test_repeats_of_one_system_that_are_equal_only_as_text_are_refused(tmp_path: Path) -> None:
    base = [{"case": "a", "score": 0.1, "repeat": 1}, {"case": "a", "score": 0.9, "repeat": "1"}]
    assert "repeat 1 is a number in one place and text in another" in refusal(tmp_path, base, FINE)


def test_shared_repeats_that_are_equal_only_as_text_are_refused(tmp_path: Path) -> None:
    told = refusal(tmp_path, results({"a": 0.1}, repeat=1), results({"a": 0.2}, repeat="1"), coupling="common_seed")
    assert "repeat 1 is a number in one place and text in another" in told


def test_unnumbered_repeats_share_nothing(tmp_path: Path) -> None:
    told = refusal(tmp_path, results({"a": 0.1}, repeat="observed"), FINE, coupling="common_seed")
    assert "repeats without numbers cannot be those of another system" in told


@pytest.mark.parametrize("case", ["", "x" * 1025, "a\0b"])
def test_a_key_that_is_no_case_id_is_refused_with_its_place(tmp_path: Path, case: str) -> None:
    assert "base.jsonl: line 1" in refusal(tmp_path, results({case: 0.1, "b": 0.1}), FINE)


def test_a_candidate_called_baseline_gets_a_label_that_no_other_has(tmp_path: Path) -> None:
    rows = [{**row, "model": model} for model in ("base", "baseline", "baseline (candidate)") for row in FINE]
    labels = read(tmp_path, rows, results({"a": 1}), "select label from systems order by label", baseline="base")
    assert len({row["label"] for row in labels}) == 4


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def longer(sources: Sequence[Source]) -> list[FileFacts]:
        facts = file_facts(sources)
        with sources[0].path.open("a") as file:
            file.write("\n")
        return facts

    monkeypatch.setattr(intake, "file_facts", longer)
    assert "base.jsonl changed while it was read" in refusal(tmp_path, FINE, results({"a": 1}))


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Spool, "take", full)
    assert "No space left on device; nothing was recorded" in refusal(tmp_path, FINE, results({"a": 1}))


def test_a_metric_is_asked_for_under_every_name_that_means_it(tmp_path: Path) -> None:
    rows = read(
        tmp_path,
        FINE,
        [{"case": "a", "score": 0.3}],
        "select count(*) as samples from samples where json_exists(decode(body)::json, '$.values.quality')",
        renames={"score": "quality"},
        metrics=("quality",),
    )
    assert rows == [{"samples": 3}]


def test_samples_without_a_value_are_counted_with_their_places(tmp_path: Path) -> None:
    files = [write_rows(tmp_path / "base.jsonl", FINE), write_rows(tmp_path / "new.jsonl", [*FINE, {"case": "c"}])]
    (tmp_path / "read").mkdir()
    with open_intake(request(*files), tmp_path / "read") as read_in:
        texts = [note.text for note in read_in.notes]
    assert "samples without a value of score (not_emitted): 1, such as new.jsonl: line 3" in texts


def test_uneven_repeats_are_told_where_no_file_declares_them(tmp_path: Path) -> None:
    base = [{"case": "a", "score": 0.1, "repeat": repeat} for repeat in range(3)]
    files = [write_rows(tmp_path / "base.jsonl", base), write_rows(tmp_path / "new.jsonl", base[:2])]
    (tmp_path / "read").mkdir()
    with open_intake(request(*files), tmp_path / "read") as read_in:
        texts = [note.text for note in read_in.notes]
    assert any(
        text.startswith("cases that systems have unequal numbers of repeats of: 1, such as a;") for text in texts
    )


@pytest.mark.parametrize(
    "fault",
    [
        {"missing": {"score": "no answer"}, "values": {}},
        {"values": {"score": "0.5"}},
        {"status": "success", "failure": 7},
    ],
    ids=["a reason that is text", "a value that is text", "a failure that is a number"],
)
def test_what_no_reader_may_give_is_told_with_the_reader(tmp_path: Path, fault: dict[str, Any]) -> None:
    asked = request(write_rows(tmp_path / "base.jsonl", FINE))

    def faulty(reading: Reading) -> Iterator[Record]:
        for record in asked.asked[0].reader.read(reading):
            yield replace(record, **fault) if isinstance(record, Sample) else record

    (tmp_path / "read").mkdir()
    broken = replace(asked.asked[0], reader=replace(asked.asked[0].reader, read=faulty))
    with (
        pytest.raises(IngestError, match=r"the reader 'toy' is at fault.*tests\.ingest\.test_intake"),
        open_intake(replace(asked, asked=(broken,)), tmp_path / "read"),
    ):
        pass
