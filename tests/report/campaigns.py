"""Campaigns of every kind of ending that a report is looked at for, each run or written into a warehouse of its own."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import opfield as of
from opfield.campaign.ending import cancel
from opfield.campaign.prepare import policy_digest
from opfield.cli.app import invoke
from opfield.warehouse.store import create_store
from opfield.warehouse.views import installed_views
from tests.sql import build

METRICS: Final = [
    of.Metric("score", lower=0, upper=1, description="share of the answer that is right"),
    of.Metric("words", direction="minimize", kind="count", unit="words"),
]
POLICY: Final = of.Policy([of.coverage(), of.failures(), of.superiority("score")], prefer="score")

#: What a name must survive as: markup, scripts, SQL, escapes, marks of direction, signs that end scripts.
HOSTILE: Final = (
    "</script><img src=x onerror=alert(1)>'; drop table cells; -- \x1b[31m\u202e\u2028${7*7} {{7*7}} | `x` @me"
)


def answer(trial: of.TrialRequest) -> of.TrialResult:
    """A score that the specification lifts, with the noise of the seed."""
    noise = random.Random(f"{trial.coordinate.case_id}/{trial.coordinate.repeat}").gauss(0, 0.08)
    own = random.Random(f"{trial.coordinate.case_id}/{sorted(trial.spec.items())}").gauss(0, trial.spec["spread"])
    score = min(1.0, max(0.0, trial.case.get("base", 0.5) + noise + own + trial.spec["gain"]))
    trial.artifacts.put({"answer": f"{trial.coordinate.case_id} with {trial.spec['gain']}", "score": round(score, 3)})
    known = trial.coordinate.repeat == 0
    return of.TrialResult(
        {"score": score, "words": 140 + round(200 * trial.spec["gain"]) + len(trial.coordinate.case_id)},
        cost_usd=0.002 if known else None,
        input_tokens=900 if known else None,
        output_tokens=120 if known else None,
    )


def fails_some(trial: of.TrialRequest) -> of.TrialResult:
    """As `answer`, but the candidates that gain break on some cases, and one fails on others."""
    ix = int(trial.coordinate.case_id.rpartition("-")[2])
    if trial.spec["gain"] > 0 and ix % 5 == 1:
        raise of.InfrastructureFailure("provider_down", "503 from the provider")
    if trial.spec["gain"] < 0 and ix % 4 == 2:
        raise of.DomainFailure("no_answer", "the model said nothing")
    return answer(trial)


def worse_for_admins(trial: of.TrialRequest) -> of.TrialResult:
    """As `answer`, but what gains loses on the cases of administrators."""
    told = answer(trial)
    if int(trial.coordinate.case_id.rpartition("-")[2]) % 3 == 0 and trial.spec["gain"] > 0:
        return of.TrialResult(
            {"score": max(0.0, (told.metrics["score"] or 0.0) - 0.45), "words": told.metrics["words"]}
        )
    return told


def hostile_answer(trial: of.TrialRequest) -> of.TrialResult:
    """Answers, keeps and fails with texts that want to be something else."""
    if trial.spec["gain"] > 0 and trial.case["ix"] % 3 == 0:
        raise of.DomainFailure("bad_text", f"{HOSTILE} {'long ' * 2000}")
    told = answer(trial)
    trial.artifacts.put({"html": HOSTILE, "long": "x" * 3_000_000 if trial.case["ix"] == 1 else ""})
    return told


def cases(count: int, groups: bool = False) -> dict[str, Any]:
    """Return cases with a base of their own, in two roles where groups are asked for."""
    return {
        f"case-{ix:03d}": of.Case(
            f"case-{ix:03d}",
            {"base": 0.45 + 0.3 * math.sin(ix), "ix": ix, "question": f"What about {ix}?"},
            groups={"role": "admin" if ix % 3 == 0 else "user"} if groups else {},
        )
        for ix in range(count)
    }


def declared(name: str, **changes: Any) -> of.Campaign:
    """Return a campaign of three candidates and 30 cases."""
    members: dict[str, Any] = {
        "baseline": {"gain": 0.0, "spread": 0.03},
        "candidates": {"larger": {"gain": 0.1}, "largest": {"gain": 0.12}, "smaller": {"gain": -0.1}},
        "cases": list(cases(30).values()),
        "run": answer,
        "metrics": METRICS,
        "policy": POLICY,
        "repeats": 2,
    }
    return of.declare(name, **{**members, **changes})


def win(root: Path) -> str:
    """A clear win of two candidates, and a loss."""
    return of.run(declared("a clear win"), root, executor="inline").campaign_id


def loss(root: Path) -> str:
    """Every candidate loses."""
    losing = {"shorter": {"gain": -0.2}, "shortest": {"gain": -0.3}}
    return of.run(declared("a clear loss", candidates=losing), root, executor="inline").campaign_id


def missing_evidence(root: Path) -> str:
    """Cells broke, so that the evidence decides nothing; accepted as they are."""
    broken = declared("missing evidence", run=fails_some, limits=of.Limits(attempts=1, pause_after=1000))
    outcome = of.run(broken, root, executor="inline")
    if outcome.state != "completed":
        invoke(["finish", "--accept-failures", outcome.campaign_id, "--warehouse", str(root)])
    return outcome.campaign_id


def failed_stratum(root: Path) -> str:
    """Better on the whole, worse for administrators."""
    policy = of.Policy(
        [of.coverage(), of.superiority("score"), of.noninferiority("score", 0.05, within="role", min_cases=5)],
        prefer="score",
    )
    better = {"for-users": {"gain": 0.3}, "larger": {"gain": 0.0, "spread": 0.01}}
    asked = declared(
        "one failed stratum",
        candidates=better,
        run=worse_for_admins,
        policy=policy,
        cases=list(cases(30, True).values()),
    )
    return of.run(asked, root, executor="inline").campaign_id


def cancelled(root: Path) -> str:
    """Cancelled after some cells."""
    halfway = declared("cancelled", run=_stops_halfway, limits=of.Limits(attempts=1, pause_after=30))
    campaign_id = of.run(halfway, root, executor="inline").campaign_id
    cancel(root, campaign_id, "no budget left")
    return campaign_id


def _stops_halfway(trial: of.TrialRequest) -> of.TrialResult:
    if trial.coordinate.case_id > "case-012":
        raise ConnectionError("connection refused")
    return answer(trial)


def unfinished(root: Path) -> str:
    """Paused by an outage."""
    halfway = declared("not finished", run=_stops_halfway, limits=of.Limits(attempts=1, pause_after=30))
    return of.run(halfway, root, executor="inline").campaign_id


def awaiting_review(root: Path) -> str:
    """Everything measured, one candidate waits for people."""
    policy = of.Policy([of.coverage(), of.superiority("score"), of.review()], prefer="score")
    return of.run(declared("awaiting review", policy=policy), root, executor="inline").campaign_id


def many(root: Path) -> str:
    """Three hundred candidates on a few cases."""
    candidates = {f"cand-{ix:03d}": {"gain": (ix - 150) / 1000} for ix in range(300)}
    policy = of.Policy([of.coverage(), of.failures(), of.mean_delta("score", at_least=0.02)], prefer="score")
    asked = declared("300 candidates", candidates=candidates, cases=list(cases(8).values()), repeats=1, policy=policy)
    return of.run(asked, root, executor="inline").campaign_id


def multilingual(root: Path) -> str:
    """Ids and texts in Chinese, Arabic, Hebrew and emoji."""
    told = [
        of.Case(name, {"base": 0.4, "question": f"{name}؟ 你好 👩‍👩‍👧‍👦"}, groups={"语言": group})
        for name, group in [
            ("如何修剪玫瑰", "中文"), ("متى تُزرع الطماطم؟", "العربية"), ("🍅🌹🪴", "emoji"), ("מתי לקצור", "עברית"),
            *((f"问题 {ix} سؤال", ("中文", "العربية")[ix % 2]) for ix in range(20)),
        ]
    ]  # fmt: skip
    names = {"更大的块 🧩": {"gain": 0.15}, "قطع أصغر": {"gain": -0.1}, "👩‍👩‍👧‍👦 family": {"gain": 0.05}}
    return of.run(declared("园艺问答 · بستنة 🌱", candidates=names, cases=told), root, executor="inline").campaign_id


def hostile(root: Path) -> str:
    """Names, hypotheses, messages and artifacts that want to be something else."""
    told = [
        of.Case(f"{ix} {HOSTILE}", {"base": 0.5, "ix": ix, "text": HOSTILE * 50}, groups={"g<b>": "<i>x"})
        for ix in range(6)
    ]
    asked = declared(
        f"<b>bold</b> {HOSTILE}",
        candidates={f"<script>alert(1)</script> {HOSTILE}": {"gain": 0.1}, "{{7*7}}|@me": {"gain": -0.1}},
        cases=told,
        run=hostile_answer,
        metrics=[
            of.Metric("score", lower=0, upper=1, description=HOSTILE),
            of.Metric("words", kind="count", unit="<u>"),
        ],
        repeats=1,
    )
    return of.run(asked, root, executor="inline").campaign_id


def ingested(root: Path) -> str:
    """Results of another tool, with samples that failed."""
    root.mkdir(parents=True, exist_ok=True)
    told = random.Random(7)
    rows = [
        {
            "model": model,
            "question": f"q{ix}",
            "accuracy": None if (failed := model == "new" and ix % 9 == 4) else float(told.random() < chance),
            "error": "timeout after 60 s" if failed else None,
            "topic": ("history", "physics")[ix % 2],
        }
        for model, chance in (("old", 0.5), ("new", 0.8), ("other", 0.55))
        for ix in range(40)
    ]
    file = root.parent / f"{root.name}.parquet"
    pq.write_table(pa.Table.from_pylist(rows), file)
    words = [
        "--candidate",
        "model",
        "--case",
        "question",
        "--metric",
        "accuracy",
        "--group",
        "topic",
        "--error",
        "error",
    ]
    code = invoke(
        ["ingest", "table", str(file), *words, "--binary", "accuracy", "--baseline", "old", "--warehouse", str(root)]
    )
    assert code in (0, 3, 4)
    return of.open(root).campaign_id()


@dataclass(frozen=True)
class Judged(build.Campaign):
    """A hand-written campaign whose identity names the SQL that is installed, so that it is judged by that."""

    @property
    def identity(self) -> dict[str, Any]:
        told = super().identity
        kinds = {gate["kind"] for gate in self.gates}
        return {**told, "policy": {**told["policy"], "sql": policy_digest(installed_views().restricted(kinds), kinds)}}


def written(root: Path, campaign: build.Campaign) -> str:
    """Write a hand-written campaign into a warehouse of its own."""
    create_store(root)
    with duckdb.connect() as con:
        campaign_id = build.write_campaign(con, root, campaign)
    build.record_files(root, campaign_id)
    return campaign_id


def no_candidates(root: Path) -> str:
    """A history without any candidate."""
    return written(
        root,
        Judged(
            cases={"a": {}, "b": {}},
            metrics=[build.Metric("score", lower=0, upper=1)],
            candidates=(),
            gates=[{"kind": "coverage"}],
            preference="score",
            name="no candidates",
            trials=[build.Trial("base", "a", values={"score": 0.5}), build.Trial("base", "b", values={"score": 0.25})],
        ),
    )


def hand_written(root: Path, **changes: Any) -> str:
    """A candidate that gains at each of eight cases, two in a cluster, with a specification of its own."""
    members: dict[str, Any] = {
        "cases": {name: {} for name in "abcdefgh"},
        "clusters": {name: str(ix // 2) for ix, name in enumerate("abcdefgh")},
        "metrics": [build.Metric("score", lower=0, upper=1)],
        "gates": [{"kind": "coverage"}],
        "specs": {"base": {"k": 2, "prompt": "a" * 200}, "c1": {"k": 4, "prompt": "", "new": [True]}},
        "trials": [
            build.Trial(who, case, values={"score": value + ix / 20})
            for who, value in (("base", 0.25), ("c1", 0.5))
            for ix, case in enumerate("abcdefgh")
        ],
    }
    return written(root, Judged(**{**members, **changes}))


def no_preference(root: Path) -> str:
    """A candidate passes, but the policy names no metric to rank it by; its cases stand in clusters."""
    return hand_written(root, ending={"selected": "base", "outcome": "kept_baseline", "score": None})


def not_ended(root: Path) -> str:
    """Killed after the last cell, before the verdict was recorded."""
    return hand_written(root, preference="score")


KINDS: Final[Mapping[str, Callable[[Path], str]]] = {
    "win": win,
    "loss": loss,
    "missing_evidence": missing_evidence,
    "failed_stratum": failed_stratum,
    "no_candidates": no_candidates,
    "cancelled": cancelled,
    "unfinished": unfinished,
    "no_preference": no_preference,
    "not_ended": not_ended,
    "awaiting_review": awaiting_review,
    "many": many,
    "multilingual": multilingual,
    "hostile": hostile,
    "ingested": ingested,
}
