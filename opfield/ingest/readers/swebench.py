"""The reader of SWE-bench: run reports, reports of single instances, and predictions that wait for a report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from opfield.core import Failure, Status
from opfield.core.number import is_number
from opfield.ingest.files import LARGEST_PART, expanded, first_bytes, json_value, lines, open_file
from opfield.ingest.keys import checked
from opfield.ingest.records import (
    CaseRef,
    Expected,
    IngestError,
    MetricStated,
    Note,
    Reader,
    ReaderOption,
    Reading,
    Record,
    Refused,
    Sample,
    Source,
    Stated,
    System,
)
from opfield.metric import Metric

RESOLVED: Final = Metric(
    "resolved",
    kind="binary",
    on_domain_failure="worst",
    description="whether the patch makes the failing tests pass and breaks none of the others",
)
_EMPTY: Final = Failure("empty_patch", "the system gave no patch")
_NOT_APPLIED: Final = Failure("patch_not_applied", "the patch does not apply to the repository")
#: Lists of a run report that give an instance's outcome: its value or its failure, and whose failure it is.
_OUTCOMES: Final[Mapping[str, tuple[float | None, Status, Failure | None]]] = {
    "resolved_ids": (1.0, Status.SUCCESS, None),
    "unresolved_ids": (0.0, Status.SUCCESS, None),
    "empty_patch_ids": (None, Status.DOMAIN_FAILURE, _EMPTY),
    "error_ids": (
        None, Status.INFRASTRUCTURE_FAILURE, Failure("error", "the harness met an error on this instance"),
    ),
    "failed_ids": (
        None, Status.INFRASTRUCTURE_FAILURE, Failure("failed", "the evaluation of this instance failed"),
    ),
}  # fmt: skip
_COUNTS: Final = {
    "resolved_instances": "resolved_ids",
    "unresolved_instances": "unresolved_ids",
    "empty_patch_instances": "empty_patch_ids",
    "error_instances": "error_ids",
    "submitted_instances": "submitted_ids",
    "completed_instances": "completed_ids",
}
_REMEDY: Final = "write the file again with the harness, or leave it out"


def read_swebench(reading: Reading) -> Iterator[Record]:
    """Yield the records of run reports, reports of instances, and predictions.

    Raises:
        IngestError: where a file is none of these.
    """
    yield MetricStated(RESOLVED, f"{reading.sources[0].name}: resolved" if reading.sources else "swebench")
    announced: set[str] = set()
    for source in reading.sources:
        if _is_lines(source):
            yield from _predictions(source, _prediction_lines(source, reading))
            continue
        document = _document(source, reading)
        if isinstance(document, dict) and "submitted_ids" in document and "resolved_ids" in document:
            yield from _run_report(source, document, takes_all=bool(reading.options.get("all-instances")))
        elif isinstance(document, list) or (isinstance(document, dict) and _holds(document, "model_patch")):
            yield from _predictions(source, _prediction_items(source, document))
        elif isinstance(document, dict) and _holds(document, "resolved"):
            yield from _instance_reports(source, document, announced)
        else:
            raise IngestError(
                f"{source.name} is no SWE-bench file: neither a run report (submitted_ids, resolved_ids), nor a report "
                "of instances (resolved), nor predictions (instance_id, model_patch); leave it out"
            )


# A run report: one system over many instances.


def _run_report(source: Source, report: Mapping[str, Any], *, takes_all: bool) -> Iterator[Record]:
    key, name = source.name, source.name
    label = Path(source.name).name.removesuffix(".json")
    yield System(key, label, name, {"report": label}, (Path(source.name).name,))
    listed: dict[str, list[str]] = {}
    for member in (*_OUTCOMES, "submitted_ids", "completed_ids", "incomplete_ids", "pending_ids"):
        ids = report.get(member, [])
        if not isinstance(ids, list) or not all(isinstance(each, str) and each for each in ids):
            yield Refused(f"{name}: {member}", "no list of instance ids", _REMEDY)
            return
        listed[member] = ids
    for count, member in _COUNTS.items():
        stated = report.get(count)
        if isinstance(stated, int) and stated != len(listed[member]):
            yield Note(f"{count} is {stated}, but {member} holds {len(listed[member])}", f"{name}: {count}")
    pending = set(listed["pending_ids"])
    for number, instance in enumerate(listed["submitted_ids"]):
        place = f"{name}: submitted_ids[{number}]"
        is_pending = instance in pending
        yield Expected(key, CaseRef(instance), place, absence="not_finished" if is_pending else "missing")
    never = listed["incomplete_ids"]
    if takes_all:
        for number, instance in enumerate(never):
            yield Expected(key, CaseRef(instance), f"{name}: incomplete_ids[{number}]")
    elif never:
        yield Note(
            f"{len(never)} of {report.get('total_instances', 'all')} instances were never submitted and are no trials; "
            "--all-instances counts them as missing",
            f"{name}: incomplete_ids",
        )
    for member, (value, status, failure) in _OUTCOMES.items():
        for number, instance in enumerate(listed[member]):
            yield Sample(
                key,
                CaseRef(instance),
                f"{name}: {member}[{number}]",
                values={} if value is None else {"resolved": value},
                status=status,
                failure=failure,
            )
    submitted, completed = report.get("submitted_instances"), report.get("completed_instances")
    if is_number(submitted):
        yield Stated(key, "samples", submitted, f"{name}: submitted_instances", name="submitted_instances")
    if is_number(completed):
        yield Stated(key, "scored", completed, f"{name}: completed_instances", name="completed_instances")


# Reports of single instances: the folders above say whose they are.


def _instance_reports(source: Source, document: Mapping[str, Any], announced: set[str]) -> Iterator[Record]:
    key, says, aliases = _owner(source, document)
    if key not in announced:
        announced.add(key)
        yield System(key, str(says.get("model", key)), source.name, says, aliases)
    for instance, report in document.items():
        place = f"{source.name}: {instance}"
        resolved = report.get("resolved") if isinstance(report, dict) else None
        if not instance or not isinstance(resolved, bool):
            yield Refused(place, f"resolved is {resolved!r}, neither true nor false", _REMEDY)
            continue
        failure = None
        if report.get("patch_is_None") is True or report.get("patch_exists") is False:
            failure = _EMPTY
        elif report.get("patch_successfully_applied") is False:
            failure = _NOT_APPLIED
        if failure is not None and resolved:
            yield Refused(place, f"resolved, and yet {failure.message}", _REMEDY)
            continue
        yield Sample(
            key,
            CaseRef(instance),
            place,
            values={} if failure else {"resolved": float(resolved)},
            status=Status.SUCCESS if failure is None else Status.DOMAIN_FAILURE,
            failure=failure,
            content=report,
        )


def _owner(source: Source, document: Mapping[str, Any]) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    """Return key, description and aliases of the system, from the harness's folders run/model/instance where there."""
    folders = source.path.absolute().parent.parts
    if len(folders) >= 4 and len(document) == 1 and folders[-1] in document:
        run, model = folders[-3], folders[-2]
        return f"{run}/{model}", {"model": model, "run": run}, (run, f"{run}/{model}")
    return source.name, {"report": source.name}, ()


