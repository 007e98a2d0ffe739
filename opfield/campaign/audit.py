"""Audit: every byte that carries meaning verified, every identity and verdict recomputed (§E.7).

Runs without the runner and its providers, ignores checkpoints, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
import orjson

from opfield.campaign.attempts import read_attempts
from opfield.campaign.computed import evidence_payloads
from opfield.campaign.judge import judging_views, verdict_payloads
from opfield.campaign.prepare import policy_digest
from opfield.campaign.reducer import CampaignState, reduce
from opfield.campaign.results import check_laid_out, laid_out_names
from opfield.campaign.signatures import check_signature
from opfield.core import canonical_json, digest, parse_json, read_envelope
from opfield.errors import DamageError, HistoryError, OpfieldError, WarehouseError
from opfield.experiment import candidate_id, uneven_repeats_digest, workload_digest
from opfield.prob import coordinate_seed, read_seed
from opfield.warehouse import ledger
from opfield.warehouse.check_practice import check_practice
from opfield.warehouse.contract import projection_query
from opfield.warehouse.files import (
    UNREADABLE,
    Finding,
    check_artifacts,
    check_blobs,
    check_campaign_files,
    check_results,
    check_shared_files,
    check_strays,
    count_files,
)
from opfield.warehouse.layout import attempts_file, relative, table_folder
from opfield.warehouse.ledger import Event
from opfield.warehouse.lock import holder_of
from opfield.warehouse.material import artifact_ids, find_artifact, find_artifacts
from opfield.warehouse.projection import campaigns_on_disk, projected_tables, register_segment
from opfield.warehouse.results import has_results, results_folder
from opfield.warehouse.session import connect_snapshot, read_rows
from opfield.warehouse.store import open_store
from opfield.warehouse.views import JUDGING

#: Members of computed evidence that must come out the same; the versions of software may differ.
_REPEATED: Final = ("name", "method", "parameters", "seed", "input_digest", "results")


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit found.

    Attributes:
        campaigns: campaigns audited.
        events: events verified.
        files: files in the warehouse.
        findings: what is wrong; empty where everything stands.
        notes: what is worth knowing and breaks nothing.
    """

    campaigns: int
    events: int
    files: int
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]


def audit(root: Path, campaign: str | None = None, *, recompute: bool = False) -> AuditReport:
    """Audit a warehouse, or one campaign of it.

    Args:
        root: warehouse folder.
        campaign: campaign to audit; all of them where None.
        recompute: repeat every computation that the views rest on, too, which takes as long as it took.

    Raises:
        WarehouseError: where there is no warehouse at `root`.
    """
    findings: list[Finding] = []
    notes: list[Finding] = []
    try:
        root = open_store(root).root
    except WarehouseError as error:
        if not (root / "events").is_dir():
            raise
        findings.append(Finding("warehouse.json", "marker", str(error)))
    else:
        findings += check_shared_files(root)
    findings += check_strays(root)
    findings += check_blobs(root)
    findings += check_practice(root)
    events = 0
    campaigns = [campaign] if campaign else campaigns_on_disk(root)
    for campaign_id in campaigns:
        holder = holder_of(root, campaign_id)
        if holder is not None:
            folder = relative(root, table_folder(root, "events", campaign_id))
            notes.append(Finding(folder, "held", f"it is being written by {holder}, so files may seem to be missing"))
        damaged = [*check_campaign_files(root, campaign_id), *check_artifacts(root, campaign_id)]
        findings += damaged
        findings += check_results(root, campaign_id)
        _, torn = read_attempts(root, campaign_id)
        name = relative(root, attempts_file(root, campaign_id))
        notes += [Finding(name, "torn", f"line {line} cannot be read; it is an operational record") for line in torn]
        seen, found = _check_history(root, campaign_id)
        events += seen.sequence
        findings += found
        # Nothing can be recomputed from files that are not what was written.
        if not found and not any(each.law in UNREADABLE for each in damaged):
            findings += _guarded(root, campaign_id, seen, recompute)
    return AuditReport(len(campaigns), events, count_files(root), tuple(findings), tuple(notes))


def _check_history(root: Path, campaign_id: str) -> tuple[CampaignState, list[Finding]]:
    """Fold the whole history, verifying every digest, and stop at the first breach."""
    state = CampaignState(campaign_id)
    for path in ledger.segments(root, campaign_id):
        name = relative(root, path)
        try:
            for event in ledger.read_segment(path):
                reduce(state, event)
                _check_canonical(event)
        except (OpfieldError, OSError) as error:
            return state, [Finding(name, "history", str(error))]
    return state, []


def _check_canonical(event: Event) -> None:
    if canonical_json(parse_json(event.payload)) != event.payload.encode("utf-8"):
        raise WarehouseError(f"event {event.sequence} has a payload that is not canonical")


