"""Commands that take results of other tools in: ingest, readers."""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from opfield.cli.options import json_option, warehouse_option
from opfield.cli.progress import TerminalProgress
from opfield.cli.reader_words import asked_of, defaults
from opfield.cli.render import cell, plural, print_facts, print_json, print_table, say
from opfield.cli.verdict import VERDICT_NAMES, exit_code, print_verdict, read_verdict, verdict_rows
from opfield.decision import Policy, gate
from opfield.errors import DeclarationError, OpfieldError, unknown_name
from opfield.ingest.commit import ingest
from opfield.ingest.installed import installed_reader_names, load_reader
from opfield.ingest.intake import Intake, open_intake
from opfield.ingest.records import Reader
from opfield.ingest.request import Request
from opfield.ingest.survey import survey
from opfield.warehouse.session import Warehouse, read_rows

if TYPE_CHECKING:
    from opfield.warehouse.snapshot import Snapshot

_PASSED_ON: Final = {"ignore_unknown_options": True, "allow_extra_args": True}
_POLICY: Final = ("gates", "prefer", "min_gain", "infers_to")


@click.command("ingest", context_settings=_PASSED_ON)
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="READER PATH... [READER OPTIONS]")
@click.option("--baseline", default=None, help="System that the others are compared with: its label or another name.")
@click.option("--metric", "metrics", multiple=True, help="Metric to compare by, most important first.")
@click.option("--name", default=None, help="Name of the campaign.")
@click.option("--rename", "renames", multiple=True, metavar="OLD=NEW", help="Call a metric of the files otherwise.")
@click.option("--minimize", multiple=True, metavar="METRIC", help="Less is better.")
@click.option("--binary", multiple=True, metavar="METRIC", help="Its values are 0 or 1.")
@click.option("--count", "counts", multiple=True, metavar="METRIC", help="Its values are counts.")
@click.option("--bounds", multiple=True, metavar="METRIC=LOW:HIGH", help="What its values lie between.")
@click.option(
    "--on-failure",
    multiple=True,
    metavar="METRIC=WORTH",
    help="What a failed sample is worth: worst, missing, a number.",
)
@click.option(
    "--pair-by",
    type=click.Choice(["key", "input"]),
    default=None,
    help="What makes two samples one case. [default: key; input for several tools]",
)
@click.option(
    "--coupling",
    type=click.Choice(["none", "common_seed", "replayed"]),
    default="none",
    show_default=True,
    help="What equal repeats of two systems share.",
)
@click.option(
    "--policy", "policy_file", type=click.Path(path_type=Path), default=None, help="TOML file with the gates."
)
@click.option("--dry-run", is_flag=True, help="Say what would be recorded and what stands in the way; record nothing.")
@warehouse_option
@json_option
def ingest_command(
    words: Sequence[str],
    baseline: str | None,
    metrics: tuple[str, ...],
    name: str | None,
    renames: tuple[str, ...],
    minimize: tuple[str, ...],
    binary: tuple[str, ...],
    counts: tuple[str, ...],
    bounds: tuple[str, ...],
    on_failure: tuple[str, ...],
    pair_by: Any,
    coupling: Any,
    policy_file: Path | None,
    dry_run: bool,
    warehouse: Path | None,
    as_json: bool,
) -> int:
    """Take results of another tool in as a campaign, and compare.

    \b
    opfield ingest inspect base.eval new.eval --baseline base.eval
    opfield ingest table results.parquet --candidate model --case question_id --metric score --baseline gpt-5
    opfield ingest inspect:base.eval promptfoo:new.json --baseline base.eval --rename pass=match

    `opfield readers` lists the readers, `opfield readers NAME` what one of them takes.
    """  # noqa: D301 - click reads the \b
    request = Request(
        asked=asked_of(words),
        baseline=baseline,
        name=name,
        metrics=metrics,
        renames=_pairs("--rename", renames),
        changes=_changes(minimize, binary, counts, bounds, on_failure),
        pair_by=pair_by,
        coupling=coupling,
        policy=None if policy_file is None else read_policy(policy_file),
    )
    if dry_run:
        with (
            tempfile.TemporaryDirectory() as folder,
            _reading(request) as advance,
            open_intake(request, Path(folder), advance) as intake,
        ):
            return _print_intake(intake, as_json)
    seen: dict[str, Any] = {}

    def look(snapshot: Snapshot) -> None:
        snapshot.ask([*VERDICT_NAMES, "stated_figures"])
        seen["verdict"] = verdict_rows(snapshot)
        seen["stated"] = read_rows(snapshot.con, _STATED)[0]

    with _reading(request) as advance:
        taken = ingest(
            request,
            warehouse,
            advance=advance,
            progress=TerminalProgress(),
            look=look,
        )
    told = read_verdict(taken.root, taken.campaign_id, seen.get("verdict"))
    notes = [{"place": place, "text": text} for place, text in taken.notes]
    stated = seen.get("stated")
    if stated is None:
        (stated,) = Warehouse(taken.root, is_snapshot=True, only=taken.campaign_id).rows(_STATED)
    if as_json:
        print_json({"appended": taken.appended, "cells": taken.cells, "notes": notes, "stated_figures": stated, **told})
        return exit_code(told)
    _say_notes(notes)
    if not taken.appended:
        say("the same files were taken in before; nothing was appended")
    print_verdict(told, as_json=False)
    if stated["figures"]:
        say(f"figures that the files state: {stated['figures']}; other than what they hold: {stated['disagree']}")
        if stated["disagree"]:
            say('which, and by what: opfield sql "from stated_figures where not agrees"')
    return exit_code(told)


