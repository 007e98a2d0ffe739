"""Bindings checked and landed, as a ratio to plain validation, hashing and writing of the same records in one run.

    python -m benchmarks.bindings [--results 100_000] [--folder FOLDER]

Operator results are generated as JSON lines, eight for a run, one in a hundred of them too deep for it. `opfield bind`
reads, checks, binds or refuses, seals, and lands them in a warehouse. The peer does what a careful script would:
pydantic validates each line into the same classes, `json` and SHA-256 give each record a hash, and pyarrow writes the
rows. It checks no identity, no chain, no budget and no duplicate, and what it writes has no audit. Then the views over
what landed are timed, and a second landing of the same file, which appends nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from opfield.practice import (
    BudgetCharge,
    BudgetConsumed,
    CandidateOperatorResult,
    CandidateReconstruction,
    GeometricSearchRun,
    bind_operator_result,
    candidate_digest,
    enveloped,
    sealed,
)
from opfield.warehouse.binding import bind_handed, read_handed
from opfield.warehouse.check_practice import check_practice
from opfield.warehouse.session import Warehouse
from opfield.warehouse.store import create_store
from opfield_practice import walk

OF_A_RUN = 8
REFUSED_OF = 100
VIEWS = ("run_members", "run_budgets", "binding_refusals", "admission_checks", "broken_memberships")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=int, default=100_000, help="operator results")
    parser.add_argument("--folder", type=Path, help="keep the generated records and the warehouse here")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        lines = folder / "records.jsonl"
        with lines.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(enveloped(each).as_json()) + "\n" for each in generated(asked.results))
        report(folder, lines, asked.results)


def generated(results: int) -> Iterator[GeometricSearchRun | CandidateOperatorResult]:
    """Yield runs, each followed by its operator results."""
    episode = walk()
    used = BudgetConsumed(0, 0, 0, OF_A_RUN, 1, OF_A_RUN, 1)
    for first in range(0, results, OF_A_RUN):
        run = sealed(replace(episode.run, input_digest=hashlib.sha256(b"%d" % first).hexdigest(), budget_consumed=used))
        yield run
        for index in range(min(OF_A_RUN, results - first)):
            depth = 9 if (first + index) % REFUSED_OF == 0 else 1
            yield result_of(run, episode.results[0], index, depth)


def result_of(
    run: GeometricSearchRun, like: CandidateOperatorResult, index: int, depth: int
) -> CandidateOperatorResult:
    roles = (("destination", f"city {index}"),)
    proposed = candidate_digest(run.problem_frame_digest, roles)
    charge = BudgetCharge(1, 1)
    attempt = sealed(
        replace(like.candidate_attempt, attempt_index=index, candidate_digest=proposed, step_index=index, depth=depth)
    )
    rebuilt: CandidateReconstruction = sealed(
        replace(like.candidate_reconstruction, candidate_digest=proposed, role_assignments=roles)
    )
    return sealed(
        replace(
            like,
            geometric_search_run_id=run.run_id,
            attempt_id=attempt.attempt_id,
            attempt_index=index,
            candidate_digest=proposed,
            candidate_reconstruction_digest=rebuilt.candidate_reconstruction_digest,
            budget_charge=charge,
            candidate_attempt=attempt,
            candidate_reconstruction=rebuilt,
        )
    )


def plain(lines: Path, target: Path) -> None:
    """Validate, hash and write as a script without opfield would."""
    adapters: dict[str, TypeAdapter[Any]] = {
        "opfield.geometric_search_run/v1": TypeAdapter(GeometricSearchRun),
        "opfield.candidate_operator_result/v1": TypeAdapter(CandidateOperatorResult),
    }
    rows: dict[str, list[str]] = {"schema": [], "payload": [], "digest": []}
    with lines.open("rb") as records:
        for line in records:
            told = json.loads(line)
            adapter = adapters[told["schema"]]
            record = adapter.validate_python(told["payload"])
            payload = json.dumps(adapter.dump_python(record, mode="json"), sort_keys=True, separators=(",", ":"))
            rows["schema"].append(told["schema"])
            rows["payload"].append(payload)
            rows["digest"].append(hashlib.sha256(payload.encode()).hexdigest())
    pq.write_table(pa.table(rows), target, compression="zstd")


def report(folder: Path, lines: Path, results: int) -> None:
    records = results + -(-results // OF_A_RUN)
    start = time.perf_counter()
    plain(lines, folder / "plain.parquet")
    peer = time.perf_counter() - start
    print(f"plain validation, hashing and writing: {records / peer:,.0f} records per second ({peer:.1f} s)")
    pairs = [(run, each) for run, each in paired(generated(min(results, 5_000)))]
    start = time.perf_counter()
    for run, each in pairs:
        bind_operator_result(run, each)
    checked = (time.perf_counter() - start) / len(pairs)
    print(f"bind_operator_result alone: {1 / checked:,.0f} pairs per second")
    root = create_store(folder / "warehouse").root
    for title in ("bound and landed", "the same file again"):
        start = time.perf_counter()
        rows = bind_handed(root, read_handed([lines]), is_admitting=False, told=lambda: None)
        seconds = time.perf_counter() - start
        print(f"{title}: {records / seconds:,.0f} records per second ({seconds:.1f} s), {seconds / peer:.2f} × plain")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB; {len(rows):,} pairs")
    for name in VIEWS:
        opened = Warehouse(root)
        with closing(opened.connection(f"from {name}")) as con:
            start = time.perf_counter()
            count = con.sql(f"from {name}").to_arrow_table().num_rows
            print(f"view {name}: {time.perf_counter() - start:.2f} s for {count:,} rows")
    start = time.perf_counter()
    found = check_practice(root)
    print(f"audit: {time.perf_counter() - start:.1f} s, {len(found)} findings")


def paired(
    records: Iterator[GeometricSearchRun | CandidateOperatorResult],
) -> Iterator[tuple[GeometricSearchRun, CandidateOperatorResult]]:
    run: GeometricSearchRun | None = None
    for each in records:
        if isinstance(each, GeometricSearchRun):
            run = each
        elif run is not None:
            yield run, each


if __name__ == "__main__":
    main()
