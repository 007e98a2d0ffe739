"""Options that many commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from opfield.errors import UnknownNameError
from opfield.warehouse.session import Warehouse
from opfield.warehouse.store import ENVIRONMENT

Command = TypeVar("Command", bound=Callable[..., Any])


def _named(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Path | None:
    if value == "":
        # What an unset shell variable leaves; it must not make a warehouse of the current folder.
        raise click.BadParameter("is empty; name a folder for the warehouse")
    return None if value is None else Path(value)


def warehouse_option(command: Command) -> Command:
    """Add `--warehouse`."""
    return click.option(
        "--warehouse",
        type=click.Path(),
        callback=_named,
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


@contextmanager
def prints_to_stderr() -> Iterator[None]:
    """Send what runners print, in this process and in workers, to stderr: stdout is for results."""
    stream = sys.stdout
    stream.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        if stream.closed:
            # A runner closed it; results still have somewhere to go.
            sys.stdout = os.fdopen(os.dup(kept), "w", encoding="utf-8", errors="replace")
        else:
            stream.flush()
        os.dup2(kept, 1)
        os.close(kept)


def the_unfinished(opened: Warehouse, reference: str | None) -> str:
    """Return the campaign that was named, or the only unfinished one; the latest one where all are finished.

    Raises:
        UnknownNameError: where several are unfinished and none was named.
    """
    if reference is None:
        rows = opened.rows("select campaign_id, name from campaigns where state = 'running' order by started_at")
        if len(rows) > 1:
            listed = ", ".join(f"{row['campaign_id'][7:19]} ({row['name']})" for row in rows)
            raise UnknownNameError(f"several campaigns are unfinished; name one of them: {listed}")
        reference = rows[0]["campaign_id"] if rows else None
    return opened.campaign_id(reference)


campaign_argument = click.argument("campaign", required=False)
