from __future__ import annotations

from typing import Any

import pytest

from tests.sql.build import Campaign, Metric
from tests.sql.conftest import Read, Write

ROLES = {"a": {"role": "user"}, "b": {"role": "admin", "lang": "de"}, "c": {"role": "user", "lang": "de"}, "d": {}}


def policy(*withins: Any) -> Any:
    return [{"kind": "coverage", "name": f"g{ix}", "options": {"within": each}} for ix, each in enumerate(withins)]


def members(write: Write, read: Read, *withins: Any, cases: Any = ROLES) -> dict[str, str]:
    """Return the ids of the cases in each scope, all cases left out."""
    write(Campaign(cases=cases, metrics=[Metric("m")], gates=policy(*withins)))
    found: dict[str, str] = {}
    for row in read("select scope, case_id from scope_cases where scope <> '' order by scope, case_id"):
        found[row["scope"]] = found.get(row["scope"], "") + row["case_id"]
    return found


def test_all_cases_are_a_scope_whatever_the_gates(write: Write, read: Read) -> None:
    write(Campaign(cases=ROLES, metrics=[Metric("m")]))
    assert [tuple(row.values()) for row in read("select scope, case_id from scope_cases order by case_id")] == [
        ("", "a"), ("", "b"), ("", "c"), ("", "d"),
    ]  # fmt: skip


def test_a_case_belongs_where_it_has_every_value_named(write: Write, read: Read) -> None:
    assert members(write, read, {"role": "user"}, {"role": "user", "lang": "de"}, {"role": "admin", "lang": "en"}) == {
        '{"role":"user"}': "ac",
        '{"lang":"de","role":"user"}': "c",
    }


def test_cases_without_the_key_belong_to_none_of_its_scopes(write: Write, read: Read) -> None:
    assert members(write, read, "role") == {'{"role":"admin"}': "b", '{"role":"user"}': "ac"}


def test_a_group_called_null_is_not_the_lack_of_one(write: Write, read: Read) -> None:
    assert members(write, read, "k", cases={"a": {"k": "null"}, "b": {}}) == {'{"k":"null"}': "a"}


def test_a_scope_of_two_gates_is_listed_once(write: Write, read: Read) -> None:
    assert members(write, read, "role", {"role": "admin"}) == {'{"role":"admin"}': "b", '{"role":"user"}': "ac"}


@pytest.mark.parametrize("text", ['a "b", c', "it's", "back\\slash", "日本 ü", "{}", "a.b[0]", "1"])
def test_any_text_names_a_group(write: Write, read: Read, text: Any) -> None:
    cases = {"a": {text: text}, "b": {text: "other"}, "c": {"other": text}}
    assert list(members(write, read, {text: text}, cases=cases).values()) == ["a"]


def test_what_names_no_group_holds_no_case_and_no_gate_passes_there(write: Write, read: Read) -> None:
    odd: list[Any] = [{}, 5, True, ["role"], {"role": None}, {"role": {"of": "user"}}]
    assert members(write, read, *odd) == {}
    found = read("select status, message from gate_results")
    assert len(found) == len(odd)
    assert {row["status"] for row in found} == {"indeterminate"}
    assert all(row["message"].endswith("no case of the workload belongs to this scope") for row in found)


def test_the_unit_is_the_declared_cluster_else_the_case(write: Write, read: Read) -> None:
    cases = {name: {"role": "user"} for name in "abc"}
    # a case that bears the name of a cluster is still a unit of its own
    write(Campaign(cases=cases, metrics=[Metric("m")], gates=policy("role"), clusters={"a": "c", "b": "c"}))
    for scope in ("", '{"role":"user"}'):
        query = f"select case_id, cluster, is_clustered from scope_cases where scope = '{scope}' order by case_id"
        assert [tuple(row.values()) for row in read(query)] == [
            ("a", "cluster c", True),
            ("b", "cluster c", True),
            ("c", "case c", False),
        ]


def test_a_scope_is_of_the_campaign_that_declares_it(write: Write, read: Read) -> None:
    write(Campaign(cases={"a": {"k": "x"}}, metrics=[Metric("m")], gates=policy("k"), name="restricted"))
    write(Campaign(cases={"b": {"k": "x"}}, metrics=[Metric("m")], name="whole"))
    assert [tuple(row.values()) for row in read("select scope, case_id from scope_cases order by all")] == [
        ("", "a"),
        ("", "b"),
        ('{"k":"x"}', "a"),
    ]
