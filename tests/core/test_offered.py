"""What packages offer: found once, and again where something was installed since."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from opfield.core.offered import entry_points_of, offered_names


def install(folder: Path, name: str) -> None:
    """Lay down a package that offers a name in the group `opfield.oddities`."""
    told = folder / f"{name}-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (told / "entry_points.txt").write_text(f"[opfield.oddities]\n{name} = {name}:it\n", encoding="utf-8")


def test_what_is_installed_while_a_session_runs_is_found(monkeypatch: Any, tmp_path: Path) -> None:
    assert offered_names("opfield.oddities") == ()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    install(tmp_path, "first")
    os.utime(tmp_path, ns=(1, 1))
    assert offered_names("opfield.oddities") == ("first",)
    install(tmp_path, "second")
    assert offered_names("opfield.oddities") == ("first", "second")


def test_packages_are_asked_once(monkeypatch: Any) -> None:
    known = entry_points_of("opfield.readers")
    monkeypatch.setattr("opfield.core.offered.entry_points", lambda: 1 / 0)
    assert entry_points_of("opfield.readers") == known
