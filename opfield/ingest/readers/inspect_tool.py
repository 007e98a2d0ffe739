"""Logs as Inspect itself reads them: for versions of the format that are not read plainly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from opfield.ingest.files import Advance
from opfield.ingest.records import IngestError, Source


def read_with_tool(
    source: Source, form: Literal["eval", "json"], version: Any
) -> tuple[dict[str, Any], Callable[[Advance], Iterator[tuple[str, Any]]]]:
    """Return the header of a log, and what yields place and sample, in the form of a log that is read plainly.

    Inspect holds the whole log in memory while it yields samples: its way of reading them one by one passes over those
    that the header does not list.

    Args:
        source: the log.
        form: whether it is an archive or a JSON document.
        version: version that the log states, for messages.

    Raises:
        IngestError: where Inspect is not installed, or refuses the log.
    """
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise IngestError(
            f"{source.name} is of version {version}, and reading it takes Inspect itself, which is not installed; "
            "pip install 'opfield[inspect]'"
        ) from None

    def told(error: Exception) -> IngestError:
        why = " ".join(str(error.__cause__ or error).split())[:300]
        return IngestError(
            f"{source.name} is refused by Inspect itself ({why}); upgrade with pip install -U inspect-ai, or leave "
            "it out"
        )

    path = str(source.path)
    try:
        header = _as_json(read_eval_log(path, header_only=True, format=form))
    except Exception:  # Inspect raises whatever its parts raise
        # It reads some headers only together with the samples, such as one that states no version.
        try:
            header = _as_json(read_eval_log(path, format=form))
        except Exception as error:
            raise told(error) from None

    def samples(advance: Advance) -> Iterator[tuple[str, Any]]:
        try:
            for sample in read_eval_log(path, format=form).samples or ():
                yield f"{source.name}: sample {sample.id!r} epoch {sample.epoch}", _as_json(sample)
        except Exception as error:
            raise told(error) from None
        advance(source.path.stat().st_size)

    return header, samples


def _as_json(value: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = value.model_dump(
        mode="json", exclude_unset=True, exclude_none=True, fallback=str, exclude={"samples", "reductions"}
    )
    return dumped
