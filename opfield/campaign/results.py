"""Which relations are laid out as a campaign's results, and when: once it is finished, after its last event."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import duckdb

from opfield.campaign.judge import connect_judging, judging_views
from opfield.campaign.writer import CampaignWriter
from opfield.errors import OpfieldError
from opfield.warehouse.results import (
    are_as_written,
    differing_results,
    has_results,
    sweep_results,
    write_results,
)

#: What the last event says is known after it only.
AFTERWARDS: Final = ("campaigns",)

#: What a page about verdicts shows and a verdict has computed by then, or nearly so. Left out is what grows with the
#: cells, such as `deltas`: `cells` and `measurements` are Parquet already, and candidates, cases and metrics as well.
VERDICT_RESULTS: Final = (
    "selection",
    "decisions",
    "gate_results",
    "comparisons",
    "coverage",
    "failures",
    "costs",
    "strata",
    "pareto",
)


def result_names(root: Path, campaign_id: str, started: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the relations that are laid out of a campaign: those that the views have that it is judged by."""
    known = judging_views(root, campaign_id, started).named
    return tuple(name for name in (*AFTERWARDS, *VERDICT_RESULTS) if name in known)


def lay_out(root: Path, campaign_id: str, started: Mapping[str, Any]) -> bool:
    """Lay out a finished campaign's results where they are not what the views say; call it under the lock.

    Returns:
        Whether they were laid out anew.

    Raises:
        OpfieldError: where the views cannot be read or the files not be written.
    """
    names = result_names(root, campaign_id, started)
    with closing(connect_judging(root, campaign_id, started, names)) as con:
        sweep_results(root, campaign_id)
        if are_as_written(root, campaign_id, names) and not differing_results(con, root, campaign_id, names):
            return False
        write_results(root, campaign_id, [(con, names)])
    return True


def lay_out_verdict(writer: CampaignWriter, con: duckdb.DuckDBPyConnection) -> None:
    """Lay out the results of a campaign that was just completed.

    They follow from what is durable by now, so that failing to write them is worth no failure: `opfield seal` lays
    them out whenever it is called.

    Args:
        writer: the campaign, with its last event published.
        con: connection in which its verdict was computed.
    """
    told = writer.root, writer.campaign_id, writer.state.started
    with suppress(OpfieldError, duckdb.Error, OSError):
        names = result_names(*told)
        with closing(connect_judging(*told, AFTERWARDS)) as afterwards:
            computed = tuple(name for name in names if name not in AFTERWARDS)
            write_results(writer.root, writer.campaign_id, [(afterwards, AFTERWARDS), (con, computed)])


def keep_results(writer: CampaignWriter) -> None:
    """Lay out the results of a finished campaign that has none yet, as after a crash; worth no failure either."""
    if writer.state.terminal and not has_results(writer.root, writer.campaign_id):
        with suppress(OpfieldError, duckdb.Error, OSError):
            lay_out(writer.root, writer.campaign_id, writer.state.started)
