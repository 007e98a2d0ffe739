"""Studies of Optuna from journals: parameters are systems, studies are cases, states are statuses."""

from __future__ import annotations

import math
import random
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

import opfield as of
from opfield.core import MissingReason, Status
from opfield.ingest.commit import ingest
from opfield.ingest.readers.optuna import reader
from opfield.ingest.records import OBSERVED, MetricStated, Note, Record, Refused, Sample, System
from opfield.ingest.request import Request
from opfield.ingest.sources import Asked
from tests.ingest.optuna_journals import (
    COMPLETE,
    FAIL,
    PRUNED,
    RUNNING,
    WAITING,
    C,
    N,
    X,
    op,
    study,
    trial,
    write,
)
from tests.ingest.reading import SHARED, needs_shared, only, read

JOURNAL = SHARED / "optuna/optuna__optuna/tests/storages_tests/journal_tests/assets/4.0.0.dev.log"


def _told(records: list[Record]) -> list[tuple[Any, ...]]:
    labels = {system.key: system.label for system in only(System, records)}
    return [(labels[each.system], each.case.key, dict(each.values), each.status) for each in only(Sample, records)]


def test_each_trial_is_a_cell_of_its_parameters_on_its_study(tmp_path: Path) -> None:
    path = write(
        tmp_path / "j.log",
        study(),
        trial(0, COMPLETE, [1.5], params={"x": (2.0, X), "n": (3.0, N), "c": (1, C)}),
        trial(1, COMPLETE, [0.5], params={"x": (4.0, X), "n": (5.0, N), "c": (2, C)}),
    )
    records = read(reader, path)
    assert not only(Refused, records)
    assert _told(records) == [
        ("trial 0", "tune", {"objective": 1.5}, Status.SUCCESS),
        ("trial 1", "tune", {"objective": 0.5}, Status.SUCCESS),
    ]
    assert [system.says for system in only(System, records)] == [
        {"tool": "optuna", "params": {"x": 2.0, "n": 3, "c": None}},
        {"tool": "optuna", "params": {"x": 4.0, "n": 5, "c": 3}},
    ]
    assert isinstance(only(System, records)[0].says["params"]["n"], int)
    first = only(Sample, records)[0]
    assert (first.place, first.repeat, first.duration_s) == ("j.log: line 2", OBSERVED, 60.5)
    assert first.started_at == "2024-06-07T10:00:00.000000"
    (note,) = only(Note, records)
    assert "all trials are of one case" in note.text


def test_trials_with_equal_parameters_are_repeats_of_one_system_that_answers_to_each_number(tmp_path: Path) -> None:
    same = {"x": (2.0, X)}
    path = write(
        tmp_path / "j.log",
        study(),
        trial(0, COMPLETE, [1.0], params=same),
        trial(1, COMPLETE, [2.0], params={"x": (3.0, X)}),
        trial(2, COMPLETE, [3.0], params=same),
    )
    records = read(reader, path)
    first, second = only(System, records)
    assert (first.label, first.aliases) == ("trial 0", ("trial 2", "x=2.0"))
    assert [each.values["objective"] for each in only(Sample, records) if each.system == first.key] == [1.0, 3.0]
    assert [each.values["objective"] for each in only(Sample, records) if each.system == second.key] == [2.0]


def test_states_are_statuses_and_only_a_completed_trial_has_values(tmp_path: Path) -> None:
    path = write(
        tmp_path / "j.log",
        study(),
        trial(0, COMPLETE, [1.0], params={"x": (0.0, X)}),
        trial(1, PRUNED, [7.0], params={"x": (1.0, X)}, reports=(9.0, 7.0)),
        trial(2, FAIL, None, params={"x": (2.0, X)}),
        trial(3, RUNNING, params={"x": (3.0, X)}),
        [op(4, study_id=0, datetime_start=None, state=WAITING)],
    )
    samples = only(Sample, read(reader, path))
    assert [(each.status, each.failure and each.failure.code, dict(each.values)) for each in samples] == [
        (Status.SUCCESS, None, {"objective": 1.0}),
        (Status.DOMAIN_FAILURE, "pruned", {}),
        (Status.INFRASTRUCTURE_FAILURE, "failed", {}),
        (Status.CANCELLED, "not_finished", {}),
        (Status.CANCELLED, "not_finished", {}),
    ]
    pruned = samples[1]
    assert pruned.failure is not None
    assert pruned.failure.message == "the trial was pruned at step 1"
    assert (pruned.content["values"], pruned.content["intermediate_values"]) == ([7.0], {"0": 9.0, "1": 7.0})


