from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from opfield.errors import UnknownNameError, WarehouseError
from opfield.warehouse import gate_folders
from opfield.warehouse.contract import load_contract
from opfield.warehouse.install import install, open_sql
from opfield.warehouse.locate import sql_folder
from opfield.warehouse.sql_text import macro_body, normalized, parsed
from opfield.warehouse.views import JUDGING, VERDICTS, Relation, ViewSet, load_views
from tests.sql.build import write_empty

BASE_KINDS = ("candidate_mean", "coverage", "failures", "mean_delta", "worst_delta")


@pytest.fixture(scope="module")
def views() -> Any:
    return load_views()


def view_set(**sources: str) -> ViewSet:
    return ViewSet.from_sources(sources)


def test_every_relation_stands_after_what_it_reads(views: ViewSet) -> None:
    seen: set[str] = set()
    for name in views.relations:
        assert views.closure([name]).keys() <= seen | {name}
        seen.add(name)


def test_every_column_of_every_view_has_a_comment_and_no_comment_lacks_its_column(
    views: ViewSet, every_view: Any
) -> None:
    query = "select table_name, list(column_name order by column_index) from duckdb_columns() group by all"
    columns = dict(every_view.execute(query).fetchall())
    for name, relation in views.relations.items():
        if relation.is_macro:
            continue
        assert list(relation.columns) == columns[name], name
        assert all(relation.columns.values()), name


def test_comments_reach_the_catalog(views: ViewSet, every_view: Any) -> None:
    con = every_view
    found = dict(con.execute("select view_name, comment from duckdb_views() where not internal").fetchall())
    tables = load_contract()
    for name, relation in views.relations.items():
        if not relation.is_macro:
            assert found[name] == relation.meaning
            assert "Grain: one row for each" in relation.meaning
    assert found["cells"] == tables["cells"].comment
    query = "select column_name, comment from duckdb_columns() where table_name = ?"
    assert dict(con.execute(query, ["coverage"]).fetchall()) == views.relations["coverage"].columns
    assert dict(con.execute(query, ["cells"]).fetchall()) == {
        each.name: each.comment for each in tables["cells"].columns
    }
    functions = con.execute("select comment from duckdb_functions() where function_name = 'oriented_delta'").fetchall()
    assert functions == [(views.relations["oriented_delta"].meaning,)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select  a ,\n b -- why\nfrom t", "select a,b from t"),
        ("select 'a -- b' /* no */ || \"c  d\"", "select 'a -- b'||\"c  d\""),
        ("select 'it''s  --' , $$x  -- y$$", "select 'it''s  --',$$x  -- y$$"),
        ("select a - -1", "select a- -1"),
        ("select a --b\n-1", "select a-1"),
        ("select e 'x'", "select e 'x'"),
        ("select 1 /* a */ /* b */ + 2", "select 1+2"),
    ],
)
def test_normalizing_strips_what_has_no_meaning(text: Any, expected: Any) -> None:
    assert normalized(text) == expected
    assert normalized(normalized(text)) == normalized(text)


def test_normalizing_a_relation_leaves_the_statement_that_it_is(views: ViewSet) -> None:
    for name, relation in views.relations.items():
        body = macro_body(relation.sql)
        sql = relation.sql if body is None else f"select {body}"
        assert placeless(parsed(normalized(sql))) == placeless(parsed(sql)), name


def placeless(node: Any) -> Any:
    """Return a parsed statement without the positions of its parts in the text."""
    if isinstance(node, dict):
        return {key: placeless(each) for key, each in node.items() if not key.startswith("query_location")}
    return [placeless(each) for each in node] if isinstance(node, list) else node


def test_normalized_texts_differ_where_a_literal_does() -> None:
    assert normalized("select 'a  b'") != normalized("select 'a b'")


