"""The `opfield` command: results on stdout, everything else on stderr."""

from opfield.cli.app import main

__all__ = ["main"]
