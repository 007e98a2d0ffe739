"""Seeds: deterministic, domain-separated and splittable, so that both arms of a pair share their randomness (§12.2)."""

from __future__ import annotations

import random
from dataclasses import dataclass

from opfield.core.digest import digest
from opfield.errors import DeclarationError


@dataclass(frozen=True, slots=True)
class Seed:
    """A reproducible coupling coordinate; never a cryptographic secret.

    Attributes:
        value: unsigned 64-bit number.
    """

    value: int

    def __post_init__(self) -> None:
        """Refuse a value that does not fit in 64 bits."""
        if not 0 <= self.value < 2**64:
            raise DeclarationError(f"seed {self.value} is outside 0 … 2^64 − 1")

    @property
    def hex(self) -> str:
        """16 hexadecimal digits: the form in which a seed travels through JSON, which has no 64-bit integers."""
        return f"{self.value:016x}"

    def split(self, label: str) -> Seed:
        """Return an independent seed for `label`; equal labels give equal seeds.

        >>> Seed(7).split("a") == Seed(7).split("a") != Seed(7).split("b")
        True
        """
        return seed_of("opfield/seed/split/v1", self.hex, label)

    def rng(self) -> random.Random:
        """Return a fresh pseudorandom generator that starts at this seed."""
        return random.Random(self.value)


def seed_of(domain: str, *parts: str) -> Seed:
    """Return the seed that stands for `parts` under `domain`: the first 64 bits of their digest."""
    return Seed(int(digest(domain, *parts).removeprefix("sha256:")[:16], 16))


def read_seed(text: str) -> Seed:
    """Return the seed written as 16 hexadecimal digits.

    Raises:
        DeclarationError: for any other text.
    """
    if len(text) != 16 or any(digit not in "0123456789abcdef" for digit in text):
        raise DeclarationError(f"seed {text!r} is not 16 lowercase hexadecimal digits")
    return Seed(int(text, 16))


def coordinate_seed(root: Seed, case_id: str, repeat: int) -> Seed:
    """Return the seed of (case, repeat): never of the candidate or arm, so that both arms share it (DESIGN §4).

    Args:
        root: seed root of the campaign.
        case_id: case of the coordinate.
        repeat: counted from 0; more repeats change no existing seed.
    """
    return seed_of("opfield/seed/v1", root.hex, case_id, str(repeat))
