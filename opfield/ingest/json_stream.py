"""A JSON document of any size, value by value: memory holds one element or member at a time.

The standard parser does the work, on a window that slides over the text, so that a large document is read exactly as a
small one is. A stricter streaming parser would refuse what tools write: bare NaN and Infinity, and integers of any
size.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any, Final

from opfield.ingest.files import (
    JSON,
    LARGEST_PART,
    Advance,
    TwiceError,
    expanded,
    is_cut_off,
    json_value,
    not_json,
    open_file,
    shown_text,
)
from opfield.ingest.records import IngestError, Source

_CHUNK: Final = 2**20
#: How near to the end of the window an error lies that more text might mend: the longest constant and an escape.
_NEAR_END: Final = 16
#: What may follow a value; where anything else does, a number may be cut in the middle.
_AFTER_VALUE: Final = frozenset(",:]} \t\r\n")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
#: What nobody asked for is taken part by part this deep, and whole below it.
_TAKEN_APART: Final = 2


class Pairs(list[tuple[str, Any]]):
    """The members of a JSON object as name and value; a name may stand twice."""


_PAIRS: Final = json.JSONDecoder(parse_int=JSON.parse_int, object_pairs_hook=Pairs)


def json_items(source: Source, prefix: str, advance: Advance = lambda _bytes: None) -> Iterator[Any]:
    """Yield the elements of an array inside one JSON document, in bounded memory; nothing where there is none.

    Args:
        source: the document; plain or gzip.
        prefix: where the elements stand: names of members and `item`, such as `item`, `samples.item` or
            `results.results.item`.
        advance: told of the bytes read.

    Raises:
        IngestError: where the document is no whole JSON, or an object has a member twice.
    """
    with open_file(source) as raw:
        window = _Window(expanded(raw, source, advance), source)
        window.begin()
        yield from _items(window, prefix.split(".")[:-1], "")
        window.finish()


def json_shell(source: Source, arrays: tuple[str, ...], advance: Advance = lambda _bytes: None) -> Any:
    """Return a JSON document without the elements of some of its arrays, in bounded memory.

    A document that is an array is returned empty.

    Args:
        source: the document; plain or gzip.
        arrays: the arrays to leave empty, such as `samples` or `results.results`.
        advance: told of the bytes read.

    Raises:
        IngestError: where the document is no whole JSON, or an object has a member twice.
    """
    with open_file(source) as raw:
        window = _Window(expanded(raw, source, advance), source)
        hollow = [[], *(array.split(".") for array in arrays)]
        window.begin()
        shell = _shell(window, hollow, "")
        window.finish()
        return shell


def json_pairs(source: Source, advance: Advance = lambda _bytes: None) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each member of a JSON object; those that stand twice too, on each level.

    Objects inside are `Pairs`. Lone surrogates stay as they are.

    Args:
        source: the document; plain or gzip.
        advance: told of the bytes read.

    Raises:
        IngestError: where the document is no whole JSON object.
    """
    with open_file(source) as raw:
        window = _Window(expanded(raw, source, advance), source)
        if window.begin() != "{":
            raise IngestError(f"{source.name} is no JSON object; write it as one")
        for name in _names(window, "", may_repeat=True):
            yield name, window.value(shown_text(name), _PAIRS)
        window.finish()


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
        if (first := window.begin()) != "{":
            raise IngestError(
                f"{source.name} begins with {first!r}, so that it is no JSON object; name an object, or copy the file "
                "again"
            )
        for name in _names(window, ""):
            if window.peek() == "[":
                for index, value in enumerate(_elements(window, name)):
                    yield name, index, value
            else:
                yield name, None, window.value(name)
        window.finish()


def printable(name: str) -> str:
    r"""Return the name of a member for a message: on one line and not long, whatever it holds.

    >>> print(printable("a\n\x00b"))
    a\n\x00b
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in name[:300])


def _items(window: _Window, path: list[str], place: str) -> Iterator[Any]:
    first = window.peek()
    if first == "[" and not path:
        yield from _elements(window, place)
    elif first == "{" and path:
        for name in _names(window, place):
            inner = _inside(place, name)
            if name == path[0]:
                yield from _items(window, path[1:], inner)
            else:
                _leave_out(window, inner, _TAKEN_APART)
    else:
        _leave_out(window, place, _TAKEN_APART)


def _shell(window: _Window, hollow: list[list[str]], place: str) -> Any:
    first = window.peek()
    if first == "[" and [] in hollow:
        for _element in _elements(window, place):
            pass
        return []
    if first != "{" or not hollow:
        return window.value(place)
    return {
        name: _shell(window, [path[1:] for path in hollow if path[:1] == [name]], _inside(place, name))
        for name in _names(window, place)
    }


def _leave_out(window: _Window, place: str, room: int) -> None:
    first = window.peek()
    if first == "{" and room:
        for name in _names(window, place):
            _leave_out(window, _inside(place, name), room - 1)
    elif first == "[" and room:
        for index in _indexes(window, place):
            _leave_out(window, f"{place}[{index}]", room - 1)
    else:
        window.value(place)


def _names(window: _Window, place: str, *, may_repeat: bool = False) -> Iterator[str]:
    """Yield the names of an object's members; the value of each must be taken before the next is asked for."""
    window.at += 1
    if window.peek() == "}":
        window.at += 1
        return
    seen: set[str] = set()
    while True:
        if window.peek() != '"':
            raise window.broken(place, "expecting a name in double quotes", window.at)
        name = str(window.value(place))
        if window.peek() != ":":
            raise window.broken(_inside(place, name), "expecting ':'", window.at)
        window.at += 1
        if not may_repeat:
            if name in seen:
                raise IngestError(f"{window.place(place)} {TwiceError(name)}")
            seen.add(name)
        yield name
        if window.ends("}", _inside(place, name)):
            return


