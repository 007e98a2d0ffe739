"""What may be a key: two ids of a file are never taken for one, whichever reader reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opfield.core import check_label
from opfield.errors import DeclarationError
from opfield.ingest.installed import installed_reader_names, load_reader
from opfield.ingest.keys import checked, fault_of
from opfield.ingest.records import OBSERVED, CaseRef, Expected, IngestError, Reading, Record, Refused, Sample, System
from tests.ingest.reading import only

BAD = ("k\ufffd", "k\ud800", "a\0b", "x" * 1025, float("inf"), 1.5, True, None, 1 << 2000, ["a"])


def _sample(**members: Any) -> Sample:
    given: dict[str, Any] = {"system": "s", "case": CaseRef("a"), "place": "f: line 1"}
    return Sample(**given | members)


def _through(*records: Record) -> list[Record]:
    def told(_reading: Reading) -> Iterator[Record]:
        yield from records

    return list(checked(told)(Reading([])))


@pytest.mark.parametrize("name", installed_reader_names())
def test_every_reader_that_is_shipped_has_its_keys_checked(name: str) -> None:
    assert load_reader(name).read.__code__ is checked(lambda _reading: iter(())).__code__


@pytest.mark.parametrize("bad", BAD)
def test_what_can_be_no_key_is_refused_with_its_place_wherever_it_stands(bad: Any) -> None:
    holders: list[Record] = [
        _sample(case=CaseRef(bad)),
        _sample(case=CaseRef("a", bad or "\0")),
        _sample(repeat=bad or "\0"),
        _sample(groups={"g": bad}),
        _sample(groups={bad if isinstance(bad, str) else "\0": "v"}),
        _sample(cluster=bad or "\0"),
        Expected("s", CaseRef(bad), "f: line 1"),
        System("s", bad, "f: line 1", {}),
    ]
    for holder in holders:
        (refused,) = _through(holder)
        assert isinstance(refused, Refused)
        assert refused.place == "f: line 1"
        assert len(refused.reason) < 200


def test_what_can_be_a_key_passes() -> None:
    records = [_sample(case=CaseRef(7, "suite"), repeat=OBSERVED, groups={"ä": "ö"}), _sample(repeat=10**300)]
    assert _through(*records) == records


def test_many_refusals_are_counted_and_the_first_few_told() -> None:
    told = only(Refused, _through(*[_sample(case=CaseRef("\0"))] * 100))
    assert len(told) == 6
    assert told[-1].reason == "100 records in all are refused for their case id"


def test_what_a_reader_cannot_follow_ends_in_an_error_that_names_the_place_before() -> None:
    def told(_reading: Reading) -> Iterator[Record]:
        yield _sample()
        raise RecursionError

    with pytest.raises(IngestError, match="after f: line 1 nests too deep"):
        list(checked(told)(Reading([])))


@given(st.text(st.characters(codec="utf-8", exclude_characters="\ufffd"), max_size=3) | st.just("ä" * 513))
def test_a_text_is_a_key_exactly_where_it_can_be_recorded(text: str) -> None:
    try:
        check_label("case id", text)
    except DeclarationError:
        assert text == "" or fault_of("case id", text) is not None
    else:
        assert fault_of("case id", text) is None
