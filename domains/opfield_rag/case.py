"""What a runner is asked: a query over a known corpus, and which documents answer it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

import opfield as of


class CaseInput(BaseModel):
    """Input of one case.

    Attributes:
        query: the question.
        relevant: grade by document id; above 0 is relevant, and at least one is.
        corpus: identity of the corpus, so that other documents are another workload and so another campaign.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    query: str
    relevant: Annotated[dict[str, int], Field(min_length=1)]
    corpus: str


def check_corpus(found: str, declared: str) -> None:
    """Refuse documents other than those that the campaign was declared on.

    Raises:
        InfrastructureFailure: with the remedy.
    """
    if found != declared:
        raise of.InfrastructureFailure(
            "corpus_changed",
            f"the campaign was declared on corpus {declared[:15]}…, but {found[:15]}… is there now; "
            "put the declared one back, or declare a new campaign",
        )


def read_case(trial: of.TrialRequest, corpus: str) -> CaseInput:
    """Return the case of a trial, checked against the identity of the corpus that the runner searches.

    Raises:
        InfrastructureFailure: where the case was declared on another corpus.
    """
    case = CaseInput.model_validate(trial.case)
    check_corpus(corpus, case.corpus)
    return case
