"""Addresses: which view a page shows, as the query of its URL says, so that each view can be linked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final
from urllib.parse import urlencode

#: Longest value of a member that is taken from a URL; a longer one names nothing.
_MOST_CHARACTERS: Final = 2000
_MOST_PAGES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Address:
    """What a page shows. Every text is as the URL has it: it may name nothing.

    Attributes:
        campaign: id, beginning of an id, or name of a campaign; all campaigns where empty.
        candidate: id, beginning of an id, or label of a candidate of it.
        case: a case of it.
        q: text that the names or ids of listed campaigns hold.
        state: state or outcome of listed campaigns.
        page: page of a long list, from 1.
    """

    campaign: str = ""
    candidate: str = ""
    case: str = ""
    q: str = ""
    state: str = ""
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str | Sequence[str]]) -> Address:
        """Return the address that the members of a query name; others are left aside.

        >>> Address.of({"campaign": "mine", "page": "2", "utm": "x"}).query
        'campaign=mine&page=2'
        """
        found = {}
        for each in fields(cls):
            told = query.get(each.name, "")
            # A member that stands several times counts as it stands last.
            text = told if isinstance(told, str) else (told[-1] if told else "")
            found[each.name] = text[:_MOST_CHARACTERS]
        page = found.pop("page")
        number = int(page) if page.isascii() and page.isdigit() and len(page) < 8 else 1
        return cls(**found, page=min(max(number, 1), _MOST_PAGES))

    @property
    def kind(self) -> str:
        """What is shown: campaigns, campaign, candidate or case."""
        if not self.campaign:
            return "campaigns"
        if self.case:
            return "case"
        return "candidate" if self.candidate else "campaign"

    @property
    def query(self) -> str:
        """The query of a URL that leads here, without a question mark."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.page == 1:
            told.pop("page")
        return urlencode({name: value for name, value in told.items() if value != ""})

    def to(self, **changes: str | int) -> str:
        """Return a link to this view with other members; without those that the target does not have.

        >>> Address(campaign="mine", case="a", page=3).to(page=4)
        '?campaign=mine&case=a&page=4'
        """
        return "?" + replace(self, **changes).query  # type: ignore[arg-type]  # each is what its member takes
