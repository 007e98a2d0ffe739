"""The reader of Optuna: trials of a study, from its journal or its SQLite storage.

A study is not like other tools' files. It has no cases: a trial is one evaluation of one set of parameters by the whole
objective. So:

- A **system** is a set of parameters. Trials with equal parameters are one system, whichever study they stand in: the
  space that they were drawn from is how they were found, not what they are, and stays evidence. A trial without any
  parameter that did not complete is a system of its own, since nobody knows what it would have been. A trial that
  failed on the way may have fewer parameters than the objective asks for; they stand as they are.
- The **case** is the study. With `--case-attr NAME` it is the trial's user attribute of that name, such as a dataset or
  a fold, and the study is the suite it belongs to where several are read. A trial that ended before it set it stands at
  the study, where no completed trial pairs with it, so that it stays to be seen.
- **Repeats** are trials with equal parameters at one case; they are counted, since Optuna declares none.
- **Metrics** are the objectives, by the names that the study gave them, in its directions. Reports on the way
  (intermediate values) are no results: they are kept as evidence and nothing else.
- A completed trial is a success; a pruned one a failure of its parameters, without any value, although Optuna keeps its
  last report as its value; a failed one a failure of something around it, for Optuna does not say of what; one that
  runs or waits was never finished.

A study that compares each set of parameters once, on one case, cannot tell a better one from a luckier one: gates stay
indeterminate. It takes trials over several cases (`--case-attr`, or several studies), or other evidence.

A journal and a study are held in memory while they are read, as Optuna itself does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from opfield.core import Failure, MissingReason, Status, canonical_json, check_label
from opfield.errors import DeclarationError, unknown_name
from opfield.ingest.files import first_bytes
from opfield.ingest.keys import checked
from opfield.ingest.readers.optuna_database import TABLES, read_database
from opfield.ingest.readers.optuna_journal import read_journal
from opfield.ingest.readers.optuna_study import Study, Trial, native, objectives
from opfield.ingest.readers.sqlite_file import is_sqlite, tables
from opfield.ingest.records import (
    OBSERVED,
    CaseRef,
    IngestError,
    Key,
    MetricStated,
    Note,
    Reader,
    ReaderOption,
    Reading,
    Record,
    Refused,
    Sample,
    System,
)
from opfield.metric import MAX_MAGNITUDE, Metric

_LARGEST_EXACT: Final = 2**53
_FIELDS: Final = (b'"op_code"', b'"worker_id"')


def read_optuna(reading: Reading) -> Iterator[Record]:
    """Yield the trials of journals and storages.

    Raises:
        IngestError: where a file is neither, or damaged.
        UnknownNameError: where a study is named that no file holds.
    """
    if not reading.sources:
        raise IngestError("no file is named; name a journal or an SQLite storage of Optuna")
    held: list[tuple[str, Study]] = []
    for source in reading.sources:
        if is_sqlite(source.path):
            studies, notes = read_database(source)
            reading.advance(source.path.stat().st_size)
        else:
            studies, notes = read_journal(source, reading.advance)
        yield from notes
        held += [(source.name, study) for study in studies]
    chosen = _chosen(held, reading.options.get("study") or ())
    for study in chosen:
        if not study.trials:
            yield Note(f"study {study.name[:100]!r} has no trials", study.place)
    chosen = [study for study in chosen if study.trials]
    if not chosen:
        yield Refused(reading.sources[0].name, "there is no trial in it", "leave it out")
        return
    refused = list(_refused(chosen))
    if refused:
        yield from refused
        return
    yield from _records(chosen, reading.options.get("case-attr"))


def _chosen(held: Sequence[tuple[str, Study]], named: Sequence[str]) -> list[Study]:
    known = [study.name for _, study in held]
    for name in named:
        if name not in known:
            raise unknown_name("study", name, known)
    return [study for _, study in held if not named or study.name in named]


def _refused(studies: Sequence[Study]) -> Iterator[Refused]:
    """Yield what stands in the way of taking the studies for what they say."""
    seen: dict[tuple[Any, ...], str] = {}
    for study in studies:
        try:
            check_label("study name", study.name)
        except DeclarationError as error:
            yield Refused(study.place, str(error), "copy the study under another name (optuna.copy_study)")
        for name in objectives(study):
            try:
                Metric(name)
            except DeclarationError as error:
                yield Refused(study.place, str(error), "name its objectives otherwise (study.set_metric_names)")
        for trial in study.trials:
            count = len(study.directions)
            if trial.state == "COMPLETE" and trial.values is not None and len(trial.values) != count:
                reason = f"it has {len(trial.values)} values, and its study {count} objectives"
                yield Refused(trial.place, reason, "copy the storage again")
            identity = (study.name, trial.number, trial.started_at, trial.finished_at, _identity(trial.params))
            if trial.started_at is not None and identity in seen:
                what = f"trial {trial.number} of study {study.name[:100]!r} stands in {seen[identity]} as well"
                yield Refused(trial.place, what, "name one of the files")
            seen.setdefault(identity, trial.place)


def _records(studies: Sequence[Study], case_attr: str | None) -> Iterator[Record]:
    is_one = len({study.name for study in studies}) == 1
    for study in studies:
        for name, direction in zip(objectives(study), study.directions, strict=True):
            if direction is None:
                yield Note(
                    f"the study does not say whether more or less of {name!r} is better; more is taken, "
                    "--minimize states otherwise",
                    study.place,
                )
            described = Metric(name, direction or "maximize", description="objective of the study")
            yield MetricStated(described, study.place)
    groups: dict[str, list[tuple[Study, Trial]]] = {}
    for study in studies:
        for trial in study.trials:
            groups.setdefault(_key(trial), []).append((study, trial))
    for key, members in groups.items():
        yield _system(key, members, is_one=is_one)
    cases: set[CaseRef] = set()
    for key, members in groups.items():
        for study, trial in members:
            case = _case(study, trial, case_attr, is_one=is_one)
            if isinstance(case, Refused):
                yield case
                continue
            cases.add(case)
            yield _sample(key, case, study, trial)
    if len(cases) == 1 and len(groups) > 1:
        yield Note(
            "all trials are of one case, the study: parameters that score better on one case may be better or "
            "luckier, so that gates stay indeterminate; --case-attr, or several studies, give more cases",
            studies[0].place,
        )


def _key(trial: Trial) -> str:
    """Return the identity of a trial's system: its parameters, where it is known what they were to be."""
    if trial.params or trial.state == "COMPLETE":
        return f"params {_identity(trial.params)}"
    return f"trial {trial.place}"


