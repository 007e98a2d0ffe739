"""Files of promptfoo as rows of one form: the JSON of schema versions 1 to 4, and JSONL.

What differs between the versions, as promptfoo's own types state them (`OutputFile`, `EvaluateSummaryV2`,
`EvaluateSummaryV3`, `ResultsFile`, `EvaluateResult`): versions 1 and 2 hold `results.results` beside a table whose head
lists the prompts; version 3 holds `results.prompts` and no table; version 4 is what `promptfoo export` writes around a
summary of version 3. The evaluation as an object, as the Node interface returns it, has `results` at its top as a list.
JSONL holds one result a line and no head at all.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeGuard

from opfield.ingest.files import (
    Advance,
    expanded,
    first_bytes,
    is_gzip,
    json_value,
    lines,
    open_file,
)
from opfield.ingest.json_stream import json_items, json_shell
from opfield.ingest.kept import as_doubles
from opfield.ingest.records import IngestError, Refused, Source
from opfield.metric import MAX_MAGNITUDE

KNOWN_VERSIONS: Final = (1, 2, 3, 4)
_PEEK: Final = 2**16
_LINE_NAMES: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
# Members that hold results, or grow with them and tell nothing of a system.
_LARGE: Final = ("results", "results.results", "results.table.body", "config.tests", "config.scenarios", "traces")


@dataclass(frozen=True, slots=True)
class Column:
    """What the head of a file says of one provider × prompt, which promptfoo shows as a column.

    Attributes:
        index: its position in the head.
        provider: label of the provider, or its id where it has none.
        prompt: label of the prompt; empty where it has none.
        template: text of the prompt before its variables are filled in.
        metrics: figures that promptfoo states for it.
    """

    index: int
    provider: str
    prompt: str
    template: str | None
    metrics: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Head:
    """What a file says before and beside its results.

    Attributes:
        prefix: where the results stand, such as `results.item`; empty for JSONL.
        columns: what it says of each provider × prompt.
        columns_place: where it does.
        stats: figures over all its results.
        config: the configuration of the evaluation.
        tool_version: version of promptfoo.
        eval_id: identity of the evaluation.
        is_repeated: whether it states that each test ran more than once.
    """

    prefix: str = ""
    columns: tuple[Column, ...] = ()
    columns_place: str = ""
    stats: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    tool_version: str | None = None
    eval_id: str | None = None
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One result, whatever version of promptfoo wrote it.

    Attributes:
        place: where it stands.
        column: position of its provider × prompt; None where the file does not number them.
        provider: id of its provider.
        provider_label: label of its provider; None where it has none.
        config: configuration of the provider, where the result itself carries it.
        prompt: label of its prompt; empty where it has none.
        prompt_id: promptfoo's digest of the prompt; None where it is not given.
        variables: variables of the test, without those that promptfoo adds at run time.
        test: the test: its description, assertions and metadata.
        test_index: position of the test, which tells repeats from tests; None where it is not given.
        result: the members of the result as they stand.
    """

    place: str
    column: int | None
    provider: str
    provider_label: str | None
    config: Mapping[str, Any]
    prompt: str
    prompt_id: str | None
    variables: Mapping[str, Any]
    test: Mapping[str, Any]
    test_index: int | None
    result: Mapping[str, Any]


def looks_like_promptfoo(path: Path) -> bool:
    """Return whether the first bytes of a file name members that promptfoo writes and others do not."""
    if not path.name.lower().endswith((".json", ".json.gz", *_LINE_NAMES)) or not path.is_file():
        return False
    start = first_bytes(path, _PEEK)
    if is_gzip(path):
        try:
            with gzip.open(path) as file:
                start = file.read(_PEEK)
        except (OSError, EOFError, zlib.error):
            return False
    if b'"promptIdx"' in start or b'"testPassCount"' in start or b'"promptfooVersion"' in start:
        return True
    if b'"gradingResult"' in start and b'"vars"' in start:
        return True
    return b'"evalId"' in start and b'"results"' in start


def read_head(source: Source) -> Head:
    """Return what a file says beside its results.

    Raises:
        IngestError: where it is no result file of promptfoo, or of an unknown schema version.
    """
    if _holds_lines(source):
        return Head()
    document = json_shell(source, _LARGE)
    if not isinstance(document, Mapping):
        raise _not_promptfoo(source, f"it holds {_kind(document)} and not an object")
    summary: Any = document.get("results")
    prefix, place = "results.results.item", "results"
    if isinstance(summary, list):
        summary, prefix, place = document, "results.item", ""
    elif not isinstance(summary, Mapping) or not isinstance(summary.get("results"), list):
        raise _not_promptfoo(source, "it has neither `results.results` nor `results` as a list")
    for holder, name in ((document, "version"), (summary, f"{place}.version".lstrip("."))):
        _check_version(source, holder.get("version"), name)
    config = _object(document.get("config"))
    return Head(
        prefix=prefix,
        columns=tuple(_columns(summary)),
        columns_place=f"{place}.prompts".lstrip(".") if "prompts" in summary else f"{place}.table.head.prompts",
        stats=_object(summary.get("stats")),
        config=config,
        tool_version=text_or_none(_object(document.get("metadata")).get("promptfooVersion")),
        eval_id=text_or_none(document.get("evalId")),
        is_repeated=any(
            is_count(repeat) and repeat > 1
            for holder in (
                _object(config.get("evaluateOptions")),
                _object(config.get("commandLineOptions")),
                _object(document.get("runtimeOptions")),
            )
            if (repeat := holder.get("repeat")) is not None
        ),
    )


