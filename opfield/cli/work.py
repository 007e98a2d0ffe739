"""Commands that run trials or end campaigns: run, resume, finish, cancel, try."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from opfield.campaign.boundary import run_trial
from opfield.campaign.confirm import confirming_again
from opfield.campaign.domains import load_campaign, load_domain
from opfield.campaign.ending import AWAITING_REVIEW, Outcome, cancel, finish_with_failures
from opfield.campaign.engine import RunOptions, run
from opfield.campaign.evidence import TrialTask
from opfield.campaign.prepare import Prepared, differing_members, prepare, trial_context
from opfield.cli.options import executor_options, json_option, prints_to_stderr, the_unfinished, warehouse_option
from opfield.cli.progress import TerminalProgress
from opfield.cli.render import plural, print_facts, print_json, say, short
from opfield.cli.verdict import EXIT_OPEN, exit_code, print_verdict, read_strongest, read_verdict
from opfield.core import Status, parse_json
from opfield.errors import DeclarationError, OpfieldError, unknown_name
from opfield.experiment import Arm, Coordinate
from opfield.prob import coordinate_seed
from opfield.warehouse.layout import partition
from opfield.warehouse.ledger import TERMINAL, last_event, read_events
from opfield.warehouse.session import Warehouse, open_warehouse
from opfield.warehouse.store import create_store, default_root
from opfield.warehouse.views import installed_views

#: What lets the options of a domain follow its name.
PASSED_ON: Final = {"ignore_unknown_options": True, "allow_extra_args": True}


@click.command("run", context_settings=PASSED_ON)
@click.argument("target")
@click.option("--plan", "plan_only", is_flag=True, help="Say what would run and cost, and run nothing.")
@executor_options
@warehouse_option
@json_option
@click.pass_context
def run_command(
    context: click.Context,
    target: str,
    plan_only: bool,
    executor: str,
    workers: int | None,
    accept_runner_change: bool,
    warehouse: Path | None,
    as_json: bool,
) -> int:
    """Run a campaign: an installed domain, or package.module:campaign.

    Options of a domain follow its name, such as `opfield run rag --data FOLDER --limit 20`; `opfield domains` lists
    them. A campaign that was interrupted goes on; a finished one says so and appends nothing.
    """
    given = domain_options(target, context.args)
    with prints_to_stderr():
        campaign = load_campaign(target, given)
    if plan_only:
        return print_plan(prepare(campaign, installed_views()), warehouse, as_json)
    options = RunOptions(
        executor=executor,
        workers=workers,
        progress=TerminalProgress(),
        accept_runner_change=accept_runner_change,
        target=target,
        options=recorded(given),
    )
    root = warehouse or default_root()
    with prints_to_stderr():
        outcome = run(campaign, root, options)
    return report(outcome, root, as_json)


@click.command("resume")
@click.argument("campaign", required=False)
@executor_options
@warehouse_option
@json_option
def resume_command(
    campaign: str | None,
    executor: str,
    workers: int | None,
    accept_runner_change: bool,
    warehouse: Path | None,
    as_json: bool,
) -> int:
    """Go on with a campaign that was interrupted or paused."""
    opened = open_warehouse(warehouse, is_snapshot=True)
    create_store(opened.root)
    campaign_id = the_unfinished(opened, campaign)
    first = next(iter(read_events(opened.root, campaign_id)))
    started = parse_json(first.payload)
    told = started["provenance"]
    if told["target"] is None:
        last = last_event(opened.root, campaign_id)
        if last is not None and last.type in TERMINAL:
            # What has ended needs no declaration: opening it writes again what follows from the ledger.
            return report(finish_with_failures(opened.root, campaign_id), opened.root, as_json)
        raise OpfieldError("this campaign was started from Python; run the same declaration there again to go on")
    with prints_to_stderr():
        loaded = load_campaign(told["target"], _read_options(told["target"], told["options"]))
    declared = confirming_again(loaded, started["identity"], opened)
    prepared = prepare(declared, installed_views())
    if prepared.campaign_id != campaign_id:
        members = ", ".join(differing_members(started["identity"], prepared.identity))
        raise DeclarationError(
            f"{told['target']} now declares another campaign than {short(campaign_id)}: it differs in {members}. "
            f"Put back what it was to go on, or `opfield run {told['target']}` as a campaign of its own"
        )
    options = RunOptions(
        executor=executor,
        workers=workers,
        progress=TerminalProgress(),
        accept_runner_change=accept_runner_change,
        target=told["target"],
        options=told["options"],
    )
    with prints_to_stderr():
        outcome = run(declared, opened.root, options)
    return report(outcome, opened.root, as_json)


@click.command("finish")
@click.argument("campaign", required=False)
@click.option(
    "--accept-failures",
    is_flag=True,
    help="Record what is pending as failed or cancelled cells, and decide on what there is.",
)
@click.option("--without-review", is_flag=True, help="Decide with the reviews there are; lacking ones leave it open.")
@warehouse_option
@json_option
def finish_command(
    campaign: str | None, accept_failures: bool, without_review: bool, warehouse: Path | None, as_json: bool
) -> int:
    """End a campaign whose pending coordinates will not be run, or whose reviews will not be given."""
    if not accept_failures and not without_review:
        raise click.UsageError("finishing records what is pending as failures; say --accept-failures")
    opened = open_warehouse(warehouse, is_snapshot=True)
    campaign_id = the_unfinished(opened, campaign)
    query = "select count(*) as cells from pending where campaign_id = ?"
    pending = 0 if accept_failures else opened.rows(query, [campaign_id])[0]["cells"]
    if pending:
        raise click.UsageError(f"{plural(pending, 'cell')} would be recorded as failures; say --accept-failures too")
    outcome = finish_with_failures(opened.root, campaign_id, without_review=without_review)
    return report(outcome, opened.root, as_json)


@click.command("cancel")
@click.argument("campaign")
@click.option("--reason", default="cancelled by hand", show_default=True, help="Why, in words; recorded.")
@warehouse_option
@json_option
def cancel_command(campaign: str, reason: str, warehouse: Path | None, as_json: bool) -> int:
    """End a campaign without a verdict; what was accepted stays."""
    opened = open_warehouse(warehouse, is_snapshot=True)
    outcome = cancel(opened.root, opened.campaign_id(campaign), reason)
    if as_json:
        print_json({"campaign_id": outcome.campaign_id, "state": outcome.state, "appended": outcome.appended})
    elif outcome.appended:
        say(f"campaign {short(outcome.campaign_id)} is cancelled; {plural(outcome.pending, 'cell')} were never run")
    else:
        say(f"campaign {short(outcome.campaign_id)} was {outcome.state} already; nothing was appended")
    return 0


@click.command("try", context_settings=PASSED_ON)
@click.argument("target")
@click.option("--case", "case_id", required=True, help="Case to run.")
@click.option("--candidate", "label", default="baseline", show_default=True, help="Candidate's label, or baseline.")
@click.option("--repeat", type=click.IntRange(min=0), default=0, show_default=True, help="Repeat, counted from 0.")
@json_option
@click.pass_context
def try_command(context: click.Context, target: str, case_id: str, label: str, repeat: int, as_json: bool) -> int:
    """Run one trial of a campaign without recording it."""
    prepared = prepare(load_campaign(target, domain_options(target, context.args)), installed_views())
    by_label = {each.label: each for each in (prepared.baseline, *prepared.candidates)}
    if label not in by_label:
        raise unknown_name("candidate", label, by_label)
    cases = {case.id for case in prepared.campaign.workload.cases}
    if case_id not in cases:
        raise unknown_name("case", case_id, cases)
    if repeat >= prepared.campaign.repeats:
        raise OpfieldError(f"repeat {repeat} is not below the declared {prepared.campaign.repeats}")
    chosen = by_label[label]
    arm = Arm.BASELINE if chosen.patch is None else Arm.CANDIDATE
    coordinate = Coordinate(chosen.id, arm, case_id, repeat)
    seed = coordinate_seed(prepared.campaign.seed_root, case_id, repeat)
    with prints_to_stderr():
        evidence = run_trial(trial_context(prepared, None), TrialTask(coordinate, seed, 1))
    kept = {each.artifact_id: each.content for each in evidence.artifacts}
    native = kept.get(evidence.artifact_id or "")
    told = {
        "candidate": label,
        "case": case_id,
        "repeat": repeat,
        "seed": seed.hex,
        "status": evidence.status.value,
        "measurements": {each.metric: each.value for each in evidence.measurements},
        "missing": {each.metric: each.missing_reason for each in evidence.measurements if each.missing_reason},
        "failure": None if evidence.failure is None else f"{evidence.failure.code}: {evidence.failure.message}",
        "cost_usd": evidence.cost_usd,
        "duration_s": evidence.duration_s,
        "evidence": None if native is None else native.decode("utf-8", "replace"),
    }
    if as_json:
        print_json(told)
    else:
        print_facts(told)
        say("nothing was recorded")
    return 0 if evidence.status in (Status.SUCCESS, Status.DOMAIN_FAILURE) else 1


COMMANDS: Final = (run_command, resume_command, finish_command, cancel_command, try_command)


def domain_options(target: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the options in `--name value` words, typed as the domain declares them.

    Raises:
        click.UsageError: for a word that is no option, or a value of another type.
    """
    types = {option.name: option.type for option in load_domain(target).options} if ":" not in target else {}
    given: dict[str, Any] = {}
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("--") or len(word) == 2:
            raise click.UsageError(f"unexpected argument {word!r}; options of a campaign are --name value")
        name, is_joined, value = word[2:].partition("=")
        if not is_joined:
            if not waiting:
                raise click.UsageError(f"option --{name} needs a value")
            value = waiting.pop(0)
        name = name.replace("-", "_")
        if types and name not in types:
            raise click.UsageError(str(unknown_name(f"option of {target}:", name, types)))
        try:
            given[name] = types.get(name, str)(value)
        except ValueError:
            raise click.UsageError(f"option --{name}: {value!r} is no {types[name].__name__}") from None
    return given


