from __future__ import annotations

import shutil
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from opfield.cli.app import invoke

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def root(odd_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of two campaigns: one of odd names and failures, and `opfield run quadratic`."""
    copy = Path(shutil.copytree(odd_root, tmp_path_factory.mktemp("examples") / "warehouse"))
    assert invoke(["run", "quadratic", "--warehouse", str(copy)]) == 0
    return copy


def example(name: str) -> ModuleType:
    """Return an example as a module."""
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
