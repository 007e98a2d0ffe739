"""Envelopes: a payload together with the schema that says what it means and the digest that proves it whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from opfield.core.canonical import canonical_json, parse_json
from opfield.core.digest import digest
from opfield.errors import IdentityError

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

    Raises:
        IdentityError: where the payload has no canonical form.

    >>> seal("ragtoy.parameter/v1", {"kind": "int", "int_value": 34}).digest[:15]
    'sha256:846553f8'
    """
    if isinstance(payload, BaseModel):
        payload = payload.model_dump(mode="json")
    canonical = canonical_json(payload)
    return Envelope(schema, parse_json(canonical), digest("opfield/envelope/v1", schema, canonical))


def check_envelope(envelope: Envelope) -> None:
    """Recompute the digest.

    Raises:
        IdentityError: where it differs from the one the envelope bears.
    """
    expected = seal(envelope.schema, envelope.payload).digest
    if envelope.digest != expected:
        raise IdentityError(
            f"envelope of {envelope.schema} bears digest {envelope.digest}, its content has {expected}"
        )


def read_envelope(value: Any) -> Envelope:
    """Return the checked envelope in a JSON object {schema, payload, digest}.

    Raises:
        IdentityError: where a member lacks or is unknown, or the digest does not match.
    """
    if not isinstance(value, dict) or set(value) != {"schema", "payload", "digest"}:
        raise IdentityError("an envelope has exactly the members schema, payload and digest")
    envelope = Envelope(str(value["schema"]), value["payload"], str(value["digest"]))
    check_envelope(envelope)
    return envelope


def open_envelope(envelope: Envelope, schema: str, into: type[Decoded]) -> Decoded:
    """Decode the payload into `into`, demanding the exact schema and refusing unknown fields (§29.3).

    Raises:
        IdentityError: for another schema, a wrong digest, or a payload that does not fit.
    """
    if envelope.schema != schema:
        raise IdentityError(f"expected an envelope of {schema}, got one of {envelope.schema}")
    check_envelope(envelope)
    try:
        # JSON mode, since the payload came from JSON: a tuple field accepts a list there even under strict rules.
        return TypeAdapter(into, config=_config(into)).validate_json(
            canonical_json(envelope.payload), extra="forbid"
        )
    except ValidationError as error:
        raise IdentityError(f"payload of {schema} does not fit {into.__name__}: {error}") from None


def _config(into: type[Any]) -> ConfigDict | None:
    # A pydantic model brings its own configuration and must not be given a second one.
    return None if isinstance(into, type) and issubclass(into, BaseModel) else ConfigDict(strict=True)
