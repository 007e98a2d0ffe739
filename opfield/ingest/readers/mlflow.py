"""The reader of MLflow: runs of a file store, of a tracking database, and evaluation tables.

- A **run** is a system: what it says are its parameters and the source that ran, and its name is its label. A nested
  run is a system of its own; its parent's id is kept as evidence.
- Where a run has an **evaluation table** among its artifacts, a row is a case: by the column that `--case-column`
  names, or by what was asked (`inputs`). Scores (`…/score`), `latency` and `token_count` are metrics, and so are the
  columns that `--metric` names. Means that the run logged of scores are set beside what the rows amount to.
- A run **without a table** is one trial on one case, its experiment, and its metrics are the last values that it logged
  (by step, then by time). Steps are no repeats: a later step is of another state of the same system, so that earlier
  ones are kept as evidence and nothing else. One case proves nothing by itself: gates stay indeterminate.
- MLflow does not say whether more of a metric is better. More is taken; `--minimize` states otherwise.
- A run that failed, was killed or never finished is no success; deleted runs are left out, and told of.

File stores are read plainly; `meta.yaml` by its flat part alone. Databases are read by MLflow itself, from a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opfield.core import check_label
from opfield.errors import DeclarationError
from opfield.ingest.files import first_bytes
from opfield.ingest.keys import checked
from opfield.ingest.readers.mlflow_database import TABLES, read_database
from opfield.ingest.readers.mlflow_folder import kind_of, read_folder
from opfield.ingest.readers.mlflow_run import NUMBERED, OUTCOMES, Run, metrics_of, sample_of, system_of
from opfield.ingest.readers.mlflow_table import TABLE, Mapped, read_table, table_of
from opfield.ingest.readers.sqlite_file import is_sqlite, tables
from opfield.ingest.records import (
    IngestError,
    MetricStated,
    Note,
    Reader,
    ReaderOption,
    Reading,
    Record,
    Refused,
    Sample,
    Source,
    System,
)


def read_mlflow(reading: Reading) -> Iterator[Record]:
    """Yield the runs of stores and databases, and the rows of tables.

    Raises:
        IngestError: where a source is none of these, or damaged.
    """
    if not reading.sources:
        raise IngestError("nothing is named; name a folder, a database or an evaluation table of MLflow")
    cases: set[Any] = set()
    systems = 0
    has_metric = False
    for source in reading.sources:
        found = False
        for record in _records(source, reading):
            if isinstance(record, Sample):
                cases.add((record.case.suite, record.case.key))
            systems += isinstance(record, System)
            has_metric = has_metric or isinstance(record, MetricStated)
            found = found or isinstance(record, System | Refused)
            yield record
        if not found:
            yield Refused(source.name, "there is no run in it", "leave it out")
    first = reading.sources[0].name
    if has_metric:
        text = "MLflow does not say whether more of a metric is better; more is taken, --minimize states otherwise"
        yield Note(text, first)
    if len(cases) == 1 and systems > 1:
        yield Note(
            "all runs are of one case: one that scores better on one case may be better or luckier, so that gates stay "
            "indeterminate; evaluation tables give more cases",
            first,
        )


def _records(source: Source, reading: Reading) -> Iterator[Record]:
    options = reading.options
    mapped = Mapped(options.get("case-column"), reading.metrics)
    if source.path.is_dir():
        runs: Iterator[Run | Note | Refused] = read_folder(source, reading.advance)
    elif is_sqlite(source.path):
        runs = iter(read_database(source, options.get("artifacts")))
        reading.advance(source.path.stat().st_size)
    else:
        yield System(source.name, source.name, source.name, {"tool": "mlflow", "table": source.name})
        yield from read_table(source, source.name, mapped, {}, reading.advance)
        return
    for run in runs:
        if isinstance(run, Run):
            yield from _run(run, source, mapped, reading)
        else:
            yield run


def _run(run: Run, source: Source, mapped: Mapped, reading: Reading) -> Iterator[Record]:
    try:
        check_label("experiment", run.experiment)
    except DeclarationError as error:
        yield Refused(run.place, str(error), "name the experiment otherwise")
        return
    if run.status not in OUTCOMES:
        known = ", ".join(f"{number} ({name})" for number, name in enumerate(NUMBERED) if name)
        yield Refused(run.place, f"status is {run.status[:60]!r}, none of {known}", "mend it there, or leave it out")
        return
    yield system_of(run)
    table = table_of(run, reading.options.get("table") or TABLE, source)
    if isinstance(table, Refused):
        yield table
    elif table is None:
        yield from metrics_of(run)
        yield sample_of(run)
    else:
        if run.status != "FINISHED":
            yield Note(f"the run ended as {run.status}; the rows of its table count as they stand", run.place)
        aggregates = {name: each.value for name, each in run.metrics.items() if each.value is not None}
        yield from read_table(table, run.id, mapped, aggregates, reading.advance)


def recognizes(path: Path) -> bool:
    """Return whether a folder is a store, an experiment or a run, or a file a database or a table of MLflow."""
    if path.is_dir():
        return kind_of(path) is not None
    if is_sqlite(path):
        return tables(path) >= TABLES
    if not path.name.endswith(TABLE):
        return False
    head = first_bytes(path, 4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    return head.startswith(b"{") and b'"columns"' in head


reader = Reader(
    name="mlflow",
    description="MLflow file stores, tracking databases and evaluation tables; runs are systems",
    version="1",
    read=checked(read_mlflow),
    recognizes=recognizes,
    options=(
        ReaderOption("table", "path of the evaluation table below a run's artifacts", default=TABLE),
        ReaderOption("case-column", "column of evaluation tables that says which case a row is; inputs if not given"),
        ReaderOption("artifacts", "folder of a database's artifacts, by experiment id and run id", Path),
    ),
    tool="mlflow",
)
