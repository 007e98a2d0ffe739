"""The command that tries a selected candidate again on fresh cases."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from opfield.campaign.confirm import confirming
from opfield.campaign.domains import load_campaign
from opfield.campaign.engine import RunOptions, run
from opfield.campaign.prepare import prepare
from opfield.cli.options import executor_options, json_option, prints_to_stderr, warehouse_option
from opfield.cli.progress import TerminalProgress
from opfield.cli.work import PASSED_ON, domain_options, print_plan, recorded, report
from opfield.warehouse.session import open_warehouse
from opfield.warehouse.store import default_root
from opfield.warehouse.views import installed_views


@click.command("confirm", context_settings=PASSED_ON)
@click.argument("campaign")
@click.argument("target")
@click.option("--name", help="Name of the confirming campaign. [default: that of the first with -confirm]")
@click.option("--plan", "plan_only", is_flag=True, help="Say what would run and cost, and run nothing.")
@executor_options
@warehouse_option
@json_option
@click.pass_context
def confirm_command(
    context: click.Context,
    campaign: str,
    target: str,
    name: str | None,
    plan_only: bool,
    executor: str,
    workers: int | None,
    accept_runner_change: bool,
    warehouse: Path | None,
    as_json: bool,
) -> int:
    """Try the candidate that CAMPAIGN selected again, on the cases of TARGET.

    TARGET is what `opfield run` takes: a domain with its options, or package.module:campaign. Its cases must be ones
    that CAMPAIGN has not seen; its baseline, policy, metrics and runner must be those of CAMPAIGN. The result is a
    campaign of its own, linked to the first one in the ledger.
    """
    given = domain_options(target, context.args)
    opened = open_warehouse(warehouse, is_snapshot=True)
    with prints_to_stderr():
        declared = confirming(campaign, load_campaign(target, given), opened, name=name)
    if plan_only:
        return print_plan(prepare(declared, installed_views()), opened.root, as_json)
    options = RunOptions(
        executor=executor,
        workers=workers,
        progress=TerminalProgress(),
        accept_runner_change=accept_runner_change,
        target=target,
        options=recorded(given),
    )
    with prints_to_stderr():
        outcome = run(declared, opened.root, options)
    return report(outcome, warehouse or default_root(), as_json)


COMMANDS: Final = (confirm_command,)
