"""The reader of lm-evaluation-harness: `samples_*.jsonl`, and the `results_*.json` of their run where it is named too.

**System**: a model in one run. **Case**: a document of a task: key `doc_id`, which the harness keeps for a document
within a version of its task, in the suite of the task. What the document asks (its `question`, `problem`, `query`,
`prompt`, `input` or `text`, else all of it) is the input, so that a task whose documents moved is found out, and models
with other examples or chat templates before the question still pair. **Metric**: `metric,filter` as the harness names
its figures. Rows of one document under several filters are one sample, although a file may hold one filter after the
other: their values are gathered in a first pass, their content is kept of the first row alone.

A value that is no number, as corpus metrics such as BLEU and perplexities have for each document, is not applicable to
a single case; so is `bypass`, by which a task says that it is scored elsewhere. Prompts and their examples stay in the
file: what is kept as evidence is the document, the target, the responses and the hashes.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from opfield.core import MissingReason
from opfield.errors import DeclarationError
from opfield.ingest.files import Advance, first_bytes, first_character, is_gzip, json_value, lines
from opfield.ingest.json_stream import json_items
from opfield.ingest.kept import is_deep
from opfield.ingest.keys import checked
from opfield.ingest.readers.lm_eval_runs import Run, described, runs_of, stated, unseen
from opfield.ingest.records import (
    CaseRef,
    Key,
    MetricStated,
    Note,
    Reader,
    Reading,
    Record,
    Refused,
    Sample,
    Source,
)
from opfield.metric import MAX_MAGNITUDE

_PEEK: Final = 2**16
#: After so many rows of a file were refused, the rest of it is not read.
_MOST_REFUSED: Final = 50
_NAMES: Final = re.compile(r"(samples_.*\.jsonl|results.*\.json)(\.gz)?", re.DOTALL)
_ASKED: Final = ("question", "problem", "query", "prompt", "input", "text")
#: Members of a row that are no metrics.
_STRUCTURE: Final = frozenset(
    {"arguments", "doc", "doc_hash", "doc_id", "filter", "filtered_resps", "metrics", "prompt_hash", "resps"}
    | {"target", "target_hash"}
)
_KEPT: Final = ("doc", "target", "resps", "filtered_resps", "filter", "doc_hash", "prompt_hash", "target_hash")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a samples file: a document under one filter.

    Attributes:
        place: where it stands.
        index: its position among the rows of the file.
        doc_id: key of its document.
        filter: the filter; None where the row names none.
        values: value by metric.
        missing: why a metric has no value.
        alone: name of each metric without the filter.
        row: its members as they stand.
    """

    place: str
    index: int
    doc_id: Key
    filter: str | None
    values: Mapping[str, float]
    missing: Mapping[str, MissingReason]
    alone: Mapping[str, str]
    row: Mapping[str, Any]


@dataclass(slots=True)
class _Gathered:
    """What rows of one document amount to: the row that its content is kept of, and all values."""

    home: int
    values: dict[str, float] = field(default_factory=dict)
    missing: dict[str, MissingReason] = field(default_factory=dict)


def _read(reading: Reading) -> Iterator[Record]:
    runs = runs_of(reading.sources)
    announced: set[tuple[str, str]] = set()
    for run in runs:
        yield from described(run, runs)
        names: dict[str, set[tuple[str, str]]] = {}
        for source, task in run.samples:
            yield from _task(run, source, task, reading.advance, announced, names)
        yield from stated(run, names)
        yield from unseen(run, names)


def _task(
    run: Run,
    source: Source,
    task: str,
    advance: Advance,
    announced: set[tuple[str, str]],
    names: dict[str, set[tuple[str, str]]],
) -> Iterator[Record]:
    gathered = _gathered(source, run, task)
    seen: Counter[tuple[Key, str | None]] = Counter()
    told: Counter[str] = Counter()
    for row in _rows(source, run, task, advance):
        if isinstance(row, Refused):
            told["refused"] += 1
            yield row
            if told["refused"] >= _MOST_REFUSED:
                yield Refused(source.name, f"{_MOST_REFUSED} rows are refused; the rest is not read", "see above")
                return
            continue
        try:
            for name, alone in row.alone.items():
                names.setdefault(name, set()).add((task, alone))
                if (task, name) not in announced:
                    announced.add((task, name))
                    yield MetricStated(run.metric(task, name, alone), row.place)
        except DeclarationError as error:
            yield Refused(row.place, str(error), "rename the metric in the task, or leave the file out")
            continue
        told["inapplicable"] += MissingReason.NOT_APPLICABLE in row.missing.values()
        told["rows"] += 1
        whole: _Gathered | Row = row
        if gathered:
            whole = gathered[row.doc_id, seen[row.doc_id, row.filter]]
            seen[row.doc_id, row.filter] += 1
            if whole.home != row.index:
                continue
        yield Sample(
            system=run.key,
            case=CaseRef(row.doc_id, task),
            place=row.place,
            input=_input(row.row),
            values=whole.values,
            missing=whole.missing,
            groups={"task": task},
            content={name: row.row[name] for name in _KEPT if row.row.get(name) is not None},
        )
    if told["inapplicable"]:
        text = "rows have metrics without a value for a single document, such as those of a whole corpus or `bypass`"
        yield Note(f"{told['inapplicable']} {text}", source.name)
    if not told["rows"]:
        yield Note("the file holds no rows", source.name)


