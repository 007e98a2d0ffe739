"""Plugins that are installed: they come by entry point, and one registry admits them together."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Final

from opfield.core.offered import load_offered, offered_names
from opfield.plugin.plugin import Plugin
from opfield.plugin.registry import Registry

ENTRY_POINTS: Final = "opfield.plugins"


def installed_registry() -> Registry:
    """Return a registry of every installed plugin, in the order of their names.

    Raises:
        PluginError: listing what keeps any of them out; then none is registered.
        DeclarationError: where an entry point cannot be imported, or is no plugin.
    """
    # What plugins print while they are loaded and their laws are tried is for people, not for who reads the answer.
    with redirect_stdout(sys.stderr):
        return Registry().register(
            *(load_offered(ENTRY_POINTS, name, "plugin", Plugin) for name in offered_names(ENTRY_POINTS))
        )
