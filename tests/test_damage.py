"""Whatever shows what a campaign came to shows the same over damaged files, or what the audit finds; nothing else."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import opfield as of
from opfield.campaign.damage import damaged_files
from opfield.cli.app import invoke
from opfield.cli.verdict import read_verdict
from opfield.dashboard import Address, Board, as_html
from opfield.errors import DamageError, OpfieldError
from opfield.report.content import read_report
from opfield.warehouse.layout import digests_folder, partition
from opfield.warehouse.projection import campaigns_on_disk
from tests.campaign.campaigns import small

Capture = pytest.CaptureFixture[str]

KINDS: Final = ("events", "cells", "measurements", "cases", "candidates", "metrics", "artifacts", "digests")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("whole") / "warehouse"
    of.run(small(repeats=1), root, executor="inline")
    return root


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def campaign_of(root: Path) -> str:
    return campaigns_on_disk(root)[0]


def page_of(root: Path) -> str:
    return as_html(Board(root, patience_s=60).view(Address.of({"campaign": campaign_of(root)})))


ANSWERS: Final[Mapping[str, Callable[[Path], str]]] = {
    "report": lambda root: str(read_report(root, campaign_of(root))["report_digest"]),
    "compare": lambda root: json.dumps(read_verdict(root, campaign_of(root)), default=str),
    "dashboard": page_of,
}


def answers_of(root: Path) -> dict[str, str]:
    """Return what each way of looking gives, or the message of what it refuses with; other errors are raised."""
    found = {}
    for name, answer in ANSWERS.items():
        try:
            found[name] = answer(root)
        except OpfieldError as error:
            found[name] = str(error)
    return found


def files_of(root: Path, kind: str) -> list[Path]:
    return sorted(path for path in (root / kind / partition(campaign_of(root))).iterdir() if path.stat().st_size)


def rewritten(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Put another Parquet file in place of one, which reads as well."""
    pq.write_table(change(pq.ParquetFile(path).read()), path, compression="zstd")


def other_values(table: pa.Table) -> pa.Table:
    values = [None if value is None else value + 100.0 for value in table["value"].to_pylist()]
    return table.set_column(table.column_names.index("value"), table.schema.field("value"), pa.array(values))


def test_a_flipped_bit_anywhere_gives_the_finding_or_changes_nothing(whole: Path, root: Path) -> None:
    clean, chance = answers_of(whole), random.Random(7)
    for kind in KINDS:
        path = chance.choice(files_of(root, kind))
        content = bytearray(path.read_bytes())
        place = chance.randrange(len(content))
        content[place] ^= 1 << chance.randrange(8)
        kept = path.read_bytes()
        path.write_bytes(content)
        name = path.relative_to(root).as_posix()
        for how, answer in answers_of(root).items():
            assert answer == clean[how] or name in answer, f"{how} over {name} flipped at {place}"
        path.write_bytes(kept)


@pytest.mark.parametrize("kind", ["events", "measurements"])
def test_a_file_that_is_gone_or_cut_is_told(root: Path, kind: str) -> None:
    path = files_of(root, kind)[-1]
    for content in (path.read_bytes()[:-9], None):
        path.unlink() if content is None else path.write_bytes(content)
        for answer in answers_of(root).values():
            assert path.relative_to(root).as_posix() in answer
            assert "audit" in answer


def test_no_number_is_shown_that_no_record_vouches_for_and_resume_brings_all_of_it_back(
    whole: Path, root: Path, capfd: Capture
) -> None:
    altered = files_of(root, "measurements")[-1]
    rewritten(altered, other_values)
    (digests_folder(root, campaign_of(root)) / f"{altered.stem}.json").unlink()
    for answer in answers_of(root).values():
        assert f"digests/{altered.parent.name}/{altered.stem}.json" in answer
        assert "it was written and is gone, and nothing else vouches" in answer
    asked = (
        ["compare"],
        ["export", "comparisons"],
        ["show", "--case", "a"],
        ["power", "--effect", "1"],
        ["plan", "compare"],
    )
    for words in asked:
        capfd.readouterr()
        assert invoke([*words, "--warehouse", str(root)]) == 1, words
        told = capfd.readouterr()
        assert told.out == ""
        assert "nothing else vouches for the files that it named" in " ".join(told.err.split())
    with pytest.raises(DamageError, match="so there is no confirmation"):
        of.confirming(campaign_of(root), small(), root)
    invoke(["resume", campaign_of(root), "--warehouse", str(root)])
    assert damaged_files(root, campaign_of(root)) == []
    assert answers_of(root)["report"] == answers_of(whole)["report"]


