from __future__ import annotations

from typing import Any

import pytest

from tests.sql.build import Campaign, Metric
from tests.sql.conftest import Read, Write

ROLES = {"a": {"role": "user"}, "b": {"role": "admin", "lang": "de"}, "c": {"role": "user", "lang": "en"}}


def scopes(write: Write, read: Read, cases: Any, *options: Any) -> Any:
    """Return the scopes of a policy with one gate for each of these options."""
    gates = [{"kind": "coverage", "name": f"g{ix}", "options": each} for ix, each in enumerate(options)]
    write(Campaign(cases=cases, metrics=[Metric("m")], gates=gates))
    return [tuple(row.values()) for row in read("select gate_ix, scope from judged_scopes order by gate_ix, scope")]


def test_a_gate_that_is_not_restricted_judges_over_all_cases(write: Write, read: Read) -> None:
    assert scopes(write, read, ROLES, {}, {"within": None}) == [(0, ""), (1, "")]


def test_keys_and_values_give_one_scope_as_canonical_json(write: Write, read: Read) -> None:
    found = scopes(write, read, ROLES, {"within": {"role": "admin", "lang": "de"}})
    assert found == [(0, '{"lang":"de","role":"admin"}')]


def test_a_key_gives_a_scope_for_each_value_that_cases_have(write: Write, read: Read) -> None:
    assert scopes(write, read, ROLES, {"within": "role"}) == [(0, '{"role":"admin"}'), (0, '{"role":"user"}')]


def test_cases_without_the_key_give_a_scope_of_their_own(write: Write, read: Read) -> None:
    found = scopes(write, read, ROLES, {"within": "lang"})
    assert found == [(0, '{"lang":"de"}'), (0, '{"lang":"en"}'), (0, '{"lang":null}')]


def test_a_key_that_no_case_has_gives_only_the_scope_without_cases(write: Write, read: Read) -> None:
    assert scopes(write, read, ROLES, {"within": "age"}) == [(0, '{"age":null}')]


def test_each_gate_has_scopes_of_its_own(write: Write, read: Read) -> None:
    found = scopes(write, read, ROLES, {"within": {"role": "user"}}, {}, {"within": "role"})
    assert found == [(0, '{"role":"user"}'), (1, ""), (2, '{"role":"admin"}'), (2, '{"role":"user"}')]


@pytest.mark.parametrize(
    ("key", "value", "scope"),
    [
        ('say "when"', "x", r'{"say \"when\"":"x"}'),
        ("k", 'a "b", c', r'{"k":"a \"b\", c"}'),
        ("k", "it's", '{"k":"it\'s"}'),
        ("k", "back\\slash", r'{"k":"back\\slash"}'),
        ("ключ", "日本 ü", '{"ключ":"日本 ü"}'),
        ("a.b[0]", "$", '{"a.b[0]":"$"}'),
    ],
)
def test_a_group_is_one_scope_whether_its_key_or_its_value_is_named(
    write: Write, read: Read, key: Any, value: Any, scope: Any
) -> None:
    found = scopes(write, read, {"a": {key: value}}, {"within": key}, {"within": {key: value}})
    assert found == [(0, scope), (1, scope)]
