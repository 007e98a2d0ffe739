"""MLflow's file store, read plainly: experiments, runs, and the files of each run, and nothing outside the folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from opfield.ingest.files import Advance, lines, open_file
from opfield.ingest.readers.mlflow_run import NUMBERED, Logged, Run
from opfield.ingest.readers.mlflow_yaml import flat_yaml
from opfield.ingest.records import IngestError, Note, Refused, Source

META: Final = "meta.yaml"
_LARGEST: Final = 2**20
#: Points of a metric that are kept as evidence; of a longer history only the last one is.
_LONGEST_HISTORY: Final = 1000
#: Folders of an experiment that are no runs.
_NO_RUNS: Final = ("tags", "models", "traces", "datasets", "assessments", "evaluation_datasets", "scorers")
_PARTS_OF_RUN: Final = ("metrics", "params", "artifacts")
_NAME_TAG: Final = "mlflow.runName"


@dataclass(frozen=True, slots=True)
class _Store:
    """The folder that is read.

    Attributes:
        source: what the user named.
        root: it, with every link on the way resolved.
        advance: told of the bytes read.
    """

    source: Source
    root: Path
    advance: Advance

    def place(self, path: Path) -> str:
        """Return what a path is called in messages."""
        inside = path.relative_to(self.source.path).as_posix()
        return self.source.name if inside == "." else f"{self.source.name}/{inside}"


def kind_of(folder: Path) -> str | None:
    """Return whether a folder is a `run`, an `experiment` or a `store`; None where it is none of MLflow's."""
    meta = _glance(folder / META)
    if meta is not None:
        is_run = "run_id" in meta or "run_uuid" in meta
        return "run" if is_run else "experiment" if "experiment_id" in meta else None
    try:
        inside = [each for each in folder.iterdir() if each.is_dir() and not each.is_symlink()]
    except OSError:
        return None
    for each in inside:
        meta = _glance(each / META)
        if meta is not None and "experiment_id" in meta and "run_id" not in meta and "run_uuid" not in meta:
            return "store"
    return None


def read_folder(source: Source, advance: Advance) -> Iterator[Run | Note | Refused]:
    """Yield the runs of a store, of an experiment, or the one run of a folder.

    Raises:
        IngestError: where a folder is none of MLflow's, or a `meta.yaml` cannot be read.
    """
    store = _Store(source, source.path.resolve(), advance)
    kind = kind_of(source.path)
    if kind == "run":
        above = source.path.absolute().parent / META
        meta = _meta(above, f"{source.name}/../{META}") if above.is_file() and not above.is_symlink() else {}
        yield from _run(store, source.path, meta.get("name"))
    elif kind == "experiment":
        yield from _experiment(store, source.path)
    elif kind == "store":
        for folder in _folders(source.path):
            if folder.is_symlink():
                yield _outside(store.place(folder))
            elif (folder / META).is_file():
                yield from _experiment(store, folder)
    else:
        if (source.path / META).is_file():
            _meta(source.path / META, f"{source.name}/{META}")  # says what is wrong with it
        raise IngestError(f"{source.name} is no store, experiment or run of MLflow: no {META} says so; name one")


def _experiment(store: _Store, folder: Path) -> Iterator[Run | Note | Refused]:
    place = store.place(folder / META)
    if not _is_inside(store, folder / META):
        yield _outside(place)
        return
    meta = _meta(folder / META, place)
    name = meta.get("name") or folder.name
    if meta.get("lifecycle_stage") == "deleted":
        yield Note(f"experiment {name[:100]!r} was deleted; its runs are left out", place)
        return
    runs = [each for each in _folders(folder) if _is_run(each)]
    if not runs:
        yield Note(f"experiment {name[:100]!r} has no runs", place)
    if any((folder / "traces").glob("*/")):
        yield Note(f"experiment {name[:100]!r} has traces, which are not read", place)
    for each in runs:
        if each.is_symlink():
            yield _outside(store.place(each))
        else:
            yield from _run(store, each, name)


def _is_run(folder: Path) -> bool:
    has_meta = (folder / META).exists()
    return folder.name not in _NO_RUNS and (has_meta or any((folder / part).is_dir() for part in _PARTS_OF_RUN))