def recorded(given: dict[str, Any]) -> dict[str, Any]:
    """Return options as they are recorded: a path absolute, so that `resume` finds it from any folder."""
    return {name: str(value.absolute()) if isinstance(value, Path) else value for name, value in given.items()}


def _read_options(target: str, recorded: dict[str, Any]) -> dict[str, Any]:
    types = {option.name: option.type for option in load_domain(target).options} if ":" not in target else {}
    return {name: types.get(name, str)(value) for name, value in recorded.items()}


def print_plan(prepared: Prepared, warehouse: Path | None, as_json: bool) -> int:
    """Print what a run would do: from the declaration, and from the warehouse where it stands."""
    campaign = prepared.campaign
    cells = len(campaign.workload.cases) * campaign.repeats * (1 + len(prepared.candidates))
    known = _known_cells(prepared.campaign_id, warehouse)
    pending = cells - known["cells"]
    per_cell = known["known_cost_usd"] / known["known_costs"] if known["known_costs"] else None
    told = {
        "campaign_id": prepared.campaign_id,
        "name": campaign.name,
        "candidates": [each.label for each in prepared.candidates],
        "cases": len(campaign.workload.cases),
        "repeats": campaign.repeats,
        "cells": cells,
        "accepted": known["cells"],
        "to_run": pending,
        "events_when_finished": 1 + 3 * len(prepared.candidates) + cells + 1,
        "estimated_cost_usd": None if per_cell is None else per_cell * pending,
        "metrics": [metric.name for metric in campaign.metrics],
        "gates": [gate.name for gate in campaign.policy.gates],
        "prefer": campaign.policy.prefer,
        **({} if campaign.confirms is None else {"confirms": campaign.confirms.campaign_id}),
        "coupling": campaign.coupling,
        "reproducibility": campaign.reproducibility,
    }
    if as_json:
        print_json(told)
        return 0
    print_facts(
        {
            **told,
            "estimated_cost_usd": told["estimated_cost_usd"] if per_cell else "unknown: no cell told its cost",
        }
    )
    say("nothing was run")
    return 0


