"""A stage for the shipped views: simulated campaigns as tables in memory, judged by the SQL that judges real ones.

Each draw is a campaign of its own, with its `campaign.started` event, cases, metrics, cells and measurements. Every
relation from there to `gate_results` is the shipped one, computed once in the order in which they read each other. Only
`integrity` is replaced by a table that calls every campaign whole: it compares the projections with a ledger, of which
there is none here.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import opfield as of
from opfield.campaign.computed import COMPUTATIONS
from opfield.warehouse.contract import load_contract
from opfield.warehouse.views import Relation, ViewSet, load_views

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

BASELINE = "base"
SEED_ROOT = "0123456789abcdef"

_TABLES = ("events", "cells", "measurements", "cases", "candidates", "metrics")
_INTEGRITY = (
    "create table integrity as select campaign_id, candidate_id, 0::bigint as cells, "
    "0::bigint as announced_measurements, 0::bigint as measurements, true as is_whole, true as is_comparable "
    "from declared_candidates"
)


@dataclass(frozen=True, slots=True)
class Arms:
    """Values of both arms over all draws.

    Attributes:
        baseline: shape (draws, cases, repeats), in the unit of what is measured.
        candidates: shape (draws, candidates, cases, repeats), likewise.
    """

    baseline: Floats
    candidates: Floats

    def stacked(self) -> Floats:
        """Return shape (draws, arms, cases, repeats), the baseline first."""
        return np.concatenate([self.baseline[:, None], self.candidates], axis=1)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a number of simulated campaigns gave.

    Attributes:
        values: values by metric, none missing.
        failed: cells that ended as domain failures, shape (draws, arms, cases, repeats), the baseline first; none where
            None.
        used: use by resource, a column of `cells`; unknown where a resource is not named.
    """

    values: Mapping[str, Arms]
    failed: Truths | None = None
    used: Mapping[str, Arms] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Return the numbers of draws, arms, cases and repeats."""
        arms = next(iter(self.values.values()))
        draws, cases, repeats = arms.baseline.shape
        return draws, 1 + arms.candidates.shape[1], cases, repeats


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How simulated campaigns were judged, counted by gate.

    Attributes:
        campaigns: number of campaigns.
        status: by gate name and status, campaigns in which some candidate stands so.
        complete_cases: by metric, campaigns in which the 95 % interval of `comparisons`, which is over the pairs that
            were found, lies above 0 for some candidate.
    """

    campaigns: int = 0
    status: Mapping[tuple[str, str], int] = field(default_factory=dict)
    complete_cases: Mapping[str, int] = field(default_factory=dict)

    def share(self, gate: str, status: str) -> float:
        """Return the share of campaigns in which some candidate stands so at a gate."""
        return self.status.get((gate, status), 0) / self.campaigns

    def __add__(self, other: Verdicts) -> Verdicts:
        """Return the counts of both together."""
        return Verdicts(
            self.campaigns + other.campaigns,
            _sums(self.status, other.status),
            _sums(self.complete_cases, other.complete_cases),
        )


def _sums(left: Mapping[Any, int], right: Mapping[Any, int]) -> dict[Any, int]:
    return {key: left.get(key, 0) + right.get(key, 0) for key in {**left, **right}}


