"""The page: one HTML file that needs nothing else, filled from a report's content."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import jinja2
from altair.utils.schemapi import debug_mode
from markupsafe import Markup

from opfield.report import figures, text
from opfield.report.charts import CELL_CLASSES
from opfield.report.mark import mark
from opfield.report.palette import DARK, LIGHT, css_variables
from opfield.report.scripts import load_scripts
from opfield.report.words import verdict_in_words

_TEMPLATES: Final = Path(__file__).parent / "templates"

#: What opfield calls things, in words.
_WORDS: Final = {
    "whole": "succeeded",
    "not_planned": "not planned",
}


def render_html(content: Mapping[str, Any], scripts: Future[str] | None = None) -> str:
    """Return the page of a report.

    Args:
        content: what `read_report` gives.
        scripts: scripts that were already started to be loaded.
    """
    shown = text.all_visible(content)
    parts = shown["parts"]
    rows = {name: part["rows"] or [] for name, part in parts.items()}
    campaign, focus, both = rows["campaign"][0], rows["focus"][0], rows["denominator"][0]
    kept = {each["artifact_id"] for each in shown["artifacts"]}
    cell_groups = _cell_groups(rows["failing_cells"])
    style = (
        f":root{{{css_variables(LIGHT)}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{css_variables(DARK)}}}}}"
        f"{_read('style.css')}"
    )
    bundle, script = (scripts or load_scripts()).result(), _read("page.js")
    page = _environment().get_template("page.html")
    return page.render(
        **{name: rows[name] for name in ("candidates", "failures", "contenders", "unrankable", "strata", "scopes")},
        **{name: rows[name] for name in ("costs", "metrics", "records", "wholeness")},
        mark=Markup(mark(content, "html")),
        policy=_policy(style, bundle, script),
        style=Markup(style),
        bundle=Markup(bundle),
        script=Markup(script),
        opfield=shown["opfield"],
        report_digest=shown["report_digest"],
        has_texts=shown["has_texts"],
        artifacts=shown["artifacts"],
        parts=parts,
        campaign=campaign,
        focus=focus,
        metric=focus["metric"] or "the metric",
        both=both,
        shares=_shares(both),
        verdict=verdict_in_words(parts),
        gates_of={key: list(group) for key, group in groupby(rows["gates"], key=lambda row: row["position"])},
        ladder=[row for row in rows["gates"] if row["position"] == 1],
        **_figures(rows, focus, both),
        is_clustered=any(row["is_clustered"] for row in rows["candidates"]),
        partial=[row for row in rows["candidates"] if row["is_partial"]],
        classes=list(CELL_CLASSES),
        broken_arms=[row for row in rows["arms"] if row["failed"] or row["missing"]],
        cell_groups=cell_groups,
        anchors={(group["position"], group["status"]) for group in cell_groups},
        kept=kept,
        extremes=_extremes(rows["extremes"]),
        facts=_facts(campaign, rows["timing"]),
    )


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": text.number,
        "signed": text.signed,
        "seconds": text.seconds,
        "short": text.short,
        "plural": text.plural,
        "in_words": lambda name: _WORDS.get(name, name.replace("_", " ")),
    }
    return made


def _figures(rows: Mapping[str, Any], focus: Mapping[str, Any], both: Mapping[str, Any]) -> dict[str, Any]:
    """Return the charts of a page by name."""
    # What Altair checks of each part of a chart as it is made, tests check of these charts.
    with debug_mode(False):
        return {
            "forests": figures.forests(rows["comparisons"], rows["margins"]),
            "grid": figures.grid(rows["coverage"], both),
            "slopes": figures.slopes(rows["slopes"], focus["metric"], focus["unit"]),
            "pareto": figures.pareto(rows["pareto"], focus),
        }


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _policy(style: str, *scripts: str) -> str:
    """Return the policy that lets this page run its own scripts and load nothing."""
    hashes = " ".join(_source_hash(each) for each in scripts)
    # The script that draws sets styles on what it draws, one by one; a style sheet it may not bring.
    styles = f"style-src {_source_hash(style)}; style-src-attr 'unsafe-inline'"
    return f"default-src 'none'; script-src {hashes}; {styles}; img-src data:; base-uri 'none'; form-action 'none'"


def _source_hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _shares(both: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what became of the declared cells, laid end to end."""
    found, start = [], 0
    for kind, member in (("whole", "success"), *((each, each) for each in CELL_CLASSES)):
        found.append({"kind": kind, "count": both[member], "start": start})
        start += both[member]
    return found


