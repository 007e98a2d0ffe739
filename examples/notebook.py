"""A marimo notebook over a warehouse: `marimo edit notebook.py -- WAREHOUSE`, or `python notebook.py WAREHOUSE`."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")


@app.cell
def _():
    import sys

    import marimo as mo
    import polars as pl

    import opfield as of

    return mo, of, pl, sys


@app.cell
def _(mo, of, sys):
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    warehouse = of.open(named[0] if named else None, is_snapshot=True)
    campaigns = warehouse.sql(
        "select campaign_id, name from campaigns order by started_at desc, campaign_id"
    ).fetchall()
    mo.stop(not campaigns, mo.md("No campaign yet: `opfield run quadratic` makes one."))
    warehouse
    return campaigns, warehouse


@app.cell
def _(campaigns, mo):
    # Two campaigns may bear one name; the beginning of the id tells them apart.
    listed = {f"{name} {campaign_id[7:19]}": campaign_id for campaign_id, name in campaigns}
    chosen = mo.ui.dropdown(listed, value=next(iter(listed)), label="campaign")
    chosen
    return (chosen,)


@app.cell
def _(chosen, warehouse):
    decisions = warehouse.show(f"from decisions where campaign_id = '{chosen.value}' order by label")
    decisions
    return (decisions,)


@app.cell
def _(chosen, pl, warehouse):
    changes = (
        warehouse.scan("comparisons")
        .filter(campaign_id=chosen.value)
        .join(warehouse.scan("candidates"), on=["campaign_id", "candidate_id"])
        .select("label", "metric", "pairs", "missing", "mean_delta", "ci_low", "ci_high", "method")
        .with_columns(is_shown=(pl.col("ci_low") > 0) | (pl.col("ci_high") < 0))
        .sort("metric", "label")
        .collect()
    )
    changes
    return (changes,)


@app.cell
def _(chosen, pl, warehouse):
    cases = (
        warehouse.scan("deltas")
        .filter(campaign_id=chosen.value)
        .group_by("metric", "case_id")
        .agg(pl.col("delta").mean(), pairs=pl.col("delta").count(), missing=pl.col("delta").null_count())
        .sort("metric", "delta", "case_id")
        .collect()
    )
    cases
    return (cases,)


if __name__ == "__main__":
    app.run()
