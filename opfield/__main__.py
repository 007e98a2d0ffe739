"""`python -m opfield` is the `opfield` command."""

from opfield.cli import main

main()
