"""Records travel as JSON and come back equal; what is no record does not become one."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, is_dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opfield.core import canonical_json
from opfield.errors import IdentityError
from opfield.practice import (
    CandidateAttemptRunBindingRefusal,
    CandidateOperatorResult,
    GeometricSearchRun,
    as_json,
    bind_candidate_attempt,
    bind_operator_result,
    canonical_id,
    enveloped,
    identity_of,
    read_record,
    record_from,
)
from opfield_practice import walk
from tests.practice import records
from tests.practice.asking import bound
from tests.practice.records import asked, attempt, budget, gate, reconstruction, result, run

EPISODE = walk()
RECORDS: list[Any] = [
    *(run(), result(), attempt(), reconstruction(), budget(), gate(), asked(run(), result()), bound(run(), result())),
    *(bind_candidate_attempt(None, None, None), bind_operator_result(run(), result(operator_set_id="x"))),
    *(EPISODE.assessment, *EPISODE.residuals, *EPISODE.replays, EPISODE.trace),
]


@pytest.mark.parametrize("record", RECORDS, ids=[type(each).__name__ for each in RECORDS])
def test_a_record_comes_back_equal(record: Any) -> None:
    told = json.loads(json.dumps(as_json(record)))
    assert read_record(type(record), told) == record
    assert canonical_json(as_json(record)) == canonical_json(asdict(record))
    if not isinstance(record, type(asked(run(), result()))):
        assert identity_of(record) == records.own_identity(record) == next(iter(told.values()))


@pytest.mark.parametrize("record", RECORDS[:8], ids=[type(each).__name__ for each in RECORDS[:8]])
def test_a_record_is_frozen_and_has_no_room_for_more(record: Any) -> None:
    assert is_dataclass(record)
    for name in (fields(record)[0].name, "answer"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(record, name, "x")
    assert not hasattr(record, "__dict__")


def test_a_field_too_many_or_too_few_makes_no_record() -> None:
    told = as_json(run())
    wrongs: list[Any] = [{**told, "answer": "42"}, {key: told[key] for key in told if key != "run_id"}, [], None, "x"]
    for wrong in wrongs:
        assert record_from(GeometricSearchRun, wrong) is wrong
        with pytest.raises(IdentityError, match="no GeometricSearchRun"):
            read_record(GeometricSearchRun, wrong)
        outcome = bind_operator_result(record_from(GeometricSearchRun, wrong), result())
        assert outcome.reason_codes == ("original_run_not_a_run",)


def test_what_json_says_wrongly_below_a_record_is_refused_by_its_place() -> None:
    told = as_json(result())
    told["candidate_attempt"]["replay_status"] = "replay_imagined"
    told["candidate_attempt"]["depth"] = True
    outcome = bind_operator_result(run(), record_from(CandidateOperatorResult, told))
    assert isinstance(outcome, CandidateAttemptRunBindingRefusal)
    assert outcome.reason_codes == ("candidate_attempt_malformed", "number_malformed")
    assert "operator_result.candidate_attempt.replay_status is not of the type" in outcome.explanation
    with pytest.raises(IdentityError, match=r"candidate_attempt\.depth is no whole number"):
        read_record(CandidateOperatorResult, told)


def test_an_envelope_names_what_it_holds() -> None:
    assert enveloped(run()).schema == "opfield.geometric_search_run/v1"
    assert enveloped(run()).payload == json.loads(json.dumps(asdict(run())))


plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("abc_", max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(plain)
def test_the_canonical_json_of_identities_is_that_of_rfc_8785_here(value: Any) -> None:
    import hashlib

    assert canonical_id(value) == hashlib.sha256(canonical_json(value)).hexdigest()


@settings(max_examples=100, deadline=None)
@given(plain)
def test_any_json_value_is_read_as_a_record_without_raising(value: Any) -> None:
    outcome = bind_operator_result(record_from(GeometricSearchRun, value), record_from(CandidateOperatorResult, value))
    assert outcome.reason_codes == ("original_run_not_a_run", "operator_result_not_a_result")