def _known_cells(campaign_id: str, warehouse: Path | None) -> dict[str, Any]:
    nothing = {"cells": 0, "known_costs": 0, "known_cost_usd": None}
    root = warehouse or default_root()
    if not (root / "warehouse.json").exists():
        return nothing
    opened: Warehouse = open_warehouse(root, is_snapshot=True)
    rows = opened.rows(
        "select count(*) as cells, count(cost_usd) as known_costs, fsum(cost_usd) as known_cost_usd from cells "
        "where campaign_id = ?",
        [campaign_id],
    )
    return rows[0]


def report(outcome: Outcome, root: Path, as_json: bool) -> int:
    """Print where a campaign stands after work on it, and return the exit code."""
    verdict = read_verdict(root.absolute(), outcome.campaign_id)
    name = short(outcome.campaign_id)
    if outcome.state in ("completed", "cancelled") and not outcome.appended:
        say(f"campaign {name} was {outcome.state} already; nothing was appended")
        if outcome.reason:
            say(f"note: {outcome.reason}")
    if as_json:
        print_json(
            {
                "state": outcome.state,
                "appended": outcome.appended,
                "reason": outcome.reason or None,
                **verdict,
            }
        )
    else:
        print_verdict(verdict, as_json=False)
    if outcome.state == AWAITING_REVIEW:
        say(f"awaiting review: {outcome.reason}. What was accepted is safe, and nothing is decided yet")
        return EXIT_OPEN
    if outcome.state in ("paused", "pending", "interrupted"):
        say(
            f"{outcome.state}: {outcome.reason}. {plural(outcome.pending, 'cell')} pending; what was accepted is safe. "
            f"Go on with `opfield resume {name}`, or end it with `opfield finish {name} --accept-failures`"
        )
        return EXIT_OPEN
    if outcome.state == "completed" and not as_json:
        _print_next_steps(verdict, root)
    return exit_code(verdict)


