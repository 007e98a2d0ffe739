"""The engine: from a declaration to a recorded verdict, and back to it after every kind of interruption."""

from __future__ import annotations

import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import opfield as of
from opfield.campaign import engine
from opfield.campaign.attempts import read_attempts
from opfield.campaign.audit import audit
from opfield.campaign.ending import Outcome, cancel, finish_with_failures
from opfield.campaign.engine import RunOptions, run
from opfield.campaign.prepare import prepare
from opfield.campaign.progress import Silence
from opfield.campaign.schedule import interleaved
from opfield.errors import DeclarationError, OpfieldError, UnknownNameError
from opfield.experiment import Coordinate
from opfield.warehouse.ledger import read_events
from opfield.warehouse.lock import holder_of
from opfield.warehouse.projection import campaigns_on_disk
from opfield.warehouse.session import open_warehouse
from opfield.warehouse.views import installed_views

from .campaigns import (
    METRICS,
    POLICY,
    answer,
    answer_later,
    broken,
    fails_on_b,
    forks,
    hangs_on_b,
    leaks,
    offline,
    small,
)


def rows(root: Path, query: str) -> list[dict[str, Any]]:
    return open_warehouse(root, is_snapshot=True).rows(query)


def selected_label(root: Path, outcome: Outcome) -> str:
    return str(rows(root, f"select label from candidates where candidate_id = '{outcome.selected}'")[0]["label"])


@pytest.fixture
def outage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A provider's outage, for as long as this file stands."""
    file = tmp_path / "outage"
    file.touch()
    monkeypatch.setenv("OPFIELD_TEST_OUTAGE", str(file))
    return file


def test_a_campaign_runs_to_a_selection_with_the_events_of_the_formula(tmp_path: Path) -> None:
    outcome = run(small(), tmp_path)
    assert (outcome.state, outcome.outcome) == ("completed", "selected")
    assert selected_label(tmp_path, outcome) == "more"
    # 1 start + 2 candidates + 3·2·(1+2) cells + 2 comparisons + 2 decisions + 1 end
    assert outcome.appended == 1 + 2 + 18 + 2 + 2 + 1
    assert audit(tmp_path).findings == ()


def test_a_finished_campaign_appends_nothing(tmp_path: Path) -> None:
    first = run(small(), tmp_path)
    before = list(read_events(tmp_path, first.campaign_id))
    again = run(small(), tmp_path)
    assert again == replace(first, appended=0)
    assert list(read_events(tmp_path, first.campaign_id)) == before


@pytest.mark.parametrize("executor", ["inline", "threads", "processes", "coroutines"])
def test_the_executor_changes_no_figure(tmp_path: Path, executor: str) -> None:
    query = "from comparisons order by candidate_id, metric"
    run(small(), tmp_path / "plain", executor="inline")
    runner = answer_later if executor == "coroutines" else answer
    runner.id = "answer"  # type: ignore[union-attr] # one identity for both, so that the campaigns are the same
    workers = None if executor == "inline" else 2
    run(small(run=runner), tmp_path / "other", executor=executor, workers=workers)
    without_campaign = [
        [{key: value for key, value in row.items() if key != "campaign_id"} for row in rows(tmp_path / name, query)]
        for name in ("plain", "other")
    ]
    del runner.id  # type: ignore[union-attr]
    assert without_campaign[0] == without_campaign[1]
    assert len(without_campaign[0]) == 4


