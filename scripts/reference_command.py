"""The page of reference for the command line, from the commands themselves and what installed packages offer them.

The documentation's site makes it when it is built (`scripts/reference_site.py`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Final

import click

from opfield.campaign.domains import installed_domain_names, load_domain
from opfield.cli.app import cli
from opfield.ingest.installed import installed_reader_names, load_reader
from scripts.reference_relations import escaped

PAGE: Final = "reference/command.md"

#: What each exit code means, as the command's own help says it.
_EXITS: Final = re.compile(r"(\d+) ([^;.]+)[;.]")


def pages() -> dict[str, str]:
    """Return the page's Markdown by its path below `docs`."""
    parts = [
        "# Command line\n\n"
        "Results go to stdout, everything else to stderr. `opfield COMMAND --help` prints what stands here. On a "
        "terminal a digest is shown by its beginning, which every command takes; in a pipe it is whole.",
        "## Exit codes\n\n| code | meaning |\n| ---: | --- |\n"
        + "\n".join(f"| {code} | {escaped(meaning)} |" for code, meaning in exit_codes()),
    ]
    parts += [_command(name, command) for name, command in commands().items()]
    parts += ["## Options of domains\n\nThey follow the name: `opfield run rag --limit 20`."]
    parts += [_domain(name) for name in installed_domain_names()]
    parts += ["## Options of readers\n\nThey follow the name of the reader: `opfield ingest table FILE --case id`."]
    parts += [_reader(name) for name in installed_reader_names()]
    return {PAGE: "\n\n".join(parts) + "\n"}


def commands() -> dict[str, click.Command]:
    """Return every command by its name, sorted; those of a group by both names."""
    return dict(_commands_below(cli, ""))


def _commands_below(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None:
            yield f"{prefix}{name}", command
        if isinstance(command, click.Group):
            yield from _commands_below(command, f"{prefix}{name} ")


def exit_codes() -> list[tuple[int, str]]:
    """Return the exit codes with their meanings, as `opfield --help` states them."""
    told = " ".join(inspect.cleandoc(cli.help or "").partition("Exit codes: ")[2].split())
    return sorted((int(code), meaning.strip()) for code, meaning in _EXITS.findall(told))


def _command(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"opfield {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    rows = [_row(each, context) for each in command.params if isinstance(each, click.Option) and not each.hidden]
    options = "\n\n| option | takes | meaning |\n| --- | --- | --- |\n" + "\n".join(rows) if rows else ""
    return f"## opfield {name}\n\n```text\nopfield {name} {usage}\n```\n\n{_help(command)}{options}"


def _help(command: click.Command) -> str:
    """Return a command's help, its examples as they stand."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return "\n\n".join(
        "```text\n" + each.removeprefix("\b\n") + "\n```" if each.startswith("\b") else each for each in paragraphs
    )


def _row(option: click.Option, context: click.Context) -> str:
    names = ", ".join(f"`{each}`" for each in [*option.opts, *option.secondary_opts])
    takes = "" if option.is_flag else f"`{option.make_metavar(context)}`"
    notes = [option.help or ""]
    if option.show_default and not option.is_flag and option.default is not None:
        notes.append(f"Default: `{option.default}`.")
    if option.required:
        notes.append("Required.")
    if option.multiple:
        notes.append("May be given more than once.")
    return f"| {names} | {takes.replace('|', chr(92) + '|')} | {escaped(' '.join(notes).strip())} |"


def _domain(name: str) -> str:
    domain = load_domain(name)
    rows = [
        f"| `--{each.name.replace('_', '-')}` | {each.type.__name__} | {escaped(each.help)} |"
        for each in domain.options
    ]
    table = "\n\n| option | takes | meaning |\n| --- | --- | --- |\n" + "\n".join(rows) if rows else ""
    return f"### Domain {name}\n\n{_sentence(domain.description)}{table}"


def _reader(name: str) -> str:
    reader = load_reader(name)
    rows = [
        f"| `--{each.name.replace('_', '-')}` | {'' if each.type is bool else each.type.__name__} | "
        + escaped(each.help + (" May be given more than once." if each.is_repeatable else ""))
        + (f" Default: `{each.default}`." if each.default not in (None, (), False, "") else "")
        + " |"
        for each in reader.options
    ]
    table = "\n\n| option | takes | meaning |\n| --- | --- | --- |\n" + "\n".join(rows) if rows else ""
    return f"### Reader {name}\n\n{_sentence(reader.description)} Version {reader.version}.{table}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
