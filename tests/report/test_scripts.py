"""The scripts of a page are packed once for each version of their package, and kept only as they were packed."""

from __future__ import annotations

from pathlib import Path

import pytest

from opfield.report import scripts


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Texts that were packed, none of them yet; what is kept lies in a folder of the test's own."""
    made: list[str] = []

    def pack() -> str:
        made.append(f"draw({len(made)}) // \u2713\nmore")
        return made[-1]

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(scripts, "_packed", pack)
    return made


def loaded() -> str:
    scripts._scripts.cache_clear()
    try:
        return scripts.load_scripts().result()
    finally:
        scripts._scripts.cache_clear()


def test_they_are_packed_once(packed: list[str], tmp_path: Path) -> None:
    first = loaded()
    assert [loaded(), loaded()] == [first, first] == packed * 2
    assert [path.name.startswith("scripts-") for path in (tmp_path / "cache" / "opfield").iterdir()] == [True]


def test_what_was_altered_is_packed_again(packed: list[str], tmp_path: Path) -> None:
    loaded()
    (file,) = (tmp_path / "cache" / "opfield").iterdir()
    file.write_bytes(file.read_bytes().replace(b"draw", b"DRAW"))
    assert loaded() == packed[1]
    assert loaded() == packed[1]


def test_where_nothing_can_be_kept_they_are_packed_each_time(packed: list[str], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert [loaded(), loaded()] == packed
    assert len(packed) == 2
