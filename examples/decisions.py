"""Who was selected, and why: read from a warehouse's result files with polars alone.

python decisions.py [WAREHOUSE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl


def results(root: Path, relation: str) -> pl.LazyFrame:
    """Return what a view says of every finished campaign."""
    return pl.scan_parquet(root / "results" / "campaign=*" / f"{relation}.parquet", hive_partitioning=False)


def decisions(root: Path) -> pl.DataFrame:
    """Return each candidate's decision, with the change of the campaign's preferred metric and its interval."""
    campaigns = results(root, "campaigns").select("campaign_id", "name", "started_at", "preference", "selected_id")
    changes = results(root, "comparisons").select(
        "campaign_id", "candidate_id", "metric", "mean_delta", "ci_low", "ci_high", "pairs"
    )
    return (
        results(root, "decisions")
        .join(campaigns, on="campaign_id")
        .join(
            changes,
            left_on=["campaign_id", "candidate_id", "preference"],
            right_on=["campaign_id", "candidate_id", "metric"],
            how="left",
        )
        .with_columns(is_selected=pl.col("candidate_id") == pl.col("selected_id"))
        .sort("started_at", "campaign_id", "label")
        .select(
            "name", "label", "decision", "gate", "is_selected", "preference", "mean_delta", "ci_low", "ci_high", "pairs"
        )
        .collect()
    )


def main() -> None:
    """Print the decisions of every finished campaign."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "warehouse")
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=200):
        print(decisions(root))


if __name__ == "__main__":
    main()
