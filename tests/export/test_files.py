from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from opfield.errors import UnknownNameError, WarehouseError
from opfield.export import files
from opfield.export.files import export_file, export_folder, format_of
from opfield.export.writers import Form, write_rows
from opfield.warehouse.relations import known_relations
from opfield.warehouse.session import Warehouse

#: A relation of every kind: tables, text, lists, structs and maps, sums of large integers.
SOME = ("cells", "cases", "artifacts", "events", "decisions", "declarations", "policy_gates", "costs", "wide")


def opened(root: Path) -> Warehouse:
    return Warehouse(root, is_snapshot=True)


def test_a_parquet_file_holds_the_relation_s_rows_and_types(odd_root: Path, tmp_path: Path) -> None:
    warehouse = opened(odd_root)
    for each in export_folder(warehouse, SOME[:-1], tmp_path, Form("parquet")):
        con = warehouse.connection(f"from {each.relation}")
        described = con.execute(f"describe from {each.relation}").fetchall()
        types = {
            name: kind.replace("HUGEINT", "DECIMAL(38,0)").replace("JSON", "VARCHAR") for name, kind, *_ in described
        }
        with duckdb.connect() as reader:
            found = reader.execute(f"describe from '{each.path}'").fetchall()
            assert {name: kind for name, kind, *_ in found} == types
            rows = reader.execute(f"from '{each.path}'").fetchall()
        expected = con.execute(f"from {each.relation}").fetchall()
        assert Counter(map(repr, map(plain, rows))) == Counter(map(repr, map(plain, expected))), each.relation
        assert len(rows) == each.rows


def plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    # A sum of integers is a decimal without places in Parquet.
    return tuple(int(value) if type(value).__name__ == "Decimal" else value for value in row)


def test_a_duckdb_file_holds_every_relation_with_its_meaning(odd_root: Path, tmp_path: Path) -> None:
    names = (*known_relations(), "wide")
    written = export_file(opened(odd_root), names, tmp_path / "all.duckdb", Form("duckdb"))
    with duckdb.connect(str(tmp_path / "all.duckdb"), read_only=True) as con:
        tables = dict(con.execute("select table_name, comment from duckdb_tables()").fetchall())
        assert set(tables) == set(names)
        assert all(tables.values())
        assert con.execute("select comment from duckdb_columns() where column_name = 'decision'").fetchall()[0][0]
        counts = {name: con.execute(f'select count(*) from "{name}"').fetchall()[0][0] for name in names}
    assert counts == {each.relation: each.rows for each in written}
    assert list(tmp_path.iterdir()) == [tmp_path / "all.duckdb"]


def test_the_same_evidence_gives_the_same_bytes_on_any_number_of_threads(odd_root: Path, tmp_path: Path) -> None:
    formats = ("parquet", "arrow", "csv", "jsonl")
    for threads in (1, 4):
        warehouse = opened(odd_root)
        con = warehouse.connection("from cells")
        con.execute(f"set threads = {threads}")
        try:
            for format in formats:
                export_folder(warehouse, SOME, tmp_path / str(threads), Form(format))
        finally:
            con.execute("reset threads")
    names = {path.name for path in (tmp_path / "1").iterdir()}
    assert names == {f"{name}.{format}" for name in SOME for format in formats}
    assert all((tmp_path / "1" / name).read_bytes() == (tmp_path / "4" / name).read_bytes() for name in names)


def test_rows_stand_in_the_order_of_their_key(odd_root: Path, tmp_path: Path) -> None:
    export_file(opened(odd_root), ["measurements"], tmp_path / "m.parquet", Form("parquet"))
    columns = ["candidate_id", "case_id", "repeat", "arm", "metric"]
    keys = [tuple(row.values()) for row in pa.parquet.read_table(tmp_path / "m.parquet", columns=columns).to_pylist()]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys) > 0


def test_a_file_is_replaced_whole_or_left_as_it_was(
    odd_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d.csv"
    path.write_text("earlier")
    real = write_rows

    def fails_late(*arguments: Any) -> int:
        real(*arguments)
        raise OSError(28, os.strerror(28), "d.csv")

    monkeypatch.setattr(files, "write_rows", fails_late)
    with pytest.raises(WarehouseError, match=r"cannot write .*d\.csv: No space left on device"):
        export_file(opened(odd_root), ["decisions"], path, Form("csv"))
    monkeypatch.undo()
    assert path.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [path]
    export_file(opened(odd_root), ["decisions"], path, Form("csv"))
    assert path.read_text().startswith('"campaign_id"')
    assert list(tmp_path.iterdir()) == [path]


def test_of_a_folder_no_file_takes_its_name_before_all_are_written(
    odd_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = write_rows, []

    def second_fails(*arguments: Any) -> int:
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(files, "write_rows", second_fails)
    with pytest.raises(KeyboardInterrupt):
        export_folder(opened(odd_root), ["decisions", "coverage"], tmp_path, Form("csv"))
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_table_is_named_and_nothing_is_written(odd_root: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(odd_root, tmp_path / "copy"))
    damaged = max(root.glob("cells/campaign=[!n]*/*.parquet"), key=lambda path: path.stat().st_size)
    damaged.write_bytes(damaged.read_bytes()[:-40])
    with pytest.raises(WarehouseError, match=r"(?s)cells cannot be exported.*opfield audit"):
        export_file(opened(root), ["cells"], tmp_path / "out" / "cells.csv", Form("csv"))
    assert list((tmp_path / "out").iterdir()) == []


def test_a_warehouse_keeps_its_own_files_only(odd_root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(odd_root)
    for place in (odd_root / "d.csv", odd_root / "cells" / "d.csv", link / "d.csv"):
        with pytest.raises(WarehouseError, match="lies inside the warehouse"):
            export_file(opened(odd_root), ["decisions"], place, Form("csv"))


def test_a_device_or_a_folder_is_not_replaced(odd_root: Path, tmp_path: Path) -> None:
    for place in (Path("/dev/null"), tmp_path):
        with pytest.raises(WarehouseError, match="no file that could be replaced"):
            export_file(opened(odd_root), ["decisions"], place, Form("csv"))


def test_a_link_leads_to_the_file_that_is_replaced(odd_root: Path, tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("earlier")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    export_file(opened(odd_root), ["decisions"], tmp_path / "link.csv", Form("csv"))
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() != "earlier"


def test_an_unknown_relation_lists_the_known_ones(odd_root: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown relation 'decision'; did you mean 'decisions'"):
        export_file(opened(odd_root), ["decision"], tmp_path / "d.csv", Form("csv"))


@pytest.mark.parametrize(
    ("name", "format"), [("a.PARQUET", "parquet"), ("a.b.ndjson", "jsonl"), ("a.feather", "arrow")]
)
def test_the_format_follows_the_ending(name: str, format: str) -> None:
    assert format_of(Path(name)) == format


def test_an_unknown_ending_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"'a\.xlsx' does not say its format; end it with one of \.parquet"):
        format_of(Path("a.xlsx"))
