"""Members of a ZIP archive, read into memory one by one: nothing is unpacked, and names are only names."""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from opfield.ingest.files import LARGEST_PART, LARGEST_RATIO, RATIO_ALLOWANCE, json_value, open_file
from opfield.ingest.json_stream import printable
from opfield.ingest.records import IngestError, Source

# Both read members that are compressed with Zstandard (method 93).
if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

#: What a damaged archive can raise: the archive's own errors, those of its compressors, and those of its numbers.
_DAMAGE: Final = (
    zipfile.BadZipFile,
    ZstdError,
    zlib.error,
    struct.error,
    EOFError,
    OverflowError,
    RuntimeError,
    ValueError,
    OSError,
)


class Archive:
    """An open ZIP archive."""

    def __init__(self, source: Source, opened: zipfile.ZipFile) -> None:
        """Take over an archive whose directory was read."""
        self._source, self._opened = source, opened
        self._members: dict[str, list[zipfile.ZipInfo]] = {}
        for info in opened.infolist():
            self._members.setdefault(info.filename, []).append(info)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members, each once, in the order of the archive."""
        return tuple(self._members)

    def count(self, name: str) -> int:
        """Return how many members have a name; the last is the one in force."""
        return len(self._members.get(name, ()))

    def packed_size(self, name: str) -> int:
        """Return the compressed size of all members of a name, in bytes."""
        return sum(info.compress_size for info in self._members[name])

    def is_small(self, name: str) -> bool:
        """Return whether a member expands to no more than is read into memory."""
        return self._members[name][-1].file_size <= LARGEST_PART

    def place(self, name: str) -> str:
        """Return where a member stands, printable whatever its name holds."""
        return f"{self._source.name}: {printable(name)}"

    def json(self, name: str, version: int = -1) -> Any:
        """Return a member as a JSON value.

        Args:
            name: name of the member.
            version: which of the members of that name; the last, which replaces those before it, unless given.

        Raises:
            IngestError: where it is too large, damaged or no JSON.
        """
        info, place = self._members[name][version], self.place(name)
        if info.file_size > LARGEST_PART:
            raise IngestError(f"{place} expands to more than {LARGEST_PART // 2**20} MiB; leave the member out")
        with _damage_told(place), self._opened.open(info) as member:
            # Asking for a number of bytes bounds the decompressor too, whatever the directory says of the size.
            content = member.read(info.file_size + 1)
        return json_value(content, place)


@contextmanager
def open_archive(source: Source) -> Iterator[Archive]:
    """Open a ZIP archive for as long as the block lasts.

    Raises:
        IngestError: where it is damaged or cut off, or its members expand beyond the limit.
    """
    with open_file(source) as raw:
        with _damage_told(source.name):
            opened = zipfile.ZipFile(raw)
            size = raw.seek(0, 2)
        whole = sum(info.file_size for info in opened.infolist())
        if whole > max(RATIO_ALLOWANCE, LARGEST_RATIO * size):
            raise IngestError(
                f"{source.name} expands to {whole / 2**20:,.0f} MiB, more than {LARGEST_RATIO} times its size, which "
                "no log does; unpack it yourself if you trust it"
            )
        yield Archive(source, opened)


@contextmanager
def _damage_told(place: str) -> Iterator[None]:
    try:
        yield
    except IngestError:
        raise
    except _DAMAGE as error:
        told = " ".join(str(error).split())[:200] or type(error).__name__
        raise IngestError(
            f"{place} is cut off or damaged ({told}); copy the file again, or rebuild a log whose run crashed with "
            "`inspect log recover`"
        ) from None
