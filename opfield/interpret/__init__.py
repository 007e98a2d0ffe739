"""Interpreters of plans: what one may do, how it looks, where its outputs come from, what it discloses."""

from opfield.interpret.analyze import Analysis, analyze, check_effects
from opfield.interpret.diagram import diagram
from opfield.interpret.disclosure import Breach, check_disclosure, disclosures
from opfield.interpret.execute import Compiled, compile_plan, execute
from opfield.interpret.provenance import Origin, provenance
from opfield.interpret.wiring import Step, Wire, Wiring, wiring

__all__ = [
    "Analysis",
    "Breach",
    "Compiled",
    "Origin",
    "Step",
    "Wire",
    "Wiring",
    "analyze",
    "check_disclosure",
    "check_effects",
    "compile_plan",
    "diagram",
    "disclosures",
    "execute",
    "provenance",
    "wiring",
]
