"""Seeds: deterministic, domain-separated and splittable; both arms of a pair share theirs (§12.2)."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from opfield.core.digest import digest, digest_hex
from opfield.errors import DeclarationError

_HEX: Final = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Seed:
    """A reproducible coupling coordinate; never a cryptographic secret.

    Attributes:
        value: unsigned 64-bit number.
    """

    value: int

    def __post_init__(self) -> None:
        """Refuse a value that is no unsigned 64-bit number.

        Raises:
            DeclarationError: naming the value.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise DeclarationError(f"seed {self.value!r} is no whole number; use one of 0 … 2^64 − 1")
        if not 0 <= self.value < 2**64:
            raise DeclarationError("a seed is a whole number of 0 … 2^64 − 1, the one given lies outside")

    @property
    def hex(self) -> str:
        """16 hexadecimal digits: the form of a seed in JSON, which has no 64-bit integers."""
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
    """Return the seed that stands for `parts` under `domain`: the first 64 bits of their digest.

    Raises:
        IdentityError: for text that has no digest.
    """
    return Seed(int(digest_hex(digest(domain, *parts))[:16], 16))


def read_seed(text: str) -> Seed:
    """Return the seed written as 16 hexadecimal digits.

    Raises:
        DeclarationError: for anything else.

    >>> read_seed("00000000000000ff").value
    255
    """
    if not isinstance(text, str) or not _HEX.fullmatch(text):
        raise DeclarationError(f"seed {text!r} is not 16 lowercase hexadecimal digits")
    return Seed(int(text, 16))


# Every arm of a pair asks for the same seed, one after the other.
@lru_cache(maxsize=4096)
def coordinate_seed(root: Seed, case_id: str, repeat: int) -> Seed:
    """Return the seed of (case, repeat), never of the candidate or arm: both arms share it (DESIGN §4).

    Args:
        root: seed root of the campaign.
        case_id: case of the coordinate.
        repeat: counted from 0; more repeats change no existing seed.

    Raises:
        IdentityError: for a case id that is not Unicode.
    """
    return seed_of("opfield/seed/v1", root.hex, case_id, str(repeat))