def read_rows(source: Source, head: Head, advance: Advance = lambda _bytes: None) -> Iterator[Row | Refused]:
    """Yield the results of a file in their order; what is no result is refused with its place.

    Raises:
        IngestError: where the file cannot be read on.
    """
    if head.prefix:
        for index, value in enumerate(json_items(source, head.prefix, advance)):
            yield row_of(value, f"{source.name}: {head.prefix.removesuffix('.item')}[{index}]")
        return
    for number, line in lines(source, advance):
        place = f"{source.name}: line {number}"
        yield row_of(json_value(line, place), place)


def row_of(value: Any, place: str) -> Row | Refused:
    """Return a result in the one form, or why it is none."""
    remedy = "export the evaluation again, or leave the file out if it is not of promptfoo"
    if not isinstance(value, Mapping):
        return Refused(place, f"it is {_kind(value)}, not a result of promptfoo", remedy)
    if not isinstance(value.get("success"), bool) and "score" not in value and "error" not in value:
        return Refused(place, "it has none of `success`, `score` and `error`, as results of promptfoo have", remedy)
    provider = value.get("provider")
    held = _object(provider)
    identity = provider if isinstance(provider, str) else held.get("id")
    if not isinstance(identity, str) or not identity.strip():
        return Refused(place, f"its provider is {_kind(provider)} without an id, so it belongs to no system", remedy)
    test = _object(value.get("testCase"))
    variables = test.get("vars") if isinstance(test.get("vars"), Mapping) else value.get("vars")
    if variables is None and "testCase" in value:
        variables = {}
    if not isinstance(variables, Mapping):
        return Refused(place, f"its vars are {_kind(variables)} and not an object, so its test is unknown", remedy)
    reason = value.get("failureReason")
    if reason is not None and (isinstance(reason, bool) or reason not in (0, 1, 2)):
        return Refused(place, f"failureReason {reason!r} is none of 0, 1 and 2", "update opfield, or correct the file")
    try:
        plain = {name: as_doubles(item) for name, item in variables.items() if not _is_runtime(name)}
    except RecursionError:
        return Refused(place, "its vars nest too deep to be told apart", "leave the result out")
    index, test_index = value.get("promptIdx"), value.get("testIdx")
    return Row(
        place=place,
        column=index if is_count(index) else None,
        provider=identity,
        provider_label=text_or_none(held.get("label")),
        config=_object(held.get("config")),
        prompt=_prompt_label(_object(value.get("prompt"))),
        prompt_id=text_or_none(value.get("promptId")),
        variables=plain,
        test={"description": value.get("description"), **test},
        test_index=test_index if is_count(test_index) else None,
        result=value,
    )


def text_or_none(value: Any) -> str | None:
    """Return a value that is text and not blank; None for anything else."""
    return value if isinstance(value, str) and value.strip() else None


def is_count(value: Any) -> TypeGuard[int]:
    """Return whether a value is a whole number that is not negative."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a number of a magnitude that is kept, and not infinite or NaN."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MAX_MAGNITUDE


def _holds_lines(source: Source) -> bool:
    """Return whether a file is JSONL: by its name, or because its first line is a whole result."""
    with open_file(source) as raw:
        start = expanded(raw, source).read(_PEEK).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        raise IngestError(f"{source.name} is empty; export the evaluation again")
    try:
        value = json.loads(start.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return source.path.name.lower().endswith(_LINE_NAMES)
    return isinstance(value, dict) and "results" not in value


def _check_version(source: Source, version: Any, name: str) -> None:
    if version is None or (is_count(version) and version in KNOWN_VERSIONS):
        return
    known = ", ".join(map(str, KNOWN_VERSIONS))
    raise IngestError(
        f"{source.name}: {name} {version!r} is no schema version that is known here ({known}); "
        "update opfield, or export the evaluation as JSONL"
    )


def _columns(summary: Mapping[str, Any]) -> Iterator[Column]:
    prompts = summary.get("prompts")
    if not isinstance(prompts, list):
        prompts = _object(_object(summary.get("table")).get("head")).get("prompts")
    for index, prompt in enumerate(prompts if isinstance(prompts, list) else ()):
        if isinstance(prompt, Mapping):
            yield Column(
                index=index,
                provider=text_or_none(prompt.get("provider")) or "",
                prompt=_prompt_label(prompt),
                template=text_or_none(prompt.get("raw")),
                metrics=_object(prompt.get("metrics")),
            )


def _prompt_label(prompt: Mapping[str, Any]) -> str:
    # Before version 3 a prompt's label was called `display`.
    return text_or_none(prompt.get("label")) or text_or_none(prompt.get("display")) or ""


def _is_runtime(name: str) -> bool:
    # The history of a conversation and the like, which promptfoo itself leaves out where it compares tests.
    return name.startswith("_") or name == "sessionId"


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), type(value).__name__)


def _not_promptfoo(source: Source, why: str) -> IngestError:
    return IngestError(f"{source.name} is no result file of promptfoo: {why}; name a file of `promptfoo eval --output`")
