"""The reader of promptfoo's results: JSON of schema versions 1 to 4, and JSONL.

**System**: a provider × prompt of one file, which promptfoo shows as a column. **Case**: a test, known by a digest of
its variables; where two tests of one file differ in description or assertions alone, those are part of the key in every
file; `--case-id` names a member to use instead. `testIdx` is a position and never a key. **Repeat**: numbered where a
result has `repeatIndex`; counted where the configuration states `repeat`, or where `--repeats` says so, since older
files do not record `eval --repeat`.

**Metrics**: `pass` and `score` of the test, and each named score. A score may be weighted, or whatever a script
returned, so it has no declared bounds; single assertions without a name of their own stay in the evidence. A failed
assertion is a success of the trial with `pass` 0, although promptfoo sets `error` there too: only failure reason 2, or
an error that nothing graded, is a failure. An assertion that its grader could not judge makes `pass` and `score`
missing.

**Cost**: promptfoo writes 0 both for what was free and for what it has no price of. Here 0 stands only where the
response itself says 0, and is unknown otherwise. It is the cost of the answer alone: the price of grading is in no
file. **Tokens**: those of the answer and of grading together. Of an answer out of promptfoo's cache the file gives one
sum and not which part was sent, so its tokens are unknown, while its cost and latency are those of the first call: a
note counts them. A latency of 0 is promptfoo's stand-in for none.

Members named like a credential are left out of what is kept, headers of responses included; answers are kept as they
are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from opfield.core import MissingReason, Status, canonical_json, digest, digest_hex
from opfield.errors import DeclarationError, IdentityError
from opfield.ingest.keys import checked
from opfield.ingest.readers.promptfoo_format import (
    Head,
    Row,
    is_count,
    looks_like_promptfoo,
    read_head,
    read_rows,
)
from opfield.ingest.readers.promptfoo_result import content, cost_usd, measured, outcome, seconds, tokens
from opfield.ingest.readers.promptfoo_systems import (
    Survey,
    Wanted,
    described,
    stated,
    survey,
    system_key,
    test_bytes,
)
from opfield.ingest.records import (
    OBSERVED,
    CaseRef,
    IngestError,
    Key,
    MetricStated,
    Note,
    Observed,
    Reader,
    ReaderOption,
    Reading,
    Record,
    Refused,
    Sample,
    Source,
)
from opfield.metric import Metric

_PASS: Final = Metric("pass", kind="binary", description="whether the test passed")
_SCORE: Final = Metric("score", description="score of the test over its assertions, as promptfoo weighs them")
#: After so many results of a file were refused, the rest of it is not read.
_MOST_REFUSED: Final = 50
_MEMBER: Final = re.compile(r"(vars|metadata)\.(.+)|description", re.DOTALL)


def _read(reading: Reading) -> Iterator[Record]:
    asked = _asked(reading)
    heads = [(source, read_head(source)) for source in reading.sources]
    seen = survey(heads, asked.wanted, with_tests=not asked.case_id)
    announced: set[str] = set()
    for number, (source, head) in enumerate(heads):
        file = _File(number, source, head, Counter())
        yield from described(number, source, head, seen)
        yield from stated(number, source, head, seen)
        refused = 0
        for row in read_rows(source, head, reading.advance):
            for record in _records(row, file, seen, asked, announced):
                yield record
                refused += isinstance(record, Refused)
            if refused >= _MOST_REFUSED:
                yield Refused(source.name, f"{refused} of its results are refused; the rest is not read", "see above")
                break
        yield from _notes(source, file.tally)


def _asked(reading: Reading) -> _Asked:
    errors = str(reading.options.get("errors") or Status.INFRASTRUCTURE_FAILURE)
    if errors not in (Status.INFRASTRUCTURE_FAILURE, Status.DOMAIN_FAILURE):
        raise IngestError(f"--errors {errors!r} is neither infrastructure_failure nor domain_failure; name one of them")
    case_id = reading.options.get("case-id") or None
    if case_id and not _MEMBER.fullmatch(case_id):
        raise IngestError(f"--case-id {case_id!r} names no member; write vars.NAME, metadata.NAME or description")
    wanted = Wanted(
        providers=tuple(reading.options.get("provider") or ()), prompts=tuple(reading.options.get("prompt") or ())
    )
    return _Asked(wanted, case_id, Status(errors), bool(reading.options.get("repeats")))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the user asked for."""

    wanted: Wanted
    case_id: str | None
    errors: Status
    are_repeats: bool


@dataclass(frozen=True, slots=True)
class _File:
    """One file that is being read, and what was counted in it so far."""

    number: int
    source: Source
    head: Head
    tally: Counter[str]


