"""The campaign as its author declares it: a value, complete before the first trial."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from opfield.core.label import check_label
from opfield.core.number import is_count, is_number
from opfield.decision import Policy
from opfield.errors import DeclarationError
from opfield.experiment import Candidate, Case, Runner, Space, Workload, cases_of, field_space, propose_all
from opfield.metric import Metric
from opfield.prob import Seed

Coupling = Literal["common_seed", "replayed", "none"]
Reproducibility = Literal["structural", "material", "seeded", "distributional", "observational"]


#: Most (case, repeat) pairs of one campaign: what a grid may hold and still be counted in 32 bits.
MAX_PAIRS: Final = 2**31 - 1


_BINDING_ID: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one campaign's execution; operational, so outside its identity.

    Attributes:
        timeout_s: longest time one attempt may take, in seconds; None for no limit.
        attempts: attempts at one coordinate before a retryable failure is left pending; at least 1.
        backoff_s: pause before the second attempt, in seconds; doubled for each further one.
        pause_after: the campaign pauses after the attempts of this many coordinates, `pause_after` × `attempts`, failed
            in a row for want of infrastructure.
    """

    timeout_s: float | None = 600.0
    attempts: int = 3
    backoff_s: float = 1.0
    pause_after: int = 5

    def __post_init__(self) -> None:
        """Refuse bounds that could never be met.

        Raises:
            DeclarationError: saying which.
        """
        longest = threading.TIMEOUT_MAX  # centuries; beyond it no wait can be asked for
        if self.timeout_s is not None and not (is_number(self.timeout_s) and 0 < self.timeout_s <= longest):
            raise DeclarationError(
                f"timeout_s {self.timeout_s!r} is no number above 0, at most {longest:g}; use None for no limit"
            )
        if not (is_number(self.backoff_s) and 0 <= self.backoff_s < math.inf):
            raise DeclarationError(f"backoff_s {self.backoff_s!r} is no number of seconds, 0 or more")
        for name, count in (("attempts", self.attempts), ("pause_after", self.pause_after)):
            if not is_count(count):
                raise DeclarationError(f"{name} {count!r} is not a whole number above 0")


@dataclass(frozen=True, slots=True)
class Proposer:
    """What turns a space into the fixed set of candidates.

    Attributes:
        id: identity and version.
        propose: returns the candidates of a space, ordered by identity.
    """

    id: str = "opfield.all_patches/v1"
    propose: Callable[[Space], tuple[Candidate, ...]] = propose_all


