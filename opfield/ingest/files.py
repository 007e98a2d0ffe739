"""Files of other tools, read in bounded memory and without trust: each error names the place and the remedy."""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final

import ijson

from opfield.ingest.records import IngestError, Source

#: Longest line, or member of an archive, that is read into memory, in bytes.
LARGEST_PART: Final = 256 * 2**20
#: A document up to this size is read whole; a larger one is read element by element.
_WHOLE: Final = 64 * 2**20
#: What a compressed file may expand to: at most so many times its size, once it is larger than the allowance.
LARGEST_RATIO: Final = 200
RATIO_ALLOWANCE: Final = 256 * 2**20

_CHUNK: Final = 2**20
_BOM: Final = b"\xef\xbb\xbf"
_SURROGATE: Final = "\\ud"

Advance = Callable[[int], None]


def open_file(source: Source) -> IO[bytes]:
    """Open a file of the user's for reading.

    Raises:
        IngestError: where it cannot be read, or is no regular file.
    """
    try:
        if not source.path.is_file():
            what = "a folder" if source.path.is_dir() else "no regular file" if source.path.exists() else "not there"
            raise IngestError(f"{source.name} is {what}; name a file")
        return source.path.open("rb")
    except OSError as error:
        raise IngestError(f"{source.name} cannot be read: {error.strerror}; mend its permissions") from None


def lines(source: Source, advance: Advance = lambda _bytes: None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a plain or gzip file, counted from 1, without their ends, a BOM and blank lines.

    Raises:
        IngestError: where the file is cut off or damaged, a line is too long, or it expands beyond the limit.
    """
    with open_file(source) as raw:
        stream = expanded(raw, source, advance)
        number = 0
        while line := stream.readline(LARGEST_PART + 1):
            number += 1
            if len(line) > LARGEST_PART:
                limit = f"{LARGEST_PART // 2**20} MiB"
                raise IngestError(f"{source.name}: line {number} is longer than {limit}; split the file into lines")
            line = line.removeprefix(_BOM) if number == 1 else line
            if stripped := line.strip(b"\r\n \t"):
                yield number, stripped


def json_value(content: bytes, place: str) -> Any:
    """Return a JSON value; bare NaN and Infinity are read as floats, and lone surrogates become U+FFFD.

    Raises:
        IngestError: where it is not JSON, naming line and column, or nests too deep.
    """
    try:
        text = content.removeprefix(_BOM).decode("utf-8")
        value = json.loads(text, parse_int=_integer)
        return _without_surrogates(value) if _SURROGATE in text.lower() else value
    except UnicodeDecodeError as error:
        raise IngestError(f"{place}: byte {error.start} is not UTF-8; write the file again as UTF-8") from None
    except json.JSONDecodeError as error:
        at_end = error.pos >= len(error.doc.rstrip()) - 1
        what = "is cut off" if at_end else "is not JSON"
        remedy = "write or copy the file again" if at_end else "mend it there"
        raise IngestError(
            f"{place} {what}: {error.msg} at line {error.lineno} column {error.colno}; {remedy}"
        ) from None
    except RecursionError:
        raise IngestError(f"{place} nests too deep to be a result; leave it out") from None


def json_items(source: Source, prefix: str, advance: Advance = lambda _bytes: None) -> Iterator[Any]:
    """Yield the elements of an array inside one JSON document, in bounded memory where the document is large.

    Args:
        source: the document; plain or gzip.
        prefix: where the elements stand, in ijson's words, such as `samples.item` or `results.results.item`.
        advance: told of the bytes read.

    Raises:
        IngestError: where the document is no whole JSON.
    """
    with open_file(source) as raw:
        stream = expanded(raw, source, advance)
        if os.fstat(raw.fileno()).st_size > _WHOLE or is_gzip(source.path):
            yield from _streamed(stream, prefix, source)
            return
        value = json_value(stream.read(), source.name)
    for name in prefix.split(".")[:-1]:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, list):
        yield from value


def json_shell(source: Source, arrays: tuple[str, ...], advance: Advance = lambda _bytes: None) -> Any:
    """Return a JSON document without the elements of some of its arrays, in bounded memory.

    Args:
        source: the document; plain or gzip.
        arrays: prefixes of the arrays to leave empty, such as `samples` or `results.results`.
        advance: told of the bytes read.

    Raises:
        IngestError: where the document is no whole JSON.
    """
    with open_file(source) as raw:
        stream = expanded(raw, source, advance)
        if os.fstat(raw.fileno()).st_size <= _WHOLE and not is_gzip(source.path):
            value = json_value(stream.read(), source.name)
            for array in arrays:
                *path, last = array.split(".")
                holder = value
                for name in path:
                    holder = holder.get(name) if isinstance(holder, dict) else None
                if isinstance(holder, dict) and isinstance(holder.get(last), list):
                    holder[last] = []
            return value
        builder = ijson.ObjectBuilder()
        inside = tuple(f"{array}.item" for array in arrays)
        try:
            for prefix, event, value in ijson.parse(stream, use_float=True):
                if not prefix.startswith(inside):
                    builder.event(event, value)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise _not_json(source, error) from None
        return getattr(builder, "value", None)


def is_gzip(path: Path) -> bool:
    """Return whether a file begins as gzip does."""
    return first_bytes(path, 2) == b"\x1f\x8b"


def first_bytes(path: Path, count: int) -> bytes:
    """Return the first bytes of a file; nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError:
        return b""


def expanded(raw: IO[bytes], source: Source, advance: Advance = lambda _bytes: None) -> io.BufferedReader:
    """Return the content of a plain or gzip file as a stream that is held to the limit on expansion."""
    compressed = raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    size = os.fstat(raw.fileno()).st_size
    return io.BufferedReader(
        _Limited(raw, gzip.GzipFile(fileobj=raw) if compressed else None, size, source, advance), _CHUNK
    )


class _Limited(io.RawIOBase):
    """Reads on, tells how far it is in the file itself, and refuses what expands without end."""

    def __init__(
        self, raw: IO[bytes], inner: gzip.GzipFile | None, size: int, source: Source, advance: Advance
    ) -> None:
        self._raw, self._inner, self._size, self._source, self._advance = raw, inner, size, source, advance
        self._out = self._told = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            chunk = (self._inner or self._raw).read(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise IngestError(f"{self._source.name} is cut off or damaged gzip ({error}); copy it again") from None
        self._out += len(chunk)
        if self._inner is not None and self._out > max(RATIO_ALLOWANCE, LARGEST_RATIO * self._size):
            raise IngestError(
                f"{self._source.name} expands to more than {LARGEST_RATIO} times its size, which no result file does; "
                "unpack it yourself if you trust it"
            )
        position = self._raw.tell()
        self._advance(position - self._told)
        self._told = position
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _streamed(stream: IO[bytes], prefix: str, source: Source) -> Iterator[Any]:
    try:
        yield from ijson.items(stream, prefix, use_float=True)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise _not_json(source, error) from None


def _not_json(source: Source, error: Exception) -> IngestError:
    told = " ".join(str(error).split())[:200]
    what = "is cut off" if isinstance(error, ijson.IncompleteJSONError) and "premature" in told else "is not JSON"
    return IngestError(f"{source.name} {what} ({told}); write or copy the file again")


def _integer(digits: str) -> int | float:
    # Beyond this many digits Python refuses to read an integer; as a number it is infinite anyway.
    return int(digits) if len(digits) < 400 else float("inf")


def _without_surrogates(value: Any) -> Any:
    """Return a JSON value in which lone surrogates, which no Unicode text holds, are replaced by U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value
