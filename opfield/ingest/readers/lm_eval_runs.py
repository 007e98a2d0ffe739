"""Runs of lm-evaluation-harness: which files belong together, whose they are, and what their results file states.

The harness writes `results_<date>.json` and one `samples_<task>_<date>.jsonl` for each task into a folder that it names
after the model. Files of one date in one folder are one run. Its first versions wrote no dates: then the files of a
folder without dates are one run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeGuard

from opfield.ingest.json_stream import json_shell
from opfield.ingest.kept import without_secrets
from opfield.ingest.records import IngestError, Note, Source, Stated, System
from opfield.metric import MAX_MAGNITUDE, Direction, Metric

_DATED: Final = re.compile(r"(.*?)_?(\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?)", re.DOTALL)
_LINES: Final = (".jsonl", ".jsonl.gz")
# The harness's own registry says of these, and of no other metric that it ships, that less is better.
_LESS_IS_BETTER: Final = frozenset(
    {"bits_per_byte", "brier_score", "byte_perplexity", "perplexity", "ter", "word_perplexity"}
)
_MODEL_ARGUMENTS: Final = ("peft", "delta", "pretrained", "model", "path", "engine")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one model over some tasks.

    Attributes:
        key: key of its system.
        samples: its samples files, each with the task that it is of.
        results: its results file; None where there is none.
        says: the results file, or an empty object.
        date: when it was written, as in the names of its files; None where they have none.
        folder: name of the folder that it lies in.
        unnamed: name of a results file that lies beside the samples and was not named, so that it is not read.
    """

    key: str
    samples: tuple[tuple[Source, str], ...]
    results: Source | None
    says: Mapping[str, Any] = field(default_factory=dict)
    date: str | None = None
    folder: str = ""
    unnamed: str | None = None

    @property
    def model(self) -> str:
        """Name of the model: as the results file has it, else in its arguments, else the folder or the file."""
        name = self.says.get("model_name")
        if isinstance(name, str) and name.strip():
            return name
        arguments = _object(self.says.get("config")).get("model_args")
        if isinstance(arguments, str):
            arguments = dict(part.partition("=")[::2] for part in arguments.split(","))
        for argument in _MODEL_ARGUMENTS:
            value = _object(arguments).get(argument)
            if isinstance(value, str) and value.strip():
                return value
        return self.folder or (self.samples[0][0].name if self.samples else self.key)

    def task(self, name: str) -> Mapping[str, Any]:
        """Return the configuration of a task; nothing where it is not told."""
        return _object(_object(self.says.get("configs")).get(name))

    def aggregation(self, task: str, metric: str) -> str | None:
        """Return how the harness turns values of a metric into one figure; None where it is not told."""
        held = self._of_metric(task, metric).get("aggregation")
        return held if isinstance(held, str) else None

    def metric(self, task: str, name: str, metric: str) -> Metric:
        """Return the definition of a metric, by its name with the filter and its name alone.

        Raises:
            DeclarationError: where it cannot be the name of a metric.
        """
        is_higher = _object(_object(self.says.get("higher_is_better")).get(task)).get(metric)
        if not isinstance(is_higher, bool):
            is_higher = self._of_metric(task, metric).get("higher_is_better")
        if not isinstance(is_higher, bool):
            is_higher = metric not in _LESS_IS_BETTER
        direction: Direction = "maximize" if is_higher else "minimize"
        return Metric(name, direction=direction)

    def _of_metric(self, task: str, metric: str) -> Mapping[str, Any]:
        listed = self.task(task).get("metric_list")
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, Mapping) and each.get("metric") == metric:
                return each
        return {}


def runs_of(sources: Sequence[Source]) -> list[Run]:
    """Return the runs that files belong to, in the order in which their first file was named.

    Raises:
        IngestError: where a results file cannot be read, two claim one run, or no file holds samples.
    """
    groups: dict[tuple[Path, str | None], list[Source]] = {}
    for source in sources:
        groups.setdefault((source.path.absolute().parent, _date(source.path)), []).append(source)
    runs = [_run(number, folder, date, held) for number, ((folder, date), held) in enumerate(groups.items())]
    if not any(run.samples for run in runs):
        named = ", ".join(source.name for source in sources[:3])
        raise IngestError(f"{named}: no file of samples; run the harness with --log_samples, and name what it writes")
    return runs


def described(run: Run, runs: Sequence[Run]) -> Iterator[System | Note]:
    """Yield the system of a run, and what of its results file has no samples."""
    shared = [other for other in runs if other is not run and other.model == run.model]
    name = _sanitized(run)
    by_folder = any(other.date == run.date for other in shared)
    told_apart = " ".join(part for part in (run.date, run.folder if by_folder else None) if part)
    label = f"{name} {told_apart}" if shared and told_apart else name
    place = run.results or run.samples[0][0]
    files = [source.name for source, _ in run.samples] + ([run.results.name] if run.results else [])
    aliases = [name, run.model, run.model.rpartition("/")[2], run.date, *files]
    if sum(other.folder == run.folder for other in runs) == 1:
        aliases.append(run.folder)
    started = run.says.get("date")
    yield System(
        key=run.key,
        label=label[:200],
        place=place.name,
        says=_says(run),
        aliases=tuple(dict.fromkeys(alias for alias in aliases if alias and alias != label)),
        run=f"{run.model} {started}" if _is_number(started) else None,
    )
    tasks = {task for _, task in run.samples}
    lacking = [task for task in _object(run.says.get("n-samples")) if task not in tasks]
    if lacking and run.results is not None:
        named = ", ".join(map(str, lacking[:3])) + (", …" if len(lacking) > 3 else "")
        yield Note(f"it states {len(lacking)} tasks that have no file of samples here: {named}", run.results.name)
    if run.unnamed is not None:
        told = f"{run.unnamed} lies beside it and was not named, so it was not read; name it too"
        yield Note(told, place.name)
    elif run.results is None:
        yield Note("there is no results file of its date, so the folder's name is taken for the model", place.name)


