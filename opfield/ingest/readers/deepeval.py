"""The reader of DeepEval test runs: test cases of one turn or many, each with the scores of its metrics."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from opfield.core import Failure, MissingReason, Status, digest, digest_hex
from opfield.errors import DeclarationError
from opfield.ingest.files import first_bytes
from opfield.ingest.json_stream import json_items, json_shell
from opfield.ingest.keys import checked
from opfield.ingest.records import (
    CaseRef,
    IngestError,
    MetricStated,
    Note,
    Reader,
    Reading,
    Record,
    Refused,
    Sample,
    Source,
    Stated,
    System,
)
from opfield.ingest.tables.arrow_rows import as_json
from opfield.ingest.tables.remarks import Remarks, in_few
from opfield.ingest.tables.scalars import Unfit, amount_of, key_of, number_of, shown
from opfield.metric import Metric

_ARRAYS: Final = ("testCases", "conversationalTestCases")
#: A name that the tool gives by position, which is no stable key.
_POSITIONAL: Final = re.compile(r"(conversational_)?test_case_\d+")
#: The tool's metrics that pass below their threshold; all of its others pass above it.
_LOWER_IS_BETTER: Final = frozenset({"Hallucination", "Bias", "Toxicity"})


def read_deepeval(reading: Reading) -> Iterator[Record]:
    """Yield the records of test runs; each file is one system.

    Raises:
        IngestError: where a file is no test run.
    """
    stated: set[str] = set()
    for source in reading.sources:
        shell = json_shell(source, _ARRAYS, reading.advance)
        if not isinstance(shell, dict) or not any(name in shell for name in _ARRAYS):
            raise IngestError(f"{source.name} is no test run of DeepEval: it has no testCases; leave it out")
        yield _system(source, shell)
        remarks = Remarks()
        yield from in_few(_cases(source, stated, remarks), source.name)
        yield from remarks.notes()
        yield from _stated(source, shell)


def _system(source: Source, shell: Mapping[str, Any]) -> System:
    says = {"file": source.name}
    if shell.get("hyperparameters"):
        says["hyperparameters"] = as_json(shell["hyperparameters"])
    name = shell.get("identifier")
    aliases = (name,) if isinstance(name, str) and name else ()
    return System(source.name, source.name, source.name, says, aliases)


def _cases(source: Source, stated: set[str], remarks: Remarks) -> Iterator[Record]:
    for array in _ARRAYS:
        for number, case in enumerate(json_items(source, f"{array}.item")):
            place = f"{source.name}: {array}[{number}]"
            try:
                yield from _case(source.name, place, case, stated, remarks)
            except (Unfit, DeclarationError) as error:
                remedy = error.remedy if isinstance(error, Unfit) else "rename the metric"
                yield Refused(place, str(error), remedy)


def _case(system: str, place: str, case: Any, stated: set[str], remarks: Remarks) -> Iterator[Record]:
    if not isinstance(case, dict):
        raise Unfit(f"{shown(case)} is no test case", "write the file again with the tool")
    values: dict[str, float] = {}
    missing: dict[str, MissingReason] = {}
    errors: list[str] = []
    costs = [amount_of(case.get("tokenCost"), "tokenCost"), amount_of(case.get("evaluationCost"), "evaluationCost")]
    judged: list[float | None] = []
    found = case.get("metricsData") or []
    if not isinstance(found, list) or not all(isinstance(data, dict) for data in found):
        raise Unfit("metricsData is no list of metrics", "write the file again with the tool")
    for data in found:
        name = data.get("name")
        if not isinstance(name, str) or not name:
            raise Unfit(f"a metric has the name {shown(name)}", "give each metric a name")
        if name in values or name in missing:
            raise Unfit(f"metric {name!r} stands twice in one test case", "give each metric a name of its own")
        if name not in stated:
            stated.add(name)
            yield MetricStated(_metric(name, data), place)
        number = number_of(data.get("score"), "score")
        if data.get("error"):
            missing[name] = MissingReason.JUDGE_FAILED
            errors.append(f"{name}: {data['error']}")
        elif number.value is not None:
            values[name] = number.value
            _check_direction(name, number.value, data, place, remarks)
        else:
            missing[name] = number.missing or MissingReason.NOT_EMITTED
        judged.append(amount_of(data.get("evaluationCost"), "evaluationCost"))
    if costs[1] is None:
        costs[1] = _sum(judged)
    if not found:
        remarks.add("test cases have no metric, so that they carry no value", place)
    has_failed = bool(errors) and not values
    asked = as_json(case.get("input") if case.get("input") is not None else case.get("turns"))
    yield Sample(
        system,
        CaseRef(_key(case, asked, remarks, place)),
        place,
        input=asked,
        values=values,
        missing=missing,
        status=Status.INFRASTRUCTURE_FAILURE if has_failed else Status.SUCCESS,
        failure=Failure("judge_failed", "; ".join(errors)) if has_failed else None,
        cost_usd=_sum(costs),
        duration_s=amount_of(case.get("completionTime"), "completionTime"),
        content=as_json(case),
    )


def _key(case: Mapping[str, Any], asked: Any, remarks: Remarks, place: str) -> str | int:
    """Return the name of a test case, or the digest of what was asked where the name only counts test cases."""
    name = case.get("name")
    if name is not None and not (isinstance(name, str) and (_POSITIONAL.fullmatch(name) or not name.strip())):
        return key_of(name, "name")
    if asked in (None, "", []):
        raise Unfit("a test case has neither a name of its own nor an input", "give each test case a name")
    remarks.add("test cases are named by their position, so they are known by the digest of their input", place)
    text = json.dumps(asked, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return f"input {digest_hex(digest('opfield/deepeval-case/v1', text))[:16]}"


def _metric(name: str, data: Mapping[str, Any]) -> Metric:
    judge = data.get("evaluationModel")
    return Metric(
        name,
        direction="minimize" if name in _LOWER_IS_BETTER else "maximize",
        evaluator=judge if isinstance(judge, str) and judge else None,
    )


def _check_direction(name: str, value: float, data: Mapping[str, Any], place: str, remarks: Remarks) -> None:
    """Tell of a metric that passes on the other side of its threshold than its direction says."""
    threshold, success = data.get("threshold"), data.get("success")
    if isinstance(threshold, int | float) and isinstance(success, bool) and not math.isclose(value, threshold):
        passes_above = (value > threshold) == success
        if passes_above == (name in _LOWER_IS_BETTER):
            side = "below" if not passes_above else "above"
            remarks.add(f"metric {name!r} passes {side} its threshold; --minimize says that less is better", place)


def _sum(amounts: list[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return math.fsum(known) if known else None


def _stated(source: Source, shell: Mapping[str, Any]) -> Iterator[Record]:
    passed, failed = shell.get("testPassed"), shell.get("testFailed")
    if isinstance(passed, int) and isinstance(failed, int):
        yield Stated(
            source.name, "samples", passed + failed, f"{source.name}: testPassed", name="testPassed + testFailed"
        )
    spent = shell.get("evaluationCost")
    if isinstance(spent, int | float):
        yield Note(f"the run states {spent:g} US dollars for its judges", f"{source.name}: evaluationCost")


def recognizes(path: Path) -> bool:
    """Return whether a file looks like a test run of DeepEval."""
    start = first_bytes(path, 65_536)
    return path.suffix == ".json" and any(f'"{name}"'.encode() in start for name in _ARRAYS)


reader = Reader(
    name="deepeval",
    description="DeepEval test runs (JSON)",
    version="1",
    read=checked(read_deepeval),
    recognizes=recognizes,
    tool="deepeval",
)
