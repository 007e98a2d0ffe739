"""Durable cells per second of a runner that does next to nothing, against Optuna and MLflow on the same trials.

    python -m benchmarks.record [--cells 110_000] [--rounds 2]

Ours is the public `run`, told twice. *Recording* is what the peers do too: from the first trial to the moment when the
last cell is durable, every cell checked at the trial boundary, chained by digest, synced to disk and projected into the
tables. *Whole* adds the declaration before and the comparison, decision and selection by the views after it. The fixed
cost, the time of a run of the same candidates on one case, is told and not subtracted.

Each peer records the same coordinates and five metrics by its shortest way. For Optuna that is `add_trial` of a
finished trial, with the metrics as user attributes: one operation of its storage. `ask`, six `set_user_attr` and
`tell` leave the same data in eight, and are shown beside it. For MLflow it is `create_run`, `log_batch` and
`set_terminated`. The peers are slower, so they record fewer trials, and what they need to open an empty store is not
counted.

The durability differs and stands in the table: a peer syncs each trial before the next one; ours syncs a group of
cells, so a crash can cost the last half second, which `resume` runs again. Contenders take turns, and the best round of
each counts. On a busy machine the processor time says more than the rate.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import opfield as of
from benchmarks import synthetic
from benchmarks.synthetic import CANDIDATES, REPEATS, Trial
from opfield.campaign.writer import SEGMENT_EVENTS, SEGMENT_SECONDS

GOAL_PER_SECOND = 10_000
GOAL_RATIO = 5
OURS = "opfield, threads, recording"
JOURNAL = "Optuna journal, add_trial"
GROUP_COMMIT = f"synced in groups of ≤{SEGMENT_EVENTS} cells or {SEGMENT_SECONDS} s; hash chain"


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds by the wall and of processor time, those of all threads together."""

    wall: float
    cpu: float

    def each(self, trials: int) -> Cost:
        """Return the cost of one trial among so many."""
        return Cost(self.wall / trials, self.cpu / trials)