def test_a_campaign_whose_ledger_is_gone_is_missed(root: Path, capfd: Capture) -> None:
    campaign_id = campaign_of(root)
    lost = root / "events" / partition(campaign_id)
    before = Board(root)
    assert "small" in as_html(before.view(Address.of({})))
    shutil.rmtree(lost)
    for board in (before, Board(root)):
        (row,) = board.view(Address.of({})).told["rows"]
        assert (row["campaign_id"], row["state"]) == (campaign_id, "damaged")
        assert row["problem"].startswith(f"events/{lost.name}: missing: a ledger was written and is gone")
    assert f"events/{lost.name}" in as_html(Board(root, patience_s=60).view(Address.of({"campaign": campaign_id})))
    for words in (
        ["compare"],
        ["report", "small"],
        ["export", "cells"],
        ["power", "--effect", "1"],
        ["audit", "--json"],
    ):
        capfd.readouterr()
        assert invoke([*words, "--warehouse", str(root)]) == 1, words
        told = capfd.readouterr()
        if words[0] == "audit":
            assert f"events/{lost.name}" in [each["file"] for each in json.loads(told.out)["findings"]]
            continue
        assert told.out == ""
        assert f"events/{lost.name}: missing: a ledger was written and is gone" in " ".join(told.err.split())


def test_a_sealed_campaign_without_its_record_is_told_so(root: Path) -> None:
    invoke(["seal", "--warehouse", str(root)])
    (digests_folder(root, campaign_of(root)) / "sealed.json").unlink()
    for answer in answers_of(root).values():
        assert "sealed.json" in answer
        assert "put it back from a copy" in answer


def test_a_page_that_was_read_before_the_damage_tells_of_it_in_place_of_a_verdict(root: Path) -> None:
    board, campaign_id = Board(root, patience_s=60), campaign_of(root)
    board.view(Address.of({"campaign": campaign_id, "case": "a"}))
    cut = files_of(root, "measurements")[-1]
    cut.write_bytes(cut.read_bytes()[:-9])
    shown = board.view(Address.of({"campaign": campaign_id}))
    assert (shown.kind, shown.told["has_verdict"]) == ("campaign", False)
    assert f"{cut.relative_to(root).as_posix()}: altered" in shown.told["verdict_problem"]


@pytest.mark.parametrize("place", ["measurements/{campaign}/more.parquet", "measurements/campaign=none/more.parquet"])
def test_rows_that_somebody_put_beside_are_not_counted(root: Path, place: str) -> None:
    stray = root / place.format(campaign=partition(campaign_of(root)))
    shutil.copy(files_of(root, "measurements")[-1], stray)
    for answer in answers_of(root).values():
        assert stray.relative_to(root).as_posix() in answer


def test_the_last_record_of_an_ended_campaign_counts_as_any_other(root: Path) -> None:
    last = max(digests_folder(root, campaign_of(root)).iterdir())
    last.unlink()
    assert [each.file for each in damaged_files(root, campaign_of(root))] == [last.relative_to(root).as_posix()]


def test_what_a_writer_was_stopped_at_is_no_damage(tmp_path: Path) -> None:
    paused = small(run=_breaks_off, limits=of.Limits(attempts=1, pause_after=1))
    root = tmp_path / "warehouse"
    assert of.run(paused, root, executor="inline").state == "paused"
    before = read_report(root, campaign_of(root))["report_digest"]
    max(digests_folder(root, campaign_of(root)).iterdir()).unlink()
    assert read_report(root, campaign_of(root))["report_digest"] == before


def _breaks_off(trial: of.TrialRequest) -> dict[str, Any]:
    raise ConnectionError("connection refused")


def test_a_query_that_fails_over_a_damaged_file_tells_which(root: Path, capfd: Capture) -> None:
    def renamed(table: pa.Table) -> pa.Table:
        return table.rename_columns(["valve" if name == "value" else name for name in table.column_names])

    damaged = files_of(root, "measurements")[-1]
    words = ["sql", "select sum(value) from measurements", "--warehouse", str(root)]
    rewritten(damaged, renamed)
    assert invoke(words) == 1
    told = capfd.readouterr().err
    assert damaged.name in told
    assert "altered" in told
    assert invoke(["sql", "select valve from decisions", "--warehouse", str(root)]) == 1
    shutil.rmtree(root)


def test_a_wrong_query_over_sound_files_is_told_as_it_is(whole: Path, capfd: Capture) -> None:
    assert invoke(["sql", "select valve from decisions", "--warehouse", str(whole)]) == 1
    assert "valve" in capfd.readouterr().err
