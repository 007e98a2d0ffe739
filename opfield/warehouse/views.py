"""The views: read from `sql/`, ordered by what they read.

A file is one relation, named after it; its folder is its layer; its header comment is its documentation.
`sql/macros` holds macros, `sql/gates/gate_<kind>.sql` one gate kind each. `gate_verdicts`, the union of the gate
kinds, is generated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Self

from opfield.errors import WarehouseError, unknown_name
from opfield.warehouse.contract import PRACTICE_TABLE_NAMES, TABLE_NAMES
from opfield.warehouse.gate_folders import offered_gate_folders
from opfield.warehouse.locate import sql_folder
from opfield.warehouse.sql_text import (
    header_columns,
    header_meaning,
    header_needs,
    header_takes,
    macro_body,
    macro_signature,
    names_read,
    normalized,
    read_ahead,
    split_header,
)

VERDICTS = "gate_verdicts"
GATE_RELATIONS = frozenset({"gate_results", VERDICTS})
"""Relations whose names begin like those of gate kinds, but which are none."""

TABLES = frozenset({*TABLE_NAMES, *PRACTICE_TABLE_NAMES})
"""All tables, which relations may read and may not be named after."""

JUDGING = ("decisions", "selection", "coverage", "comparisons", "gate_results")
"""What a campaign's verdict is read from; its SQL, and that of all it reads, is part of a policy's identity."""

_MOST_EXPANDED = 80
"""Relations that DuckDB may expand in place of one: binding so many takes some tens of milliseconds."""

_VERDICT_COLUMNS = {
    "campaign_id": "Campaign that was judged.",
    "candidate_id": "Candidate that was judged.",
    "gate_ix": "Position of the gate in the policy, counted from 0.",
    "scope": "Cases that were judged over, as in `judged_scopes`; empty for all of them.",
    "status": "pass, fail or indeterminate.",
    "message": "The value, the bound and the reason, in words.",
    "value": "What was compared; NULL where unknown.",
    "threshold": "What it was compared with; NULL where the gate has none.",
}
_VERDICT_TYPES = ("varchar", "varchar", "integer", "varchar", "varchar", "varchar", "double", "double")
_VERDICT_MEANING = (
    "Verdicts: what the gate kinds in use yield.\n"
    "Grain: one row for each candidate, gate whose kind is known, and scope of it. Without one a gate is indeterminate."
)


@dataclass(frozen=True, slots=True)
class Relation:
    """One view or macro.

    Attributes:
        name: Name of the relation, and of its file.
        layer: Folder it stands in; empty where it does not come from a folder.
        header: Header comment, bare of dashes.
        sql: The SELECT, or the `create macro` statement.
    """

    name: str
    layer: str
    header: str
    sql: str

    @property
    def is_macro(self) -> bool:
        """Whether this is a macro rather than a view."""
        return macro_body(self.sql) is not None

    @property
    def gate_kind(self) -> str | None:
        """The gate kind that this relation decides; None where it is no gate."""
        is_gate = self.name.startswith("gate_") and self.name not in GATE_RELATIONS
        return self.name.removeprefix("gate_") if is_gate else None

    @property
    def meaning(self) -> str:
        """What the header says about the relation as a whole."""
        return header_meaning(self.header)

    @property
    def needs(self) -> tuple[tuple[str, ...], ...]:
        """What a gate of this kind must name: of each inner tuple, one of metric, threshold and options at least."""
        return header_needs(self.header)

    @property
    def takes(self) -> frozenset[str] | None:
        """Names of the options that a gate of this kind understands; None where its header does not say."""
        return header_takes(self.header)

    @property
    def columns(self) -> dict[str, str]:
        """What the header says about each column."""
        return header_columns(self.header)


@dataclass(frozen=True)
class ViewSet:
    """Relations that fit together: each name once, everything they read among them or among the tables.

    What a relation reads is found by parsing it, and only when that is asked for: a question reads a few of many.

    Attributes:
        named: The relations by name, in no particular order.
    """

    named: Mapping[str, Relation]
    _reads: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def from_relations(cls, relations: Iterable[Relation], *, is_checked: bool = True) -> Self:
        """Take `relations`, and add `gate_verdicts`, the union of the gate kinds among them, where it is not there.

        Args:
            relations: The relations.
            is_checked: Whether to find now, rather than when it is asked for, a relation that does not fit.

        Raises:
            WarehouseError: A relation reads an unknown one, or itself by way of others.
        """
        named = {each.name: each for each in relations}
        if VERDICTS not in named:
            named[VERDICTS] = _verdicts(sorted(each.name for each in named.values() if each.gate_kind))
        views = cls(named)
        if is_checked:
            _ = views.relations
        return views

    @classmethod
    def from_sources(cls, sources: Mapping[str, str]) -> Self:
        """Build the views from their texts by name, as `sources` gives them or a campaign keeps them.

        A text of `gate_verdicts` among them is used as it stands, so that kept views judge, and are identified, as they
        were when they were kept.
        """
        return cls.from_relations(Relation(name, "", *split_header(text)) for name, text in sources.items())

    def sources(self) -> dict[str, str]:
        """Return the text of every relation by name, header and `gate_verdicts` included."""
        return {name: _with_header(each) for name, each in self.named.items()}

    @cached_property
    def relations(self) -> Mapping[str, Relation]:
        """The relations by name, in an order in which each stands after what it reads.

        Raises:
            WarehouseError: A relation reads an unknown one, or itself by way of others.
        """
        return {name: self.named[name] for name in self.ordered(self.named)}

    @cached_property
    def gate_kinds(self) -> tuple[str, ...]:
        """The gate kinds among the relations, sorted."""
        return tuple(sorted(kind for each in self.named.values() if (kind := each.gate_kind)))

    @cached_property
    def gate_needs(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """What a gate of each kind must name, by kind; see `Relation.needs`."""
        return {kind: each.needs for each in self.named.values() if (kind := each.gate_kind)}

    @cached_property
    def gate_takes(self) -> dict[str, frozenset[str] | None]:
        """Options that a gate of each kind understands, by kind; see `Relation.takes`."""
        return {kind: each.takes for each in self.named.values() if (kind := each.gate_kind)}

    def restricted(self, kinds: Collection[str]) -> Self:
        """Return the views with these gate kinds only: the same ones where these are all.

        Raises:
            UnknownNameError: A kind is not among the relations.
        """
        for kind in kinds:
            if kind not in self.gate_kinds:
                raise unknown_name("gate kind", kind, self.gate_kinds)
        if set(kinds) == set(self.gate_kinds):
            return self
        dropped = {VERDICTS, *(f"gate_{kind}" for kind in self.gate_kinds if kind not in kinds)}
        kept = (each for name, each in self.named.items() if name not in dropped)
        return type(self).from_relations(kept, is_checked=False)

    def closure(self, names: Iterable[str]) -> dict[str, str]:
        """Return the normalized SQL of these relations and of every relation and macro they read, sorted by name.

        Raises:
            UnknownNameError: A name is not among the relations.
        """
        chosen = list(names)
        for name in chosen:
            if name not in self.named:
                raise unknown_name("relation", name, self.named)
        return {name: normalized(self.named[name].sql) for name in sorted(self._found_from(chosen))}

    def tables_read(self, names: Iterable[str]) -> set[str]:
        """Return the tables that these relations read, directly or not."""
        found = self._found_from(names)
        read = set[str]().union(*(names_read(self.named[each].sql)[0] for each in found))
        return read & TABLES

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Return these relations, each after those it reads, otherwise sorted.

        Raises:
            WarehouseError: One of them, or of what they read, reads an unknown relation, or itself by way of others.
        """
        chosen = set(names)
        found = self._found_from(chosen)
        return [name for name in _ordered({name: self._reads[name] for name in found}) if name in chosen]

    def reads(self, name: str) -> frozenset[str]:
        """Return the names of the relations, macros and tables that a relation reads itself."""
        self._find_reads({name} - self._reads.keys())
        return self._reads[name] | (names_read(self.named[name].sql)[0] & TABLES)

    def policy_digest_sources(self, kinds: Collection[str]) -> dict[str, str]:
        """Return the normalized SQL by which a policy of these gate kinds judges; other kinds change nothing in it."""
        return self.restricted(kinds).closure(JUDGING)

    def executable(self, name: str) -> str:
        """Return the SELECT by which a relation is installed.

        Most relations are installed as they are written, so that a filter on one reaches the files. Where a relation
        reads the same ones by way of many others, as a verdict does by way of its gates, everything below it stands
        inline, each relation once: binding it grows with the number of relations, not of the paths between them.
        """
        if self._expanded[name] <= _MOST_EXPANDED:
            return self.relations[name].sql
        inline = [each for each in self.relations if each in self._below[name] - {name}]
        steps = [f"{each} as (\n{self.relations[each].sql}\n)" for each in inline if not self.relations[each].is_macro]
        return "with " + ",\n\n".join(steps) + f"\n\nselect * from (\n{self.relations[name].sql}\n)"

    def _found_from(self, names: Iterable[str]) -> set[str]:
        """Return these names and those of all that is read from them, directly or not."""
        found: set[str] = set()
        new = set(names)
        while new:
            self._find_reads(new - self._reads.keys())
            found |= new
            new = set[str]().union(*(self._reads[name] for name in new)) - found
        return found

    def _find_reads(self, names: Collection[str]) -> None:
        """Find what these relations read."""
        read_ahead(self.named[name].sql for name in names)
        for name in sorted(names):
            try:
                tables, functions = names_read(self.named[name].sql)
            except WarehouseError as error:
                raise WarehouseError(f"relation {name!r} is {error}") from None
            unknown = tables - self.named.keys() - TABLES
            if unknown:
                problem = unknown_name("relation", min(unknown), {*self.named, *TABLES})
                raise WarehouseError(f"relation {name!r} reads an {problem}")
            self._reads[name] = (tables - TABLES) | (functions & self._macros - {name})

    @cached_property
    def _macros(self) -> frozenset[str]:
        return frozenset(each.name for each in self.named.values() if each.is_macro)

    @cached_property
    def _below(self) -> Mapping[str, frozenset[str]]:
        """Each relation's name, with itself and all that it reads, directly or not."""
        below: dict[str, frozenset[str]] = {}
        for name in self.relations:
            below[name] = frozenset({name}).union(*(below[each] for each in self._reads[name]))
        return below

    @cached_property
    def _expanded(self) -> Mapping[str, int]:
        """How many relations each stands for once DuckDB has expanded what it reads; an inline one has each once."""
        expanded: dict[str, int] = {}
        installed: dict[str, int] = {}
        for name, relation in self.relations.items():
            expanded[name] = 0 if relation.is_macro else 1 + sum(installed[each] for each in self._reads[name])
            is_inline = expanded[name] > _MOST_EXPANDED
            inline = sum(not self.relations[each].is_macro for each in self._below[name])
            installed[name] = inline if is_inline else expanded[name]
        return expanded


