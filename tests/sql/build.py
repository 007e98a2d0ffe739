"""A tiny warehouse folder from hand-written rows: events in Python, projections by the contract's own SQL."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from opfield.warehouse.contract import PRACTICE_TABLE_NAMES, arrow_schema, load_contract, projection_query
from opfield.warehouse.install import install
from opfield.warehouse.layout import relative, table_folder
from opfield.warehouse.ledger import segments
from opfield.warehouse.projection import file_digest, record_digests
from opfield.warehouse.views import VERDICTS, ViewSet, load_views

EPOCH = datetime(2026, 1, 1)


@dataclass(frozen=True)
class Metric:
    """A metric definition."""

    metric: str
    direction: int = 1
    lower: float | None = None
    upper: float | None = None
    on_domain_failure: str = "missing"
    unit: str | None = None
    kind: str = "continuous"
    evaluator: str | None = None
    description: str | None = None


@dataclass(frozen=True)
class Trial:
    """An accepted cell; `values` maps metrics to values, None being a metric that the runner could not give."""

    candidate_id: str
    case_id: str
    repeat: int = 0
    values: Mapping[str, float | None] = field(default_factory=dict)
    status: str = "success"
    failure_code: str | None = None
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    duration_s: float | None = None
    arm: str | None = None


@dataclass(frozen=True)
class Campaign:
    """A campaign: what it declares, and what it accepted so far.

    Candidate ids are free text here; `twins` are candidates whose specification equals the baseline's. `clusters` maps
    cases to the cluster that each belongs to; a case that is not in it belongs to none. `ragged` maps cases to how
    often they run on each arm, by candidate id, where that is not `repeats`; the campaign then declares coordinates.
    `specs` maps candidates to their specification, which is empty where none is given.
    """

    cases: Mapping[str, Mapping[str, str]]
    metrics: Sequence[Metric]
    trials: Sequence[Trial] = ()
    candidates: Sequence[str] = ("c1",)
    baseline: str = "base"
    repeats: int = 1
    gates: Sequence[Mapping[str, Any]] = ()
    preference: str | None = None
    min_gain: float = 0.0
    name: str = "tiny"
    twins: Sequence[str] = ()
    registered: Sequence[str] | None = None
    ending: Mapping[str, Any] | None = None
    records: Sequence[tuple[str, Mapping[str, Any]]] = ()
    clusters: Mapping[str, str] = field(default_factory=dict)
    coupling: str = "common_seed"
    ragged: Mapping[str, Mapping[str, int]] | None = None
    specs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> dict[str, Any]:
        """What the campaign's identity covers."""
        gates = [
            {"metric": None, "threshold": None, "options": {}, "name": gate["kind"], **gate} for gate in self.gates
        ]
        return {
            "name": self.name,
            "repeats": self.repeats,
            "space": "space",
            "proposer": "fixed",
            "workload": "sha256:workload",
            "runner": {"id": "runner", "version": "1"},
            "metrics": [vars(metric) for metric in self.metrics],
            "policy": {
                "gates": gates,
                "preference": self.preference,
                "min_gain": self.min_gain,
                "sql": "sha256:policy",
            },
            "coupling": self.coupling,
            "baseline": "sha256:spec-base",
            "seed_root": "0123456789abcdef",
            "candidates": sorted(self.candidates),
        }

    @property
    def campaign_id(self) -> str:
        """Identity of the campaign."""
        return digest("opfield/campaign/v1", canonical(self.identity))

    @property
    def hex(self) -> str:
        """The identity as it stands in folder names."""
        return self.campaign_id.removeprefix("sha256:")

    def payloads(self) -> list[tuple[str, dict[str, Any]]]:
        """Return type and payload of every event, in order."""
        started = {
            "identity": self.identity,
            "reproducibility": "seeded",
            "baseline_id": self.baseline,
            "baseline_artifact": f"artifact-{self.baseline}",
            "workload_id": "workload",
            "workload_artifact": "artifact-workload",
            "cases": len(self.cases),
            "policy_artifact": "artifact-policy",
            "provenance": {},
        }
        if self.ragged is not None:
            started["coordinates"] = sum(
                self.repeats_of(who, case) for who in (self.baseline, *self.candidates) for case in self.cases
            )
        events: list[tuple[str, dict[str, Any]]] = [("campaign.started", started)]
        for candidate in self.candidates if self.registered is None else self.registered:
            spec = "sha256:spec-base" if candidate in self.twins else f"sha256:spec-{candidate}"
            events.append(
                (
                    "candidate.registered",
                    {
                        "candidate_id": candidate,
                        "label": f"label {candidate}",
                        "baseline": "sha256:spec-base",
                        "spec": spec,
                        "artifact_id": f"artifact-{candidate}",
                    },
                )
            )
        events += [("trial.completed", self._trial_payload(trial)) for trial in self.trials]
        events += [(kind, dict(payload)) for kind, payload in self.records]
        if self.ending is not None:
            # An ending with a reason is that of a campaign that was cancelled.
            kind = "campaign.cancelled" if "reason" in self.ending else "campaign.completed"
            events.append((kind, dict(self.ending)))
        return events

    def repeats_of(self, candidate: str, case_id: str) -> int:
        """Return how often a case is declared to run on the arm of a candidate."""
        return (self.ragged or {}).get(case_id, {}).get(candidate, self.repeats)

    def _trial_payload(self, trial: Trial) -> dict[str, Any]:
        has_failed = trial.status != "success"
        return {
            "candidate_id": trial.candidate_id,
            "arm": trial.arm or ("baseline" if trial.candidate_id == self.baseline else "candidate"),
            "case_id": trial.case_id,
            "repeat": trial.repeat,
            "seed": "0123456789abcdef",
            "status": trial.status,
            "measurements": [
                {"metric": name, "value": value, "missing_reason": None if value is not None else "not_applicable"}
                for name, value in sorted(trial.values.items())
            ],
            "failure": {"code": trial.failure_code, "message": "it failed", "is_retryable": False}
            if has_failed
            else None,
            "cost_usd": trial.cost_usd,
            "input_tokens": trial.input_tokens,
            "output_tokens": trial.output_tokens,
            "duration_s": trial.duration_s,
            "started_at": "2026-01-01T00:00:00.000000Z",
            "finished_at": "2026-01-01T00:00:01.000000Z",
            "artifact_id": None,
            "attempts": 1,
            "worker": "w1",
        }

    def artifacts(self) -> dict[str, bytes]:
        """Return the artifacts that the projections read, by id."""
        workload = {
            "workload_id": "workload",
            "cases": [
                {
                    "case_id": case_id,
                    "case_digest": f"sha256:{case_id}",
                    "groups": dict(groups),
                    "cluster_id": self.clusters.get(case_id),
                    "partition": None,
                    "input": "{}",
                }
                | ({"repeats": dict(self.ragged[case_id])} if self.ragged and case_id in self.ragged else {})
                for case_id, groups in self.cases.items()
            ],
        }
        contents = {"artifact-workload": canonical(workload)}
        for candidate in (self.baseline, *self.candidates):
            is_twin = candidate == self.baseline or candidate in self.twins
            patch = None if candidate == self.baseline else {"id": f"label {candidate}", "optic": "x"}
            spec = {
                "payload": self.specs.get(candidate, {}),
                "digest": "sha256:spec-base" if is_twin else f"sha256:spec-{candidate}",
            }
            contents[f"artifact-{candidate}"] = canonical({"patch": patch, "spec": spec})
        return {name: content.encode() for name, content in contents.items()}

    def with_trials(self, *trials: Trial) -> Campaign:
        """Return the campaign with further trials."""
        return replace(self, trials=(*self.trials, *trials))


