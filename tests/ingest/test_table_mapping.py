"""The mapping file: the command line's names, metrics and status words; the command line overrides it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opfield.core import Status
from opfield.ingest.readers.table import reader
from opfield.ingest.records import IngestError, MetricStated, Record, Sample
from opfield.ingest.tables.mapping import OPTIONS
from tests.ingest.reading import only, read

ROWS = "id,m,score,outcome,level\n1,a,3,ok,x\n2,a,1,timed out,y\n"


def _read(folder: Path, toml: str, metrics: tuple[str, ...] = (), **options: Any) -> list[Record]:
    (folder / "r.csv").write_text(ROWS)
    (folder / "map.toml").write_text(toml)
    return read(reader, folder / "r.csv", metrics=metrics, mapping=folder / "map.toml", **options)


def test_a_file_says_what_the_command_line_would(tmp_path: Path) -> None:
    records = _read(
        tmp_path,
        """
        case = "id"
        candidate = "m"
        group = ["level"]
        errors = "domain_failure"
        [metrics.score]
        direction = "minimize"
        lower = 0
        upper = 5.0
        kind = "count"
        unit = "stars"
        on_domain_failure = "worst"
        [status]
        column = "outcome"
        ok = "success"
        "timed out" = "infrastructure_failure"
        """,
    )
    metric = only(MetricStated, records)[0].metric
    assert (metric.name, metric.direction, metric.lower, metric.upper, metric.kind, metric.unit) == (
        "score", "minimize", 0, 5.0, "count", "stars",
    )  # fmt: skip
    assert metric.on_domain_failure == "worst"
    samples = only(Sample, records)
    assert [sample.status for sample in samples] == [Status.SUCCESS, Status.INFRASTRUCTURE_FAILURE]
    assert samples[1].failure is not None
    assert samples[1].failure.code == "timed_out"
    assert [(sample.system, sample.groups) for sample in samples] == [("a", {"level": "x"}), ("a", {"level": "y"})]


def test_the_command_line_overrides_the_file(tmp_path: Path) -> None:
    records = _read(tmp_path, 'case = "id"\ncandidate = "nowhere"\n[metrics.level]', ("score",), candidate="m")
    assert [sample.values for sample in only(Sample, records)] == [{"score": 3.0}, {"score": 1.0}]


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ('cases = "id"', "--mapping map.toml: unknown option 'cases'; did you mean 'case'"),
        ('mapping = "x.toml"', "unknown option 'mapping'"),
        ('case = "id"\n[metrics.score]\ndirecton = "minimize"', "'directon'; did you mean 'direction'"),
        ('case = "id"\n[metrics.score]\ndirection = "down"', "direction 'down' is neither maximize nor minimize"),
        ('case = "id"\n[metrics.score]\nlower = "a"', "lower 'a' is not a number"),
        ('case = "id"\n[metrics.score]\nkind = ["count"]', "kind"),
        ('case = "id"\nmetrics = 3', r"write \[metrics.NAME\]"),
        ('case = "id"\n[status]\nok = "fine"', "maps 'ok' to 'fine', which is none of success"),
        ('case = "id"\n[status]\nok = ["success"]', "maps 'ok' to"),
        ("case = 3", "case is a text or a list of texts, not 3"),
        ('candidate = ["m"]', r"candidate is a text, not \['m'\]"),
        ('case = "id"\nerrors = "maybe"', "infrastructure_failure or domain_failure, not 'maybe'"),
        ('candidate = "m"', "no column identifies the case"),
        ("case = ", "map.toml is not TOML"),
        ('case = "id"\ndelimiter = ";;"', "--delimiter is one character"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused(tmp_path: Path, toml: str, told: str) -> None:
    with pytest.raises(IngestError, match=told):
        _read(tmp_path, toml, ("score",))


def test_a_file_that_is_not_there_or_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(ROWS)
    with pytest.raises(IngestError, match=r"--mapping none\.toml is not there"):
        read(reader, tmp_path / "r.csv", mapping=tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b'case = "\xff"')
    with pytest.raises(IngestError, match=r"bad\.toml is not TOML"):
        read(reader, tmp_path / "r.csv", mapping=tmp_path / "bad.toml")


def test_every_option_but_the_file_itself_may_stand_in_it(tmp_path: Path) -> None:
    for option in OPTIONS:
        if option.name in ("mapping", "case"):
            continue
        value = {"errors": "domain_failure", "delimiter": ",", "encoding": "utf-8", "status": None}.get(
            option.name, "m"
        )
        if value is None or option.name in ("metric-column", "value-column", "cost", "duration", "started", "finished"):
            continue
        _read(tmp_path, f'case = "id"\n{option.name} = "{value}"\n', ("score",))
