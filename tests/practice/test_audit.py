"""An audit verifies what landed, binds every pair again, and tells of anything that is not as it was written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from opfield.campaign.audit import audit
from opfield.core import canonical_json, parse_json
from opfield.core.envelope import envelope_digest
from opfield.warehouse import landing
from opfield.warehouse.landing import Envelope, landing_record, open_landing
from opfield.warehouse.projection import digests_bytes, file_digest
from tests.practice.landed import at, bind, rows
from tests.practice.records import run, used

RUN = run(candidate_attempts=(), budget_consumed=used())


@pytest.fixture(scope="module")
def kept(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a warehouse with two landings: a run with two attempts, one of them admitted, and a refusal."""
    root = shutil.copytree(made, tmp_path_factory.mktemp("kept") / "warehouse")
    bind(root, RUN, at(RUN, 0), at(RUN, 9), {"no": "record"}, admit=True)
    bind(root, at(RUN, 1))
    return root


@pytest.fixture
def landed(kept: Path, tmp_path: Path) -> Path:
    return shutil.copytree(kept, tmp_path / "warehouse")


def laws(root: Path) -> set[str]:
    return {each.law for each in audit(root).findings}


def rewrite(root: Path, name: str, change: str) -> None:
    """Write a file of a landing anew, and the record of digests as if that had been written."""
    path = root / "practice" / name
    con = duckdb.connect()
    con.execute(f"create table kept as from '{path}'")
    con.execute(change)
    con.execute(f"copy kept to '{path}' (format parquet)")
    record = landing_record(root, int(path.stem))
    told = json.loads(record.read_bytes())["files"]
    told[f"practice/{name}"] = file_digest(path)
    record.write_bytes(digests_bytes(told))


def test_what_landed_stands(landed: Path) -> None:
    assert laws(landed) == set()


@pytest.mark.parametrize(
    "name", ["landings/000000000001", "bindings/000000000001", "runs/000000000001", "admissions/000000000001"]
)
def test_a_byte_that_differs_and_a_file_that_is_gone_are_found(landed: Path, name: str) -> None:
    path = landed / "practice" / f"{name}.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert laws(landed) == {"altered"}
    path.unlink()
    assert laws(landed) >= {"gap"} if name.startswith("landings") else laws(landed) == {"missing"}


def test_a_file_that_nobody_landed_is_found(landed: Path) -> None:
    (landed / "practice" / "bindings" / "more.parquet").write_bytes(b"x")
    assert laws(landed) == {"unexpected"}


def test_a_copied_table_file_is_found(landed: Path) -> None:
    shutil.copy(landed / "practice/bindings/000000000001.parquet", landed / "practice/bindings/000000000003.parquet")
    assert laws(landed) == {"unexpected"}
    assert {each["law"] for each in rows(landed, "from broken_memberships")} == {"doubled", "taken"}


@pytest.mark.parametrize(
    ("name", "change", "law"),
    [
        ("bindings/000000000001.parquet", "update kept set steps = 0", "unexpected"),
        ("admissions/000000000001.parquet", "update kept set candidates = 0", "unexpected"),
        ("runs/000000000001.parquet", "update kept set max_steps = 1000", "unexpected"),
        ("landings/000000000001.parquet", "update kept set is_valid = true", "envelope"),
        (
            "landings/000000000001.parquet",
            "update kept set payload = replace(payload, '\"depth\":2', '\"depth\":1')",
            "envelope",
        ),
    ],
)
def test_rows_that_are_rewritten_with_their_digests_are_found(landed: Path, name: str, change: str, law: str) -> None:
    rewrite(landed, name, change)
    assert law in laws(landed)


def test_a_forged_binding_that_is_sealed_throughout_is_found(landed: Path) -> None:
    (row,) = rows(landed, "from bindings where outcome = 'bound' and landing = 2")
    told: Any = parse_json(row["payload"])
    told["explanation"] = "and correct"
    forged = canonical_json(told).decode()
    digest = envelope_digest(row["schema"], forged.encode())
    for name in ("landings/000000000002.parquet", "bindings/000000000002.parquet"):
        change = f"update kept set payload = '{forged}', digest = '{digest}' where digest = '{row['digest']}'"
        rewrite(landed, name, change)
    assert laws(landed) == {"outcome"}


def test_a_writer_that_died_before_the_tables_were_written_is_caught_up(
    landed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    before = rows(landed, "from bindings order by all")
    with monkeypatch.context() as patched:
        patched.setattr(landing, "_project", die)
        bind(landed, at(RUN, 2))
    assert rows(landed, "from bindings order by all") == before
    assert laws(landed) == {"projection"}
    bind(landed)
    assert laws(landed) == set()
    assert len(rows(landed, "from bindings")) == len(before) + 1


def test_what_fails_before_it_is_published_leaves_nothing(landed: Path) -> None:
    files = sorted(landed.rglob("*"))
    handed = Envelope("opfield.run_admission/v1", "{}", "x", True)
    with pytest.raises(duckdb.ConstraintException), open_landing(landed) as opened:
        opened.add([handed])
    assert sorted(landed.rglob("*")) == files


def test_a_warehouse_of_an_older_opfield_reads_as_empty_and_is_given_its_tables_when_it_is_written(
    made: Path, tmp_path: Path
) -> None:
    root = shutil.copytree(made, tmp_path / "old")
    shutil.rmtree(root / "practice")
    for view in ("runs", "run_members", "run_budgets", "binding_refusals", "candidate_bindings", "broken_memberships"):
        assert rows(root, f"from {view}") == []
    assert bind(root, RUN, at(RUN, 0)) == 0
    assert laws(root) == set()
    assert len(rows(root, "from run_members")) == 1


def test_the_laws_between_records_are_told_in_sql(landed: Path) -> None:
    def broken() -> set[tuple[str, str]]:
        return {(each["law"], each["relation"]) for each in rows(landed, "from broken_memberships")}

    assert broken() == set()
    rewrite(landed, "runs/000000000001.parquet", "update kept set max_steps = 2")
    assert broken() == {("overspent", "admissions")}
    rewrite(landed, "runs/000000000001.parquet", "update kept set is_valid = false where is_valid")
    assert broken() == {("run_missing", "bindings")}
    rewrite(landed, "admissions/000000000001.parquet", "update kept set candidates = 2")
    rewrite(landed, "operator_results/000000000002.parquet", "delete from kept")
    assert broken() == {("run_missing", "bindings"), ("operator_result_missing", "bindings"), ("unbound", "admissions")}
