"""What the documentation names is there: commands, options, relations, columns, gates, and names of Python."""

from __future__ import annotations

import dataclasses
import inspect
import re
import tomllib
import typing
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import click
import duckdb
import pytest

import opfield
from opfield import practice
from opfield.campaign.domains import installed_domain_names, load_domain
from opfield.core import MissingReason
from opfield.core.operation import Effect
from opfield.experiment import TrialRequest
from opfield.ingest import records
from opfield.ingest.installed import installed_reader_names, load_reader
from opfield.warehouse.contract import load_contract, load_practice_contract
from opfield.warehouse.views import load_views
from scripts import reference_command
from tests.docs.pages import ROOT, written_pages
from tests.markdown_blocks import blocks_of

BESIDE = ("README.md", "CONTRIBUTING.md")
TEXTS = {**written_pages(), **{name: (ROOT / name).read_text(encoding="utf-8") for name in BESIDE}}

#: Bare words in code that are no names of opfield's, by page: what its examples call so, and words of other tools.
FOREIGN: Final = {
    "explanation/plans.md": "rerank",
    "how-to/missing-evidence.md": "q3",
    "how-to/plan-size.md": "answers",
    "how-to/write-a-plugin.md": "copy identity reads",
    "how-to/results-you-have.md": "new q6",
    "reference/ingest.md": (
        "doc_id empty_patch grader_error ingested intake_artifact limit_token max_duration no_results pass timeout"
    ),
    "reference/worker.md": (
        "cacheable certifies clears critical_path dependencies effects emits in invalid_output memory_bytes null out "
        "plugin reads work"
    ),
    "tutorial/first-campaign.md": "stems",
}

PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def spans(text: str) -> Iterator[str]:
    """Yield the code that stands inside of sentences."""
    outside = re.sub(r"^(`{3,}).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    for found in re.findall(r"(?<!`)`([^`]+)`(?!`)", outside):
        yield " ".join(found.split())


def code_lines(text: str) -> Iterator[str]:
    """Yield all code, line after line: spans, and blocks that are not output."""
    yield from spans(text)
    for block in blocks_of(text):
        if not block.is_output:
            yield from block.text.replace("\\\n", " ").splitlines()


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_command_and_every_flag_exists(name: str) -> None:
    wrong = []
    for line in code_lines(TEXTS[name]):
        for command, rest in re.findall(r"\bopfield ([a-z]+)\b([^|]*)", line):
            if command not in _commands() and line.lstrip().startswith(("opfield", "$")):
                wrong.append(f"opfield {command}")
            wrong += [
                f"{line}: {flag}" for flag in _flags(rest) if command in _commands() and flag not in _taken(command)
            ]
        if "opfield " not in line:
            known = frozenset[str]().union(*map(_taken, _commands()))
            wrong += [f"{line}: {flag}" for flag in _flags(line) if line.startswith("--") and flag not in known]
    assert wrong == []


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_bare_word_in_code_is_a_name_of_opfield(name: str) -> None:
    words = {span for span in spans(TEXTS[name]) if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", span)}
    assert sorted(words - _vocabulary() - set(FOREIGN.get(name, "").split())) == []


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_column_that_is_named_with_its_relation_exists(name: str) -> None:
    columns = _columns()
    found = [re.fullmatch(r"(\w+)\.(\w+)", span) for span in spans(TEXTS[name])]
    dotted = [each.groups() for each in found if each]
    wrong = [f"{relation}.{column}" for relation, column in dotted if column not in columns.get(relation, [column])]
    assert wrong == []


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_name_of_the_python_module_exists(name: str) -> None:
    text = "\n".join(code_lines(TEXTS[name]))
    assert sorted(set(re.findall(r"\bof\.(\w+)", text)) - set(opfield.__all__)) == []


def test_every_query_in_a_sentence_can_be_asked(folder_after: Callable[[str], Path]) -> None:
    warehouse = opfield.open(folder_after("tutorial/first-campaign.md") / "warehouse", is_snapshot=True)
    wrong = {}
    for name, text in TEXTS.items():
        quoted = [found for line in spans(text) for found in re.findall(r'opfield sql "([^"…]+)"', line)]
        bare = [span for span in spans(text) if re.match(r"(from|select) \w", span) and "…" not in span]
        for query in quoted + bare:
            try:
                warehouse.connection(query).execute(f"explain {query}")
            except (opfield.OpfieldError, duckdb.Error) as error:
                wrong[f"{name}: {query}"] = str(error)
    assert wrong == {}


def test_every_gate_kind_and_every_reader_is_documented() -> None:
    headings = set(re.findall(r"^## (\w+)$", TEXTS["reference/gates.md"], re.MULTILINE))
    rows = set(re.findall(r"^\| `(\w+)`", TEXTS["reference/ingest.md"], re.MULTILINE))
    assert set(load_views().gate_kinds) - headings == set()
    assert set(installed_reader_names()) - rows == set()


def test_only_words_of_others_that_still_stand_on_their_page_are_let_through() -> None:
    needed = {name: set(spans(text)) - _vocabulary() for name, text in TEXTS.items()}
    idle = {name: sorted(set(words.split()) - needed.get(name, set())) for name, words in FOREIGN.items()}
    assert {name: words for name, words in idle.items() if words} == {}


@cache
def _commands() -> dict[str, click.Command]:
    return reference_command.commands()


@cache
def _taken(command: str) -> frozenset[str]:
    """Return the flags that a command takes, those of readers and domains where it hands them on."""
    # A group takes what any of its commands takes.
    within = [each for name, each in _commands().items() if name == command or name.startswith(f"{command} ")]
    taken = {flag for each in within for param in each.params for flag in (*param.opts, *param.secondary_opts)}
    taken |= {"--help"}
    if command in ("ingest", "survey"):
        taken |= {_flag(each.name) for name in installed_reader_names() for each in load_reader(name).options}
    if command in ("run", "try", "confirm"):
        taken |= {_flag(each.name) for name in installed_domain_names() for each in load_domain(name).options}
    return frozenset(taken)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _flags(text: str) -> list[str]:
    return re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)


@cache
def _columns() -> dict[str, set[str]]:
    contract = load_contract() | load_practice_contract()
    tables = {name: {each.name for each in table.columns} for name, table in contract.items()}
    views = {name: set(each.columns) for name, each in load_views().relations.items() if not each.is_macro}
    return {**tables, **views}


@cache
def _vocabulary() -> frozenset[str]:
    """Return every name that opfield gives something."""
    views = load_views()
    words = {*_columns(), *views.relations, *views.gate_kinds, *set().union(*_columns().values())}
    words |= {option for taken in views.gate_takes.values() for option in taken or ()}
    words |= {word for name in _commands() for word in name.split()}
    words |= {*opfield.__all__, *installed_reader_names(), *installed_domain_names()}
    words |= {"opfield", *(path.name for path in (ROOT / "domains").iterdir())}
    words |= {each.value for each in (*opfield.Status, *Effect)} | {each.value for each in MissingReason}
    words |= {re.split(r"[<>=;\[ ]", each)[0] for each in _packages()} | PROJECT["optional-dependencies"].keys()
    public = [getattr(opfield, name) for name in opfield.__all__]
    for value in (*public, TrialRequest, *vars(records).values(), *vars(practice).values()):
        words |= set(_members(value))
    for option in (each for command in _commands() for each in _taken(command)):
        words.add(option.removeprefix("--").replace("-", "_"))
    return frozenset(words)


def _packages() -> list[str]:
    return [*PROJECT["dependencies"], *(each for extra in PROJECT["optional-dependencies"].values() for each in extra)]


def _members(value: Any) -> Iterator[str]:
    """Yield the names of arguments, attributes and words that something public knows."""
    if inspect.isclass(value):
        yield from (name for name in dir(value) if not name.startswith("_"))
        if dataclasses.is_dataclass(value):
            yield from (each.name for each in dataclasses.fields(value))
    elif callable(value):
        yield from inspect.signature(value).parameters
    else:
        return
    yield from re.findall(r"'(\w+)'", str(_annotations(value)))


def _annotations(value: Any) -> Any:
    try:
        return typing.get_type_hints(value)
    except (NameError, TypeError):  # a name that is imported for type checking alone, or no annotations
        return getattr(value, "__annotations__", {})
