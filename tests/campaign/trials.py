"""Trials of one runner, and what every evidence owes, whatever the runner did."""

from __future__ import annotations

import math
import pickle
import re
import unicodedata
from typing import Any, NoReturn

from hypothesis import strategies as st

from opfield.campaign.boundary import run_trial
from opfield.campaign.evidence import TrialEvidence
from opfield.core import Failure, MissingReason, Status, canonical_json
from opfield.experiment import TrialRequest
from tests.campaign import runners
from tests.campaign.runners import context_of, task_of

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def answer(value: Any, **more: Any) -> TrialEvidence:
    return run_trial(context_of(lambda _: value, **more), task_of())


def raised(error: BaseException, **more: Any) -> TrialEvidence:
    def runner(trial: TrialRequest) -> NoReturn:
        raise error

    return run_trial(context_of(runner, **more), task_of())


def values(evidence: TrialEvidence) -> dict[str, float | None]:
    return {each.metric: each.value for each in evidence.measurements}


def reasons(evidence: TrialEvidence) -> dict[str, str | None]:
    return {each.metric: each.missing_reason for each in evidence.measurements}


def failure_of(evidence: TrialEvidence) -> Failure:
    assert evidence.failure is not None
    return evidence.failure


def assert_valid(evidence: TrialEvidence) -> None:
    """Hold evidence to every rule that the ledger relies on."""
    declared = {metric.name: metric for metric in runners.METRICS}
    assert type(evidence.status) is Status
    assert (evidence.failure is None) == (evidence.status is Status.SUCCESS)
    names = [each.metric for each in evidence.measurements]
    assert names == sorted(set(names))
    assert set(names) <= set(declared)
    if evidence.status is Status.SUCCESS:
        assert set(names) == set(declared)
    for each in evidence.measurements:
        if each.value is None:
            assert each.missing_reason in set(MissingReason)
        else:
            assert type(each.value) is float
            assert declared[each.metric].refusal(each.value) is None
            assert each.missing_reason is None
    if evidence.failure is not None:
        assert 0 < len(evidence.failure.code) <= 100
        assert len(evidence.failure.message) <= 500
        assert not {unicodedata.category(sign) for sign in evidence.failure.message} & {"Cc", "Cs"}
        assert type(evidence.failure.is_retryable) is bool
    retained = {artifact.artifact_id for artifact in evidence.artifacts}
    assert evidence.artifact_id is None or evidence.artifact_id in retained
    assert TIMESTAMP.fullmatch(evidence.started_at)
    assert TIMESTAMP.fullmatch(evidence.finished_at)
    assert evidence.started_at <= evidence.finished_at
    assert evidence.duration_s >= 0
    assert evidence.cost_usd is None or (math.isfinite(evidence.cost_usd) and evidence.cost_usd >= 0)
    canonical_json(
        [
            [evidence.cost_usd, evidence.input_tokens, evidence.output_tokens, evidence.duration_s],
            [[each.metric, each.value, each.missing_reason] for each in evidence.measurements],
            [evidence.failure.code, evidence.failure.message] if evidence.failure else None,
        ]
    )
    assert pickle.loads(pickle.dumps(evidence)) == evidence


keys = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.binary(max_size=4))


scalars = st.one_of(keys, st.decimals())
