"""What the command prints: tables for people, JSON for programs, both from the same rows."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from opfield.report.text import HIDDEN
from opfield.report.text import visible as visible

#: Longest text shown in one field of a table; `--json` shows all of it.
FIELD_LIMIT: Final = 120
_WIDTH: Final = 10_000
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")

STYLES: Final = {"pass": "green", "fail": "red", "indeterminate": "yellow"}


def out() -> Console:
    """Return the console on stdout."""
    # As wide as its widest line: a figure or an id folded in the middle cannot be read or copied.
    return Console(file=sys.stdout, width=_WIDTH, highlight=False, soft_wrap=True)


def err() -> Console:
    """Return the console on stderr."""
    return Console(file=sys.stderr, stderr=True, highlight=False, soft_wrap=True)


def say(message: str) -> None:
    """Tell people something that is no result."""
    err().print(Text(visible(message)))


def print_json(value: Any) -> None:
    """Print a value as JSON on stdout, indented, in declared key order; what hides in a text stands as its escape."""
    told = json.dumps(_finite(value), ensure_ascii=False, indent=2, default=_plain, allow_nan=False)
    sys.stdout.write(HIDDEN.sub(lambda found: f"\\u{ord(found.group()):04x}", told) + "\n")


def print_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str] | None = None, title: str = "") -> None:
    """Print rows as a table; no rows print as a line that says so.

    Args:
        rows: the rows.
        columns: member to heading, in order; the members of the first row where None.
        title: line above the table.
    """
    console = out()
    if title:
        console.print(Text(visible(title), style="bold"))
    if not rows:
        console.print(Text("no rows"))
        return
    shown = columns or {name: name for name in rows[0]}
    headings = [visible(heading) for heading in shown.values()]
    is_right = [all(isinstance(row.get(name), int | float | Decimal | None) for row in rows) for name in shown]
    cells = [[cell(row.get(name)) for name in shown] for row in rows]
    if any("\n" in each or "\t" in each for line in (headings, *cells) for each in line):
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for heading, is_number in zip(headings, is_right, strict=True):
            table.add_column(Text(heading), justify="right" if is_number else "left", no_wrap=True)
        for line in cells:
            table.add_row(*(Text(each, style=STYLES.get(each, "")) for each in line))
        console.print(table)
    else:
        console.print(_table_text(headings, cells, is_right))


def _table_text(headings: Sequence[str], cells: Sequence[Sequence[str]], is_right: Sequence[bool]) -> Text:
    """Return a table whose every cell is one line, as `rich.table` lays it out, which takes seconds for 6,000 rows."""
    widths = [max(map(cell_len, column)) for column in zip(headings, *cells, strict=True)]
    lines: list[str] = []
    styled: list[tuple[str, int, int]] = []
    start = 0
    for row in (headings, *cells):
        parts = []
        at = start
        for each, width, is_number in zip(row, widths, is_right, strict=True):
            padding = " " * (width - cell_len(each))
            style = STYLES.get(each, "") if lines else "bold"
            if style:
                first = at + len(padding) * is_number
                styled.append((style, first, first + len(each)))
            parts.append(padding + each if is_number else each + padding)
            at += len(parts[-1]) + 2
        lines.append("  ".join(parts))
        start += len(lines[-1]) + 1
    text = Text("\n".join(lines))
    for style, first, last in styled:
        text.stylize(style, first, last)
    return text


def print_facts(facts: Mapping[str, Any], title: str = "") -> None:
    """Print named facts, one a line."""
    console = out()
    if title:
        console.print(Text(visible(title), style="bold"))
    width = max((len(name) for name in facts), default=0)
    for name, value in facts.items():
        console.print(Text(f"{name.ljust(width)}  {cell(value, limit=4000)}"))


def cell(value: Any, limit: int = FIELD_LIMIT) -> str:
    """Return a value as one field: unknown as `–`, numbers short, text cut with its length stated.

    On a terminal a digest is shown by its beginning, which is what commands take; in a pipe it is whole.
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, str) and _DIGEST.fullmatch(value) and sys.stdout.isatty():
        return value[: len("sha256:") + 12]
    text = visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=_plain))
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def short(identity: str | None) -> str | None:
    """Return the beginning of a digest, long enough to type."""
    return None if identity is None else identity.removeprefix("sha256:")[:12]


def plural(count: int, noun: str) -> str:
    """Return a count and its noun.

    >>> plural(1, "cell"), plural(2, "cell")
    ('1 cell', '2 cells')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _finite(value: Any) -> Any:
    """Return a value with null for every number that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    return str(value)
