"""What the documentation's site adds to `docs` while it is built: pages of reference, the style of code and links."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

from properdocs.structure.files import File, Files
from pygments.formatters import HtmlFormatter

# The site's builder loads this file by its path, from any folder.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import reference_command, reference_python, reference_relations

_LIGHT: Final = "friendly"
_DARK: Final = "github-dark"

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


def on_files(files: Files, config: Any) -> Files:
    """Add what is generated; the site's builder calls this."""
    for path, text in {**generated_pages(), "code.css": code_style()}.items():
        files.append(File.generated(config, path, content=text))
    return files
