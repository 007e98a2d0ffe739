"""The systems that files of promptfoo are of, what the files state of them, and which tests share their variables."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from opfield.core import canonical_json
from opfield.errors import IdentityError, unknown_name
from opfield.ingest.kept import without_secrets
from opfield.ingest.readers.promptfoo_format import (
    Column,
    Head,
    Row,
    is_count,
    is_number,
    read_rows,
    text_or_none,
)
from opfield.ingest.records import IngestError, Source, Stated, System

_LABEL_LIMIT: Final = 80


@dataclass(frozen=True, slots=True)
class Found:
    """A provider × prompt of one file, as its first result or the head of the file tells of it.

    Attributes:
        key: key of the system.
        place: where it is told of.
        provider: id of the provider, or its label where the file gives no id.
        provider_label: label of the provider; None where it has none.
        config: configuration of the provider, where results carry it.
        prompt: label of the prompt; empty where it has none.
        prompt_id: promptfoo's digest of the prompt; None where it is not given.
        column: its position in the head; None where the file does not number it.
    """

    key: str
    place: str
    provider: str
    provider_label: str | None
    config: Mapping[str, Any]
    prompt: str
    prompt_id: str | None
    column: int | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which systems the user wants to read; all where nothing is named.

    Attributes:
        providers: ids or labels of providers.
        prompts: labels of prompts.
    """

    providers: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()

    def takes(self, found: Found) -> bool:
        """Return whether a system is wanted."""
        of_provider = not self.providers or found.provider in self.providers or found.provider_label in self.providers
        return of_provider and (not self.prompts or found.prompt in self.prompts)

    def check(self, systems: Iterable[Found]) -> None:
        """Refuse a name that no system has.

        Raises:
            IngestError: naming the ones there are.
        """
        held = list(systems)
        providers = {name for found in held for name in (found.provider, found.provider_label) if name}
        prompts = {found.prompt for found in held if found.prompt}
        for what, names, known in (("provider", self.providers, providers), ("prompt", self.prompts, prompts)):
            for name in names:
                if name not in known:
                    raise IngestError(str(unknown_name(what, name, known)))


@dataclass(slots=True)
class Survey:
    """What one pass over all files found, before the first record is told.

    Attributes:
        systems: for each file, by its number, the systems it holds results of or declares.
        shared: digests of variables that two tests of one file have in common.
        repeating: numbers of the files in which one test stands at several positions.
    """

    systems: dict[int, dict[str, Found]] = field(default_factory=dict)
    shared: set[bytes] = field(default_factory=set)
    repeating: set[int] = field(default_factory=set)

    def is_shared(self, variables: bytes) -> bool:
        """Return whether two tests of some file have these variables, given in canonical form."""
        return bool(self.shared) and _digest(variables) in self.shared

    def of_columns(self, number: int) -> dict[int, str]:
        """Return the system of each column of a file, without columns that results give two systems."""
        keys: dict[int, list[str]] = {}
        for found in self.systems[number].values():
            if found.column is not None:
                keys.setdefault(found.column, []).append(found.key)
        return {column: held[0] for column, held in keys.items() if len(held) == 1}


def survey(heads: Sequence[tuple[Source, Head]], wanted: Wanted, *, with_tests: bool) -> Survey:
    """Return what systems files hold, and which of their tests only differ in description or assertions.

    Args:
        heads: the files.
        wanted: which systems to keep; the tests of the others are not looked at.
        with_tests: whether tests are looked at; otherwise the systems alone.

    Raises:
        IngestError: where a file cannot be read to its end, or no system has a name that is wanted.
    """
    seen = Survey()
    everything: list[Found] = []
    for number, (source, head) in enumerate(heads):
        systems: dict[str, Found] = {}
        tests: dict[bytes, bytes] = {}
        positions: dict[bytes, int] = {}
        for row in read_rows(source, head):
            if not isinstance(row, Row):
                continue
            key = system_key(number, source, row)
            if key not in systems:
                systems[key] = _found(key, row, source, head)
            if with_tests and wanted.takes(systems[key]):
                _see_test(row, number, tests, positions, seen)
        held = {found.column for found in systems.values()}
        for column in head.columns:
            if column.index not in held:
                key = f"{number}/{source.name}#{column.index}"
                place = f"{source.name}: {head.columns_place}[{column.index}]"
                provider = column.provider or f"provider {column.index}"
                systems[key] = Found(key, place, provider, None, {}, column.prompt, None, column.index)
        in_order = sorted(systems.values(), key=lambda found: (found.column is None, found.column or 0))
        everything += in_order
        seen.systems[number] = {found.key: found for found in in_order if wanted.takes(found)}
    wanted.check(everything)
    return seen


def system_key(number: int, source: Source, row: Row) -> str:
    """Return the key of the system of a result: its file, and its column or else its provider and prompt."""
    named = [row.column, row.provider, row.provider_label, row.prompt]
    return f"{number}/{source.name}#{json.dumps(named, ensure_ascii=False)}"


def test_bytes(row: Row) -> bytes:
    """Return in canonical form what tells tests with the same variables apart.

    Raises:
        IdentityError: where it has no canonical form.
    """
    return canonical_json({"description": row.test.get("description"), "assert": row.test.get("assert")})


