"""Whatever is handed over ends in a refusal with the right reasons, never in an exception and never in a guess."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.practice import (
    MEANINGS,
    BindingReason,
    BudgetCharge,
    CandidateAttempt,
    CandidateAttemptRunBindingRefusal,
    CandidateOperatorResult,
    GeometricSearchRun,
    SourceSpan,
    bind_candidate_attempt,
    bind_operator_result,
)
from opfield.practice.form import MAX_ENTRIES, MAX_TEXT, MAX_WHOLE
from tests.practice.asking import codes
from tests.practice.records import SPANS, asked, attempt, named, reconstruction, result, run, seal, span, used


class Hostile:
    """Refuses to be looked at."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def __repr__(self) -> str:
        raise RuntimeError("repr")


class Text(str):
    """A text that claims to be any other."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Number(int):
    """A number of a subclass."""


@dataclass(frozen=True, slots=True)
class WiderRun(GeometricSearchRun):
    """A run with a field more."""

    answer: str = "42"


def wider() -> WiderRun:
    plain = run()
    return WiderRun(**{each.name: getattr(plain, each.name) for each in fields(plain)})


def spoiled(record: Any, name: str, value: Any) -> Any:
    """Return a record that holds a value it may not, sealed as if it could."""
    return replace(record, **{name: value})


def with_attempt(**changes: Any) -> Any:
    """An operator result around an attempt that no hash can be computed for."""
    return replace(result(), candidate_attempt=replace(attempt(), **changes))


def refusal(run: object, result: object) -> CandidateAttemptRunBindingRefusal:
    outcome = bind_operator_result(run, result)
    assert isinstance(outcome, CandidateAttemptRunBindingRefusal)
    return outcome


ANYTHING: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "text": lambda: "x",
    "number": lambda: 3,
    "not a number": lambda: float("nan"),
    "dictionary": dict,
    "list": list,
    "object": object,
    "hostile": Hostile,
    "class": lambda: CandidateAttempt,
}


@pytest.mark.parametrize("make", ANYTHING.values(), ids=ANYTHING.keys())
def test_anything_in_place_of_a_record_is_refused(make: Callable[[], Any]) -> None:
    value = make()
    assert refusal(value, result()).reason_codes == ("original_run_not_a_run",)
    assert refusal(run(), value).reason_codes == ("operator_result_not_a_result",)
    outcome = bind_candidate_attempt(value, run(), result())
    assert outcome.reason_codes == ("binding_input_malformed",)
    assert refusal(run(), replace(result(), candidate_attempt=value)).reason_codes == ("candidate_attempt_malformed",)
    more = {} if value is None else {"compute_budget_decision": value, "search_gate_decision": value}
    if more:
        outcome = bind_candidate_attempt(asked(run(), result()), run(), result(), **more)
        assert outcome.reason_codes == ("budget_decision_malformed", "gate_decision_malformed")


def test_nothing_at_all_is_refused_without_any_identity() -> None:
    outcome = bind_candidate_attempt(None, None, None)
    assert isinstance(outcome, CandidateAttemptRunBindingRefusal)
    assert outcome.reason_codes == (
        "binding_input_malformed",
        "original_run_not_a_run",
        "operator_result_not_a_result",
    )
    identities = (outcome.input_digest, outcome.original_run_id, outcome.operator_result_id)
    assert (*identities, outcome.candidate_attempt_id) == (None, None, None, None)


def test_a_record_of_a_subclass_is_refused() -> None:
    assert refusal(wider(), result()).reason_codes == ("original_run_not_a_run",)


def test_a_record_without_its_fields_is_refused() -> None:
    empty: GeometricSearchRun = object.__new__(GeometricSearchRun)
    assert refusal(empty, result()).reason_codes == ("original_run_malformed",)


NO_NUMBERS = [True, float("nan"), 1.0, "1", None, Number(1), MAX_WHOLE + 1, -(10**400)]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=[type(each).__name__ for each in NO_NUMBERS])
def test_what_is_no_whole_number_is_refused(value: Any) -> None:
    expected = ("candidate_attempt_malformed", "number_malformed")
    for name in ("attempt_index", "depth", "step_index"):
        assert refusal(run(), with_attempt(**{name: value})).reason_codes == expected
    assert refusal(run(), with_attempt(budget_charge=BudgetCharge(1, value))).reason_codes == expected
    spoiled_run = replace(run(), budget_consumed=used(steps_used=value))
    assert refusal(spoiled_run, result()).reason_codes == ("original_run_malformed", "number_malformed")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"depth": -1}, "depth_negative"),
        ({"step_index": -1}, "step_index_negative"),
        ({"attempt_index": -1}, "attempt_index_negative"),
        ({"budget_charge": BudgetCharge(-1, 1)}, "candidate_charge_not_positive"),
        ({"budget_charge": BudgetCharge(1, -1)}, "step_charge_not_positive"),
    ],
)
def test_a_negative_number_is_refused_by_name(changes: dict[str, Any], expected: str) -> None:
    assert codes(run(), result(with_attempt=attempt(**changes))) == (expected,)


@pytest.mark.parametrize("name", [each.name for each in fields(used())])
def test_a_run_budget_below_zero_is_refused(name: str) -> None:
    negative = run(budget_consumed=used(**{name: -1}))
    assert "run_budget_negative" in codes(negative, result(negative))


NO_DIGESTS = [
    named("x")[:-1],
    named("x") + "0",
    named("x").upper(),
    "",
    "g" * 64,
    named("x") + "\n",
    "sha256:" + "0" * 57,
]


@pytest.mark.parametrize("value", NO_DIGESTS)
def test_a_digest_of_another_length_or_case_is_refused(value: str) -> None:
    assert refusal(replace(run(), run_id=value), result()).reason_codes == (
        "original_run_malformed",
        "digest_malformed",
    )
    spoiled_result = replace(result(), residual_ids=(value,))
    assert refusal(run(), spoiled_result).reason_codes == ("operator_result_malformed", "digest_malformed")


def test_a_text_of_a_subclass_is_refused() -> None:
    assert refusal(replace(run(), run_id=Text("x")), result()).reason_codes == ("original_run_malformed",)
    assert refusal(run(), replace(result(), operator_set_id=Text("x"))).reason_codes == ("operator_result_malformed",)


@pytest.mark.parametrize("value", ["", "\ud800", "x" * (MAX_TEXT + 1)], ids=["empty", "surrogate", "long"])
def test_a_name_that_is_none_is_refused(value: str) -> None:
    spoiled_result = replace(result(), operator_set_id=value)
    assert refusal(run(), spoiled_result).reason_codes == ("operator_result_malformed", "text_malformed")


def test_huge_tuples_are_refused() -> None:
    huge = replace(result(), residual_ids=(named("x"),) * (MAX_ENTRIES + 1))
    assert refusal(run(), huge).reason_codes == ("operator_result_malformed", "entries_too_many")
    spans = replace(result(), evidence_spans=SPANS * MAX_ENTRIES)
    assert refusal(run(), spans).reason_codes == (
        "operator_result_malformed",
        "evidence_spans_malformed",
        "entries_too_many",
    )


@pytest.mark.parametrize("wrong", [[], ["x"], iter(()), {}, None, "x"])
def test_a_mutable_or_other_container_is_refused(wrong: Any) -> None:
    assert refusal(run(), replace(result(), reason_codes=wrong)).reason_codes == ("operator_result_malformed",)
    spans = refusal(run(), replace(result(), evidence_spans=wrong)).reason_codes
    assert spans == ("operator_result_malformed", "evidence_spans_malformed")


@pytest.mark.parametrize(
    "pairs", [(("a", "1"), ("a", "1")), (("a", "1"), ("a", "2")), (("b", "1"), ("a", "1"))], ids=str
)
def test_version_pairs_that_are_unsorted_or_double_are_refused(pairs: tuple[tuple[str, str], ...]) -> None:
    for kind in ("schema_versions", "policy_versions"):
        changes: dict[str, Any] = {kind: pairs}
        assert codes(run(), result(**changes)) == (f"{kind}_not_canonical",)
        odd = run(**changes)
        good: dict[str, Any] = {kind: ()}
        assert codes(odd, result(odd, **good)) == (f"{kind}_not_canonical",)


def test_one_schema_in_two_versions_is_refused() -> None:
    assert codes(run(), result(schema_versions=(("run", "2"),))) == ("schema_versions_conflict",)
    assert codes(run(), result(policy_versions=(("gate", "2"),))) == ("policy_versions_conflict",)


def test_version_pairs_that_are_no_pairs_are_refused() -> None:
    for wrong in ((("a",),), ("ab",), (("a", "1", "2"),), (("a", 1),)):
        spoiled_result = spoiled(result(), "schema_versions", wrong)
        assert refusal(run(), spoiled_result).reason_codes == ("operator_result_malformed",)


def placed(*spans: SourceSpan) -> tuple[str, ...]:
    tried, rebuilt = attempt(evidence_spans=spans), reconstruction(evidence_spans=spans)
    return codes(run(), result(with_attempt=tried, with_reconstruction=rebuilt))


def test_a_span_that_is_reversed_is_refused() -> None:
    assert placed(replace(span(4, 9), start=9, end=4)) == ("evidence_span_reversed",)


def test_a_span_of_nothing_is_refused() -> None:
    assert placed(span(4, 4)) == ("evidence_span_empty",)


def test_a_span_beyond_its_source_is_refused() -> None:
    assert placed(replace(span(4, 9), source_length=8)) == ("evidence_span_outside_source",)
    assert placed(replace(span(0, 2), start=-1, text="the")) == ("evidence_span_outside_source",)


def test_a_span_that_is_not_as_long_as_its_text_is_refused() -> None:
    assert placed(replace(span(4, 9), text="quic")) == ("evidence_span_inexact",)


def test_spans_that_overlap_are_refused_and_neighbours_and_doubles_are_not() -> None:
    assert placed(span(4, 9), span(16, 19), span(8, 10)) == ("evidence_spans_overlap",)
    assert placed(span(4, 9), replace(span(4, 9), text="quack")) == ("evidence_spans_overlap",)
    neighbours = (span(4, 9), span(9, 10), span(4, 9), span(4, 9, "another source of words"))
    tried, rebuilt = attempt(evidence_spans=neighbours), reconstruction(evidence_spans=neighbours)
    outcome = bind_operator_result(run(), result(with_attempt=tried, with_reconstruction=rebuilt))
    assert not isinstance(outcome, CandidateAttemptRunBindingRefusal)


def test_an_unknown_policy_is_refused() -> None:
    other = run(run_policy_version="geometric_search_run.v2")
    assert codes(other, result(other)) == ("run_policy_unsupported",)


def test_of_two_runs_with_one_id_the_one_that_has_another_content_is_refused() -> None:
    impostor = replace(run(), run_disposition="exhausted")
    assert impostor.run_id == run().run_id
    outcome = refusal(impostor, result())
    assert outcome.reason_codes == ("run_id_unreproduced",)
    assert outcome.original_run_id is None
    assert outcome.operator_result_id == result().operator_result_id


def test_identities_that_nothing_has_are_named_by_no_refusal() -> None:
    forged = replace(result(), operator_result_id=named("x"), attempt_id=named("x"))
    outcome = refusal(run(), forged)
    assert outcome.operator_result_id is None
    assert outcome.candidate_attempt_id == attempt().attempt_id
    lying = bind_candidate_attempt(replace(asked(run(), result()), input_digest=named("x")), run(), result())
    assert isinstance(lying, CandidateAttemptRunBindingRefusal)
    assert (lying.reason_codes, lying.input_digest) == (("input_digest_unreproduced",), None)


def test_every_reason_stands_in_its_order_and_has_its_meaning() -> None:
    assert set(MEANINGS) == set(BindingReason)
    bad = result(
        with_attempt=attempt(depth=-1, replay_blockers=("x",), attempt_index=0),
        operator_set_id="others",
        schema_versions=(("run", "2"), ("run", "2")),
    )
    found = codes(run(), bad)
    order = [each.value for each in BindingReason]
    assert list(found) == sorted(found, key=order.index)
    assert found == (
        "operator_set_id_mismatch",
        "replay_blockers_present",
        "attempt_index_duplicate",
        "depth_negative",
        "schema_versions_not_canonical",
        "schema_versions_conflict",
    )


class Colour(Enum):
    RED = "replay_pending"


odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.just(Colour.RED),
    st.builds(Hostile),
    st.lists(st.integers(), max_size=2),
    st.lists(st.just(named("x")), max_size=2).map(tuple),
    st.sampled_from([run(), result(), attempt(), reconstruction(), SPANS, SPANS[0]]),
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_value_in_any_field_raises(data: st.DataObject) -> None:
    records: dict[str, Any] = {"run": run(), "result": result(), "asked": asked(run(), result())}
    for name in data.draw(st.lists(st.sampled_from(sorted(records)), min_size=1, max_size=3)):
        record = records[name]
        member = data.draw(st.sampled_from([each.name for each in fields(record)]))
        changed = replace(record, **{member: data.draw(odd)})
        if name == "result" and data.draw(st.booleans()):
            part = data.draw(st.sampled_from([each.name for each in fields(CandidateAttempt)]))
            changed = replace(changed, candidate_attempt=replace(attempt(), **{part: data.draw(odd)}))
        records[name] = changed
    outcome = bind_candidate_attempt(records["asked"], records["run"], records["result"])
    assert outcome.reason_codes
    assert seal(outcome) == outcome


def test_what_json_says_is_refused_by_the_same_reasons() -> None:
    assert refusal({"run_id": named("x")}, CandidateOperatorResult).reason_codes == (
        "original_run_not_a_run",
        "operator_result_not_a_result",
    )
