"""What a reader says of a tool's files, one record at a time; it reads and names, and decides nothing.

A reader never pairs, counts, averages or drops: it says what stands in a file and where. What belongs together, what is
refused and what the numbers amount to is decided afterwards, in SQL over all that was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from opfield.core import Failure, MissingReason, Status
from opfield.errors import DeclarationError
from opfield.metric import Metric

#: What a case or a repeat is known by in a file; the type is part of it, so that 1 and "1" are never one case.
Key = str | int


class IngestError(DeclarationError):
    """A file cannot be taken in as it stands. Nothing was recorded; the message names the place and the remedy."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file or folder that the user named, or that was found in a folder that the user named.

    Attributes:
        path: where it is.
        name: what it is called in messages and labels: its name below the folder that the user gave.
    """

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class System:
    """A system under test, that is one arm: it is announced before its first sample.

    Attributes:
        key: identity among all systems of one reading; samples refer to it.
        label: short name for people, such as the file's name or the model; unique labels are made later.
        place: where it is stated, such as `base.eval: header`.
        says: JSON object of what the file says about the system: tool, version, model, prompt, arguments. It holds
            nothing of the run, such as times, ids and results: two runs of one system say the same.
        aliases: other names by which a user may call it, such as the run's id.
        run: the run's own identity where the tool gives one; two files with one identity are refused.
    """

    key: str
    label: str
    place: str
    says: Mapping[str, Any]
    aliases: tuple[str, ...] = ()
    run: str | None = None


@dataclass(frozen=True, slots=True)
class MetricStated:
    """A metric that samples carry values of: it is announced before the first of them, and as often as is convenient.

    Attributes:
        metric: its definition, as far as the tool's format gives one.
        place: where it is stated.
    """

    metric: Metric
    place: str


@dataclass(frozen=True, slots=True)
class CaseRef:
    """Which case a sample is of.

    Attributes:
        key: its stable key in the tool: an id, never a position.
        suite: what the key is unique in, such as a task or a dataset; empty where files hold one suite.
    """

    key: Key
    suite: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """One trial that a file tells of: it becomes one cell.

    Attributes:
        system: key of its system.
        case: its case.
        place: where it stands, such as `run.jsonl: line 7`.
        repeat: which repeat the file says it is; None where the file has no notion of repeats, so that a second sample
            of the case is a duplicate; `OBSERVED` where the tool repeats cases without numbering them.
        input: JSON value that the system was asked, the same for the same question in every tool: the text alone where
            it is one text. None where the file does not hold it.
        values: metric name to its finite value.
        missing: metric name to why the sample has no value of it.
        status: `success`, where it carries what the tool counts; `domain_failure`, where the system under test failed;
            `infrastructure_failure`, where something around it did; `cancelled`, where it never finished.
        failure: what went wrong; None exactly on success.
        groups: strata of the case.
        cluster: cluster of the case; None where it is its own unit.
        cost_usd: money spent, retries and judges included; None where the file does not say.
        input_tokens: tokens sent to models; None where the file does not say.
        output_tokens: tokens received from models; None where the file does not say.
        duration_s: seconds it took; None where the file does not say.
        started_at: start as the file gives it: ISO 8601 text, with a zone or naive.
        finished_at: end, likewise.
        attempts: attempts that the file tells of, at least 1.
        content: JSON value or bytes to keep as native evidence; None where there is nothing more to keep.
    """

    system: str
    case: CaseRef
    place: str
    repeat: Key | Observed | None = None
    input: Any = None
    values: Mapping[str, float] = field(default_factory=dict)
    missing: Mapping[str, MissingReason] = field(default_factory=dict)
    status: Status = Status.SUCCESS
    failure: Failure | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    duration_s: float | None = None
    started_at: str | None = None
    finished_at: str | None = None
    attempts: int = 1
    content: Any = None


@dataclass(frozen=True, slots=True)
class Observed:
    """Marks a sample of a tool that repeats cases without numbering them: repeats are then counted, not declared."""


OBSERVED: Final = Observed()


@dataclass(frozen=True, slots=True)
class Expected:
    """Trials that a file declares, whether or not it holds them: what lacks a sample is a cell that is missing.

    Attributes:
        system: key of the system.
        case: the case; announced for every case that the file declares, with or without a sample.
        place: where it is declared.
        repeats: how many repeats of it the file declares.
        input: as in `Sample`; None where the declaration does not hold it.
        absence: why a sample may be missing, as a short stable code: `missing` in a finished file that lacks it,
            `not_finished` where the run was stopped before it.
        groups: strata of the case.
    """

    system: str
    case: CaseRef
    place: str
    repeats: int = 1
    input: Any = None
    absence: Literal["missing", "not_finished"] = "missing"
    groups: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stated:
    """A figure that a file states about a system, to be set beside what its samples amount to.

    Attributes:
        system: key of the system.
        figure: `mean`: mean of a metric over cases, each the mean of its repeats; `samples`: trials declared;
            `scored`: trials that the tool counted.
        value: the figure.
        place: where it is stated.
        metric: metric of a mean; None for counts.
        name: what the file calls the figure, such as `accuracy`.
        decimals: decimals that the tool rounds the figure to; None where it does not round.
    """

    system: str
    figure: Literal["mean", "samples", "scored"]
    value: float
    place: str
    metric: str | None = None
    name: str = ""
    decimals: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something that the user should know and that changes nothing, such as `3 samples hit a limit and were scored`."""

    text: str
    place: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that stands in the way of reading; after the last record, all of them end the intake.

    Attributes:
        place: the file, and the line or member.
        reason: what is wrong, with the value.
        remedy: what to do.
    """

    place: str
    reason: str
    remedy: str


Record = System | MetricStated | Sample | Expected | Stated | Note | Refused


@dataclass(frozen=True, slots=True)
class ReaderOption:
    """One option of a reader, `--name` on the command line.

    Attributes:
        name: name of the option, with dashes.
        help: what it means, in words.
        type: str, int, float, bool (a flag) or Path.
        default: value where it is not given.
        is_repeatable: whether it may be given more than once; its value is then a tuple.
    """

    name: str
    help: str
    type: type[str] | type[int] | type[float] | type[bool] | type[Path] = str
    default: Any = None
    is_repeatable: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader is asked to read.

    Attributes:
        sources: the files and folders, in the order in which the user named them.
        options: value of each of the reader's options, by name.
        metrics: names that the user asked for with `--metric`, in order; empty for all. Most readers may ignore it.
        advance: told how many bytes were read since the last call, for the progress bar.
        optional: those of `metrics` that need not be anywhere, since the user gives one metric several names.
    """

    sources: Sequence[Source]
    options: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    advance: Callable[[int], None] = lambda _bytes: None
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader of one tool's files.

    Attributes:
        name: name on the command line, such as `inspect`.
        description: one line: the tool and its files.
        version: version of the reader; part of the runner's identity of what it read.
        read: yields records; raises `IngestError` where nothing more can be read.
        recognizes: whether a file, or a folder that is one log, looks like one of the tool's; a cheap look at the name
            and the first bytes. Asked for each file of a folder that the user names.
        options: what it takes.
        tool: name of the tool for provenance; the reader's name where empty.
        is_general: whether it reads files of no tool in particular: a survey asks it only where no other knows a file.
    """

    name: str
    description: str
    version: str
    read: Callable[[Reading], Iterator[Record]]
    recognizes: Callable[[Path], bool]
    options: tuple[ReaderOption, ...] = ()
    tool: str = ""
    is_general: bool = False