def test_a_comment_changes_no_digest_source(views: ViewSet) -> None:
    sources = views.sources()
    sources["coverage"] = "-- Something else.\n" + sources["coverage"].replace(",\n", ", -- note\n")
    changed = ViewSet.from_sources(sources)
    assert changed.policy_digest_sources(BASE_KINDS) == views.policy_digest_sources(BASE_KINDS)


def test_the_closure_holds_what_judges_and_nothing_else(views: ViewSet) -> None:
    found = views.policy_digest_sources(["mean_delta"])
    assert {*JUDGING, VERDICTS, "gate_mean_delta", "bounds", "oriented_delta", "t_quantiles"} <= found.keys()
    assert not {"gate_coverage", "pareto", "violations", "costs"} & found.keys()


def test_an_unused_gate_kind_changes_no_digest_source(views: ViewSet, tmp_path: Path) -> None:
    (tmp_path / "gate_luck.sql").write_text(views.sources()["gate_coverage"].replace("'coverage'", "'luck'"))
    more = load_views([tmp_path])
    assert more.gate_kinds == tuple(sorted([*views.gate_kinds, "luck"]))
    assert more.policy_digest_sources(["coverage"]) == views.policy_digest_sources(["coverage"])
    assert more.policy_digest_sources(["luck"]) != views.policy_digest_sources(["coverage"])


def test_a_changed_gate_changes_the_digest_source(views: ViewSet) -> None:
    sources = views.sources()
    sources["gate_mean_delta"] = sources["gate_mean_delta"].replace(">=", ">")
    changed = ViewSet.from_sources(sources)
    assert changed.policy_digest_sources(["mean_delta"]) != views.policy_digest_sources(["mean_delta"])
    assert changed.policy_digest_sources(["coverage"]) == views.policy_digest_sources(["coverage"])


def test_views_rebuilt_from_a_closure_judge_alike(views: ViewSet, tmp_path: Path) -> None:
    kept = ViewSet.from_sources(views.policy_digest_sources(["mean_delta"]))
    assert kept.policy_digest_sources(["mean_delta"]) == views.policy_digest_sources(["mean_delta"])
    con = duckdb.connect()
    con.execute(f"set variable root = '{write_empty(tmp_path)}'")
    install(con, kept, load_contract())
    assert con.execute("from selection").fetchall() == []


def test_sources_round_trip(views: ViewSet) -> None:
    again = ViewSet.from_sources(views.sources())
    assert again.sources() == views.sources()
    assert list(again.relations) == list(views.relations)


def test_kept_verdicts_are_used_as_they_stand(views: ViewSet) -> None:
    kept = views.restricted(["coverage", "failures"])
    sources = kept.sources()
    assert VERDICTS in sources
    sources[VERDICTS] = sources[VERDICTS].replace("union all", "union")  # as another version might have written it
    again = ViewSet.from_sources(sources)
    assert again.sources() == sources
    assert again.restricted(["failures", "coverage"]).sources() == sources
    found = again.policy_digest_sources(["coverage", "failures"])
    assert found[VERDICTS] == normalized(again.relations[VERDICTS].sql)
    assert found[VERDICTS] != kept.policy_digest_sources(["coverage", "failures"])[VERDICTS]


def test_restricting_kept_views_further_drops_the_other_kinds(views: ViewSet) -> None:
    kept = ViewSet.from_sources(views.restricted(["coverage", "failures"]).sources())
    assert kept.restricted(["coverage"]).sources() == views.restricted(["coverage"]).sources()


def test_gates_tell_what_they_need(views: ViewSet) -> None:
    assert {kind: views.gate_needs[kind] for kind in BASE_KINDS} == {
        "candidate_mean": (("metric",), ("at_least", "at_most")),
        "coverage": (),
        "failures": (),
        "mean_delta": (("metric",), ("threshold",)),
        "worst_delta": (("metric",), ("threshold",)),
    }