def _elements(window: _Window, place: str) -> Iterator[Any]:
    """Yield an array's elements."""
    window.at += 1
    if window.peek() == "]":
        window.at += 1
        return
    index = 0
    while True:
        run = window.run()
        yield from run
        index += len(run)
        element = f"{place}[{index}]"
        yield window.value(element)
        if window.ends("]", element):
            return
        window.peek()
        index += 1


def _indexes(window: _Window, place: str) -> Iterator[int]:
    """Yield the indexes of an array's elements; each element must be taken before the next is asked for."""
    window.at += 1
    if window.peek() == "]":
        window.at += 1
        return
    index = 0
    while True:
        yield index
        if window.ends("]", f"{place}[{index}]"):
            return
        index += 1


def _inside(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


class _Window:
    """The part of a text that is being looked at; what lies before `at` was taken."""

    def __init__(self, stream: IO[bytes], source: Source) -> None:
        self._stream, self._source = stream, source
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text, self._is_whole, self._has_surrogates = "", False, False
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

    def begin(self) -> str:
        """Return the first character that is no white space.

        Raises:
            IngestError: where the file has none.
        """
        found = self.peek()
        if not found:
            raise IngestError(f"{self._source.name} is empty; write or copy the file again")
        return found

    def finish(self) -> None:
        """Make sure that nothing more follows."""
        if self.peek():
            raise self.broken("", "more text after its end", self.at)

    def ends(self, closing: str, place: str) -> bool:
        """Take a comma or the closing bracket, and return whether it was the bracket."""
        found = self.peek()
        if found not in ("," + closing) or not found:
            raise self.broken(place, f"expecting ',' or '{closing}'", self.at)
        self.at += 1
        return found == closing

    def run(self) -> list[Any]:
        """Take the elements of an array that stand whole in the window, each with a comma after it."""
        found: list[Any] = []
        text, at = self._text, self.at
        if self._has_surrogates:
            return found
        try:
            while True:
                value, end = JSON.raw_decode(text, at)
                if text[end] != ",":
                    break
                found.append(value)
                at = end + 1
                while text[at] in " \n\r\t":
                    at += 1
        except (ValueError, RecursionError, IndexError):
            # Cut at the end of the window, or wrong: taken alone it is read on, or told of.
            pass
        self.at = at
        return found

    def value(self, place: str, decoder: json.JSONDecoder = JSON) -> Any:
        """Take one value."""
        self.peek()
        while True:
            trouble: json.JSONDecodeError | None = None
            end = len(self._text)
            try:
                value, end = decoder.raw_decode(self._text, self.at)
            except json.JSONDecodeError as error:
                trouble = error
            except TwiceError as error:
                raise IngestError(f"{self.place(place)} {error}") from None
            except RecursionError:
                raise IngestError(f"{self.place(place)} nests too deep to be a result; leave it out") from None
            if trouble is None and (self._is_whole or self._is_past(end)):
                if self._has_surrogates and decoder is JSON and _SURROGATE.search(self._text, self.at, end):
                    value = json_value(self._text[self.at : end].encode(), self.place(place))
                self.at = end
                return value
            if trouble is not None and (self._is_whole or not self._might_go_on(trouble)):
                raise self.broken(place, trouble.msg, trouble.pos)
            if len(self._text) - self.at > LARGEST_PART:
                limit = f"{LARGEST_PART // 2**20} MiB"
                raise IngestError(f"{self.place(place)} is longer than {limit}; leave it out")
            self._read_on()

    def broken(self, place: str, why: str, position: int) -> IngestError:
        """Return the error for what cannot be read at a position of the window."""
        if not self._is_whole:
            # A few more characters tell an error in the middle of a file from its end.
            self._text += self._decoded(self._stream.read(_NEAR_END), self._text)
        before = self._text[:position]
        line = self._lines + before.count("\n") + 1
        column = len(before) - before.rfind("\n") + (0 if "\n" in before else self._column)
        rest = self._text[position:]
        # Where it was cut says nothing of the member that happens to stand there.
        return not_json(self.place("" if is_cut_off(why, rest) else place), why, rest, f"line {line} column {column}")

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
        self._has_surrogates = "\\ud" in self._text or "\\uD" in self._text
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

    def place(self, place: str) -> str:
        """Return a place in the file in words."""
        return f"{self._source.name}: {printable(place)}" if place else self._source.name