def _print_next_steps(verdict: dict[str, Any], root: Path) -> None:
    """Print three commands to type, about the pair that changed most."""
    named = f" --campaign {short(verdict['campaign']['campaign_id'])}"
    named += "" if root == default_root() else f" --warehouse {shlex.quote(str(root))}"
    strongest = read_strongest(root.absolute(), verdict)
    if strongest is None:
        return
    quoted = strongest["metric"].replace("'", "''")
    query = (
        "select label, case_id, repeat, delta from deltas join candidates using (campaign_id, candidate_id) "
        f"where metric = '{quoted}' order by delta desc limit 20"
    )
    say("")
    say("next:")
    opfield, python = _programs()
    say(f"  {opfield} sql {_shell_word(query)}{named}")
    case, label = shlex.quote(strongest["case_id"]), shlex.quote(strongest["label"])
    elsewhere = named.partition(" --warehouse")
    say(
        f"  {opfield} show {short(verdict['campaign']['campaign_id'])} --case {case} --candidate {label} "
        f"--repeat {strongest['repeat']}{elsewhere[1]}{elsewhere[2]}"
    )
    files = f"{root}/measurements/{partition(verdict['campaign']['campaign_id'])}/*.parquet"
    say(f"  {python} -c {_shell_word(f'import polars as pl; print(pl.scan_parquet({files!r}).collect())')}")


def _programs() -> tuple[str, str]:
    """Return how to call this command and its Python from a shell: by name where that finds them, else by path."""
    called = Path(sys.argv[0])
    if called.name != "opfield" or shutil.which("opfield"):
        return "opfield", "python"
    return os.path.relpath(called), os.path.relpath(sys.executable)


def _shell_word(text: str) -> str:
    """Return text as one word for a shell, in double quotes where these are enough, since they read better."""
    return shlex.quote(text) if any(character in text for character in '"$`\\!') else f'"{text}"'
