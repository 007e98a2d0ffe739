"""On which cases a candidate won and lost most: read from a warehouse's tables with polars alone.

python wins_and_losses.py [WAREHOUSE]

A failed cell has no value here, and a pair without two values no change: how many there are is told, since a mean over
the rest says nothing of them. The view `deltas` weighs failures as their metric declares. Arms are paired by repeat, as
they are unless a campaign declares no coupling.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

COORDINATE = ["campaign_id", "case_id", "repeat", "metric"]


def table(root: Path, name: str) -> pl.LazyFrame:
    """Return a table of a warehouse."""
    return pl.scan_parquet(root / name / "campaign=*" / "*.parquet", hive_partitioning=False)


def changes(root: Path) -> pl.LazyFrame:
    """Return the oriented change of each case and metric, above 0 where the candidate is better; NULL where unknown."""
    values = table(root, "measurements").join(
        table(root, "cells").filter(status="success"),
        on=["campaign_id", "candidate_id", "arm", "case_id", "repeat"],
        how="semi",
    )
    baseline = values.filter(arm="baseline").select(*COORDINATE, before="value")
    direction = table(root, "metrics").select("campaign_id", "metric", "direction")
    labels = table(root, "candidates").select("campaign_id", "candidate_id", "label")
    return (
        values.filter(arm="candidate")
        .join(baseline, on=COORDINATE, how="left")
        .join(direction, on=["campaign_id", "metric"])
        .join(labels, on=["campaign_id", "candidate_id"])
        .with_columns(change=pl.col("direction") * (pl.col("value") - pl.col("before")))
        .group_by("campaign_id", "label", "metric", "case_id")
        .agg(
            pl.col("change").mean(),
            pairs=pl.col("change").count(),
            without_change=pl.col("change").null_count(),
        )
    )


def extremes(root: Path, number: int = 3) -> pl.DataFrame:
    """Return the cases of the greatest losses and wins of each candidate and metric."""
    by = ["campaign_id", "label", "metric"]
    ranked = changes(root).with_columns(
        loss=pl.col("change").rank("ordinal").over(by, order_by="case_id"),
        win=pl.col("change").rank("ordinal", descending=True).over(by, order_by="case_id"),
    )
    is_extreme = ((pl.col("loss") <= number) & (pl.col("change") < 0)) | (
        (pl.col("win") <= number) & (pl.col("change") > 0)
    )
    return ranked.filter(is_extreme).drop("loss", "win").sort(*by, "change", "case_id").collect()


def main() -> None:
    """Print the greatest losses and wins."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "warehouse")
    with pl.Config(tbl_rows=30, tbl_cols=-1, tbl_width_chars=200):
        print(extremes(root))


if __name__ == "__main__":
    main()
