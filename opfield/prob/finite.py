"""Finite distributions with exact weights, kernels between them, and couplings (§11, §12).

Weights are fractions, so that the laws of the monad hold as equalities and not up to rounding. A trial is a kernel, and
a paired trial a coupling of two: its marginals are those of the arms, whatever they share.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Generic, TypeAlias, TypeVar

from opfield.errors import DeclarationError

Outcome = TypeVar("Outcome", bound=Hashable)
Other = TypeVar("Other", bound=Hashable)
Left = TypeVar("Left", bound=Hashable)
Right = TypeVar("Right", bound=Hashable)
Given = TypeVar("Given")
Also = TypeVar("Also")


@dataclass(frozen=True)
class Distribution(Generic[Outcome]):
    """Outcomes with their probabilities, which add up to 1; outcomes without any are left out.

    Attributes:
        weights: probability by outcome.
    """

    weights: Mapping[Outcome, Fraction]

    def __post_init__(self) -> None:
        """Close the mapping.

        Raises:
            DeclarationError: where the weights are none, or do not add up to 1.
        """
        if not all(isinstance(weight, Fraction | int) for weight in self.weights.values()):
            raise DeclarationError("probabilities are fractions, so that they add up exactly; see `distribution`")
        kept = {outcome: weight for outcome, weight in self.weights.items() if weight}
        if any(weight < 0 for weight in kept.values()) or sum(kept.values()) != 1:
            raise DeclarationError("probabilities are fractions of at least 0 that add up to 1; see `distribution`")
        object.__setattr__(self, "weights", MappingProxyType(kept))

    def probability(self, event: Callable[[Outcome], bool]) -> Fraction:
        """Return the probability that an outcome is in an event."""
        return sum((weight for outcome, weight in self.weights.items() if event(outcome)), Fraction(0))

    def mean(self, value: Callable[[Outcome], Fraction | float | int]) -> Fraction:
        """Return the expected value of a number that depends on the outcome, floats taken exactly."""
        return sum((weight * Fraction(value(outcome)) for outcome, weight in self.weights.items()), Fraction(0))


#: What a stochastic system does: a distribution of outcomes for each input.
Kernel: TypeAlias = Callable[[Given], Distribution[Outcome]]


def distribution(masses: Mapping[Outcome, Fraction | float | int]) -> Distribution[Outcome]:
    """Return the distribution that is proportional to masses, floats taken exactly.

    Raises:
        DeclarationError: where a mass is negative or not finite, or all are 0.

    >>> distribution({"heads": 1, "tails": 3}).weights["heads"]
    Fraction(1, 4)
    """
    try:
        exact = {outcome: Fraction(mass) for outcome, mass in masses.items()}
    except (ValueError, OverflowError, TypeError) as error:
        raise DeclarationError(f"a mass is no finite number: {error}") from None
    total = sum(exact.values())
    if any(mass < 0 for mass in exact.values()) or not total:
        raise DeclarationError("masses are numbers of at least 0, of which at least one is greater")
    return Distribution({outcome: mass / total for outcome, mass in exact.items()})


def pure(outcome: Outcome) -> Distribution[Outcome]:
    """Return the distribution that is certain of one outcome."""
    return Distribution({outcome: Fraction(1)})


def bind(first: Distribution[Outcome], kernel: Kernel[Outcome, Other]) -> Distribution[Other]:
    """Return the distribution of what a kernel makes of an outcome of the first."""
    weights: dict[Other, Fraction] = {}
    for outcome, weight in first.weights.items():
        for other, share in kernel(outcome).weights.items():
            weights[other] = weights.get(other, Fraction(0)) + weight * share
    return Distribution(weights)


def mapped(first: Distribution[Outcome], function: Callable[[Outcome], Other]) -> Distribution[Other]:
    """Return the distribution of a function of the outcome."""
    return bind(first, deterministic(function))


def product(left: Distribution[Left], right: Distribution[Right]) -> Distribution[tuple[Left, Right]]:
    """Return the joint distribution of independent outcomes."""
    return bind(left, lambda one: mapped(right, lambda other: (one, other)))


def deterministic(function: Callable[[Given], Outcome]) -> Kernel[Given, Outcome]:
    """Return a function as a kernel (§11.3)."""
    return lambda given: pure(function(given))


def then(first: Kernel[Given, Outcome], second: Kernel[Outcome, Other]) -> Kernel[Given, Other]:
    """Return the kernel of one after the other (§11.2)."""
    return lambda given: bind(first(given), second)


def beside(left: Kernel[Given, Left], right: Kernel[Also, Right]) -> Kernel[tuple[Given, Also], tuple[Left, Right]]:
    """Return the kernel of two side by side, independent of each other."""
    return lambda given: product(left(given[0]), right(given[1]))


def common_coupling(
    noise: Distribution[Outcome], left: Callable[[Outcome], Left], right: Callable[[Outcome], Right]
) -> Distribution[tuple[Left, Right]]:
    """Return the coupling by common noise: both arms read the same draw, as a pair shares a seed (§12.2)."""
    return mapped(noise, lambda drawn: (left(drawn), right(drawn)))


def check_coupling(
    joint: Distribution[tuple[Left, Right]], left: Distribution[Left], right: Distribution[Right]
) -> None:
    """Refuse a joint distribution that is no coupling of two: whose marginals are not they (§12.1).

    Raises:
        DeclarationError: naming the arm and an outcome whose probability is another.
    """
    _check_marginal("left", mapped(joint, lambda pair: pair[0]), left)
    _check_marginal("right", mapped(joint, lambda pair: pair[1]), right)


def _check_marginal(arm: str, found: Distribution[Outcome], wanted: Distribution[Outcome]) -> None:
    for outcome in {**found.weights, **wanted.weights}:
        told, true = found.weights.get(outcome, Fraction(0)), wanted.weights.get(outcome, Fraction(0))
        if told != true:
            raise DeclarationError(
                f"no coupling: on the {arm} the joint distribution gives {outcome!r} {told}, the arm itself {true}"
            )