def test_a_standard_executor_serves_as_well(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        assert run(small(), tmp_path, executor=pool).outcome == "selected"


def test_a_domain_failure_is_evidence_against_its_arm(tmp_path: Path) -> None:
    outcome = run(small(run=fails_on_b), tmp_path)
    assert outcome.outcome == "kept_baseline"
    decided = {row["label"]: row for row in rows(tmp_path, "from decisions")}
    assert (decided["more"]["decision"], decided["more"]["gate"]) == ("fail", "failures")
    failed = rows(tmp_path, "from cells where status <> 'success' order by repeat")
    assert [(row["case_id"], row["failure_code"], row["repeat"]) for row in failed] == [
        ("b", "no_answer", 0),
        ("b", "no_answer", 1),
    ]


def test_an_outage_pauses_and_resume_finishes(tmp_path: Path, outage: Path) -> None:
    declared, root = small(run=offline), tmp_path / "warehouse"
    paused = run(declared, root, executor="inline")
    assert (paused.state, paused.pending) == ("paused", 18)
    assert rows(root, "from cells") == []
    assert {row["decision"] for row in rows(root, "from decisions")} == {"indeterminate"}
    outage.unlink()
    assert run(declared, root).outcome == "selected"
    assert audit(root).findings == ()


def test_finishing_with_failures_records_what_was_tried_and_what_was_not(tmp_path: Path, outage: Path) -> None:
    root = tmp_path / "warehouse"
    paused = run(small(run=offline), root, executor="inline")
    finished = finish_with_failures(root, paused.campaign_id)
    assert (finished.state, finished.outcome) == ("completed", "undecided")
    counted = rows(root, "select status, failure_code, count(*) as n from cells group by all order by all")
    tried = next(row["n"] for row in counted if row["failure_code"] == "connection")
    assert 3 <= tried <= 6  # pause_after coordinates, tried up to `attempts` times
    assert [(row["status"], row["failure_code"], row["n"]) for row in counted] == [
        ("cancelled", "not_attempted", 18 - tried),
        ("infrastructure_failure", "connection", tried),
    ]
    assert audit(root).findings == ()


def test_ctrl_c_keeps_what_was_accepted(tmp_path: Path) -> None:
    class Interrupting(Silence):
        cells = 0

        def accepted(self, _status: of.Status) -> None:
            self.cells += 1
            if self.cells == 7:
                signal.raise_signal(signal.SIGINT)

    stopped = run(small(), tmp_path, executor="inline", progress=Interrupting())
    assert stopped.state == "interrupted"
    kept = len(rows(tmp_path, "from cells"))
    assert kept >= 7
    assert stopped.pending == 18 - kept
    finished = run(small(), tmp_path)
    assert finished.outcome == "selected"
    assert finished.appended == 18 - kept + 5


def test_a_cancelled_campaign_has_no_verdict_and_takes_no_more(tmp_path: Path, outage: Path) -> None:
    root = tmp_path / "warehouse"
    paused = run(small(run=offline), root, executor="inline")
    assert cancel(root, paused.campaign_id, "wrong prompt").state == "cancelled"
    outage.unlink()
    again = run(small(run=offline), root)
    assert (again.state, again.appended, again.selected) == ("cancelled", 0, None)
    assert rows(root, "from selection") == []


def test_another_runner_source_is_refused_unless_accepted_and_then_recorded(
    tmp_path: Path, outage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "warehouse"
    paused = run(small(run=offline), root, executor="inline")
    outage.unlink()
    monkeypatch.setattr(engine, "runner_source", lambda _runner: "sha256:" + "0" * 64)
    with pytest.raises(DeclarationError, match="source changed"):
        run(small(run=offline), root)
    assert run(small(run=offline), root, accept_runner_change=True).outcome == "selected"
    told = rows(
        root,
        "select count(*) as n from events where json_extract_string(payload, '$.runner_source') is not null "
        f"and campaign_id = '{paused.campaign_id}'",
    )
    assert told == [{"n": 18}]


def test_what_the_evidence_means_is_in_the_campaign_id_and_nothing_else() -> None:
    views = installed_views()

    def identity(**changes: Any) -> str:
        return prepare(small(**changes), views).campaign_id

    plain = identity()
    assert identity(limits=of.Limits(attempts=9)) == plain
    assert identity(reproducibility="observational") == plain
    assert identity(candidates={"less": {"gain": 0}, "more": {"gain": 2}}) == plain
    assert identity(cases={"c": {"weight": 3}, "a": {"weight": 1}, "b": {"weight": 2}}) == plain
    changed = [
        identity(run=fails_on_b),
        identity(repeats=3),
        identity(coupling="none"),
        identity(seed_root=of.Seed(1)),
        identity(cases={"a": {"weight": 1}, "b": {"weight": 2}, "c": {"weight": 4}}),
        identity(baseline={"gain": 3}),
        identity(metrics=[METRICS[1], of.Metric("score")]),
        identity(policy=of.Policy([of.coverage(), *POLICY.gates[1:2]], prefer="score")),
        identity(policy=replace(POLICY, min_gain=0.5)),
    ]
    assert len({plain, *changed}) == 1 + len(changed)


def test_more_repeats_change_no_existing_seed(tmp_path: Path) -> None:
    seeds = []
    for repeats in (1, 3):
        root = tmp_path / str(repeats)
        run(small(repeats=repeats), root)
        seeds.append({(row["case_id"], row["repeat"]): row["seed"] for row in rows(root, "from cells")})
    assert seeds[0].items() <= seeds[1].items()
    assert len(set(seeds[1].values())) == 9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policy": of.Policy([of.mean_delta("scor")])}, "did you mean 'score'"),
        ({"policy": of.Policy([of.gate("mean_detla", "score")])}, "did you mean 'mean_delta'"),
        ({"policy": of.Policy([of.coverage()], prefer="speed")}, "unknown metric to prefer: 'speed'"),
    ],
)
def test_a_policy_that_names_what_is_not_there_is_refused_before_the_first_event(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UnknownNameError, match=message):
        run(small(**changes), tmp_path / "warehouse")
    assert not (tmp_path / "warehouse").exists()