@click.command("readers")
@click.argument("reader", required=False)
@json_option
def readers_command(reader: str | None, as_json: bool) -> int:
    """List the readers that `opfield ingest` knows, or what one of them takes."""
    if reader is not None:
        return _print_reader(load_reader(reader), as_json)
    rows: list[dict[str, Any]] = []
    for name in installed_reader_names():
        try:
            found = load_reader(name)
        except OpfieldError as error:
            rows.append({"reader": name, "version": None, "reads": str(error)})
            continue
        rows.append({"reader": name, "version": found.version, "reads": found.description})
    if as_json:
        print_json(rows)
    else:
        print_table(rows)
        say("`opfield readers NAME` says what one of them takes")
    return 0


_STATED: Final = """
select count(*) as figures, count(*) filter (where not agrees) as disagree
from stated_figures
"""


@click.command("survey", context_settings=_PASSED_ON)
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="[READER] PATH... [READER OPTIONS]")
@click.option("--metric", "metrics", multiple=True, help="Metric to ask a reader for.")
@json_option
def survey_command(words: Sequence[str], metrics: tuple[str, ...], as_json: bool) -> int:
    """Say what readers make of files and folders: what they hold, and what stands in the way of each.

    Every installed reader is tried on what it recognizes; with the name of one in front only that one is, with its
    options.
    """
    if words[0] in installed_reader_names():
        (asked,) = asked_of(words)
        found = survey(asked.paths, [asked.reader], {asked.reader.name: asked.options}, metrics)
    else:
        readers = [load_reader(name) for name in installed_reader_names()]
        found = survey(
            [Path(word) for word in words], readers, {each.name: defaults(each) for each in readers}, metrics
        )
    rows = [asdict(each) for each in found]
    if as_json:
        print_json(rows)
        return 0
    print_table([_surveyed(row) for row in rows])
    return 0


