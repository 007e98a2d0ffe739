"""A retrieval domain for opfield: a toy that can be read whole, and any collection in BEIR layout."""

from opfield_rag.campaigns import domain, rag_campaign
from opfield_rag.space import rag_space
from opfield_rag.spec import Spec

__all__ = ["Spec", "domain", "rag_campaign", "rag_space"]
