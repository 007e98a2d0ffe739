"""What trials spend in money and tokens: known, or unknown and never zero for it (DESIGN §6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

from opfield.core.canonical import MAX_INTEGER
from opfield.metric import MAX_MAGNITUDE

_Number = TypeVar("_Number", int, float)


class Spending(NamedTuple):
    """What one attempt spent, or several together.

    Attributes:
        cost_usd: money in US dollars; None where unknown.
        input_tokens: tokens sent to models; None where unknown.
        output_tokens: tokens received from models; None where unknown.
    """

    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


#: What an attempt spent that nobody heard of.
UNKNOWN: Final = Spending()


def together(parts: Iterable[Spending]) -> Spending:
    """Return what several attempts spent together, each member unknown where one attempt does not know it.

    No attempt spends nothing. A sum beyond what the ledger can hold is unknown. The order of the parts changes no bit.

    >>> together([Spending(0.25, 10), Spending(0.5, None, 3)])
    Spending(cost_usd=0.75, input_tokens=None, output_tokens=None)
    """
    listed = list(parts)
    return Spending(
        _total([each.cost_usd for each in listed], math.fsum, MAX_MAGNITUDE),
        _total([each.input_tokens for each in listed], sum, MAX_INTEGER),
        _total([each.output_tokens for each in listed], sum, MAX_INTEGER),
    )


def _total(
    amounts: Sequence[_Number | None], summed: Callable[[Sequence[_Number]], _Number], limit: float
) -> _Number | None:
    known = [amount for amount in amounts if amount is not None]
    total = summed(known)
    return total if len(known) == len(amounts) and total <= limit else None
