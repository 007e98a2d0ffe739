"""Which column is what: from the options of the command line, over those of a TOML file."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opfield.core import Status
from opfield.errors import DeclarationError, unknown_name
from opfield.ingest.files import open_file
from opfield.ingest.records import IngestError, ReaderOption, Source
from opfield.metric import Metric

OPTIONS: Final = (
    ReaderOption("candidate", "column that names the system; without it each file is one system"),
    ReaderOption("case", "column that identifies the case; give it again for a key of several", is_repeatable=True),
    ReaderOption("suite", "column that says what a case's key is unique in, such as the task"),
    ReaderOption("repeat", "column that numbers repeats; without it a second row of a case is a duplicate"),
    ReaderOption("metric-column", "long form, one row for each cell and metric: column that names the metric"),
    ReaderOption("value-column", "long form: column that holds the value"),
    ReaderOption("input", "column of what the system was asked"),
    ReaderOption("group", "column that is a stratum of the case; may be given again", is_repeatable=True),
    ReaderOption("cluster", "column of the cluster that the case belongs to"),
    ReaderOption("status", "column of the status: success, domain_failure, infrastructure_failure or cancelled"),
    ReaderOption("error", "column whose text, where there is one, says that the trial failed"),
    ReaderOption("errors", "what such a text is: infrastructure_failure (unless given) or domain_failure"),
    ReaderOption("cost", "column of US dollars"),
    ReaderOption("input-tokens", "column of tokens sent"),
    ReaderOption("output-tokens", "column of tokens received"),
    ReaderOption("duration", "column of seconds"),
    ReaderOption("started", "column of the start, ISO 8601"),
    ReaderOption("finished", "column of the end, ISO 8601"),
    ReaderOption("says", "column that describes the system, constant for it; may be given again", is_repeatable=True),
    ReaderOption("mapping", "TOML file of these options, with [metrics.NAME] and [status]", type=Path),
    ReaderOption("delimiter", "character between the fields of a CSV file; taken from its header unless given"),
    ReaderOption("encoding", "encoding of a CSV file; utf-8 unless given"),
)
_BY_NAME: Final = {option.name: option for option in OPTIONS}
_METRIC_MEMBERS: Final = tuple(
    item.name for item in dataclasses.fields(Metric) if item.name not in ("name", "evaluator")
)


@dataclass(frozen=True, slots=True)
class Columns:
    """The column of each role; None where there is none.

    Attributes:
        case: columns of the case's key, at least one.
        candidate: of the system.
        suite: of what the key is unique in.
        repeat: of the repeat.
        metric_column: of the metric's name, in the long form.
        value_column: of the metric's value, in the long form.
        input: of what the system was asked.
        groups: of the strata.
        cluster: of the cluster.
        status: of the status.
        error: of the error's text.
        cost: of US dollars.
        input_tokens: of tokens sent.
        output_tokens: of tokens received.
        duration: of seconds.
        started: of the start.
        finished: of the end.
        says: of what describes the system.
        errors: status of a row with an error's text.
        delimiter: between the fields of a CSV file; None to take it from the header.
        encoding: of a CSV file.
        statuses: status by the text that a file has for it.
        metrics: definition by metric name.
    """

    case: tuple[str, ...]
    candidate: str | None = None
    suite: str | None = None
    repeat: str | None = None
    metric_column: str | None = None
    value_column: str | None = None
    input: str | None = None
    groups: tuple[str, ...] = ()
    cluster: str | None = None
    status: str | None = None
    error: str | None = None
    cost: str | None = None
    input_tokens: str | None = None
    output_tokens: str | None = None
    duration: str | None = None
    started: str | None = None
    finished: str | None = None
    says: tuple[str, ...] = ()
    errors: Status = Status.INFRASTRUCTURE_FAILURE
    delimiter: str | None = None
    encoding: str = "utf-8"
    statuses: Mapping[str, Status] = dataclasses.field(default_factory=dict)
    metrics: Mapping[str, Metric] = dataclasses.field(default_factory=dict)

    @property
    def is_long(self) -> bool:
        """Whether each row is one metric of a cell."""
        return self.metric_column is not None

    def needed(self) -> tuple[str, ...]:
        """Return the columns without which a row is no trial."""
        names = (*self.case, self.candidate, self.suite, self.repeat, self.metric_column, self.value_column)
        return tuple(name for name in names if name is not None)

    def further(self) -> tuple[str, ...]:
        """Return the columns that a row may lack."""
        names = (
            self.input, *self.groups, self.cluster, self.status, self.error, self.cost, self.input_tokens,
            self.output_tokens, self.duration, self.started, self.finished, *self.says,
        )  # fmt: skip
        return tuple(name for name in names if name is not None)


def columns_of(options: Mapping[str, Any]) -> Columns:
    """Return the mapping that a user gave.

    Raises:
        IngestError: where a name is unknown, a value is of the wrong type, or no case is named.
    """
    path = options.get("mapping")
    given = {} if path is None else _file(Path(path))
    metrics, statuses = given.pop("metrics", {}), given.pop("status_values", {})
    given |= {name: value for name, value in options.items() if name in _BY_NAME and value not in (None, (), [])}
    given.pop("mapping", None)
    errors = given.pop("errors", Status.INFRASTRUCTURE_FAILURE.value)
    if errors not in (Status.INFRASTRUCTURE_FAILURE, Status.DOMAIN_FAILURE):
        raise IngestError(f"--errors is infrastructure_failure or domain_failure, not {errors!r}")
    if not given.get("case"):
        raise IngestError("no column identifies the case; name it with --case COLUMN, never by its position")
    if ("metric-column" in given) != ("value-column" in given):
        raise IngestError("the long form needs both --metric-column and --value-column; name the other one too")
    delimiter = given.get("delimiter")
    if delimiter is not None:
        delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n ':
            raise IngestError(f"--delimiter is one character such as , ; or | (or the word tab), not {delimiter!r}")
        given["delimiter"] = delimiter
    members = {name.replace("-", "_"): value for name, value in given.items()}
    members["groups"] = tuple(members.pop("group", ()))
    for name in ("case", "says"):
        members[name] = tuple(members.get(name, ()))
    return Columns(**members, errors=Status(errors), metrics=metrics, statuses=statuses)


def _file(path: Path) -> dict[str, Any]:
    """Return the options of a TOML file, and `metrics` and `status_values` as they are used."""
    try:
        with open_file(Source(path, f"--mapping {path.name}")) as file:
            document = tomllib.loads(file.read().decode("utf-8"))
    except OSError as error:
        raise IngestError(f"--mapping {path.name} cannot be read ({error.strerror}); name a TOML file") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise IngestError(f"--mapping {path.name} is not TOML: {error}; mend it there") from None
    place = f"--mapping {path.name}"
    metrics, statuses = document.pop("metrics", {}), None
    if isinstance(document.get("status"), dict):
        statuses = document.pop("status")
        # A table of values may name its column too, since TOML has room for one `status` only.
        if "column" in statuses:
            document["status"] = statuses.pop("column")
    for name, value in document.items():
        if name not in _BY_NAME or name == "mapping":
            known = [*_BY_NAME, "metrics"]
            known.remove("mapping")
            raise IngestError(f"{place}: {unknown_name('option', name, known)}")
        document[name] = _typed(place, name, value)
    if not isinstance(metrics, dict) or not all(isinstance(value, dict) for value in metrics.values()):
        raise IngestError(f"{place}: a metric is a table; write [metrics.NAME]")
    found = {name: _metric(place, name, members) for name, members in metrics.items()}
    return document | {"metrics": found, "status_values": _statuses(place, statuses or {})}


def _typed(place: str, name: str, value: Any) -> Any:
    if isinstance(value, str):
        return (value,) if _BY_NAME[name].is_repeatable else value
    if _BY_NAME[name].is_repeatable and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    wanted = "a text or a list of texts" if _BY_NAME[name].is_repeatable else "a text"
    raise IngestError(f"{place}: {name} is {wanted}, not {value!r}")


def _metric(place: str, name: str, members: Mapping[str, Any]) -> Metric:
    for member in members:
        if member not in _METRIC_MEMBERS:
            raise IngestError(f"{place}: {unknown_name(f'member of [metrics.{name}]', member, _METRIC_MEMBERS)}")
    try:
        return Metric(name, **members)
    except DeclarationError as error:
        raise IngestError(f"{place}: {error}") from None


def _statuses(place: str, values: Mapping[str, Any]) -> dict[str, Status]:
    found = {}
    for text, name in values.items():
        if not isinstance(name, str) or name not in set(Status):
            known = ", ".join(Status)
            raise IngestError(f"{place}: [status] maps {text!r} to {name!r}, which is none of {known}")
        found[text] = Status(name)
    return found
