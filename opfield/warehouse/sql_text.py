"""Reading SQL as text: what is code in it, what stands in its header, and which relations it reads."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, Final

import orjson

from opfield.errors import WarehouseError
from opfield.warehouse.locate import sql_folder
from opfield.warehouse.memory import connect_memory

_GAP_OR_TEXT = re.compile(
    r"""
    (?P<gap>(?:\s+|--[^\n]*|/\*.*?\*/)+)
    |'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$
    """,
    re.VERBOSE | re.DOTALL,
)
_MACRO = re.compile(r"\A\s*create\s+(?:or\s+replace\s+)?macro\s+(?P<name>\w+)\s*\((?P<parameters>[^)]*)\)\s*as\b", re.I)
_NEEDS = re.compile(r"\s*\w+(\s+or\s+\w+)*(\s*,\s*\w+(\s+or\s+\w+)*)*\s*")
_TAKES = re.compile(r"\s*\w+(\s*,\s*\w+)*\s*")
_WORDLIKE = frozenset("_.'\"$")
_SEPARATE = frozenset("(),;[]{}")

#: File of the `sql` folder that says what each statement reads; `python -m scripts.reads` writes it.
READS: Final = "reads.json"
#: What a statement reads: relations and functions.
_Names = tuple[frozenset[str], frozenset[str]]
_MOST_KEPT: Final = 2048
_kept: dict[str, _Names] = {}


# The digest of a policy is asked for again by each step of a command.
@lru_cache(maxsize=1024)
def normalized(sql: str) -> str:
    r"""Return `sql` without comments and without white space that separates nothing; literals stay as they are.

    Two texts with the same result are the same statement for any version of the engine.

    >>> normalized("select a,  b -- why\nfrom t where c = 'x  -- y'")
    "select a,b from t where c='x  -- y'"
    >>> normalized("select 1 - -1")
    'select 1- -1'
    >>> normalized("select 'one text over' -- two\n  ' lines'")
    "select 'one text over'\n' lines'"
    """
    return _GAP_OR_TEXT.sub(_closed, sql)


def _closed(match: re.Match[str]) -> str:
    """Return what is left of a gap, and a literal as it is."""
    gap = match["gap"]
    if gap is None:
        return match.group()
    start, end = match.span()
    if start == 0 or end == len(match.string):
        return ""
    left, right = match.string[start - 1], match.string[end]
    if not _must_stay_apart(left, right):
        return ""
    # Texts are one where a line ends between them.
    return "\n" if left == right == "'" and "\n" in gap else " "


def _must_stay_apart(left: str, right: str) -> bool:
    """Whether two characters would read as one token, or as a comment, if nothing stood between them."""
    if left in _SEPARATE or right in _SEPARATE:
        return False
    return _is_wordlike(left) == _is_wordlike(right)


def _is_wordlike(character: str) -> bool:
    return character.isalnum() or character in _WORDLIKE


def split_header(text: str) -> tuple[str, str]:
    r"""Split a file into the comment lines it begins with, bare of dashes, and the statement below them.

    >>> split_header("-- Why.\n-- columns:\n--   a: A.\nselect 1 as a\n")
    ('Why.\ncolumns:\n  a: A.', 'select 1 as a')
    """
    lines = text.splitlines()
    count = next((ix for ix, line in enumerate(lines) if not line.startswith("--")), len(lines))
    header = "\n".join(line.removeprefix("--").removeprefix(" ").rstrip() for line in lines[:count])
    return header, "\n".join(lines[count:]).strip().rstrip(";")


def header_meaning(header: str) -> str:
    """Return what a header says before its block of columns."""
    return header.split("\ncolumns:\n")[0].strip()


def header_columns(header: str) -> dict[str, str]:
    r"""Return the meaning of each column that a header's block `columns:` lists.

    A line `  name: meaning` opens a column; a deeper line goes on with it.

    >>> header_columns("Why.\ncolumns:\n  a: One\n     and more.\n  b: Two.")
    {'a': 'One and more.', 'b': 'Two.'}
    """
    columns: dict[str, str] = {}
    name = ""
    for line in header.partition("\ncolumns:\n")[2].splitlines():
        opened = re.match(r"  (\w+): (.*)", line)
        if opened:
            name = opened[1]
            columns[name] = opened[2].strip()
        elif name and line.strip():
            columns[name] += " " + line.strip()
    return columns


def header_needs(header: str) -> tuple[tuple[str, ...], ...]:
    r"""Return what a gate kind's header says that a gate must name: of each inner tuple, one name at least.

    Raises:
        WarehouseError: The line is not of the form `needs: metric, at_least or at_most`.

    >>> header_needs("Why.\nneeds: metric, at_least or at_most\ncolumns:\n  a: A.")
    (('metric',), ('at_least', 'at_most'))
    """
    lines = re.findall(r"^needs:(.*)$", header_meaning(header), re.MULTILINE)
    if not lines:
        return ()
    if len(lines) > 1 or not _NEEDS.fullmatch(lines[0]):
        raise WarehouseError(f"its needs are {lines}; write one line such as: needs: metric, at_least or at_most")
    return tuple(tuple(re.split(r"\s+or\s+", each.strip())) for each in lines[0].split(","))


def header_takes(header: str) -> frozenset[str] | None:
    r"""Return the options that a gate kind's header says it understands, or None where it does not say.

    Raises:
        WarehouseError: The line is not of the form `takes: within, alpha`.

    >>> sorted(header_takes("Why.\ntakes: within, alpha\ncolumns:\n  a: A.") or ())
    ['alpha', 'within']
    """
    lines = re.findall(r"^takes:(.*)$", header_meaning(header), re.MULTILINE)
    if not lines:
        return None
    if len(lines) > 1 or not _TAKES.fullmatch(lines[0]):
        raise WarehouseError(f"what it takes is {lines}; write one line such as: takes: within, alpha")
    return frozenset(each.strip() for each in lines[0].split(","))


def macro_body(sql: str) -> str | None:
    """Return what a `create macro` statement computes, or None where `sql` is no macro."""
    opened = _MACRO.match(sql)
    return sql[opened.end() :].strip() if opened else None


def macro_signature(sql: str) -> str:
    """Return the name and parameters of a `create macro` statement.

    >>> macro_signature("create macro double(x) as x * 2")
    'double(x)'
    """
    opened = _MACRO.match(sql)
    return f"{opened['name']}({opened['parameters']})" if opened else ""


def names_read(sql: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the relations and the functions that a SELECT or a macro reads, names of its own CTEs left out.

    Raises:
        WarehouseError: DuckDB cannot parse the text.
    """
    read_ahead([sql])
    # What could not be kept is parsed again, for the error that says why.
    return _kept[sql] if sql in _kept else parsed_names(sql)


