"""Commands that keep a warehouse sound: audit and seal."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Final

import click
import duckdb

from opfield.campaign.audit import audit
from opfield.campaign.results import ALL_RESULTS, lay_out
from opfield.campaign.writer import open_writer
from opfield.cli.options import campaign_argument, json_option, warehouse_option
from opfield.cli.render import plural, print_json, print_table, say, short
from opfield.errors import OpfieldError
from opfield.warehouse.results import results_folder
from opfield.warehouse.seal import seal_campaign
from opfield.warehouse.session import open_warehouse
from opfield.warehouse.store import default_root


@click.command("audit")
@campaign_argument
@click.option("--recompute", is_flag=True, help="Repeat bootstraps and permutation tests from the cells, too.")
@warehouse_option
@json_option
def audit_command(campaign: str | None, recompute: bool, warehouse: Path | None, as_json: bool) -> int:
    """Verify every byte that carries meaning, and recompute every verdict; writes nothing.

    Exits with 1 where something is wrong, and names the file.
    """
    root = (warehouse or default_root()).absolute()
    campaign_id = open_warehouse(root, is_snapshot=True).campaign_id(campaign) if campaign else None
    report = audit(root, campaign_id, recompute=recompute)
    if as_json:
        print_json(
            {
                "campaigns": report.campaigns,
                "events": report.events,
                "files": report.files,
                "findings": [finding.as_json() for finding in report.findings],
                "notes": [note.as_json() for note in report.notes],
            }
        )
    else:
        if report.findings:
            print_table([finding.as_json() for finding in report.findings], title="findings")
        for note in report.notes:
            say(f"note: {note.file}: {note.detail}")
        say(
            f"audited {plural(report.campaigns, 'campaign')}, {plural(report.events, 'event')}, "
            f"{plural(report.files, 'file')}: "
            + (plural(len(report.findings), "finding") if report.findings else "everything stands")
        )
    return 1 if report.findings else 0


@click.command("seal")
@campaign_argument
@warehouse_option
@json_option
def seal_command(campaign: str | None, warehouse: Path | None, as_json: bool) -> int:
    """Merge a finished campaign's many small files into a few sorted ones, and see to its results.

    Results are Parquet files of what the views say, under results/ in the warehouse. The verdict's are laid out when a
    campaign is finished; here come bounds, strata, contenders and the Pareto front, and all of them again where they
    are missing or not what the views say.
    """
    opened = open_warehouse(warehouse, is_snapshot=True)
    campaign_id = opened.campaign_id(campaign)
    with open_writer(opened.root, campaign_id) as writer:
        if not writer.state.terminal:
            raise OpfieldError(
                f"campaign {short(campaign_id)} is not finished: only a finished one never changes. Go on with "
                f"`opfield resume {short(campaign_id)}`, or end it with `opfield cancel {short(campaign_id)}`"
            )
        with closing(duckdb.connect()) as con:
            merged = seal_campaign(opened.root, campaign_id, con)
        is_laid_out = lay_out(opened.root, campaign_id, writer.state.started, ALL_RESULTS)
    if as_json:
        print_json({"campaign_id": campaign_id, "files_before": merged, "results_laid_out": is_laid_out})
        return 0
    if merged:
        say(f"campaign {short(campaign_id)} is sealed: {plural(merged, 'file')} merged")
    else:
        say(f"campaign {short(campaign_id)} was sealed already")
    if is_laid_out:
        say(f"its results are laid out in {results_folder(opened.root, campaign_id)}")
    return 0


COMMANDS: Final = (audit_command, seal_command)
