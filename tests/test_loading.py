"""What is loaded when: everything that is listed can be had, and a small question does not load what runs campaigns."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import opfield as of
from opfield import contents
from opfield.cli.app import HOMES, invoke

#: What takes longer to load than a question to a small warehouse to answer.
HEAVY = ("pyarrow", "pydantic", "polars", "numpy", "scipy", "cryptography", "asyncio", "opfield.campaign.engine")


def test_every_command_of_every_module_can_be_called() -> None:
    folder = Path(import_module("opfield.cli").__file__ or "").parent
    modules = {path.stem: import_module(f"opfield.cli.{path.stem}") for path in folder.glob("[a-z]*.py")}
    commands = {name: module.COMMANDS for name, module in modules.items() if hasattr(module, "COMMANDS")}
    assert {name: {each.name for each in listed} for name, listed in commands.items()} == {
        name: set(listed) for name, listed in HOMES.items()
    }


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["--help"]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.partition("Commands:\n")[2].splitlines()}
    assert listed == {name for names in HOMES.values() for name in names}


def test_an_unknown_command_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["compere"]) == 2
    assert "No such command 'compere'" in capsys.readouterr().err


def test_everything_that_is_listed_is_found_in_the_package() -> None:
    assert of.__all__ == contents.__all__
    assert {name: getattr(of, name) for name in of.__all__} == {name: getattr(contents, name) for name in of.__all__}
    assert set(of.__all__) <= set(dir(of))


def test_what_is_not_listed_is_not_found_in_the_package() -> None:
    with pytest.raises(AttributeError, match="module 'opfield' has no attribute 'Campain'"):
        getattr(of, "Campain")  # noqa: B009  a type checker refuses the plain attribute


@pytest.mark.parametrize("command", [["compare"], ["sql", "from decisions"], ["status"]])
def test_a_command_that_reads_loads_nothing_that_it_does_not_use(command: list[str], tmp_path: Path) -> None:
    invoke(["run", "quadratic", "--warehouse", str(tmp_path)])
    asking = (
        "import sys\n"
        "from opfield.cli.app import invoke\n"
        "code = invoke(sys.argv[1:])\n"
        f"print(code, *(each for each in {HEAVY} if each in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", asking, *command, "--warehouse", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.splitlines()[-1] == "0"
