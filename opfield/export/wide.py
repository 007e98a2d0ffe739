"""The wide form: a row for each coordinate, a column for each metric.

Nothing that failed is left out: a failed cell stands with its status, a coordinate without a cell with a NULL status,
and a metric that a cell does not report is NULL. Of a metric that declares what a domain failure is worth, a second
column has what a comparison counts: the measured value, or that worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from opfield.warehouse.session import Warehouse

#: Name under which the wide form is exported.
WIDE: Final = "wide"

WIDE_MEANING: Final = (
    "Wide: every declared or accepted coordinate with its metrics side by side. Status is NULL where there is no cell "
    "yet; a metric is NULL where the cell reports no value of it. A metric's column `counted`, where there is one, has "
    "what a comparison counts: the value, or what the metric declares a domain failure to be worth. Where damage left "
    "two of either, both are NULL."
)

#: What a column's name adds to that of its metric where it has what a comparison counts.
COUNTED: Final = " counted"

#: Columns that a metric's column cannot be called.
COORDINATES: Final = (
    "campaign_id",
    "candidate_id",
    "label",
    "case_id",
    "repeat",
    "arm",
    "cells",
    "status",
    "failure_code",
)

#: Metrics that are declared, and those that were measured without.
_METRICS: Final = "select metric from metrics union select metric from measurements order by metric"

#: Metrics of which a domain failure is worth something.
_WORTH: Final = "select distinct metric from metrics where on_domain_failure <> 'missing' order by metric"

#: One aggregation over everything that is at a coordinate. Its keys are numbers, since ids are long and there may be a
#: million rows.
_QUERY: Final = """
with named as (
    select
        unnest(getvariable('wide_metrics')) as metric,
        unnest(range(len(getvariable('wide_metrics')))) as ix,
),

occurring as (
    select campaign_id, candidate_id, arm, case_id, repeat
    from coordinates

    union all by name

    select campaign_id, candidate_id, arm, case_id, repeat, status, failure_code
    from cells

    union all by name

    select campaign_id, candidate_id, arm, case_id, repeat, metric, value
    from measurements{observed}
),

arms as (
    select
        campaign_id,
        candidate_id,
        arm,
        row_number() over () as arm_ix,
    from (select distinct campaign_id, candidate_id, arm from occurring)
),

case_ids as (
    select
        case_id,
        row_number() over () as case_ix,
    from (select distinct case_id from occurring)
),

placed as (
    select
        arms.arm_ix,
        case_ids.case_ix,
        occurring.repeat,
        occurring.status,
        occurring.failure_code,
        named.ix,
        occurring.value,{placed}
    from occurring
    inner join arms using (campaign_id, candidate_id, arm)
    inner join case_ids using (case_id)
    left join named on named.metric = occurring.metric{joined}
),

pivoted as (
    select
        arm_ix,
        case_ix,
        repeat,
        count(status) as cells,
        if(count(status) = 1, max(status), null) as status,
        if(count(status) = 1, max(failure_code), null) as failure_code,{measured}
    from placed
    group by arm_ix, case_ix, repeat
),

labels as (
    select
        campaign_id,
        candidate_id,
        min(label) as label,
    from candidates
    group by campaign_id, candidate_id
)

select
    arms.campaign_id,
    arms.candidate_id,
    labels.label,
    case_ids.case_id,
    pivoted.repeat,
    arms.arm,
    pivoted.cells,
    pivoted.status,
    pivoted.failure_code,{chosen}