def test_gates_tell_which_options_they_take(views: ViewSet) -> None:
    assert {kind: set(views.gate_takes[kind] or ()) for kind in BASE_KINDS} == {
        "candidate_mean": {"at_least", "at_most", "within"},
        "coverage": {"within"},
        "failures": {"max", "excess", "codes", "arms", "infrastructure", "within"},
        "mean_delta": {"within"},
        "worst_delta": {"within"},
    }


def test_every_option_that_a_gate_of_the_base_reads_is_one_that_it_takes(views: ViewSet) -> None:
    for kind in BASE_KINDS:
        read: set[str] = set(re.findall(r"options, '\$\.(\w+)'", views.relations[f"gate_{kind}"].sql))
        assert read | {"within"} == set(views.gate_takes[kind] or ()), kind


def test_a_gate_that_does_not_say_what_it_takes_may_take_anything(tmp_path: Path) -> None:
    more = load_views([folder_with(tmp_path, gate_luck="-- Luck.\nselect 1 as x")])
    assert more.gate_takes["luck"] is None


@pytest.mark.parametrize("takes", ["", "within,", "within alpha", "within or alpha", "within\n-- takes: alpha"])
def test_takes_that_cannot_be_read_are_named(tmp_path: Path, takes: Any) -> None:
    folder_with(tmp_path, gate_luck=f"-- Luck.\n-- takes: {takes}\nselect 1 as x")
    with pytest.raises(
        WarehouseError, match=r"gate_luck\.sql: what it takes is .*write one line such as: takes: within"
    ):
        load_views([tmp_path])


@pytest.mark.parametrize("needs", ["", "metric,", "metric and threshold", "metric\n-- needs: threshold"])
def test_needs_that_cannot_be_read_are_named(tmp_path: Path, needs: Any) -> None:
    folder_with(tmp_path, gate_luck=f"-- Luck.\n-- needs: {needs}\nselect 1 as x")
    with pytest.raises(WarehouseError, match=r"gate_luck\.sql: its needs are .*write one line such as: needs: metric"):
        load_views([tmp_path])


def test_restricting_to_no_kind_leaves_an_empty_union(views: ViewSet, tmp_path: Path) -> None:
    con = duckdb.connect()
    con.execute(f"set variable root = '{write_empty(tmp_path)}'")
    install(con, views.restricted([]), load_contract())
    assert con.execute("from gate_verdicts").fetchall() == []
    with pytest.raises(duckdb.CatalogException):
        con.execute("from gate_coverage")


def test_an_unknown_gate_kind_lists_the_known_ones(views: ViewSet) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown gate kind 'luck'.*known: .*candidate_mean, coverage"):
        views.restricted(["luck"])


def test_an_unknown_relation_is_named() -> None:
    with pytest.raises(WarehouseError, match=r"relation 'a' reads an unknown relation 'cels'; did you mean 'cells'"):
        view_set(a="select 1 from cels")


def test_a_cycle_is_named() -> None:
    with pytest.raises(WarehouseError, match=r"cycle: a -> b -> a"):
        view_set(a="select 1 from b", b="select 1 from a")


def test_a_relation_that_is_no_select_is_named() -> None:
    with pytest.raises(WarehouseError, match="relation 'a' is no SELECT"):
        view_set(a="drop table cells")


def test_names_of_ctes_are_no_relations() -> None:
    views = view_set(
        a="with cells as (select 1 as x from cells), b as (select x from cells) select x from b",
        c="with recursive r as (select 1 as n union all select n + 1 from r where n < 3) select n from r, a",
    )
    assert views.closure(["c"]).keys() == {"a", "c"}


def test_a_macro_is_read_like_a_relation() -> None:
    views = view_set(twice="create macro twice(x) as x * 2", a="select twice(1) as two")
    assert views.closure(["a"]) == {"a": "select twice(1)as two", "twice": "create macro twice(x)as x*2"}


def folder_with(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".sql")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_two_files_of_one_name_are_both_named(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, facts__a="select 1 as x", pairs__a="select 2 as x")
    with pytest.raises(WarehouseError, match=r"facts/a\.sql and .*pairs/a\.sql"):
        load_views(folder=folder)


