"""Logs of Inspect: where the header, the samples and the scores stand in each of the forms that a log can have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opfield.ingest.files import Advance, first_bytes
from opfield.ingest.json_stream import members
from opfield.ingest.readers.inspect_archive import Archive, open_archive
from opfield.ingest.readers.inspect_scores import Survey
from opfield.ingest.records import IngestError, Source

#: Versions of the log format whose samples are read plainly. A log without one is of version 2, as Inspect takes it.
KNOWN_VERSIONS: Final = (1, 2, 3)
UNSTATED_VERSION: Final = 2

_ZIP: Final = b"PK\x03\x04"
_EMPTY_ZIP: Final = b"PK\x05\x06"
_SAMPLES: Final = "samples/"
#: Arrays that repeat what samples say, or tell of the process; they can be as long as the samples themselves.
_PASSED_OVER: Final = frozenset({"samples", "reductions", "logging"})
_LOOK: Final = 4096
_HEAD: Final = re.compile(rb'\s*\{\s*"(version|status|invalidated|eval)"\s*:')
_EVAL: Final = re.compile(rb'"eval"\s*:\s*\{')


@dataclass(frozen=True, slots=True)
class Log:
    """A log whose header was read and whose scores were surveyed; its samples are read when they are asked for.

    Attributes:
        source: the file.
        header: everything but samples and reductions.
        survey: what its scorers gave.
        samples: yields place and sample, one at a time.
        relogged: how many samples were recorded again under the same name; the last record of each is in force.
    """

    source: Source
    header: Mapping[str, Any]
    survey: Survey
    samples: Callable[[Advance], Iterator[tuple[str, Any]]]
    relogged: int = 0


def open_log(source: Source, via: str, advance: Advance = lambda _bytes: None) -> Log:
    """Read the header of a log and survey its scores.

    Args:
        source: the file: a ZIP archive or a JSON document, whatever its name.
        via: `plain`, `tool`, or `auto`: plainly where the version is known, else by Inspect itself.
        advance: told of the bytes read; a document, which is read twice, tells half of them each time.

    Raises:
        IngestError: where it is no whole log, or of a version that nothing at hand reads.
    """
    is_archive = _is_archive(source.path)
    log = _archived(source) if is_archive else _document(source, advance)
    _check_header(source, log.header)
    version = log.header.get("version", UNSTATED_VERSION)
    if via == "plain" and version not in KNOWN_VERSIONS:
        known = ", ".join(map(str, KNOWN_VERSIONS))
        raise IngestError(
            f"{source.name} is of version {version!r:.20}; versions {known} are read plainly, so leave out --via plain"
        )
    if via == "tool" or version not in KNOWN_VERSIONS:
        # Only here, since importing Inspect takes longer than reading most logs.
        from opfield.ingest.readers.inspect_tool import read_with_tool

        header, samples = read_with_tool(source, "eval" if is_archive else "json", version)
        survey = Survey()
        for _, sample in samples(lambda _bytes: None):
            survey.add(sample)
        log = Log(source, header, survey, samples)
    return Log(log.source, log.header, log.survey.settled(only_scorer(log.header)), log.samples, log.relogged)


def looks_like_log(path: Path) -> bool:
    """Return whether a file looks like a log of Inspect, by its name and its first bytes."""
    if path.suffix == ".eval":
        return path.is_file()
    begin = first_bytes(path, _LOOK)
    if begin.startswith(_ZIP):
        return b"_journal/start.json" in begin[:100]
    begin = begin.removeprefix(b"\xef\xbb\xbf")
    return bool(_HEAD.match(begin) and _EVAL.search(begin))


def only_scorer(header: Mapping[str, Any]) -> str:
    """Return the name of a log's first scorer, which is the only one where a sample does not name it."""
    for score in stated_scores(header):
        if isinstance(score.get("name"), str):
            return str(score["name"])
    scorers = header["eval"].get("scorers")
    if isinstance(scorers, list) and scorers and isinstance(scorers[0], Mapping):
        return str(scorers[0].get("name") or "score")
    return "score"


