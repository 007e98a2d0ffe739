"""What a retrieval system here is configured by, and the lawful interventions on it (§36.6).

Five parameters stand behind a lens each. A patch declares the part that it changes directly; what it invalidates is
computed from the plan of the system. What reads one half of the configuration is given that half, and declares to read
all fields of it: whoever adds a parameter there has declared it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

import opfield as of

SPEC_SCHEMA: Final = "ragtoy.spec/v1"
PARAMETER_SCHEMA: Final = "ragtoy.parameter/v1"


class Chunking(BaseModel):
    """What a build reads of a configuration.

    Attributes:
        chunk_words: words in a chunk; the last chunk of a document may have fewer.
        overlap_words: words that a chunk repeats from the one before it; below `chunk_words`.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    chunk_words: int = Field(default=24, ge=1)
    overlap_words: int = Field(default=4, ge=0)

    @model_validator(mode="after")
    def _chunks_advance(self) -> Self:
        if self.overlap_words >= self.chunk_words:
            raise ValueError(f"overlap_words {self.overlap_words} is not below chunk_words {self.chunk_words}")
        return self


class Querying(BaseModel):
    """What a query reads of a configuration.

    Attributes:
        lexical_weight: weight of the lexical channel in the fused score.
        vector_weight: weight of the vector channel in the fused score.
        top_k: chunks that make up the context.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    lexical_weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    vector_weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    top_k: int = Field(default=2, ge=1)


class Spec(Querying, Chunking):
    """One configuration."""


def fields_of(part: type[BaseModel]) -> tuple[str, ...]:
    """Return the fields of a part of the configuration, as an operation declares to read them.

    >>> fields_of(Chunking)
    ('ragtoy.spec/v1#chunk_words', 'ragtoy.spec/v1#overlap_words')
    """
    return tuple(f"{SPEC_SCHEMA}#{name}" for name in part.model_fields)


#: Parts that only a configuration makes. Fusion and the cut to `top_k` are rules, which new channel scores do not
#: invalidate; the published identity of chunk-34 says so.
RULES: Final = ("query.context", "query.fusion")


def _whole(name: str, value: Any, least: int) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return f"{name} {value!r} is not a whole number"
    return None if value >= least else f"{name} {value} is below {least}"


def _admits_chunk_words(spec: dict[str, Any], value: Any) -> str | None:
    refusal = _whole("chunk_words", value, 1)
    if refusal is None and value <= spec["overlap_words"]:
        return f"chunk_words {value} is not above overlap_words {spec['overlap_words']}"
    return refusal


def _admits_overlap_words(spec: dict[str, Any], value: Any) -> str | None:
    refusal = _whole("overlap_words", value, 0)
    if refusal is None and value >= spec["chunk_words"]:
        return f"overlap_words {value} is not below chunk_words {spec['chunk_words']}"
    return refusal


def _admits_weight(_spec: dict[str, Any], value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return f"a weight is a finite number of at least 0, got {value!r}"
    return None


def _admits_top_k(_spec: dict[str, Any], value: Any) -> str | None:
    return _whole("top_k", value, 1)


_ADMITS: Final[Mapping[str, Callable[[dict[str, Any], Any], str | None]]] = {
    "chunk_words": _admits_chunk_words,
    "overlap_words": _admits_overlap_words,
    "lexical_weight": _admits_weight,
    "vector_weight": _admits_weight,
    "top_k": _admits_top_k,
}

#: The five lenses, by identity.
OPTICS: Final[Mapping[str, of.Lens[dict[str, Any], Any]]] = {
    f"ragtoy.spec.{key}": of.field(key, id=f"ragtoy.spec.{key}", admits=admits) for key, admits in _ADMITS.items()
}


def read_parameter(payload: Any) -> int | float:
    """Return the number in a patch's value, such as {"kind": "int", "int_value": 34} or the like with float.

    Raises:
        RefusedPutError: where the payload is neither.

    >>> read_parameter({"kind": "float", "float_value": 1.75})
    1.75
    """
    match payload:
        case {"kind": "int", "int_value": int(value), **rest} if not rest:
            return value
        case {"kind": "float", "float_value": int(value) | float(value), **rest} if not rest:
            return value
        case _:
            raise of.RefusedPutError(f"{payload!r} is no {PARAMETER_SCHEMA}; expected kind int or float and its value")


def _patch(
    id: str, parameter: str, value: int | float, classes: tuple[str, ...], target: str, hypothesis: str
) -> of.Patch:
    kind = "int" if isinstance(value, int) else "float"
    return of.Patch(
        id=id,
        optic=f"ragtoy.spec.{parameter}",
        value=of.seal(PARAMETER_SCHEMA, {"kind": kind, f"{kind}_value": value}),
        classes=classes,
        targets=(target,),
        hypothesis=hypothesis,
    )


_BUILD: Final = ("knowledge", "relevance")
_QUERY: Final = ("relevance",)

#: The seven interventions, as they are declared: without their closures.
PATCHES: Final = (
    _patch("chunk-14", "chunk_words", 14, _BUILD, "index.chunk", "smaller chunks point more precisely"),
    _patch("chunk-34", "chunk_words", 34, _BUILD, "index.chunk", "larger chunks preserve context"),
    _patch("overlap-8", "overlap_words", 8, _BUILD, "index.chunk", "more overlap cuts fewer thoughts in two"),
    _patch("lexical-1.75", "lexical_weight", 1.75, _QUERY, "query.fusion", "exact words deserve more trust"),
    _patch("vector-1.75", "vector_weight", 1.75, _QUERY, "query.fusion", "shared meaning deserves more trust"),
    _patch("topk-4", "top_k", 4, _QUERY, "query.context", "more chunks reach more of what is relevant"),
    _patch("topk-1", "top_k", 1, _QUERY, "query.context", "one chunk is enough and costs fewer words"),
)
