"""What the user named, as files and folders that a reader is asked to read, with the digest of every file."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opfield.ingest.files import open_file
from opfield.ingest.records import IngestError, Note, Reader, ReaderOption, Source
from opfield.warehouse.layout import MARKER

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
        named = name_of(path)
        check_named(path)
        if not path.is_dir() or asked.reader.recognizes(path):
            found.append(Source(path, named))
            continue
        if is_warehouse(path):
            raise IngestError(f"folder {path} is a warehouse, whose records are taken in already; name other files")
        inside = list(_below(path, asked.reader))
        if not inside:
            raise IngestError(
                f"folder {path} holds nothing that reader {asked.reader.name!r} recognizes; name the files themselves, "
                "or another reader (`opfield readers`)"
            )
        for source in inside:
            check_named(source.path)
        notes.extend(_left_out(path, named, asked.reader, inside))
        found.extend(inside)
    return _told_apart(found), notes


def name_of(path: Path) -> str:
    """Return what a path is called in messages; a folder such as `.` by where it is, bytes that are no text escaped."""
    return shown_name(path.name or path.absolute().name or str(path))


def shown_name(name: str) -> str:
    r"""Return the name of a file as text; bytes of it that are no UTF-8 are escaped.

    >>> print(shown_name("bad\udcff.csv"))
    bad\xff.csv
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def check_named(path: Path) -> None:
    """Refuse what is no file and no folder, and what no record could name.

    Raises:
        IngestError: saying what it is, and the remedy.
    """
    shown = shown_name(str(path))
    if path.name and shown_name(path.name) != path.name:
        raise IngestError(f"the name of {shown} is not UTF-8; rename it")
    try:
        # A path that is too long, or of a folder that cannot be looked into.
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        what = "a link to nothing" if path.is_symlink() else "not there"
        raise IngestError(f"{shown} is {what}; name a file or a folder") from None
    except OSError as error:
        raise IngestError(f"{shown} cannot be read: {error.strerror}; mend that, or leave it out") from None
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise IngestError(f"{shown} is no regular file; name a file or a folder")


def is_warehouse(folder: Path) -> bool:
    """Return whether a folder is a warehouse of ours: what it holds are records, not results to be taken in."""
    return (folder / MARKER).is_file() and (folder / "events").is_dir()


def file_facts(sources: Sequence[Source]) -> list[FileFacts]:
    """Return name, digest and size of every file of the sources, files in folders included, sorted by name.

    Raises:
        IngestError: where one cannot be read.
    """
    facts: list[FileFacts] = []
    for source in sources:
        if not source.path.is_dir():
            facts.append(FileFacts(source.name, *_digest(source.path, source.name), is_source=True))
            for beside in _beside(source.path):
                name = f"{source.name}: {shown_name(beside.name)}"
                facts.append(FileFacts(name, *_digest(beside, name), is_source=False))
            continue
        for path in sorted(_files(source.path, with_all=False)):
            name = f"{source.name}/{shown_name(path.relative_to(source.path).as_posix())}"
            facts.append(FileFacts(name, *_digest(path, name), is_source=False))
    return sorted(facts, key=lambda each: (each.name, each.digest))


def _beside(path: Path) -> Iterator[Path]:
    """Yield files that readers read with a file although nobody names them: parts of a database, and asv's own list."""
    known = [path.with_name(path.name + suffix) for suffix in ("-wal", "-journal")]
    known.append(path.absolute().parent.parent / "benchmarks.json")
    yield from (each for each in known if each.is_file())


def option_files(reader: Reader, options: dict[str, Any]) -> list[Source]:
    """Return the files that options of a reader name, such as judgments: they are part of what was read.

    Raises:
        IngestError: where one is no regular file.
    """
    named = [option for option in reader.options if option.type is Path]
    found: list[Source] = []
    for option in named:
        for path in _paths(option, options[option.name]):
            # What is not there the reader refuses in the words of its option.
            if path.exists():
                check_named(path)
                found.append(Source(path, name_of(path)))
    return found


def _paths(option: ReaderOption, value: Any) -> Sequence[Path]:
    if value is None:
        return ()
    return tuple(value) if option.is_repeatable else (value,)


def _left_out(folder: Path, name: str, reader: Reader, inside: Sequence[Source]) -> Iterator[Note]:
    taken = {source.path for source in inside}
    others = [each for each in sorted(_files(folder)) if not any(each == one or one in each.parents for one in taken)]
    if others:
        listed = ", ".join(shown_name(str(each.relative_to(folder))) for each in others[:3])
        more = ", …" if len(others) > 3 else ""
        yield Note(f"left out {len(others)} files that are none of {reader.name}'s: {listed}{more}", name)
    for place, folders, _names in os.walk(folder):
        for each in list(folders):
            if is_warehouse(Path(place, each)):
                folders.remove(each)
                below = shown_name(Path(place, each).relative_to(folder).as_posix())
                yield Note(f"left out {below}, which is a warehouse", name)


def _below(folder: Path, reader: Reader) -> Iterator[Source]:
    for entry in _entries(folder):
        if entry.name.startswith(".") or not (entry.is_file() or entry.is_dir()) or is_warehouse(entry):
            continue
        if reader.recognizes(entry):
            yield Source(entry, entry.name)
        elif entry.is_dir() and not entry.is_symlink():
            for source in _below(entry, reader):
                yield Source(source.path, f"{entry.name}/{source.name}")


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise IngestError(
            f"folder {shown_name(str(folder))} cannot be read: {error.strerror}; mend that, or name the files"
        ) from None


def _files(folder: Path, *, with_all: bool = True) -> Iterator[Path]:
    """Yield the files below a folder; pipes, devices and links to nothing only with all."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and not is_warehouse(Path(place, name))
        )
        for name in names:
            if not name.startswith(".") and (with_all or Path(place, name).is_file()):
                yield Path(place, name)


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
        twice = sources[names.index(max(names, key=names.count))].path
        raise IngestError(f"{twice} is named twice; name each file once")
    return _told_apart(longer)


def _digest(path: Path, name: str) -> tuple[str, int]:
    state, size = hashlib.sha256(), 0
    try:
        with open_file(Source(path, name)) as file:
            while chunk := file.read(_CHUNK):
                state.update(chunk)
                size += len(chunk)
    except OSError as error:
        raise IngestError(f"{name} cannot be read: {error.strerror}; mend its permissions") from None
    return state.hexdigest(), size