@dataclass(frozen=True, slots=True)
class Confirms:
    """The campaign that another one confirms; part of the identity of the latter.

    Attributes:
        campaign_id: the campaign that is confirmed.
        root: digest of the event that ended it, which covers its whole history.
        candidate_id: candidate that was selected there.
    """

    campaign_id: str
    root: str
    candidate_id: str

    def as_json(self) -> dict[str, str]:
        """Return the link as the campaign's identity holds it."""
        return {"campaign_id": self.campaign_id, "root": self.root, "candidate_id": self.candidate_id}


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign: a baseline and its candidates, on the same cases, with the same randomness.

    Attributes:
        name: short name; part of the identity.
        space: baseline and lawful interventions.
        workload: the cases.
        runner: runs one trial; its `id` and `version` are part of the identity.
        metrics: what is measured; names unique. Kept as a tuple.
        policy: how candidates are judged.
        repeats: trials of each (candidate, case); at least 1.
        seed_root: root of every coordinate's seed.
        coupling: what the two arms of a pair share: `common_seed` (the runner honours the seed), `replayed` (recorded
            upstream outputs are reused) or `none`.
        reproducibility: what the author claims can be reproduced: `structural` (plans and coordinates), `material` (all
            outputs retained), `seeded`, `distributional`, or `observational`; shown beside every verdict.
        proposer: what turns the space into candidates.
        limits: bounds on execution.
        secrets: names of environment variables whose values must never be recorded. Kept as a tuple.
        confirms: the campaign whose selected candidate this one confirms, as `confirm` declares it; None for others.
        bindings: label of a candidate to the id of the binding by which it is an attempt of a search run (ADR-0232).
            The campaign starts once each is admitted to its run, and its registration names the binding.
    """

    name: str
    space: Space
    workload: Workload
    runner: Runner
    metrics: Sequence[Metric]
    policy: Policy
    repeats: int = 1
    seed_root: Seed = field(default_factory=lambda: Seed(0))
    coupling: Coupling = "common_seed"
    reproducibility: Reproducibility = "seeded"
    proposer: Proposer = field(default_factory=Proposer)
    limits: Limits = field(default_factory=Limits)
    secrets: Sequence[str] = ()
    confirms: Confirms | None = None
    bindings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a declaration that could not be carried out.

        Raises:
            DeclarationError: naming the member and the remedy.
        """
        check_label("campaign name", self.name, 200)
        if isinstance(self.metrics, Metric):
            raise DeclarationError(f"campaign {self.name!r}: metrics is one metric; write a list of them")
        object.__setattr__(self, "metrics", tuple(self.metrics))
        expected: tuple[tuple[str, object, type], ...] = (
            *(("metrics", metric, Metric) for metric in self.metrics),
            ("policy", self.policy, Policy),
            ("workload", self.workload, Workload),
            ("seed_root", self.seed_root, Seed),
            ("limits", self.limits, Limits),
            ("proposer", self.proposer, Proposer),
            *((("confirms", self.confirms, Confirms),) if self.confirms is not None else ()),
        )
        for member, value, kind in expected:
            if not isinstance(value, kind):
                raise DeclarationError(
                    f"campaign {self.name!r}: {member} holds {value!r}, a {type(value).__name__}, not a {kind.__name__}"
                )
        if is_count(self.repeats) and self.repeats * len(self.workload.cases) > MAX_PAIRS:
            raise DeclarationError(
                f"campaign {self.name!r}: {self.repeats} repeats of {len(self.workload.cases)} cases are more than "
                f"{MAX_PAIRS:,} pairs; declare fewer"
            )
        if not is_count(self.repeats):
            raise DeclarationError(f"campaign {self.name!r}: repeats {self.repeats!r} is not a whole number above 0")
        if not callable(self.runner):
            raise DeclarationError(
                f"campaign {self.name!r}: the runner is a {type(self.runner).__name__}, not something callable"
            )
        if isinstance(self.secrets, str) or not all(isinstance(name, str) for name in self.secrets):
            raise DeclarationError(f"campaign {self.name!r}: secrets is a list of names of environment variables")
        object.__setattr__(self, "secrets", tuple(self.secrets))
        self._check_bindings()
        if not self.metrics:
            raise DeclarationError(f"campaign {self.name!r} declares no metric; there would be nothing to compare")
        names = [metric.name for metric in self.metrics]
        for name in names:
            if names.count(name) > 1:
                raise DeclarationError(f"campaign {self.name!r} declares metric {name!r} twice")
        for member, stated, known in (
            ("coupling", self.coupling, get_args(Coupling)),
            ("reproducibility", self.reproducibility, get_args(Reproducibility)),
        ):
            if stated not in known:
                raise DeclarationError(f"{member} {stated!r} is none of {', '.join(known)}")

    def _check_bindings(self) -> None:
        """Refuse what names no binding, or one binding twice, and keep a copy."""
        told = self.bindings
        if not isinstance(told, Mapping) or not all(
            isinstance(each, str) and _BINDING_ID.fullmatch(each) for each in told.values()
        ):
            raise DeclarationError(
                f"campaign {self.name!r}: bindings is a mapping of candidate labels to binding ids of 64 lowercase "
                'hexadecimal digits, as `opfield sql "from bindings"` lists them'
            )
        if len(set(told.values())) < len(told):
            raise DeclarationError(f"campaign {self.name!r}: one binding stands behind two candidates; name it once")
        object.__setattr__(self, "bindings", dict(told))


def declare(
    name: str,
    *,
    baseline: Mapping[str, Any],
    candidates: Mapping[str, Mapping[str, Any]],
    cases: Mapping[str, Any] | Iterable[Case],
    run: Runner,
    metrics: Metric | Iterable[Metric],
    policy: Policy,
    repeats: int = 1,
    **more: Any,
) -> Campaign:
    """Declare a campaign over a plain JSON specification.

    Args:
        name: name of the campaign, its space and its workload.
        baseline: baseline specification, a JSON object.
        candidates: label to the members of the baseline that it changes.
        cases: case id to input, or `Case` values.
        run: the runner.
        metrics: metric definitions, or a single one.
        policy: gates and preference.
        repeats: trials of each (candidate, case).
        **more: further members of `Campaign`.

    Raises:
        DeclarationError: where something does not fit together; nothing was recorded.
    """
    if not candidates and "proposer" not in more:
        raise DeclarationError(
            "candidates is empty, so there is nothing to compare with the baseline; name one at least, with what it "
            "changes, such as candidates={'larger': {'top_k': 3}}"
        )
    return Campaign(
        name=name,
        space=field_space(name, baseline, candidates),
        workload=Workload(name, cases_of(cases)),
        runner=run,
        metrics=(metrics,) if isinstance(metrics, Metric) else tuple(metrics),
        policy=policy,
        repeats=repeats,
        **more,
    )
