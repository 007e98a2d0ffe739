"""Commands on plans: what is registered, how a plan is wired, what it may do, and whether it may."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from opfield.campaign.damage import meant_campaign, undamaged
from opfield.cli.options import campaign_argument, json_option, warehouse_option
from opfield.cli.render import out, print_facts, print_json, print_table, say
from opfield.core.operation import Effect
from opfield.errors import OpfieldError, PlanError, unknown_name
from opfield.interpret import (
    analyze,
    check_disclosure,
    check_effects,
    diagram,
    divergence_diagram,
    provenance,
    wiring,
)
from opfield.plan import Plan, parse_plan, plan_id, plan_json, plan_text
from opfield.plugin import Registry, installed_registry
from opfield.warehouse.session import Warehouse, open_warehouse

_PLAN: Final = click.argument("plan", metavar="PLAN")


@click.group("plan")
def plan_group() -> None:
    """Look at plans of typed operations before anything runs.

    PLAN is a registered plan, such as `ragtoy.build`, or a term as `opfield plan show` prints it.
    """


@plan_group.command("list")
@json_option
def list_command(as_json: bool) -> int:
    """List the plans of the installed plugins."""
    registry = installed_registry()
    rows: list[dict[str, Any]] = [
        {
            "plan": name,
            "id": plan_id(each),
            "operations": len(wiring(each, registry.descriptors).steps),
            "takes": ", ".join(each.inputs),
            "gives": ", ".join(each.outputs),
        }
        for name, each in sorted(registry.plans.items())
    ]
    if as_json:
        print_json(rows)
        return 0
    print_table(rows)
    if not rows:
        say("plugins come by an entry point of the group opfield.plugins")
    return 0


@plan_group.command("show")
@_PLAN
@json_option
def show_command(plan: str, as_json: bool) -> int:
    """Print a plan as a term, its identity, and where each output comes from."""
    registry = installed_registry()
    chosen = _chosen(registry, plan)
    origins = provenance(chosen, registry.descriptors)
    if as_json:
        print_json({"id": plan_id(chosen), "term": plan_text(chosen), "plan": plan_json(chosen)})
        return 0
    print_facts(
        {
            "id": plan_id(chosen),
            "registry": registry.id,
            "takes": ", ".join(chosen.inputs) or None,
            "gives": ", ".join(chosen.outputs) or None,
        }
    )
    out().print()
    out().print(plan_text(chosen), markup=False, highlight=False, soft_wrap=True)
    if origins:
        out().print()
        print_table(
            [
                {
                    "output": each.schema,
                    "from inputs": ", ".join(chosen.inputs[ix] for ix in each.inputs),
                    "by operations": ", ".join(each.operations),
                }
                for each in origins
            ]
        )
    return 0


@plan_group.command("analyze")
@_PLAN
@json_option
def analyze_command(plan: str, as_json: bool) -> int:
    """Say what a plan may do and needs: effects, dependencies, claims, estimated cost."""
    registry = installed_registry()
    told = analyze(_chosen(registry, plan), registry.descriptors).as_json()
    if as_json:
        print_json(told)
    else:
        print_facts({name: ", ".join(each) or None if isinstance(each, list) else each for name, each in told.items()})
    return 0


@plan_group.command("diagram")
@_PLAN
def diagram_command(plan: str) -> int:
    """Print a plan as a Mermaid flowchart."""
    registry = installed_registry()
    out().print(diagram(_chosen(registry, plan), registry.descriptors), markup=False, highlight=False, end="")
    return 0


@plan_group.command("check")
@_PLAN
@click.option(
    "--allow", multiple=True, type=click.Choice([str(each) for each in Effect]), help="Effect that the plan may have."
)
@click.option("--bears", multiple=True, metavar="SCHEMA=CLASS", help="Data class that an input of the plan bears.")
@click.option("--deterministic", is_flag=True, help="Every operation must claim to be deterministic.")
def check_command(plan: str, allow: tuple[str, ...], bears: tuple[str, ...], deterministic: bool) -> int:
    """Refuse a plan that does not fit, may do more than is allowed, or would disclose what it may not.

    Exit code 0 where it may run, 1 with every reason where it may not.
    """
    registry = installed_registry()
    chosen = _chosen(registry, plan)
    told = analyze(chosen, registry.descriptors)
    classes: dict[str, list[str]] = {}
    for each in bears:
        schema, sign, data_class = each.rpartition("=")
        if not sign or schema not in chosen.inputs:
            raise click.UsageError(f"--bears {each!r}: write SCHEMA=CLASS with a schema of {', '.join(chosen.inputs)}")
        classes.setdefault(schema, []).append(data_class)
    reasons: list[str] = []
    if deterministic and not told.is_deterministic:
        lacking = [name for name in told.operations if not registry.descriptors[name].is_deterministic]
        reasons.append(f"not every operation claims to be deterministic: {', '.join(lacking)}")
    try:
        check_effects(told, [Effect(each) for each in allow] if allow else set(Effect))
    except PlanError as error:
        reasons.append(str(error))
    try:
        check_disclosure(chosen, registry.descriptors, classes)
    except PlanError as error:
        reasons.append(str(error))
    if reasons:
        raise PlanError("; ".join(reasons))
    say(f"{plan_id(chosen)} may run: {len(told.operations)} operations, {', '.join(told.effects) or 'no effects'}")
    return 0


@plan_group.command("compare")
@campaign_argument
@click.option("--diagram", "candidate", metavar="CANDIDATE", help="Print baseline and this candidate as one flowchart.")
@warehouse_option
@json_option
def compare_command(campaign: str | None, candidate: str | None, warehouse: Path | None, as_json: bool) -> int:
    """Say where each candidate's trials leave the baseline's: the steps they share, and those that diverge.

    It reads the derivations that the trials' evidence tells.
    """
    opened = open_warehouse(warehouse, is_snapshot=True)
    campaign_id = meant_campaign(opened, campaign, "comparison of plans")
    with undamaged(opened.root, campaign_id, "comparison of plans"):
        if candidate is not None:
            out().print(_divergence(opened, campaign_id, candidate), markup=False, highlight=False, end="")
            return 0
        rows = opened.rows(_DIVERGENCES, [campaign_id])
    if as_json:
        print_json(rows)
    else:
        print_table(rows)
        if not rows:
            say("the evidence of this campaign's trials tells no derivations; see the relation `derivations`")
    return 0


def _divergence(opened: Warehouse, campaign_id: str, label: str) -> str:
    """Return the flowchart of a candidate's and the baseline's plan over the first pair that tells both."""
    rows = opened.rows(_FIRST_PAIR, [campaign_id, label])
    if not rows:
        known = [
            row["label"] for row in opened.rows("select label from candidates where campaign_id = $1", [campaign_id])
        ]
        if label not in known:
            raise unknown_name("candidate", label, known)
        raise OpfieldError(f"no pair of candidate {label!r} tells the derivations of both arms by one plan")
    registry = installed_registry()
    (told,) = {row["plan_id"] for row in rows}
    plan = next((each for each in registry.plans.values() if plan_id(each) == told), None)
    if plan is None:
        raise OpfieldError(f"plan {told} is not among the installed ones; install the plugin that it is of")
    graph = wiring(plan, registry.descriptors)
    if [row["operation"] for row in rows] != [step.operation.id for step in graph.steps]:
        raise OpfieldError(f"candidate {label!r} tells derivations that are not the steps of plan {told}")
    return divergence_diagram(graph, [row["baseline_key"] for row in rows], [row["key"] for row in rows])


_DIVERGENCES: Final = """
select
    candidates.label as candidate,
    coalesce(string_agg(operation, ' > ' order by step) filter (where is_shared), 'none') as shared,
    coalesce(string_agg(operation, ' > ' order by step) filter (where not is_shared), 'none') as diverges,
    max(pairs) as pairs,
from divergences
inner join candidates using (campaign_id, candidate_id)
where campaign_id = $1
group by candidates.label
order by candidates.label
"""

_FIRST_PAIR: Final = """
select
    derivations.plan_id,
    derivations.operation,
    derivations.key,
    baseline.key as baseline_key,
from derivations
inner join candidates using (campaign_id, candidate_id)
inner join derivations as baseline
    on baseline.campaign_id = derivations.campaign_id
    and baseline.arm = 'baseline'
    and baseline.case_id = derivations.case_id
    and baseline.repeat = derivations.repeat
    and baseline.step = derivations.step
    and baseline.plan_id = derivations.plan_id
where derivations.campaign_id = $1 and derivations.arm = 'candidate' and candidates.label = $2
qualify dense_rank() over (order by derivations.case_id, derivations.repeat) = 1
order by derivations.step
"""


def _chosen(registry: Registry, text: str) -> Plan:
    """Return the registered plan of that name, or the plan that the term describes."""
    if "(" not in text:
        return registry.plan(text)
    return parse_plan(text)


COMMANDS: Final = (plan_group,)
