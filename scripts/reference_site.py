"""What the documentation's site adds to `docs` while it is built: pages of reference, the style of code and links."""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath
from typing import Any, Final

from properdocs.structure.files import File, Files
from pygments.formatters import HtmlFormatter

# The site's builder loads this file by its path, from any folder.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import reference_command, reference_python, reference_relations

_LIGHT: Final = "friendly"
_DARK: Final = "github-dark"

#: Sections of the site by folder, and the order of their pages; one that is not named comes after those that are.
SECTIONS: Final = {
    "tutorial": ("Tutorial", ("first-campaign",)),
    "how-to": (
        "How to",
        (
            *("results-you-have", "declare", "choose-gates", "plan-size", "missing-evidence", "review", "confirm"),
            *("query", "report", "dashboard", "export", "ci", "keep", "write-a-reader", "write-a-domain"),
        ),
    ),
    "reference": ("Reference", ("command", "python", "relations/index", "gates", "ingest")),
    "explanation": ("Explanation", ("model", "paired", "verdicts", "custody", "identity")),
}

#: The theme's links are too pale on white to be read by everyone, and its code is too small.
_READABLE: Final = """\
[data-bs-theme="light"] a:not(.navbar a, .dropdown-item) { color: #0a5c99; }
pre, pre code { font-size: 0.9rem; }
"""


def generated_pages() -> dict[str, str]:
    """Return the Markdown of every generated page by its path below `docs`."""
    return {**reference_relations.pages(), **reference_command.pages(), **reference_python.pages()}


def code_style() -> str:
    """Return the style sheet of code and links, for light and for dark pages."""
    light = HtmlFormatter(style=_LIGHT).get_style_defs(".codehilite")
    dark = HtmlFormatter(style=_DARK).get_style_defs('[data-bs-theme="dark"] .codehilite')
    return f"{light}\n{dark}\n{_READABLE}"


def navigation(folder: Path) -> list[Any]:
    """Return the site's navigation over the pages in `docs` and those that are generated."""
    generated = {PurePosixPath(path) for path in (reference_command.PAGE, reference_python.PAGE)}
    listed: list[Any] = [{"opfield": "index.md"}]
    for section, (title, order) in SECTIONS.items():
        found = {path.stem for path in (folder / section).glob("*.md")}
        found |= {path.stem for path in generated if path.parent.name == section}
        if section == "reference":
            found.add("relations/index")
        first = [name for name in order if name in found]
        listed.append({title: [f"{section}/{name}.md" for name in (*first, *sorted(found - set(order)))]})
    return listed


def on_config(config: Any) -> Any:
    """Lay the pages out; the site's builder calls this first."""
    config.nav = navigation(Path(config.docs_dir))
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add what is generated; the site's builder calls this."""
    for path, text in {**generated_pages(), "code.css": code_style()}.items():
        files.append(File.generated(config, path, content=text))
    return files
