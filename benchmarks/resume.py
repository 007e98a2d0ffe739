"""Resuming a campaign of a million accepted cells: from `run` in a fresh process to its next trial.

    python -m benchmarks.resume [--cells 1_000_000] [--folder FOLDER]

The campaign is begun by `run`, interrupted as Ctrl-C would, and filled by the writer that a run uses, without its
runner. So what is resumed is what an interrupted run leaves: a thousand segments with their projections, chained from
the first event to the last, and some ten thousand coordinates pending. Each resume has a copy of that warehouse and a
process of its own; the page cache is warm. One finds the checkpoint that the interrupted run kept, the other has none
and verifies the whole chain again. Each then runs what is pending, to the recorded verdict.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import opfield as of
from benchmarks import synthetic
from benchmarks.synthetic import CANDIDATES, REPEATS
from opfield.campaign.ending import pending_coordinates, trial_payload
from opfield.campaign.evidence import Measurement, Stopwatch, TrialEvidence
from opfield.campaign.progress import Silence
from opfield.campaign.schedule import interleaved
from opfield.campaign.writer import open_writer
from opfield.experiment import propose_all
from opfield.prob import coordinate_seed
from opfield.warehouse.ledger import TRIAL_COMPLETED

GOAL_S = 5.0
#: Cases beyond those that the accepted cells fill; their coordinates are pending.
PENDING_CASES = 100
#: Functions of an opening whose own time is told, as the calling module names them.
STEPS = (
    ("opfield.campaign.engine", "prepare"),
    ("opfield.campaign.engine", "create_store"),
    ("opfield.campaign.writer", "open_partition"),
    ("opfield.campaign.writer", "artifact_ids"),
    ("opfield.campaign.writer", "catch_up"),
    ("opfield.campaign.writer", "load_state"),
    ("opfield.campaign.checkpoint", "_read"),
    ("opfield.campaign.checkpoint", "fold"),
    ("opfield.campaign.engine", "runner_source"),
    ("opfield.campaign.engine", "pending_coordinates"),
    ("opfield.campaign.engine", "interleaved"),
    ("opfield.campaign.engine", "trial_context"),
    ("opfield.campaign.engine", "open_executor"),
)


class StopAfterFirst(Silence):
    """Progress of a person who presses Ctrl-C, once, at the first cell."""

    is_pressed = False

    def accepted(self, status: of.Status) -> None:  # noqa: ARG002 - whatever it is
        """Press, the first time."""
        if not self.is_pressed:
            self.is_pressed = True
            signal.raise_signal(signal.SIGINT)


class Steps:
    """Time spent in named functions, less that in other named ones that they call.

    Attributes:
        seconds: time by name.
        missing: names that stand no more where they were looked for.
        is_over: whether counting has ended.
    """

    def __init__(self) -> None:
        """Wrap the functions where their callers find them."""
        self.seconds: dict[str, float] = {}
        self.missing: list[str] = []
        self.is_over = False
        self._open: list[str] = []
        self._since = 0.0
        for module_name, name in STEPS:
            module = importlib.import_module(module_name)
            if hasattr(module, name):
                self.seconds[name] = 0.0
                setattr(module, name, self._timed(name, getattr(module, name)))
            else:
                self.missing.append(f"{module_name}.{name}")

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **options: Any) -> Any:
            self._settle()
            self._open.append(name)
            try:
                return function(*args, **options)
            finally:
                self._settle()
                self._open.pop()

        return timed

    def _settle(self) -> None:
        """Give the time since the last change to the innermost open function."""
        now = time.perf_counter()
        if self._open and not self.is_over:
            self.seconds[self._open[-1]] += now - self._since
        self._since = now


@dataclass
class Opening(Silence):
    """What a resume tells: progress that reads the clock.

    Attributes:
        steps: functions of the opening.
        began: when the engine was about to dispatch its first trial.
        pending: trials that were still to run.
        trials_ended: when the last one had run.
    """

    steps: Steps = field(default_factory=Steps)
    began: float = 0.0
    pending: int = 0
    trials_ended: float = 0.0

    def begin(self, name: str, total: int, accepted: int) -> None:  # noqa: ARG002 - the shape of progress
        """Note the end of the opening."""
        self.began = time.perf_counter()
        self.steps.is_over = True
        self.pending = total - accepted

    def end(self) -> None:
        """Note the end of the trials."""
        self.trials_ended = time.perf_counter()


@dataclass(frozen=True, slots=True)
class Resumed:
    """One resume, in seconds.

    Attributes:
        start: of the process, with its imports.
        opening: from `run` to the dispatch of the first trial.
        steps: parts of the opening by function.
        missing: functions that were not found.
        pending: trials that were still to run.
        trials: running them.
        verdict: comparing, deciding and recording that.
        peak_mb: most memory of the process.
    """

    start: float
    opening: float
    steps: dict[str, float]
    missing: list[str]
    pending: int
    trials: float
    verdict: float
    peak_mb: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=1_000_000, help="cells that are accepted already")
    parser.add_argument("--folder", type=Path, help="keep the interrupted campaign here, and use it again")
    parser.add_argument("--resume", nargs=2, metavar=("COPY", "SPAWNED_AT"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    cases = asked.cells // (REPEATS * (CANDIDATES + 1)) + PENDING_CASES
    if asked.resume:
        copy, spawned_at = asked.resume
        print(json.dumps(asdict(resume(Path(copy), cases, float(spawned_at)))))
        return
    with tempfile.TemporaryDirectory(dir=asked.folder and asked.folder.parent) as temporary:
        root = asked.folder or Path(temporary) / "interrupted"
        if not root.exists():
            interrupt(root, cases, asked.cells)
        for title, has_checkpoint in (("with its checkpoint", True), ("without a checkpoint", False)):
            copy = Path(temporary) / "copy"
            # A warehouse's files are never written in place, so links are as good as copies.
            shutil.copytree(root, copy, copy_function=os.link)
            if not has_checkpoint:
                shutil.rmtree(copy / "checkpoints")
            report(title, resume_in_fresh_process(copy, asked.cells))
            shutil.rmtree(copy)


def interrupt(root: Path, cases: int, cells: int) -> None:
    """Begin the campaign by an interrupted run, and fill it up to `cells` cells by the writer that a run uses."""
    started = time.perf_counter()
    declared = synthetic.campaign(cases)
    outcome = of.run(declared, root, executor="inline", progress=StopAfterFirst())
    if outcome.state != "interrupted":
        raise SystemExit(f"the campaign was not interrupted: {outcome}")
    with open_writer(root, outcome.campaign_id) as writer:
        pending = interleaved(pending_coordinates(writer), declared.seed_root)
        gains = {each.id: each.spec.payload["gain"] for each in propose_all(declared.space)}
        for coordinate in pending[: cells - writer.state.cells]:
            seed = coordinate_seed(declared.seed_root, coordinate.case_id, coordinate.repeat)
            answer = synthetic.answer_of(seed, gains.get(coordinate.candidate_id, 0.0))
            writer.accept(TRIAL_COMPLETED, trial_payload(evidence_of(coordinate, answer), seed))
        writer.flush()
    seconds = time.perf_counter() - started
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) / 2**20
    print(f"{cells:,} cells written in {seconds:.0f} s; the warehouse holds {size:,.0f} MB", flush=True)


def evidence_of(coordinate: of.Coordinate, answer: dict[str, float]) -> TrialEvidence:
    """Return the evidence of a trial that answered at once."""
    lapse = Stopwatch().read()
    return TrialEvidence(
        coordinate=coordinate,
        attempt=1,
        status=of.Status.SUCCESS,
        measurements=tuple(Measurement(metric, value) for metric, value in answer.items()),
        failure=None,
        cost_usd=None,
        input_tokens=None,
        output_tokens=None,
        duration_s=lapse.duration_s,
        started_at=lapse.started_at,
        finished_at=lapse.finished_at,
        artifact_id=None,
        artifacts=(),
        worker="inline",
    )


def resume_in_fresh_process(copy: Path, cells: int) -> Resumed:
    command = [sys.executable, "-m", "benchmarks.resume", "--cells", str(cells), "--resume", str(copy)]
    told = subprocess.run([*command, str(time.time())], check=True, stdout=subprocess.PIPE, text=True).stdout
    return Resumed(**json.loads(told))


def resume(root: Path, cases: int, spawned_at: float) -> Resumed:
    """Resume the campaign to its end."""
    start = time.time() - spawned_at
    declared, told = synthetic.campaign(cases), Opening()
    started = time.perf_counter()
    outcome = of.run(declared, root, executor="inline", progress=told)
    ended = time.perf_counter()
    if outcome.state != "completed":
        raise SystemExit(f"the campaign did not complete: {outcome}")
    return Resumed(
        start=start,
        opening=told.began - started,
        steps=told.steps.seconds,
        missing=told.steps.missing,
        pending=told.pending,
        trials=told.trials_ended - told.began,
        verdict=ended - told.trials_ended,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
    )


def report(title: str, resumed: Resumed) -> None:
    """Print one resume."""
    goal = "met" if resumed.opening <= GOAL_S else "NOT met"
    print(f"\n{title}: {resumed.opening:.2f} s to the next trial; goal of {GOAL_S:g} s: {goal}")
    other = resumed.opening - sum(resumed.steps.values())
    for name, seconds in sorted({**resumed.steps, "other": other}.items(), key=lambda step: -step[1]):
        if seconds >= 0.005:
            print(f"  {name:22}{seconds:7.2f} s")
    for name in resumed.missing:
        print(f"  {name} is no step any more")
    parts = (
        f"{resumed.start:.2f} s to start the process",
        f"{resumed.trials:.2f} s for {resumed.pending:,} trials",
        f"{resumed.verdict:.2f} s to the verdict",
        f"at most {resumed.peak_mb:,.0f} MB",
    )
    print(f"  beside it: {', '.join(parts)}")


if __name__ == "__main__":
    main()
