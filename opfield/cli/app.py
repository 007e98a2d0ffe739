"""The command's frame: one group, one place that turns errors into messages and exit codes."""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Any, Final

import click
import duckdb

from opfield.cli.render import err, visible
from opfield.errors import OpfieldError
from opfield.warehouse.memory import open_ahead

EXIT_ERROR: Final = 1
EXIT_INTERRUPTED: Final = 130

#: Commands by the module that holds them, as its `COMMANDS`.
HOMES: Final = {
    "bind": ("bind",),
    "confirm": ("confirm",),
    "dashboard": ("dashboard",),
    "export": ("export",),
    "ingest": ("ingest", "survey", "readers"),
    "keep": ("audit", "seal"),
    "look": ("status", "compare", "show", "sql", "views", "domains", "gates"),
    "plan": ("plan",),
    "power": ("power",),
    "report": ("report",),
    "review": ("review",),
    "work": ("run", "resume", "finish", "cancel", "try"),
}

#: How many databases those modules use whatever they are asked: they are opened while the modules are loaded.
_DATABASES: Final = {"export": 3, "ingest": 2, "look": 3, "report": 3}


class _Commands(click.Group):
    """Commands that are loaded when they are called: loading all of them takes longer than most of them."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return sorted(name for names in HOMES.values() for name in names)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        home = next((module for module, names in HOMES.items() if cmd_name in names), None)
        if home is None:
            return None
        if home in _DATABASES:
            open_ahead(_DATABASES[home])
        commands: tuple[click.Command, ...] = import_module(f"opfield.cli.{home}").COMMANDS
        return next(each for each in commands if each.name == cmd_name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="opfield")
def cli() -> None:
    """Run paired campaigns, keep every trial, and let SQL decide.

    Start with `opfield run quadratic`, then `opfield compare` and `opfield sql "from comparisons"`.

    Exit codes: 0 a candidate was selected, or the command did its work; 3 every candidate failed, or none was worth it;
    4 none passed and something is indeterminate or pending; 1 an error that says what to do; 2 wrong usage;
    130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a sign must not keep the rest from being read.
            stream.reconfigure(errors="replace")
    code = invoke(arguments)
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    # Everything is durable by now, and a runner's stuck thread or coroutine would keep the interpreter from ending.
    os._exit(code)


def invoke(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        code: Any = cli.main(args=arguments, prog_name="opfield", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _interrupted()
    except BrokenPipeError:
        # The reader of a pipe left; nothing more can be said to it, and nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (RuntimeError, duckdb.InterruptException) as error:
        # DuckDB tells of a Ctrl-C during a query in these words.
        if "interrupted" not in str(error).lower():
            raise
        return _interrupted()
    except OpfieldError as error:
        err().print(f"[bold red]error:[/] {_escaped(str(error))}")
        return EXIT_ERROR


def _interrupted() -> int:
    err().print("interrupted; what was accepted is safe, and the same command goes on, or, for an intake, starts anew")
    return EXIT_INTERRUPTED


def _escaped(message: str) -> str:
    return visible(message).replace("[", r"\[")


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
