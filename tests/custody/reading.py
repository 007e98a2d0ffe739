"""What no reader may ever see, whatever the writer is doing."""

from __future__ import annotations

from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

from opfield.errors import WarehouseError
from opfield.warehouse.projection import campaigns_on_disk
from opfield.warehouse.session import connect, connect_snapshot, read_rows
from opfield.warehouse.views import ViewSet, load_views

VIEWS = tuple(each.name for each in load_views().relations.values() if not each.is_macro)

#: What every reader asks.
LOOKED_AT = ("comparisons", "decisions", "selection", "duplicates")


#: The relations of `weighted`, whose policy has two kinds of gates; binding all takes many times as long.
JUDGING_WEIGHTED = load_views().restricted(["coverage", "failures"])


def asked(*names: str) -> ViewSet:
    """Return these relations and what they read."""
    wanted = JUDGING_WEIGHTED.closure(names)
    return ViewSet.from_relations(JUDGING_WEIGHTED.named[name] for name in wanted)


DOUBLED = """
    select 'cells' as what, count(*) as rows from cells group by candidate_id, case_id, repeat having count(*) > 1
    union all
    select 'measurements', count(*) from measurements group by candidate_id, case_id, repeat, metric having count(*) > 1
"""


class Reader:
    """Reads a warehouse again and again, by one connection or a fresh one each time, and checks every answer.

    A fresh connection is a snapshot of the campaign, which is also what the command line opens. Where the campaign
    `is_over`, a mean is the final one or is not given.
    """

    def __init__(
        self, root: Path, final: dict[str, list[dict[str, Any]]], *, is_fresh: bool, is_over: bool = False
    ) -> None:
        self.is_over = is_over
        self.root = root
        self.final = final
        self.campaign_id = str(final["campaigns"][0]["campaign_id"])
        self.con = None if is_fresh else connect(root, views=asked(*LOOKED_AT))
        self.looks = 0
        self.means = 0
        self.verdicts = 0

    def look(self, views: tuple[str, ...] = LOOKED_AT) -> None:
        """Read once and check; a reader who is told to try again sees nothing wrong."""
        self.looks += 1
        try:
            fresh = None if self.con else connect_snapshot(self.root, self.campaign_id, views, JUDGING_WEIGHTED)
            with nullcontext(self.con) if fresh is None else closing(fresh) as con:
                assert con is not None
                assert read_rows(con, DOUBLED) == []
                for view in views:
                    self.check(view, read_rows(con, f"from {view}"))
        except WarehouseError as error:
            if "cannot be read" not in str(error):
                raise

    def check(self, view: str, rows: list[dict[str, Any]]) -> None:
        if view == "comparisons":
            for row in rows:
                self.check_mean(row)
        if view == "decisions":
            decided = [row for row in rows if row["is_final"] or row["decision"] != "indeterminate"]
            self.verdicts += len(decided)
            for row in decided:
                assert row in self.final["decisions"]
        if view == "selection":
            self.verdicts += len(rows)
            for row in rows:
                assert row in self.final["selection"]
        if view == "duplicates":
            assert rows == []

    def check_mean(self, row: dict[str, Any]) -> None:
        """Case i weighs 2^i: the baseline's mean tells over which cases it was taken."""
        if row["metric"] != "score" or row["baseline_mean"] is None:
            return
        self.means += 1
        assert not self.is_over or row in self.final["comparisons"]
        total = row["baseline_mean"] * row["cases"]
        assert total == int(total)
        assert int(total).bit_count() == row["cases"]
        assert row["cases"] <= row["pairs"] <= 2 * row["cases"]


def final_rows(root: Path) -> dict[str, list[dict[str, Any]]]:
    """Return every view's rows of the only campaign, as they stand."""
    (campaign_id,) = campaigns_on_disk(root)
    with closing(connect_snapshot(root, campaign_id, VIEWS)) as con:
        return {view: sorted(read_rows(con, f"from {view}"), key=str) for view in VIEWS}