def load_views(extra_gate_dirs: Sequence[Path] = (), folder: Path | None = None, *, is_checked: bool = True) -> ViewSet:
    """Read every relation below the `sql` folder, and gate kinds from further folders.

    Args:
        extra_gate_dirs: Folders with `gate_<kind>.sql` files of a domain or a user.
        folder: The `sql` folder. Where none is given: the installed one, with the gate kinds of every installed package
            that offers a folder of them by an entry point of the group `opfield.gates`.
        is_checked: Whether to find now, rather than when it is asked for, a relation that does not fit.

    Raises:
        WarehouseError: Two files bear one name, a further folder is missing or holds something else than gate kinds, an
            entry point gives no folder, or the relations do not fit together.
    """
    paths = sorted((folder or sql_folder()).glob("*/*.sql"))
    for extra in extra_gate_dirs:
        if not extra.is_dir():
            raise WarehouseError(f"the gate folder {extra} does not exist; create it or drop it from the list")
    gate_dirs = dict.fromkeys([*extra_gate_dirs, *(offered_gate_folders() if folder is None else ())])
    gate_paths = [path for each in gate_dirs for path in sorted(each.glob("*.sql"))]
    files: dict[str, Path] = {}
    for path in (*paths, *gate_paths):
        if path.stem in files or path.stem in TABLES or path.stem == VERDICTS:
            other = files.get(path.stem, "a table of the warehouse or a generated relation")
            raise WarehouseError(f"two relations are named {path.stem!r}: {other} and {path}; rename one")
        files[path.stem] = path
    relations = [_read_relation(path, path.parent.name) for path in paths]
    for path in gate_paths:
        relations.append(_read_relation(path, "gates"))
        if relations[-1].gate_kind is None:
            raise WarehouseError(f"{path} is no gate kind; name it gate_<kind>.sql")
    return ViewSet.from_relations(relations, is_checked=is_checked)


