from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import opfield as of
from opfield.dashboard import Address, Board, View, as_html, board_of, charts_of
from opfield.dashboard.listing import PAGE_ROWS
from opfield.errors import WarehouseError
from opfield.warehouse.projection import campaigns_on_disk
from opfield.warehouse.session import open_warehouse
from tests.campaign.campaigns import small


def view(board: Board, **query: str) -> View:
    return board.view(Address.of(query))


def test_the_list_says_what_the_views_say(board: Board, finished: Path) -> None:
    opened = open_warehouse(finished, is_snapshot=True)
    expected = opened.rows(
        "select campaign_id, state, outcome, (select count(*) from cells where campaign_id = campaigns.campaign_id) "
        "as accepted from campaigns order by started_at desc, campaign_id"
    )
    rows = view(board).told["rows"]

    assert [{name: row[name] for name in expected[0]} for row in rows] == expected
    assert all(row["declared"] == row["accepted"] for row in rows)


def test_the_list_is_found_by_name_and_by_state(board: Board) -> None:
    assert [row["name"] for row in view(board, q="SMALL").told["rows"]] == ["small", "small"]
    assert [row["outcome"] for row in view(board, state="selected").told["rows"]] == ["selected"]
    assert view(board, q="%").told["rows"] == []
    assert view(board, q="'; drop table part_listed; --").told["rows"] == []
    assert len(view(board).told["rows"]) == 3


def test_a_campaign_says_what_its_relations_say(board: Board, finished: Path) -> None:
    campaign_id = next(row["campaign_id"] for row in view(board).told["rows"] if row["failed"] == 2)
    opened = open_warehouse(finished, is_snapshot=True)
    told = view(board, campaign=campaign_id).told

    expected = opened.rows(
        "select label, decision, score from decisions where campaign_id = ? order by score desc", [campaign_id]
    )
    assert [{name: row[name] for name in expected[0]} for row in told["verdicts"]] == expected
    gates = opened.rows("select count(*) as gates from gate_results where campaign_id = ?", [campaign_id])
    assert sum(len(row["gates"]) for row in told["verdicts"]) == gates[0]["gates"]
    failed = opened.rows("select sum(cells)::bigint as cells from failures where campaign_id = ?", [campaign_id])
    assert sum(row["cells"] for row in told["failures"]) == failed[0]["cells"] == 2
    assert [row["known_cost_usd"] for row in told["costs"]] == [None, None, None]
    assert {row["label"]: row["missing"] for row in told["arms"]} == {"baseline": 0, "less": 0, "more": 0}
    assert set(charts_of(view(board, campaign=campaign_id))) == {"forest", "coverage"}


def test_a_candidate_says_what_became_of_each_case(board: Board) -> None:
    campaign_id = next(row["campaign_id"] for row in view(board).told["rows"] if row["failed"] == 2)
    told = view(board, campaign=campaign_id, candidate="more").told

    assert [gate["status"] for gate in told["gates"]][:2] == ["pass", "fail"]
    assert [(row["case_id"], row["mean_delta"], row["failed"]) for row in told["cases"]] == [
        ("b", None, 2),
        ("a", 1.0, 0),
        ("c", 3.0, 0),
    ]
    assert [row["metric"] for row in told["changes"]] == ["score", "words"]


def test_a_case_says_what_happened_on_every_arm(board: Board) -> None:
    campaign_id = next(row["campaign_id"] for row in view(board).told["rows"] if row["failed"] == 2)
    told = view(board, campaign=campaign_id, case="b").told

    assert [(row["label"], row["repeat"], row["status"]) for row in told["cells"]] == [
        ("baseline", 0, "success"),
        ("baseline", 1, "success"),
        ("less", 0, "success"),
        ("less", 1, "success"),
        ("more", 0, "domain_failure"),
        ("more", 1, "domain_failure"),
    ]
    assert told["cells"][-1]["failure_message"] == "it said nothing"
    assert told["cells"][0]["measurements"] == "score = 2, words = 1"


