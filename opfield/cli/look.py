"""Commands that look: status, compare, show, sql, views, domains, gates. They read and never write."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from opfield.campaign.attempts import read_attempts
from opfield.campaign.damage import meant_campaign, refuse_damaged, undamaged
from opfield.campaign.domains import installed_domain_names, load_domain
from opfield.cli.options import campaign_argument, json_option, warehouse_option
from opfield.cli.render import out, print_facts, print_json, print_table, say, short, visible
from opfield.cli.verdict import (
    FAIL_ON,
    confirmation_in_words,
    exit_code,
    print_verdict,
    read_awaited,
    read_verdict,
    state_in_words,
)
from opfield.core import parse_json
from opfield.errors import IdentityError, OpfieldError, UnknownNameError, unknown_name
from opfield.warehouse.contract import load_contract, load_practice_contract
from opfield.warehouse.lock import holder_of
from opfield.warehouse.material import find_artifact
from opfield.warehouse.projection import campaigns_on_disk
from opfield.warehouse.seal import is_sealed
from opfield.warehouse.session import Warehouse, open_warehouse
from opfield.warehouse.views import installed_views

_CAMPAIGNS: Final = """
with accepted as (
    select
        campaign_id,
        count(*) as accepted,
        count(*) filter (where status <> 'success') as failed,
    from cells
    group by campaign_id
)
select
    campaigns.*,
    coalesce(
        declarations.coordinates, campaigns.planned_cases * campaigns.repeats * (1 + campaigns.candidates)
    ) as declared,
    coalesce(accepted.accepted, 0) as accepted,
    coalesce(accepted.failed, 0) as failed,