@cache
def installed_views() -> ViewSet:
    """Return the relations that this installation has, read once, each checked when it is asked for."""
    return load_views(is_checked=False)


def _read_relation(path: Path, layer: str) -> Relation:
    header, sql = split_header(path.read_text(encoding="utf-8"))
    is_named = not macro_body(sql) or macro_signature(sql).startswith(f"{path.stem}(")
    if not is_named:
        raise WarehouseError(f"{path} creates the macro {macro_signature(sql)}; name the file after it")
    relation = Relation(path.stem, layer, header, sql)
    if relation.gate_kind is not None:
        try:
            header_needs(header)
            header_takes(header)
        except WarehouseError as error:
            raise WarehouseError(f"{path}: {error}") from None
    return relation


def _with_header(relation: Relation) -> str:
    lines = [f"-- {line}".rstrip() for line in relation.header.splitlines()]
    return "\n".join([*lines, relation.sql]) + "\n"


def _verdicts(gate_names: Sequence[str]) -> Relation:
    """Return the union of the gate kinds; an empty relation of the same columns where there are none."""
    typed = zip(_VERDICT_COLUMNS, _VERDICT_TYPES, strict=True)
    empty = "select " + ", ".join(f"null::{kind} as {name}" for name, kind in typed) + " where false"
    selects = [f"select {', '.join(_VERDICT_COLUMNS)} from {name}" for name in gate_names]
    columns = "\n".join(f"  {name}: {meaning}" for name, meaning in _VERDICT_COLUMNS.items())
    return Relation(
        VERDICTS, "gates", f"{_VERDICT_MEANING}\ncolumns:\n{columns}", "\nunion all\n".join([empty, *selects])
    )


def _ordered(reads: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the names, each after those it reads, otherwise sorted; refuse a cycle."""
    ordered: dict[str, None] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise WarehouseError(f"relations read each other in a cycle: {' -> '.join([*path, name])}; cut it")
        if name not in ordered:
            for each in sorted(reads[name]):
                visit(each, (*path, name))
            ordered[name] = None

    for name in sorted(reads):
        visit(name, ())
    return list(ordered)
