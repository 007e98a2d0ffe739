from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

import opfield as of
from opfield.campaign.audit import audit
from opfield.campaign.ending import cancel, finish_with_failures
from opfield.campaign.results import AFTERWARDS, ALL_RESULTS, VERDICT_RESULTS, lay_out
from opfield.campaign.writer import open_writer
from opfield.cli.app import invoke
from opfield.errors import WarehouseError
from opfield.warehouse import results
from opfield.warehouse.projection import digests_bytes, file_digest
from opfield.warehouse.results import RECORD, results_folder
from opfield.warehouse.snapshot import STORED
from tests.campaign.campaigns import fails_on_b, offline, small

NAMES = (*AFTERWARDS, *VERDICT_RESULTS)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("finished") / "it's a root"
    assert of.run(small(run=fails_on_b), root, executor="inline").state == "completed"
    return root


@pytest.fixture
def root(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def folder_of(root: Path) -> Path:
    (folder,) = (root / "events").glob("campaign=[!n]*")
    return results_folder(root, "sha256:" + folder.name.removeprefix("campaign="))


def content_of(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder_of(root).iterdir()}


def laid_out_anew(root: Path) -> bool:
    with open_writer(root, f"sha256:{folder_of(root).name.removeprefix('campaign=')}") as writer:
        return lay_out(root, writer.campaign_id, writer.state.started, ALL_RESULTS)


def test_a_finished_campaign_s_results_can_be_read_without_sql(finished: Path) -> None:
    assert set(content_of(finished)) == {*(f"{name}.parquet" for name in NAMES), RECORD}
    decisions = pl.read_parquet(folder_of(finished) / "decisions.parquet")
    assert dict(decisions.select("label", "decision").iter_rows()) == {"less": "fail", "more": "fail"}
    (campaign,) = pl.read_parquet(folder_of(finished) / "campaigns.parquet").to_dicts()
    assert (campaign["state"], campaign["outcome"]) == ("completed", "kept_baseline")
    opened = of.open(finished, is_snapshot=True)
    for name in NAMES:
        rows = pl.read_parquet(folder_of(finished) / f"{name}.parquet").rows()
        assert rows == opened.sql(f"from {name} order by all").fetchall(), name


def test_what_is_not_as_the_views_say_is_named_and_seal_mends_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, expected = folder_of(root), content_of(root)
    # Lies and another form that their record vouches for.
    decisions, comparisons = folder / "decisions.parquet", folder / "comparisons.parquet"
    pl.read_parquet(decisions).with_columns(decision=pl.lit("pass")).write_parquet(decisions)
    pl.read_parquet(comparisons).drop("method").write_parquet(comparisons)
    (folder / RECORD).write_bytes(digests_bytes({each.name: file_digest(each) for each in folder.glob("*.parquet")}))
    # What no record vouches for.
    (folder / "gate_results.parquet").write_bytes(expected["gate_results.parquet"] + b"\0")
    (folder / "coverage.parquet").unlink()
    (folder / "more.parquet").write_bytes(expected["costs.parquet"])
    shutil.copytree(folder, folder.with_name(f"campaign={'0' * 64}"))
    findings = {finding.file: finding for finding in audit(root).findings}
    harmed = ("decisions", "comparisons", "gate_results", "coverage", "more")
    assert findings.keys() == {
        *(f"results/{folder.name}/{name}.parquet" for name in harmed),
        f"results/campaign={'0' * 64}",
    }
    assert all("`opfield seal`" in each.detail for name, each in findings.items() if folder.name in name)
    shutil.rmtree(folder.with_name(f"campaign={'0' * 64}"))
    monkeypatch.setenv("OPFIELD_WAREHOUSE", str(root))
    assert invoke(["seal"]) == 0
    assert content_of(root).keys() == {*(f"{name}.parquet" for name in ALL_RESULTS), RECORD}
    assert {**content_of(root), RECORD: b""} == {**content_of(root), **expected, RECORD: b""}
    assert audit(root).findings == ()
    assert not laid_out_anew(root)


def test_a_warehouse_without_results_reads_as_ever_and_the_next_run_lays_them_out(root: Path) -> None:
    expected = content_of(root)
    shutil.rmtree(root / "results")
    assert audit(root).findings == ()
    assert of.run(small(run=fails_on_b), root, executor="inline").appended == 0
    assert content_of(root) == expected
    shutil.rmtree(root / "results")
    assert finish_with_failures(root, f"sha256:{folder_of(root).name.removeprefix('campaign=')}").appended == 0
    assert content_of(root) == expected


def test_a_campaign_finishes_where_its_results_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    root = tmp_path / "warehouse"
    monkeypatch.setattr(results, "file_digest", full)
    outcome = of.run(small(), root, executor="inline")
    assert (outcome.state, outcome.outcome) == ("completed", "selected")
    assert not folder_of(root).exists()
    with pytest.raises(WarehouseError, match="No space left"):
        laid_out_anew(root)


def test_a_cancelled_campaign_has_results_without_a_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "warehouse"
    (tmp_path / "outage").touch()
    monkeypatch.setenv("OPFIELD_TEST_OUTAGE", str(tmp_path / "outage"))
    outcome = of.run(small(run=offline), root, executor="inline")
    assert outcome.state == "paused"
    assert not (root / "results").exists()
    cancel(root, outcome.campaign_id, "wrong prompt")
    assert pl.read_parquet(folder_of(root) / "campaigns.parquet")["state"].to_list() == ["cancelled"]
    assert pl.read_parquet(folder_of(root) / "selection.parquet").is_empty()
    assert audit(root).findings == ()


def test_what_is_laid_out_at_the_end_is_computed_by_then() -> None:
    assert {*AFTERWARDS, *VERDICT_RESULTS} <= set(STORED)
