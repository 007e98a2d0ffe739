"""What became of the declared cells of each arm: each has one fate, and what is beyond them is told apart."""

from __future__ import annotations

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write

STATUSES = ("success", "domain_failure", "infrastructure_failure", "cancelled")


def test_every_declared_cell_has_one_fate(write: Write, read: Read) -> None:
    cases: dict[str, dict[str, str]] = {name: {} for name in "abcde"}
    trials = [Trial("base", case, 0, {"m": 1.0}) for case in cases]
    # Each status at one case, and no cell at the fifth.
    trials += [Trial("c1", case, 0, {}, status, "x") for case, status in zip("abcd", STATUSES, strict=True)]
    write(Campaign(cases=cases, metrics=[Metric("m")], trials=trials))
    base, own = read("from arm_cells order by arm")
    assert [base[name] for name in ("declared", "accepted", *STATUSES, "failed", "missing", "extra")] == [
        5, 5, 5, 0, 0, 0, 0, 0, 0,
    ]  # fmt: skip
    assert [own[name] for name in ("declared", "accepted", *STATUSES, "failed", "missing", "extra")] == [
        5, 4, 1, 1, 1, 1, 3, 1, 0,
    ]  # fmt: skip


def test_what_is_off_the_grid_or_there_twice_is_extra(write: Write, read: Read) -> None:
    twice = [Trial("c1", "a", 0, {"m": 1.0})] * 2
    write(
        Campaign(
            cases={"a": {}},
            metrics=[Metric("m")],
            trials=[Trial("base", "a", 0), *twice, Trial("c1", "a", 7), Trial("c9", "a", 0)],
        )
    )
    rows = read("select candidate_id, declared, accepted, missing, extra from arm_cells order by candidate_id")
    assert [tuple(row.values()) for row in rows] == [("base", 1, 1, 0, 0), ("c1", 1, 3, 0, 2), ("c9", 0, 1, 0, 1)]
