"""Generated ledgers, lawful and broken: rows of `events` for the laws in SQL and in Python to agree on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import hypothesis.strategies as st

from tests.sql.build import Campaign, Metric, Trial, canonical, chained, event_digest

Payloads = list[tuple[str, dict[str, Any]]]
Row = dict[str, Any]


@st.composite
def lawful_payloads(draw: st.DrawFn) -> Payloads:
    """Draw a lawful history: some prefix of a campaign of up to two candidates, cases and repeats, or all of it."""
    candidates = [f"c{ix}" for ix in range(draw(st.integers(0, 2)))]
    cases: dict[str, dict[str, str]] = {f"w{ix}": {} for ix in range(draw(st.integers(1, 2)))}
    repeats = draw(st.integers(1, 2))
    arms = ("base", *candidates)
    ragged = {case: {who: draw(st.integers(1, repeats)) for who in arms} for case in cases}
    declared = ragged if draw(st.booleans()) else {case: dict.fromkeys(arms, repeats) for case in cases}
    grid = [(who, case, repeat) for who in arms for case in cases for repeat in range(declared[case][who])]
    trials = [
        Trial(who, case, repeat, {"m": 1.0}, status=draw(st.sampled_from(["success", "domain_failure", "cancelled"])))
        for who, case, repeat in draw(st.permutations(grid))
    ]
    compared: Payloads = [("comparison.recorded", {"candidate_id": name, "comparisons": []}) for name in candidates]
    decided: Payloads = [("decision.recorded", {"candidate_id": name, "decision": "pass"}) for name in candidates]
    whole = Campaign(
        cases=cases,
        metrics=[Metric("m")],
        candidates=candidates,
        repeats=repeats,
        coupling="none" if declared is ragged else "common_seed",
        ragged=ragged if declared is ragged else None,
        trials=trials,
        records=[*compared, *decided],
        ending={"selected": draw(st.sampled_from(["base", *candidates])), "outcome": "selected", "score": None},
    ).payloads()
    if draw(st.booleans()):
        return whole
    prefix = whole[: draw(st.integers(1, len(whole) - 1))]
    return [*prefix, ("campaign.cancelled", {"reason": "enough"})] if draw(st.booleans()) else prefix


def campaign_id_of(payloads: Payloads) -> str:
    """Return an id for a history, whatever it holds."""
    return event_digest("", _frame(canonical(payloads)))


def lawful_rows(payloads: Payloads) -> list[Row]:
    """Return the ledger of a lawful history."""
    return chained(campaign_id_of(payloads), payloads)


def _frame(payload: str) -> Row:
    started = chained("", [("", {})])[0]
    return started | {"payload": payload}


def rechained(rows: Sequence[Row]) -> list[Row]:
    """Return rows with the digests that their contents and order ask for."""
    linked: list[Row] = []
    for row in rows:
        linked.append(row | {"digest": event_digest(linked[-1]["digest"] if linked else "", row)})
    return linked


def _told(row: Row, **changes: Any) -> Row:
    return row | {"payload": canonical(json.loads(row["payload"]) | changes)}


def _renumbered(rows: Sequence[Row]) -> list[Row]:
    return rechained([row | {"sequence": ix + 1} for ix, row in enumerate(rows)])


def _replace(rows: Sequence[Row], ix: int, row: Row) -> list[Row]:
    return rechained([*rows[:ix], row, *rows[ix + 1 :]])


def _first(rows: Sequence[Row], kind: str) -> int | None:
    return next((ix for ix, row in enumerate(rows) if row["type"] == kind), None)


def _change(kind: str, **changes: Any) -> Callable[[Sequence[Row]], list[Row] | None]:
    """Return a breakage that tells something else in the first event of a kind."""

    def broken(rows: Sequence[Row]) -> list[Row] | None:
        ix = _first(rows, kind)
        return None if ix is None else _replace(rows, ix, _told(rows[ix], **changes))

    return broken


def _repeat(kind: str) -> Callable[[Sequence[Row]], list[Row] | None]:
    """Return a breakage that accepts the first event of a kind twice in a row."""

    def broken(rows: Sequence[Row]) -> list[Row] | None:
        ix = _first(rows, kind)
        return None if ix is None else _renumbered([*rows[: ix + 1], *rows[ix:]])

    return broken


def _drop(kind: str, before: str) -> Callable[[Sequence[Row]], list[Row] | None]:
    """Return a breakage that never had the first event of a kind, which an event of another kind needs."""

    def broken(rows: Sequence[Row]) -> list[Row] | None:
        ix = _first(rows, kind)
        is_needed = _first(rows, before) is not None
        return None if ix is None or not is_needed else _renumbered([*rows[:ix], *rows[ix + 1 :]])

    return broken


def _declare_the_baseline(rows: Sequence[Row]) -> list[Row] | None:
    """Declare the baseline among the candidates, and register it as if it were one."""
    ix = _first(rows, "candidate.registered")
    if ix is None:
        return None
    started = json.loads(rows[0]["payload"])
    identity = started["identity"] | {"candidates": [*started["identity"]["candidates"], started["baseline_id"]]}
    registered = _told(rows[ix], candidate_id=started["baseline_id"])
    return _renumbered([_told(rows[0], identity=identity), *rows[1:ix], registered, *rows[ix:]])


def _come_as_it_goes(rows: Sequence[Row]) -> list[Row] | None:
    """Declare the number of coordinates, and leave the candidates to a proposer."""
    identity = json.loads(rows[0]["payload"])["identity"] | {"candidates": None}
    return _replace(rows, 0, _told(rows[0], identity=identity, coordinates=1))


def _last_again(rows: Sequence[Row]) -> list[Row] | None:
    return rechained([*rows[:-1], rows[-1], rows[-1]])


def _gap(rows: Sequence[Row]) -> list[Row] | None:
    return rechained([*rows[:-1], rows[-1] | {"sequence": rows[-1]["sequence"] + 1}])


def _altered(rows: Sequence[Row]) -> list[Row] | None:
    return [*rows[:-1], _told(rows[-1], note="altered")]


def _alien_digest(rows: Sequence[Row]) -> list[Row] | None:
    return [*rows[:-1], rows[-1] | {"digest": "sha256:" + "0" * 64}]


def _old_fence(rows: Sequence[Row]) -> list[Row] | None:
    return None if len(rows) < 2 else _replace(rows, len(rows) - 1, rows[-1] | {"fence": 0})


def _new_version(rows: Sequence[Row]) -> list[Row] | None:
    return _replace(rows, len(rows) - 1, rows[-1] | {"schema_version": 2})


def _unknown_type(rows: Sequence[Row]) -> list[Row] | None:
    return None if len(rows) < 2 else _replace(rows, len(rows) - 1, rows[-1] | {"type": "rumour.heard"})


def _broken_json(rows: Sequence[Row]) -> list[Row] | None:
    return None if len(rows) < 2 else _replace(rows, len(rows) - 1, rows[-1] | {"payload": '{"candidate_id":'})


def _after_the_end(rows: Sequence[Row]) -> list[Row] | None:
    is_ended = rows[-1]["type"] in ("campaign.completed", "campaign.cancelled")
    late = rows[-1] | {"type": "campaign.cancelled", "payload": '{"reason":"late"}'}
    return _renumbered([*rows, late]) if is_ended else None


def _trial_after_comparison(rows: Sequence[Row]) -> list[Row] | None:
    trial, comparison = _first(rows, "trial.completed"), _first(rows, "comparison.recorded")
    if trial is None or comparison is None:
        return None
    candidate = json.loads(rows[comparison]["payload"])["candidate_id"]
    own = next(ix for ix, row in enumerate(rows) if row["type"] == "trial.completed" and candidate in row["payload"])
    moved = [*rows[:own], *rows[own + 1 : comparison + 1], rows[own], *rows[comparison + 1 :]]
    return _renumbered(moved)


#: Name of a breakage to the law that it breaks and how; None where the history has nothing to break.
BREAKAGES: Mapping[str, tuple[str, Callable[[Sequence[Row]], list[Row] | None]]] = {
    "a sequence stands twice": ("sequence", _last_again),
    "a sequence is left out": ("sequence", _gap),
    "content was altered": ("digest", _altered),
    "a digest was altered": ("digest", _alien_digest),
    "an old writer came back": ("fence", _old_fence),
    "a newer version wrote": ("version", _new_version),
    "the type is unknown": ("type", _unknown_type),
    "the payload is no JSON": ("payload", _broken_json),
    "it starts twice": ("start", _repeat("campaign.started")),
    "it does not start": ("start", _drop("campaign.started", "candidate.registered")),
    "more coordinates than the repeats give": ("grid", _change("campaign.started", coordinates=10**6)),
    "a case without a coordinate": ("grid", _change("campaign.started", coordinates=0)),
    "a number of coordinates that is none": ("grid", _change("campaign.started", coordinates="8")),
    "coordinates of candidates yet to come": ("grid", _come_as_it_goes),
    "a candidate is registered twice": ("candidate", _repeat("candidate.registered")),
    "an undeclared candidate is registered": ("candidate", _change("candidate.registered", candidate_id="stranger")),
    "the baseline is registered": ("candidate", _change("candidate.registered", candidate_id="base")),
    "a declared baseline is registered": ("candidate", _declare_the_baseline),
    "a trial of an unknown candidate": ("trial", _change("trial.completed", candidate_id="stranger")),
    "a trial on the wrong arm": ("trial", _change("trial.completed", arm="sideways")),
    "a status is not terminal": ("trial", _change("trial.completed", status="running")),
    "a repeat is not declared": ("trial", _change("trial.completed", repeat=2)),
    "a repeat is negative": ("trial", _change("trial.completed", repeat=-1)),
    "a trial comes after its comparison": ("trial", _trial_after_comparison),
    "a coordinate is accepted twice": ("coordinate", _repeat("trial.completed")),
    "a candidate is compared twice": ("comparison", _repeat("comparison.recorded")),
    "a stranger is compared": ("comparison", _change("comparison.recorded", candidate_id="stranger")),
    "a candidate is decided twice": ("decision", _repeat("decision.recorded")),
    "a candidate is decided without a comparison": ("decision", _drop("comparison.recorded", "decision.recorded")),
    "a verdict is none of the three": ("decision", _change("decision.recorded", decision="maybe")),
    "it completes with a candidate undecided": ("completion", _drop("decision.recorded", "campaign.completed")),
    "it selects a stranger": ("completion", _change("campaign.completed", selected="stranger")),
    "something follows the end": ("terminal", _after_the_end),
}
