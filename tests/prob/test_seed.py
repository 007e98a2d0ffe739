"""Seeds: pinned values, independence of labels and coordinates, and nothing of the arm in them."""

from __future__ import annotations

import hashlib
import inspect
import itertools
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from opfield.errors import DeclarationError, IdentityError
from opfield.prob import Seed, coordinate_seed, read_seed, seed_of

SEEDS = st.integers(0, 2**64 - 1).map(Seed)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
REPEATS = st.integers(0, 10_000)


@pytest.mark.parametrize(
    ("root", "case_id", "repeat", "expected"),
    [
        (0, "a", 0, "4364aa1720c06270"),
        (0, "a", 1, "67cf91f9e96a43ab"),
        (2**64 - 1, "größe/1", 12, "e591591e04ef86da"),
    ],
)
def test_coordinate_seeds_are_pinned(root: int, case_id: str, repeat: int, expected: str) -> None:
    assert coordinate_seed(Seed(root), case_id, repeat).hex == expected


def test_split_seeds_are_pinned() -> None:
    assert Seed(7).split("noise").hex == "247513d01f276a65"
    assert [Seed(7).split("noise").rng().randrange(1000) for _ in range(2)] == [258] * 2


@given(SEEDS, TEXTS, REPEATS)
def test_a_coordinate_seed_is_the_first_64_bits_of_the_documented_digest(root: Seed, case_id: str, repeat: int) -> None:
    written = b"opfield/seed/v1\0"
    for part in (f"{root.value:016x}".encode(), case_id.encode(), str(repeat).encode()):
        written += len(part).to_bytes(8, "big") + part
    found = coordinate_seed(root, case_id, repeat)
    assert found.value == int.from_bytes(hashlib.sha256(written).digest()[:8], "big")


@given(st.tuples(SEEDS, TEXTS, REPEATS), st.tuples(SEEDS, TEXTS, REPEATS))
def test_other_coordinates_have_other_seeds(left: tuple[Seed, str, int], right: tuple[Seed, str, int]) -> None:
    assume(left != right)
    assert coordinate_seed(*left) != coordinate_seed(*right)


def test_a_coordinate_seed_knows_neither_candidate_nor_arm() -> None:
    assert list(inspect.signature(coordinate_seed).parameters) == ["root", "case_id", "repeat"]


@given(SEEDS, st.lists(TEXTS, max_size=4, unique=True), st.integers(1, 5), st.integers(0, 5))
def test_more_repeats_change_no_existing_seed(root: Seed, case_ids: list[str], repeats: int, more: int) -> None:
    def grid(count: int) -> dict[tuple[str, int], Seed]:
        return {(case, repeat): coordinate_seed(root, case, repeat) for case in case_ids for repeat in range(count)}

    assert grid(repeats).items() <= grid(repeats + more).items()


@given(SEEDS, TEXTS, TEXTS)
def test_splits_depend_on_seed_and_label_only(seed: Seed, left: str, right: str) -> None:
    assert seed.split(left) == Seed(seed.value).split(left)
    assert (seed.split(left) == seed.split(right)) == (left == right)
    assert seed.split(left) != seed
    assert seed.split(left).split(right) != seed.split(left + right)


@given(SEEDS, TEXTS, TEXTS)
def test_what_one_split_draws_does_not_move_another(seed: Seed, left: str, right: str) -> None:
    expected = seed.split(right).rng().random()
    seed.split(left).rng().random()
    assert seed.split(right).rng().random() == expected


def test_splits_of_one_seed_look_independent() -> None:
    draws = [Seed(1).split(str(label)).rng().random() for label in range(4000)]
    assert abs(sum(draws) / 4000 - 0.5) < 0.02
    products = [left * right for left, right in itertools.pairwise(draws)]
    assert abs(sum(products) / len(products) - 0.25) < 0.02


@given(SEEDS)
def test_a_seed_survives_its_hexadecimal_form(seed: Seed) -> None:
    assert len(seed.hex) == 16
    assert read_seed(seed.hex) == seed


@pytest.mark.parametrize("value", [-1, 2**64, 10**400, 1.0, True, "1", None])
def test_a_seed_is_an_unsigned_64_bit_number(value: Any) -> None:
    with pytest.raises(DeclarationError, match="seed"):
        Seed(value)


@pytest.mark.parametrize("text", ["", "0" * 15, "0" * 17, "0" * 15 + "G", "A" * 16, "0" * 16 + "\n", "٠" * 16, 7, None])
def test_reading_a_seed_is_strict(text: Any) -> None:
    with pytest.raises(DeclarationError, match="16 lowercase hexadecimal digits"):
        read_seed(text)


def test_domains_separate_seeds_and_text_must_be_unicode() -> None:
    assert seed_of("a/v1", "x") != seed_of("b/v1", "x")
    with pytest.raises(IdentityError, match="lone surrogate"):
        coordinate_seed(Seed(0), "\ud800", 0)
