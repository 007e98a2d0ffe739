"""How the four operations of a trial are wired, whichever corpus they search."""

from __future__ import annotations

from opfield.plan import Plan, copy, identity, permute
from opfield.plugin import Operation


def built_plan(build: Plan, retrieve: Operation) -> Plan:
    """Return the plan from a configuration, a corpus and a case to an index and what asks it.

    Args:
        build: from configuration and corpus to index; the configuration goes to both halves.
        retrieve: from index, configuration and case to what was retrieved.
    """
    spec, corpus = build.inputs
    case = retrieve.descriptor.inputs[-1]
    return (
        (copy((spec,)) @ identity((corpus, case)))
        >> permute((spec, spec, corpus, case), (0, 2, 1, 3))
        >> (build @ identity((spec, case)))
    )


def evidence_plan(build: Plan, retrieve: Operation, measure: Operation) -> Plan:
    """Return the plan of a trial that keeps index and retrieval beside the measurements: what a campaign runs."""
    index, *asked = retrieve.descriptor.inputs
    (retrieval,) = retrieve.descriptor.outputs
    return (
        built_plan(build, retrieve)
        >> (copy((index,)) @ identity(asked))
        >> (identity((index,)) @ (retrieve >> copy((retrieval,)) >> (identity((retrieval,)) @ measure)))
    )
