"""Plans: serializable wirings of typed operations, closed in constructors, open in operations and interpreters."""

from opfield.plan.fold import Algebra, fold
from opfield.plan.identity import plan_id, plan_json, read_plan
from opfield.plan.normal import normalize
from opfield.plan.term import Kind, Plan, copy, drop, identity, permute, primitive, sequence, tensor
from opfield.plan.text import parse_plan, plan_text
from opfield.plan.validate import Fault, check_plan, faults

__all__ = [
    "Algebra",
    "Fault",
    "Kind",
    "Plan",
    "check_plan",
    "copy",
    "drop",
    "faults",
    "fold",
    "identity",
    "normalize",
    "parse_plan",
    "permute",
    "plan_id",
    "plan_json",
    "plan_text",
    "primitive",
    "read_plan",
    "sequence",
    "tensor",
]
