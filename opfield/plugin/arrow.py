"""Arrow streams that nobody has to trust: what they unfold to is bounded by what they are before it is unfolded.

A stream of so many bytes is refused where a batch in it is compressed, and where its batches claim more rows than
bytes can hold, which columns without content and runs can, at any depth. What is left is a view of the bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final

#: Rows that a stream may hold however short it is; a longer one may hold 8 for each byte, as a column of bits does.
MOST_FREE_ROWS: Final = 1_000_000

# Members of the flatbuffers that frame a stream, by their place in the format's tables (Message.fbs).
_HEADER_KIND, _HEADER = 1, 2
_DICTIONARY, _BATCH = 2, 3
_LENGTH, _NODES, _COMPRESSION, _DICTIONARY_DATA = 0, 1, 3, 1
#: What is told of each column and of each part of a nested one: its length, and how many of it are null.
_NODE: Final = struct.Struct("<qq")
#: How the format said it before it had a member for it.
_EARLY_COMPRESSION: Final = b"ARROW:experimental_compression"


def check_plain(content: bytes) -> None:
    """Refuse a stream that unfolds to more than it is.

    Raises:
        ValueError: where it does, or is no stream.
    """
    rows = 0
    for metadata in _messages(content):
        try:
            length, is_compressed = _batch(metadata)
        except (struct.error, IndexError) as error:
            raise ValueError(f"a message of it cannot be read: {error}") from None
        if is_compressed or _EARLY_COMPRESSION in metadata:
            raise ValueError("it is compressed; write the stream without compression")
        rows += length
    allowed = max(MOST_FREE_ROWS, 8 * len(content))
    if rows > allowed:
        raise ValueError(f"it claims {rows:,} rows in {len(content):,} bytes; at most {allowed:,} are read")


def _messages(content: bytes) -> Iterator[bytes]:
    """Yield the metadata of each message of a stream."""
    import pyarrow as pa

    reader: Any = pa.ipc.MessageReader.open_stream(content)
    while True:
        try:
            message = reader.read_next_message()
        except StopIteration:
            return
        yield message.metadata.to_pybytes()


def _batch(metadata: bytes) -> tuple[int, bool]:
    """Return the most rows that a part of a batch has, and whether it is compressed; none for another message."""
    message = _Table.root(metadata)
    kind_at = message.member(_HEADER_KIND)
    kind = 0 if kind_at is None else metadata[kind_at]
    if kind not in (_DICTIONARY, _BATCH):
        return 0, False
    batch = message.table(_HEADER)
    if batch is not None and kind == _DICTIONARY:
        batch = batch.table(_DICTIONARY_DATA)
    if batch is None:
        return 0, False
    length_at, nodes_at = batch.member(_LENGTH), batch.member(_NODES)
    lengths = [0 if length_at is None else int(struct.unpack_from("<q", metadata, length_at)[0])]
    if nodes_at is not None:
        nodes_at += int(struct.unpack_from("<I", metadata, nodes_at)[0])
        count = int(struct.unpack_from("<I", metadata, nodes_at)[0])
        told = metadata[nodes_at + 4 : nodes_at + 4 + count * _NODE.size]
        lengths += (length for length, _ in _NODE.iter_unpack(told))
    if min(lengths) < 0:
        raise ValueError(f"a batch claims {min(lengths)} rows")
    return max(lengths), batch.member(_COMPRESSION) is not None


class _Table:
    """A table of a flatbuffer: its members stand where its list of offsets says."""

    def __init__(self, content: bytes, at: int) -> None:
        self._content = content
        self._at = at
        self._offsets = at - self._number("<i", at)
        if at < 0 or self._offsets < 0:
            raise IndexError("an offset leads out of it")

    @classmethod
    def root(cls, content: bytes) -> _Table:
        return cls(content, int(struct.unpack_from("<I", content, 0)[0]))

    def member(self, ix: int) -> int | None:
        """Return where a member stands; None where it is not there."""
        place = 4 + 2 * ix
        if place + 2 > self._number("<H", self._offsets):
            return None
        offset = self._number("<H", self._offsets + place)
        return self._at + offset if offset else None

    def table(self, ix: int) -> _Table | None:
        """Return a member that is a table."""
        at = self.member(ix)
        return None if at is None else _Table(self._content, at + self._number("<I", at))

    def _number(self, form: str, at: int) -> int:
        return int(struct.unpack_from(form, self._content, at)[0])
