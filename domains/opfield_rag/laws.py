"""What must hold between the advertised patches and a plan, before a plugin of this domain is admitted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import opfield as of
from opfield.interpret import check_closure, check_targets
from opfield.plan import Plan
from opfield.plugin import OperationDescriptor
from opfield_rag.spec import OPTICS, SPEC_SCHEMA, Spec, read_parameter


def misdeclared(
    patches: Iterable[of.Patch], plan: Plan, operations: Iterable[OperationDescriptor], beside: Sequence[str]
) -> Iterator[str]:
    """Yield each patch whose closure is not what it invalidates, or whose targets miss what the change moves (§22.2).

    Args:
        patches: the patches; a closure that is not declared is none to check.
        plan: plan of a trial, the configuration first among its inputs.
        operations: descriptors of its operations.
        beside: schemas of its other inputs.
    """
    known = {each.id: each for each in operations}
    spec = Spec().model_dump(mode="json")
    others = [of.seal(schema, {}) for schema in beside]
    for patch in patches:
        changed = OPTICS[patch.optic].put(spec, read_parameter(patch.value.payload))
        before, after = ([of.seal(SPEC_SCHEMA, each), *others] for each in (spec, changed))
        try:
            if patch.closure:
                check_closure(plan, known, patch.targets, patch.closure)
            check_targets(plan, known, patch.targets, before, after)
        except of.OpfieldError as error:
            yield f"{patch.id}: {error}"
