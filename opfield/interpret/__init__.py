"""Interpreters of plans: what one may do, how it looks, where its outputs come from, what it discloses."""

from opfield.interpret.analyze import Analysis, analyze, check_effects
from opfield.interpret.causality import Causality, check_closure, check_targets, closure, invalidated
from opfield.interpret.derive import Derivation, common_steps, derive
from opfield.interpret.diagram import diagram, divergence_diagram
from opfield.interpret.disclosure import Breach, check_disclosure, disclosures
from opfield.interpret.execute import Compiled, compile_plan, execute
from opfield.interpret.obligations import Obligation, obligations
from opfield.interpret.provenance import Origin, provenance
from opfield.interpret.reuse import Reused, execute_reusing, replay
from opfield.interpret.wiring import Step, Wire, Wiring, wiring

__all__ = [
    "Analysis",
    "Breach",
    "Causality",
    "Compiled",
    "Derivation",
    "Obligation",
    "Origin",
    "Reused",
    "Step",
    "Wire",
    "Wiring",
    "analyze",
    "check_closure",
    "check_disclosure",
    "check_effects",
    "check_targets",
    "closure",
    "common_steps",
    "compile_plan",
    "derive",
    "diagram",
    "disclosures",
    "divergence_diagram",
    "execute",
    "execute_reusing",
    "invalidated",
    "obligations",
    "provenance",
    "replay",
    "wiring",
]
