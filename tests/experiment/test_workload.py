"""Workloads: ids are exact, order is of no account, and everything else counts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.errors import DeclarationError
from opfield.experiment import Case, Workload, cases_of, workload_digest

LABELS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
INPUTS = st.none() | st.integers(-9, 9) | st.floats(-1, 1) | LABELS | st.dictionaries(LABELS, st.integers(0, 9))
CASES = st.builds(
    Case,
    LABELS,
    INPUTS,
    st.dictionaries(LABELS, LABELS, max_size=2),
    st.none() | LABELS,
    st.sampled_from([None, "train", "selection", "final"]),
)
WORKLOADS = st.lists(CASES, min_size=1, max_size=5, unique_by=lambda case: case.id)


def digest_of(cases: list[Case], name: str = "w") -> str:
    return workload_digest(Workload(name, tuple(cases)).as_json())


@given(WORKLOADS, st.randoms())
def test_the_order_of_cases_is_no_part_of_the_identity(cases: list[Case], random: Any) -> None:
    shuffled = list(cases)
    random.shuffle(shuffled)
    assert digest_of(shuffled) == digest_of(cases)
    assert [case["case_id"] for case in Workload("w", tuple(shuffled)).as_json()["cases"]] == [
        case.id for case in shuffled
    ]


@given(WORKLOADS)
def test_the_identity_survives_json(cases: list[Case]) -> None:
    artifact = Workload("w", tuple(cases)).as_json()
    assert workload_digest(json.loads(json.dumps(artifact))) == workload_digest(artifact)


@given(WORKLOADS, st.data())
def test_everything_else_is_part_of_the_identity(cases: list[Case], data: Any) -> None:
    before = digest_of(cases)
    at = data.draw(st.integers(0, len(cases) - 1))
    case = cases[at]
    others = [each for each in cases if each is not case]
    changed = [
        replace(case, id="\n" + "".join(each.id for each in cases)),
        replace(case, input=[case.input]),
        replace(case, groups={**case.groups, "a group of its own": "x"}),
        replace(case, cluster=f"{case.cluster}'"),
        replace(case, partition="train" if case.partition != "train" else None),
        replace(case, schema="another/v1"),
    ]
    digests = [digest_of([*others, each]) for each in changed]
    digests += [digest_of(cases, "another name"), digest_of([*cases, changed[0]])]
    if others:
        digests.append(digest_of(others))
    assert before not in digests
    assert len(set(digests)) == len(digests)


def test_equal_inputs_mean_the_same() -> None:
    assert digest_of([Case("a", {"x": 1.0, "y": 2})]) == digest_of([Case("a", {"y": 2, "x": 1})])
    assert Case("a", 5).as_json()["case_digest"] == Case("b", 5).as_json()["case_digest"]
    assert Case("a", {"y": 2, "x": 1.0}).as_json()["input"] == '{"x":1,"y":2}'


@pytest.mark.parametrize("case_id", ["/", "..", "../../etc/passwd", "a:b", "a\nb", " ", "\U0001f600", "é", "e" * 1024])
def test_awkward_ids_are_kept_exactly(case_id: str) -> None:
    assert Workload("w", (Case(case_id),)).as_json()["cases"][0]["case_id"] == case_id


def test_composed_and_decomposed_text_are_two_ids() -> None:
    assert len(Workload("w", (Case("\u00e9"), Case("e\u0301"))).cases) == 2


@pytest.mark.parametrize(
    ("case_id", "reason"),
    [
        (1, "case id 1 is of type int, not text; 1 and '1' would be mixed up, so write '1'"),
        (None, "of type NoneType"),
        ("", "a case id is empty"),
        ("x" * 10_240, "10240 bytes long, at most 1024"),
        ("a\0b", "NUL"),
        ("\ud83d", "lone surrogate"),
    ],
)
def test_what_is_no_id_is_refused(case_id: Any, reason: str) -> None:
    with pytest.raises(DeclarationError, match=reason):
        Case(case_id)
    with pytest.raises(DeclarationError, match=reason):
        cases_of({"1": 0, case_id: 1})


def test_a_repeated_id_is_refused_with_both_positions() -> None:
    with pytest.raises(DeclarationError, match="'b' stands twice in workload 'w', at positions 1 and 3"):
        Workload("w", (Case("a"), Case("b"), Case("c"), Case("b", 5)))


@pytest.mark.parametrize("cases", [(), [], {}])
def test_an_empty_workload_is_refused(cases: Any) -> None:
    with pytest.raises(DeclarationError, match="workload 'w' has no cases"):
        Workload("w", cases)


@pytest.mark.parametrize(
    ("cases", "kind"),
    [(["a"], "str"), ("abc", "str"), (5, "int"), (None, "NoneType"), ([Case("a"), {"id": "b"}], "dict")],
)
def test_what_is_no_case_is_refused(cases: Any, kind: str) -> None:
    with pytest.raises(DeclarationError, match=f"a list of Case values, not a {kind}"):
        cases_of(cases)
    with pytest.raises(DeclarationError, match=f"a list of Case values, not a {kind}"):
        Workload("w", cases)


def test_one_case_alone_is_no_collection() -> None:
    with pytest.raises(DeclarationError, match="not a Case"):
        Workload("w", Case("a"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"groups": {"role": 1}}, "value of group 'role' 1 is of type int"),
        ({"groups": {1: "a"}}, "group 1 is of type int"),
        ({"groups": {"role": None}}, "value of group 'role' None"),
        ({"groups": {"role": ""}}, "value of group 'role' is empty"),
        ({"groups": {"": "a"}}, "group is empty"),
        ({"groups": {"role": "\ud800"}}, "lone surrogate"),
        ({"groups": "admin"}, "groups are a mapping such as"),
        ({"groups": None}, "groups are a mapping such as"),
        ({"groups": [("role", "admin")]}, "groups are a mapping such as"),
        ({"cluster": 7}, "cluster 7 is of type int"),
        ({"cluster": ""}, "cluster is empty"),
        ({"partition": "test"}, "partition 'test' is none of train, selection, final"),
        ({"partition": ["train"]}, "is none of train, selection, final"),
        ({"schema": ""}, "schema is empty"),
    ],
)
def test_bad_members_are_refused_naming_the_case(members: dict[str, Any], reason: str) -> None:
    with pytest.raises(DeclarationError, match="case 'a'.*" + reason):
        Case("a", **members)


def test_an_input_that_cannot_be_kept_names_the_case() -> None:
    for value in (float("nan"), {1: 2}, {1, 2}, "\ud800"):
        with pytest.raises(DeclarationError, match="case 'a': its input cannot be kept"):
            Workload("w", (Case("a", value),)).as_json()


def test_a_later_change_of_the_groups_does_not_reach_the_case() -> None:
    groups = {"role": "admin"}
    case = Case("a", groups=groups)
    groups["role"] = "guest"
    assert case.groups == {"role": "admin"}


@pytest.mark.parametrize("name", ["", 5, "\ud800", "a\0"])
def test_a_workload_has_a_name(name: Any) -> None:
    with pytest.raises(DeclarationError, match="workload name"):
        Workload(name, (Case("a"),))