# Predictions: what was submitted, without an outcome unless the patch is empty.


def _predictions(source: Source, items: Iterator[tuple[str, Any]]) -> Iterator[Record]:
    kept: dict[str, tuple[str, bool]] = {}
    models: set[str] = set()
    again, refused = 0, False
    for place, item in items:
        instance = item.get("instance_id") if isinstance(item, dict) else None
        if not isinstance(instance, str) or not instance or "model_patch" not in item:
            refused = True
            yield Refused(place, "no prediction: it needs instance_id and model_patch", _REMEDY)
            continue
        patch = item["model_patch"]
        if patch is not None and not isinstance(patch, str):
            refused = True
            yield Refused(place, f"model_patch is of type {type(patch).__name__}, not text", _REMEDY)
            continue
        models.add(str(item.get("model_name_or_path") or ""))
        again += instance in kept
        kept[instance] = place, not (patch and patch.strip())
    if not kept:
        if not refused:
            yield Refused(source.name, "it holds no prediction", _REMEDY)
        return
    models.discard("")
    says = {"predictions": source.name, "models": sorted(models)}
    yield System(source.name, source.name, source.name, says, tuple(sorted(models)))
    if again:
        yield Note(f"{again} instances are predicted again; the last prediction counts, as in the harness", source.name)
    for instance, (place, is_empty) in kept.items():
        yield Expected(source.name, CaseRef(instance), place, absence="not_finished")
        if is_empty:
            yield Sample(source.name, CaseRef(instance), place, status=Status.DOMAIN_FAILURE, failure=_EMPTY)
    yield Note("predictions hold no outcome; read the report of their evaluation for one", source.name)


def _prediction_lines(source: Source, reading: Reading) -> Iterator[tuple[str, Any]]:
    for number, line in lines(source, reading.advance):
        place = f"{source.name}: line {number}"
        yield place, json_value(line, place)


def _prediction_items(source: Source, document: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(document, list):
        yield from ((f"{source.name}: [{number}]", item) for number, item in enumerate(document))
    else:
        for instance, item in document.items():
            whole = {"instance_id": instance} | item if isinstance(item, dict) else item
            yield f"{source.name}: {instance}", whole


# Which of them a file is.


def _is_lines(source: Source) -> bool:
    return bool(re.search(r"\.jsonl(\.gz)?$", source.path.name))


def _document(source: Source, reading: Reading) -> Any:
    with open_file(source) as raw:
        content = expanded(raw, source, reading.advance).read(LARGEST_PART + 1)
    if len(content) > LARGEST_PART:
        raise IngestError(f"{source.name} is larger than {LARGEST_PART // 2**20} MiB; no report is, so leave it out")
    if not content.strip():
        raise IngestError(f"{source.name} is empty; write it again, or leave it out")
    return json_value(content, source.name)


def _holds(document: Mapping[str, Any], member: str) -> bool:
    """Return whether a document is objects by instance id, of which the first has a member."""
    first = next(iter(document.values()), None)
    return isinstance(first, dict) and member in first


def recognizes(path: Path) -> bool:
    """Return whether a file looks like a report or predictions of SWE-bench."""
    start = first_bytes(path, 65_536)
    if path.suffix == ".jsonl":
        return b'"instance_id"' in start and b'"model_patch"' in start
    if path.suffix != ".json":
        return False
    is_report = b'"patch_successfully_applied"' in start or b'"patch_is_None"' in start
    is_run = b'"submitted_instances"' in start and b'"completed_ids"' in start
    return is_report or is_run or (b'"instance_id"' in start and b'"model_patch"' in start)


reader = Reader(
    name="swebench",
    description="SWE-bench run reports, reports of instances, and predictions",
    version="1",
    read=checked(read_swebench),
    recognizes=recognizes,
    options=(
        ReaderOption("all-instances", "count instances that were never submitted as missing", bool, default=False),
    ),
    tool="swebench",
)
