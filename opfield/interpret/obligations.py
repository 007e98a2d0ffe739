"""What has to be shown for a plan to be relied on: laws of its plugins, and claims of its operations (§20.6)."""

from __future__ import annotations

from dataclasses import dataclass

from opfield.core.operation import Effect
from opfield.interpret.analyze import analyze
from opfield.plan import Plan
from opfield.plugin import Registry


@dataclass(frozen=True, slots=True, order=True)
class Obligation:
    """One thing to show.

    Attributes:
        who: id of the plugin or operation that owes it.
        what: `law` for a law that its registration tried, `claim` for what the operation declares of itself,
            `disclosure` for data classes that reach a remote party.
        detail: the law's name, the claim, or the data classes.
    """

    who: str
    what: str
    detail: str


def obligations(plan: Plan, registry: Registry) -> tuple[Obligation, ...]:
    """Return what has to be shown for a plan, sorted: the conformance kit and the plugins' laws are how.

    Raises:
        PlanError: listing every fault of the plan.
    """
    found: set[Obligation] = set()
    for id in analyze(plan, registry.descriptors).operations:
        operation = registry.descriptors[id]
        found |= {Obligation(operation.plugin, "law", name) for name in registry.laws.get(operation.plugin, ())}
        for is_claimed, claim in (
            (operation.is_deterministic, "equal inputs give equal outputs"),
            (operation.is_cacheable, "kept outputs may stand for a run"),
            (bool(operation.reads), f"of its inputs it reads {', '.join(operation.reads)} alone"),
            (
                bool(operation.clears),
                f"what it gives with {operation.certifies} may be disclosed as no longer {', '.join(operation.clears)}",
            ),
        ):
            if is_claimed:
                found.add(Obligation(id, "claim", claim))
        found.add(Obligation(id, "claim", f"it does no more than {', '.join(operation.effects) or 'compute'}"))
        if Effect.REMOTE_DISCLOSURE in operation.effects:
            found.add(
                Obligation(id, "disclosure", f"its remote party may see {', '.join(operation.admits) or 'nothing'}")
            )
    return tuple(sorted(found))