def _surveyed(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a finding as one line."""
    if row["reader"] is None:
        return {"file": row["file"], "reader": None, **dict.fromkeys(_COUNTS), "refused": "no reader recognizes it"}
    failures = ", ".join(f"{code} {count}" for code, count in row["failures"].items())
    refused = f"{len(row['refused'])}: {row['refused'][0]}" if len(row["refused"]) > 1 else "".join(row["refused"])
    return {
        "file": row["file"],
        "reader": row["reader"],
        **{name: row[name] for name in ("systems", "samples", "cases", "repeats")},
        "metrics": ", ".join(row["metrics"][:4]) + (", …" if len(row["metrics"]) > 4 else ""),
        "failures": failures,
        "missing": row["missing"],
        "refused": refused or None,
    }


_COUNTS: Final = ("systems", "samples", "cases", "repeats", "metrics", "failures", "missing")


def _print_reader(reader: Reader, as_json: bool) -> int:
    options = [
        {
            "option": f"--{each.name.replace('_', '-')}",
            "type": "flag" if each.type is bool else each.type.__name__ + ("…" if each.is_repeatable else ""),
            "default": None if each.default in (None, (), False) else each.default,
            "help": each.help,
        }
        for each in reader.options
    ]
    if as_json:
        print_json({"reader": reader.name, "version": reader.version, "reads": reader.description, "options": options})
        return 0
    print_facts({"reads": reader.description, "version": reader.version}, title=reader.name)
    if options:
        print_table(options)
    return 0


def read_policy(path: Path) -> Policy:
    """Return the policy in a TOML file: `prefer`, `min_gain`, `infers_to`, and a table `[[gates]]` for each gate.

    A gate has `kind`, and `metric`, `threshold`, `name` and the options of its kind where it needs them.

    Raises:
        DeclarationError: where the file cannot be read or does not hold a policy.
        UnknownNameError: for a member that no policy has.
    """
    try:
        told = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise DeclarationError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DeclarationError(f"{path} is not TOML: {error}") from None
    for member in told:
        if member not in _POLICY:
            raise unknown_name(f"member of the policy in {path.name}:", member, _POLICY)
    gates = told.get("gates", [])
    if not isinstance(gates, list) or not all(isinstance(each, dict) and "kind" in each for each in gates):
        raise DeclarationError(f"{path}: write a table [[gates]] with a kind for each gate")
    try:
        return Policy(**{**told, "gates": tuple(gate(**each) for each in gates)})
    except TypeError as error:
        raise DeclarationError(f"{path}: {error}") from None


def _pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for each in given:
        # The last sign: names of metrics hold it too.
        name, sign, value = each.rpartition("=")
        if not (name and sign and value):
            raise click.UsageError(f"{option} {each!r}: write NAME=VALUE")
        pairs[name] = value
    return pairs


def _changes(
    minimize: Sequence[str], binary: Sequence[str], counts: Sequence[str], bounds: Sequence[str], worth: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return what the user states of metrics, by name."""
    changes: dict[str, dict[str, Any]] = {}
    for names, change in (
        (minimize, {"direction": "minimize"}),
        (binary, {"kind": "binary"}),
        (counts, {"kind": "count"}),
    ):
        for name in names:
            if change.keys() & changes.get(name, {}).keys():
                raise click.UsageError(f"{name} cannot be both binary and a count")
            changes.setdefault(name, {}).update(change)
    for name, stated in _pairs("--bounds", bounds).items():
        low, colon, high = stated.partition(":")
        if not colon:
            raise click.UsageError(f"--bounds {name}={stated}: write LOW:HIGH; one of them may be left out")
        changes.setdefault(name, {}).update(lower=_number("--bounds", low), upper=_number("--bounds", high))
    for name, stated in _pairs("--on-failure", worth).items():
        is_word = stated in ("worst", "missing")
        changes.setdefault(name, {})["on_domain_failure"] = stated if is_word else _number("--on-failure", stated)
    return changes


def _number(option: str, text: str) -> float | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(f"{option}: {text!r} is no number") from None


@contextmanager
def _reading(request: Request) -> Iterator[Callable[[int], None]]:
    """Draw how many bytes were read, where stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _bytes: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    total = sum(_size(path) for asked in request.asked for path in asked.paths)
    with Progress(
        TextColumn("reading"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr, stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=total)
        yield lambda count: bar.update(task, advance=count)


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return path.stat().st_size if path.exists() else 0


def _say_notes(notes: Sequence[dict[str, str]]) -> None:
    for note in notes:
        say(f"note: {note['place']}: {note['text']}" if note["place"] else f"note: {note['text']}")


_GRID: Final = """
select
    systems.label as system,
    if(systems.is_baseline, 'baseline', 'candidate') as arm,
    count(*) as cases,
    sum(grid.repeats)::bigint as declared_cells,
    sum(grid.found)::bigint as samples,
    sum(grid.repeats - grid.found)::bigint as missing,
    min(grid.repeats) as least_repeats,
    max(grid.repeats) as most_repeats,
from grid
inner join systems using (system)
group by systems.label, systems.is_baseline
order by systems.is_baseline desc, systems.label
"""

_COORDINATES: Final = """
select
    systems.label as system,
    placed_samples.case_id,
    placed_samples.repeat,
    samples.place,
from placed_samples
inner join systems using (system)
inner join samples using (sample_ix)
order by placed_samples.case_id, placed_samples.repeat, systems.is_baseline desc, systems.label
"""


def _print_intake(intake: Intake, as_json: bool) -> int:
    """Print what an intake would record."""
    grid = intake.rows(_GRID)
    notes = [{"place": note.place, "text": note.text} for note in intake.notes]
    stated = [
        {"system": each.system, "figure": each.name or each.figure, "metric": each.metric, "value": each.value}
        for each in intake.told.stated
    ]
    if as_json:
        coordinates = intake.rows(_COORDINATES)
        print_json(
            {
                "systems": grid,
                "metrics": [each.as_json() for each in intake.metrics],
                "coordinates": coordinates,
                "stated": stated,
                "notes": notes,
            }
        )
        return 0
    print_table(grid, title="systems")
    print_table(
        [
            {
                "metric": each.name,
                "direction": each.direction,
                "kind": each.kind,
                "lower": each.lower,
                "upper": each.upper,
            }
            for each in intake.metrics
        ],
        title="metrics",
    )
    print_table(intake.rows(f"{_COORDINATES} limit 10"), title="coordinates (the first 10; --json lists all)")
    _say_notes(notes)
    say(f"nothing was recorded; {plural(intake.told.samples, 'sample')} of {cell(len(intake.files))} files were read")
    return 0


COMMANDS: Final = (ingest_command, survey_command, readers_command)
