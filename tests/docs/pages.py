"""The pages of documentation that people write; others are generated."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def written_pages() -> dict[str, str]:
    """Return the text of each page by its path below `docs`."""
    return {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
