"""Measures of a ranking: named, defined and computed by `ir_measures`, and by nothing of our own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from opfield.core import MissingReason
from opfield.core.number import is_number
from opfield.ingest.records import IngestError
from opfield.metric import Metric

#: What is measured where the user names nothing.
DEFAULT_METRIC: Final = "nDCG@10"
#: Largest relevance and gain: trec_eval keeps a table of one entry a level.
LARGEST_RELEVANCE: Final = 10_000

_BOUNDED: Final = frozenset(
    {
        "AP",
        "Accuracy",
        "Bpref",
        "Compat",
        "ERR",
        "IPrec",
        "Judged",
        "P",
        "R",
        "RR",
        "Rprec",
        "SetAP",
        "SetF",
        "SetP",
        "SetR",
        "Success",
        "infAP",
        "nDCG",
    }
)
_COUNTS: Final = frozenset({"NumQ", "NumRel", "NumRet"})
# Of these ir-measures has no value for a query without results, or one that the judgments decide.
_UNDEFINED_WITHOUT_RESULTS: Final = frozenset({"Accuracy", "NumQ", "NumRel"})


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures that were asked for.

    Attributes:
        by_name: name as the user gave it, to ir-measures' own measure, in the order asked.
        metrics: their definitions, in the same order.
    """

    by_name: Mapping[str, Any]
    metrics: tuple[Metric, ...]


def asked_measures(names: Sequence[str], optional: frozenset[str] = frozenset()) -> Measures:
    """Return the measures of these names; nDCG@10 where there are none.

    Args:
        names: what the user asked for.
        optional: those that may be no measure at all: the user's own name of one that stands beside them.

    Raises:
        IngestError: where ir-measures is not installed, or does not know, take or compute one of them.
    """
    by_name: dict[str, Any] = {}
    for name in names or (DEFAULT_METRIC,):
        with suppress(*((IngestError,) if name in optional else ())):
            by_name[name.strip()] = _parsed(name)
    return Measures(by_name, tuple(_definition(name, measure) for name, measure in by_name.items()))


def values(
    measures: Measures, judged: Mapping[str, Mapping[str, int]], returned: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float | MissingReason]]:
    """Return the value of each measure for each query, or why there is none.

    Args:
        measures: what to compute.
        judged: query to document to relevance; the same queries as `returned`.
        returned: query to document to score, at least one document each.

    Raises:
        IngestError: where ir-measures fails.
    """
    found: dict[str, dict[str, float | MissingReason]] = {query: {} for query in returned}
    names: dict[Any, list[str]] = {}
    for name, measure in measures.by_name.items():
        names.setdefault(measure, []).append(name)
    for result in _results(list(names), judged, returned):
        # gdeval adds a row for its own mean, under a query that nobody has.
        if result.query_id in found:
            value = float(result.value)
            told = value if math.isfinite(value) else MissingReason.NOT_FINITE
            found[result.query_id].update(dict.fromkeys(names[result.measure], told))
    for row in found.values():
        for name in measures.by_name:
            row.setdefault(name, MissingReason.NOT_APPLICABLE)
    return found


def measures_of_trec_name(name: str) -> list[Any]:
    """Return the measures that trec_eval or ir-measures prints under a name; none where nobody does."""
    library = _library()
    import pytrec_eval  # type: ignore[import-not-found, unused-ignore]  # untyped, and comes with ir-measures

    if name in pytrec_eval.supported_nicknames:  # a family of measures, never the name of a figure
        return []
    for parse in (library.parse_trec_measure, lambda text: [library.parse_measure(text)]):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                found = list(parse(name))
        except Exception:  # whatever it cannot parse, it does not know
            continue
        if len(found) == 1:
            return found
    return []


