"""What readers say, laid down in files as it comes, so that memory stays bounded and SQL can look over all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import duckdb
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from opfield.campaign.failures import failure_as_recorded
from opfield.core import Status, canonical_json
from opfield.core.canonical import MAX_INTEGER
from opfield.errors import IdentityError
from opfield.ingest.records import CaseRef, Expected, Key, MetricStated, Note, Observed, Refused, Sample, Stated, System
from opfield.metric import MAX_MAGNITUDE
from opfield.warehouse.columns import table_of

#: Inputs whose canonical JSON is longer are kept by their digest and beginning; the native evidence holds them whole.
LONGEST_INPUT: Final = 2048
_BEGINNING: Final = 500
_BATCH_ROWS: Final = 2000
_BATCH_BYTES: Final = 8 * 2**20

_CASE: Final = [
    ("system", pa.string()),
    ("suite", pa.string()),
    ("case_key", pa.string()),
    ("key_type", pa.string()),
    ("input_digest", pa.string()),
    ("groups", pa.string()),
    ("cluster", pa.string()),
    ("place", pa.string()),
]
_SAMPLES: Final = pa.schema(
    [
        ("sample_ix", pa.int64()),
        *_CASE,
        ("repeat_type", pa.string()),
        ("repeat_key", pa.string()),
        ("body", pa.binary()),
        ("digest", pa.string()),
        ("content", pa.binary()),
    ]
)
_EXPECTED: Final = pa.schema([*_CASE, ("repeats", pa.int32()), ("absence", pa.string())])


@dataclass(slots=True)
class Told:
    """What was said beside samples and cases: little, so it is kept in memory.

    Attributes:
        systems: systems in the order in which they were announced.
        readers: name of the reader of each system, by the system's key.
        metrics: metric statements, each once.
        stated: figures that files state.
        notes: what the user should know.
        refused: what stands in the way.
        inputs: canonical JSON of an input, or what stands for a long one, by digest.
        samples: number of samples.
        naive_times: number of samples whose times have no zone.
    """

    systems: list[System] = field(default_factory=list)
    readers: dict[str, str] = field(default_factory=dict)
    metrics: list[MetricStated] = field(default_factory=list)
    stated: list[Stated] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    inputs: dict[str, bytes] = field(default_factory=dict)
    samples: int = 0
    naive_times: int = 0


class Spool:
    """Takes records in and lays samples and expected cases down as Parquet files in a folder.

    Attributes:
        folder: where the files lie.
        told: what was said beside them.
    """

    def __init__(self, folder: Path, renames: Mapping[str, str] | None = None) -> None:
        """Start empty; metrics are kept under the names that `renames` gives them."""
        self.folder = folder
        self._renames = renames or {}
        self.told = Told()
        self._samples = _Rows(folder / "samples.parquet", _SAMPLES)
        self._expected = _Rows(folder / "expected.parquet", _EXPECTED)

    def __enter__(self) -> Self:
        """Return the spool itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write out what is waiting, and close the files."""
        self._samples.close()
        self._expected.close()

    def take(self, record: System | MetricStated | Sample | Expected | Stated | Note | Refused) -> None:
        """Take one record in."""
        told = self.told
        if isinstance(record, Sample):
            self._take_sample(record)
        elif isinstance(record, Expected):
            row = self._case(record.system, record.case, record.place, record.input, record.groups, None)
            self._expected.add({**row, "repeats": record.repeats, "absence": record.absence}, len(record.place))
        elif isinstance(record, System):
            told.systems.append(record)
        elif isinstance(record, MetricStated):
            if all(each.metric != record.metric for each in told.metrics):
                told.metrics.append(record)
        elif isinstance(record, Stated):
            metric = None if record.metric is None else self._name(record.metric)
            told.stated.append(replace(record, metric=metric))
        elif isinstance(record, Note):
            told.notes.append(record)
        else:
            told.refused.append(record)

    def _take_sample(self, sample: Sample) -> None:
        started, finished = _instant(sample.started_at), _instant(sample.finished_at)
        self.told.naive_times += bool(
            (sample.started_at and started is None) or (sample.finished_at and finished is None)
        )
        values = self._values(sample)
        failure = None if sample.failure is None else failure_as_recorded(sample.failure, ())
        body = orjson.dumps(
            {
                "status": sample.status.value,
                "values": values,
                "missing": {
                    self._name(name): reason.value
                    for name, reason in sample.missing.items()
                    if self._name(name) not in values
                },
                "failure": None
                if failure is None
                else {"code": failure.code, "message": failure.message, "is_retryable": failure.is_retryable},
                "cost_usd": self._amount("cost_usd", sample.cost_usd, sample.place),
                "input_tokens": self._tokens("input_tokens", sample.input_tokens, sample.place),
                "output_tokens": self._tokens("output_tokens", sample.output_tokens, sample.place),
                "duration_s": self._amount("duration_s", sample.duration_s, sample.place),
                "started_at": started,
                "finished_at": finished,
                "attempts": max(1, sample.attempts),
            },
            option=orjson.OPT_SORT_KEYS,
        )
        if (sample.failure is None) != (sample.status is Status.SUCCESS):
            raise TypeError(f"{sample.place}: a reader gave status {sample.status} with failure {sample.failure}")
        content = None if sample.content is None else evidence_bytes(sample.content)
        repeat_type, repeat_key = _repeat(sample.repeat)
        row = self._case(sample.system, sample.case, sample.place, sample.input, sample.groups, sample.cluster)
        self._samples.add(
            {
                "sample_ix": self.told.samples,
                **row,
                "repeat_type": repeat_type,
                "repeat_key": repeat_key,
                "body": body,
                "digest": _digest(body, content, row),
                "content": content,
            },
            len(body) + len(content or b""),
        )
        self.told.samples += 1

    def _case(
        self, system: str, case: CaseRef, place: str, asked: Any, groups: Mapping[str, str], cluster: str | None
    ) -> dict[str, Any]:
        key, key_type = _key(case.key)
        return {
            "system": system,
            "suite": case.suite,
            "case_key": key,
            "key_type": key_type,
            "input_digest": None if asked is None else self._keep_input(asked),
            "groups": orjson.dumps(dict(groups), option=orjson.OPT_SORT_KEYS).decode(),
            "cluster": cluster,
            "place": place,
        }

    def _keep_input(self, asked: Any) -> str:
        try:
            canonical = canonical_json(asked)
        except (IdentityError, RecursionError):
            # No canonical form, such as NaN inside: the text of it stands for it, the same in every file.
            canonical = canonical_json(evidence_bytes(asked).decode("utf-8", "replace"))
        digest = hashlib.sha256(canonical).hexdigest()
        if digest not in self.told.inputs:
            if len(canonical) > LONGEST_INPUT:
                beginning = canonical[:_BEGINNING].decode("utf-8", "ignore")
                kept = canonical_json({"sha256": digest, "size_bytes": len(canonical), "beginning": beginning})
            else:
                kept = canonical
            self.told.inputs[digest] = kept
        return digest

    def _name(self, metric: str) -> str:
        return self._renames.get(metric, metric)

    def _values(self, sample: Sample) -> dict[str, float]:
        """Return the values of a sample under the names that the user gives them."""
        found: dict[str, float] = {}
        for name, value in sample.values.items():
            if self._name(name) in found:
                twice = f"two metrics of this sample are called {self._name(name)!r}"
                self.told.refused.append(Refused(sample.place, twice, "rename one of them otherwise"))
            elif self._is_value(name, value, sample):
                found[self._name(name)] = value
        return found

    def _is_value(self, name: str, value: float, sample: Sample) -> bool:
        if -MAX_MAGNITUDE <= value <= MAX_MAGNITUDE:
            return True
        self.told.refused.append(
            Refused(
                sample.place, f"metric {name!r} is {value!r}, which is no number", "the reader must tell it missing"
            )
        )
        return False

    def _amount(self, name: str, value: float | None, place: str) -> float | None:
        if value is None or 0 <= value <= MAX_MAGNITUDE:
            return value
        self.told.notes.append(Note(f"{name} is {value!r}, which is no amount; it is taken as unknown", place))
        return None

    def _tokens(self, name: str, value: int | None, place: str) -> int | None:
        if value is None or (isinstance(value, int) and 0 <= value <= MAX_INTEGER):
            return value
        self.told.notes.append(Note(f"{name} is {value!r}, which is no count; it is taken as unknown", place))
        return None


def evidence_bytes(content: Any) -> bytes:
    """Return native evidence as bytes: bytes as they are, a JSON value with sorted keys, what JSON lacks as null."""
    if isinstance(content, bytes):
        return content
    try:
        return orjson.dumps(content, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except (TypeError, orjson.JSONEncodeError):
        # Integers beyond 64 bits, lone surrogates, deep nesting, or a value of the reader's own type.
        pass
    try:
        return json.dumps(content, sort_keys=True, default=str).encode("utf-8", "replace")
    except RecursionError:
        return b'"nested too deep to be kept"'


def read_samples(folder: Path, columns: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the samples of a spool, in the order in which they were read."""
    with pq.ParquetFile(folder / "samples.parquet") as file:
        for group in range(file.num_row_groups):
            yield from file.read_row_group(group, columns=columns).to_pylist()


