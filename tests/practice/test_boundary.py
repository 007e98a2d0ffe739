"""What the boundary may import, call and be imported by, read off the parsed source (ADR-0232 §16, §17)."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from opfield.practice import binding_input_for
from tests.practice.asking import bound
from tests.practice.records import result, run

PACKAGE: Final = Path(importlib.import_module("opfield.practice").__file__ or "").parent

#: The binding itself; the other modules are the values before it and the consumers behind it.
BINDING: Final = ("bind", "binding", "examine", "reasons", "rules")
UPSTREAM: Final = ("attempt", "budget", "form", "identity", "operator_result", "reconstruction", "record", "residual")
VALUES: Final = (*UPSTREAM, "run", "span")
CONSUMERS: Final = ("replay", "trace", "schema")

STANDARD: Final = {
    *("__future__", "collections.abc", "dataclasses", "enum", "functools", "hashlib", "itertools", "json", "re"),
    *("types", "typing"),
}
#: What could read a clock, a disk, a network, chance, the environment or other code, under whatever name.
FORBIDDEN_NAMES: Final = {
    *("open", "print", "input", "exec", "eval", "__import__", "globals", "locals", "vars", "setattr"),
    *("delattr", "id", "hash", "time", "datetime", "random", "uuid", "uuid4", "environ", "getenv", "hostname"),
    *("gethostname", "socket", "subprocess", "system", "Path", "write_text", "read_text", "import_module"),
    *("__setattr__", "exec_module", "entry_points", "urlopen", "request", "append_attempt", "determine"),
    *("project_contract_residuals", "decide_search_gate", "decide_compute_budget", "initialize_geometric_search_run"),
    *("build_missing_role_candidate", "build_replay_adapter_input", "classify_replay_result"),
    *("build_practice_trace_input", "seal_practice_trace"),
}


def tree(module: str) -> ast.Module:
    return ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))


def imported(module: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import would hide where it goes"
            found.add(node.module or "")
    return found


def names(module: str) -> Iterator[str]:
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield from node.name.split(".")


def test_every_module_is_told_where_it_stands() -> None:
    found = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert found == {*BINDING, *VALUES, *CONSUMERS}


@pytest.mark.parametrize("module", BINDING)
def test_the_binding_imports_values_and_the_standard_library_alone(module: str) -> None:
    allowed = STANDARD | {f"opfield.practice.{each}" for each in (*VALUES, *BINDING)}
    assert imported(module) <= allowed


@pytest.mark.parametrize("module", VALUES)
def test_nothing_before_the_binding_imports_it_or_what_follows(module: str) -> None:
    allowed = STANDARD | {f"opfield.practice.{each}" for each in VALUES} | {"opfield.errors"}
    assert imported(module) <= allowed


@pytest.mark.parametrize("module", CONSUMERS)
def test_what_follows_imports_the_boundary_and_the_core_alone(module: str) -> None:
    own = {f"opfield.practice.{each}" for each in (*VALUES, "binding", "replay")}
    assert imported(module) <= STANDARD | own | {"opfield.core"}


@pytest.mark.parametrize("module", [*BINDING, *VALUES])
def test_the_binding_names_nothing_that_has_an_effect_or_runs_a_producer_or_consumer(module: str) -> None:
    assert not FORBIDDEN_NAMES & set(names(module))


def called(module: str) -> set[str]:
    functions = [node.func for node in ast.walk(tree(module)) if isinstance(node, ast.Call)]
    plain = {each.id for each in functions if isinstance(each, ast.Name)}
    return plain | {each.attr for each in functions if isinstance(each, ast.Attribute)}


def test_the_binding_calls_what_is_listed_and_no_more() -> None:
    assert called("bind") == {
        *("CandidateAttemptRunBinding", "CandidateAttemptRunBindingRefusal", "as_json", "binding_input_for"),
        *("canonical_id", "examine", "join", "sealed", "tuple", "violated", "_binding", "_outcome", "_refusal"),
    }


def test_binding_runs_no_operator_no_replay_and_no_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    import opfield.practice.replay as replay
    import opfield.practice.trace as trace
    import opfield_practice.downstream as downstream
    import opfield_practice.missing_role as missing_role
    import opfield_practice.upstream as upstream

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("the binding runs something")

    for module in (replay, trace, downstream, missing_role, upstream):
        for name in [each for each in vars(module) if callable(getattr(module, each)) and each.islower()]:
            monkeypatch.setattr(module, name, forbidden)
    assert bound(run(), result()).input_digest == binding_input_for(run(), result()).input_digest


def test_binding_touches_no_file_no_network_no_clock_and_no_environment() -> None:
    script = """
import sys
from tests.practice.records import asked, result, run
from opfield.practice import bind_candidate_attempt
handed = asked(run(), result()), run(), result()
bind_candidate_attempt(*handed)  # reads the annotations of its own classes once
seen = []
sys.addaudithook(lambda event, _: seen.append(event))
import time, random, os, socket
for module, name in ((time, "time"), (random, "random"), (os, "getenv"), (socket, "gethostname"), (os, "urandom")):
    setattr(module, name, None)
del seen[:]
print(bind_candidate_attempt(*handed).binding_id, seen)
"""
    root = Path(__file__).parents[2]
    told = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONPATH": f"{root}:{root / 'domains'}", "PYTHONHASHSEED": seed, "HOSTNAME": seed, "TZ": zone},
            cwd=cwd,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, zone, cwd in (("1", "UTC", "/"), ("2", "Asia/Tokyo", "/tmp"))
    }
    assert told == {f"{bound(run(), result()).binding_id} []\n"}


def test_nothing_of_the_library_but_its_face_and_its_storage_imports_the_boundary() -> None:
    root = PACKAGE.parent
    for path in sorted(root.rglob("*.py")):
        home = path.relative_to(root).parts[0]
        if home in ("cli", "practice", "warehouse"):
            continue
        assert "opfield.practice" not in path.read_text(encoding="utf-8"), path
