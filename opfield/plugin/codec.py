"""Codecs: what a schema's payload is in Python, and back; a payload is never trusted (§C.4)."""

from __future__ import annotations

import base64
import binascii
import builtins
import json
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUserError

from opfield.core import canonical_json, decode_payload, encode_payload, parse_json
from opfield.errors import DeclarationError, IdentityError
from opfield.plugin.arrow import check_plain

Value = TypeVar("Value")


class Codec(Protocol[Value]):
    """Writes values of one schema as JSON payloads and reads them back; each reading gives a value of its own."""

    def encode(self, schema: str, value: Value) -> Any:
        """Return the payload of a value.

        Raises:
            IdentityError: where the value is none of the schema's.
        """
        ...

    def decode(self, schema: str, payload: Any) -> Value:
        """Return the value of a payload.

        Raises:
            IdentityError: where it holds no value of the schema.
        """
        ...


@dataclass(frozen=True, slots=True)
class TypeCodec(Generic[Value]):
    """A pydantic model, a dataclass or a built-in type; unknown fields are refused, and text is never a number.

    Attributes:
        type: the type.
    """

    type: type[Value]

    def encode(self, schema: str, value: Value) -> Any:
        """Return the payload of a value of the type."""
        return encode_payload(value, schema, self.type)

    def decode(self, schema: str, payload: Any) -> Value:
        """Return the value of the type in a payload."""
        return decode_payload(payload, schema, self.type)


@dataclass(frozen=True, slots=True)
class JsonCodec:
    """Any JSON value; what is read is a copy, so that changing it changes no envelope."""

    def encode(self, schema: str, value: Any) -> Any:  # noqa: ARG002  the codec's form
        """Return the JSON value, with its canonical form checked by who seals it."""
        return value

    def decode(self, schema: str, payload: Any) -> Any:  # noqa: ARG002  the codec's form
        """Return a copy of the payload."""
        return parse_json(canonical_json(payload))


@dataclass(frozen=True, slots=True)
class ArrowCodec:
    """An Arrow table, as an IPC stream in base64: types, nulls and metadata come back as they were.

    What is read takes no more memory than its payload: a stream that is compressed is refused, and so is one of more
    than a million rows that holds less than an eighth of a byte for each.
    """

    def encode(self, schema: str, value: Any) -> Any:
        """Return the payload of a `pyarrow.Table`.

        Raises:
            IdentityError: where it is none, or would not be read back.
        """
        import pyarrow as pa

        if not isinstance(value, pa.Table):
            raise IdentityError(f"value of {schema} is an Arrow table, not {type(value).__name__}")
        sink = pa.BufferOutputStream()
        # In one batch, so that how a table was cut changes no identity.
        with pa.ipc.new_stream(sink, value.schema) as writer:
            writer.write_table(value.combine_chunks())
        content = sink.getvalue().to_pybytes()
        try:
            check_plain(content)
        except ValueError as error:
            raise IdentityError(f"value of {schema} cannot be kept as an Arrow stream: {error}") from None
        return {"arrow": base64.b64encode(content).decode()}

    def decode(self, schema: str, payload: Any) -> Any:
        """Return the `pyarrow.Table` in a payload."""
        import pyarrow as pa

        try:
            (content,) = [base64.b64decode(payload[key], validate=True) for key in ("arrow",) if len(payload) == 1]
            check_plain(content)
            table = pa.ipc.open_stream(content).read_all()
            table.validate(full=True)
        except (KeyError, TypeError, ValueError, OSError, binascii.Error, pa.ArrowException) as error:
            raise IdentityError(f"payload of {schema} is no Arrow table: {error}") from None
        return table


def check_ordered(schema: str, type: Any) -> None:
    """Refuse a type that holds sets: they have no order, so that one value would have many identities.

    Raises:
        DeclarationError: with the remedy.
    """
    if "uniqueItems" in json.dumps(described(type)):
        raise DeclarationError(f"schema {schema} holds a set, which has no order; use a sorted tuple")


def described(type: Any) -> Any:
    """Return the JSON schema of a type's payloads; its name where it has none."""
    try:
        return TypeAdapter(type).json_schema()
    except (PydanticUserError, ValueError, TypeError, AttributeError):
        return {"title": getattr(type, "__qualname__", repr(type))}


def field_names(codec: Any) -> tuple[str, ...]:
    """Return the fields of what a codec reads: those of a model or a dataclass, none of anything else."""
    type = codec.type if isinstance(codec, TypeCodec) else None
    if isinstance(type, builtins.type) and issubclass(type, BaseModel):
        return tuple(type.model_fields)
    return tuple(each.name for each in fields(type)) if is_dataclass(type) else ()
