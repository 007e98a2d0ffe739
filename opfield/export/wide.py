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
    "yet; a metric is NULL where the cell reports no value of it, or, in damaged files, two."
)

#: Columns that a metric's column cannot be called.
COORDINATES: Final = (
    "campaign_id",
    "candidate_id",
    "label",
    "case_id",
    "repeat",
    "arm",
    "status",
    "failure_code",
    "sequence",
)

#: Metrics that are declared, and those that were measured without.
_METRICS: Final = "select metric from metrics union select metric from measurements order by metric"

_QUERY: Final = """
with named as (
    select
        unnest(getvariable('wide_metrics')) as metric,
        unnest(range(len(getvariable('wide_metrics')))) as ix,
),

labels as (
    select
        campaign_id,
        candidate_id,
        min(label) as label,
    from candidates
    group by campaign_id, candidate_id
),

indexed as (
    select
        measurements.campaign_id,
        measurements.candidate_id,
        measurements.arm,
        measurements.case_id,
        measurements.repeat,
        measurements.value,
        named.ix,
    from measurements
    inner join named using (metric)
),

values_of as (
    select
        campaign_id,
        candidate_id,
        arm,
        case_id,
        repeat,{measured}
    from indexed
    group by campaign_id, candidate_id, arm, case_id, repeat
),

placed as (
    select
        campaign_id,
        candidate_id,
        case_id,
        repeat,
        arm,
        cells.status,
        cells.failure_code,
        cells.sequence,
    from coordinates
    full join cells using (campaign_id, candidate_id, arm, case_id, repeat)
)

select
    placed.campaign_id,
    placed.candidate_id,
    labels.label,
    placed.case_id,
    placed.repeat,
    placed.arm,
    placed.status,
    placed.failure_code,
    placed.sequence,{chosen}
from placed
left join labels using (campaign_id, candidate_id)
left join values_of using (campaign_id, candidate_id, arm, case_id, repeat)
order by placed.campaign_id, placed.candidate_id, placed.case_id, placed.repeat, placed.arm, placed.sequence
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
    chosen = "".join(f"\n    values_of.m{ix} as {quoted(column)}," for ix, column in enumerate(columns))
    return _QUERY.format(measured=measured, chosen=chosen)


def quoted(column: str) -> str:
    """Return a name as an identifier of SQL."""
    return '"' + column.replace('"', '""') + '"'
