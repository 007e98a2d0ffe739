"""What plugin authors test with: `check_plugin` finds what a plugin declares otherwise than it behaves (§47.3)."""

from opfield.testing.conformance import check_operation, check_plugin
from opfield.testing.effects import observed_effects
from opfield.testing.reads import recording

__all__ = ["check_operation", "check_plugin", "observed_effects", "recording"]
