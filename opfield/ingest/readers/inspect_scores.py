"""Inspect's scores as metric values: what a score's value is worth, and what a scorer's values say of its range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeGuard

from opfield.core import MissingReason
from opfield.metric import MAX_MAGNITUDE, Metric

#: Under this name old logs keep the score of an only scorer.
PLACEHOLDER: Final = "88F74D2C"

#: Inspect's own scorers that give C or I and nothing else.
_TWO_VALUED: Final = frozenset({"match", "includes", "exact", "pattern", "answer", "choice"})
_LETTERS: Final = {"C": 1.0, "I": 0.0}
_GRADES: Final = {"P": 0.5, "N": 0.0}
_WORDS: Final = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}

#: What a value is made of. `text` and `nothing` have no worth; `grade` is P, N, or a word for yes or no.
Shape = Literal["letter", "grade", "boolean", "number", "text", "nothing"]


def worth(value: Any) -> tuple[float | MissingReason, Shape]:
    """Return what a score's value counts, or why it counts nothing, and what it is made of.

    Letters, words and numbers count as in Inspect's `value_to_float`. It takes other text for 0; here it is missing.

    >>> worth("C"), worth("no"), worth(" 0.25")
    ((1.0, 'letter'), (0.0, 'grade'), (0.25, 'number'))
    >>> worth("refused")[0], worth(float("nan"))[0]
    (<MissingReason.NOT_APPLICABLE: 'not_applicable'>, <MissingReason.NOT_FINITE: 'not_finite'>)
    """
    if value is None or value == "":
        return MissingReason.NOT_EMITTED, "nothing"
    if isinstance(value, bool):
        return float(value), "boolean"
    if isinstance(value, int | float):
        return _finite(value)
    if not isinstance(value, str):
        return MissingReason.NOT_APPLICABLE, "text"
    if value in _LETTERS:
        return _LETTERS[value], "letter"
    if value in _GRADES:
        return _GRADES[value], "grade"
    if value.lower() in _WORDS:
        return _WORDS[value.lower()], "grade"
    try:
        return _finite(float(value))
    except ValueError:
        return MissingReason.NOT_APPLICABLE, "text"


def _finite(number: int | float) -> tuple[float | MissingReason, Shape]:
    # Beyond the largest magnitude stand stand-ins for infinity, such as the largest double.
    if not abs(number) <= MAX_MAGNITUDE:
        return MissingReason.NOT_FINITE, "nothing"
    return float(number), "number"


def scores_of(sample: Mapping[str, Any], only_scorer: str = PLACEHOLDER) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and score of each scorer of a sample, or of its summary.

    Args:
        sample: the sample; old ones hold one `score` in place of `scores`.
        only_scorer: name of the scorer where the sample does not name it.
    """
    scores = sample.get("scores")
    if not isinstance(scores, Mapping):
        scores = {PLACEHOLDER: sample["score"]} if sample.get("score") is not None else {}
    for name, score in scores.items():
        held = score if isinstance(score, Mapping) else {"value": score}
        yield only_scorer if name == PLACEHOLDER else str(name), held


def parts_of(scorer: str, score: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield metric and raw value of a score: `scorer`, or `scorer/key` and `scorer/0` where it holds several."""
    value = score.get("value")
    if isinstance(value, Mapping):
        yield from ((f"{scorer}/{key}", item) for key, item in value.items())
    elif isinstance(value, list):
        yield from ((f"{scorer}/{index}", item) for index, item in enumerate(value))
    else:
        yield scorer, value


def is_judge_failure(score: Mapping[str, Any]) -> bool:
    """Return whether a score states, in a field made for it, that its grader failed."""
    metadata = score.get("metadata")
    legacy = metadata.get("unscored_reason") if isinstance(metadata, Mapping) else None
    return (score.get("reason") or legacy) == "grader_failed"


@dataclass(slots=True)
class Survey:
    """What the scorers of a log gave, gathered before its samples are read.

    Attributes:
        shapes: metric to what its values are made of.
        parts: scorer to the metrics that it gave where its value held several.
    """

    shapes: dict[str, set[Shape]] = field(default_factory=dict)
    parts: dict[str, set[str]] = field(default_factory=dict)

    def add(self, sample: Any, only_scorer: str = PLACEHOLDER) -> None:
        """Take in the scores of a sample or of its summary."""
        if not isinstance(sample, Mapping):
            return
        for scorer, score in scores_of(sample, only_scorer):
            for metric, value in parts_of(scorer, score):
                self.shapes.setdefault(metric, set()).add(worth(value)[1])
                if metric != scorer:
                    self.parts.setdefault(scorer, set()).add(metric)

    def settled(self, only_scorer: str) -> Survey:
        """Return the survey with the only scorer named, and without scorers that only ever failed to give parts."""

        def named(name: str) -> str:
            is_unnamed = name == PLACEHOLDER or name.startswith(PLACEHOLDER + "/")
            return only_scorer + name[len(PLACEHOLDER) :] if is_unnamed else name

        parts = {named(scorer): {named(metric) for metric in metrics} for scorer, metrics in self.parts.items()}
        shapes = {named(metric): shapes for metric, shapes in self.shapes.items()}
        return Survey(
            {name: kinds for name, kinds in shapes.items() if name not in parts or kinds != {"nothing"}}, parts
        )


def metric_of(name: str, shapes: Iterable[Shape]) -> Metric:
    """Return the definition of a metric, as far as what its values are made of gives one.

    Letters and words lie in 0 … 1. A metric is binary where all its values are booleans, or where the scorer is one
    of Inspect's own that give C or I and nothing else stands there. Any number leaves it unbounded.

    Raises:
        DeclarationError: where the name cannot be a metric's.
    """
    real = set(shapes) - {"text", "nothing"}
    if real == {"boolean"} or (name in _TWO_VALUED and real <= {"letter"}):
        return Metric(name, kind="binary")
    if real and "number" not in real:
        return Metric(name, lower=0.0, upper=1.0)
    return Metric(name)


def is_finite(value: Any) -> TypeGuard[int | float]:
    """Return whether a stated figure is a number that can be set beside another."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(_as_float(value))


def _as_float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
