"""What the user asks of an intake, and how metrics are to be understood."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from opfield.campaign.declaration import Coupling
from opfield.decision import Policy
from opfield.errors import unknown_name
from opfield.ingest.records import IngestError, MetricStated
from opfield.ingest.sources import Asked
from opfield.metric import Metric

PairBy = Literal["key", "input"]


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be taken in, and how it is to be compared.

    Attributes:
        asked: readers and what each is to read.
        baseline: label or alias of the baseline; None to be told which systems there are.
        name: name of the campaign; made from readers and baseline where None.
        metrics: metrics to compare by, the first of which is preferred; empty for the first that is stated.
        renames: name in the files to name in the campaign, so that two tools' names for one thing become one.
        changes: members of a metric's definition to change, by name in the campaign.
        pair_by: what makes two samples one case: their key, or what was asked; None for the key, and for the input
            where several tools are read.
        coupling: what the repeats of two systems share: nothing, unless the user knows better.
        policy: how candidates are judged; coverage and superiority by the preferred metric where None.
    """

    asked: tuple[Asked, ...]
    baseline: str | None = None
    name: str | None = None
    metrics: tuple[str, ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    pair_by: PairBy | None = None
    coupling: Coupling = "none"
    policy: Policy | None = None

    @property
    def pairs_by(self) -> PairBy:
        """What makes two samples one case, decided."""
        if self.pair_by is not None:
            return self.pair_by
        return "input" if len({each.reader.name for each in self.asked}) > 1 else "key"


def settled_metrics(stated: Iterable[MetricStated], request: Request) -> tuple[Metric, ...]:
    """Return the metrics of the campaign, in the order in which files state them.

    The user's changes come first. Statements of one name are then joined: the kind is continuous where they differ, and
    a bound is the wider one.

    Raises:
        IngestError: where statements contradict each other, or no metric is stated.
        UnknownNameError: where the user names a metric that no file has.
        DeclarationError: where a changed definition contradicts itself.
    """
    found: dict[str, MetricStated] = {}
    for each in stated:
        name = request.renames.get(each.metric.name, each.metric.name)
        renamed = replace(each.metric, name=name, **request.changes.get(name, {}))
        found[name] = MetricStated(_joined(found[name], each, renamed) if name in found else renamed, each.place)
    if not found:
        raise IngestError(
            "the files hold no metric, so that there is nothing to compare; score them with their tool first, or "
            "name a metric with --metric where the reader picks it"
        )
    known = {each.metric.name for each in stated}
    for old in request.renames:
        if old not in known:
            raise unknown_name("metric to rename:", old, known)
    for name in (*request.metrics, *request.changes):
        if name not in found:
            raise unknown_name("metric", name, found)
    return tuple(each.metric for each in found.values())


def _joined(first: MetricStated, second: MetricStated, renamed: Metric) -> Metric:
    one, other = first.metric, renamed
    for member in ("direction", "unit", "on_domain_failure"):
        if getattr(one, member) != getattr(other, member):
            raise IngestError(
                f"metric {one.name!r} has {member} {getattr(one, member)!r} in {first.place} and "
                f"{getattr(other, member)!r} in {second.place}; rename one of them with --rename, or state it yourself"
            )
    kind = one.kind if one.kind == other.kind else "continuous"
    lower = None if one.lower is None or other.lower is None else min(one.lower, other.lower)
    upper = None if one.upper is None or other.upper is None else max(one.upper, other.upper)
    evaluator = one.evaluator if one.evaluator == other.evaluator else None
    description = one.description if one.description == other.description else None
    return replace(one, kind=kind, lower=lower, upper=upper, evaluator=evaluator, description=description)