class Stage:
    """Judges simulated campaigns under one policy.

    Args:
        metrics: what they measure.
        policy: how they are judged.
        scratch: folder for what does not fit into memory.
    """

    def __init__(self, metrics: Collection[of.Metric], policy: of.Policy, scratch: str) -> None:
        self.con = duckdb.connect(
            config={"threads": 2, "memory_limit": "6GB", "temp_directory": scratch, "preserve_insertion_order": False}
        )
        self.con.execute("set enable_progress_bar = false")
        self._metrics = sorted(metrics, key=lambda each: each.name)
        self._policy = policy
        self._views = _restricted(load_views(), policy)
        self._computations = [COMPUTATIONS[kind] for kind in self._views.gate_kinds if kind in COMPUTATIONS]
        self._before = self._views.closure([name for each in self._computations for name in each.relations])
        needed = {*self._before, *self._views.closure(["gate_results", "comparisons"])}
        self._relations = [each for name, each in self._views.relations.items() if name in needed]
        for relation in self._relations:
            if relation.is_macro:
                self.con.execute(relation.sql)

    def close(self) -> None:
        """Give back the memory."""
        self.con.close()

    def judge(self, drawn: Drawn) -> Verdicts:
        """Judge simulated campaigns; what they gave stays in the relations until the next are judged."""
        self._fill(drawn)
        self._create(relation for relation in self._relations if relation.name in self._before)
        self._compute()
        self._create(relation for relation in self._relations if relation.name not in self._before)
        told = self.con.execute(
            "select name, status, count(distinct campaign_id) from gate_results group by all"
        ).fetchall()
        complete = self.con.execute(
            "select metric, count(distinct campaign_id) from comparisons where ci_low > 0 group by all"
        ).fetchall()
        return Verdicts(drawn.shape[0], {(name, status): count for name, status, count in told}, dict(complete))

    def _create(self, relations: Iterable[Relation]) -> None:
        for relation in relations:
            if relation.is_macro:
                continue
            self.con.execute(f"drop table if exists {relation.name}")
            made = f"create table {relation.name} as\n{relation.sql}"
            self.con.execute(_INTEGRITY if relation.name == "integrity" else made)

    def _compute(self) -> None:
        """Record what is computed outside of SQL as the engine does, with the shipped queries and functions."""
        payloads: dict[str, list[str]] = {}
        for computation in self._computations:
            asked = self.con.execute(computation.gates.replace("select", "select distinct", 1))
            names = [each[0] for each in asked.description or ()]
            for gate in [dict(zip(names, row, strict=True)) for row in asked.fetchall()]:
                query = computation.rows.replace("select", "select campaign_id,", 1)
                found = self.con.execute(query, [gate["gate_ix"]]).fetchall()
                for campaign, rows in groupby(found, lambda row: row[0]):
                    seed = of.Seed(len(payloads.setdefault(campaign, [])) + 1000 * int(campaign[1:]))
                    results = computation.compute([row[1:] for row in rows], gate, seed)
                    payloads[campaign].append(json.dumps({"gate_ix": gate["gate_ix"], "results": results}))
        listed = [(campaign, payload) for campaign, each in payloads.items() for payload in each]
        if listed:
            self._insert("events", _events("evidence.recorded", *zip(*listed, strict=True)))

    def _fill(self, drawn: Drawn) -> None:
        """Fill the tables of the warehouse."""
        draws, arm_count, cases, repeats = drawn.shape
        for name in _TABLES:
            self.con.execute(f"drop table if exists {name}")
            for statement in load_contract()[name].ddl:
                self.con.execute(statement)
        self._insert("events", self._started(draws, arm_count - 1, cases, repeats))
        campaign_ix = np.arange(draws)
        listed = np.repeat(campaign_ix, len(self._metrics))
        stated = [each.as_json() for each in self._metrics]
        self._insert(
            "metrics",
            {
                "campaign_id": _named(listed, _campaigns(draws)),
                "metric_ix": pa.array(np.tile(np.arange(len(stated)), draws), pa.int32()),
                **{member: pa.array([each[member] for each in stated] * draws) for member in stated[0]},
            },
        )
        case_ix = np.tile(np.arange(cases), draws)
        self._insert(
            "cases",
            {
                "campaign_id": _named(np.repeat(campaign_ix, cases), _campaigns(draws)),
                "case_ix": pa.array(case_ix, pa.int32()),
                "case_id": _named(case_ix, _cases(cases)),
            },
            "'simulated' as workload_id, case_id as case_digest, map {}::map(varchar, varchar) as groups",
        )
        grid = np.indices(drawn.shape).reshape(4, -1)
        coordinates = {
            "campaign_id": _named(grid[0], _campaigns(draws)),
            "candidate_id": _named(grid[1], [BASELINE, *_candidates(arm_count - 1)]),
            "arm": _named(np.minimum(grid[1], 1), ["baseline", "candidate"]),
            "case_id": _named(grid[2], _cases(cases)),
            "repeat": pa.array(grid[3], pa.int32()),
            "status": _named(
                np.zeros(grid.shape[1], int) if drawn.failed is None else drawn.failed.ravel(),
                ["success", "domain_failure"],
            ),
        }
        used = {name: pa.array(arms.stacked().ravel()) for name, arms in drawn.used.items()}
        self._insert(
            "cells",
            {**coordinates, **used, "sequence": pa.array(np.arange(grid.shape[1]))},
            f"if(status = 'success', {len(drawn.values)}, 0)::integer as measured, '' as seed, 1 as attempts",
        )
        for metric, values in drawn.values.items():
            self._insert(
                "measurements",
                {**coordinates, "value": pa.array(values.stacked().ravel())},
                f"'{metric}' as metric",
                where="status = 'success'",
            )

    def _started(self, draws: int, candidates: int, cases: int, repeats: int) -> dict[str, Any]:
        """Return the columns of one `campaign.started` event for each draw, alike but for the campaign."""
        payload = {
            "identity": {
                "name": "simulated",
                "repeats": repeats,
                "metrics": [each.as_json() for each in self._metrics],
                "policy": self._policy.as_json("sha256:simulated"),
                "baseline": "sha256:baseline",
                "seed_root": SEED_ROOT,
                "candidates": _candidates(candidates),
            },
            "baseline_id": BASELINE,
            "workload_id": "simulated",
            "cases": cases,
        }
        return _events("campaign.started", _campaigns(draws), [json.dumps(payload)] * draws)

    def _insert(self, table: str, columns: Mapping[str, Any], more: str = "", where: str = "true") -> None:
        self.con.register("given", pa.table(dict(columns)))
        chosen = ", ".join(each for each in ("*", more) if each)
        self.con.execute(f"insert into {table} by name select {chosen} from given where {where}")
        self.con.unregister("given")


def _events(kind: str, campaigns: Sequence[str], payloads: Sequence[str]) -> dict[str, Any]:
    count = len(campaigns)
    return {
        "campaign_id": pa.array(campaigns),
        "sequence": pa.array([1 if kind == "campaign.started" else 1000 + ix for ix in range(count)], pa.int64()),
        "type": pa.array([kind] * count),
        "schema_version": pa.array([1] * count, pa.int32()),
        "recorded_at": pa.array([0] * count, pa.timestamp("us")),
        "fence": pa.array([1] * count, pa.int64()),
        "payload": pa.array(payloads),
        "digest": pa.array([""] * count),
    }


def _restricted(views: ViewSet, policy: of.Policy) -> ViewSet:
    return views.restricted({gate.kind for gate in policy.gates})


def _named(indices: NDArray[Any], names: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(names))


def _campaigns(draws: int) -> list[str]:
    return [f"d{ix:06d}" for ix in range(draws)]


def _candidates(count: int) -> list[str]:
    return [f"c{ix:02d}" for ix in range(count)]


def _cases(count: int) -> list[str]:
    return [f"k{ix:04d}" for ix in range(count)]
