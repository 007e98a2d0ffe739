"""A gate over a part of the cases is refused at declaration where the workload has no such part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.decision import Policy, coverage, gate, sequential, superiority
from opfield.errors import DeclarationError, UnknownNameError

GROUPS = ({"role": "admin", "lang": "de"}, {"role": "user", "lang": "en"}, {"role": "user"})

words = st.text("abc", min_size=1, max_size=2)


def check(within: Any, groups: Any = GROUPS) -> None:
    Policy((coverage(), superiority("m", within=within))).check_scopes(groups)


@pytest.mark.parametrize("within", [None, "role", {"role": "admin"}, {"role": "user", "lang": "en"}, {"lang": "de"}])
def test_a_scope_with_cases_is_accepted(within: Any) -> None:
    check(within)


def test_a_key_that_no_case_has_lists_the_known_ones() -> None:
    for within in ("rol", {"rol": "admin"}):
        with pytest.raises(
            UnknownNameError, match=r"group key of gate .* 'rol'; did you mean 'role'\? known: lang, role"
        ):
            check(within)


def test_a_key_to_group_by_must_be_there_for_every_case() -> None:
    with pytest.raises(DeclarationError, match=r"'lang': 1 of 3 cases have no such group; give it to all"):
        check("lang")


def test_a_group_without_a_case_lists_the_known_values() -> None:
    with pytest.raises(DeclarationError, match=r"no case belongs to it; known values: role \['admin', 'user'\]"):
        check({"role": "guest"})
    with pytest.raises(DeclarationError, match="no case belongs to it"):
        check({"role": "admin", "lang": "en"})


@pytest.mark.parametrize("within", [5, {}, {"role": 1}, ["role"], ""])
def test_a_scope_of_a_gate_of_any_kind_is_a_key_or_a_group(within: Any) -> None:
    with pytest.raises((DeclarationError, UnknownNameError)):
        Policy((gate("superiority", "m", 0.0, within=within),)).check_scopes(GROUPS)


def test_a_look_cannot_be_at_more_cases_than_there_are() -> None:
    Policy((sequential("m", looks=(2, 3)),)).check_scopes(GROUPS)
    with pytest.raises(DeclarationError, match="it looks at 4 cases, but the workload has 3"):
        Policy((sequential("m", looks=(2, 4)),)).check_scopes(GROUPS)


@given(
    st.lists(st.dictionaries(words, words, max_size=3), min_size=1, max_size=5),
    st.one_of(words, st.dictionaries(words, words, min_size=1, max_size=2)),
)
def test_what_is_accepted_has_a_case_in_every_scope(groups: list[dict[str, str]], within: str | dict[str, str]) -> None:
    """Against a definition: each case has the key, or some case has all of the values named."""

    def belongs(case: Mapping[str, str]) -> bool:
        return isinstance(within, dict) and within.items() <= case.items()

    is_lawful = all(within in case for case in groups) if isinstance(within, str) else any(map(belongs, groups))
    try:
        check(within, groups)
    except (DeclarationError, UnknownNameError):
        assert not is_lawful
    else:
        assert is_lawful
