"""Plain reading against Optuna itself, and databases, which Optuna reads; skipped where Optuna is not installed."""

from __future__ import annotations

import hashlib
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from opfield.core import Status
from opfield.ingest.readers.optuna import reader
from opfield.ingest.records import IngestError, Note, Record, Sample, System
from tests.ingest.reading import SHARED, needs_shared, only, read

ASSETS = SHARED / "optuna/optuna__optuna/tests/storages_tests/rdb_tests/test_upgrade_assets"

# Optuna warns of its own deprecations and experiments.
pytestmark = pytest.mark.filterwarnings("default")


def _studied(storage: Any) -> Any:
    """Optimize a study of every state and kind of parameter in a storage, and return it."""
    optuna = pytest.importorskip("optuna", reason="Optuna, which reads its databases, is not installed")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    random.seed(7)
    study = optuna.create_study(
        storage=storage, study_name="tune", sampler=optuna.samplers.RandomSampler(seed=3), direction="maximize"
    )

    def objective(trial: Any) -> float:
        x = trial.suggest_float("x", -5, 5)
        trial.suggest_int("n", 1, 64, log=True)
        kind = trial.suggest_categorical("kind", ["a", "b", None, 2.5, True])
        trial.set_user_attr("fold", f"f{trial.number % 3}")
        for step in range(3):
            trial.report(x + step, step)
        if trial.number % 7 == 3:
            raise optuna.TrialPruned
        if trial.number % 7 == 5:
            raise ValueError("no luck")
        return float("inf") if trial.number == 8 else x * x + (kind == "a")

    study.enqueue_trial({"x": 1.0, "n": 3, "kind": "b"})
    study.optimize(objective, n_trials=30, catch=(ValueError,))
    study.enqueue_trial({"x": 2.0})
    study.ask()
    return study


def _told(records: list[Record]) -> list[tuple[Any, ...]]:
    systems = {system.key: system for system in only(System, records)}
    return [
        (
            sample.content["number"], sample.content["state"], systems[sample.system].says["params"],
            sample.content["values"], sample.content["user_attrs"], sample.content["intermediate_values"],
        )
        for sample in sorted(only(Sample, records), key=lambda each: each.content["number"])
    ]  # fmt: skip


def _oracle(study: Any) -> list[tuple[Any, ...]]:
    return [
        (
            trial.number, trial.state.name, trial.params, trial.values, trial.user_attrs,
            {str(step): value for step, value in trial.intermediate_values.items()},
        )
        for trial in study.get_trials()
    ]  # fmt: skip


def test_a_journal_amounts_to_what_optuna_makes_of_it(tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason="Optuna, the oracle, is not installed")
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    path = tmp_path / "j.log"
    study = _studied(JournalStorage(JournalFileBackend(str(path))))
    assert _told(read(reader, path)) == _oracle(study)


def test_a_database_amounts_to_what_optuna_makes_of_it_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    study = _studied(f"sqlite:///{path}")
    before = hashlib.sha256(path.read_bytes()).digest()
    assert reader.recognizes(path)
    records = read(reader, path)
    assert _told(records) == _oracle(study)
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [each.name for each in tmp_path.iterdir()] == ["study.db"]
    # The best value by Optuna is the best of the cells, infinity aside.
    values = [each.values["objective"] for each in only(Sample, records) if each.values]
    assert max(values) == max(t.value for t in study.trials if t.state.name == "COMPLETE" and t.number != 8)


@needs_shared
@pytest.mark.parametrize(
    ("name", "values"),
    [(name, 1) for name in ("0.9.0.a", "1.2.0.a", "1.3.0.a")]
    + [(name, 3) for name in ("2.4.0.a", "2.6.0.a", "3.0.0.a", "3.0.0.b", "3.0.0.c", "3.0.0.d", "3.2.0.a")],
)
def test_public_databases_of_every_schema_are_read(name: str, values: int) -> None:
    pytest.importorskip("optuna", reason="Optuna, which reads its databases, is not installed")
    records = read(reader, ASSETS / f"{name}.db")
    samples = only(Sample, records)
    assert [each.status for each in samples] == [Status.SUCCESS] * values
    brought = [note for note in only(Note, records) if "was brought to" in note.text]
    assert len(brought) == (name != "3.2.0.a")


@needs_shared
def test_without_optuna_a_database_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("optuna", "optuna.storages", "optuna.distributions"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(IngestError, match=r"pip install 'opfield\[optuna\]'"):
        read(reader, ASSETS / "3.2.0.a.db")