def _identity(params: Mapping[str, Any]) -> str:
    return canonical_json(_plain(dict(params))).decode()


def _plain(value: Any) -> Any:
    """Return a JSON value that has a canonical form: numbers that have none become objects that name them."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST_EXACT:
        return {"int": str(value)}
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return value


def _system(key: str, members: Sequence[tuple[Study, Trial]], *, is_one: bool) -> System:
    names = [_called(study, trial, is_one=is_one) for study, trial in members]
    study, trial = members[0]
    params = _plain(dict(trial.params))
    says: dict[str, Any] = {"tool": "optuna", "params": params}
    if not key.startswith("params "):
        says |= {"study": study.name, "trial": trial.number}
    text = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in params.items())
    short = [f"trial {trial.number}" for _, trial in members]
    aliases = dict.fromkeys([*names[1:], *short, *([text] if text and len(text) <= 300 else [])])
    return System(key, names[0], trial.place, says, tuple(name for name in aliases if name != names[0]))


def _called(study: Study, trial: Trial, *, is_one: bool) -> str:
    return f"trial {trial.number}" if is_one else f"{study.name}: trial {trial.number}"


def _case(study: Study, trial: Trial, case_attr: str | None, *, is_one: bool) -> CaseRef | Refused:
    if case_attr is None:
        return CaseRef(study.name)
    if case_attr not in trial.user_attrs:
        if trial.state == "COMPLETE":
            held = ", ".join(sorted(trial.user_attrs)) or "none"
            reason = f"it completed without user attribute {case_attr!r} (it has {held})"
            return Refused(trial.place, reason, "name one that every completed trial has, or leave --case-attr out")
        return CaseRef(study.name)
    key: Key | Any = trial.user_attrs[case_attr]
    if isinstance(key, bool) or not isinstance(key, str | int) or key == "":
        reason = f"user attribute {case_attr!r} is {str(key)[:60]!r}, neither text nor a whole number"
        return Refused(trial.place, reason, "name one that is")
    return CaseRef(key, "" if is_one else study.name)


def _sample(key: str, case: CaseRef, study: Study, trial: Trial) -> Sample:
    status, failure = _outcome(trial)
    values: dict[str, float] = {}
    missing: dict[str, MissingReason] = {}
    if status is Status.SUCCESS:
        for index, name in enumerate(objectives(study)):
            if trial.values is None:
                missing[name] = MissingReason.NOT_EMITTED
            elif abs(trial.values[index]) <= MAX_MAGNITUDE:
                values[name] = float(trial.values[index])
            else:  # NaN and infinities
                missing[name] = MissingReason.NOT_FINITE
    return Sample(
        key,
        case,
        trial.place,
        OBSERVED,
        values=values,
        missing=missing,
        status=status,
        failure=failure,
        duration_s=_duration(trial),
        started_at=trial.started_at,
        finished_at=trial.finished_at,
        content=native(study, trial),
    )


def _outcome(trial: Trial) -> tuple[Status, Failure | None]:
    if trial.state == "COMPLETE":
        return Status.SUCCESS, None
    if trial.state == "PRUNED":
        steps = [int(step) for step in trial.intermediate if step.lstrip("-").isdecimal()]
        at = f" at step {max(steps)}" if steps else ""
        return Status.DOMAIN_FAILURE, Failure("pruned", f"the trial was pruned{at}")
    if trial.state == "FAIL":
        why = trial.system_attrs.get("fail_reason")
        message = why if isinstance(why, str) and why.strip() else "the trial failed"
        return Status.INFRASTRUCTURE_FAILURE, Failure("failed", message)
    doing = "running" if trial.state == "RUNNING" else "waiting"
    return Status.CANCELLED, Failure("not_finished", f"the trial was still {doing}")


def _duration(trial: Trial) -> float | None:
    try:
        started, finished = (datetime.fromisoformat(each or "") for each in (trial.started_at, trial.finished_at))
        seconds = (finished - started).total_seconds()
    except (ValueError, TypeError):
        return None
    return seconds if seconds >= 0 else None


def recognizes(path: Path) -> bool:
    """Return whether a file is a storage of Optuna, or begins as a journal does."""
    if is_sqlite(path):
        return tables(path) >= TABLES
    if not path.is_file():
        return False
    first = first_bytes(path, 4096).removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    return first.startswith(b"{") and all(each in first for each in _FIELDS)


reader = Reader(
    name="optuna",
    description="Optuna journals and SQLite storages; sets of parameters are systems, studies are cases",
    version="1",
    read=checked(read_optuna),
    recognizes=recognizes,
    options=(
        ReaderOption("study", "read this study; all of them where none is named", is_repeatable=True, default=()),
        ReaderOption("case-attr", "user attribute of trials that says which case each is of, such as a dataset"),
    ),
    tool="optuna",
)