def stated_scores(header: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the results that a log states of its scorers; one at most in version 1, where it stands by itself."""
    results = header.get("results")
    if not isinstance(results, Mapping):
        return []
    if isinstance(results.get("scorer"), Mapping):
        return [{**results["scorer"], "metrics": results.get("metrics")}]
    scores = results.get("scores") or results.get("scorers")
    return [score for score in scores if isinstance(score, Mapping)] if isinstance(scores, list) else []


def _is_archive(path: Path) -> bool:
    # An archive that lost its beginning is told as a damaged archive, not as text that is no JSON.
    begin = first_bytes(path, _LOOK)
    is_named_so = path.suffix == ".eval" and path.is_file() and not begin.lstrip().startswith(b"{")
    return is_named_so or begin.startswith((_ZIP, _EMPTY_ZIP))


def _check_header(source: Source, header: Any) -> None:
    if not isinstance(header, Mapping) or not isinstance(header.get("eval"), Mapping):
        raise IngestError(f"{source.name} is no log of Inspect: it has no object `eval`; leave it out")
    version = header.get("version", UNSTATED_VERSION)
    if isinstance(version, bool) or not isinstance(version, int):
        raise IngestError(f"{source.name} states version {version!r:.40}, which is no version; leave it out")


def _document(source: Source, advance: Advance) -> Log:
    header: dict[str, Any] = {}
    survey = Survey()
    for name, index, value in members(source, lambda count: advance(count // 2)):
        if index is None:
            header[name] = value
        elif name == "samples":
            survey.add(value)
        elif name not in _PASSED_OVER:
            header.setdefault(name, []).append(value)

    def samples(advance: Advance) -> Iterator[tuple[str, Any]]:
        for name, index, value in members(source, lambda count: advance(count - count // 2)):
            if name == "samples" and index is not None:
                yield f"{source.name}: samples[{index}]", value

    return Log(source, header, survey, samples)


def _archived(source: Source) -> Log:
    with open_archive(source) as archive:
        header = _archived_header(source, archive)
        names = [name for name in archive.names if name.startswith(_SAMPLES) and name.endswith(".json")]
        survey = _archived_survey(archive, names)
        relogged = sum(archive.count(name) - 1 for name in names)

    def samples(advance: Advance) -> Iterator[tuple[str, Any]]:
        with open_archive(source) as archive:
            for name in names:
                latest = archive.json(name)
                for version in range(archive.count(name) - 1):
                    # The same name is the same sample recorded again, except where only the text of the ids is alike.
                    earlier = archive.json(name, version)
                    if _identity(earlier) != _identity(latest):
                        yield archive.place(name), earlier
                yield archive.place(name), latest
                advance(archive.packed_size(name))

    return Log(source, header, survey, samples, relogged)


def _archived_header(source: Source, archive: Archive) -> Any:
    if "header.json" in archive.names:
        return archive.json("header.json")
    if "_journal/start.json" in archive.names:
        # A run that is under way, or crashed, has written only what it started with.
        start = archive.json("_journal/start.json")
        return {**start, "status": "started"} if isinstance(start, dict) else start
    raise IngestError(
        f"{source.name} is no log of Inspect: it holds neither header.json nor _journal/start.json; leave it out"
    )


def _archived_survey(archive: Archive, names: list[str]) -> Survey:
    """Survey the scores by the summaries, which repeat them in little room, or else by the samples."""
    survey = Survey()
    summaries = archive.json("summaries.json") if _is_readable(archive, "summaries.json") else None
    if isinstance(summaries, list) and len(summaries) == len(names):
        for summary in summaries:
            survey.add(summary)
        return survey
    for name in names:
        survey.add(archive.json(name))
    return survey


def _is_readable(archive: Archive, name: str) -> bool:
    return name in archive.names and archive.is_small(name)


def _identity(sample: Any) -> Any:
    if not isinstance(sample, Mapping):
        return None
    return type(sample.get("id")), sample.get("id"), sample.get("epoch")
