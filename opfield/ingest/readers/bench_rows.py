"""What readers of benchmark files share: metrics, measured values, and the samples that they become."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from opfield.core import Failure, MissingReason, Status, check_label
from opfield.core.number import is_number
from opfield.errors import DeclarationError
from opfield.ingest.records import OBSERVED, CaseRef, Note, Observed, Refused, Sample, Source, System
from opfield.metric import MAX_MAGNITUDE, Metric

TIME: Final = Metric("time", "minimize", unit="s", lower=0.0, description="wall time of one execution")
CPU_TIME: Final = Metric("cpu_time", "minimize", unit="s", lower=0.0, description="processor time of one execution")
MEMORY: Final = Metric("memory", "minimize", unit="B", lower=0.0, description="memory of one execution")


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement that a file holds.

    Attributes:
        case: name of the benchmark with its parameters.
        place: where it stands.
        raw: metric to what stands there for it, in the metric's unit: a number, None, or something that is none.
        failure: why it failed; None where it did not.
        repeat: None where the file holds one figure of the benchmark, `OBSERVED` where it lists its rounds.
        missing: metrics that have no value by the tool's own word.
        groups: strata of the case.
        started_at: start, as ISO 8601 text; None where the file does not say.
    """

    case: str
    place: str
    raw: Mapping[Metric, Any]
    failure: Failure | None = None
    repeat: Observed | None = OBSERVED
    missing: Mapping[str, MissingReason] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    started_at: str | None = None


def sample_of(system: str, row: Row) -> Sample | Refused:
    """Return the cell of a measurement; what is infinite, or stands in for it, has no value, and says so."""
    try:
        check_label("benchmark", row.case)
    except DeclarationError as error:
        return Refused(row.place, str(error), "give the benchmark another name")
    values: dict[str, float] = {}
    missing = dict(row.missing)
    for metric, raw in row.raw.items():
        if raw is None:
            missing.setdefault(metric.name, MissingReason.NOT_EMITTED)
        elif not is_number(raw):
            return Refused(row.place, f"{metric.name} is {str(raw)[:60]!r}, which is no number", "mend it")
        elif not abs(raw) < MAX_MAGNITUDE:  # NaN, infinities, and the largest number of a type in their place
            missing[metric.name] = MissingReason.NOT_FINITE
        elif row.failure is None and (why := metric.refusal(raw)) is not None:
            return Refused(row.place, why, "mend it, or leave the file out")
        else:
            values[metric.name] = float(raw)
    return Sample(
        system,
        CaseRef(row.case),
        row.place,
        row.repeat,
        values=values,
        missing=missing,
        status=Status.SUCCESS if row.failure is None else Status.DOMAIN_FAILURE,
        failure=row.failure,
        groups=row.groups,
        started_at=row.started_at,
    )


def system_of(source: Source, tool: str, says: Mapping[str, Any], *aliases: Any) -> System:
    """Return the system that one file is of: what it says of itself, by the names that people call it."""
    stem = source.path.name.removesuffix(".gz").removesuffix(".json")
    names = dict.fromkeys(str(one) for one in (stem, *aliases) if one not in (None, "", source.name))
    known = {name: value for name, value in says.items() if value not in (None, "", {}, [])}
    return System(source.name, source.name, source.name, {"tool": tool, **known}, tuple(names))


def repeated(places: Mapping[str, list[str]], remedy: str) -> Iterator[Refused]:
    """Refuse benchmarks that stand more than once under one name."""
    for name, found in places.items():
        if len(found) > 1:
            yield Refused(found[1], f"benchmark {name[:60]!r} stands at {found[0]} as well", remedy)


def told_of(source: Source, count: int, what: str) -> Iterator[Note]:
    """Note how many there are of something, where there are any."""
    if count:
        yield Note(f"{what}: {count:,}", source.name)


def differs(one: float, other: float) -> bool:
    """Return whether two figures that should be one are apart by more than rounding."""
    return not math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-15)


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one where a value is none."""
    return value if isinstance(value, dict) else {}
