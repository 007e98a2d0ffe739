"""Colours of charts: one accent, and a class of result never by its colour alone (Okabe and Ito's hues, darkened)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours that a chart is drawn in, each anything that CSS takes for a colour.

    Attributes:
        ink: text and zero lines.
        muted: labels of axes.
        line: grid lines.
        surface: what the chart stands on.
        accent: what the eye should go to; better.
        passing: a verdict of pass.
        failing: a verdict of fail; worse.
        undecided: a verdict of indeterminate.
        domain_failure: cells in which the system failed.
        infrastructure_failure: cells that are no evidence about quality.
        cancelled: cells that were cancelled.
        missing: cells that are not there.
    """

    ink: str
    muted: str
    line: str
    surface: str
    accent: str
    passing: str
    failing: str
    undecided: str
    domain_failure: str
    infrastructure_failure: str
    cancelled: str
    missing: str


LIGHT: Final = Palette(
    ink="#1b1f24",
    muted="#57606c",
    line="#e2e5e9",
    surface="#ffffff",
    accent="#1b62ad",
    passing="#00705a",
    failing="#b23c0c",
    undecided="#7d5a00",
    domain_failure="#b23c0c",
    infrastructure_failure="#7d5a00",
    cancelled="#7a4a86",
    missing="#57606c",
)

DARK: Final = Palette(
    ink="#e7eaee",
    muted="#a3adb9",
    line="#2e353d",
    surface="#15181c",
    accent="#79b5f5",
    passing="#55c8a6",
    failing="#ff9a6e",
    undecided="#e3b94f",
    domain_failure="#ff9a6e",
    infrastructure_failure="#e3b94f",
    cancelled="#d3a0df",
    missing="#a3adb9",
)

#: Colours that a page's style sheet defines, so that a chart follows it from light to dark. Needs an SVG renderer.
PAGE: Final = Palette(*(f"var(--{each.name.replace('_', '-')})" for each in fields(Palette)))


def css_variables(palette: Palette) -> str:
    """Return declarations of the palette's colours as custom properties of CSS, one for each member."""
    return "".join(f"--{each.name.replace('_', '-')}:{getattr(palette, each.name)};" for each in fields(Palette))
