"""`opfield bind`: runs and operator results go in as JSON lines; bindings, refusals and admissions land once."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from opfield.cli.app import invoke
from opfield.practice import BudgetCharge, as_json, bind_operator_result
from opfield.warehouse.check_practice import check_practice
from opfield.warehouse.landing import landing_numbers
from tests.practice.landed import at, bind, lines_of, rows
from tests.practice.records import attempt, budget, named, result, run, used

RUN = run(candidate_attempts=(), budget_consumed=used(candidates_considered=1, steps_used=2))


def files(root: Path) -> dict[str, str]:
    """Return the digest of every file of the boundary."""
    found = (path for path in (root / "practice").rglob("*") if path.is_file())
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def test_what_is_bound_and_what_is_refused_lands_beside_its_records(root: Path) -> None:
    good, bad = at(RUN, 0), at(RUN, 9)
    assert bind(root, RUN, good, bad) == 0
    assert [each["run_id"] for each in rows(root, "from runs")] == [RUN.run_id]
    assert {each["operator_result_id"] for each in rows(root, "from operator_results")} == {
        good.operator_result_id,
        bad.operator_result_id,
    }
    bound, refused = rows(root, "from bindings order by position")
    outcome: Any = bind_operator_result(RUN, good)
    assert (bound["outcome"], bound["binding_id"]) == ("bound", outcome.binding_id)
    assert json.loads(bound["payload"]) == json.loads(json.dumps(asdict(outcome)))
    assert (bound["candidates"], bound["steps"], bound["depth"], bound["step_index"]) == (1, 1, 2, 0)
    assert (refused["outcome"], refused["reason_codes"]) == ("refused", ["attempt_index_unsupported"])
    assert (refused["binding_id"], refused["attempt_index"], refused["candidates"]) == (None, None, None)
    assert refused["run_id"] == RUN.run_id


def test_the_same_pair_again_has_the_same_id_and_appends_nothing(root: Path) -> None:
    records = (RUN, at(RUN, 0), at(RUN, 9), {"run_id": "?"})
    assert bind(root, *records, admit=True) == 0
    before = files(root)
    assert bind(root, *records, admit=True) == 0
    assert files(root) == before
    assert bind(root, *records[::-1], admit=True) == 0
    assert files(root) == before
    assert bind(root, replace(RUN, explanation="x"), replace(at(RUN, 0), explanation="y"), admit=True) == 0
    assert files(root) == before


def test_a_run_that_landed_before_need_not_be_handed_over_again(root: Path) -> None:
    assert bind(root, RUN) == 0
    assert rows(root, "from bindings") == []
    assert bind(root, at(RUN, 0)) == 0
    assert [each["outcome"] for each in rows(root, "from bindings")] == ["bound"]


def test_a_result_without_its_run_is_refused_and_bound_once_the_run_is_there(root: Path) -> None:
    assert bind(root, at(RUN, 0)) == 3
    (refused,) = rows(root, "from bindings")
    assert (refused["reason_codes"], refused["run_digest"]) == (["original_run_not_a_run"], None)
    assert bind(root, RUN, at(RUN, 0)) == 0
    assert [each["outcome"] for each in rows(root, "from bindings order by landing")] == ["refused", "bound"]


def test_of_two_runs_with_one_id_the_impostor_alone_refuses(root: Path) -> None:
    impostor = replace(RUN, run_disposition="exhausted")
    assert bind(root, impostor, RUN, at(RUN, 0)) == 0
    assert {tuple(each["reason_codes"]) for each in rows(root, "from bindings")} == {
        ("structurally_admissible",),
        ("run_id_unreproduced",),
    }
    assert rows(root, "select is_valid, run_id, max_steps from runs order by is_valid") == [
        {"is_valid": False, "run_id": None, "max_steps": None},
        {"is_valid": True, "run_id": RUN.run_id, "max_steps": 10},
    ]
    assert len(rows(root, "from run_budgets")) == 1
    later = at(RUN, 1)
    assert bind(root, impostor, later) == 0
    assert len(rows(root, "from bindings where outcome = 'bound'")) == 2


def test_what_is_no_record_lands_with_its_reasons(root: Path) -> None:
    told = as_json(at(RUN, 0))
    told["candidate_attempt"]["depth"] = True
    wide = {**as_json(at(RUN, 0)), "answer": "42"}
    assert bind(root, RUN, told, wide, None, [], "x", {"geometric_search_run_id": RUN.run_id}) == 3
    assert {each["reason_code"]: each["refusals"] for each in rows(root, "from binding_refusals")} == {
        "candidate_attempt_malformed": 1,
        "number_malformed": 1,
        "operator_result_not_a_result": 5,
        "original_run_not_a_run": 3,
    }
    assert len(rows(root, "from operator_results where not is_valid and operator_result_id is null")) == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "1 cannot be read: not one JSON value"),
        ('{"schema": "x", "payload": {}}', "unknown schema 'x'; known: opfield.candidate_operator_result/v1"),
        ('{"schema": ["x"], "payload": {}}', "unknown schema"),
        ('{"schema": {}, "payload": {}, "digest": []}', "unknown schema"),
        ('{"payload": {}}', "members schema and payload"),
        ('\n\n{"schema": "opfield.geometric_search_run/v1", "payload": NaN}', "3 cannot be read"),
        ('{"schema": "opfield.geometric_search_run/v1", "payload": {}, "digest": "x"}', "bears digest 'x'"),
        ('{"schema": "opfield.geometric_search_run/v1", "payload": 1, "more": 1}', "members schema and payload"),
        ("\x00\xff", "cannot be read"),
        ("[" * 10_000, "cannot be read"),
    ],
)
def test_a_line_that_is_no_envelope_is_named_and_nothing_lands(
    root: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    path = root.parent / "records.jsonl"
    path.write_text(text + "\n" + lines_of([RUN]), encoding="latin-1")
    assert invoke(["bind", str(path), "--warehouse", str(root)]) == 1
    assert message in " ".join(capsys.readouterr().err.split())
    assert landing_numbers(root) == []


def test_a_file_that_is_none_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (root.parent / "missing.jsonl", root.parent):
        assert invoke(["bind", str(path), "--warehouse", str(root)]) == 1
        assert "cannot be read" in capsys.readouterr().err


def test_a_decision_alone_is_no_record_to_bind(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = {"schema": "opfield.compute_budget_decision/v1", "payload": as_json(budget())}
    assert bind(root, line) == 1
    assert "unknown schema" in capsys.readouterr().err


def test_rows_are_printed_for_people_and_for_programs(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = root.parent / "records.jsonl"
    path.write_text(lines_of([RUN, at(RUN, 0), at(RUN, 9)]), encoding="utf-8")
    assert invoke(["bind", str(path), "--admit", "--warehouse", str(root), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(each["outcome"], each["admission"]) for each in told] == [("bound", "admitted"), ("refused", None)]
    assert invoke(["bind", str(path), "--warehouse", str(root)]) == 0
    shown = capsys.readouterr()
    assert "structurally_admissible" in shown.out
    assert "2 pairs, 1 bound" in shown.err


def test_original_attempts_stand_before_bound_ones_in_their_declared_order(root: Path) -> None:
    holding = run(budget_consumed=used(candidates_considered=1))
    assert bind(root, holding, at(holding, 3), at(holding, 1), at(holding, 2)) == 0
    told = rows(root, "select member_ix, source, attempt_index, candidates, steps from run_members order by member_ix")
    assert told == [
        {"member_ix": 0, "source": "original", "attempt_index": 0, "candidates": 1, "steps": 2},
        *({"member_ix": ix, "source": "bound", "attempt_index": ix, "candidates": 1, "steps": 1} for ix in (1, 2, 3)),
    ]


def test_an_attempt_that_two_results_hold_is_one_member(root: Path) -> None:
    one = at(RUN, 0)
    other = result(RUN, one.candidate_attempt, one.candidate_reconstruction, reason_codes=("other",))
    assert bind(root, RUN, one, other) == 0
    assert len(rows(root, "from bindings where outcome = 'bound'")) == 2
    (member,) = rows(root, "from run_members")
    first = rows(root, "from bindings order by position")[0]
    assert (member["attempt_id"], member["binding_id"]) == (one.attempt_id, first["binding_id"])


def test_the_refusals_are_counted_by_reason(root: Path) -> None:
    bad = result(RUN, attempt(depth=9, attempt_index=9))
    assert bind(root, RUN, at(RUN, 9), bad, result(RUN, operator_set_id="x")) == 3
    assert {each.pop("reason_code"): each for each in rows(root, "from binding_refusals")} == {
        "attempt_index_unsupported": {"refusals": 2, "alone": 1, "runs": 1, "operator_results": 2},
        "depth_exceeds_run": {"refusals": 1, "alone": 0, "runs": 1, "operator_results": 1},
        "operator_set_id_mismatch": {"refusals": 1, "alone": 1, "runs": 1, "operator_results": 1},
    }


def test_the_budget_is_what_the_run_used_and_what_admissions_charge(root: Path) -> None:
    # 4 candidates and 10 steps; the run used 1 and 2; one admission charges 1 and 3, one binding asks for 2 and 1.
    assert bind(root, RUN, at(RUN, 0, BudgetCharge(1, 3)), admit=True) == 0
    assert bind(root, at(RUN, 1, BudgetCharge(2, 1))) == 0
    (told,) = rows(root, "from run_budgets")
    assert told == {
        "run_id": RUN.run_id,
        **{"max_candidates": 4, "consumed_candidates": 1, "charged_candidates": 1, "remaining_candidates": 2},
        **{"asked_candidates": 2, "max_steps": 10, "consumed_steps": 2, "charged_steps": 3, "remaining_steps": 5},
        **{"asked_steps": 1, "max_depth": 3, "bound": 2, "admitted": 1, "refused": 0},
    }


def test_a_run_whose_content_speaks_of_files_or_sql_stays_text(root: Path) -> None:
    odd = run(candidate_attempts=(), operator_set_id="'; drop table runs; --", run_disposition="../../[red]x\x1b[2J")
    assert bind(root, odd, at(odd, 0)) == 0
    assert rows(root, "select run_disposition from runs") == [{"run_disposition": "../../[red]x\x1b[2J"}]


def test_a_warehouse_may_lie_in_a_folder_of_any_name(made: Path, tmp_path: Path) -> None:
    root = shutil.copytree(made, tmp_path / "it's [a*b?] campaign=x" / "warehouse")
    assert bind(root, RUN, at(RUN, 0)) == 0
    assert bind(root, at(RUN, 1), admit=True) == 0
    assert len(rows(root, "from run_members")) == 2
    assert check_practice(root) == []


def test_two_results_of_one_run_may_name_each_other_as_little_as_they_like(root: Path) -> None:
    stray = result(RUN, geometric_search_run_id=named("nobody's run"))
    assert bind(root, RUN, stray) == 3
    (refused,) = rows(root, "from bindings")
    assert refused["reason_codes"] == ["original_run_not_a_run"]


def test_runs_that_are_not_valid_are_named_by_their_lines(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = root.parent / "runs.jsonl"
    unfit = [{"schema": "opfield.geometric_search_run/v1", "payload": {"run_id": each}} for each in "?!"]
    path.write_text("\n".join(map(json.dumps, unfit)))
    assert invoke(["bind", str(path), "--warehouse", str(root)]) == 3
    told = "".join(capsys.readouterr().err.split())
    assert told.count("notavalidrun") == 2
    assert "runs.jsonl:1:" in told
    assert "runs.jsonl:2:" in told
    assert bind(root, RUN) == 0
    assert "not a valid run" not in capsys.readouterr().err
