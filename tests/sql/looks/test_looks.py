"""When gates look, and what error a look may spend: together never more than was declared."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest
from scipy.stats import norm

from tests.sql.build import Campaign, Metric
from tests.sql.conftest import Read, Write
from tests.sql.sequential.looking import gate, spent

ALPHAS = (0.4, 0.05, 0.025, 1e-3, 1e-9)
LOOKS = ([1], [60], [20, 40, 60], [1, 2, 3, 59, 60], [30, 31], list(range(1, 61)))


def written(write: Write, *gates: dict[str, Any], cases: int = 60) -> None:
    named = [{**each, "name": f"g{ix}"} for ix, each in enumerate(gates)]
    write(Campaign(cases={f"w{ix}": {} for ix in range(cases)}, metrics=[Metric("m", 1, 0, 1)], gates=named))


def by_gate(read: Read) -> list[list[tuple[Any, ...]]]:
    """Return look, cases and alpha of each look of each gate."""
    found: list[list[tuple[Any, ...]]] = []
    for row in read("select gate_ix, look, cases, alpha from looks order by gate_ix, look"):
        while len(found) <= row["gate_ix"]:
            found.append([])
        found[-1].append((row["look"], row["cases"], row["alpha"]))
    return found


def test_obrien_fleming_spends_by_its_formula_and_no_more_than_alpha(write: Write, read: Read) -> None:
    asked = list(product(ALPHAS, LOOKS))
    written(write, *(gate(alpha=alpha, looks=looks) for alpha, looks in asked))
    for (alpha, looks), found in zip(asked, by_gate(read), strict=True):
        assert [(look, cases) for look, cases, _ in found] == list(enumerate(looks, 1))
        assert [each for *_, each in found] == pytest.approx(spent(alpha, looks, "obrien_fleming"), rel=1e-9, abs=1e-14)
        assert all(each >= 0 for *_, each in found)
        assert math.fsum(each for *_, each in found) == pytest.approx(alpha, rel=1e-14)
    # One look is no sequential matter: it spends what the other gates would, to the last bit.
    assert [found[0][2] for (_, looks), found in zip(asked, by_gate(read), strict=True) if len(looks) == 1] == [
        alpha for alpha, looks in asked if len(looks) == 1
    ]


def test_the_formula_is_that_of_lan_and_demets_at_a_known_point(write: Write, read: Read) -> None:
    written(write, gate(alpha=0.025, looks=[30, 60]))
    first, last = (alpha for *_, alpha in by_gate(read)[0])
    # At half of the cases: 2 (1 - Phi(2.2414 / sqrt(0.5))), about one sixteenth of alpha.
    assert first == pytest.approx(2 * (1 - norm.cdf(2.241402727604947 / math.sqrt(0.5))), rel=1e-9)
    assert first == pytest.approx(0.001525, abs=5e-7)
    assert last == pytest.approx(0.025 - first, rel=1e-12)


def test_the_share_is_of_the_last_look_and_not_of_the_cases(write: Write, read: Read) -> None:
    written(write, gate(looks=[10, 20]), gate(looks=[30, 60]))
    near, far = ([alpha for *_, alpha in found] for found in by_gate(read))
    assert near == far


def test_even_spends_alike(write: Write, read: Read) -> None:
    asked = list(product(ALPHAS, LOOKS))
    written(write, *(gate(alpha=alpha, looks=looks, spending="even") for alpha, looks in asked))
    for (alpha, looks), found in zip(asked, by_gate(read), strict=True):
        assert [cases for _, cases, _ in found] == looks
        assert {each for *_, each in found} == {alpha / len(looks)}


@pytest.mark.parametrize("cases", [1, 7, 10, 60, 61])
def test_an_e_process_may_stop_at_each_tenth_and_spends_nothing(write: Write, read: Read, cases: int) -> None:
    written(write, gate(spending="e_process"), gate(spending="e_process", looks=[1]), cases=cases)
    tenths = sorted({math.ceil(cases * ix / 10) for ix in range(1, 11)})
    assert by_gate(read) == [[(ix, each, 0.025) for ix, each in enumerate(tenths, 1)], [(1, 1, 0.025)]]


def test_other_gates_look_once_at_everything(write: Write, read: Read) -> None:
    other = [{"kind": kind, "metric": "m", "options": {"alpha": 0.1}} for kind in ("superiority", "harm", "family")]
    written(write, *other, {"kind": "coverage"})
    assert by_gate(read) == [[(0, 60, 0.1)]] * 3


UNUSABLE: list[dict[str, Any]] = [
    {"looks": [40, 20]},
    {"looks": [20, 20]},
    {"looks": [0, 20]},
    {"looks": [61]},
    {"looks": []},
    {"looks": [None]},
    {"looks": [20, 40.5]},
    {"looks": [20.0]},
    {"looks": ["20"]},
    {"looks": [True]},
    {"looks": "20"},
    {"looks": 20},
    {"looks": {"20": 20}},
    {},
    {"looks": [2**70]},
    {"spending": "e_process", "looks": "20"},
    {"spending": "e_process", "looks": []},
    {"spending": "all", "looks": [20]},
    {"alpha": 0.5, "looks": [20]},
    {"alpha": "much", "looks": [20]},
]


def test_a_gate_that_cannot_be_judged_looks_at_nothing_and_says_why(write: Write, read: Read) -> None:
    written(write, *(gate(**options) for options in UNUSABLE))
    assert by_gate(read) == [[(1, None, None)]] * len(UNUSABLE)
    rows = read("select status, message from gate_results order by gate_ix")
    for options, row in zip(UNUSABLE, rows, strict=True):
        assert row["status"] == "indeterminate"
        about = next((name for name in ("alpha", "spending") if options.get(name) in (0.5, "much", "all")), "looks")
        assert row["message"].startswith(f"the gate cannot be judged as declared: {about} "), options
