"""The words of `opfield ingest` that name readers, files and options of readers, which only the readers know."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from opfield.errors import unknown_name
from opfield.ingest.installed import installed_reader_names, load_reader
from opfield.ingest.records import Reader, ReaderOption
from opfield.ingest.sources import Asked


def asked_of(words: Sequence[str]) -> tuple[Asked, ...]:
    """Return the readers, and for each its paths and options, from the words of the command line.

    Raises:
        UnknownNameError: for a reader or an option that there is not.
        click.UsageError: where a path has no reader, or an option no value.
    """
    known = installed_reader_names()
    readers: dict[str, Reader] = {}
    paths: dict[str, list[Path]] = {}
    only: str | None = None
    if words[0] in known or ":" not in words[0]:
        only = words[0]
        readers[only], paths[only] = load_reader(only), []
        words = words[1:]
    given: list[tuple[str, str | None]] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word.startswith("--") and len(word) > 2:
            option, is_joined, value = word[2:].partition("=")
            takes_next = not is_joined and waiting and not _is_flag(option, only, words, known)
            given.append((option, waiting.pop(0) if takes_next else value if is_joined else None))
            continue
        name, _, rest = (only, "", word) if only is not None else word.partition(":")
        if only is None and (not rest or name not in known):
            raise (
                unknown_name("reader", name, known)
                if rest
                else click.UsageError(f"{word!r} has no reader; write READER:PATH, such as inspect:{word}")
            )
        readers.setdefault(name, load_reader(name))
        paths.setdefault(name, []).append(Path(rest))
    options = {name: defaults(reader) for name, reader in readers.items()}
    for option, stated in given:
        _take_option(option, stated, readers, options)
    for name, found in paths.items():
        if not found:
            raise click.UsageError(f"name the files that reader {name!r} is to read")
    return tuple(Asked(reader, tuple(paths[name]), options[name]) for name, reader in readers.items())


def defaults(reader: Reader) -> dict[str, Any]:
    """Return the options of a reader as they are where the user gives none."""
    return {option.name: option.default for option in reader.options}


def _is_flag(name: str, only: str | None, words: Sequence[str], known: Sequence[str]) -> bool:
    named = [only] if only is not None else [word.partition(":")[0] for word in words]
    return any(
        option.type is bool
        for reader in named
        if reader in known
        for option in load_reader(reader).options
        if option.name == name.replace("-", "_") or option.name == name
    )


def _take_option(name: str, value: str | None, readers: dict[str, Reader], options: dict[str, dict[str, Any]]) -> None:
    """Put an option's value where the readers that know it find it."""
    found = [
        (reader, option)
        for reader in readers.values()
        for option in reader.options
        if option.name.replace("_", "-") == name.replace("_", "-")
    ]
    if not found:
        listed = [option.name for reader in readers.values() for option in reader.options]
        raise unknown_name(f"option of reader {', '.join(readers)}:", name, listed)
    for reader, option in found:
        held = options[reader.name]
        typed = _typed(option, value)
        if option.is_repeatable:
            before = held[option.name]
            held[option.name] = (*(before if before != option.default else ()), typed)
        else:
            held[option.name] = typed


def _typed(option: ReaderOption, value: str | None) -> Any:
    if option.type is bool:
        if value not in (None, "true", "false"):
            raise click.UsageError(f"--{option.name} is a flag and takes no value")
        return value != "false"
    if value is None:
        raise click.UsageError(f"option --{option.name} needs a value")
    try:
        return option.type(value)
    except ValueError:
        raise click.UsageError(f"option --{option.name}: {value!r} is no {option.type.__name__}") from None