def stated(run: Run, names: Mapping[str, set[tuple[str, str]]]) -> Iterator[Stated]:
    """Yield what a results file states of the tasks that samples are there of.

    A figure of a single task is the file's own. Over several tasks the file states one for each, and the figure is
    their mean by the sizes that it states, as the harness itself pools a group. What is aggregated other than by a mean
    is no mean over cases and left out.

    Args:
        run: the run.
        names: for each metric, named with its filter, the tasks whose samples have it and its name alone.
    """
    if run.results is None:
        return
    sizes = _object(run.says.get("n-samples"))
    tasks = [task for _, task in run.samples]
    effective = {task: _object(sizes.get(task)).get("effective") for task in tasks}
    counts = [size for size in effective.values() if isinstance(size, int) and not isinstance(size, bool)]
    if counts and len(counts) == len(effective):
        yield Stated(run.key, "samples", sum(counts), f"{run.results.name}: n-samples", name="effective")
    results = _object(run.says.get("results"))
    for name, held in names.items():
        figures = []
        for task, metric in sorted(held):
            value = _object(results.get(task)).get(name)
            size = effective.get(task)
            if _is_number(value) and run.aggregation(task, metric) in (None, "mean"):
                figures.append((task, float(value), size if _is_number(size) and size > 0 else None))
        if len(figures) < len(held) or not figures:
            continue
        if len(figures) == 1:
            (task, value, _) = figures[0]
            yield Stated(run.key, "mean", value, f"{run.results.name}: results.{task}", name, name)
            continue
        weighted = [(value, size) for _, value, size in figures if size is not None]
        if len(weighted) == len(figures):
            mean = sum(value * size for value, size in weighted) / sum(size for _, size in weighted)
            told = f"{name} of {len(figures)} tasks by size"
            yield Stated(run.key, "mean", mean, f"{run.results.name}: results", name, told)


def unseen(run: Run, names: Iterable[str]) -> Iterator[Note]:
    """Yield a note of the figures that a results file states of tasks whose samples do not carry them."""
    if run.results is None:
        return
    results = _object(run.says.get("results"))
    listed = {name for _, task in run.samples for name in _object(results.get(task)) if "," in name}
    lacking = sorted(name for name in listed.difference(names) if "_stderr," not in name)
    if lacking:
        yield Note(f"it states figures that no sample carries: {', '.join(lacking)}", run.results.name)


def _run(number: int, folder: Path, date: str | None, held: Sequence[Source]) -> Run:
    lines = [source for source in held if source.path.name.lower().endswith(_LINES)]
    documents = [source for source in held if source not in lines]
    if len(documents) > 1:
        raise IngestError(
            f"{documents[0].name} and {documents[1].name} are both results of one run; name the one that its samples "
            "belong to"
        )
    results = documents[0] if documents else None
    says = json_shell(results, ("samples",)) if results is not None else {}
    if results is not None and not (isinstance(says, Mapping) and isinstance(says.get("results"), Mapping)):
        raise IngestError(
            f"{results.name} is no results file of lm-evaluation-harness: it has no `results`; leave it out"
        )
    tasks = _object(says.get("configs"))
    return Run(
        key=f"{number}/{folder.name}/{date or ''}",
        samples=tuple((source, _task(source.path, tasks)) for source in lines),
        results=results,
        says=says,
        date=date,
        folder=folder.name,
        unnamed=None if documents else _beside(folder, date),
    )


def _beside(folder: Path, date: str | None) -> str | None:
    name = f"results_{date}.json" if date else "results.json"
    return name if (folder / name).is_file() else None


def _date(path: Path) -> str | None:
    found = _DATED.fullmatch(_stem(path))
    return found.group(2) if found else None


def _task(path: Path, tasks: Mapping[str, Any]) -> str:
    found = _DATED.fullmatch(_stem(path))
    name = (found.group(1) if found else _stem(path)).removeprefix("samples_")
    ends = [task for task in tasks if name == task or name.endswith(f"_{task}")]
    return name if not ends or name in tasks else max(ends, key=len)


def _stem(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return name.rpartition(".")[0] or name


def _sanitized(run: Run) -> str:
    name = run.says.get("model_name_sanitized")
    text = name if isinstance(name, str) and name.strip() else re.sub(r"[\"<>:/\\|?*\[\]\x00-\x20]+", "__", run.model)
    return re.sub(r"[\x00-\x1f]+", " ", text)


def _says(run: Run) -> dict[str, Any]:
    config = _object(run.says.get("config"))
    shots = _object(run.says.get("n-shot"))
    says = {
        "tool": "lm-evaluation-harness",
        "version": run.says.get("lm_eval_version"),
        "model": run.model,
        "source": run.says.get("model_source", config.get("model")),
        "arguments": config.get("model_args"),
        "revision": config.get("model_sha", config.get("model_revision")),
        "generation": config.get("gen_kwargs"),
        "chat_template": run.says.get("chat_template_sha"),
        "system_instruction": run.says.get("system_instruction"),
        "examples": {task: shots[task] for _, task in run.samples if task in shots} or None,
    }
    kept: dict[str, Any] = without_secrets({name: value for name, value in says.items() if value not in (None, "")})
    return kept


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MAX_MAGNITUDE


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