def test_trials_that_ended_without_parameters_are_systems_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path / "j.log", study(), trial(0, FAIL), trial(1, FAIL), trial(2, COMPLETE, [1.0]))
    systems = only(System, read(reader, path))
    assert [system.label for system in systems] == ["trial 0", "trial 1", "trial 2"]
    assert len({str(system.says) for system in systems}) == 3


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308])
def test_a_value_that_is_not_finite_is_missing(tmp_path: Path, value: float) -> None:
    path = write(tmp_path / "j.log", study(), trial(0, COMPLETE, [value], params={"x": (1.0, X)}))
    (sample,) = only(Sample, read(reader, path))
    assert (dict(sample.values), dict(sample.missing)) == ({}, {"objective": MissingReason.NOT_FINITE})


def test_objectives_have_the_directions_and_names_of_their_study(tmp_path: Path) -> None:
    named = op(3, study_id=1, system_attr={"study:metric_names": ["accuracy", "latency"]})
    path = write(
        tmp_path / "j.log",
        study("plain", (2, 1)),
        study("named", (2, 1)),
        named,
        trial(0, COMPLETE, [1.0, 2.0], study_id=0, params={"x": (1.0, X)}),
        trial(1, COMPLETE, [3.0, 4.0], study_id=1, params={"x": (1.0, X)}),
    )
    records = read(reader, path)
    assert [(each.metric.name, each.metric.direction) for each in only(MetricStated, records)] == [
        ("objective_0", "maximize"), ("objective_1", "minimize"), ("accuracy", "maximize"), ("latency", "minimize"),
    ]  # fmt: skip
    assert [dict(each.values) for each in only(Sample, records)] == [
        {"objective_0": 1.0, "objective_1": 2.0}, {"accuracy": 3.0, "latency": 4.0},
    ]  # fmt: skip


def test_equal_parameters_are_one_system_over_several_studies_each_of_which_is_a_case(tmp_path: Path) -> None:
    path = write(
        tmp_path / "j.log",
        study("a"),
        study("b"),
        trial(0, COMPLETE, [1.0], study_id=0, params={"x": (1.0, X)}),
        trial(1, COMPLETE, [2.0], study_id=1, params={"x": (1.0, X)}),
    )
    records = read(reader, path)
    assert _told(records) == [
        ("a: trial 0", "a", {"objective": 1.0}, Status.SUCCESS),
        ("a: trial 0", "b", {"objective": 2.0}, Status.SUCCESS),
    ]
    assert not only(Note, records)
    chosen = read(reader, path, study=("b",))
    assert _told(chosen) == [("trial 0", "b", {"objective": 2.0}, Status.SUCCESS)]


def test_a_user_attribute_can_say_which_case_a_trial_is_of(tmp_path: Path) -> None:
    same = {"x": (1.0, X)}
    path = write(
        tmp_path / "j.log",
        study(),
        trial(0, COMPLETE, [1.0], params=same, attrs={"fold": 1}),
        trial(1, COMPLETE, [2.0], params=same, attrs={"fold": 2}),
        trial(2, FAIL, None, params=same),
    )
    options: dict[str, Any] = {"case-attr": "fold"}
    samples = only(Sample, read(reader, path, **options))
    assert [(each.case.key, each.case.suite, each.repeat) for each in samples] == [
        (1, "", OBSERVED), (2, "", OBSERVED), ("tune", "", OBSERVED),
    ]  # fmt: skip