def test_an_unknown_campaign_can_be_neither_finished_nor_cancelled(tmp_path: Path) -> None:
    run(small(), tmp_path)
    for end in (finish_with_failures, lambda root, name: cancel(root, name, "why")):
        with pytest.raises(OpfieldError, match="no history"):
            end(tmp_path, "sha256:" + "0" * 64)


def test_an_executor_that_does_not_suit_is_refused_before_the_first_event(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="coroutine"):
        run(small(), tmp_path, executor="coroutines")
    assert rows(tmp_path, "from events") == []


def test_the_order_of_trials_interleaves_the_arms_and_depends_on_the_seed_alone() -> None:
    coordinates = [
        Coordinate(candidate, "baseline" if candidate == "base" else "candidate", case, repeat)
        for candidate in ("base", "x", "y")
        for case in ("a", "b", "c", "d")
        for repeat in range(5)
    ]
    ordered = interleaved(coordinates, of.Seed(1))
    assert sorted(ordered) == sorted(coordinates)
    assert ordered == interleaved(reversed(coordinates), of.Seed(1))
    assert ordered != interleaved(coordinates, of.Seed(2))
    blocks = [ordered[start : start + 3] for start in range(0, len(ordered), 3)]
    assert all(len({(each.case_id, each.repeat) for each in block}) == 1 for block in blocks)
    assert len({block[0].candidate_id for block in blocks}) == 3  # no arm always goes first


def test_odd_case_ids_survive_the_whole_way_and_never_become_paths(tmp_path: Path) -> None:
    odd = [
        "a/b",
        "..",
        "../../escape",
        "x:y",
        "new\nline",
        "tab\t",
        "🌱",
        "o'quote\"",
        "$HOME `id`",
        "1",
        "01",
        " ",
        "a" * 900,
    ]
    root = tmp_path / "deep" / "warehouse"
    outcome = run(small(cases={name: {"weight": 1} for name in odd}, repeats=1), root)
    assert outcome.outcome == "selected"
    assert {row["case_id"] for row in rows(root, "select distinct case_id from cells")} == set(odd)
    assert {row["case_id"] for row in rows(root, "select case_id from cases")} == set(odd)
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    named = [path for path in root.rglob("*") if any(sign in path.name for sign in ("escape", "🌱", "quote", "aaaa"))]
    assert named == []
    assert audit(root).findings == ()


def test_a_runner_that_never_returns_ends_as_a_timeout(tmp_path: Path) -> None:
    declared = small(run=hangs_on_b, limits=of.Limits(timeout_s=0.3, attempts=1, pause_after=50), repeats=1)
    left = run(declared, tmp_path, workers=2)
    assert (left.state, left.pending) == ("pending", 3)
    finished = finish_with_failures(tmp_path, left.campaign_id)
    assert finished.outcome == "undecided"
    failed = rows(tmp_path, "select case_id, failure_code, is_retryable from cells where status <> 'success'")
    assert failed == [{"case_id": "b", "failure_code": "timeout", "is_retryable": True}] * 3


def test_secrets_named_by_the_campaign_never_reach_the_warehouse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMALL_API_KEY", "hunter2-hunter2")
    run(small(run=leaks, secrets=("SMALL_API_KEY",), limits=of.Limits(attempts=1, pause_after=50)), tmp_path)
    assert rows(tmp_path, "select count(*) as n from cells where failure_message like '%***%'") == [{"n": 12}]
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and b"hunter2" in path.read_bytes()]
    contents = [row["content"] for row in rows(tmp_path, "select content from artifacts where content is not null")]
    assert kept == []
    assert [content for content in contents if b"hunter2" in bytes(content)] == []


