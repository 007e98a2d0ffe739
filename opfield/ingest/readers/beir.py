"""Runs over a BEIR folder: `opfield ingest beir --data cranfield/ bm25.run dense.run --metric nDCG@10`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opfield.ingest.keys import checked
from opfield.ingest.readers.retrieval.intake import looks_like_run, option_path, records
from opfield.ingest.readers.retrieval.judgments import read_judgments
from opfield.ingest.readers.retrieval.texts import read_texts
from opfield.ingest.readers.trec import STATED
from opfield.ingest.records import IngestError, Note, Reader, ReaderOption, Reading, Record, Source


def read(reading: Reading) -> Iterator[Record]:
    """Yield what runs amount to under the judgments of one split of a BEIR folder.

    Raises:
        IngestError: where the folder is not named or lacks the split, or a file is damaged.
    """
    folder = option_path(reading.options.get("data"))
    if folder is None:
        raise IngestError("name the BEIR folder that holds queries.jsonl and qrels/ with --data")
    split = reading.options.get("split") or "test"
    judgments = read_judgments(_judgment_source(folder, split), reading.advance)
    queries = folder / "queries.jsonl"
    if queries.is_file():
        yield from records(reading, judgments, read_texts(Source(queries, queries.name), reading.advance))
    else:
        yield Note("the folder has no queries.jsonl: cases have no input", folder.name)
        yield from records(reading, judgments, {})


def _judgment_source(folder: Path, split: str) -> Source:
    if split in ("", ".", "..") or "/" in split or "\0" in split:
        raise IngestError(f"split {split!r} is no name; name one such as test")
    for name in (f"{split}.tsv", f"{split}.tsv.gz"):
        if (folder / "qrels" / name).is_file():
            return Source(folder / "qrels" / name, f"qrels/{name}")
    try:
        splits = sorted(path.name.partition(".")[0] for path in (folder / "qrels").iterdir() if path.suffix != "")
    except OSError:
        raise IngestError(f"{folder.name} has no folder qrels; name a BEIR folder with --data") from None
    raise IngestError(f"{folder.name} has no split {split!r}; --split takes {', '.join(splits) or 'none'}")


reader = Reader(
    name="beir",
    description="runs (JSON of BEIR, or TREC) over a BEIR folder with queries.jsonl and qrels/",
    version="1",
    read=checked(read),
    recognizes=looks_like_run,
    options=(
        ReaderOption("data", "the BEIR folder", Path),
        ReaderOption("split", "split of the judgments", str, "test"),
        STATED,
    ),
)