def canonical(value: Any) -> str:
    """Return canonical JSON, well enough for the values of tests."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(domain: str, *parts: str) -> str:
    """Return the domain-separated digest of text parts."""
    content = domain.encode() + b"\0"
    for part in parts:
        encoded = part.encode()
        content += len(encoded).to_bytes(8, "big") + encoded
    return "sha256:" + hashlib.sha256(content).hexdigest()


def chained(campaign_id: str, payloads: Iterable[tuple[str, Any]], fence: int = 1) -> list[dict[str, Any]]:
    """Return the rows of a lawful ledger with these types and payloads."""
    rows: list[dict[str, Any]] = []
    for ix, (kind, payload) in enumerate(payloads):
        row = {
            "campaign_id": campaign_id,
            "sequence": ix + 1,
            "type": kind,
            "schema_version": 1,
            "recorded_at": EPOCH + timedelta(seconds=ix, microseconds=ix),
            "fence": fence,
            "payload": canonical(payload),
        }
        rows.append(row | {"digest": event_digest(rows[-1]["digest"] if rows else "", row)})
    return rows


def event_digest(previous: str, row: Mapping[str, Any]) -> str:
    """Return the digest that an event's row must bear after a previous digest."""
    return digest(
        "opfield/event/v1",
        previous,
        row["campaign_id"],
        str(row["sequence"]),
        row["type"],
        str(row["schema_version"]),
        row["recorded_at"].strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        str(row["fence"]),
        row["payload"],
    )


