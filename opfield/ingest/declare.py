"""An intake as a campaign: systems become a baseline and candidates under an `ingested` patch, files the runner."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

import orjson

from opfield.campaign.declaration import Campaign
from opfield.campaign.prepare import Ingested, Prepared, prepare
from opfield.core import Envelope, canonical_json, digest, seal
from opfield.core.canonical import MAX_INTEGER
from opfield.decision import Policy, binary_superiority, coverage, superiority
from opfield.experiment import Case, InfrastructureFailure, Patch, TrialRequest, TrialResult, Workload
from opfield.experiment.space import BASELINE_LABEL
from opfield.ingest.intake import Intake
from opfield.ingest.spool import evidence_bytes
from opfield.metric import Metric
from opfield.warehouse.views import ViewSet

#: Schema of what a file says of a system.
SYSTEM_SCHEMA: Final = "opfield.system/v1"
#: Optic of the patch that turns one system into another: nobody says what it changed, so it changes everything.
INGESTED: Final = "ingested"


@dataclass(frozen=True, slots=True)
class IngestedSpace:
    """A space whose interventions are whole systems, as files describe them.

    Attributes:
        says: what files say of the baseline.
        systems: label to what files say of it, for each candidate.
        id: identity of the space.
    """

    says: Envelope
    systems: Mapping[str, Envelope]
    id: str = "opfield.ingested/v1"

    def baseline(self) -> Envelope:
        """Return the envelope of the baseline."""
        return self.says

    def patches(self) -> Sequence[Patch]:
        """Return one patch for each candidate."""
        return tuple(Patch(label, INGESTED, envelope) for label, envelope in self.systems.items())

    def apply(self, spec: Envelope, patch: Patch) -> Envelope:  # noqa: ARG002 - the shape of `Space`
        """Return the candidate's own envelope."""
        return patch.value


@dataclass(frozen=True, slots=True)
class FilesRunner:
    """What stands where a campaign that is run has its runner: the files, and what read them.

    Attributes:
        id: the readers.
        version: their versions, and a digest over everything that was read and how.
    """

    id: str
    version: str

    def __call__(self, request: TrialRequest) -> TrialResult:
        """Refuse: files hold what they hold.

        Raises:
            InfrastructureFailure: always.
        """
        raise InfrastructureFailure("ingested", f"{request.coordinate} was read from files; nothing can be run again")


def declared(intake: Intake, views: ViewSet) -> Prepared:
    """Return the campaign of an intake, with its identity.

    Raises:
        DeclarationError: where a case, a label or the policy cannot be.
    """
    metrics = intake.metrics
    squares = intake.rows(
        """
        select grid.case_id, systems.label, systems.is_baseline, grid.repeats
        from grid inner join systems using (system)
        order by grid.case_id
        """
    )
    repeats = max(row["repeats"] for row in squares)
    name = _name(intake) if intake.request.name is None else intake.request.name
    campaign = Campaign(
        name=name,
        space=IngestedSpace(
            _envelope(intake.arms[0].system.says),
            {arm.system.label: _envelope(arm.system.says) for arm in intake.arms[1:]},
        ),
        workload=Workload(name, _cases(intake)),
        runner=_runner(intake),
        metrics=metrics,
        policy=intake.request.policy or _policy(intake, repeats),
        repeats=repeats,
        coupling=intake.request.coupling,
        reproducibility="observational",
    )
    uneven: dict[str, dict[str, int]] = {}
    for row in squares:
        label = BASELINE_LABEL if row["is_baseline"] else row["label"]
        uneven.setdefault(row["case_id"], {})[label] = row["repeats"]
    uneven = {case: arms for case, arms in uneven.items() if set(arms.values()) != {repeats}}
    ingested = Ingested(uneven, sum(row["repeats"] for row in squares), _stated(intake), _report(intake))
    return prepare(campaign, views, ingested)


def _name(intake: Intake) -> str:
    readers = "+".join(dict.fromkeys(asked.reader.name for asked in intake.request.asked))
    return f"{readers} {intake.arms[0].system.label}"[:200]


def _envelope(says: Mapping[str, Any]) -> Envelope:
    return seal(SYSTEM_SCHEMA, _plain(orjson.loads(evidence_bytes(dict(says)))))


def _plain(value: Any) -> Any:
    """Return a JSON value whose numbers have a canonical form: what has none is kept as text."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_INTEGER:
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _cases(intake: Intake) -> tuple[Case, ...]:
    rows = intake.rows("from named_cases order by case_id")
    inputs = intake.told.inputs
    return tuple(
        Case(
            row["case_id"],
            None if row["input_digest"] is None else orjson.loads(inputs[row["input_digest"]]),
            orjson.loads(row["groups"]) if row["groups"] else {},
            row["cluster"],
        )
        for row in rows
    )


def _policy(intake: Intake, repeats: int) -> Policy:
    """Return coverage and superiority by the preferred metric, by the test that its declared kind asks for."""
    name = intake.preferred
    metric: Metric = next(each for each in intake.metrics if each.name == name)
    is_score = metric.kind == "binary" and repeats == 1
    return Policy((coverage(), binary_superiority(name) if is_score else superiority(name)), prefer=name)


def _runner(intake: Intake) -> FilesRunner:
    readers = {asked.reader.name: asked.reader.version for asked in intake.request.asked}
    read = {
        "files": sorted(each.digest for each in intake.files),
        "options": [_options(asked.options) for asked in intake.request.asked],
        "pair_by": intake.request.pairs_by,
        "renames": dict(intake.request.renames),
    }
    told = digest("opfield/intake/v1", canonical_json(read))
    names = "+".join(sorted(readers))
    return FilesRunner(f"opfield.ingest/{names}", f"readers {_listed(readers)}; {told}")


def _listed(readers: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(readers.items()))


def _options(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options as text, files among them by their names alone."""
    return {
        name: ", ".join(str(getattr(each, "name", each)) for each in (value if isinstance(value, tuple) else (value,)))
        for name, value in sorted(options.items())
        if value not in (None, (), False)
    }


def _stated(intake: Intake) -> tuple[Mapping[str, Any], ...]:
    labels = {arm.system.key: arm.campaign_label for arm in intake.arms}
    known = {metric.name for metric in intake.metrics}
    return tuple(
        {
            "label": labels[each.system],
            "figure": each.figure,
            "metric": each.metric,
            "name": each.name or each.figure,
            "value": float(each.value),
            "decimals": each.decimals,
            "place": each.place,
        }
        for each in intake.told.stated
        if math.isfinite(each.value) and (each.metric is None or each.metric in known)
    )


def _report(intake: Intake) -> Mapping[str, Any]:
    request = intake.request
    return {
        "opfield": version("opfield"),
        "readers": [
            {
                "reader": asked.reader.name,
                "version": asked.reader.version,
                "tool": asked.reader.tool or asked.reader.name,
                "options": _options(asked.options),
            }
            for asked in request.asked
        ],
        "files": [{"name": each.name, "sha256": each.digest, "size_bytes": each.size_bytes} for each in intake.files],
        "systems": [
            {"label": arm.system.label, "is_baseline": arm.is_baseline, "place": arm.system.place}
            for arm in intake.arms
        ],
        "pair_by": request.pairs_by,
        "renames": dict(request.renames),
        "samples": intake.told.samples,
        "notes": [{"text": note.text, "place": note.place} for note in intake.notes],
    }