def test_nothing_is_read_while_no_file_changes(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = Board(finished, patience_s=60)
    queries: list[dict[str, str]] = [{}, {"campaign": "<script>alert('name')</script>"}]
    shown = [view(board, **query) for query in queries]

    def refuse(*_arguments: object, **_options: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr("opfield.dashboard.board.take", refuse)
    monkeypatch.setattr("opfield.dashboard.listing.take", refuse)
    for query, first in zip(queries, shown, strict=True):
        assert view(board, **query).told.keys() == first.told.keys()
        assert board.mark(first.address) == board.view(first.address).mark


def test_a_campaign_that_starts_later_appears_and_says_whom_it_waits_for(mine: Path) -> None:
    board = Board(mine, patience_s=60)
    assert len(view(board).told["rows"]) == 3
    mark = board.mark(Address())

    of.run(small(repeats=3, policy=of.Policy([of.coverage(), of.review()], prefer="score")), mine)

    assert board.mark(Address()) != mark
    (row,) = view(board, state="awaiting_review").told["rows"]
    assert (row["accepted"], row["is_awaiting"]) == (27, True)
    assert "awaiting review" in as_html(view(board))
    shown = view(board, campaign=row["campaign_id"])
    assert shown.told["facts"]["is_awaiting"]
    assert "awaiting review" in as_html(shown).partition("</h1>")[0]


def test_an_unknown_campaign_lists_the_known_ones(board: Board) -> None:
    shown = view(board, campaign="nope")

    assert shown.kind == "problem"
    assert "unknown campaign 'nope'; known: " in shown.told["problem"]
    assert "(small)" in shown.told["problem"]
    assert "several campaigns fit 'small'" in view(board, campaign="small").told["problem"]


def test_unknown_candidates_and_cases_are_told(board: Board) -> None:
    name = "<script>alert('name')</script>"
    assert "known: <u>more</u>, baseline, less" in view(board, campaign=name, candidate="nope").told["problem"]
    assert "no case 'nope'" in view(board, campaign=name, case="nope").told["problem"]


def test_what_is_damaged_is_found_and_takes_nothing_else_away(mine: Path) -> None:
    damaged, whole, _ = campaigns_on_disk(mine)
    cells = mine / "cells" / f"campaign={damaged.removeprefix('sha256:')}"
    for path in cells.glob("*.parquet"):
        path.write_bytes(path.read_bytes()[:-20] + b"x" * 20)
    board = Board(mine, patience_s=60)

    rows = {row["campaign_id"]: row for row in view(board).told["rows"]}
    assert rows[damaged]["state"] == "damaged"
    assert "cells/campaign=" in rows[damaged]["problem"]
    assert rows[whole]["state"] == "completed"
    shown = view(board, campaign=damaged)
    assert shown.kind == "problem"
    assert {each["law"] for each in shown.told["findings"]} <= {"altered", "unreadable"}
    assert shown.told["findings"]
    assert all(each["file"].startswith("cells/") for each in shown.told["findings"])
    assert view(board, campaign=whole).kind == "campaign"


def test_a_ledger_that_lost_its_beginning_is_a_row_that_says_so(mine: Path) -> None:
    damaged = campaigns_on_disk(mine)[0]
    for path in (mine / "events" / f"campaign={damaged.removeprefix('sha256:')}").glob("*1.parquet"):
        path.unlink()
    board = Board(mine, patience_s=60)

    rows = {row["campaign_id"]: row for row in view(board).told["rows"]}
    assert rows[damaged]["state"] == "damaged"
    assert view(board, campaign=damaged).kind == "problem"


def test_a_table_that_is_gone_is_told(mine: Path) -> None:
    board = Board(mine, patience_s=60)
    shutil.rmtree(mine / "cells")

    shown = view(board)

    assert shown.kind == "problem"
    assert "has no file any more" in shown.told["problem"]


def test_a_folder_that_is_no_warehouse_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="is no warehouse yet"):
        board_of(tmp_path)


def test_long_lists_come_in_pages(board: Board) -> None:
    assert view(board, page="2").told["rows"] == []
    assert PAGE_ROWS == 50