def described(number: int, source: Source, head: Head, seen: Survey) -> Iterator[System]:
    """Yield the systems of a file."""
    mine = seen.systems[number]
    others = {found.provider for other, held in seen.systems.items() if other != number for found in held.values()}
    prompts = {(found.column, found.prompt) if not found.prompt else found.prompt for found in mine.values()}
    labels: dict[str, set[str | None]] = {}
    for found in mine.values():
        labels.setdefault(found.provider, set()).add(found.provider_label)
    for found in mine.values():
        name = found.provider
        if len(labels[found.provider]) > 1 and found.provider_label:
            name = f"{name} {found.provider_label}"
        if len(prompts) > 1:
            name = f"{name} {_short(found.prompt or f'prompt {found.column}')}"
        label = f"{name} ({source.name})" if found.provider in others else name
        aliases = [name, found.provider, found.provider_label, f"{found.provider}@{source.name}", found.prompt]
        if len(mine) == 1:
            aliases += [source.name, source.name.rpartition("/")[2], head.eval_id]
        yield System(
            key=found.key,
            label=_short(label, 200) or source.name,
            place=found.place,
            says=_says(found, head),
            aliases=tuple(dict.fromkeys(alias for alias in aliases if alias and alias != label)),
            run=None if head.eval_id is None else f"{head.eval_id}#{found.key.partition('#')[2]}",
        )


def stated(number: int, source: Source, head: Head, seen: Survey) -> Iterator[Stated]:
    """Yield what a file states of its systems: promptfoo counts an error as not passed, and as a score of 0.

    Named scores are stated as sums over a number of tests that the file does not give, so they are left out.
    """
    systems = seen.of_columns(number)
    figures = [
        (systems[column.index], f"{source.name}: {head.columns_place}[{column.index}].metrics", column.metrics)
        for column in head.columns
        if column.index in systems and column.metrics
    ]
    if not figures and len(seen.systems[number]) == 1:
        figures = [(next(iter(seen.systems[number])), f"{source.name}: stats", head.stats)]
    for key, place, held in figures:
        passed, failed, errors = (
            held.get(name, held.get(whole))
            for name, whole in (
                ("testPassCount", "successes"),
                ("testFailCount", "failures"),
                ("testErrorCount", "errors"),
            )
        )
        # Older versions counted errors among the failures and had no figure of their own for them.
        errors = 0 if errors is None else errors
        if not (is_count(passed) and is_count(failed) and is_count(errors)):
            continue
        total = passed + failed + errors
        yield Stated(key, "samples", total, place, name="tests")
        yield Stated(key, "scored", passed + failed, place, name="tests without error")
        if total:
            yield Stated(key, "mean", passed / total, place, "pass", "passed / tests")
            if is_number(score := held.get("score")):
                yield Stated(key, "mean", score / total, place, "score", "score / tests")


def _see_test(row: Row, number: int, tests: dict[bytes, bytes], positions: dict[bytes, int], seen: Survey) -> None:
    try:
        variables, test = _digest(canonical_json(row.variables)), _digest(test_bytes(row))
    except (IdentityError, RecursionError):
        return  # refused with its place when the result itself is told
    if tests.setdefault(variables, test) != test:
        seen.shared.add(variables)
    if row.test_index is not None and positions.setdefault(variables + test, row.test_index) != row.test_index:
        seen.repeating.add(number)


def _found(key: str, row: Row, source: Source, head: Head) -> Found:
    column = row.column
    if column is None:
        matching = [held.index for held in head.columns if _is_of(row, held)]
        column = matching[0] if len(matching) == 1 else None
    is_in_head = column is not None and column < len(head.columns)
    place = f"{source.name}: {head.columns_place}[{column}]" if is_in_head else row.place
    return Found(key, place, row.provider, row.provider_label, row.config, row.prompt, row.prompt_id, column)


def _is_of(row: Row, column: Column) -> bool:
    return column.provider in (row.provider, row.provider_label) and column.prompt == row.prompt


def _says(found: Found, head: Head) -> dict[str, Any]:
    """Return what a file says of a system; the text of a prompt only where it is not filled in with a test's values."""
    template = next((column.template for column in head.columns if column.index == found.column), None)
    configured = _configured(found, head.config.get("providers"))
    default = head.config.get("defaultTest")
    options = default.get("options") if isinstance(default, Mapping) else None
    says: dict[str, Any] = {
        "tool": "promptfoo",
        "version": head.tool_version,
        "provider": {
            "id": found.provider,
            "label": found.provider_label,
            "config": configured.get("config") or found.config or None,
            "transform": configured.get("transform"),
        },
        "prompt": {"label": found.prompt or None, "raw": template, "id": None if template else found.prompt_id},
        # What grades is no part of the system.
        "options": {name: value for name, value in options.items() if name not in ("provider", "rubricPrompt")}
        if isinstance(options, Mapping)
        else None,
    }
    known = {
        name: {part: held for part, held in value.items() if held is not None} if isinstance(value, dict) else value
        for name, value in says.items()
        if value is not None
    }
    cleaned: dict[str, Any] = without_secrets(known)
    return cleaned


def _configured(found: Found, providers: Any) -> Mapping[str, Any]:
    """Return what the configuration holds on a provider; nothing where that is not told apart from another's."""
    matching: list[Mapping[str, Any]] = []
    for entry in providers if isinstance(providers, list) else [providers]:
        if not isinstance(entry, Mapping):
            continue
        held = entry
        if "id" not in entry and len(entry) == 1:
            ((name, inner),) = entry.items()
            held = {"id": name, **(inner if isinstance(inner, Mapping) else {})}
        label = text_or_none(held.get("label"))
        if held.get("id") == found.provider and label == found.provider_label:
            matching.append(held)
    return matching[0] if len(matching) == 1 else {}


def _short(text: str, limit: int = _LABEL_LIMIT) -> str:
    plain = re.sub(r"[\x00-\x20\x7f]+", " ", text).strip()
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:16]
