"""Options that many commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from opfield.warehouse.store import ENVIRONMENT

Command = TypeVar("Command", bound=Callable[..., Any])


def warehouse_option(command: Command) -> Command:
    """Add `--warehouse`."""
    return click.option(
        "--warehouse",
        type=click.Path(path_type=Path),
        default=None,
        help=f"Warehouse folder. [default: ${ENVIRONMENT}, or ./warehouse]",
    )(command)


def json_option(command: Command) -> Command:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(command)


def executor_options(command: Command) -> Command:
    """Add what says how trials are run."""
    command = click.option(
        "--accept-runner-change",
        is_flag=True,
        help="Go on although the runner's source changed since the campaign started; recorded with each cell.",
    )(command)
    command = click.option("--workers", type=click.IntRange(min=1), default=None, help="Trials in flight.")(command)
    return click.option(
        "--executor",
        type=click.Choice(["auto", "inline", "threads", "processes", "coroutines"]),
        default="auto",
        show_default=True,
        help="Where trials run.",
    )(command)


campaign_argument = click.argument("campaign", required=False)