from campaigns
inner join declarations using (campaign_id)
left join accepted using (campaign_id)
order by campaigns.started_at, campaigns.campaign_id
"""


@click.command("status")
@campaign_argument
@warehouse_option
@json_option
def status_command(campaign: str | None, warehouse: Path | None, as_json: bool) -> int:
    """Say where every campaign stands, or one in detail."""
    opened = open_warehouse(warehouse, is_snapshot=True)
    rows = [
        {
            **row,
            "writer": holder_of(opened.root, row["campaign_id"]),
            "is_sealed": is_sealed(opened.root, row["campaign_id"]),
        }
        for row in opened.rows(_CAMPAIGNS)
    ]
    if campaign is None:
        if as_json:
            print_json(rows)
            return 0
        shown = [
            {
                **row,
                "id": short(row["campaign_id"]),
                "cells": f"{row['accepted']:,}/{row['declared']:,}",
                "state": _state_in_words(opened, row),
            }
            for row in rows
        ]
        columns = {
            "id": "campaign",
            "name": "name",
            "state": "state",
            "cells": "cells",
            "failed": "failed",
            "outcome": "outcome",
            "started_at": "started (UTC)",
        }
        print_table(shown, columns)
        return 0
    campaign_id = opened.campaign_id(campaign)
    row = next(row for row in rows if row["campaign_id"] == campaign_id)
    attempts, torn = read_attempts(opened.root, campaign_id)
    costs = opened.rows(
        "select candidates.label, costs.* exclude (campaign_id, candidate_id) from costs "
        "inner join candidates using (campaign_id, candidate_id) where campaign_id = ? order by candidates.label",
        [campaign_id],
    )
    told = {
        **row,
        "state": _state_in_words(opened, row),
        "failed_attempts": len(attempts),
        "last_failed_attempt": f"{attempts[-1].failure.code}: {attempts[-1].failure.message}" if attempts else None,
        "torn_attempt_lines": len(torn),
    }
    if as_json:
        print_json({**told, "costs": costs})
        return 0
    print_facts(told)
    if row["confirms"] is not None:
        out().print(confirmation_in_words(read_verdict(opened.root, campaign_id)), markup=False)
    out().print()
    print_table(costs, title="costs, as far as anybody saw them")
    return 0


def _decisions(_context: click.Context, _parameter: click.Parameter, value: str | None) -> frozenset[str] | None:
    """Return the decisions that `--fail-on` names; None where it is not given."""
    if value is None:
        return None
    named = {each.strip() for each in value.split(",")}
    unknown = named - FAIL_ON.keys() - {"none"}
    if unknown or (len(named) > 1 and "none" in named):
        raise click.BadParameter(f"{value!r} is not a list of {', '.join(FAIL_ON)}, nor none")
    return frozenset(named - {"none"})


@click.command("compare")
@campaign_argument
@click.option(
    "--fail-on",
    metavar="DECISIONS",
    callback=_decisions,
    help="Exit by the candidates, not the selection: fail, indeterminate, both with a comma, or none.",
)
@click.option("--junit", type=click.Path(path_type=Path), help="Write gates as JUnit XML, too, for a CI to show.")
@warehouse_option
@json_option
def compare_command(
    campaign: str | None, fail_on: frozenset[str] | None, junit: Path | None, warehouse: Path | None, as_json: bool
) -> int:
    """Print a campaign's decision table; the latest campaign's where none is named.

    Exits with 0 where a candidate was selected, 3 where the baseline was kept, 4 where nothing is decided. With
    --fail-on, it exits with 3 where any candidate has the decision fail and that is named, else with 4 where any is
    indeterminate or the campaign has no verdict and that is named, else with 0: a selection is not asked for then.
    """
    opened = open_warehouse(warehouse, is_snapshot=True)
    campaign_id = meant_campaign(opened, campaign)
    verdict = read_verdict(opened.root, campaign_id)
    if junit is not None:
        # Loaded for whoever asks for it: few do.
        from opfield.cli.junit import junit_xml, read_gates
        from opfield.export.replacing import write_file

        gates = read_gates(opened.root, campaign_id)
        write_file(junit, junit_xml(verdict, gates, fail_on), opened.root)
    print_verdict(verdict, as_json)
    return exit_code(verdict, fail_on)


@click.command("show")
@campaign_argument
@click.option("--case", "case_id", required=True, help="Case of the cell.")
@click.option("--candidate", default="baseline", show_default=True, help="Label or id of the candidate, or baseline.")
@click.option("--repeat", type=click.IntRange(min=0), default=0, show_default=True, help="Repeat, counted from 0.")
@warehouse_option
@json_option
def show_command(
    campaign: str | None, case_id: str, candidate: str, repeat: int, warehouse: Path | None, as_json: bool
) -> int:
    """Print one cell with its evidence."""
    opened = open_warehouse(warehouse, is_snapshot=True)
    campaign_id = opened.campaign_id(campaign)
    with undamaged(opened.root, campaign_id, "cell to show"):
        return _show(opened, campaign_id, case_id, candidate, repeat, as_json)


def _show(opened: Warehouse, campaign_id: str, case_id: str, candidate: str, repeat: int, as_json: bool) -> int:
    candidate_id = _candidate_id(opened, campaign_id, candidate)
    coordinate = [campaign_id, candidate_id, case_id, repeat]
    where = "where campaign_id = ? and candidate_id = ? and case_id = ? and repeat = ?"
    found = opened.rows(f"from cells {where}", coordinate)
    if not found:
        _refuse_unknown_coordinate(opened, campaign_id, candidate_id, case_id, repeat)
        _refuse_pending(opened, campaign_id, candidate_id, case_id, repeat)
    measurements = opened.rows(
        f"select metric, value, missing_reason from measurements {where} order by metric",
        coordinate,
    )
    case_input = opened.rows("select input from cases where campaign_id = ? and case_id = ?", [campaign_id, case_id])
    evidence, problem = _evidence(opened, campaign_id, found[0]["artifact_id"])
    if as_json:
        told = {
            "cells": found,
            "measurements": measurements,
            "input": case_input[0]["input"] if case_input else None,
        }
        print_json({**told, "evidence": evidence, "evidence_problem": problem})
        return 0
    for row in found:
        print_facts(row)
    out().print()
    print_table(measurements)
    out().print()
    print_facts({"input": case_input[0]["input"] if case_input else None, "evidence": evidence})
    if problem:
        say(problem)
    return 0


@click.command("sql")
@click.argument("query")
@click.option("--campaign", default=None, help="Read only this campaign's files: fast where there are many.")
@warehouse_option
@json_option
def sql_command(query: str, campaign: str | None, warehouse: Path | None, as_json: bool) -> int:
    """Run a query over the tables and views, such as "from decisions".

    DuckDB runs it, so `copy (…) to 'file.csv'` writes where you say; the warehouse itself is never written.
    """
    opened = open_warehouse(warehouse, is_snapshot=True)
    if campaign is not None:
        opened = Warehouse(opened.root, is_snapshot=True, only=opened.campaign_id(campaign))
    rows = _answer(opened, query)
    if as_json:
        print_json(rows)
    else:
        print_table(rows)
    return 0


def _answer(opened: Warehouse, query: str) -> list[dict[str, Any]]:
    """Return a query's rows; where it fails over files that are damaged, that is what is told."""
    try:
        return opened.rows(query)
    except OpfieldError:
        campaigns = [opened.only] if opened.only else campaigns_on_disk(opened.root)
        refuse_damaged(opened.root, campaigns, "answer")
        raise


@click.command("views")
@click.argument("name", required=False)
@json_option
def views_command(name: str | None, as_json: bool) -> int:
    """List tables and views with what they hold, or print one with its columns and its SQL."""
    views, tables = installed_views(), {**load_contract(), **load_practice_contract()}
    relations = {each.name: each for each in views.relations.values() if not each.is_macro}
    if name is None:
        rows = [{"layer": "tables", "name": table.name, "holds": table.comment} for table in tables.values()]
        rows += [
            {"layer": each.layer, "name": each.name, "holds": each.meaning.split("\n")[0]}
            for each in sorted(relations.values(), key=lambda each: (each.layer, each.name))
        ]
        if as_json:
            print_json(rows)
        else:
            print_table(rows)
        return 0
    if name in tables:
        columns = [{"column": each.name, "type": each.type, "means": each.comment} for each in tables[name].columns]
        text = ";\n".join(tables[name].ddl) + ";"
        meaning = tables[name].comment
    elif name in relations:
        columns = [{"column": column, "means": means} for column, means in relations[name].columns.items()]
        text, meaning = relations[name].sql, relations[name].meaning
    else:
        raise unknown_name("table or view", name, (*tables, *relations))
    if as_json:
        print_json({"name": name, "meaning": meaning, "columns": columns, "sql": text})
        return 0
    console = out()
    console.print(visible(meaning), markup=False)
    console.print()
    print_table(columns)
    console.print()
    console.print(text, markup=False)
    return 0


