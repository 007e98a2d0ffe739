"""One JSON object, member by member: each value is parsed by itself, so that memory holds one of them at a time.

The standard parser does the work, on a window that slides over the text. A stricter streaming parser would refuse what
Inspect writes: bare NaN and Infinity, and integers of any size.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Iterator
from typing import IO, Any, Final

from opfield.ingest.files import LARGEST_PART, Advance, expanded, json_value, open_file
from opfield.ingest.records import IngestError, Source

_CHUNK: Final = 2**20
#: How near to the end of the window an error lies that more text might mend: the longest constant and an escape.
_NEAR_END: Final = 16
#: Beginnings of what an end of the text may have cut: the rest of a number, or of an escape.
_CUT: Final = re.compile(r"[.eE][+-]?|\\?u?[0-9a-fA-F]{0,4}")
_CONSTANTS: Final = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
#: What may follow a value; where anything else does, a number may be cut in the middle.
_AFTER_VALUE: Final = frozenset(",:]} \t\r\n")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
#: An integer of more digits than a double can hold is infinite as a number, and Python would refuse to read it.
_DECODER: Final = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) < 400 else math.inf)


def members(source: Source, advance: Advance = lambda _bytes: None) -> Iterator[tuple[str, int | None, Any]]:
    """Yield the members of the object that a file holds: name, None, value; of an array: name, index, element.

    Elements of an array at the top are yielded one by one, and an empty array yields nothing. Lone surrogates become
    U+FFFD.

    Args:
        source: the file; plain or gzip.
        advance: told of the bytes read.

    Raises:
        IngestError: where the file is no whole JSON object, naming member, line and column.
    """
    with open_file(source) as raw:
        window = _Window(expanded(raw, source, advance), source)
        if (first := window.peek()) != "{":
            what = "is empty" if not first else f"begins with {first!r}, so that it is no JSON object"
            raise IngestError(f"{source.name} {what}; name a log of Inspect, or copy the file again")
        window.at += 1
        if window.peek() == "}":
            window.at += 1
        else:
            yield from _members(window)
        if window.peek():
            raise window.broken("", "more text after the object", window.at)


def printable(name: str) -> str:
    r"""Return the name of a member for a message: on one line and not long, whatever it holds.

    >>> print(printable("a\n\x00b"))
    a\n\x00b
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in name[:300])


def _members(window: _Window) -> Iterator[tuple[str, int | None, Any]]:
    while True:
        if window.peek() != '"':
            raise window.broken("", "expecting a name in double quotes", window.at)
        name = str(window.value(""))
        if window.peek() != ":":
            raise window.broken(name, "expecting ':'", window.at)
        window.at += 1
        if window.peek() == "[":
            window.at += 1
            yield from _elements(window, name)
        else:
            yield name, None, window.value(name)
        if window.ends("}", name):
            return


def _elements(window: _Window, name: str) -> Iterator[tuple[str, int | None, Any]]:
    if window.peek() == "]":
        window.at += 1
        return
    index = 0
    while True:
        place = f"{name}[{index}]"
        yield name, index, window.value(place)
        if window.ends("]", place):
            return
        index += 1


class _Window:
    """The part of a text that is being looked at; what lies before `at` was taken."""

    def __init__(self, stream: IO[bytes], source: Source) -> None:
        self._stream, self._source = stream, source
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text, self._is_whole = "", False
        self._lines = self._column = 0
        self.at = 0

    def peek(self) -> str:
        """Return the next character that is no white space; nothing at the end."""
        while True:
            space = _SPACE.match(self._text, self.at)
            self.at = space.end() if space else self.at
            if self.at < len(self._text):
                return self._text[self.at]
            if self._is_whole:
                return ""
            self._read_on()

    def ends(self, closing: str, place: str) -> bool:
        """Take a comma or the closing bracket, and return whether it was the bracket."""
        found = self.peek()
        if found not in ("," + closing) or not found:
            raise self.broken(place, f"expecting ',' or '{closing}'", self.at)
        self.at += 1
        return found == closing

    def value(self, place: str) -> Any:
        """Take one value."""
        self.peek()
        while True:
            trouble: json.JSONDecodeError | None = None
            end = len(self._text)
            try:
                value, end = _DECODER.raw_decode(self._text, self.at)
            except json.JSONDecodeError as error:
                trouble = error
            except RecursionError:
                raise IngestError(f"{self._place(place)} nests too deep to be a result; leave it out") from None
            if trouble is None and (self._is_whole or self._is_past(end)):
                if _SURROGATE.search(self._text, self.at, end):
                    value = json_value(self._text[self.at : end].encode(), self._place(place))
                self.at = end
                return value
            if trouble is not None and (self._is_whole or not self._might_go_on(trouble)):
                raise self.broken(place, trouble.msg, trouble.pos)
            if len(self._text) - self.at > LARGEST_PART:
                limit = f"{LARGEST_PART // 2**20} MiB"
                raise IngestError(f"{self._place(place)} is longer than {limit}; leave it out")
            self._read_on()

    def broken(self, place: str, why: str, position: int) -> IngestError:
        """Return the error for what cannot be read at a position of the window."""
        if not self._is_whole:
            # A few more characters tell an error in the middle of a file from its end.
            self._text += self._decoded(self._stream.read(_NEAR_END), self._text)
        rest = self._text[position:].rstrip()
        is_cut = (
            not rest
            or why.startswith("Unterminated")
            or any(constant.startswith(rest) for constant in _CONSTANTS)
            or (_CUT.fullmatch(rest) is not None and why.lower().startswith(("expecting ','", "invalid \\")))
        )
        before = self._text[:position]
        line = self._lines + before.count("\n") + 1
        column = len(before) - before.rfind("\n") + (0 if "\n" in before else self._column)
        what, remedy = ("is cut off", "copy the file again") if is_cut else ("is not JSON", "mend it there")
        return IngestError(f"{self._place(place)} {what}: {why} at line {line} column {column}; {remedy}")

    def _might_go_on(self, trouble: json.JSONDecodeError) -> bool:
        return trouble.msg.startswith("Unterminated") or trouble.pos >= len(self._text) - _NEAR_END

    def _is_past(self, end: int) -> bool:
        return len(self._text) > end and (self._text[end] in _AFTER_VALUE or len(self._text) - end > _NEAR_END)

    def _read_on(self) -> None:
        taken = self._text[: self.at]
        if "\n" in taken:
            self._lines += taken.count("\n")
            self._column = len(taken) - taken.rfind("\n") - 1
        else:
            self._column += len(taken)
        # As much again as is waiting: a long value is parsed a few times only, however long it is.
        chunk = self._stream.read(max(_CHUNK, len(self._text) - self.at))
        self._is_whole = not chunk
        waiting = self._text[self.at :]
        self._text = waiting + self._decoded(chunk, waiting)
        self.at = 0

    def _decoded(self, chunk: bytes, before: str) -> str:
        try:
            return self._decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            bad = error.object[error.start]
            line = self._lines + before.count("\n") + error.object[: error.start].count(b"\n") + 1
            raise IngestError(
                f"{self._source.name}: byte {bad:#04x} in line {line} is not UTF-8; write the file again as UTF-8"
            ) from None

    def _place(self, place: str) -> str:
        return f"{self._source.name}: {printable(place)}" if place else self._source.name
