"""What failed, and what it all cost: views through `opfield.open`, the rest in polars.

python learn_from_failures.py [WAREHOUSE]
"""

from __future__ import annotations

import sys

import polars as pl

import opfield as of


def failures(warehouse: of.Warehouse) -> pl.DataFrame:
    """Return how often each candidate failed, and by what, the most frequent first."""
    labels = warehouse.scan("candidates").select("campaign_id", "candidate_id", "label")
    return (
        warehouse.scan("cells")
        .join(labels, on=["campaign_id", "candidate_id"])
        .group_by("campaign_id", "label", "status", "failure_code")
        .agg(cells=pl.len(), example=pl.col("failure_message").drop_nulls().sort().first())
        .filter(pl.col("status") != "success")
        .sort("cells", "campaign_id", "label", "status", "failure_code", descending=[True, *[False] * 4])
        .collect()
    )


def costs(warehouse: of.Warehouse) -> pl.DataFrame:
    """Return what is known of each candidate's costs; NULL where nobody told any."""
    return warehouse.sql("""
        select
            candidates.label,
            costs.* exclude (candidate_id),
        from costs
        inner join candidates using (campaign_id, candidate_id)
        order by costs.campaign_id, candidates.label
    """).pl()


def main() -> None:
    """Print failures and costs."""
    warehouse = of.open(sys.argv[1] if len(sys.argv) > 1 else None)
    with pl.Config(tbl_rows=30, tbl_cols=-1, tbl_width_chars=200, fmt_str_lengths=60):
        print(failures(warehouse))
        print(costs(warehouse))


if __name__ == "__main__":
    main()