def _records(row: Row | Refused, file: _File, seen: Survey, asked: _Asked, announced: set[str]) -> Iterator[Record]:
    if isinstance(row, Refused):
        yield row
        return
    system = system_key(file.number, file.source, row)
    if system not in seen.systems[file.number]:
        return
    try:
        case = CaseRef(case_key(row, seen, asked.case_id))
        values, missing = measured(row)
        for metric in (_PASS, _SCORE, *(Metric(name) for name in (*values, *missing) if name not in ("pass", "score"))):
            if metric.name not in announced:
                announced.add(metric.name)
                yield MetricStated(metric, row.place)
        failure, status = outcome(row, asked.errors)
        if status is not Status.SUCCESS:
            reason = MissingReason.JUDGE_FAILED if failure and failure.code == "grader_error" else None
            missing = dict.fromkeys(("pass", "score"), reason or MissingReason.NOT_EMITTED)
            values = {}
        input_tokens, output_tokens = tokens(row)
        _count(row, status, missing, file.tally)
        yield Sample(
            system=system,
            case=case,
            place=row.place,
            repeat=_repeat(row, file, seen, asked),
            input=_input(row),
            values=values,
            missing=missing,
            status=status,
            failure=failure,
            cost_usd=cost_usd(row),
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            duration_s=seconds(row),
            content=content(row),
        )
    except (DeclarationError, IdentityError) as error:
        yield Refused(row.place, str(error), "correct the value named, or name the tests with --case-id")
    except RecursionError:
        yield Refused(row.place, "it nests too deep to be a result", "leave it out")


def case_key(row: Row, seen: Survey, case_id: str | None) -> Key:
    """Return the key of the test of a result.

    Args:
        row: the result.
        seen: what was seen of all files, which tells tests that share their variables.
        case_id: member to use instead, such as `vars.id` or `metadata.case`; None or empty for the digest.

    Raises:
        IngestError: where the member that was asked for is not there, or is no key.
        IdentityError: where the variables have no canonical form.
    """
    if case_id:
        return _named_key(row, case_id)
    variables = canonical_json(row.variables)
    if seen.is_shared(variables):
        return f"test:{_short('opfield/promptfoo-test/v1', variables, test_bytes(row))}"
    return f"vars:{_short('opfield/promptfoo-vars/v1', variables)}"


def _named_key(row: Row, case_id: str) -> Key:
    holder, _, path = case_id.partition(".")
    roots: dict[str, tuple[Any, ...]] = {
        "vars": (row.variables,),
        "metadata": (row.test.get("metadata"), row.result.get("metadata")),
    }
    value: Any = None
    for root in roots.get(holder, (row.test,)):
        value = root
        for name in path.split(".") if path else [holder]:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if (isinstance(value, str) and value) or (isinstance(value, int) and not isinstance(value, bool)):
            return value
    raise IngestError(f"{case_id} is {str(value)[:100]!r}, and a case is known by text or a whole number")


def _short(domain: str, *parts: bytes) -> str:
    return digest_hex(digest(domain, *parts))[:16]


def _input(row: Row) -> Any:
    """Return what the system was asked: the text of a single variable, or all variables; None where there is none."""
    if len(row.variables) == 1:
        (value,) = row.variables.values()
        if isinstance(value, str):
            return value
    return dict(row.variables) or None


def _repeat(row: Row, file: _File, seen: Survey, asked: _Asked) -> Key | Observed | None:
    for holder in (row.result, _object(row.result.get("metadata"))):
        index = holder.get("repeatIndex")
        if is_count(index):
            return int(index)
    if file.head.is_repeated or asked.are_repeats:
        return OBSERVED
    file.tally["repeats"] += file.number in seen.repeating
    return None


def _count(row: Row, status: Status, missing: Mapping[str, MissingReason], tally: Counter[str]) -> None:
    response = _object(row.result.get("response"))
    tally["results"] += 1
    if status is Status.SUCCESS and response.get("output") in (None, ""):
        tally["empty"] += 1
    if response.get("cached") is True:
        tally["cached"] += 1
    used = _object(_object(row.result.get("gradingResult")).get("tokensUsed"))
    if any(is_count(part := used.get(name)) and part > 0 for name in ("prompt", "completion", "total")):
        tally["graded"] += 1
    if status is Status.SUCCESS and MissingReason.JUDGE_FAILED in missing.values():
        tally["unjudged"] += 1


def _notes(source: Source, tally: Counter[str]) -> Iterator[Note | Refused]:
    texts = {
        "empty": "{} results have no output and were graded as promptfoo grades them",
        "cached": "{} results came out of promptfoo's cache: their cost and latency are those of the first call",
        "graded": "{} results were graded by a model, the cost of which the file does not give",
        "unjudged": "{} results have an assertion that its grader could not judge: their pass and score are missing",
        "repeats": "tests stand more than once, as `eval --repeat` makes them, but the file does not say that it "
        "repeats; where it did, add --repeats",
    }
    for what, text in texts.items():
        if tally[what]:
            yield Note(text.format(tally[what]), source.name)
    if not tally["results"]:
        yield Note("the file holds no results", source.name)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


reader: Final = Reader(
    name="promptfoo",
    description="promptfoo: results of `promptfoo eval --output` or `promptfoo export`, JSON or JSONL",
    version="1",
    read=checked(_read),
    recognizes=looks_like_promptfoo,
    options=(
        ReaderOption("provider", "id or label of a provider to read; all unless given", is_repeatable=True),
        ReaderOption("prompt", "label of a prompt to read; all unless given", is_repeatable=True),
        ReaderOption("case-id", "member that names a test, such as vars.id, metadata.case or description"),
        ReaderOption(
            "errors",
            "what a result with an error is: infrastructure_failure or domain_failure",
            default=Status.INFRASTRUCTURE_FAILURE.value,
        ),
        ReaderOption("repeats", "take tests that stand more than once for repeats", bool, default=False),
    ),
    tool="promptfoo",
)
