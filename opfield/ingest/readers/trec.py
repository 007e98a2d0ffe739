"""TREC runs and judgments: `opfield ingest trec --qrels qrels.txt bm25.run dense.run --metric nDCG@10`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opfield.ingest.keys import checked
from opfield.ingest.readers.retrieval.intake import looks_like_run, option_path, records
from opfield.ingest.readers.retrieval.judgments import read_judgments
from opfield.ingest.readers.retrieval.texts import read_texts
from opfield.ingest.records import IngestError, Reader, ReaderOption, Reading, Record, Source
from opfield.ingest.sources import name_of

#: The option both readers of runs have.
STATED = ReaderOption("stated", "output of trec_eval for one of the runs, to reconcile with", Path, (), True)


def read(reading: Reading) -> Iterator[Record]:
    """Yield what runs amount to under the judgments of `--qrels`.

    Raises:
        IngestError: where the judgments are not named, or a file is damaged.
    """
    qrels = option_path(reading.options.get("qrels"))
    if qrels is None:
        raise IngestError("a run has no values without judgments; name their file with --qrels")
    judgments = read_judgments(Source(qrels, name_of(qrels)), reading.advance)
    queries = option_path(reading.options.get("queries"))
    texts = read_texts(Source(queries, name_of(queries)), reading.advance) if queries is not None else {}
    yield from records(reading, judgments, texts)


reader = Reader(
    name="trec",
    description="runs of TREC (6 columns, or JSON, Parquet and LZ4 as ranx writes them) under judgments",
    version="1",
    read=checked(read),
    recognizes=looks_like_run,
    options=(
        ReaderOption("qrels", "the judgments: 4 columns of TREC, a table of BEIR, or JSON", Path),
        ReaderOption("queries", "texts of the queries: an id, a tab and a text a line, or JSON lines", Path),
        STATED,
    ),
    tool="trec_eval",
)
