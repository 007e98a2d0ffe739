"""Rows become samples by a mapping: one row, one trial, or one metric of a trial in the long form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from opfield.core import Failure, MissingReason, Status
from opfield.errors import DeclarationError
from opfield.ingest.records import CaseRef, Key, MetricStated, Record, Refused, Sample, System
from opfield.ingest.tables.arrow_rows import as_json
from opfield.ingest.tables.json_rows import plain
from opfield.ingest.tables.mapping import Columns
from opfield.ingest.tables.remarks import Remarks
from opfield.ingest.tables.rows import ABSENT, Row, Table, member
from opfield.ingest.tables.scalars import (
    Unfit,
    amount_of,
    count_of,
    joined_key,
    key_of,
    number_of,
    shown,
    text_of,
    time_of,
)
from opfield.metric import Metric

_NO_ERROR: Final = frozenset({"", "nan", "none", "null", "na", "n/a"})


@dataclass(slots=True)
class Cells:
    """Makes samples of the rows of one table after the other, and remembers what must agree between them.

    Attributes:
        columns: which column is what.
        metrics: metrics asked for, in the order asked for; empty for all of a long form.
        systems: system's key to where it was announced and what it says.
        stated: metrics that were announced.
        named: role and text to the key that the text stands for, and where it first stood.
        met: columns that a row of the current table had.
        remarks: collects what is worth a note of the current table.
    """

    columns: Columns
    metrics: tuple[str, ...]
    systems: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    stated: set[str] = field(default_factory=set)
    named: dict[tuple[str, str], tuple[Key, str]] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)
    remarks: Remarks = field(default_factory=Remarks)

    def of(self, table: Table, system: str) -> Iterator[Record]:
        """Yield the records of one table.

        Args:
            table: the file as rows.
            system: key and label of the system where no column names it.
        """
        self.met, self.remarks = set(), Remarks()
        for name in () if self.columns.is_long else self.metrics:
            try:
                yield from self._state(name, f"{table.source.name}: column {name}")
            except Unfit as unfit:
                yield Refused(table.source.name, unfit.reason, unfit.remedy)
        for row in table.rows:
            if not isinstance(row, Row):
                yield row
                continue
            try:
                yield from self._records(row, table, system)
            except Unfit as unfit:
                yield Refused(row.place, unfit.reason, unfit.remedy)
            except RecursionError:
                yield Refused(row.place, "the row nests too deep to be a result", "leave it out")

    def _records(self, row: Row, table: Table, system: str) -> Iterator[Record]:
        columns = self.columns
        key, announced = self._system(row, system, table.source.name)
        if announced is not None:
            yield announced
        repeat = None if columns.repeat is None else self._key(row, columns.repeat)
        case = CaseRef(
            joined_key([self._key(row, name) for name in columns.case]),
            "" if columns.suite is None else self._named(row, "suite", columns.suite),
        )
        values: dict[str, float] = {}
        missing: dict[str, MissingReason] = {}
        if columns.metric_column is None:
            for name in self.metrics:
                self._measure(row, table, name, name, values, missing)
        else:
            metric = self._named(row, "metric", columns.metric_column)
            if not self.metrics or metric in self.metrics:
                yield from self._state(metric, row.place)
                self._measure(row, table, str(columns.value_column), metric, values, missing)
        status, failure = self._outcome(row)
        asked = self._value(row, columns.input)
        groups = {name: text for name in columns.groups if (text := self._text(row, name)) is not None}
        yield Sample(
            system=key,
            case=case,
            place=row.place,
            repeat=repeat,
            input=None if asked == "" else as_json(asked),
            values=values,
            missing=missing,
            status=status,
            failure=failure,
            groups=groups,
            cluster=self._text(row, columns.cluster),
            cost_usd=self._amount(row, columns.cost),
            input_tokens=self._count(row, columns.input_tokens),
            output_tokens=self._count(row, columns.output_tokens),
            duration_s=self._amount(row, columns.duration),
            started_at=self._time(row, columns.started),
            finished_at=self._time(row, columns.finished),
            content=plain(row.values) if table.keeps_rows else self._unmapped(row.values),
        )

    # The system and the metrics are announced before the first sample of them.

    def _system(self, row: Row, fallback: str, file: str) -> tuple[str, System | None]:
        column = self.columns.candidate
        key = fallback if column is None else self._named(row, "candidate", column)
        if key in self.systems and not self.columns.says:
            return key, None
        says: dict[str, Any] = {"file": file} if column is None else {"candidate": as_json(member(row.values, column))}
        says |= {name: as_json(self._value(row, name)) for name in self.columns.says}
        if key not in self.systems:
            self.systems[key] = row.place, says
            return key, System(key, key, row.place, says)
        place, said = self.systems[key]
        for name in self.columns.says:
            if said[name] != says[name]:
                raise Unfit(
                    f"column {name!r} says {shown(says[name])} of {key!r}, but {shown(said[name])} at {place}",
                    f"name systems that differ apart with --candidate, or leave out --says {name}",
                )
        return key, None

    def _state(self, name: str, place: str) -> Iterator[MetricStated]:
        if name not in self.stated:
            try:
                metric = self.columns.metrics.get(name) or Metric(name)
            except DeclarationError as error:
                raise Unfit(str(error), "rename the metric") from None
            self.stated.add(name)
            yield MetricStated(metric, place)

    # Single values: which were met is kept, so that a column that no row has is told of.

    def _value(self, row: Row, column: str | None) -> Any:
        value = ABSENT if column is None else member(row.values, column)
        if value is ABSENT:
            return None
        self.met.add(str(column))
        return value

    def _key(self, row: Row, column: str) -> Key:
        value = self._value(row, column)
        if value is None and column not in self.met:
            raise Unfit(f"there is no column {column!r}, but {_listed(row.values)}", f"mend the name {column!r}")
        if isinstance(value, float):
            self.remarks.add(
                f"keys in {column} are whole numbers written as floats, so they are read as integers", row.place
            )
        return key_of(value, column)

    def _named(self, row: Row, role: str, column: str) -> str:
        """Return the text of a key where only text can be kept; two keys of one text are refused."""
        key = self._key(row, column)
        first, place = self.named.setdefault((role, str(key)), (key, row.place))
        if type(first) is not type(key):
            raise Unfit(
                f"column {column!r} is {key!r}, but {first!r} at {place}; they are equal only as text",
                f"write {column!r} in one type everywhere",
            )
        return str(key)

    def _text(self, row: Row, column: str | None) -> str | None:
        return None if column is None else text_of(self._value(row, column), column)

    def _amount(self, row: Row, column: str | None) -> float | None:
        return None if column is None else amount_of(self._value(row, column), column)

    def _count(self, row: Row, column: str | None) -> int | None:
        return None if column is None else count_of(self._value(row, column), column)

    def _time(self, row: Row, column: str | None) -> str | None:
        return None if column is None else time_of(self._value(row, column), column)

    def _measure(
        self, row: Row, table: Table, column: str, metric: str, values: dict[str, float],
        missing: dict[str, MissingReason],
    ) -> None:  # fmt: skip
        number = number_of(self._value(row, column), column)
        if number.value is not None:
            values[metric] = number.value
        elif number.missing is not None:
            missing[metric] = number.missing
        if number.is_stand_in:
            self.remarks.add(
                f"values of {column} are beyond 1e100, which stands for no number, so they are missing", row.place
            )
        if number.is_text and table.has_types:
            self.remarks.add(f"values of {column} are numbers written as text, so they are read as numbers", row.place)

    def _outcome(self, row: Row) -> tuple[Status, Failure | None]:
        columns = self.columns
        error = self._error(row)
        status, code = Status.SUCCESS, "error"
        if columns.status is not None:
            text = text_of(self._value(row, columns.status), columns.status) or ""
            status, code = self._status(text), re.sub(r"\W+", "_", text.lower()).strip("_")[:64] or "no_status"
        if error is not None and status is Status.SUCCESS:
            if columns.status is not None:
                self.remarks.add("rows have an error beside a status of success; they count as failures", row.place)
            status, code = columns.errors, "error"
        if status is Status.SUCCESS:
            return status, None
        return status, Failure(code, error if error is not None else f"the file gives the status {code}")

    def _status(self, text: str) -> Status:
        if text in self.columns.statuses:
            return self.columns.statuses[text]
        if text in set(Status):
            return Status(text)
        known = ", ".join([*Status, *map(repr, self.columns.statuses)])
        raise Unfit(
            f"column {self.columns.status!r} holds the status {text!r}; known: {known}",
            "say what each status means in a [status] table of a --mapping file",
        )

    def _error(self, row: Row) -> str | None:
        column = self.columns.error
        value = self._value(row, column)
        if value is None or value is False or (isinstance(value, float) and value != value):
            return None
        if isinstance(value, bool):
            return f"column {column!r} is true"
        if isinstance(value, str):
            return None if value.strip().lower() in _NO_ERROR else value
        if isinstance(value, Mapping | list):
            return shown(as_json(value)) if value else None
        raise Unfit(f"column {column!r} holds {shown(value)}, no text", f"name a column of texts instead of {column!r}")

    def _unmapped(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        mapped = {*self.columns.needed(), *self.columns.further(), *self.metrics}
        return {name: as_json(value) for name, value in values.items() if name not in mapped} or None


def _listed(values: Mapping[str, Any]) -> str:
    names = sorted(map(str, values))
    return ", ".join(names[:30]) + (f" and {len(names) - 30} more" if len(names) > 30 else "") if names else "none"