def _gathered(source: Source, run: Run, task: str) -> dict[tuple[Key, int], _Gathered]:
    """Return the values of each document over all filters; nothing where the file has a single filter.

    The n-th row of a document under one filter belongs with its n-th rows under the others: a file that holds a
    document twice holds it twice under each.
    """
    filters = {row.filter for row in _rows(source, run, task) if isinstance(row, Row)}
    if len(filters) < 2:
        return {}
    gathered: dict[tuple[Key, int], _Gathered] = {}
    seen: Counter[tuple[Key, str | None]] = Counter()
    for row in _rows(source, run, task):
        if isinstance(row, Row):
            held = gathered.setdefault((row.doc_id, seen[row.doc_id, row.filter]), _Gathered(row.index))
            held.values.update(row.values)
            held.missing.update(row.missing)
            seen[row.doc_id, row.filter] += 1
    return gathered


def _rows(source: Source, run: Run, task: str, advance: Advance = lambda _bytes: None) -> Iterator[Row | Refused]:
    for index, (value, place) in enumerate(_values(source, advance)):
        yield _row(value, place, index, run, task)


def _values(source: Source, advance: Advance) -> Iterator[tuple[Any, str]]:
    """Yield the rows of a file with their places: a line each, or elements of one list in the first versions."""
    if first_character(source) == b"[":
        for index, value in enumerate(json_items(source, "item", advance)):
            yield value, f"{source.name}: [{index}]"
        return
    for number, line in lines(source, advance):
        place = f"{source.name}: line {number}"
        yield json_value(line, place), place


def _row(value: Any, place: str, index: int, run: Run, task: str) -> Row | Refused:
    remedy = "log the samples again, or leave the file out if the harness did not write it"
    if not isinstance(value, Mapping):
        return Refused(place, f"it is {type(value).__name__}, not a row of the harness", remedy)
    if any(is_deep(value.get(name)) for name in (*_KEPT, "arguments")):
        return Refused(place, "it nests too deep to be a row of the harness", remedy)
    doc_id = value.get("doc_id")
    if isinstance(doc_id, float) and doc_id.is_integer():
        doc_id = int(doc_id)
    if isinstance(doc_id, bool) or not isinstance(doc_id, int | str) or doc_id == "":
        return Refused(place, f"doc_id {str(doc_id)[:40]!r} is neither a number nor text, so it is no key", remedy)
    key = value.get("filter")
    if key is not None and not isinstance(key, str):
        return Refused(place, f"filter {str(key)[:40]!r} is no text", remedy)
    listed = value.get("metrics")
    if isinstance(listed, list) and all(isinstance(name, str) for name in listed):
        found = list(dict.fromkeys(listed))
    elif listed is None:
        found = [
            name for name, held in value.items() if name not in _STRUCTURE and isinstance(held, bool | int | float)
        ]
    else:
        return Refused(place, f"metrics {str(listed)[:40]!r} is no list of names", remedy)
    values: dict[str, float] = {}
    missing: dict[str, MissingReason] = {}
    alone: dict[str, str] = {}
    for metric in found:
        name = metric if key is None else f"{metric},{key}"
        alone[name] = metric
        held = value.get(metric)
        if metric == "bypass" or run.aggregation(task, metric) == "bypass":
            missing[name] = MissingReason.NOT_APPLICABLE
        elif held is None:
            missing[name] = MissingReason.NOT_EMITTED
        elif not isinstance(held, bool | int | float):
            missing[name] = MissingReason.NOT_APPLICABLE
        elif not abs(held) <= MAX_MAGNITUDE:
            missing[name] = MissingReason.NOT_FINITE
        else:
            values[name] = float(held)
    return Row(place, index, doc_id, key, values, missing, alone, value)


def _input(row: Mapping[str, Any]) -> Any:
    """Return what a document asks; the prompt where the row holds no document."""
    doc = row.get("doc")
    if isinstance(doc, Mapping):
        for name in _ASKED:
            if isinstance(doc.get(name), str) and doc[name].strip():
                return doc[name]
        return dict(doc) or None
    if doc is not None:
        return doc
    return row.get("arguments")


def _recognizes(path: Path) -> bool:
    if not _NAMES.fullmatch(path.name.lower()) or not path.is_file():
        return False
    start = first_bytes(path, _PEEK)
    if is_gzip(path):
        try:
            with gzip.open(path) as file:
                start = file.read(_PEEK)
        except (OSError, EOFError, zlib.error):
            return False
    if ".jsonl" in path.name.lower():
        return b'"doc_id"' in start
    return b'"results"' in start and (b"_stderr" in start or b'"lm_eval_version"' in start or b'"n-shot"' in start)


reader: Final = Reader(
    name="lm_eval",
    description="lm-evaluation-harness: samples_*.jsonl of --log_samples and results_*.json",
    version="1",
    read=checked(_read),
    recognizes=_recognizes,
    tool="lm-evaluation-harness",
)