def test_deleted_studies_and_operations_without_effect_are_told_of(tmp_path: Path) -> None:
    path = write(
        tmp_path / "j.log",
        study("gone"),
        trial(0, COMPLETE, [1.0], study_id=0, params={"x": (1.0, X)}),
        op(1, study_id=0),
        study("kept"),
        study("kept"),
        trial(1, COMPLETE, [2.0], study_id=1, params={"x": (1.0, X)}),
        op(6, trial_id=1, state=FAIL, values=None, datetime_complete="2024-06-07T11:00:00"),
        op(8, trial_id=99, user_attr={"a": 1}),
        op(10, trial_ids=[1]),
    )
    records = read(reader, path)
    assert _told(records) == [("trial 0", "kept", {"objective": 2.0}, Status.SUCCESS)]
    texts = [note.text for note in only(Note, records)]
    assert [text.rpartition(": ")[2] for text in texts] == ["1", "3", "1"]


def test_a_parameter_that_its_study_draws_otherwise_is_passed_over_as_in_optuna(tmp_path: Path) -> None:
    path = write(
        tmp_path / "j.log",
        study(),
        trial(0, COMPLETE, [1.0], params={"x": (1.0, X)}),
        trial(1, COMPLETE, [2.0], params={"x": (1.0, N)}),
    )
    systems = only(System, read(reader, path))
    assert [system.says["params"] for system in systems] == [{"x": 1.0}, {}]


def test_a_waiting_trial_belongs_to_the_worker_that_takes_it_first(tmp_path: Path) -> None:
    started = [
        op(6, trial_id=0, state=RUNNING, values=None, datetime_start=f"2024-06-07T1{hour}:00:00") for hour in (1, 2)
    ]
    path = write(tmp_path / "j.log", study(), op(4, study_id=0, datetime_start=None, state=WAITING), started)
    records = read(reader, path)
    (sample,) = only(Sample, records)
    assert (sample.started_at, sample.status) == ("2024-06-07T11:00:00", Status.CANCELLED)
    assert [note.text.rpartition(": ")[2] for note in only(Note, records) if "change nothing" in note.text] == ["1"]


def test_sets_of_parameters_over_many_cases_are_judged_by_what_was_logged(tmp_path: Path) -> None:
    draw = random.Random(5)
    scores = [[draw.gauss(mean, 0.1) for _ in range(20)] for mean in (0.5, 0.8, 0.5)]
    trials = [
        trial(20 * arm + case, COMPLETE, [score], params={"x": (float(arm), X)}, attrs={"set": f"d{case}"})
        for arm, of_arm in enumerate(scores)
        for case, score in enumerate(of_arm)
    ]
    path = write(tmp_path / "j.log", study("tune", (2,)), *trials)
    options: dict[str, Any] = {"study": (), "case-attr": "set"}
    taken = ingest(Request((Asked(reader, (path,), options),), "x=0.0"), tmp_path / "w")
    found = of.open(taken.root).sql(
        "select label, pairs, baseline_mean, mean_delta, standard_error, decision from comparisons "
        "inner join decisions using (campaign_id, candidate_id) order by label"
    )
    rows = found.fetchall()
    assert [(row[0], row[1], row[5]) for row in rows] == [("trial 20", 20, "pass"), ("trial 40", 20, rows[1][5])]
    assert rows[1][5] != "pass"
    for row, of_arm in zip(rows, scores[1:], strict=True):
        deltas = [new - old for new, old in zip(of_arm, scores[0], strict=True)]
        assert row[2:5] == pytest.approx((fmean(scores[0]), fmean(deltas), stdev(deltas) / 20**0.5))


@needs_shared
def test_the_public_journal_is_a_study_of_ten_trials() -> None:
    records = read(reader, JOURNAL)
    samples = only(Sample, records)
    assert len(samples) == len(only(System, records)) == 10
    # The objective of that study is a sum of squares.
    for sample in samples:
        squares = [value**2 for value in sample.content["params"].values()]
        assert sample.values["objective"] == pytest.approx(sum(squares))
    assert {each.status for each in samples} == {Status.SUCCESS}
    assert sum("has no trials" in note.text for note in only(Note, records)) == 3
    assert reader.recognizes(JOURNAL)
