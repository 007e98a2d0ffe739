"""Evidence that SQL should not compute: worked out once from the cells, recorded, and repeated by an audit.

Which rows enter, and what a gate asks, the views say; a verdict over what is recorded is again theirs. A gate whose
options are not understood has no row among those to compute, and its verdict says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from opfield.campaign.judge import connect_judging
from opfield.campaign.percentile import LEAST_UNITS, RESAMPLES, CellValue, percentile_results
from opfield.campaign.permutation import DRAWS, UnitValue, permutation_results
from opfield.core import canonical_json, digest
from opfield.errors import OpfieldError
from opfield.prob import Seed, read_seed
from opfield.warehouse.session import read_rows

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Computation:
    """How evidence for the gates of one kind is computed.

    Attributes:
        method: what is done, in words; recorded.
        parameters: what is fixed, for every gate; recorded.
        relations: views that the queries read.
        gates: query of the gates to compute: `gate_ix`, and what the gate asks, which is recorded.
        rows: query of the rows that enter for the gate `?`, in an order that all of their members fix.
        compute: function of these rows, the gate and a seed, to the results by candidate.
    """

    method: str
    parameters: Mapping[str, Any]
    relations: tuple[str, ...]
    gates: str
    rows: str
    compute: Callable[[list[Row], Mapping[str, Any], Seed], list[dict[str, Any]]]


def _percentile(rows: list[Row], gate: Mapping[str, Any], seed: Seed) -> list[dict[str, Any]]:
    return percentile_results([CellValue(row[0], row[1], row[4], row[5]) for row in rows], gate, seed)


def _permutation(rows: list[Row], gate: Mapping[str, Any], seed: Seed) -> list[dict[str, Any]]:
    return permutation_results([UnitValue(row[0], row[1], row[3], row[4]) for row in rows], gate, seed)


#: By gate kind.
COMPUTATIONS: Final[Mapping[str, Computation]] = {
    "percentile": Computation(
        "bootstrap of a quantile over clusters of cells, percentile limits",
        {"resamples": RESAMPLES, "least_units": LEAST_UNITS},
        ("percentile_gates", "percentile_cells"),
        "select gate_ix, metric, resource, q, ratio_at_most, alpha from percentile_gates where problem is null",
        "select candidate_id, arm, case_id, repeat, cluster, value from percentile_cells where gate_ix = ? "
        "order by all",
        _percentile,
    ),
    "family": Computation(
        "sign flips of clusters of cases, step-down max-T",
        {"draws": DRAWS},
        ("inference_gates", "permuted_units"),
        "select gate_ix, quantity, threshold from inference_gates where is_permuted and problem is null",
        "select candidate_id, scope, case_id, cluster, value from permuted_units where gate_ix = ? order by all",
        _permutation,
    ),
}


def evidence_payloads(
    root: Path, campaign_id: str, started: Mapping[str, Any], without: Iterable[int] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the payload of `evidence.recorded` for each gate that needs computing, in policy order.

    Args:
        root: warehouse folder; every coordinate has its cell.
        campaign_id: the campaign.
        started: payload of its first event.
        without: positions of gates to leave out.

    Raises:
        OpfieldError: where the projections do not hold what the ledger accepted.
    """
    gates = started["identity"]["policy"]["gates"]
    kinds = [kind for kind in COMPUTATIONS if any(gate["kind"] == kind for gate in gates)]
    wanted: list[tuple[int, Computation, dict[str, Any]]] = []
    if not kinds:
        return
    relations = {"integrity", *(name for kind in kinds for name in COMPUTATIONS[kind].relations)}
    with closing(connect_judging(root, campaign_id, started, relations)) as con:
        if not read_rows(con, "select coalesce(bool_and(is_whole), false) as is_whole from integrity")[0]["is_whole"]:
            raise OpfieldError(
                "the projections do not hold what the ledger accepted, so nothing is computed from them; "
                "`opfield audit` says which file"
            )
        for kind in kinds:
            computation = COMPUTATIONS[kind]
            asked = read_rows(con, computation.gates)
            wanted += [(row.pop("gate_ix"), computation, row) for row in asked]
        for gate_ix, computation, asks in sorted(wanted, key=lambda each: each[0]):
            if gate_ix not in without:
                rows = [tuple(row.values()) for row in read_rows(con, computation.rows, [gate_ix])]
                yield _payload(gates[gate_ix]["name"], gate_ix, computation, asks, rows, _seed(started, gates[gate_ix]))


def _payload(
    name: str, gate_ix: int, computation: Computation, asks: Mapping[str, Any], rows: list[Row], seed: Seed
) -> dict[str, Any]:
    return {
        "name": name,
        "gate_ix": gate_ix,
        "method": computation.method,
        "parameters": {**computation.parameters, **asks},
        "seed": seed.hex,
        "input_digest": digest("opfield/evidence/v1", canonical_json(rows)),
        "software": {package: metadata.version(package) for package in ("numpy", "scipy")},
        "results": computation.compute(rows, asks, seed),
    }


def _seed(started: Mapping[str, Any], gate: Mapping[str, Any]) -> Seed:
    """Return the seed of a gate's computation: of the campaign's root and the gate's name only."""
    return read_seed(started["identity"]["seed_root"]).split(f"opfield/evidence/v1 {gate['name']}")