def _guarded(root: Path, campaign_id: str, state: CampaignState, recompute: bool) -> list[Finding]:
    """Run the checks that need a whole history, turning what they cannot read into findings."""
    if not state.sequence:
        return []
    found: list[Finding] = []
    folder = relative(root, table_folder(root, "events", campaign_id))
    checks = (
        _check_identities,
        _check_bindings,
        _check_cells,
        _check_projections,
        _check_violations,
        _check_signatures,
        _check_verdict,
        *((_check_evidence,) if recompute else ()),
    )
    for check in checks:
        try:
            found += check(root, campaign_id, state)
        except (OpfieldError, duckdb.Error, KeyError, TypeError, ValueError, OSError) as error:
            found.append(Finding(folder, check.__name__.removeprefix("_check_"), f"cannot be checked: {error}"))
    return found


def _check_identities(root: Path, campaign_id: str, state: CampaignState) -> Iterator[Finding]:
    """Recompute campaign, workload, candidate and policy identities from the material that the campaign kept."""
    folder = relative(root, table_folder(root, "artifacts", campaign_id))
    identity = state.started["identity"]
    if digest("opfield/campaign/v1", canonical_json(identity)) != campaign_id:
        yield Finding(folder, "identity", "the campaign's id does not follow from its identity")
    workload = parse_json(find_artifact(root, campaign_id, state.started["workload_artifact"]))
    if workload_digest(workload) != identity["workload"]:
        yield Finding(folder, "identity", "the workload's digest does not follow from the kept cases")
    if uneven_repeats_digest(workload) != identity.get("uneven_repeats"):
        yield Finding(folder, "identity", "the kept cases declare other repeats than the campaign's identity")
    registered: dict[str, dict[str, Any]] = {}
    for event in ledger.read_events(root, campaign_id):
        if len(registered) == len(state.registered):
            break
        if event.type == ledger.CANDIDATE_REGISTERED:
            payload = orjson.loads(event.payload)
            registered[payload["artifact_id"]] = payload
    for artifact_id, content in find_artifacts(root, campaign_id, registered).items():
        told, payload = parse_json(content), registered[artifact_id]
        baseline, spec = read_envelope(told["baseline"]), read_envelope(told["spec"])
        if candidate_id(baseline.digest, spec.digest, told["patch"]) != payload["candidate_id"]:
            yield Finding(folder, "identity", f"candidate {payload['label']!r} is not what its id names")
    views = judging_views(root, campaign_id, state.started)
    kinds = {gate["kind"] for gate in identity["policy"]["gates"]}
    if policy_digest(views, kinds) != identity["policy"]["sql"]:
        yield Finding(folder, "policy", "the kept SQL is not the one that the campaign was declared under")


def _check_bindings(root: Path, campaign_id: str, state: CampaignState) -> Iterator[Finding]:
    """Check that each binding behind a candidate is the declared one, and admitted to its run."""
    if "bindings" not in state.started["identity"]:
        return
    folder = relative(root, table_folder(root, "events", campaign_id))
    with closing(connect_snapshot(root, campaign_id, ("candidate_bindings",))) as con:
        for row in read_rows(con, "from candidate_bindings where not is_sound order by candidate_id"):
            detail = f"candidate {row['label']!r} has the binding {row['binding_id']}, which is not admitted or another"
            yield Finding(folder, "binding", detail)


def _check_cells(root: Path, campaign_id: str, state: CampaignState) -> Iterator[Finding]:
    """Recompute every cell's seed and check that its artifact is kept."""
    folder = relative(root, table_folder(root, "events", campaign_id))
    kept = artifact_ids(root, campaign_id)
    seed_root = read_seed(state.started["identity"]["seed_root"])
    for event in ledger.read_events(root, campaign_id):
        if event.type != ledger.TRIAL_COMPLETED:
            continue
        told = orjson.loads(event.payload)
        if told["seed"] != coordinate_seed(seed_root, told["case_id"], told["repeat"]).hex:
            yield Finding(folder, "seed", f"event {event.sequence} bears a seed that is not its coordinate's")
        if told["artifact_id"] is not None and told["artifact_id"] not in kept:
            yield Finding(folder, "artifact", f"event {event.sequence} names an artifact that is not kept")


