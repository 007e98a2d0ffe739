"""The normal form of a plan: what re-association and units do not change (§6.4, §46.2)."""

from __future__ import annotations

from opfield.plan.term import Plan, sequence, tensor
from opfield.plan.validate import check_plan


def normalize(plan: Plan) -> Plan:
    """Return the normal form: sequences and tensors flat and without units; the plan itself where it is normal.

    Only associativity and the units are equations here. Permutations, copies and drops stay as they were written, since
    effects and provenance tell them apart.

    Raises:
        PlanError: where the plan has faults; a unit never vanishes before its boundary was checked.
    """
    check_plan(plan)
    done: list[Plan] = []
    waiting: list[tuple[Plan, bool]] = [(plan, False)]
    while waiting:
        node, are_children_done = waiting.pop()
        if node.is_normal:
            done.append(node)
        elif not are_children_done:
            waiting.append((node, True))
            waiting += ((child, False) for child in reversed(node.children))
        else:
            parts = done[len(done) - len(node.children) :]
            del done[len(done) - len(node.children) :]
            done.append(sequence(*parts) if node.kind == "sequence" else tensor(*parts))
    return done[0]