@click.command("domains")
@json_option
def domains_command(as_json: bool) -> int:
    """List the domains that can be run by name, with their options."""
    rows: list[dict[str, Any]] = []
    for name in installed_domain_names():
        try:
            domain = load_domain(name)
        except OpfieldError as error:
            rows.append({"domain": name, "holds": str(error), "options": None})
            continue
        options = "  ".join(f"--{each.name} {each.type.__name__}: {each.help}" for each in domain.options)
        rows.append({"domain": name, "holds": domain.description, "options": options or None})
    if as_json:
        print_json(rows)
        return 0
    for row in rows:
        print_facts({"holds": row["holds"], "options": row["options"]}, title=row["domain"])
    return 0


@click.command("gates")
@json_option
def gates_command(as_json: bool) -> int:
    """List the gate kinds that a policy can name."""
    rows = [
        {"gate": each.gate_kind, "holds": each.meaning.split("\n")[0].partition(": ")[2]}
        for each in installed_views().relations.values()
        if each.gate_kind is not None
    ]
    if as_json:
        print_json(rows)
    else:
        print_table(rows)
        say("`opfield views gate_NAME` prints what one reads; `opfield.coverage()` and its like declare them")
    return 0


COMMANDS: Final = (
    status_command,
    compare_command,
    show_command,
    sql_command,
    views_command,
    domains_command,
    gates_command,
)


def _state_in_words(opened: Warehouse, row: dict[str, Any]) -> str:
    """Return the state of a campaign for people; whether they are to decide it is asked where no cell is pending."""
    if row["writer"]:
        return "running"
    is_whole = row["state"] == "running" and row["accepted"] == row["declared"]
    is_awaiting = is_whole and bool(read_awaited(opened.root, row["campaign_id"]))
    return state_in_words(row["state"], None, is_awaiting=is_awaiting)


def _candidate_id(opened: Warehouse, campaign_id: str, candidate: str) -> str:
    rows = opened.rows("select candidate_id, label from candidates where campaign_id = ?", [campaign_id])
    bare = candidate.removeprefix("sha256:")
    fits = [row for row in rows if row["label"] == candidate] or [
        row for row in rows if row["candidate_id"].removeprefix("sha256:").startswith(bare)
    ]
    if len(fits) != 1:
        raise unknown_name("candidate", candidate, (row["label"] for row in rows))
    return str(fits[0]["candidate_id"])


def _refuse_unknown_coordinate(
    opened: Warehouse, campaign_id: str, candidate_id: str, case_id: str, repeat: int
) -> None:
    cases = [row["case_id"] for row in opened.rows("select case_id from cases where campaign_id = ?", [campaign_id])]
    if case_id not in cases:
        raise unknown_name("case", case_id, cases)
    declared = opened.rows(
        "select repeats from declared_repeats where campaign_id = ? and candidate_id = ? and case_id = ?",
        [campaign_id, candidate_id, case_id],
    )
    repeats = declared[0]["repeats"] if declared else 0
    if repeat >= repeats:
        raise UnknownNameError(f"repeat {repeat} is not below the declared {repeats}; repeats count from 0")


def _refuse_pending(opened: Warehouse, campaign_id: str, candidate_id: str, case_id: str, repeat: int) -> None:
    """Say that a coordinate is pending, and what the last attempt at it came to."""
    attempts, _ = read_attempts(opened.root, campaign_id)
    made = [
        each
        for each in attempts
        if (each.coordinate.candidate_id, each.coordinate.case_id, each.coordinate.repeat)
        == (candidate_id, case_id, repeat)
    ]
    tried = f"; attempt {made[-1].attempt} failed: {made[-1].failure.code}: {made[-1].failure.message}" if made else ""
    raise UnknownNameError(f"there is no cell at case {case_id!r} repeat {repeat} yet: it is pending{tried}")


def _evidence(opened: Warehouse, campaign_id: str, artifact_id: str | None) -> tuple[Any, str | None]:
    """Return the content of a cell's artifact, parsed where it is JSON, and what kept it from being read."""
    if artifact_id is None:
        return None, None
    try:
        content = find_artifact(opened.root, campaign_id, artifact_id)
    except OpfieldError as error:
        return None, str(error)
    try:
        return parse_json(content), None
    except (IdentityError, UnicodeDecodeError):
        return content.decode("utf-8", "replace"), None
