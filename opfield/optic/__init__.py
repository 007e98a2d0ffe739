"""Optics: lawful ways to read and write parts of a specification, each with an identity and checkable laws (§10)."""

from opfield.optic.focus import (
    Affine,
    Prism,
    Traversal,
    check_traversal_laws,
    each,
    optional,
    through,
    variant,
)
from opfield.optic.lens import LawBreach, Lens, RefusedPutError, check_laws, compose, field, fields

__all__ = [
    "Affine",
    "LawBreach",
    "Lens",
    "Prism",
    "RefusedPutError",
    "Traversal",
    "check_laws",
    "check_traversal_laws",
    "compose",
    "each",
    "field",
    "fields",
    "optional",
    "through",
    "variant",
]
