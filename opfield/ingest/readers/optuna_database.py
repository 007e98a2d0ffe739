"""Optuna's SQLite storage, read by Optuna itself from a copy, which is brought to Optuna's own version where older."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from opfield.ingest.readers.optuna_study import Direction, Study, Trial
from opfield.ingest.readers.sqlite_file import copied
from opfield.ingest.records import IngestError, Note, Source

#: Tables by which a database is known as a storage of Optuna.
TABLES: Final = frozenset(("studies", "trials", "trial_params", "version_info"))


def read_database(source: Source) -> tuple[list[Study], list[Note]]:
    """Return the studies of a storage, and what is to be told of it.

    Raises:
        IngestError: where Optuna is not installed, or refuses the storage.
    """
    with copied(source, TABLES, "Optuna") as copy:
        try:
            from optuna.distributions import distribution_to_json
            from optuna.storages import RDBStorage
        except ImportError:
            raise IngestError(
                f"{source.name} is a database, and reading it takes Optuna itself, which is not installed; "
                "pip install 'opfield[optuna]'"
            ) from None
        with _quiet():
            try:
                storage = RDBStorage(f"sqlite:///{copy}", skip_compatibility_check=True, skip_table_creation=True)
                try:
                    notes = _upgraded(storage, source)
                    studies = [
                        _study(found, storage, distribution_to_json, source) for found in storage.get_all_studies()
                    ]
                finally:
                    storage.engine.dispose()
            except IngestError:
                raise
            except Exception as error:  # Optuna raises whatever its parts raise
                why = " ".join(str(error).split())[:300]
                raise IngestError(
                    f"{source.name} is refused by Optuna itself ({why}); copy it, run `optuna storage upgrade "
                    "--storage sqlite:///COPY` with the version of Optuna that wrote it, and read the copy"
                ) from None
    return studies, notes


def _upgraded(storage: Any, source: Source) -> list[Note]:
    """Bring the copy to the schema that this Optuna reads, by Optuna's own migration."""
    current, head = storage.get_current_version(), storage.get_head_version()
    if current == head:
        return []
    if current not in storage.get_all_versions():
        raise IngestError(
            f"{source.name} has schema {current}, which this Optuna does not know (it knows up to {head}); "
            "pip install -U optuna"
        )
    storage.upgrade()
    text = f"schema {current} was brought to {head} by Optuna itself, in a copy; the file stays as it is"
    return [Note(text, source.name)]


def _study(found: Any, storage: Any, as_json: Any, source: Source) -> Study:
    place = f"{source.name}: study {found.study_name[:100]!r}"
    study = Study(
        found.study_name,
        place,
        tuple(_direction(each.name) for each in found.directions),
        dict(found.user_attrs),
        dict(found.system_attrs),
    )
    for trial in storage.get_all_trials(storage.get_study_id_from_name(found.study_name), deepcopy=False):
        study.trials.append(
            Trial(
                number=trial.number,
                place=f"{place} trial {trial.number}",
                state=trial.state.name,
                params=dict(trial.params),
                distributions={name: json.loads(as_json(each)) for name, each in trial.distributions.items()},
                values=None if trial.values is None else [float(each) for each in trial.values],
                intermediate={str(step): value for step, value in trial.intermediate_values.items()},
                user_attrs=dict(trial.user_attrs),
                system_attrs=dict(trial.system_attrs),
                started_at=None if trial.datetime_start is None else trial.datetime_start.isoformat(),
                finished_at=None if trial.datetime_complete is None else trial.datetime_complete.isoformat(),
            )
        )
    study.trials.sort(key=lambda each: each.number)
    return study


def _direction(name: str) -> Direction | None:
    return {"MINIMIZE": "minimize", "MAXIMIZE": "maximize"}.get(name)  # type: ignore[return-value]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Optuna and its migrations say off the terminal, and their hands off the set-up of logging."""
    root, idle = logging.getLogger(), logging.NullHandler()
    disabled = root.manager.disable
    root.addHandler(idle)  # migrations set logging up anew where the root has no handler
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
        root.removeHandler(idle)
