"""Which relations are laid out as a campaign's results, and when: once it is finished, after its last event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import duckdb

from opfield.campaign.judge import connect_judging, judging_views
from opfield.campaign.writer import CampaignWriter
from opfield.errors import OpfieldError
from opfield.warehouse.files import RESULTS_REMEDY, Finding
from opfield.warehouse.layout import relative
from opfield.warehouse.results import (
    are_as_written,
    differing_results,
    has_results,
    recorded_results,
    results_folder,
    sweep_results,
    write_results,
)
from opfield.warehouse.views import ViewSet

#: What is known after the last event only.
AFTERWARDS: Final = ("campaigns",)

#: What is laid out when a campaign is finished: its verdict, which is computed by then, and what was failed and spent.
VERDICT_RESULTS: Final = ("selection", "decisions", "gate_results", "comparisons", "coverage", "failures", "costs")

#: What is laid out beside it when a campaign is sealed; each takes up to half as long as a verdict. Left out is what
#: grows with the cells, such as `deltas`: `cells`, `measurements`, `candidates`, `cases` and `metrics` are Parquet
#: already.
SEALED_RESULTS: Final = ("bounds", "strata", "contenders", "pareto")

ALL_RESULTS: Final = (*AFTERWARDS, *VERDICT_RESULTS, *SEALED_RESULTS)


def lay_out(root: Path, campaign_id: str, started: Mapping[str, Any], names: Iterable[str]) -> bool:
    """Lay out a finished campaign's results where they are not what the views say; call it under the lock.

    Args:
        root: warehouse folder.
        campaign_id: the campaign.
        started: payload of its first event.
        names: relations; those that the views lack by which the campaign is judged are left out.

    Returns:
        Whether they were laid out anew.

    Raises:
        OpfieldError: where the views cannot be read or the files not be written.
    """
    known = judging_views(root, campaign_id, started).named
    chosen = tuple(name for name in names if name in known)
    with closing(connect_judging(root, campaign_id, started, chosen)) as con:
        sweep_results(root, campaign_id)
        if are_as_written(root, campaign_id, chosen) and not differing_results(con, root, campaign_id, chosen):
            return False
        write_results(root, campaign_id, con, chosen)
    return True


def laid_out_names(root: Path, campaign_id: str) -> list[str]:
    """Return which relations are laid out, by the record of the files.

    Raises:
        DamageError: where the record cannot be read.
    """
    return [Path(name).stem for name in recorded_results(root, campaign_id)]


def check_laid_out(
    con: duckdb.DuckDBPyConnection, root: Path, campaign_id: str, names: Iterable[str], views: ViewSet
) -> Iterator[Finding]:
    """Compare a campaign's result files with what the views say now.

    Args:
        con: connection that answers the relations by which the campaign is judged.
        root: warehouse folder.
        campaign_id: the campaign.
        names: relations that are laid out.
        views: the relations by which it is judged.
    """
    listed = list(names)
    known = [name for name in listed if name in views.named]
    differing = differing_results(con, root, campaign_id, known)
    for name in listed:
        if name in differing or name not in known:
            path = relative(root, results_folder(root, campaign_id) / f"{name}.parquet")
            yield Finding(path, "result", f"it is not what the views say now; {RESULTS_REMEDY}")


def lay_out_verdict(writer: CampaignWriter, con: duckdb.DuckDBPyConnection, names: Iterable[str]) -> None:
    """Lay out the results of a campaign that was just completed.

    They follow from what is durable by now, so that failing to write them is worth no failure: `opfield seal` lays
    them out whenever it is called.

    Args:
        writer: the campaign, with its last event published.
        con: connection in which its verdict was computed, and in which its last event is known.
        names: relations that it answers for.
    """
    with suppress(OpfieldError, duckdb.Error, OSError):
        write_results(writer.root, writer.campaign_id, con, names)


def keep_results(writer: CampaignWriter) -> None:
    """Lay out the results of a finished campaign that has none yet, as after a crash; worth no failure either."""
    if writer.state.terminal and not has_results(writer.root, writer.campaign_id):
        with suppress(OpfieldError, duckdb.Error, OSError):
            lay_out(writer.root, writer.campaign_id, writer.state.started, (*AFTERWARDS, *VERDICT_RESULTS))
