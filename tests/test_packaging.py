"""What is shipped: the wheel holds the package, the domains, the views and the contract, and no run's Parquet."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from opfield.warehouse.contract import PRACTICE_TABLE_NAMES, TABLE_NAMES
from opfield.warehouse.layout import EMPTY

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_wheel_holds_views_and_contract_and_nothing_that_a_run_left(tmp_path: Path) -> None:
    stray = ROOT / "warehouse" / "cells" / "campaign=stray" / EMPTY
    stray.parent.mkdir(parents=True, exist_ok=True)
    stray.write_bytes(b"left by a run")
    try:
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
            cwd=ROOT,
            check=True,
            capture_output=True,
            timeout=120,
        )
    finally:
        stray.unlink()
        stray.parent.rmdir()
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"opfield/_warehouse/{name}.sql" for name in (*TABLE_NAMES, *PRACTICE_TABLE_NAMES)} <= names
    views = {path.relative_to(ROOT / "sql").as_posix() for path in (ROOT / "sql").glob("*/*.sql")}
    assert {f"opfield/_sql/{name}" for name in views} <= names
    assert {
        "opfield/__init__.py",
        "opfield_practice/__init__.py",
        "opfield_quadratic/__init__.py",
        "opfield_rag/__init__.py",
    } <= names
    assert [name for name in names if name.endswith(".parquet") or "campaign=" in name] == []


def test_every_runtime_dependency_earns_its_place() -> None:
    page = (ROOT / "docs" / "explanation" / "dependencies.md").read_text(encoding="utf-8")
    declared = {re.match(r"[a-z0-9.-]+", each)[0] for each in PROJECT["project"]["dependencies"]}  # type: ignore[index]
    assert set(re.findall(r"^\| `([a-z0-9.-]+)`", page, re.MULTILINE)) == declared


def test_pins_are_exact_and_bear_no_address() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.+!-]+", line)] == []
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    declared = {re.match(r"[A-Za-z0-9.-]+", each)[0].lower() for each in PROJECT["project"]["dependencies"]}  # type: ignore[index]
    assert declared <= pinned
