"""The space of both campaigns: interventions, with what each invalidates as the plan of a trial says it (§22.2)."""

from __future__ import annotations

import opfield as of
from opfield.interpret import Causality
from opfield_rag.plugin import DESCRIPTORS, trial
from opfield_rag.spec import OPTICS, PATCHES, RULES, SPEC_SCHEMA, Spec, read_parameter


def rag_space() -> of.OpticSpace:
    """Return the space: 24-word chunks, 4 words of overlap, equal weights, two chunks; seven patches."""
    return of.OpticSpace(
        id="ragtoy.space/v1",
        schema=SPEC_SCHEMA,
        spec=Spec().model_dump(mode="json"),
        optics=OPTICS,
        advertised=PATCHES,
        read_value=read_parameter,
        causes=Causality(trial, DESCRIPTORS, RULES),
    )