def _run(store: _Store, folder: Path, experiment: str | None) -> Iterator[Run | Note | Refused]:
    place = store.place(folder / META)
    if not (folder / META).is_file():
        reason = f"the run has no {META}, so that nobody knows how it ended"
        yield Refused(store.place(folder), reason, "restore it, or move the folder out of the store")
        return
    if not _is_inside(store, folder / META):
        yield _outside(place)
        return
    meta = _meta(folder / META, place)
    if meta.get("lifecycle_stage") == "deleted":
        yield Note("the run was deleted, and is left out", place)
        return
    run_id = meta.get("run_id") or meta.get("run_uuid")
    told = meta.get("status")
    status = NUMBERED[int(told)] if told and told.isdecimal() and int(told) < len(NUMBERED) else told
    if not run_id:
        yield Refused(place, "it states no run_id", "mend it there, or move the folder out of the store")
        return
    refused: list[Refused] = []
    tags = _texts(store, folder / "tags", refused)
    params = _texts(store, folder / "params", refused)
    metrics = dict(_metrics(store, folder / "metrics", refused))
    yield from refused
    if experiment is None:
        experiment = f"experiment {meta.get('experiment_id') or 'unknown'}"
        yield Note(f"no {META} of its experiment is there, which is called {experiment!r}", place)
    artifacts = folder / "artifacts"
    yield Run(
        id=run_id,
        name=meta.get("run_name") or tags.get(_NAME_TAG) or meta.get("name") or run_id,
        experiment=experiment,
        status=status or "",
        place=place,
        params=params,
        tags=tags,
        metrics=metrics,
        start_ms=_whole(meta.get("start_time")),
        end_ms=_whole(meta.get("end_time")),
        artifacts=artifacts if artifacts.is_dir() else None,
        root=store.root,
    )


def _metrics(store: _Store, folder: Path, refused: list[Refused]) -> Iterator[tuple[str, Logged]]:
    for name, path in _files(store, folder, refused):
        place = store.place(path)
        points: list[tuple[int, float, int]] = []
        last: tuple[int, float, int] | None = None
        count = 0
        for number, line in lines(Source(path, place), store.advance):
            point = _point(line)
            if point is None:
                reason = f"{line[:60].decode('utf-8', 'replace')!r} is no timestamp, value and step"
                refused.append(Refused(f"{place}: line {number}", reason, "mend it there"))
                break
            count += 1
            if count <= _LONGEST_HISTORY:
                points.append(point)
            last = point if last is None else max(last, point, key=_order)
        kept = points if count <= _LONGEST_HISTORY else [last] if last else []
        yield name, Logged(None if last is None else last[1], place, tuple(kept), count)


def _point(line: bytes) -> tuple[int, float, int] | None:
    # The oldest stores write no step, the newest write two words on the dataset after it.
    parts = line.split()
    try:
        step = int(parts[2]) if len(parts) > 2 else 0
        return (int(parts[0]), float(parts[1]), step) if len(parts) in (2, 3, 5) else None
    except (ValueError, IndexError):
        return None


def _order(point: tuple[int, float, int]) -> tuple[int, int, bool, float]:
    """Order points as MLflow does: by step, then time; of two at once the larger counts, and a number over NaN."""
    timestamp, value, step = point
    return step, timestamp, value == value, value if value == value else 0.0


def _texts(store: _Store, folder: Path, refused: list[Refused]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for name, path in _files(store, folder, refused):
        content = _content(path, store.place(path))
        store.advance(len(content))
        texts[name] = content.decode("utf-8", "replace")
    return texts


def _files(store: _Store, folder: Path, refused: list[Refused]) -> Iterator[tuple[str, Path]]:
    """Yield the files below a folder by their names below it, which may have slashes; links outside are refused."""
    if not folder.is_dir():
        return
    if folder.is_symlink():
        refused.append(_outside(store.place(folder)))
        return
    for at, folders, names in os.walk(folder):
        for name in list(folders):
            if Path(at, name).is_symlink():
                folders.remove(name)
                refused.append(_outside(store.place(Path(at, name))))
        folders.sort()
        for name in sorted(names):
            path = Path(at, name)
            if not _is_inside(store, path):
                refused.append(_outside(store.place(path)))
            elif not name.startswith("."):
                yield path.relative_to(folder).as_posix(), path


def _folders(folder: Path) -> list[Path]:
    return sorted(each for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))


def _is_inside(store: _Store, path: Path) -> bool:
    try:
        return path.resolve().is_relative_to(store.root)
    except (OSError, RuntimeError):  # a link to itself
        return False


def _outside(place: str) -> Refused:
    return Refused(place, "it is a link that leads elsewhere, and is not followed", "put the file itself there")


def _meta(path: Path, place: str) -> Mapping[str, str | None]:
    content = _content(path, place)
    try:
        return flat_yaml(content.decode("utf-8"), place)
    except UnicodeDecodeError as error:
        raise IngestError(f"{place}: byte {error.start} is not UTF-8; write the file again as UTF-8") from None


def _content(path: Path, place: str) -> bytes:
    try:
        with open_file(Source(path, place)) as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise IngestError(f"{place} cannot be read: {error.strerror}; mend its permissions") from None
    if len(content) > _LARGEST:
        raise IngestError(f"{place} is larger than {_LARGEST // 2**20} MiB, which MLflow never writes; leave it out")
    return content


def _glance(path: Path) -> Mapping[str, str | None] | None:
    """Return a `meta.yaml`, None where there is none; an empty mapping where it cannot be read."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        return _meta(path, path.name)
    except IngestError:
        return {}


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 19 else None
