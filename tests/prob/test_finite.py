"""Finite distributions: monad laws as equalities, kernels, and couplings with the marginals of their arms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.errors import DeclarationError
from opfield.prob import (
    Distribution,
    beside,
    bind,
    check_coupling,
    common_coupling,
    deterministic,
    distribution,
    mapped,
    product,
    pure,
    then,
)

masses = st.dictionaries(st.integers(0, 5), st.floats(1e-6, 1e6), min_size=1, max_size=4)
distributions = masses.map(distribution)
Kernel = Callable[[object], Distribution[int]]


@st.composite
def kernels(draw: st.DrawFn) -> Kernel:
    """Draw a kernel from anything: a distribution for each of a few inputs."""
    table = draw(st.lists(distributions, min_size=3, max_size=3))
    return lambda given: table[hash(given) % 3]


@given(distributions, kernels(), kernels())
def test_bind_obeys_the_laws_of_a_monad_exactly(first: Distribution[int], k: Kernel, m: Kernel) -> None:
    assert bind(pure(3), k) == k(3)
    assert bind(first, pure) == first
    assert bind(bind(first, k), m) == bind(first, lambda x: bind(k(x), m))
    assert bind(bind(first, k), m) == bind(first, then(k, m))


@given(distributions, distributions)
def test_a_product_has_its_factors_as_marginals_and_independent_events(
    left: Distribution[int], right: Distribution[int]
) -> None:
    joint = product(left, right)
    check_coupling(joint, left, right)
    both = joint.probability(lambda pair: pair[0] > 2 and pair[1] > 1)
    assert both == left.probability(lambda x: x > 2) * right.probability(lambda x: x > 1)


@given(kernels(), kernels(), kernels(), kernels())
def test_one_after_the_other_side_by_side_is_side_by_side_one_after_the_other(
    k: Kernel, m: Kernel, a: Kernel, b: Kernel
) -> None:
    given_pair = (1, 2)
    assert then(beside(k, a), beside(m, b))(given_pair) == beside(then(k, m), then(a, b))(given_pair)


@given(distributions)
def test_common_noise_keeps_both_arms_and_takes_variance_from_their_difference(noise: Distribution[int]) -> None:
    before, after = (lambda x: x * 2), (lambda x: x * 2 + (x > 2))
    joint = common_coupling(noise, before, after)
    left, right = mapped(noise, before), mapped(noise, after)
    check_coupling(joint, left, right)
    independent = product(left, right)
    assert joint.mean(lambda pair: pair[1] - pair[0]) == independent.mean(lambda pair: pair[1] - pair[0])

    def variance(of: Distribution[tuple[int, int]]) -> Fraction:
        mean = of.mean(lambda pair: pair[1] - pair[0])
        return of.mean(lambda pair: (pair[1] - pair[0] - mean) ** 2)

    assert variance(joint) <= variance(independent)


def test_a_joint_distribution_with_another_marginal_is_no_coupling() -> None:
    fair, biased = distribution({0: 1, 1: 1}), distribution({0: 1, 1: 3})
    with pytest.raises(DeclarationError, match="no coupling: on the right the joint distribution gives 0 1/2"):
        check_coupling(product(fair, fair), fair, biased)


def test_frequencies_of_draws_approach_the_probabilities_of_a_kernel() -> None:
    chance = Random(7)
    dice = distribution(dict.fromkeys(range(6), 1))
    total = bind(dice, lambda one: mapped(dice, lambda other: one + other))
    draws = [chance.randrange(6) + chance.randrange(6) for _ in range(20_000)]
    for outcome, weight in total.weights.items():
        assert abs(draws.count(outcome) / len(draws) - weight) < 0.01


@pytest.mark.parametrize("bad", [{}, {"a": 0}, {"a": -1, "b": 3}, {"a": float("nan")}, {"a": float("inf")}, {"a": "x"}])
def test_masses_that_are_none_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(DeclarationError, match=r"mass"):
        distribution(bad)
    with pytest.raises(DeclarationError, match="add up to 1"):
        Distribution({"a": Fraction(1, 2)})


@pytest.mark.parametrize("weight", [1.0, "1"])
def test_weights_that_are_not_exact_are_refused(weight: Any) -> None:
    with pytest.raises(DeclarationError, match="probabilities are fractions, so that they add up exactly"):
        Distribution({"a": weight})


def test_a_function_is_a_kernel_that_is_certain() -> None:
    assert deterministic(str.upper)("a") == pure("A")
