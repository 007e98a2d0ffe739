"""A plan as JSON, and its identity: the digest of its normal form (§20.1, §31.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from opfield.core import canonical_json, digest
from opfield.errors import PlanError
from opfield.plan.normal import normalize
from opfield.plan.term import MAX_DEPTH, MAX_SIZE, Plan, Signature, is_unicode
from opfield.plan.validate import check_plan

_DOMAIN: Final = "opfield/plan/v1"
_KEYS: Final = {"kind", "in", "out", "operation", "children", "permutation"}


def plan_id(plan: Plan) -> str:
    """Return the identity of a plan: equal for plans that differ in association and units alone.

    Raises:
        PlanError: where the plan has faults.
    """
    return digest(_DOMAIN, canonical_json(plan_json(normalize(plan))))


def plan_json(plan: Plan) -> dict[str, Any]:
    """Return the plan as a JSON object {kind, in, out} with operation, children or permutation where it has them."""
    told: dict[str, Any] = {"kind": plan.kind, "in": list(plan.inputs), "out": list(plan.outputs)}
    if plan.operation:
        told["operation"] = plan.operation
    if plan.children:
        told["children"] = [plan_json(each) for each in plan.children]
    if plan.permutation:
        told["permutation"] = list(plan.permutation)
    return told


def read_plan(value: Any, operations: Mapping[str, Signature] | None = None) -> Plan:
    """Return the plan in a JSON object that `plan_json` gave, in normal form; nothing about it is trusted.

    Args:
        value: the object, as a JSON parser gives it.
        operations: registered operations by id, where the plan is to be checked against them.

    Raises:
        PlanError: where it is no plan, has faults, or is larger or deeper than a plan may be.
    """
    plan = _read(value, "plan", 1, [0])
    check_plan(plan, operations)
    return normalize(plan)


def _read(value: Any, place: str, depth: int, count: list[int]) -> Plan:
    count[0] += 1
    if depth > MAX_DEPTH or count[0] > MAX_SIZE:
        raise PlanError(f"{place}: deeper than {MAX_DEPTH} levels or more than {MAX_SIZE:,} nodes")
    if not isinstance(value, dict):
        raise PlanError(f"{place}: {type(value).__name__} is no plan; a plan is an object with kind, in and out")
    unknown = sorted(map(str, value.keys() - _KEYS))
    lacking = sorted({"kind", "in", "out"} - value.keys())
    if unknown or lacking:
        raise PlanError(
            f"{place}: lacks {', '.join(lacking) or 'nothing'}, has unknown {', '.join(unknown) or 'nothing'}"
        )
    children = value.get("children", [])
    if not isinstance(children, list):
        raise PlanError(f"{place}: children are no list")
    return Plan(
        _text(value["kind"], f"{place}.kind"),  # type: ignore[arg-type]  # checked with all else afterwards
        _texts(value["in"], f"{place}.in"),
        _texts(value["out"], f"{place}.out"),
        _text(value.get("operation", ""), f"{place}.operation"),
        tuple(_read(each, f"{place}.children[{ix}]", depth + 1, count) for ix, each in enumerate(children)),
        _numbers(value.get("permutation", []), f"{place}.permutation"),
    )


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or not is_unicode(value):
        raise PlanError(f"{place}: {type(value).__name__} is no text of Unicode")
    return value


def _texts(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise PlanError(f"{place}: {type(value).__name__} is no list of schemas")
    return tuple(_text(each, f"{place}[{ix}]") for ix, each in enumerate(value))


def _numbers(value: Any, place: str) -> tuple[int, ...]:
    if not isinstance(value, list) or any(isinstance(each, bool) or not isinstance(each, int) for each in value):
        raise PlanError(f"{place}: no list of whole numbers")
    return tuple(value)
