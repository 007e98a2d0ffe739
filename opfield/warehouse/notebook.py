"""How a warehouse and what is read from it look in a notebook: HTML without scripts, texts as text, cuts told.

Jupyter asks a value for `_repr_html_`, and so does marimo. A verdict is a word in a colour: the word says it too.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

import duckdb

from opfield.errors import OpfieldError, unknown_name
from opfield.warehouse.relations import known_relations

if TYPE_CHECKING:
    from opfield.warehouse.session import Warehouse

#: Rows that are shown, and characters of a text.
ROWS: Final = 50
TEXT: Final = 200

#: Background of a word that tells a verdict or a state; white letters on it keep a contrast of 5 to 1 or more, whatever
#: the notebook's own colours are.
COLOURS: Final[Mapping[str, str]] = {
    "pass": "#1a7f37",
    "selected": "#1a7f37",
    "success": "#1a7f37",
    "fail": "#b42318",
    "domain_failure": "#b42318",
    "indeterminate": "#7a5200",
    "undecided": "#7a5200",
    "infrastructure_failure": "#7a5200",
    "cancelled": "#57606a",
    "kept_baseline": "#57606a",
}
#: Columns in which such a word tells one.
_VERDICTS: Final = frozenset({"decision", "status", "outcome", "state"})

_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)

_CAMPAIGNS: Final = """
select
    campaigns.name,
    campaigns.state,
    campaigns.outcome,
    candidates.label as selected,
    campaigns.preference,
    campaigns.candidates,
    campaigns.cases,
    campaigns.started_at,
    campaigns.campaign_id,
from campaigns
left join candidates
    on candidates.campaign_id = campaigns.campaign_id and candidates.candidate_id = campaigns.selected_id
order by campaigns.started_at desc, campaigns.campaign_id
"""


@dataclass(frozen=True, slots=True, repr=False)
class Shown:
    """Rows to look at.

    Attributes:
        title: what they are.
        columns: names of the columns.
        rows: the first rows, at most `ROWS`.
        count: how many there are.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    count: int

    def __repr__(self) -> str:
        """Return the title and the counts; a notebook shows the rows."""
        return f"<{_visible(self.title)}: {_counted(self)}>"

    def _repr_html_(self) -> str:
        return table_html(self)


def shown(opened: Warehouse, relation: str) -> Shown:
    """Return the rows of a table or view, or of a query, to look at.

    Args:
        opened: the warehouse.
        relation: a name, such as `decisions`, or a query.

    Raises:
        OpfieldError: where there is no such relation, the query is wrong, or files cannot be read.
    """
    is_name = relation.isidentifier()
    if is_name:
        known = known_relations()
        if relation not in known:
            raise unknown_name("relation", relation, known)
    if not relation.strip():
        raise OpfieldError("the query is empty; say what to read, such as `decisions`")
    query = f"from {relation} order by all" if is_name else relation.strip().rstrip(";")
    counted = f"with told as materialized ({query}) select (select count(*) from told), told.* from told limit {ROWS}"
    try:
        found = opened.sql(counted)
        columns, rows = tuple(found.columns[1:]), found.fetchall()
    except duckdb.Error as error:
        raise OpfieldError(str(error)) from error
    count = rows[0][0] if rows else 0
    return Shown(relation if is_name else "query", columns, tuple(row[1:] for row in rows), count)


def campaigns_html(opened: Warehouse) -> str:
    """Return a warehouse as HTML: its campaigns, the latest first; or why it cannot be read."""
    try:
        told = shown(opened, _CAMPAIGNS)
    except (OpfieldError, duckdb.Error) as error:
        return f"<p><b>{_escaped(str(opened.root))}</b> cannot be read: {_escaped(str(error))}</p>"
    return table_html(Shown(f"campaigns of {opened.root}", told.columns, told.rows, told.count))


def table_html(told: Shown) -> str:
    """Return rows as a table in HTML."""
    is_right = [
        all(isinstance(row[ix], int | float | None) and not isinstance(row[ix], bool) for row in told.rows)
        for ix in range(len(told.columns))
    ]
    sides = ["right" if each else "left" for each in is_right]
    heads = "".join(
        f'<th scope="col" style="text-align:{side}">{_escaped(column)}</th>'
        for side, column in zip(sides, told.columns, strict=True)
    )
    lines = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{side};white-space:pre-wrap">{_cell(column, value)}</td>'
            for side, column, value in zip(sides, told.columns, row, strict=True)
        )
        + "</tr>"
        for row in told.rows
    )
    return (
        f'<table><caption style="text-align:left"><b>{_escaped(told.title)}</b>: {_counted(told)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
    )


def facts_html(title: str, facts: Mapping[str, Any]) -> str:
    """Return named facts as HTML, one a line."""
    lines = "".join(
        f'<tr><th scope="row" style="text-align:left">{_escaped(name)}</th>'
        f'<td style="text-align:left;white-space:pre-wrap">{_cell(name, value)}</td></tr>'
        for name, value in facts.items()
    )
    return f'<table><caption style="text-align:left"><b>{_escaped(title)}</b></caption><tbody>{lines}</tbody></table>'


def _counted(told: Shown) -> str:
    rows = f"{told.count:,} row{'' if told.count == 1 else 's'}"
    return rows if told.count == len(told.rows) else f"first {len(told.rows)} of {rows}"


def _cell(column: str, value: Any) -> str:
    if column in _VERDICTS and value in COLOURS:
        return (
            f'<span style="background:{COLOURS[value]};color:#fff;padding:0 .4em;border-radius:.3em">'
            f"{_escaped(value)}</span>"
        )
    if value is None:
        return '<span title="unknown">–</span>'
    return _escaped(_in_words(value))


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else str(value)
    if isinstance(value, datetime | date):
        return value.isoformat(*([" ", "seconds"] if isinstance(value, datetime) else []))
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _escaped(text: str) -> str:
    """Return text as HTML: what hides made visible, what is long cut with its length stated."""
    cut = text if len(text) <= TEXT else f"{text[:TEXT]}… ({len(text):,} characters)"
    return html.escape(_visible(cut))


def _visible(text: str) -> str:
    return _HIDDEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
