"""Probability: seeds that both arms of a pair share, and finite distributions, kernels and couplings."""

from opfield.prob.finite import (
    Distribution,
    Kernel,
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
from opfield.prob.seed import Seed, coordinate_seed, read_seed, seed_of

__all__ = [
    "Distribution",
    "Kernel",
    "Seed",
    "beside",
    "bind",
    "check_coupling",
    "common_coupling",
    "coordinate_seed",
    "deterministic",
    "distribution",
    "mapped",
    "product",
    "pure",
    "read_seed",
    "seed_of",
    "then",
]
