"""What follows from the ledger is written again by the next writer; what does not is told, and harms nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from opfield.campaign.audit import audit
from opfield.campaign.engine import run
from opfield.cli.app import invoke
from opfield.errors import DamageError
from opfield.warehouse.layout import SEALED, digests_folder
from opfield.warehouse.projection import campaigns_on_disk
from opfield.warehouse.session import open_warehouse
from tests.campaign.campaigns import small


@pytest.mark.parametrize("damage", ["cut", "swapped", "gone"])
def test_a_damaged_projection_is_written_again_by_the_next_writer(
    tmp_path: Path, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["run", "quadratic", "--warehouse", str(tmp_path)]) == 0
    victim = max((tmp_path / "measurements").glob("*/0*.parquet"))
    if damage == "gone":
        victim.unlink()
    else:
        other = max((tmp_path / "cells").glob("*/0*.parquet"))
        victim.write_bytes(victim.read_bytes()[:-10] if damage == "cut" else other.read_bytes())
    findings = audit(tmp_path).findings
    assert any(victim.name in each.file and "opfield resume" in each.detail for each in findings)
    assert invoke(["resume", "--warehouse", str(tmp_path)]) == 0
    assert audit(tmp_path).findings == ()
    capfd.readouterr()


def test_one_damaged_ledger_leaves_the_other_campaigns_readable(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run(small(), tmp_path)
    assert invoke(["run", "quadratic", "--warehouse", str(tmp_path)]) == 0
    named = open_warehouse(tmp_path).campaign_id("quadratic")
    for segment in (tmp_path / "events").glob(f"campaign={named.removeprefix('sha256:')}/*[1-9].parquet"):
        segment.write_bytes(segment.read_bytes()[:-10])
    assert invoke(["compare", "small", "--warehouse", str(tmp_path)]) == 0
    assert invoke(["compare", named, "--warehouse", str(tmp_path)]) == 1
    assert "altered: its bytes are not those that were written" in capfd.readouterr().err


def test_a_sealed_campaign_without_its_record_is_refused_and_not_projected_twice(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run(small(), tmp_path)
    assert invoke(["seal", "--warehouse", str(tmp_path)]) == 0
    (campaign_id,) = campaigns_on_disk(tmp_path)
    (digests_folder(tmp_path, campaign_id) / SEALED).unlink()
    with pytest.raises(DamageError, match="put it back"):
        run(small(), tmp_path)
    capfd.readouterr()
    assert invoke(["compare", "--warehouse", str(tmp_path)]) == 1
    assert SEALED in capfd.readouterr().err


def test_a_lost_table_folder_comes_back(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "quadratic", "--warehouse", str(tmp_path)]) == 0
    shutil.rmtree(tmp_path / "metrics")
    assert invoke(["resume", "--warehouse", str(tmp_path)]) == 0
    assert audit(tmp_path).findings == ()
    capfd.readouterr()
