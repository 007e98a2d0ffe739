"""Envelopes: a payload, the schema that says what it means, and the digest that proves both whole."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from opfield.core.canonical import canonical_json, parse_json
from opfield.core.digest import digest
from opfield.errors import IdentityError

if TYPE_CHECKING:
    # Loaded where a payload is decoded: most commands decode none, and it takes as long as a small one of them.
    from pydantic import TypeAdapter

Decoded = TypeVar("Decoded")


@dataclass(frozen=True, slots=True)
class Envelope:
    """A schema-bearing value (§18.1).

    Attributes:
        schema: identity of what the payload means, such as `ragtoy.spec/v1`.
        payload: JSON value; never mutated.
        digest: digest over schema and canonical payload.
    """

    schema: str
    payload: Any
    digest: str

    def as_json(self) -> dict[str, Any]:
        """Return {schema, payload, digest}."""
        return {"schema": self.schema, "payload": self.payload, "digest": self.digest}


def seal(schema: str, payload: Any) -> Envelope:
    """Return the envelope of `payload`, a JSON value or a pydantic model.

    The envelope holds a copy: a later change to `payload` does not reach it.

    Raises:
        IdentityError: where the payload has no canonical form, or the schema is no name.

    >>> seal("ragtoy.parameter/v1", {"kind": "int", "int_value": 34}).digest[:15]
    'sha256:846553f8'
    """
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and isinstance(payload, pydantic.BaseModel):
        payload = payload.model_dump(mode="json")
    canonical = canonical_json(payload)
    return Envelope(schema, parse_json(canonical), envelope_digest(schema, canonical))


def envelope_digest(schema: str, canonical: bytes) -> str:
    """Return the digest of the envelope whose payload has the `canonical` form (DESIGN §4).

    Raises:
        IdentityError: where the schema is no name.
    """
    if not isinstance(schema, str) or not schema:
        raise IdentityError(f"an envelope's schema is a name such as 'ragtoy.spec/v1', got {schema!r}")
    return digest("opfield/envelope/v1", schema, canonical)


def check_envelope(envelope: Envelope) -> None:
    """Recompute the digest.

    Raises:
        IdentityError: where it differs from the one the envelope bears.
    """
    expected = envelope_digest(envelope.schema, canonical_json(envelope.payload))
    if envelope.digest != expected:
        raise IdentityError(
            f"envelope of {envelope.schema} bears digest {envelope.digest}, its content has {expected}; "
            "it was altered after it was sealed"
        )


def read_envelope(value: Any) -> Envelope:
    """Return the checked envelope in a JSON object {schema, payload, digest}.

    Raises:
        IdentityError: where a member lacks or is unknown, or the digest does not match.
    """
    if not isinstance(value, dict) or set(value) != {"schema", "payload", "digest"}:
        raise IdentityError("an envelope is a JSON object with exactly the members schema, payload and digest")
    envelope = Envelope(value["schema"], value["payload"], value["digest"])
    check_envelope(envelope)
    return envelope


def open_envelope(envelope: Envelope, schema: str, into: type[Decoded]) -> Decoded:
    """Decode the payload into `into`, demanding the exact schema and refusing unknown fields (§29.3).

    Args:
        envelope: what to decode.
        schema: the only schema that is accepted.
        into: a dataclass, pydantic model or built-in type; text is never read as a number.

    Raises:
        IdentityError: for another schema, a wrong digest, or a payload that does not fit.
    """
    if envelope.schema != schema:
        raise IdentityError(f"expected an envelope of {schema}, got one of {envelope.schema}")
    check_envelope(envelope)
    return decode_payload(envelope.payload, schema, into)


def decode_payload(payload: Any, schema: str, into: type[Decoded]) -> Decoded:
    """Decode a payload that was checked, or is about to be sealed, as `open_envelope` does.

    Raises:
        IdentityError: where it does not fit.
    """
    from pydantic import ValidationError

    adapter: TypeAdapter[Decoded] = _adapter(cast(Any, into))
    try:
        # JSON mode, since the payload came from JSON: there a tuple field accepts a list under strict rules.
        return adapter.validate_json(canonical_json(payload), strict=True, extra="forbid")
    except ValidationError as error:
        found = (
            f"{'.'.join(str(step) for step in each['loc']) or 'payload'}: {each['msg']}"
            for each in error.errors(include_url=False, include_context=False, include_input=False)
        )
        listed = "; ".join(found)
        raise IdentityError(f"payload of {schema} does not fit {error.title}: {listed}") from None


def encode_payload(value: Any, schema: str, type: type[Any]) -> Any:
    """Return the JSON payload of a value, as `decode_payload` reads it back.

    Raises:
        IdentityError: where the value is none of the type.
    """
    try:
        payload = _adapter(cast(Any, type)).dump_python(value, mode="json", warnings="error")
    except (ValueError, TypeError) as error:
        raise IdentityError(f"value of {schema} is no {getattr(type, '__name__', type)}: {error}") from None
    decode_payload(payload, schema, type)
    return payload


@lru_cache(maxsize=256)
def _adapter(into: Any) -> TypeAdapter[Any]:
    # Building one costs a thousand times what using it does.
    from pydantic import TypeAdapter

    return TypeAdapter(into)