@pytest.mark.parametrize("name", ["cells", VERDICTS])
def test_a_file_may_not_take_the_name_of_a_table(tmp_path: Path, name: Any) -> None:
    with pytest.raises(WarehouseError, match=name):
        load_views(folder=folder_with(tmp_path, **{f"facts__{name}": "select 1 as x"}))


def test_a_gate_folder_holds_gates_only(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match=r"name it gate_<kind>\.sql"):
        load_views([folder_with(tmp_path, luck="select 1 as x")])
    with pytest.raises(WarehouseError, match="does not exist"):
        load_views([tmp_path / "nowhere"])


class EntryPoint:
    """An entry point as an installed package would have it."""

    def __init__(self, offered: object) -> None:
        self.name, self.value, self.offered = "luck", "lucky:gates", offered

    def load(self) -> object:
        if isinstance(self.offered, Exception):
            raise self.offered
        return self.offered


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let an installed package offer something as its folder of gate kinds."""

    def run(*offered: object) -> None:
        points = [EntryPoint(each) for each in offered]
        monkeypatch.setattr(
            gate_folders, "entry_points_of", lambda group: tuple(points) if group == "opfield.gates" else ()
        )

    return run


def test_installed_packages_offer_gate_kinds(views: ViewSet, tmp_path: Path, offer: Any) -> None:
    folder_with(tmp_path, gate_luck="-- Luck.\n-- needs: metric\n" + views.relations["gate_coverage"].sql)
    offer(tmp_path, lambda: tmp_path)
    more = load_views()
    assert more.gate_kinds == tuple(sorted([*views.gate_kinds, "luck"]))
    assert more.gate_needs["luck"] == (("metric",),)
    assert more.relations["gate_luck"].layer == "gates"
    assert "luck" not in load_views(folder=sql_folder()).gate_kinds


@pytest.mark.parametrize(
    ("offered", "reason"),
    [
        ("folder", r"gives 'folder'; it should give the Path"),
        (Path("nowhere"), r"gives the folder nowhere, which does not exist"),
        (ImportError("no module lucky"), r"failed: ImportError: no module lucky"),
        (lambda: 1 / 0, r"failed: ZeroDivisionError"),
    ],
)
def test_an_entry_point_without_a_gate_folder_is_named(offer: Any, offered: Any, reason: Any) -> None:
    offer(offered)
    with pytest.raises(WarehouseError, match=rf"entry point 'luck' of opfield\.gates \(lucky:gates\) {reason}"):
        load_views()


def test_a_macro_is_named_after_its_file(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="name the file after it"):
        load_views(folder=folder_with(tmp_path, macros__one="create macro two(x) as x"))


def test_a_header_gives_meaning_and_columns() -> None:
    header = "Why.\nGrain: one row for each x.\ncolumns:\n  a: One\n    and more.\n  b: Two."
    relation = Relation("r", "facts", header, "select 1 as a, 2 as b")
    assert relation.meaning == "Why.\nGrain: one row for each x."
    assert relation.columns == {"a": "One and more.", "b": "Two."}


def test_open_sql_names_no_path_of_this_machine(views: ViewSet) -> None:
    text = open_sql(views, load_contract())
    assert str(Path.cwd()) not in text
    assert "'/" not in text.replace("|| '/", "").replace("'/*.parquet'", "").replace("'/\n", "")


def test_opening_leaves_the_chosen_campaign_as_it_was(views: ViewSet, tmp_path: Path) -> None:
    con = duckdb.connect()
    con.execute(f"set variable root = '{write_empty(tmp_path)}'; set variable campaign = 'abc'")
    install(con, ViewSet.from_sources(views.closure(["declarations"])), load_contract())
    assert con.execute("select getvariable('campaign')").fetchall() == [("abc",)]
