"""The warehouse folder: made once, recognised afterwards, never half-made (DESIGN §1: the folder is the product)."""

from __future__ import annotations

import hashlib
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opfield.core import canonical_json, digest
from opfield.errors import WarehouseError
from opfield.warehouse.columns import empty_table
from opfield.warehouse.contract import PRACTICE_TABLE_NAMES, TABLE_NAMES, arrow_schema, load_contract
from opfield.warehouse.durable import make_folder, write_bytes_unless_equal
from opfield.warehouse.install import RENDERED_FROM, open_sql, rendered_from
from opfield.warehouse.layout import EMPTY, FIRST, MARKER, NO_CAMPAIGN, OPEN_SQL, PRACTICE, table_folder
from opfield.warehouse.ledger import write_parquet
from opfield.warehouse.locate import contract_folder
from opfield.warehouse.views import installed_views

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
    if _marker(root) is None:
        if (root / "events").is_dir():
            read_marker(root)
        raise WarehouseError(
            f"{root} is no warehouse yet; `opfield run` or `opfield ingest` makes one there, or name another with "
            "--warehouse"
        )
    return Store(root)


def create_store(root: Path) -> Store:
    """Recognise a warehouse for writing, making what it lacks; safe to call by many processes at once.

    Raises:
        WarehouseError: where the folder cannot be a warehouse, or cannot be written.
    """
    root = root.absolute()
    known = _marker(root) or {}
    try:
        make_folder(root)
    except (FileExistsError, NotADirectoryError):
        raise WarehouseError(f"{root} is not a folder; name a folder with --warehouse") from None
    except OSError as error:
        raise WarehouseError(f"{root} cannot be made ({error.strerror}); name another with --warehouse") from None
    tables = (*TABLE_NAMES, *PRACTICE_TABLE_NAMES)
    files = {f"{name}.sql": (contract_folder() / f"{name}.sql").read_bytes() for name in tables}
    files[OPEN_SQL] = _open_sql(root, known.get(OPEN_SQL))
    empty = {table: f"{table}/{NO_CAMPAIGN}/{EMPTY}" for table in TABLE_NAMES}
    empty |= {table: f"{PRACTICE}/{table}/{EMPTY}" for table in PRACTICE_TABLE_NAMES}
    for table, name in empty.items():
        files[name] = _zero_rows(root, table, name, known.get(name))
    for name, content in files.items():
        write_bytes_unless_equal(root / name, content)
    write_bytes_unless_equal(root / MARKER, marker_bytes(files))
    return Store(root)


def open_partition(root: Path, campaign_id: str) -> None:
    """Give a campaign its folder in every table, so that each reads as empty before the first event.

    Raises:
        WarehouseError: where the warehouse lacks a zero-row file, or cannot be written.
    """
    for table in TABLE_NAMES:
        own = root / table / NO_CAMPAIGN / EMPTY
        if not own.exists():
            raise WarehouseError(f"{own} is gone; the next `opfield run` or `opfield resume` writes it again")
        write_bytes_unless_equal(table_folder(root, table, campaign_id) / FIRST, own.read_bytes())


def marker_bytes(files: dict[str, bytes]) -> bytes:
    """Return the marker: the format, and the digests of the files that every warehouse has."""
    told = {
        "format": FORMAT,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
    }
    return _signed(told)


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
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise WarehouseError(f"{path} cannot be read: {error.strerror}; mend its permissions") from None
    try:
        told = json.loads(content)
        form = int(told["format"])
        files = dict(told["files"]) if form <= FORMAT else {}
        if form <= FORMAT and content != _signed({"format": form, "files": files}):
            raise ValueError("its digest does not match")
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise WarehouseError(
            f"{path} is damaged ({error}); remove it, and the next `opfield run` or `opfield resume` writes it again"
        ) from None
    if form > FORMAT:
        raise WarehouseError(
            f"{root} is written in format {form} by a newer opfield; this one reads up to format {FORMAT}: "
            "upgrade with `pip install -U opfield`"
        )
    return files


def _signed(told: dict[str, Any]) -> bytes:
    return canonical_json({**told, "digest": digest("opfield/marker/v1", canonical_json(told))}) + b"\n"


def _open_sql(root: Path, known_digest: str | None) -> bytes:
    """Return the bytes of `open.sql`: those that stand, where they are vouched for and of the installed relations."""
    views, tables = installed_views(), load_contract()
    standing = _vouched(root / OPEN_SQL, known_digest)
    if standing is not None and f"{RENDERED_FROM}{rendered_from(views, tables)}\n".encode() in standing:
        return standing
    return open_sql(views, tables).encode()


def _zero_rows(root: Path, table: str, name: str, known_digest: str | None) -> bytes:
    """Return the bytes of a table's zero-row file: those that stand, where the marker vouches for them."""
    standing = _vouched(root / name, known_digest)
    if standing is not None:
        return standing
    buffer = io.BytesIO()
    write_parquet(empty_table(arrow_schema(table)), buffer)
    return buffer.getvalue()


def _vouched(path: Path, known_digest: str | None) -> bytes | None:
    """Return the bytes of a file that the marker vouches for; None where it is not there, or another."""
    if known_digest is None or not path.exists():
        return None
    content = path.read_bytes()
    return content if hashlib.sha256(content).hexdigest() == known_digest else None
