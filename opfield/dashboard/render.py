"""From a view to HTML: templates that escape every text, and nothing that computes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from opfield.dashboard.board import View
from opfield.report import text as words
from opfield.report.palette import DARK, LIGHT, css_variables
from opfield.report.text import number, signed, visible

_FOLDER: Final = Path(__file__).parent / "templates"

#: What stands for a number that nobody knows.
UNKNOWN: Final = Markup('<span class="op-unknown">{}</span>').format(words.UNKNOWN)

#: A status in words, and the sign beside it: a class of result never shows by its colour alone.
SIGNS: Final[Mapping[str, str]] = {
    "pass": "✓",
    "fail": "✗",
    "indeterminate": "?",
    "not reached": "·",
    "success": "✓",
    "domain_failure": "✗",
    "infrastructure_failure": "▲",
    "cancelled": "◆",
    "missing": "□",
    "running": "▶",
    "unfinished": "◌",
    "awaiting_review": "✎",
    "completed": "✓",
    "selected": "✓",
    "kept_baseline": "=",
    "undecided": "?",
    "damaged": "✗",
}

_TITLES: Final[Mapping[str, str]] = {
    "campaigns": "Campaigns",
    "campaign": "Campaign",
    "candidate": "Candidate",
    "case": "Case",
    "problem": "Problem",
}


def as_html(view: View, charts: Mapping[str, str] | None = None) -> str:
    """Return a view as HTML: one element, every text in it escaped.

    Args:
        view: the view.
        charts: HTML of its charts by name, trusted; where None their places stay empty.
    """
    shown = {name: Markup(text) for name, text in (charts or {}).items()}
    template = _environment().get_template(f"{view.kind}.html")
    return template.render(view.told, address=view.address, charts=shown, title=_TITLES[view.kind])


@cache
def style() -> str:
    """Return the style sheet of all pages."""
    rules = (_FOLDER / "page.css").read_text(encoding="utf-8")
    # Names of our own: the framework's page has colours of the same names.
    light, dark = (css_variables(each).replace("--", "--op-") for each in (LIGHT, DARK))
    chosen = f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} color-scheme: dark; }} }}"
    return f":root {{ {light} color-scheme: light; }}\n{chosen}\n{rules}"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": _number,
        "signed": _signed,
        "counted": _counted,
        "moment": _moment,
        "short": _short,
        "words": _words,
        "sentence": words.sentence,
    }
    environment.globals |= {"SIGNS": SIGNS, "UNKNOWN": UNKNOWN}
    return environment


def _number(value: Any, digits: int = 4) -> Any:
    """Return a number as people read it; one that is NULL is unknown, never zero."""
    return UNKNOWN if value is None else number(value, digits)


def _signed(value: Any) -> Any:
    return UNKNOWN if value is None else signed(value)


def _shown(value: Any) -> Any:
    """Return what an expression of a template gives: NULL as unknown, and what hides in a user's text spelled out."""
    if value is None:
        return UNKNOWN
    return visible(value) if type(value) is str else value


def _counted(value: Any, noun: str) -> Any:
    """Return a count and its noun; a count that is NULL is unknown."""
    plural = "" if value == 1 else "s"
    return Markup("{} {}{}").format(_number(value), noun, plural)


def _moment(value: Any) -> Any:
    return value.isoformat(sep=" ", timespec="seconds") if isinstance(value, datetime) else UNKNOWN


def _short(identity: Any) -> str:
    return str(identity).removeprefix("sha256:")[:12]


def _words(name: Any) -> str:
    return str(name).replace("_", " ")
