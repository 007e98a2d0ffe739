"""Gates that infer a mean: what the ledger keeps of them, and which arguments no gate could judge by."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.core import canonical_json, parse_json
from opfield.decision import (
    Gate,
    Policy,
    binary_noninferiority,
    binary_superiority,
    equivalence,
    family,
    harm,
    noninferiority,
    reliability,
    resource_ratio,
    sequential,
    superiority,
)
from opfield.errors import DeclarationError

Make = Callable[..., Gate]

MAKERS: dict[str, Make] = {
    "superiority": lambda **more: superiority("m", **more),
    "noninferiority": lambda **more: noninferiority("m", 0.1, **more),
    "binary_superiority": lambda **more: binary_superiority("m", **more),
    "binary_noninferiority": lambda **more: binary_noninferiority("m", 0.1, **more),
    "equivalence": lambda **more: equivalence("m", 0.1, **more),
    "harm": lambda **more: harm("m", **more),
    "family": lambda **more: family("m", **more),
    "reliability": lambda **more: reliability("m", 0.5, 2, **more),
    "resource_ratio": lambda **more: resource_ratio("cost_usd", 1.1, **more),
    "sequential": lambda **more: sequential("m", looks=(10, 20), **more),
}
WITH_MIN_CASES = sorted(set(MAKERS) - {"binary_superiority", "binary_noninferiority", "harm"})
WITH_METHOD = ("superiority", "noninferiority", "equivalence", "harm", "reliability", "sequential")

every_kind = pytest.mark.parametrize("kind", MAKERS)


@every_kind
def test_a_gate_is_of_its_kind_and_asks_for_one_error_in_forty(kind: str) -> None:
    made = MAKERS[kind]()
    assert made.kind == kind
    assert made.options["alpha"] == 0.025
    assert "within" not in made.options
    assert made.name == ("resource_ratio(cost_usd)" if kind == "resource_ratio" else f"{kind}(m)")


@every_kind
@given(alpha=st.floats(0, 0.5, exclude_min=True, exclude_max=True))
def test_every_rate_can_be_kept(kind: str, alpha: float) -> None:
    kept = Policy((MAKERS[kind](alpha=alpha),)).as_json("")
    assert parse_json(canonical_json(kept)) == kept
    assert kept["gates"][0]["options"]["alpha"] == alpha


@every_kind
@pytest.mark.parametrize("alpha", [0, 0.5, 1, -0.1, 2.5, math.nan, math.inf, "0.1", None, True])
def test_an_error_rate_lies_between_0_and_a_half(kind: str, alpha: Any) -> None:
    with pytest.raises(DeclarationError, match=r"alpha is .*(not above 0 and below 0.5|not a (finite )?number)"):
        MAKERS[kind](alpha=alpha)


@pytest.mark.parametrize("kind", WITH_MIN_CASES)
@pytest.mark.parametrize("wrong", [1, 0, -3, 2.5, True, "20", math.nan])
def test_the_fewest_cases_are_a_whole_number_of_at_least_2(kind: str, wrong: Any) -> None:
    with pytest.raises(DeclarationError, match=r"min_cases .* is not a whole number of at least 2"):
        MAKERS[kind](min_cases=wrong)
    assert MAKERS[kind](min_cases=2).options["min_cases"] == 2


@pytest.mark.parametrize("kind", WITH_METHOD)
def test_a_method_is_by_kind_or_bounded(kind: str) -> None:
    assert MAKERS[kind](method="bounded").options["method"] == "bounded"
    with pytest.raises(DeclarationError, match="method 'holm' is neither by_kind nor bounded"):
        MAKERS[kind](method="holm")


def test_a_family_has_methods_of_its_own() -> None:
    assert [family("m", method=each).options["method"] for each in ("holm", "max_t", "bounded")] == [
        "holm", "max_t", "bounded",
    ]  # fmt: skip
    with pytest.raises(DeclarationError, match="method 'by_kind' is none of holm, max_t, bounded"):
        MAKERS["family"](method="by_kind")


@pytest.mark.parametrize("kind", sorted(set(MAKERS) - {"sequential"}))
@pytest.mark.parametrize("within", ["role", {"role": "admin"}, {"role": "admin", "lang": "de"}])
def test_a_gate_can_be_restricted(kind: str, within: Any) -> None:
    assert MAKERS[kind](within=within).options["within"] == within


@pytest.mark.parametrize("kind", sorted(set(MAKERS) - {"sequential"}))
@pytest.mark.parametrize("within", ["", {}, {"role": 1}, {"": "admin"}, {"role": ""}, 5, ["role"], {"role": None}])
def test_a_scope_is_a_key_or_a_group(kind: str, within: Any) -> None:
    with pytest.raises(DeclarationError, match=r"is neither a group key .* nor a group"):
        MAKERS[kind](within=within)


@pytest.mark.parametrize("make", [noninferiority, binary_noninferiority, equivalence])
@pytest.mark.parametrize("margin", [0, -0.1, -1e300])
def test_a_margin_is_above_0(make: Make, margin: float) -> None:
    with pytest.raises(DeclarationError, match=r"margin is .*, not above 0"):
        make("m", margin)


@pytest.mark.parametrize("make", [superiority, binary_superiority, harm, sequential])
def test_a_tolerated_loss_is_the_business_of_noninferiority(make: Make) -> None:
    more = {"looks": (5,)} if make is sequential else {}
    assert make("m", 0, **more).threshold == 0
    with pytest.raises(DeclarationError, match="below 0; a loss that is tolerated is the margin of noninferiority"):
        make("m", -0.01, **more)


def test_a_family_may_be_tested_for_noninferiority() -> None:
    assert family("m", -0.05).threshold == -0.05


@pytest.mark.parametrize("make", [superiority, noninferiority, equivalence, harm, family])
@pytest.mark.parametrize("line", [math.nan, math.inf, "1", None, True])
def test_a_line_is_a_finite_number(make: Make, line: Any) -> None:
    with pytest.raises(DeclarationError, match=r"not a (finite )?number"):
        make("m", line)


@pytest.mark.parametrize("floor", [-0.01, 1.01, 90])
def test_a_reliability_is_a_share(floor: float) -> None:
    with pytest.raises(DeclarationError, match=r"at_least is .*, not between 0 and 1"):
        reliability("m", floor, 2)


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "2", None])
def test_tries_in_a_row_are_counted(k: Any) -> None:
    with pytest.raises(DeclarationError, match=r"k .* is not a whole number of at least 1"):
        reliability("m", 0.5, k)


def test_a_ratio_is_of_a_known_resource_and_above_0() -> None:
    unknown: Any = "money"
    with pytest.raises(DeclarationError, match="of 'money' is none of duration_s, cost_usd, input_tokens"):
        resource_ratio(unknown, 1.1)
    with pytest.raises(DeclarationError, match=r"at_most is 0.0, not above 0"):
        resource_ratio("tokens", 0)
    made = resource_ratio("tokens", 1.1)
    assert (made.metric, made.threshold, made.options["of"]) == (None, 1.1, "tokens")


@pytest.mark.parametrize("looks", [(), (0, 5), (5, 5), (10, 5), (2.5,), (True, 5), ("5",)])
def test_looks_are_rising_numbers_of_cases(looks: Any) -> None:
    with pytest.raises(DeclarationError, match=r"looks .*(not whole numbers|do not rise)"):
        sequential("m", looks=looks)


def test_looks_are_named_unless_bets_hold_at_any_time() -> None:
    with pytest.raises(DeclarationError, match=r"name the looks, such as looks=\(50, 100, 200\)"):
        sequential("m")
    assert "looks" not in sequential("m", spending="e_process").options
    unknown: Any = "pocock"
    with pytest.raises(DeclarationError, match="spending 'pocock' is none of obrien_fleming, even, e_process"):
        sequential("m", looks=(5,), spending=unknown)
