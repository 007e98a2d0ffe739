"""The mark of a report: what it takes to make the same report again and hold the two against each other."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from opfield.core import digest_hex, parse_json
from opfield.errors import OpfieldError

Form = Literal["html", "md", "json"]

_MARK: Final = re.compile(r"<!-- opfield-report (\{[^<>]*?\}) -->")


@dataclass(frozen=True, slots=True)
class Mark:
    """What a report says of itself.

    Attributes:
        campaign_id: campaign that it tells of.
        report_digest: digest of its content.
        has_texts: whether texts of cases stand in it.
        form: html, md or json.
        opfield: version that made it.
    """

    campaign_id: str
    report_digest: str
    has_texts: bool
    form: str
    opfield: str


def mark(content: Mapping[str, Any], form: Form) -> str:
    """Return the mark as JSON, of which no value is what a user wrote."""
    return json.dumps(
        {
            "campaign_id": content["parts"]["campaign"]["rows"][0]["campaign_id"],
            "report_digest": content["report_digest"],
            "has_texts": content["has_texts"],
            "form": form,
            "opfield": content["opfield"],
        }
    )


def read_mark(told: str) -> Mark:
    """Return the mark of a report's text.

    Raises:
        OpfieldError: where it is no report.
    """
    try:
        if told.startswith("{"):
            content = parse_json(told)
            found = parse_json(mark(content, "json"))
        else:
            found = parse_json(_MARK.search(told)[1])  # type: ignore[index]  # no match is told below
        read = Mark(**found)
        digest_hex(read.campaign_id)
        digest_hex(read.report_digest)
    except (OpfieldError, TypeError, KeyError, IndexError):
        raise OpfieldError("it is no report of opfield, or its mark was altered") from None
    if not isinstance(read.has_texts, bool) or read.form not in ("html", "md", "json"):
        raise OpfieldError("it is no report of opfield, or its mark was altered")
    return read