def test_a_runner_that_breaks_down_from_the_start_pauses_before_it_spends_the_grid(tmp_path: Path) -> None:
    paused = run(small(run=broken), tmp_path, executor="inline")
    assert paused.state == "paused"
    assert "has no attribute 'repeat'" in paused.reason
    assert 3 <= len(rows(tmp_path, "from cells")) <= 6
    # Going on all the same is a decision, and then every trial is run.
    again = run(small(run=broken), tmp_path, executor="inline")
    assert (again.state, again.outcome) == ("completed", "undecided")


def test_a_changed_source_is_told_of_a_finished_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(small(), tmp_path)
    assert run(small(), tmp_path).reason == ""
    monkeypatch.setattr(engine, "runner_source", lambda _runner: "sha256:" + "0" * 64)
    again = run(small(), tmp_path)
    assert again.appended == 0
    assert 'version = "2"' in again.reason


def test_attempts_are_counted_across_openings(tmp_path: Path, outage: Path) -> None:
    root = tmp_path / "warehouse"
    run(small(run=offline), root, executor="inline")
    recorded, _ = read_attempts(root, next(iter(campaigns_on_disk(root))))
    made = {each.coordinate: each.attempt for each in recorded}
    assert made
    outage.unlink()
    run(small(run=offline), root)
    told = rows(root, "select candidate_id, arm, case_id, repeat, attempts from cells")
    assert {Coordinate(*list(row.values())[:4]): row["attempts"] for row in told} == {
        Coordinate(*list(row.values())[:4]): made.get(Coordinate(*list(row.values())[:4]), 0) + 1 for row in told
    }


def test_keywords_of_run_change_the_options_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="inline"):
        run(small(), tmp_path, RunOptions(executor="inline"), workers=2)
    with pytest.raises(TypeError, match="bogus"):
        run(small(), tmp_path, RunOptions(), bogus=3)


def test_a_proposer_may_give_candidates_in_any_order_but_each_once(tmp_path: Path) -> None:
    views = installed_views()

    def proposed(*labels: str) -> of.Proposer:
        def propose(space: of.Space) -> tuple[Any, ...]:
            by_label = {each.label: each for each in of.Proposer().propose(space)}
            return tuple(by_label[label] for label in labels)

        return of.Proposer("test/v1", propose)

    first = prepare(small(proposer=proposed("more", "less")), views)
    second = prepare(small(proposer=proposed("less", "more")), views)
    assert first.campaign_id == second.campaign_id
    with pytest.raises(DeclarationError, match="more than once"):
        prepare(small(proposer=proposed("more", "more")), views)
    with pytest.raises(DeclarationError, match="no candidate"):
        prepare(small(proposer=proposed()), views)


def test_a_campaigns_name_is_found_before_the_beginning_of_an_id(tmp_path: Path) -> None:
    for name in "abcdef0123":
        run(replace(small(repeats=1), name=name), tmp_path, executor="inline")
    opened = open_warehouse(tmp_path)
    named = {row["name"]: row["campaign_id"] for row in opened.rows("select name, campaign_id from campaigns")}
    assert {name: opened.campaign_id(name) for name in named} == named


def test_a_table_that_lost_its_folder_is_an_error_and_never_another_warehouse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(small(), tmp_path / "a")
    run(small(), tmp_path / "b")
    shutil.rmtree(tmp_path / "a" / "cells")
    monkeypatch.chdir(tmp_path / "b")
    with pytest.raises(OpfieldError, match="cells has no file"):
        rows(tmp_path / "a", "from cells")


@pytest.mark.parametrize("above", ["status=success", "value=5", "arm=candidate", "campaign=zz", "campaign_id=7"])
def test_a_folder_above_that_looks_like_a_partition_changes_no_verdict(tmp_path: Path, above: str) -> None:
    root = tmp_path / above / "warehouse"
    run(small(run=fails_on_b), tmp_path / "plain")
    outcome = run(small(run=fails_on_b), root)
    assert outcome.outcome == "kept_baseline"
    query = "select label, decision, gate, score from decisions order by label"
    assert rows(root, query) == rows(tmp_path / "plain", query)
    assert audit(root).findings == ()


def test_a_grid_that_could_not_be_counted_is_refused() -> None:
    with pytest.raises(DeclarationError, match="more than"):
        small(repeats=2**31)


def test_a_child_that_a_runner_forked_does_not_hold_the_campaign(tmp_path: Path) -> None:
    run(small(run=forks, repeats=1), tmp_path, executor="inline")
    campaign_id = campaigns_on_disk(tmp_path)[0]
    assert holder_of(tmp_path, campaign_id) is None
