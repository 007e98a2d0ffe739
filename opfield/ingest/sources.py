"""What the user named, as files and folders that a reader is asked to read, with the digest of every file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opfield.ingest.records import IngestError, Note, Reader, ReaderOption, Source

_CHUNK: Final = 2**20


@dataclass(frozen=True, slots=True)
class Asked:
    """One reader and what it is to read.

    Attributes:
        reader: the reader.
        paths: what the user named for it.
        options: value of each of its options, by name.
    """

    reader: Reader
    paths: tuple[Path, ...]
    options: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One file that was read.

    Attributes:
        name: name below the folder that the user gave.
        digest: SHA-256 of its bytes, hexadecimal.
        size_bytes: its size.
        is_source: whether it is a source of its own, not one of the files of a folder that is one.
    """

    name: str
    digest: str
    size_bytes: int
    is_source: bool


def sources_of(asked: Asked) -> tuple[list[Source], list[Note]]:
    """Return what a reader is to read, in the order in which the user named it, and what was left out of folders.

    A folder that the reader knows as one log is a source of its own; any other is looked through for files that the
    reader recognizes. Files that the user named are taken whatever they look like.

    Raises:
        IngestError: where something named is not there, or a folder holds nothing that the reader recognizes.
    """
    found: list[Source] = []
    notes: list[Note] = []
    for path in asked.paths:
        name = path.name or str(path)
        if not path.exists():
            what = "a link to nothing" if path.is_symlink() else "not there"
            raise IngestError(f"{path} is {what}; name a file or a folder")
        if not path.is_dir() or asked.reader.recognizes(path):
            found.append(Source(path, name))
            continue
        inside = list(_below(path, asked.reader))
        if not inside:
            raise IngestError(
                f"folder {path} holds nothing that reader {asked.reader.name!r} recognizes; name the files themselves, "
                "or another reader (`opfield readers`)"
            )
        taken = {source.path for source in inside}
        others = [each for each in sorted(_files(path)) if not any(each == one or one in each.parents for one in taken)]
        if others:
            named = ", ".join(str(each.relative_to(path)) for each in others[:3]) + (", …" if len(others) > 3 else "")
            notes.append(Note(f"left out {len(others)} files that are none of {asked.reader.name}'s: {named}", name))
        found.extend(inside)
    return _told_apart(found), notes


def file_facts(sources: Sequence[Source]) -> list[FileFacts]:
    """Return name, digest and size of every file of the sources, files in folders included, sorted by name.

    Raises:
        IngestError: where one cannot be read.
    """
    facts: list[FileFacts] = []
    for source in sources:
        for path in sorted(_files(source.path)) if source.path.is_dir() else [source.path]:
            inside = "" if path == source.path else f"/{path.relative_to(source.path).as_posix()}"
            facts.append(FileFacts(f"{source.name}{inside}", *_digest(path, source.name), is_source=not inside))
    return sorted(facts, key=lambda each: (each.name, each.digest))


def option_files(reader: Reader, options: dict[str, Any]) -> list[Source]:
    """Return the files that options of a reader name, such as judgments: they are part of what was read."""
    named = [option for option in reader.options if option.type is Path]
    return [
        Source(path, path.name) for option in named for path in _paths(option, options[option.name]) if path.exists()
    ]


def _paths(option: ReaderOption, value: Any) -> Sequence[Path]:
    if value is None:
        return ()
    return tuple(value) if option.is_repeatable else (value,)


def _below(folder: Path, reader: Reader) -> Iterator[Source]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if reader.recognizes(entry):
            yield Source(entry, entry.name)
        elif entry.is_dir() and not entry.is_symlink():
            for source in _below(entry, reader):
                yield Source(source.path, f"{entry.name}/{source.name}")


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in names if not name.startswith("."))


def _told_apart(sources: list[Source]) -> list[Source]:
    """Give sources of one name the folders above them as well, until each name is one of its own."""
    names = [source.name for source in sources]
    if len(set(names)) == len(names):
        return sources
    longer = []
    for source in sources:
        above = source.path.absolute().parts[: -len(Path(source.name).parts)]
        is_shared = names.count(source.name) > 1 and above and above[-1] != os.sep
        longer.append(Source(source.path, f"{above[-1]}/{source.name}") if is_shared else source)
    if [source.name for source in longer] == names:
        raise IngestError(f"{max(names, key=names.count)} is named twice; name each file once")
    return _told_apart(longer)


def _digest(path: Path, name: str) -> tuple[str, int]:
    state, size = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                state.update(chunk)
                size += len(chunk)
    except OSError as error:
        raise IngestError(f"{name} cannot be read: {error.strerror}; mend its permissions") from None
    return state.hexdigest(), size