class Clock:
    """Started when made."""

    def __init__(self) -> None:
        """Start."""
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> Cost:
        """Return the cost so far."""
        return Cost(time.perf_counter() - self._wall, time.process_time() - self._cpu)


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to record trials.

    Attributes:
        name: what it is called in the table.
        module: what must be installed for it.
        durability: what is safe when.
        trials: how many it records.
        record: records trials below an empty folder and returns what that cost.
    """

    name: str
    module: str
    durability: str
    trials: int
    record: Callable[[Path, Sequence[Trial]], Cost]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=110_000, help="cells that ours records")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each contender")
    asked = parser.parse_args()
    cases = max(1, asked.cells // (REPEATS * (CANDIDATES + 1)))
    cells = cases * REPEATS * (CANDIDATES + 1)
    silence_peers()
    contenders = (
        Contender(OURS, "opfield", GROUP_COMMIT, cells, with_opfield("threads", cases)),
        Contender("opfield, inline, recording", "opfield", GROUP_COMMIT, cells, with_opfield("inline", cases)),
        Contender(
            "opfield, inline, whole", "opfield", GROUP_COMMIT, cells, with_opfield("inline", cases, is_whole=True)
        ),
        Contender("Optuna in memory, add_trial", "optuna", "none", 5000, with_optuna_in_memory),
        Contender(JOURNAL, "optuna", "each trial synced", 2000, with_optuna_journal),
        Contender("Optuna journal, ask and tell", "optuna", "each of 8 steps synced", 500, with_optuna_asked),
        Contender("MLflow on SQLite", "mlflow", "each of 3 steps committed", 200, with_mlflow),
    )
    installed = [each for each in contenders if find_spec(each.module)]
    for module in sorted({each.module for each in contenders} - {each.module for each in installed}):
        print(f"{module} is missing and left out; `make bench` installs it")
    best: dict[str, Cost] = {}
    for _ in range(asked.rounds):
        for each in installed:
            recorded = list(itertools.islice(synthetic.trials(cases), each.trials))
            with tempfile.TemporaryDirectory() as folder:
                cost = each.record(Path(folder), recorded).each(len(recorded))
            best[each.name] = min(best.get(each.name, cost), cost, key=lambda found: found.wall)
    with tempfile.TemporaryDirectory() as folder:
        fixed = opfield_cost(Path(folder), "threads", cases=1, repeats=1)
    report(installed, best, fixed)


def report(contenders: Sequence[Contender], best: dict[str, Cost], fixed: Cost) -> None:
    """Print the table and whether the goals are met."""
    ours = best[OURS]
    print(f"{'':30}{'trials':>9}{'per second':>12}{'ours is':>10}{'CPU µs':>9}  durability")
    for each in contenders:
        cost = best[each.name]
        rates = f"{1 / cost.wall:12,.0f}{cost.wall / ours.wall:9.1f}×{cost.cpu * 1e6:9,.0f}"
        print(f"{each.name:30}{each.trials:9,}{rates}  {each.durability}")
    print(f"\nthe fixed cost of ours is {fixed.wall:.2f} s for each run")
    rate = 1 / ours.wall
    print(f"goal of {GOAL_PER_SECOND:,} cells per second: {verdict(rate >= GOAL_PER_SECOND)} ({rate:,.0f})")
    if JOURNAL in best:
        ratio = best[JOURNAL].wall / ours.wall
        print(f"goal of {GOAL_RATIO}× Optuna's journal: {verdict(ratio >= GOAL_RATIO)} ({ratio:.1f}×)")


def verdict(is_met: bool) -> str:
    return "met" if is_met else "NOT met"


class Recording:
    """Progress that times the recording: from the first trial until the last cell is durable."""

    def begin(self, name: str, total: int, accepted: int) -> None:  # noqa: ARG002 - the shape of Progress
        """Start the clock."""
        self._clock = Clock()

    def accepted(self, status: of.Status) -> None:
        """Let it run."""

    def end(self) -> None:
        """Stop it."""
        self.cost = self._clock.read()


def with_opfield(executor: str, cases: int, is_whole: bool = False) -> Callable[[Path, Sequence[Trial]], Cost]:
    """Return what runs the campaign of `cases` cases, whose trials are those that the peers are given."""
    return lambda folder, _: opfield_cost(folder, executor, cases, REPEATS, is_whole)


def opfield_cost(folder: Path, executor: str, cases: int, repeats: int, is_whole: bool = True) -> Cost:
    declared = synthetic.campaign(cases, repeats=repeats)
    clock, recording = Clock(), Recording()
    outcome = of.run(declared, folder / "warehouse", executor=executor, progress=recording)
    whole = clock.read()
    if outcome.state != "completed":
        raise SystemExit(f"the campaign did not complete: {outcome}")
    return whole if is_whole else recording.cost


def with_optuna_in_memory(folder: Path, recorded: Sequence[Trial]) -> Cost:  # noqa: ARG001 - a contender's shape
    import optuna

    return optuna_cost(optuna.create_study(), recorded)


def with_optuna_journal(folder: Path, recorded: Sequence[Trial]) -> Cost:
    return optuna_cost(journal_study(folder), recorded)


def optuna_cost(study: Any, recorded: Sequence[Trial]) -> Cost:
    import optuna

    clock = Clock()
    for trial in recorded:
        attributes = {**trial.metrics, "coordinate": trial.coordinate}
        study.add_trial(optuna.create_trial(value=trial.metrics["gain"], user_attrs=attributes))
    return clock.read()


def with_optuna_asked(folder: Path, recorded: Sequence[Trial]) -> Cost:
    study = journal_study(folder)
    clock = Clock()
    for trial in recorded:
        asked = study.ask()
        asked.set_user_attr("coordinate", trial.coordinate)
        for name, value in trial.metrics.items():
            asked.set_user_attr(name, value)
        study.tell(asked, trial.metrics["gain"])
    return clock.read()


def journal_study(folder: Path) -> Any:
    import optuna
    from optuna.storages.journal import JournalFileBackend

    storage = optuna.storages.JournalStorage(JournalFileBackend(str(folder / "journal.log")))
    return optuna.create_study(storage=storage)


def with_mlflow(folder: Path, recorded: Sequence[Trial]) -> Cost:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param

    client = MlflowClient(tracking_uri=f"sqlite:///{folder / 'mlflow.db'}")
    experiment = client.create_experiment("synthetic", artifact_location=(folder / "artifacts").as_uri())
    clock = Clock()
    for trial in recorded:
        run_id = client.create_run(experiment).info.run_id
        now = int(time.time() * 1000)
        client.log_batch(
            run_id,
            metrics=[Metric(name, value, now, 0) for name, value in trial.metrics.items()],
            params=[Param("coordinate", " ".join(map(str, trial.coordinate)))],
        )
        client.set_terminated(run_id)
    return clock.read()


def silence_peers() -> None:
    """Keep peers from logging, warning and calling home, before they are imported."""
    os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="true", GIT_PYTHON_REFRESH="quiet")
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)


if __name__ == "__main__":
    main()
