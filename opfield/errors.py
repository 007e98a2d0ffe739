"""The one error base of opfield; every subclass says what happened and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class OpfieldError(Exception):
    """Something is wrong that the caller can mend; the message says what and how."""

    def __init__(self, message: str | None = None) -> None:
        """Keep `message`, or the class's own docstring where none is given."""
        super().__init__(message if message is not None else (type(self).__doc__ or "").strip())


class IdentityError(OpfieldError):
    """A value has no canonical form, or a digest does not match its content. Correct the value named in the message."""


class DeclarationError(OpfieldError):
    """A campaign, space, workload or policy is declared wrongly. Nothing was recorded; correct the declaration."""


class WarehouseError(OpfieldError):
    """The warehouse folder cannot be used as it stands. The message names the file and the remedy."""


class HeldError(WarehouseError):
    """Another process is writing this campaign. Wait for it, or stop it, then try again."""


class LostRaceError(WarehouseError):
    """Another writer published this slot first. Reload the history and decide again."""


class DamageError(WarehouseError):
    """A file of the warehouse was altered after it was written. `opfield audit` lists every finding."""


class HistoryError(OpfieldError):
    """An event breaks the laws of a campaign's history. Nothing was recorded."""


class PlanError(OpfieldError):
    """A plan does not fit together, or not with the operations that are registered. The message says where."""


class PluginError(OpfieldError):
    """A plugin cannot be admitted. Nothing was registered; the message lists everything that stands in the way."""


class ProtocolError(OpfieldError):
    """A worker does not keep to the protocol. It was ended; mend the worker."""


class UnknownNameError(OpfieldError):
    """A name is not among the known ones; the message lists them."""


def unknown_name(what: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """Return the error for a `name` that is none of the `known` ones, nearest first.

    >>> str(unknown_name("metric", "recal", ["mrr", "recall"]))
    "unknown metric 'recal'; did you mean 'recall'? known: mrr, recall"
    """
    listed = sorted(known)
    near = difflib.get_close_matches(name, listed, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return UnknownNameError(f"unknown {what} {name!r}; {hint}known: {', '.join(listed) or 'none'}")
