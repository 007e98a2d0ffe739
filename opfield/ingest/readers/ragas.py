"""The reader of Ragas results as people export them: a table of one row a question, its numbers the metrics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from opfield.ingest.files import first_bytes
from opfield.ingest.keys import checked
from opfield.ingest.readers.table import read_columns
from opfield.ingest.records import IngestError, Reader, ReaderOption, Reading, Record
from opfield.ingest.tables.glimpse import glimpse
from opfield.ingest.tables.mapping import Columns
from opfield.ingest.tables.opening import is_table

#: Columns of what was asked, in the tool's newer and older schema.
_ASKED: Final = ("user_input", "question")
#: Columns of a sample in both schemas: what a question is about, never a score.
_SAMPLE: Final = frozenset({
    "user_input", "response", "retrieved_contexts", "reference", "reference_contexts", "rubric", "rubrics",
    "multi_responses", "retrieved_context_ids", "reference_context_ids", "reference_tool_calls", "reference_topics",
    "persona_name", "query_style", "query_length", "synthesizer_name", "question", "answer", "contexts",
    "ground_truth", "ground_truths", "evolution_type", "episode_done", "metadata", "", "index", "Unnamed: 0",
})  # fmt: skip


def read_ragas(reading: Reading) -> Iterator[Record]:
    """Yield the records of exported results; each file is one system unless a column names it.

    A value that Ragas could not compute is NaN or empty in its export, and missing here.

    Raises:
        IngestError: where a file has no column of questions, or no metric.
    """
    options = reading.options
    asked, numbers = "", dict[str, None]()
    for source in reading.sources:
        seen = glimpse(source)
        found = next((name for name in _ASKED if name in seen), None)
        if found is None:
            raise IngestError(f"{source.name} is no export of Ragas: it has neither user_input nor question")
        if asked and found != asked:
            raise IngestError(f"{source.name} calls the question {found}, and the others {asked}; rename the column")
        asked = found
        numbers |= dict.fromkeys(name for name, is_numeric in seen.items() if is_numeric)
    columns = Columns(
        case=tuple(options.get("case") or ()) or (asked,),
        candidate=options.get("candidate"),
        repeat=options.get("repeat"),
        input=asked,
    )
    metrics = reading.metrics or tuple(name for name in numbers if name not in {*_SAMPLE, *columns.needed()})
    if not metrics:
        raise IngestError("there is no column of numbers beside the samples; name one with --metric")
    yield from read_columns(replace(reading, metrics=metrics), columns)


def recognizes(path: Path) -> bool:
    """Return whether a file is a table whose first bytes name what Ragas calls a sample."""
    start = first_bytes(path, 65_536)
    is_sample = b"user_input" in start and (b"response" in start or b"retrieved_contexts" in start)
    return is_sample and is_table(path)


reader = Reader(
    name="ragas",
    description="Ragas results exported as CSV, JSONL or Parquet",
    version="1",
    read=checked(read_ragas),
    recognizes=recognizes,
    options=(
        ReaderOption("candidate", "column that names the system; without it each file is one system"),
        ReaderOption("case", "column that identifies the case; the question unless given", is_repeatable=True),
        ReaderOption("repeat", "column that numbers repeats; without it a second row of a case is a duplicate"),
    ),
    tool="ragas",
)
