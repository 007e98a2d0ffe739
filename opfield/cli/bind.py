"""The command that binds operator results to runs, or refuses them, and lands both."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import click
from rich.progress import Progress

from opfield.cli.options import json_option, warehouse_option
from opfield.cli.render import err, plural, print_json, print_table, say
from opfield.warehouse.store import create_store, default_root

#: Rows that are shown to people; `opfield sql "from bindings"` has them all.
_MOST_SHOWN: Final = 50


@click.command("bind")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--admit", is_flag=True, help="Also admit each bound attempt to its run, which charges the run's budget.")
@warehouse_option
@json_option
def bind_command(files: tuple[Path, ...], admit: bool, warehouse: Path | None, as_json: bool) -> int:
    """Bind the attempts of operator results to the runs that they name, or refuse them with reasons.

    FILES hold runs and operator results as JSON lines, one envelope {schema, payload} each, in any order; a run that
    landed before need not be among them. Nothing is changed in a run: a binding is a record of its own. The same files
    a second time land nothing.

    Exits with 0 where something was bound, and with --admit admitted, or where there were only runs to land; with 3
    where everything was refused.
    """
    # Loaded here: it takes longer than most commands.
    from opfield.practice import GeometricSearchRun
    from opfield.warehouse.binding import bind_handed, read_handed

    root = create_store(warehouse or default_root()).root
    handed = list(read_handed(files))
    with Progress(console=err(), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("records", total=len(handed))
        rows = bind_handed(root, handed, is_admitting=admit, told=lambda: bar.advance(task))
    unfit = [each.place for each in handed if each.kind is GeometricSearchRun and not each.envelope.is_valid]
    good = [row for row in rows if (row["admission"] == "admitted" if admit else row["outcome"] == "bound")]
    if as_json:
        print_json(rows)
    else:
        print_table([_shown(row) for row in rows[:_MOST_SHOWN]])
        if len(rows) > _MOST_SHOWN:
            say(f'{len(rows) - _MOST_SHOWN} more: opfield sql "from bindings"')
        say(f"{plural(len(rows), 'pair')}, {len(good)} {'admitted' if admit else 'bound'}")
        for place in unfit[:_MOST_SHOWN]:
            say(f"{place}: not a valid run; it was landed as it is, and whatever names it is refused")
        if len(unfit) > _MOST_SHOWN:
            say(f'{len(unfit) - _MOST_SHOWN} more: opfield sql "from runs where not is_valid"')
    return 0 if good or not (rows or unfit) else 3


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for people: ids cut short, reasons in one cell."""
    identity = row["binding_id"] or row["binding_refusal_id"]
    told = {
        "outcome": row["outcome"],
        "id": identity[:12],
        "run": None if row["run_id"] is None else row["run_id"][:12],
        "attempt": row["attempt_index"],
        "reasons": ", ".join(row["reason_codes"]),
    }
    if row["admission"] is not None:
        told |= {"admission": row["admission"], "why": ", ".join(row["admission_reasons"])}
    return told


COMMANDS: Final = (bind_command,)
