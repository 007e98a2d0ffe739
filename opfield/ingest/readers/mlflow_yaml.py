"""The flat part of a `meta.yaml` as MLflow writes it: top-level keys with scalar values, and nothing more of YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from opfield.ingest.records import IngestError

_KEY: Final = re.compile(r"([A-Za-z_][\w.-]*):(?:[ \t]+(.*))?")
_SINGLE: Final = re.compile(r"'((?:[^']|'')*)'")
_DOUBLE: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_NAMED: Final = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
#: What YAML takes for white space: other spaces of Unicode are part of a text.
_BLANK: Final = " \t\r"
_NULLS: Final = ("", "~", "null", "Null", "NULL")


def flat_yaml(text: str, place: str) -> Mapping[str, str | None]:
    r"""Return the scalars of a flat mapping as text, null as None; keys with lists or mappings are left out.

    Args:
        text: content of the file.
        place: name of the file, for messages.

    Raises:
        IngestError: where a line is none of a flat mapping, a key stands twice, or a quoted text has no end.

    >>> dict(flat_yaml("name: 'it''s'\nstatus: 3\ntags: []\nend_time: null\n", "meta.yaml"))
    {'name': "it's", 'status': '3', 'end_time': None}
    """
    parts: dict[str, tuple[int, list[str]]] = {}
    last: list[str] | None = None
    for number, line in enumerate(_lines(text), 1):
        if found := _KEY.fullmatch(line.rstrip(_BLANK)):
            if found[1] in parts:
                raise IngestError(f"{place}: line {number} states {found[1]!r} a second time; mend it there")
            last = [found[2] or ""]
            parts[found[1]] = number, last
        elif not line.strip(_BLANK) or line[0] in " \t" or line.startswith("- "):
            if last is not None:
                last.append(line.strip(_BLANK))
        elif not line.startswith(("#", "---", "...")):
            raise IngestError(f"{place}: line {number} is no `key: value` ({line[:60]!r}); mend it there")
    scalars: dict[str, str | None] = {}
    for key, (number, pieces) in parts.items():
        while len(pieces) > 1 and not pieces[-1]:
            pieces.pop()
        first = pieces[0]
        if first.startswith(("'", '"')):
            scalars[key] = _quoted(pieces, f"{place}: line {number}")
        elif first.startswith(tuple("[{&*!|>%@`")) or (not first and len(pieces) > 1):
            continue
        else:
            plain = re.sub(r"(^|[ \t])#.*", "", _folded(pieces)).strip(_BLANK)
            scalars[key] = None if plain in _NULLS else plain
    return scalars


def _lines(text: str) -> list[str]:
    # Not splitlines: YAML texts hold separators of Unicode that end no line of a file.
    return text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")


def _quoted(pieces: list[str], place: str) -> str:
    if pieces[0].startswith("'"):
        single = _SINGLE.fullmatch(_folded(pieces))
        if single is not None:
            return single[1].replace("''", "'")
    else:
        double = _DOUBLE.fullmatch(_folded(pieces))
        if double is not None:
            return _ESCAPE.sub(_unescaped, double[1])
    raise IngestError(f"{place} holds a quoted text without an end ({json.dumps(pieces[0][:60])}); mend it there")


def _folded(pieces: list[str]) -> str:
    """Join lines as YAML does: one break is a space, further ones are kept, an escaped one is nothing."""
    text, breaks = pieces[0], 0
    for piece in pieces[1:]:
        if not piece:
            breaks += 1
            continue
        if text.startswith('"') and (len(text) - len(text.rstrip("\\"))) % 2 and not breaks:
            text = text[:-1] + piece
        else:
            text += ("\n" * breaks or " ") + piece
        breaks = 0
    return text


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return _NAMED.get(code, code)