from pivoted
inner join arms using (arm_ix)
inner join case_ids using (case_ix)
left join labels using (campaign_id, candidate_id)
order by arms.campaign_id, arms.candidate_id, case_ids.case_id, pivoted.repeat, arms.arm
"""


#: What else the aggregation reads where a domain failure is worth something.
_OBSERVED: Final = """

    union all by name

    select campaign_id, candidate_id, arm, case_id, repeat, metric as counted_metric, value as counted
    from observations
    semi join (select metric from named where list_contains({indices}, ix)) using (metric)"""
_PLACED: Final = """
        counted_named.ix as counted_ix,
        occurring.counted,"""
_JOINED: Final = """
    left join named as counted_named on counted_named.metric = occurring.counted_metric"""


@dataclass(frozen=True, slots=True)
class WideColumns:
    """Columns of the wide form beside the coordinate.

    Attributes:
        measured: column to the metric whose value it has as it was measured, in the order of the metrics.
        counted: column to the metric of which it has what a comparison counts; of metrics that make no difference
            there is none.
    """

    measured: Mapping[str, str]
    counted: Mapping[str, str]


def wide_columns(opened: Warehouse) -> WideColumns:
    """Return the columns of the wide form of a warehouse."""
    measured = column_names_of(row["metric"] for row in opened.rows(_METRICS))
    worth = [row["metric"] for row in opened.rows(_WORTH)]
    return WideColumns(measured, counted_names_of(measured, worth))


def counted_names_of(measured: Mapping[str, str], metrics: Iterable[str]) -> dict[str, str]:
    """Return metrics by the column that has what a comparison counts of them; no other column bears its name.

    >>> counted_names_of({"recall": "recall", "recall counted": "recall counted"}, ["recall"])
    {'recall counted #2': 'recall'}
    """
    taken = {name.casefold() for name in (*COORDINATES, *measured)}
    column_of = {metric: column for column, metric in measured.items()}
    named: dict[str, str] = {}
    for metric in metrics:
        stem = column_of[metric] + COUNTED
        column, number = stem, 2
        while column.casefold() in taken:
            column = f"{stem} #{number}"
            number += 1
        taken.add(column.casefold())
        named[column] = metric
    return named


def column_names_of(metrics: Iterable[str]) -> dict[str, str]:
    """Return metrics by a column name that nothing else bears, whatever the reader makes of capitals.

    A metric keeps its name where it can; another one of that name, or a coordinate, adds a number to it.

    >>> column_names_of(["MRR", "mrr", "recall", "status"])
    {'MRR': 'MRR', 'mrr #2': 'mrr', 'recall': 'recall', 'status #2': 'status'}
    """
    taken = {name.casefold() for name in COORDINATES}
    named: dict[str, str] = {}
    listed = sorted(set(metrics))
    # Whoever keeps its own name has it before numbered names are given out.
    kept = set()
    for metric in listed:
        if metric.strip() and metric.casefold() not in taken:
            taken.add(metric.casefold())
            kept.add(metric)
    for metric in listed:
        column, number = metric, 2
        stem = metric if metric.strip() else "metric"
        while metric not in kept and (column == metric or column.casefold() in taken):
            column = f"{stem} #{number}"
            number += 1
        taken.add(column.casefold())
        named[column] = metric
    return named


def wide_query(columns: WideColumns) -> str:
    """Return the SELECT of the wide form; it reads the metrics from the variable `wide_metrics`, in order.

    Args:
        columns: as `wide_columns` gives them.
    """
    ix_of = {metric: ix for ix, metric in enumerate(columns.measured.values())}
    counted = {ix_of[metric]: column for column, metric in columns.counted.items()}
    pivots = [*(_pivot("ix", "value", f"m{ix}", ix) for ix in ix_of.values())]
    pivots += [_pivot("counted_ix", "counted", f"c{ix}", ix) for ix in counted]
    chosen = ""
    for ix, column in enumerate(columns.measured):
        chosen += f"\n    pivoted.m{ix} as {quoted(column)},"
        chosen += f"\n    pivoted.c{ix} as {quoted(counted[ix])}," if ix in counted else ""
    return _QUERY.format(
        observed=_OBSERVED.format(indices=sorted(counted)) if counted else "",
        placed=_PLACED if counted else "",
        joined=_JOINED if counted else "",
        measured="".join(pivots),
        chosen=chosen,
    )


def _pivot(key: str, value: str, name: str, ix: int) -> str:
    is_own = f"filter (where {key} = {ix})"
    return f"\n        if(count(*) {is_own} = 1, max({value}) {is_own}, null) as {name},"


def quoted(column: str) -> str:
    """Return a name as an identifier of SQL."""
    return '"' + column.replace('"', '""') + '"'