def write_empty(root: Path) -> Path:
    """Write a warehouse folder in which nothing ran yet."""
    for table in load_contract():
        folder = root / table / "campaign=none"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(arrow_schema(table).empty_table(), folder / "empty.parquet")
    for table in PRACTICE_TABLE_NAMES:
        folder = root / "practice" / table
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(arrow_schema(table).empty_table(), folder / "empty.parquet")
    return root


def write_events(root: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write ledger rows as one segment, without projecting them."""
    folder = root / "events" / f"campaign={rows[0]['campaign_id'].removeprefix('sha256:')}"
    folder.mkdir(parents=True, exist_ok=True)
    events = pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema("events"))
    pq.write_table(events, folder / f"{rows[0]['sequence']:012d}.parquet")


def write_campaign(
    con: duckdb.DuckDBPyConnection, root: Path, campaign: Campaign, segment_events: int = 1_000_000
) -> str:
    """Write a campaign's events in segments, and the projections of each, into the warehouse `root`; return its id."""
    rows = chained(campaign.campaign_id, campaign.payloads())
    artifacts = campaign.artifacts()
    material = pa.table(
        {"artifact_id": list(artifacts), "content": list(artifacts.values())},
        schema=pa.schema([("artifact_id", pa.string()), ("content", pa.binary())]),
    )
    con.register("segment_artifacts", material)
    for first in range(0, len(rows), segment_events):
        segment = rows[first : first + segment_events]
        write_events(root, segment)
        con.register("segment", pa.Table.from_pylist(segment, schema=arrow_schema("events")))
        for table, contract in load_contract().items():
            if contract.projection_sql is None:
                continue
            folder = root / table / f"campaign={campaign.hex}"
            folder.mkdir(parents=True, exist_ok=True)
            target = folder / f"{segment[0]['sequence']:012d}.parquet"
            con.execute(f"copy ({projection_query(contract)}) to '{target}' (format parquet)")
    con.unregister("segment")
    con.unregister("segment_artifacts")
    return campaign.campaign_id


def record_files(root: Path, campaign_id: str) -> None:
    """Record the digests of a campaign's files, as a writer does; without, nothing vouches for what stands there."""
    for segment in segments(root, campaign_id):
        files = [table_folder(root, table, campaign_id) / segment.name for table in load_contract()]
        found = {relative(root, path): file_digest(path) for path in files if path.exists()}
        record_digests(root, campaign_id, int(segment.stem), found)


def open_views(
    root: Path, con: duckdb.DuckDBPyConnection | None = None, names: Sequence[str] = ()
) -> duckdb.DuckDBPyConnection:
    """Return a connection with views installed, reading the warehouse `root`.

    Every view where no names are given; binding these and what they read takes a fraction of the time.
    """
    con = con or duckdb.connect(config={"threads": 2})
    install(at(con, root), only(*names) if names else load_views(), load_contract())
    return con


def only(*names: str) -> ViewSet:
    """Return these relations and what they read."""
    views = load_views()
    return ViewSet.from_relations(views.named[name] for name in views.closure(names) if name != VERDICTS)


def at(con: duckdb.DuckDBPyConnection, root: Path) -> duckdb.DuckDBPyConnection:
    """Point the views of a connection at another warehouse."""
    con.execute(f"set variable root = '{root}'")
    return con


def rows(con: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    """Return the rows of a query, each by column name."""
    result = con.execute(query)
    names = [each[0] for each in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
