"""Files that take their name when they are whole, or leave what stood there as it was."""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from opfield.errors import WarehouseError
from opfield.warehouse.layout import MARKER


def write_file(path: Path, content: bytes, root: Path) -> None:
    """Write a file whole, in place of what stood there.

    Args:
        path: the file.
        content: its bytes.
        root: warehouse that is being read.

    Raises:
        WarehouseError: where it cannot be written; what stood there is as it was.
    """
    with replacing([checked_target(path, root)]) as (temporary,):
        temporary.write_bytes(content)


def checked_target(path: Path, root: Path) -> Path:
    """Return where a file goes, links followed; a warehouse keeps nothing but its own files.

    Raises:
        WarehouseError: where nothing can be written there.
    """
    try:
        target = path.resolve()
        is_taken = target.exists() and not target.is_file()
    except OSError as error:
        raise WarehouseError(f"cannot write {path}: {error.strerror}; name another place") from None
    if is_taken:
        raise WarehouseError(f"{path} is no file that could be replaced; name another one, or - for stdout")
    own = root.resolve()
    for folder in target.parents:
        if folder == own or (folder / MARKER).exists():
            raise WarehouseError(
                f"{path} lies inside the warehouse {folder}, which holds its own files only; name another place"
            )
    return target


@contextmanager
def replacing(targets: Sequence[Path]) -> Generator[list[Path]]:
    """Give a new name beside each target to write under; they take the targets' names where nothing was raised.

    Raises:
        WarehouseError: where a file cannot be written.
    """
    temporaries = [target.with_name(f".{secrets.token_hex(6)}.part") for target in targets]
    try:
        for folder in {target.parent for target in targets}:
            folder.mkdir(parents=True, exist_ok=True)
        yield temporaries
        for temporary in temporaries:
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
        for temporary, target in zip(temporaries, targets, strict=True):
            os.replace(temporary, target)
    except OSError as error:
        raise WarehouseError(
            f"cannot write {targets[0]}: {error.strerror or error} ({error.filename or targets[0].parent}); mend the "
            "disk or its permissions, or name another place"
        ) from error
    finally:
        for temporary in temporaries:
            for left in (temporary, temporary.with_name(f"{temporary.name}.wal")):
                with suppress(OSError):
                    left.unlink(missing_ok=True)
