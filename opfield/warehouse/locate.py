"""Where the views and the contract lie: beside the package in a wheel, at the top of the repository in a checkout."""

from __future__ import annotations

from pathlib import Path

from opfield.errors import WarehouseError

_PACKAGE = Path(__file__).resolve().parent.parent


def sql_folder() -> Path:
    """Return the folder of the views."""
    return _find("_sql", "sql")


def contract_folder() -> Path:
    """Return the folder of the table contracts, one `<table>.sql` each."""
    return _find("_warehouse", "warehouse")


def _find(shipped: str, checked_out: str) -> Path:
    for folder in (_PACKAGE / shipped, _PACKAGE.parent / checked_out):
        if folder.is_dir():
            return folder
    raise WarehouseError(f"the installation lacks its {checked_out!r} folder; install opfield again")
