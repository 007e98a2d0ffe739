from __future__ import annotations

from urllib.parse import parse_qs

from hypothesis import given
from hypothesis import strategies as st

from opfield.dashboard import Address

texts = st.text(max_size=50)


@given(campaign=texts, candidate=texts, case=texts, q=texts, state=texts, page=st.integers(1, 9999))
def test_an_address_survives_its_own_link(
    campaign: str, candidate: str, case: str, q: str, state: str, page: int
) -> None:
    address = Address(campaign, candidate, case, q, state, page)

    assert Address.of(parse_qs(address.query)) == address
    assert parse_qs(address.to(page=page + 1)[1:]).get("page") == [str(page + 1)]


@given(page=st.text(max_size=20))
def test_a_page_that_is_no_number_is_the_first(page: str) -> None:
    assert 1 <= Address.of({"page": page}).page <= 1_000_000


def test_a_value_of_megabytes_is_cut() -> None:
    assert len(Address.of({"case": "x" * 3_000_000}).case) == 2000
