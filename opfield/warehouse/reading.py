"""Reading again where a file vanished or was exchanged under a reader, which means that a seal took a step."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

import duckdb

from opfield.errors import OpfieldError, WarehouseError

Answer = TypeVar("Answer")

#: A file that vanishes under a reader means that a seal took a step: reading again finds the new files.
_RETRIES: Final = 5
_PAUSE_S: Final = 0.2


def read_again(read: Callable[[], Answer]) -> Answer:
    """Return what `read` gives, trying again where a file vanished or was exchanged under it."""
    for attempt in range(_RETRIES):
        try:
            return read()
        except duckdb.Error as error:
            if not is_about_files(error):
                raise OpfieldError(str(error)) from error
            if attempt + 1 == _RETRIES:
                raise WarehouseError(
                    f"the warehouse cannot be read: {error}; `opfield audit` says which file is damaged"
                ) from error
            time.sleep(_PAUSE_S)
    raise AssertionError("unreachable")


def is_about_files(error: duckdb.Error) -> bool:
    """Return whether it is a file that could not be read, rather than the query."""
    # A scan opens its files twice. Where one was exchanged in between, the footer of the first does not fit the bytes
    # of the second, and what Thrift says of it comes as the bare base class, which no fault of a query does.
    is_malformed = type(error) is duckdb.Error
    is_bad_parquet = isinstance(error, duckdb.InvalidInputException) and ".parquet" in str(error)
    return is_malformed or is_bad_parquet or isinstance(error, duckdb.IOException)