def _results(
    measures: Sequence[Any], judged: Mapping[str, Mapping[str, int]], returned: Mapping[str, Mapping[str, float]]
) -> Iterator[Any]:
    library = _library()
    if together := [measure for measure in measures if measure.NAME != "Accuracy"]:
        with _trouble_named(", ".join(map(str, together))):
            yield from library.iter_calc(together, judged, returned)
    # Accuracy has no value where nothing relevant came back, unless another measure beside it fills one in; and it
    # divides by zero where nothing else came back.
    for measure in measures:
        for query in returned if measure.NAME == "Accuracy" else ():
            with _trouble_named(str(measure)), suppress(ZeroDivisionError):
                yield from library.iter_calc([measure], {query: judged[query]}, {query: returned[query]})


def version() -> str:
    """Return the version of ir-measures."""
    return str(_library().__version__)


def _library() -> Any:
    try:
        import ir_measures
    except ImportError:
        raise IngestError(
            "measures of rankings are computed by ir-measures, which is not installed; pip install 'opfield[trec]'"
        ) from None
    return ir_measures


def _parsed(name: str) -> Any:
    library = _library()
    try:
        with warnings.catch_warnings():
            # It reads names through nodes of `ast` that later Pythons deprecate.
            warnings.simplefilter("ignore", DeprecationWarning)
            measure = library.parse_measure(name.strip())
        measure.validate_params()
        _check_parameters(measure.params)
        library.evaluator([measure], {"query": {"document": 1}})
        inputs = set(library.qrel_inputs([measure]))
    except Exception as error:  # its parser answers with whatever its steps raise
        if isinstance(error, NameError):
            known = ", ".join(sorted(known for known in library.measures.registry if known.isascii()))
            told = f"it knows {known}"
        elif "<object object" in str(error):
            told = "it needs a cutoff, such as @10"
        else:
            told = _told(error)
        raise IngestError(
            f"ir-measures does not take metric {name[:60]!r} ({told}); name one such as nDCG@10, AP, P@5, R@100 or RR"
        ) from None
    if "iteration" in inputs:
        raise IngestError(f"metric {name!r} is of subtopics, which this reader does not read; name another metric")
    return measure


def _check_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse what trec_eval would end the whole process for."""
    for name, value in parameters.items():
        if name == "cutoff" and (isinstance(value, bool) or not 1 <= value <= 10**9):
            raise ValueError(f"cutoff {value} is no depth of a ranking, from 1")
        if name == "rel" and (isinstance(value, bool) or not 1 <= value <= LARGEST_RELEVANCE):
            raise ValueError(f"rel {value} is no relevance from 1 to {LARGEST_RELEVANCE}")
        if name == "gains":
            for level, gain in value.items():
                if not (is_number(level) and is_number(gain) and abs(gain) <= LARGEST_RELEVANCE and gain == int(gain)):
                    raise ValueError(f"gain {gain!r} of {level!r} is no whole number up to {LARGEST_RELEVANCE}")


def _definition(name: str, measure: Any) -> Metric:
    kind = measure.NAME
    # Graded gains of rank-biased precision may add up to more than 1; binary ones do not.
    is_bounded = kind in _BOUNDED or (kind == "RBP" and "rel" in measure.params)
    falls_to_zero = (is_bounded or kind in _COUNTS) and kind not in _UNDEFINED_WITHOUT_RESULTS
    canonical = str(measure)
    return Metric(
        name,
        lower=0.0 if is_bounded or kind in _COUNTS else None,
        upper=1.0 if is_bounded else None,
        kind="binary" if kind == "Success" else "count" if kind in _COUNTS else "continuous",
        # The worst value is what ir-measures counts for a query without results.
        on_domain_failure=float(measure.DEFAULT) if falls_to_zero else "missing",
        evaluator=f"ir-measures {version()}",
        description=f"{measure.PRETTY_NAME} ({canonical})",
    )


@contextmanager
def _trouble_named(what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a provider of measures is foreign code, or another program
        raise IngestError(f"ir-measures could not compute {what} ({_told(error)}); name another metric") from None


def _told(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