def _check_projections(root: Path, campaign_id: str, _state: CampaignState) -> Iterator[Finding]:
    """Project the whole history again and compare the rows with those on disk, both ways."""
    events = ledger.read_history(root, campaign_id)
    with closing(connect_snapshot(root, campaign_id, ())) as con:
        register_segment(con, events, lambda names: find_artifacts(root, campaign_id, names))
        for table, contract in projected_tables().items():
            folder = relative(root, table_folder(root, table, campaign_id))
            columns = ", ".join(column.name for column in contract.columns)
            expected = f"select {columns} from ({projection_query(contract)})"
            for law, left, right in (
                ("missing", expected, f"select {columns} from {table}"),
                ("unexpected", f"select {columns} from {table}", expected),
            ):
                count = con.execute(f"select count(*) from (({left}) except all ({right}))").fetchall()[0][0]
                if count:
                    yield Finding(folder, law, f"{count} rows are not those that the ledger yields")


def _check_violations(root: Path, campaign_id: str, _state: CampaignState) -> Iterator[Finding]:
    """Read the audit views, which state the same laws in SQL."""
    folder = relative(root, table_folder(root, "events", campaign_id))
    views = ("violations", "duplicates")
    with closing(connect_snapshot(root, campaign_id, views)) as con:
        for view in views:
            for row in read_rows(con, f"from {view} limit 20"):
                yield Finding(
                    folder, view, ", ".join(f"{key} {value}" for key, value in row.items() if key != "campaign_id")
                )


def _check_signatures(root: Path, campaign_id: str, _state: CampaignState) -> Iterator[Finding]:
    """Verify the signature of every review again."""
    folder = relative(root, table_folder(root, "events", campaign_id))
    for event in ledger.read_events(root, campaign_id):
        if event.type == ledger.REVIEW_RECORDED:
            try:
                check_signature(campaign_id, parse_json(event.payload))
            except HistoryError as error:
                yield Finding(folder, "signature", f"event {event.sequence}: {error}")


def _check_verdict(root: Path, campaign_id: str, state: CampaignState) -> Iterator[Finding]:
    """Judge the campaign again, and compare what the ledger records, and what is laid out as results, with that."""
    laid_out = has_results(root, campaign_id)
    if laid_out and not state.terminal:
        folder = relative(root, results_folder(root, campaign_id))
        yield Finding(folder, "result", "the campaign is not finished, so it has no results; remove them")
    if not state.terminal or (state.terminal != "completed" and not laid_out):
        return
    views = judging_views(root, campaign_id, state.started)
    results: list[str] = []
    with suppress(DamageError):  # a record that cannot be read is told already
        results = laid_out_names(root, campaign_id)
    names = {*JUDGING, *(views.named.keys() & set(results))}
    with closing(connect_snapshot(root, campaign_id, names, views)) as con:
        if state.terminal == "completed":
            yield from _check_recorded(con, root, campaign_id)
        yield from check_laid_out(con, root, campaign_id, results, views)


def _check_recorded(con: duckdb.DuckDBPyConnection, root: Path, campaign_id: str) -> Iterator[Finding]:
    """Compare comparison, decision and selection as they were recorded with what the views say now."""
    folder = relative(root, table_folder(root, "events", campaign_id))
    comparisons, decisions, completed = verdict_payloads(con)
    recomputed = {ledger.COMPARISON_RECORDED: comparisons, ledger.DECISION_RECORDED: decisions}
    for event in ledger.read_events(root, campaign_id):
        if event.type in recomputed:
            told = parse_json(event.payload)
            found = recomputed[event.type].get(told["candidate_id"])
        elif event.type == ledger.CAMPAIGN_COMPLETED:
            found = completed
        else:
            continue
        if found is None or canonical_json(found) != event.payload.encode("utf-8"):
            yield Finding(folder, "verdict", f"event {event.sequence} ({event.type}) is not what the views say now")


def _check_evidence(root: Path, campaign_id: str, state: CampaignState) -> Iterator[Finding]:
    """Repeat every computation of evidence from the cells and compare what entered and what came out exactly."""
    if not state.evidenced and not state.compared:
        return
    folder = relative(root, table_folder(root, "events", campaign_id))
    repeated = {each["gate_ix"]: each for each in evidence_payloads(root, campaign_id, state.started)}
    for event in ledger.read_events(root, campaign_id):
        if event.type != ledger.EVIDENCE_RECORDED:
            continue
        told = parse_json(event.payload)
        again = repeated.pop(told["gate_ix"], {})
        differing = [
            member for member in _REPEATED if canonical_json(told[member]) != canonical_json(again.get(member))
        ]
        if differing:
            software = ", ".join(f"{name} {version}" for name, version in told["software"].items())
            yield Finding(
                folder,
                "evidence",
                f"event {event.sequence} ({told['name']}): computed again, {', '.join(differing)} is not what was "
                f"recorded; it was computed with {software}",
            )
    for gate_ix in sorted(repeated):
        yield Finding(folder, "evidence", f"nothing is recorded for gate {gate_ix}, although it asks for computing")