def spooled(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Create the views `samples` and `expected` over what a spool laid down."""
    for table in ("samples", "expected"):
        path = str(folder / f"{table}.parquet").replace("'", "''")
        con.execute(f"create view {table} as from read_parquet('{path}')")


class _Rows:
    """Rows on their way to one Parquet file."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._writer = pq.ParquetWriter(path, schema, compression="zstd", compression_level=1, use_dictionary=False)
        self._waiting: list[dict[str, Any]] = []
        self._bytes = 0

    def add(self, row: dict[str, Any], size: int) -> None:
        self._waiting.append(row)
        self._bytes += size
        if len(self._waiting) >= _BATCH_ROWS or self._bytes >= _BATCH_BYTES:
            self._write()

    def close(self) -> None:
        if self._waiting:
            self._write()
        self._writer.close()

    def _write(self) -> None:
        columns = {name: [row[name] for row in self._waiting] for name in self._schema.names}
        self._writer.write_table(table_of(columns, self._schema))
        self._waiting, self._bytes = [], 0


def _digest(body: bytes, content: bytes | None, case: Mapping[str, Any]) -> str:
    """Return a digest over everything that a sample says: two with one digest are one sample told twice."""
    state = hashlib.sha256(body)
    for member in ("input_digest", "groups", "cluster"):
        state.update(b"\0" + str(case[member]).encode("utf-8", "replace"))
    state.update(b"\0" + (content or b""))
    return state.hexdigest()


def _key(key: Key) -> tuple[str, str]:
    return (key, "text") if isinstance(key, str) else (str(key), "number")


def _repeat(repeat: Key | Observed | None) -> tuple[str, str | None]:
    if repeat is None:
        return "none", None
    if isinstance(repeat, Observed):
        return "observed", None
    key, key_type = _key(repeat)
    return key_type, key


def _instant(text: str | None) -> str | None:
    """Return an ISO 8601 time as the ledger writes it, in UTC; None where it has no zone or is no time."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
