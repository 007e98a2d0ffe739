"""The command that exports: relations as files for other tools."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from opfield.cli.options import json_option, warehouse_option
from opfield.cli.render import plural, print_json, say
from opfield.warehouse.session import Warehouse, open_warehouse

if TYPE_CHECKING:
    # Loaded when the command is called: it brings Arrow with it.
    from opfield.export.files import Written

FORMATS: Final = ("parquet", "csv", "jsonl", "arrow", "duckdb")


@click.command("export")
@click.argument("relations", nargs=-1, metavar="[RELATION]...")
@click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    metavar="PATH",
    help="File, folder, or - for stdout (csv, jsonl). A new folder ends in /.",
)
@click.option("--format", "named", type=click.Choice(FORMATS), default=None, help="Format; by the file's ending.")
@click.option("--campaign", default=None, help="Only this campaign's rows.")
@click.option("--wide", is_flag=True, help="Add the wide form: a row for each coordinate, a column for each metric.")
@click.option(
    "--guard-formulas", is_flag=True, help="In CSV, put ' before text that a spreadsheet takes for a formula."
)
@warehouse_option
@json_option
def export_command(
    relations: Sequence[str],
    output: str,
    named: str | None,
    campaign: str | None,
    wide: bool,
    guard_formulas: bool,
    warehouse: Path | None,
    as_json: bool,
) -> int:
    """Write tables or views as Parquet, CSV, JSON lines, Arrow or a DuckDB file; `opfield views` lists them.

    Several relations go into a folder, a file each, or as tables into one DuckDB file; that takes all of them where
    none is named. A file is written whole or not at all, its rows ordered, so that the same evidence gives the same
    bytes.
    """
    from opfield.campaign.damage import meant_campaign, refuse_damaged, refuse_lost
    from opfield.export.files import export_file, export_folder, export_stream, format_of
    from opfield.export.writers import Form, spilling
    from opfield.warehouse.projection import campaigns_on_disk
    from opfield.warehouse.relations import known_relations

    path = Path(output)
    is_stream = output == "-"
    is_folder = not is_stream and (output.endswith("/") or os.path.isdir(path))
    chosen = named or ("csv" if is_stream else None if is_folder else format_of(path))
    if chosen is None:
        raise click.UsageError("a folder does not say its format; give --format")
    names = list(dict.fromkeys((*relations, *(("wide",) if wide else ()))))
    if not names and (is_folder or chosen == "duckdb"):
        names = list(known_relations())
    _check_usage(names, chosen, is_stream=is_stream, is_folder=is_folder, as_json=as_json)
    if guard_formulas and chosen != "csv":
        raise click.UsageError(f"--guard-formulas is for CSV, not {chosen}: other formats hold no formulas")
    opened = open_warehouse(warehouse, is_snapshot=True)
    if campaign is not None:
        opened = Warehouse(opened.root, is_snapshot=True, only=meant_campaign(opened, campaign, "export"))
    else:
        refuse_lost(opened.root, "export")
    refuse_damaged(opened.root, [opened.only] if opened.only else campaigns_on_disk(opened.root), "export")
    form = Form(chosen, guard_formulas)
    with spilling(opened, Path(tempfile.gettempdir())):
        if is_stream:
            with _pipe_may_close():
                export_stream(opened, names[0], sys.stdout.buffer, form)
                sys.stdout.buffer.flush()
            return 0
        write = export_folder if is_folder else export_file
        written = write(opened, names, path, form)
    if as_json:
        print_json([_told(each) for each in written])
    else:
        _say(written)
    return 0


@contextmanager
def _pipe_may_close() -> Generator[None]:
    """Let the reader of a pipe leave, as `head` does: click would call that a failure."""
    try:
        sys.stdout.flush()
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_usage(names: Sequence[str], chosen: str, *, is_stream: bool, is_folder: bool, as_json: bool) -> None:
    if not names:
        raise click.UsageError("name a relation, such as decisions; `opfield views` lists them")
    if is_stream and chosen not in ("csv", "jsonl"):
        raise click.UsageError(f"{chosen} does not go to stdout; name a file with -o, or choose csv or jsonl")
    if is_folder and chosen == "duckdb":
        raise click.UsageError("a DuckDB file holds all relations; name a file with -o, such as all.duckdb")
    if len(names) > 1 and not is_folder and chosen != "duckdb":
        raise click.UsageError(
            "one file holds one relation; name a folder with -o, a new one ending in /, or a .duckdb file"
        )
    if is_stream and as_json:
        raise click.UsageError("--json tells what was written into files; for rows as JSON say --format jsonl")


def _told(written: Written) -> dict[str, Any]:
    return {
        "relation": written.relation,
        "path": None if written.path is None else str(written.path),
        "rows": written.rows,
        "renamed": dict(written.renamed),
    }


def _say(written: Sequence[Written]) -> None:
    for each in written:
        if each.path is not None:
            say(f"{each.path}: {each.relation}, {plural(each.rows, 'row')}")
        for column, metric in each.renamed.items():
            say(f"  column {column!r} holds the metric {metric!r}: another column bears its name")


COMMANDS: Final = (export_command,)
