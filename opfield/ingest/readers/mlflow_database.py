"""MLflow's tracking database, read by MLflow itself from a copy."""

from __future__ import annotations

import logging
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from opfield.ingest.readers.mlflow_run import Logged, Run
from opfield.ingest.readers.sqlite_file import copied
from opfield.ingest.records import IngestError, Note, Source

#: Tables by which a database is known as one of MLflow's.
TABLES: Final = frozenset(("experiments", "runs", "params", "metrics", "latest_metrics", "alembic_version"))
_NAME_TAG: Final = "mlflow.runName"
_PAGE: Final = 1000


def read_database(source: Source, artifacts: Path | None) -> list[Run | Note]:
    """Return the runs of a tracking database; of each metric it gives the last value, and no history.

    Args:
        source: the database.
        artifacts: folder of the artifacts, by experiment id and run id; None where it is not at hand.

    Raises:
        IngestError: where MLflow is not installed, or refuses the database.
    """
    with copied(source, TABLES, "MLflow") as copy, tempfile.TemporaryDirectory(prefix="opfield-") as nowhere, _quiet():
        try:
            from mlflow.entities import ViewType
            from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
        except ImportError as error:
            raise IngestError(
                f"{source.name} is a database, and reading it takes MLflow itself, which is not installed or lacks a "
                f"part ({error}); pip install 'opfield[mlflow]'"
            ) from None
        try:
            store = SqlAlchemyStore(f"sqlite:///{copy}", nowhere)
            try:
                return list(_runs(store, ViewType.ALL, source, artifacts))
            finally:
                store.engine.dispose()
        except Exception as error:  # MLflow raises whatever its parts raise
            why = " ".join(str(error).split())[:300]
            raise IngestError(
                f"{source.name} is refused by MLflow itself ({why}); copy it, run `mlflow db upgrade sqlite:///COPY`, "
                "and read the copy; where it is of a newer MLflow, pip install -U mlflow-skinny"
            ) from None


def _runs(store: Any, view: Any, source: Source, artifacts: Path | None) -> Iterator[Run | Note]:
    for experiment in _pages(store.search_experiments, view_type=view):
        name = repr(experiment.name[:100])
        place = f"{source.name}: experiment {name}"
        if experiment.lifecycle_stage == "deleted":
            yield Note(f"experiment {name} was deleted; its runs are left out", place)
            continue
        ids, found = [experiment.experiment_id], 0
        for run in _pages(store.search_runs, experiment_ids=ids, filter_string="", run_view_type=view):
            found += 1
            yield _run(run, experiment, source, artifacts)
        if not found:
            yield Note(f"experiment {name} has no runs", place)


def _run(run: Any, experiment: Any, source: Source, artifacts: Path | None) -> Run | Note:
    info, data = run.info, run.data
    place = f"{source.name}: run {info.run_id}"
    if info.lifecycle_stage == "deleted":
        return Note("the run was deleted, and is left out", place)
    folder = None if artifacts is None else artifacts / experiment.experiment_id / info.run_id / "artifacts"
    return Run(
        id=info.run_id,
        name=info.run_name or data.tags.get(_NAME_TAG) or info.run_id,
        experiment=experiment.name,
        status=str(info.status),
        place=place,
        params=dict(data.params),
        tags=dict(data.tags),
        metrics={name: Logged(value, f"{place}: {name}") for name, value in sorted(data.metrics.items())},
        start_ms=info.start_time,
        end_ms=info.end_time,
        artifacts=folder if folder is not None and folder.is_dir() else None,
        root=None if artifacts is None else artifacts.resolve(),
    )


def _pages(search: Any, **given: Any) -> Iterator[Any]:
    token = None
    while True:
        page = search(**given, max_results=_PAGE, page_token=token)
        yield from page
        token = page.token
        if not token:
            return


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what MLflow says off the terminal, and keep it from reporting its use to its makers."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    disabled = logging.getLogger().manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
