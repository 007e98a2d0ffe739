"""A reader of made-up results, one sample a line, and intakes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opfield.core import Failure, Status
from opfield.ingest.commit import Taken, ingest
from opfield.ingest.files import json_value, lines
from opfield.ingest.records import (
    OBSERVED,
    CaseRef,
    Expected,
    MetricStated,
    Reader,
    Reading,
    Record,
    Sample,
    Stated,
    System,
)
from opfield.ingest.request import Request
from opfield.ingest.sources import Asked
from opfield.metric import Metric

SCORE = Metric("score", lower=0, upper=1)


def _read(reading: Reading) -> Iterator[Record]:
    for source in reading.sources:
        yield MetricStated(SCORE, source.name)
        announced: set[str] = set()
        for number, line in lines(source):
            row = json_value(line, f"{source.name}: line {number}")
            place = f"{source.name}: line {number}"
            model = row.get("model", source.name)
            if model not in announced:
                announced.add(model)
                yield System(
                    model, model, source.name, {"model": row.get("says", model)}, (source.path.stem,), row.get("run")
                )
            case = CaseRef(row.get("case", ""), row.get("suite", ""))
            if "repeats" in row:
                yield Expected(model, case, place, row["repeats"], row.get("input"))
            elif "stated" in row:
                yield Stated(model, row["figure"], row["stated"], place, row.get("metric"))
            else:
                yield _sample(model, case, place, row)


def _sample(model: str, case: CaseRef, place: str, row: Mapping[str, Any]) -> Sample:
    status = Status(row.get("status", "success"))
    return Sample(
        model,
        case,
        place,
        OBSERVED if row.get("repeat") == "observed" else row.get("repeat"),
        row.get("input"),
        {} if row.get("score") is None else {"score": row["score"]},
        status=status,
        failure=None if status is Status.SUCCESS else Failure(row.get("code", "error"), "it failed"),
        groups=row.get("groups", {}),
        cost_usd=row.get("cost"),
        started_at=row.get("started"),
        content=row,
    )


TOY = Reader("toy", "made-up results", "1", _read, lambda path: path.suffix == ".jsonl")


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write one row a line."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def request(*paths: Path, baseline: str | None = "base.jsonl", **more: Any) -> Request:
    """Return the request for files of the toy."""
    return Request((Asked(TOY, paths, {}),), baseline, **more)


def taken(root: Path, *paths: Path, **more: Any) -> Taken:
    """Take files of the toy in."""
    return ingest(request(*paths, **more), root)


def results(scores: Mapping[str | int, float], **more: Any) -> list[dict[str, Any]]:
    """Return one row for each case."""
    return [{"case": case, "score": score, **more} for case, score in scores.items()]
