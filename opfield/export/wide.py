"""The wide form: a row for each coordinate, a column for each metric.

Nothing that failed is left out: a failed cell stands with its status, a coordinate without a cell with a NULL status,
and a metric that a cell does not report is NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from opfield.warehouse.session import Warehouse

#: Name under which the wide form is exported.
WIDE: Final = "wide"

WIDE_MEANING: Final = (
    "Wide: every declared or accepted coordinate with its metrics side by side. Status is NULL where there is no cell "
    "yet; a metric is NULL where the cell reports no value of it. Where damage left two of either, both are NULL."
)

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
    from measurements
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
        occurring.value,
    from occurring
    inner join arms using (campaign_id, candidate_id, arm)
    inner join case_ids using (case_id)
    left join named using (metric)
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


def wide_columns(opened: Warehouse) -> dict[str, str]:
    """Return the metrics of a warehouse by the column that each has in the wide form, in the order of their names."""
    return column_names_of(row["metric"] for row in opened.rows(_METRICS))


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


def wide_query(columns: Mapping[str, str]) -> str:
    """Return the SELECT of the wide form; it reads the metrics from the variable `wide_metrics`, in order.

    Args:
        columns: metric by column, as `wide_columns` gives it.
    """
    measured = "".join(
        f"\n        if(count(*) filter (where ix = {ix}) = 1, max(value) filter (where ix = {ix}), null) as m{ix},"
        for ix in range(len(columns))
    )
    chosen = "".join(f"\n    pivoted.m{ix} as {quoted(column)}," for ix, column in enumerate(columns))
    return _QUERY.format(measured=measured, chosen=chosen)


def quoted(column: str) -> str:
    """Return a name as an identifier of SQL."""
    return '"' + column.replace('"', '""') + '"'