def parsed_names(sql: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return what `names_read` does, parsing the text now.

    Raises:
        WarehouseError: DuckDB cannot parse the text.
    """
    return _names(parsed(_as_query(sql)))


def read_ahead(statements: Iterable[str]) -> None:
    """Parse SELECTs and macros at once, which takes half the time of parsing each when `names_read` asks for it.

    Those that this opfield ships were parsed when it was made: `sql/reads.json` says what each reads, by the digest of
    its text.
    """
    new = [each for each in dict.fromkeys(statements) if each not in _kept]
    if not new:
        return
    if len(_kept) > _MOST_KEPT:
        _kept.clear()
    found = {each: _shipped().get(statement_digest(each)) for each in new}
    _kept.update({each: names for each, names in found.items() if names is not None})
    unknown = [each for each, names in found.items() if names is None]
    if unknown:
        _parse(unknown)


def statement_digest(sql: str) -> str:
    """Return the name under which `sql/reads.json` keeps what a SELECT or macro reads."""
    return hashlib.sha256(sql.encode()).hexdigest()


@cache
def _shipped() -> Mapping[str, _Names]:
    """Return what the relations of this opfield read, by the digest of their text; nothing where that was not kept."""
    try:
        told = orjson.loads((sql_folder() / READS).read_bytes())
    except FileNotFoundError:
        return {}
    return {each["digest"]: (frozenset(each["relations"]), frozenset(each["functions"])) for each in told.values()}


def _parse(statements: list[str]) -> None:
    """Keep what these statements read, those left out that DuckDB cannot parse."""
    # Without what has its default, the answer is a quarter shorter and as telling.
    query = (
        "select json_serialize_sql(sql, skip_default := true, skip_empty := true, skip_null := true) "
        "from (select unnest($1::varchar[]) as sql)"
    )
    with connect_memory() as parser:
        rows = parser.execute(query, [[_as_query(each) for each in statements]]).fetchall()
    for statement, (text,) in zip(statements, rows, strict=True):
        told = orjson.loads(text)
        if not told["error"]:
            _kept[statement] = _names(told["statements"])


def _as_query(sql: str) -> str:
    body = macro_body(sql)
    return sql if body is None else f"select {body}"


def parsed(query: str) -> list[dict[str, Any]]:
    """Return the statements of a query as DuckDB's parser reads them.

    Raises:
        WarehouseError: DuckDB cannot parse the text, or it is no SELECT.
    """
    with connect_memory() as parser:
        row = parser.execute("select json_serialize_sql(?)", [query]).fetchone()
    told: dict[str, Any] = json.loads(row[0]) if row else {}
    if told.get("error", True):
        raise WarehouseError(f"no SELECT that DuckDB can parse: {told.get('error_message')}")
    statements: list[dict[str, Any]] = told["statements"]
    return statements


def _names(statements: list[dict[str, Any]]) -> _Names:
    """Return the relations and the functions in serialized statements."""
    relations: set[str] = set()
    functions: set[str] = set()
    # A part of a statement, and the names of CTEs that are in sight there.
    waiting: list[tuple[dict[str, Any] | list[Any], frozenset[str]]] = [(statements, frozenset())]
    while waiting:
        node, hidden = waiting.pop()
        if isinstance(node, list):
            waiting += [(each, hidden) for each in node if isinstance(each, dict | list)]
            continue
        for entry in (node.get("cte_map") or {}).get("map", ()):
            waiting.append((entry["value"], hidden))
            hidden = hidden | {entry["key"]}
        match node.get("type"):
            case "RECURSIVE_CTE_NODE":
                hidden = hidden | {node["cte_name"]}
            case "BASE_TABLE" if node["table_name"] not in hidden:
                relations.add(node["table_name"])
            case "FUNCTION":
                functions.add(node["function_name"])
        waiting += [(each, hidden) for key, each in node.items() if key != "cte_map" and isinstance(each, dict | list)]
    return frozenset(relations), frozenset(functions)
