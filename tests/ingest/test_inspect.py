"""Inspect logs: forms of a log, systems, declared cases, and the figures that a log states."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from opfield.core import Status
from opfield.errors import UnknownNameError
from opfield.ingest.readers.inspect import reader
from opfield.ingest.records import (
    CaseRef,
    Expected,
    MetricStated,
    Reading,
    Refused,
    Sample,
    Source,
    Stated,
    System,
)
from tests.ingest.inspect_logs import (
    ZSTANDARD,
    header,
    metrics,
    notes,
    result,
    results,
    sample,
    write_eval,
    write_json,
)
from tests.ingest.reading import only, read

STORED, DEFLATED = 0, 8


@pytest.mark.parametrize("compression", [STORED, DEFLATED, ZSTANDARD])
def test_an_archive_says_what_the_same_json_log_says(tmp_path: Path, compression: int) -> None:
    samples = [sample(key, epoch, {"match": "CI"[epoch - 1]}) for key in ("a", "b") for epoch in (1, 2)]
    head = header(["a", "b"], epochs=2) | {"results": results(4, 4, result("match", 0.5))}
    of_json = read(reader, write_json(tmp_path / "log.json", head, samples))
    of_eval = read(reader, write_eval(tmp_path / "log.eval", head, samples, compression))

    def without_places(records: list[Any]) -> list[str]:
        return [
            repr(record).replace("log.json", "log").replace("log.eval", "log").replace(getattr(record, "place", ""), "")
            for record in records
            if not isinstance(record, System | Sample | Stated | Expected | MetricStated)
        ] + [repr((s.case, s.repeat, s.values, s.missing, s.status, s.input, s.content)) for s in only(Sample, records)]

    assert without_places(of_json) == without_places(of_eval)
    assert [s.place for s in only(Sample, of_json)] == [f"log.json: samples[{index}]" for index in range(4)]
    assert only(Sample, of_eval)[3].place == "log.eval: samples/b_epoch_2.json"
    assert [(s.case.key, s.repeat, s.values["match"]) for s in only(Sample, of_eval)] == [
        ("a", 1, 1.0),
        ("a", 2, 0.0),
        ("b", 1, 1.0),
        ("b", 2, 0.0),
    ]


def test_a_log_is_known_by_its_content_whatever_its_name(tmp_path: Path) -> None:
    text = write_json(tmp_path / "log.txt", header([1]), [sample(1)])
    archive = write_eval(tmp_path / "log.zip", header([1]), [sample(1)])
    named_so = write_json(tmp_path / "json.eval", header([1]), [sample(1)])
    for path in (text, archive, named_so):
        assert reader.recognizes(path), path
        assert len(only(Sample, read(reader, path))) == 1
    for name, content in (
        ("other.json", '{"results": {"eval": {}}}'),
        ("list.json", '[{"eval": {}}]'),
        ("a.txt", "hi"),
    ):
        (tmp_path / name).write_text(content)
        assert not reader.recognizes(tmp_path / name), name
    assert not reader.recognizes(tmp_path)
    (tmp_path / "cut.eval").write_bytes(b"")
    assert reader.recognizes(tmp_path / "cut.eval")  # so that a folder with it is not read as if it were whole


def test_ids_keep_their_type(tmp_path: Path) -> None:
    log = write_json(tmp_path / "log.json", header([1, "1"]), [sample(1), sample("1")])
    records = read(reader, log)
    assert [s.case for s in only(Sample, records)] == [CaseRef(1, "sums"), CaseRef("1", "sums")]
    assert [e.case for e in only(Expected, records)] == [CaseRef(1, "sums"), CaseRef("1", "sums")]


def test_a_header_means_the_sample_whose_id_has_its_text(tmp_path: Path) -> None:
    log = write_json(tmp_path / "log.json", header(["1", "2"]), [sample(1)])
    records = read(reader, log)
    assert [e.case.key for e in only(Expected, records)] == [1, "2"]
    assert "1 id in eval.dataset.sample_ids of another type" in notes(records)


def test_what_a_log_declares_is_expected_with_its_epochs(tmp_path: Path) -> None:
    done = write_json(tmp_path / "done.json", header(["a", "b"], epochs=3), [sample("a")])
    cut = write_json(tmp_path / "cut.json", header(["a", "b"], epochs=3, status="cancelled"), [sample("a")])
    assert [(e.case.key, e.repeats, e.absence) for e in only(Expected, read(reader, done))] == [
        ("a", 3, "missing"),
        ("b", 3, "missing"),
    ]
    assert {e.absence for e in only(Expected, read(reader, cut))} == {"not_finished"}


def test_epochs_that_are_not_stated_follow_from_the_total_that_is(tmp_path: Path) -> None:
    head = header(["a", "b"], epochs=None) | {"results": results(8, 8)}
    assert {e.repeats for e in only(Expected, read(reader, write_json(tmp_path / "a.json", head)))} == {4}
    head = header(["a", "b"], epochs=None) | {"results": results(7, 7)}
    assert {e.repeats for e in only(Expected, read(reader, write_json(tmp_path / "b.json", head)))} == {1}


def test_a_log_without_ids_states_how_many_samples_it_was_to_have(tmp_path: Path) -> None:
    head = header(None, epochs=2)
    head["eval"]["config"]["limit"] = 5
    records = read(reader, write_json(tmp_path / "log.json", head, [sample("a")]))
    assert not only(Expected, records)
    assert [(s.figure, s.value, s.name) for s in only(Stated, records)] == [("samples", 10, "eval.dataset.samples")]
    assert "log.json: header: the log states 10 samples (eval.dataset.samples) and carries 1" in notes(records)


def test_an_archive_of_a_run_that_crashed_is_read_as_not_finished(tmp_path: Path) -> None:
    log = write_eval(tmp_path / "log.eval", None, [sample(1, scores={"match": "C"}), sample(2)])
    records = read(reader, log)
    assert [s.status for s in only(Sample, records)] == [Status.SUCCESS, Status.CANCELLED]
    assert set(metrics(records)) == {"match"}
    assert "the run is started, not finished" in notes(records)


def test_stated_means_counts_and_their_names(tmp_path: Path) -> None:
    scores = {"match": "C", "rubric": {"style": 2}}
    stated = results(
        3,
        2,
        result("match", 0.5),
        result("match", 0.25, "stderr"),
        result("rubric", 2.0, "mean", name="style"),
        result("match", 1.0, reducer="pass_at_2"),
        result("match", 0.5, "inspect_ai/mean", reducer="mean"),
        result("match", math.nan),
    )
    head = header(["a"], epochs=2) | {"results": stated}
    records = read(reader, write_json(tmp_path / "log.json", head, [sample("a", scores=scores)]))
    assert [(s.figure, s.metric, s.name, s.value) for s in only(Stated, records)] == [
        ("samples", None, "total_samples", 3.0),
        ("scored", None, "completed_samples", 2.0),
        ("mean", "match", "accuracy", 0.5),
        ("mean", "rubric/style", "mean", 2.0),
        ("mean", "match", "inspect_ai/mean", 0.5),
    ]
    assert "accuracy of match is stated as nan" in notes(records)


def test_a_reducer_that_is_no_mean_states_a_mean_over_one_epoch_only(tmp_path: Path) -> None:
    def means(epochs: int, reducer: str) -> int:
        head = header(["a"], epochs=epochs) | {"results": results(1, 1, result("match", 1.0, reducer=reducer))}
        log = write_json(tmp_path / "log.json", head, [sample("a", scores={"match": "C"})])
        return sum(s.figure == "mean" for s in only(Stated, read(reader, log)))

    assert (means(1, "max"), means(2, "max"), means(1, "at_least_1")) == (1, 0, 0)


def test_a_system_is_a_file_that_says_nothing_of_its_run(tmp_path: Path) -> None:
    first = header([1], created="2025-01-01", model_args={"device": "cpu"})
    again = header([1], created="2026-01-01", model_args={"device": "cpu"}, eval_id="E2", run_id="R2", task_id="T2")
    again["status"] = "error"
    logs = [write_json(tmp_path / "a.json", first), write_json(tmp_path / "b.json", again)]
    one, two = only(System, read(reader, *logs))
    assert (one.label, one.run, two.label, two.run) == ("a.json", "E1", "b.json", "E2")
    assert one.says == two.says
    assert one.says["model_args"] == {"device": "cpu"}
    assert one.says["version"] == "0.3.200"
    assert set(one.aliases) == {"made/up", "E1", "R1", "sums", "a"}


def test_two_files_of_one_name_are_two_systems(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    logs = [write_json(tmp_path / "a.json", header([1])), write_json(tmp_path / "x" / "a.json", header([1]))]
    assert len({system.key for system in only(System, read(reader, *logs))}) == 2


def test_a_system_is_a_model_over_its_tasks_where_asked(tmp_path: Path) -> None:
    logs = [
        write_json(tmp_path / "a.json", header([1]), [sample(1)]),
        write_json(tmp_path / "b.json", header([1], task="words", eval_id="E2"), [sample(1)]),
        write_json(tmp_path / "c.json", header([1], task="words", eval_id="E3", task_args={"k": 2}), [sample(1)]),
        write_json(tmp_path / "d.json", header([1], model="other", eval_id="E4"), [sample(1)]),
    ]
    records = read(reader, *logs, by="model")
    systems = only(System, records)
    assert [(system.label, sorted(system.says["tasks"])) for system in systems] == [
        ("made/up", ["sums", "words"]),
        ("made/up", ["words"]),  # it says otherwise of the same task
        ("other", ["sums"]),
    ]
    samples = only(Sample, records)
    assert [s.system for s in samples] == [systems[index].key for index in (0, 0, 1, 2)]
    assert [s.groups for s in samples] == [{"task": "sums"}, {"task": "words"}, {"task": "words"}, {"task": "sums"}]
    assert {"a.json", "b.json", "E1", "E2"} <= set(systems[0].aliases)


def test_one_run_twice_under_one_model_is_refused(tmp_path: Path) -> None:
    logs = [write_json(tmp_path / name, header([1]), [sample(1)]) for name in ("a.json", "b.json")]
    [refused] = only(Refused, read(reader, *logs, by="model"))
    assert (refused.place, refused.reason) == ("b.json: header", "it is of the run E1, as is a.json: header")


def test_metadata_are_groups_only_where_named(tmp_path: Path) -> None:
    samples = [
        sample("a", metadata={"level": 3, "hard": True, "text": "x" * 500}),
        sample("b", metadata={}),
    ]
    log = write_json(tmp_path / "log.json", header(["a", "b"]), samples)
    assert [s.groups for s in only(Sample, read(reader, log))] == [{}, {}]
    records = read(reader, log, group=("level", "hard", "text"))
    assert [s.groups for s in only(Sample, records)] == [{"level": "3", "hard": "true"}, {}]
    assert [e.groups for e in only(Expected, records)] == [{"level": "3", "hard": "true"}, {}]
    assert "2 samples without a short value of metadata 'text'" in notes(records)


def test_a_case_that_one_log_lacks_is_in_the_groups_that_another_gives(tmp_path: Path) -> None:
    full = write_json(tmp_path / "full.json", header(["a"]), [sample("a", metadata={"level": "x"})])
    empty = write_json(tmp_path / "empty.json", header(["a"], eval_id="E2"))
    records = read(reader, empty, full, group=("level",))
    assert [e.groups for e in only(Expected, records)] == [{"level": "x"}] * 2


def test_a_sample_recorded_again_replaces_its_record(tmp_path: Path) -> None:
    again = [sample("a", scores={"match": "I"}), sample("a", scores={"match": "C"})]
    records = read(reader, write_eval(tmp_path / "log.eval", header(["a"]), again))
    assert [s.values for s in only(Sample, records)] == [{"match": 1.0}]
    assert "1 sample record replaced by a later one of the same sample" in notes(records)


def test_members_of_one_name_that_hold_two_ids_are_two_samples(tmp_path: Path) -> None:
    both = [sample(1, scores={"match": "I"}), sample("1", scores={"match": "C"})]
    records = read(reader, write_eval(tmp_path / "log.eval", header([1]), both))
    assert [s.case.key for s in only(Sample, records)] == [1, "1"]


def test_the_same_sample_under_two_names_stays_two_records(tmp_path: Path) -> None:
    twin = ("samples/other.json", json.dumps(sample("a", scores={"match": "I"})))
    log = write_eval(tmp_path / "log.eval", header(["a"]), [sample("a", scores={"match": "C"})], more=[twin])
    assert [s.place for s in only(Sample, read(reader, log))] == [
        "log.eval: samples/a_epoch_1.json",
        "log.eval: samples/other.json",
    ]


def test_shuffled_ids_that_count_from_1_are_noted_as_positions(tmp_path: Path) -> None:
    head = header([1, 2])
    head["eval"]["dataset"]["shuffled"] = True
    log = write_json(tmp_path / "log.json", head, [sample(2, scores={"match": "C"}), sample(1, scores={"match": "C"})])
    assert "they may be positions" in notes(read(reader, log))


def test_an_unknown_option_value_lists_the_valid_ones(tmp_path: Path) -> None:
    log = write_json(tmp_path / "log.json", header([1]))
    for option in ("by", "errors", "via"):
        chosen: dict[str, Any] = {option: "nonsense"}
        with pytest.raises(UnknownNameError, match=r"file|infrastructure_failure|auto"):
            read(reader, log, **chosen)


def test_bytes_read_are_told_once_over_both_passes(tmp_path: Path) -> None:
    log = write_json(tmp_path / "log.json", header([1]), [sample(1, notes="x" * 100_000)])
    told: list[int] = []
    options = {option.name: option.default for option in reader.options}
    list(reader.read(Reading([Source(log, "log.json")], options, advance=told.append)))
    assert sum(told) == log.stat().st_size


def test_one_model_is_one_system_even_where_versions_of_inspect_ran_its_tasks(tmp_path: Path) -> None:
    newer = header([1], task="words", eval_id="E2", packages={"inspect_ai": "0.3.300"})
    again = header([1], eval_id="E3", packages={"inspect_ai": "0.3.300"})
    logs = [
        write_json(tmp_path / f"{name}.json", head)
        for name, head in zip("abc", (header([1]), newer, again), strict=True)
    ]
    systems = only(System, read(reader, *logs, by="model"))
    assert [sorted(system.says["tasks"]) for system in systems] == [["sums", "words"], ["sums"]]
