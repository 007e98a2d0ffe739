"""The report as a short Markdown for a comment on a pull request; what users wrote cannot become markup in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from opfield.report.mark import mark
from opfield.report.text import UNKNOWN, all_visible, number, plural, short, signed
from opfield.report.words import verdict_in_words

#: Candidates in the table, and characters of a name or message.
_LISTED: Final = 12
_LONGEST: Final = 240
_LONGEST_CHANGE: Final = 120
_SIGNS: Final = {"pass": "✅ pass", "fail": "❌ fail", "indeterminate": "⚠️ indeterminate"}
_HEADS: Final = {
    "selected": "✅",
    "kept": "➖",
    "undecided": "⚠️",
    "unfinished": "⏳",
    "awaiting": "⏳",
    "cancelled": "⛔",
    "nothing": "➖",
}


def render_markdown(content: Mapping[str, Any]) -> str:
    """Return a short Markdown of a report's content."""
    shown = all_visible(content)
    parts = shown["parts"]
    campaign, both = parts["campaign"]["rows"][0], parts["denominator"]["rows"][0]
    verdict = verdict_in_words(parts)
    lines = [
        f"### {_HEADS[verdict.standing]} {escaped(verdict.sentence, limit=2000)}",
        "",
        f"{escaped(campaign['name'])} `{short(campaign['campaign_id'])}`: {_denominator(both)}",
        "",
    ]
    candidates = parts["candidates"]["rows"] or ()
    if candidates:
        lines += [*_table(candidates, parts["focus"]["rows"][0]["metric"]), ""]
        partial = [row for row in candidates if row["is_partial"]]
        if partial:
            lines += [
                f"Means are over the pairs found: {plural(len(partial), 'candidate')} "
                f"{'lacks' if len(partial) == 1 else 'lack'} some, and a value gate takes the worst for them before it "
                "passes.",
                "",
            ]
        clustered = next((row for row in candidates if row["is_clustered"]), None)
        if clustered is not None:
            lines += [
                f"The cluster is the unit: {plural(clustered['cases'], 'case')} in "
                f"{plural(clustered['clusters'], 'cluster')}.",
                "",
            ]
        more = len(candidates) - _LISTED + parts["candidates"]["left_out"]
        if more > 0:
            lines += [f"{plural(more, 'more candidate')} left out here.", ""]
    if verdict.changes:
        lines += ["**What would change it**", "", *(f"- {escaped(each, limit=2000)}" for each in verdict.changes), ""]
    records = parts["records"]["rows"] or ()
    if records:
        lines += [
            f"**What was recorded differs from what the evidence gives now in {plural(len(records), 'place')}.**",
            "",
        ]
    lines += [
        f"<sub>coupling {campaign['coupling']}, reproducibility {campaign['reproducibility']}, ledger root "
        f"`{short(campaign['root'])}`, report `{short(content['report_digest'])}`, opfield {content['opfield']}</sub>",
        "",
        f"<!-- opfield-report {mark(content, 'md')} -->",
    ]
    return "\n".join(lines) + "\n"


#: A space of no width.
_APART: Final = "&#8203;"


def escaped(told: str, limit: int = _LONGEST) -> str:
    r"""Return text that Markdown shows as it stands: no markup, no HTML, no link, no mention, one line.

    >>> print(escaped("<b>a|b</b> `c` @me #1\n# head"))
    &lt;b&gt;a\|b&lt;/b&gt; \`c\` &#64;&#8203;me &#35;&#8203;1 &#35;&#8203; head
    """
    cut = told if len(told) <= limit else f"{told[:limit]}… ({len(told)} characters)"
    line = " ".join(cut.split())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = re.sub(r"[\\`*_{}\[\]|~$^!]", lambda found: f"\\{found.group()}", line)
    # Mentions, numbers of issues and addresses are looked for in the text that entities stand for, so that an entity
    # alone guards none of them: a space of no width after the sign does.
    line = line.replace("@", f"&#64;{_APART}").replace("://", f"&#58;{_APART}//").replace("www.", f"www{_APART}&#46;")
    line = re.sub(r"GH(?=-\d)", f"GH{_APART}", re.sub(r"(?<![&])#", f"&#35;{_APART}", line))
    return re.sub(r"^([-+=]|\d+[.)])", r"\\\1", line)


def _denominator(both: Mapping[str, Any]) -> str:
    told = [f"{number(both['success'])} of {plural(both['declared'], 'declared cell')} succeeded"]
    for member in ("domain_failure", "infrastructure_failure"):
        told += [plural(both[member], member.replace("_", " "))] if both[member] else []
    told += [f"{number(both[member])} {member}" for member in ("cancelled", "missing") if both[member]]
    return ", ".join(told)


def _table(candidates: Sequence[Mapping[str, Any]], metric: str | None) -> list[str]:
    name = escaped(metric or "metric")
    lines = [
        f"| candidate | changes | verdict | {name} before | after | oriented change | 95 % interval | pairs "
        "| decided by |",
        "| :-- | :-- | :-- | --: | --: | --: | --: | --: | :-- |",
    ]
    for row in candidates[:_LISTED]:
        interval = (
            UNKNOWN
            if row["ci_low"] is None or row["ci_high"] is None
            else f"{signed(row['ci_low'], 3)} … {signed(row['ci_high'], 3)}"
        )
        by = "–" if row["decision"] == "pass" else escaped(f"{row['gate'] or 'coverage'}: {row['message']}")
        changed = escaped(row["changes"] or row["changed_fields"] or "–", limit=_LONGEST_CHANGE)
        label = f"**{escaped(row['label'])}**" if row["is_selected"] else escaped(row["label"])
        lines.append(
            f"| {label} | {changed} | {_SIGNS[row['decision']]} | {number(row['baseline_mean'])} "
            f"| {number(row['candidate_mean'])} | {signed(row['mean_delta'])} | {interval} "
            f"| {number(row['pairs'])} of {number(row['expected_pairs'])} | {by} |"
        )
    return lines