def _cell_groups(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return failing cells by arm and class."""
    found = []
    for (position, status), group in groupby(rows, key=lambda row: (row["position"], row["status"])):
        listed = list(group)
        head = {name: listed[0][name] for name in ("label", "alike")}
        found.append({"position": position, "status": status, **head, "rows": listed})
    return found


def _extremes(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the cases with the largest changes by candidate, and how many got better and worse."""
    found = []
    for _, group in groupby(rows, key=lambda row: row["position"]):
        listed = list(group)
        counts = {row["kind"]: row["alike"] for row in listed}
        found.append({"label": listed[0]["label"], "rows": listed, "counts": list(counts.items())})
    return found


def _facts(campaign: Mapping[str, Any], timing: Sequence[Mapping[str, Any]]) -> list[tuple[str, str | None]]:
    """Return what identifies a campaign, and by what it was run, each with its name."""
    source = campaign["runner_source"]
    commit = campaign["git_commit"]
    changed = ", with changes that were not committed" if campaign["is_git_dirty"] else ""
    return [
        ("campaign", campaign["campaign_id"]),
        ("state", f"{campaign['state']}, {text.plural(campaign['events'], 'event')}, the last {campaign['last_at']}"),
        ("ledger root", campaign["root"] or "none yet: the history goes on"),
        ("digest of the last event", campaign["last_digest"]),
        ("coupling of the arms", campaign["coupling"]),
        ("reproducibility, as declared", campaign["reproducibility"]),
        ("time between the arms of a pair", _gap(timing)),
        ("runner", f"{campaign['runner_id']}, version {campaign['runner_version']}"),
        ("source of the runner", source),
        ("commit", None if commit is None else commit + changed),
        ("workload", f"{campaign['workload_id']}, {campaign['workload_digest']}"),
        ("space and proposer", f"{campaign['space']}; {campaign['proposer']}"),
        ("specification of the baseline", campaign["baseline_digest"]),
        ("SQL that judges", campaign["policy_digest"]),
        ("preference, and least gain", f"{campaign['preference'] or 'none'}, {text.number(campaign['min_gain'])}"),
        ("infers to", campaign["infers_to"].replace("_", " ")),
        ("root of the seeds", campaign["seed_root"]),
        ("confirms", campaign["confirms"] or "no other campaign"),
        ("started, finished (UTC)", f"{campaign['started_at']}, {campaign['finished_at'] or 'not finished'}"),
        ("recorded with", _versions(campaign)),
    ]  # fmt: skip


def _versions(campaign: Mapping[str, Any]) -> str:
    named = (("opfield", "opfield"), ("DuckDB", "duckdb"), ("Python", "python"), ("on", "platform"))
    return ", ".join(f"{name} {campaign[member] or text.UNKNOWN}" for name, member in named)


def _gap(timing: Sequence[Mapping[str, Any]]) -> str | None:
    if not timing or not timing[0]["known_pairs"]:
        return None
    row = timing[0]
    unknown = row["pairs"] - row["known_pairs"]
    also = f"; unknown for {text.plural(unknown, 'pair')}" if unknown else ""
    return (
        f"median {text.seconds(row['median_s'])}, 95 % within {text.seconds(row['most_s'])}, longest "
        f"{text.seconds(row['longest_s'])}; the baseline began first in {text.number(row['baseline_first'])} of "
        f"{text.plural(row['known_pairs'], 'pair')}, the candidate in {text.number(row['candidate_first'])}{also}"
    )
