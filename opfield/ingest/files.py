"""Files of other tools, read in bounded memory and without trust: each error names the place and the remedy."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import stat
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final

from opfield.ingest.records import IngestError, Source

#: Longest line, or member of an archive, that is read into memory, in bytes.
LARGEST_PART: Final = 256 * 2**20
#: What a compressed file may expand to: at most so many times its size, once it is larger than the allowance.
LARGEST_RATIO: Final = 200
RATIO_ALLOWANCE: Final = 256 * 2**20

_CHUNK: Final = 2**20
_BOM: Final = b"\xef\xbb\xbf"
_SURROGATE: Final = "\\ud"
#: An integer of so many digits is beyond a double by far.
_MOST_DIGITS: Final = 400
_LINE_PLACE: Final = re.compile(r": line \d+$")
#: Beginnings of what an end of the text may have cut: the rest of a number, or of an escape; and the constants.
_CUT: Final = re.compile(r"[.eE][+-]?|\\?u?[0-9a-fA-F]{0,4}")
_CONSTANTS: Final = ("true", "false", "null", "NaN", "Infinity", "-Infinity")

Advance = Callable[[int], None]


def open_file(source: Source) -> IO[bytes]:
    """Open a file of the user's for reading.

    Raises:
        IngestError: where it cannot be read, or is no regular file.
    """
    try:
        return _open_regular(source.path)
    except _NoFileError as error:
        raise IngestError(f"{source.name} is {error}; name a file") from None
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
        IngestError: where it is not JSON, naming line and column, an object has a member twice, or it nests too deep.
    """
    try:
        text = content.removeprefix(_BOM).decode("utf-8")
        value = JSON.decode(text)
        return _without_surrogates(value) if _SURROGATE in text.lower() else value
    except UnicodeDecodeError as error:
        raise IngestError(f"{place}: byte {error.start} is not UTF-8; write the file again as UTF-8") from None
    except json.JSONDecodeError as error:
        # Of a line of many the place says which it is.
        line = "" if error.lineno == 1 and _LINE_PLACE.search(place) else f"line {error.lineno} "
        raise not_json(place, error.msg, error.doc[error.pos :], f"{line}column {error.colno}") from None
    except TwiceError as error:
        raise IngestError(f"{place} {error}") from None
    except RecursionError:
        raise IngestError(f"{place} nests too deep to be a result; leave it out") from None


def not_json(place: str, why: str, rest: str, at: str) -> IngestError:
    """Return the error for a text that is cut off, or is not JSON.

    Args:
        place: the file, and what in it.
        why: what is wrong, in the words of Python's parser.
        rest: the text from there on.
        at: line and column, in words.
    """
    what, remedy = ("is cut off", "copy the file again") if is_cut_off(why, rest) else ("is not JSON", "mend it there")
    return IngestError(f"{place} {what}: {why.removesuffix(' at').removesuffix(' starting')} at {at}; {remedy}")


def is_cut_off(why: str, rest: str) -> bool:
    """Return whether more text might mend an error of Python's parser; `rest` is the text from the error on."""
    rest = rest.rstrip()
    return (
        not rest
        or why.startswith("Unterminated")
        or any(constant.startswith(rest) for constant in _CONSTANTS)
        or (_CUT.fullmatch(rest) is not None and why.lower().startswith(("expecting ',", "invalid \\")))
    )


class TwiceError(ValueError):
    """A JSON object has a member twice, of which one would hide the other."""

    def __init__(self, name: str) -> None:
        """Say which, and what to do."""
        super().__init__(f"has the member {shown_text(name)} twice in one object; leave one of the two out")


def shown_text(text: str) -> str:
    r"""Return a text for a message: quoted, on one line and not long, whatever it holds.

    >>> print(shown_text("a\n"))
    'a\n'
    """
    return repr(text if len(text) <= 60 else text[:60] + "…")


def whole_text(text: str) -> str:
    """Return a text in which lone surrogates, which no Unicode text holds, are replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_gzip(path: Path) -> bool:
    """Return whether a file begins as gzip does."""
    return first_bytes(path, 2) == b"\x1f\x8b"


def first_bytes(path: Path, count: int) -> bytes:
    """Return the first bytes of a file; nothing where it cannot be read, or is no regular file."""
    try:
        with _open_regular(path) as file:
            return file.read(count)
    except (OSError, _NoFileError):
        return b""


def first_character(source: Source) -> bytes:
    """Return the first byte of a plain or gzip file that is no white space; nothing where it has none.

    Raises:
        IngestError: where it cannot be read.
    """
    with open_file(source) as raw:
        stream = expanded(raw, source)
        chunk = stream.read(4096).removeprefix(_BOM)
        while chunk and not chunk.strip():
            chunk = stream.read(_CHUNK)
        return chunk.lstrip()[:1]


def expanded(raw: IO[bytes], source: Source, advance: Advance = lambda _bytes: None) -> io.BufferedReader:
    """Return the content of a plain or gzip file as a stream that is held to the limit on expansion."""
    compressed = raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    size = os.fstat(raw.fileno()).st_size
    return io.BufferedReader(
        _Limited(raw, gzip.GzipFile(fileobj=raw) if compressed else None, size, source, advance), _CHUNK
    )


class _NoFileError(Exception):
    """What stands at a path is no file; the text says what it is."""


def _open_regular(path: Path) -> IO[bytes]:
    """Open a regular file, at the end of links or not; a pipe, which might wait for ever, is not waited for."""
    try:
        # A name cannot hold NUL, which Python tells as a ValueError.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise _NoFileError("a link to nothing" if path.is_symlink() else "not there") from None
    except ValueError:
        raise _NoFileError("not there") from None
    except OSError:
        # A socket cannot be opened at all.
        if path.exists() and not path.is_file() and not path.is_dir():
            raise _NoFileError("no regular file") from None
        raise
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise _NoFileError("a folder" if stat.S_ISDIR(mode) else "no regular file")
    return os.fdopen(handle, "rb")


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


def _integer(digits: str) -> int | float:
    # Beyond this many digits Python refuses to read an integer; as a number it is infinite anyway.
    return int(digits) if len(digits) < _MOST_DIGITS else float("inf")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise TwiceError(Counter(name for name, _ in pairs).most_common(1)[0][0])
    return found


#: Reads JSON as it is met: bare NaN and Infinity, integers of any size, and no member twice in an object.
JSON: Final = json.JSONDecoder(parse_int=_integer, object_pairs_hook=_object)


def _without_surrogates(value: Any) -> Any:
    """Return a JSON value in which lone surrogates, which no Unicode text holds, are replaced by U+FFFD."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return _object([(whole_text(name), _without_surrogates(item)) for name, item in value.items()])
    return value
