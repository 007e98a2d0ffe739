"""The warehouse folder: made once, recognised afterwards, never half-made (DESIGN §1: the folder is the product)."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from opfield.core import canonical_json, digest
from opfield.errors import WarehouseError
from opfield.warehouse.contract import TABLE_NAMES, arrow_schema, load_contract
from opfield.warehouse.durable import replace, write_bytes, write_bytes_once, write_temporary
from opfield.warehouse.layout import EMPTY, FIRST, MARKER, NO_CAMPAIGN, OPEN_SQL, table_folder
from opfield.warehouse.ledger import write_parquet
from opfield.warehouse.locate import contract_folder
from opfield.warehouse.views import load_views, open_sql

#: Version of the folder's format that this opfield writes; it reads this one and older ones.
FORMAT: Final = 1
ENVIRONMENT: Final = "OPFIELD_WAREHOUSE"


@dataclass(frozen=True, slots=True)
class Store:
    """A warehouse folder that was recognised.

    Attributes:
        root: the folder, absolute.
    """

    root: Path


def default_root() -> Path:
    """Return `$OPFIELD_WAREHOUSE`, or `./warehouse`."""
    return Path(os.environ.get(ENVIRONMENT) or "warehouse")


def open_store(root: Path) -> Store:
    """Recognise a warehouse for reading; writes nothing.

    Raises:
        WarehouseError: where it is no warehouse, is one of a newer format, or its marker is damaged.
    """
    root = root.absolute()
    marker = _marker(root)
    if marker is None:
        raise WarehouseError(
            f"{root} is no warehouse yet; `opfield run` makes one there, or name another with --warehouse"
        )
    return Store(root)


def create_store(root: Path) -> Store:
    """Recognise a warehouse for writing, making what it lacks; safe to call by many processes at once.

    Raises:
        WarehouseError: where the folder cannot be a warehouse, or cannot be written.
    """
    root = root.absolute()
    _marker(root)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise WarehouseError(f"{root} is not a folder; name a folder with --warehouse") from None
    except OSError as error:
        raise WarehouseError(f"{root} cannot be made ({error.strerror}); name another with --warehouse") from None
    files = {f"{name}.sql": (contract_folder() / f"{name}.sql").read_bytes() for name in TABLE_NAMES}
    files[OPEN_SQL] = open_sql(load_views(), load_contract()).encode()
    for name, content in files.items():
        _write_unless_equal(root / name, content)
    for table in TABLE_NAMES:
        _ensure_empty(root, table, root / table / NO_CAMPAIGN / EMPTY)
        files[f"{table}/{NO_CAMPAIGN}/{EMPTY}"] = (root / table / NO_CAMPAIGN / EMPTY).read_bytes()
    _write_unless_equal(root / MARKER, marker_bytes(files))
    return Store(root)


def open_partition(root: Path, campaign_id: str) -> None:
    """Give a campaign its folder in every table, so that each reads as empty before the first event."""
    for table in TABLE_NAMES:
        _ensure_empty(root, table, table_folder(root, table, campaign_id) / FIRST)


def marker_bytes(files: dict[str, bytes]) -> bytes:
    """Return the marker: the format, and the digests of the files that every warehouse has."""
    told = {
        "format": FORMAT,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
    }
    return canonical_json({**told, "digest": digest("opfield/marker/v1", canonical_json(told))}) + b"\n"


def read_marker(root: Path) -> dict[str, str]:
    """Return the digests of the files that the warehouse was made with.

    Raises:
        WarehouseError: where the marker is missing or damaged.
    """
    found = _marker(root)
    if found is None:
        raise WarehouseError(f"{root} has no {MARKER}; the next `opfield run` or `opfield resume` writes it again")
    return found


def _marker(root: Path) -> dict[str, str] | None:
    """Return the marker's files, None where there is no marker, and refuse what no opfield of this format wrote."""
    if root.exists() and not root.is_dir():
        raise WarehouseError(f"{root} is a file, not a folder; name a folder with --warehouse")
    path = root / MARKER
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WarehouseError(f"{path} cannot be read: {error.strerror}; mend its permissions") from None
    try:
        told = json.loads(content)
        form = told["format"]
        files = dict(told["files"])
        if form == FORMAT:
            expected = digest("opfield/marker/v1", canonical_json({"format": form, "files": files}))
            if told["digest"] != expected or content != canonical_json(told) + b"\n":
                raise ValueError("its digest does not match")
    except (ValueError, KeyError, TypeError) as error:
        raise WarehouseError(
            f"{path} is damaged ({error}); remove it, and the next `opfield run` or `opfield resume` writes it again"
        ) from None
    if not isinstance(form, int) or form > FORMAT:
        raise WarehouseError(
            f"{root} is written in format {form} by a newer opfield; this one reads up to format {FORMAT}: "
            "upgrade with `pip install -U opfield`"
        )
    return files


def _ensure_empty(root: Path, table: str, path: Path) -> None:
    if not path.exists():
        rows = arrow_schema(table).empty_table()
        # Replaced rather than published once: two writers write the same bytes.
        replace(write_temporary(path.parent, lambda temporary: write_parquet(rows, temporary)), path)


def _write_unless_equal(path: Path, content: bytes) -> None:
    try:
        if path.read_bytes() == content:
            return
        write_bytes(path, content)
    except FileNotFoundError:
        write_bytes_once(path, content)
