"""What a snapshot of a campaign keeps: the files of one state, and the relations that are computed once from them."""

from __future__ import annotations

import glob
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import duckdb

from opfield.core import digest_hex
from opfield.errors import WarehouseError
from opfield.warehouse.contract import TABLE_NAMES, column_names
from opfield.warehouse.install import install_some
from opfield.warehouse.layout import NO_CAMPAIGN, partition
from opfield.warehouse.practice_tables import table_queries
from opfield.warehouse.views import ViewSet

#: Relations that a snapshot computes once, beside the gates: small, or read by many others. Binding one takes longer
#: than computing it where there are few cases, and a view is bound when it is created and again by each that reads it.
STORED: Final = (
    "declarations",
    "campaigns",
    "declared_candidates",
    "planned_cases",
    "declared_pairs",
    "independent_repeats",
    "baseline_observations",
    "partial_pairs",
    "case_noise",
    "policy_gates",
    "judged_metrics",
    "judged_scopes",
    "scope_cases",
    "inference_gates",
    "quantities",
    "looks",
    "integrity",
    "coverage",
    "failures",
    "case_deltas",
    "found_pairs",
    "comparisons",
    "case_bounds",
    "bounds",
    "unit_values",
    "unit_summaries",
    "inferences",
    "gate_verdicts",
    "gate_results",
    "decisions",
    "selection",
    "t_quantiles",
    "reviews",
    "evidence",
    "percentile_gates",
    "review_standings",
    "awaiting_reviews",
    "arm_cells",
    "conclusions",
    "costs",
    "survivorship",
    "strata",
    "variance_components",
    "shrinkage",
    "contenders",
    "pareto_points",
    "pareto",
    "pareto_noise",
)


#: Tables of which a snapshot keeps the rows where they are few, since a verdict reads each file a dozen times.
KEPT_TABLES: Final = frozenset({"cells", "measurements", "cases", "candidates", "metrics"})
FEW_BYTES: Final = 1 << 20


def kept_names(views: ViewSet, wanted: Collection[str], read: Collection[str], small: Collection[str]) -> set[str]:
    """Return the names of the relations and tables that a snapshot computes once.

    Args:
        views: all relations.
        wanted: those that are asked for, and all that they read.
        read: tables that these read.
        small: tables whose rows are few; where all that may be kept are, every relation is: planning a view once more
            for each that reads it then takes longer than computing it.
    """
    relations = set(wanted) if set(small) >= KEPT_TABLES else {*STORED, *(f"gate_{kind}" for kind in views.gate_kinds)}
    return relations | (set(small) & set(read))


def connected(con: duckdb.DuckDBPyConnection, root: Path, campaign_id: str | None) -> duckdb.DuckDBPyConnection:
    """Return the connection, told where the warehouse is."""
    # DuckDB draws a progress bar of its own where the main module has no file, even into a pipe.
    con.execute("set enable_progress_bar = false")
    con.execute("set variable root = $1", [glob.escape(str(root))])
    if campaign_id is not None:
        con.execute("set variable campaign = $1", [digest_hex(campaign_id)])
    return con


def list_files(
    con: duckdb.DuckDBPyConnection, root: Path, campaign_id: str | None, *, is_largest_first: bool = False
) -> set[str]:
    """Fix the files that tables read from now on: later statements see no other state, or find that a file is gone.

    Returns the tables whose rows are few enough to be kept.

    A segment's files are published, and a seal's exchanged, one after the other; a listing in between misses some,
    which `integrity` tells.
    """
    small = set()
    for table in TABLE_NAMES:
        chosen = "campaign=*" if campaign_id is None else partition(campaign_id)
        patterns = [f"{table}/{folder}/*.parquet" for folder in (NO_CAMPAIGN, chosen)]
        files = {path for pattern in patterns for path in root.glob(pattern)}
        if not files:
            raise WarehouseError(
                f"{root / table} has no file any more; the next `opfield run` writes its zero-row file"
            )
        # DuckDB guesses at the rows of all from the first, and by the zero rows of a file that only opens a table it
        # would build a verdict's joins on the wrong side. Elsewhere the empty file comes first, which is never damaged:
        # a question that reads no rows of a table is answered although a file of it is cut.
        listed = sorted(files, key=lambda path: (-_bytes_of([path]) * is_largest_first, path))
        con.execute(f"set variable {table}_files = $1", [[glob.escape(str(path)) for path in listed]])
        if table in KEPT_TABLES and _bytes_of(files) <= FEW_BYTES:
            small.add(table)
    if small >= KEPT_TABLES:
        # Handing parts of a query to other threads takes longer than computing them.
        con.execute("set threads = 1")
    return small


def _bytes_of(files: Iterable[Path]) -> int:
    """Return how many bytes files have; one that is gone has none, and whoever reads it finds out."""
    total = 0
    for path in files:
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


@dataclass(slots=True)
class Snapshot:
    """One campaign as its files were at one moment, with the relations that were asked for so far.

    Attributes:
        con: connection to a database of its own that answers for these relations; whoever took the snapshot closes it.
        root: warehouse folder.
        campaign_id: the campaign.
        views: relations to choose from.
    """

    con: duckdb.DuckDBPyConnection
    root: Path
    campaign_id: str
    views: ViewSet
    _known: set[str] = field(default_factory=set, init=False)
    _small: set[str] = field(default_factory=set, init=False)

    def list_files(self) -> None:
        """Look at the files as they are now; what was computed stays as it was."""
        self._small = list_files(self.con, self.root, self.campaign_id, is_largest_first=True)

    def ask(self, names: Iterable[str]) -> None:
        """Create relations and all that they read, as far as the views have them and they are not there yet."""
        wanted = self.views.closure(set(names) & self.views.named.keys()).keys() - self._known
        if wanted or not self._known:
            self._install(wanted)

    def ask_again(self, names: Iterable[str]) -> None:
        """Compute relations anew from the files of the last listing, and not what they read."""
        self._install(set(names) & self.views.named.keys())

    def _install(self, wanted: Collection[str]) -> None:
        read = self.views.tables_read(wanted)
        columns = {name: listed for name, listed in column_names().items() if name not in self._known}
        practice = table_queries(self.con, self.root, read - self._known, is_listed=True)
        stored = kept_names(self.views, wanted, read, self._small)
        install_some(self.con, self.views, columns, wanted, stored, practice, is_listed=True)
        self._known |= wanted | columns.keys() | practice.keys()
