"""Confirming a selection: what is linked, what is refused, and what the ledger and the views say of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import opfield as of
from opfield.campaign.audit import audit
from opfield.campaign.checkpoint import load_state
from opfield.campaign.confirm import PROPOSER, confirming_again, read_confirmed
from opfield.campaign.prepare import prepare
from opfield.errors import DeclarationError, UnknownNameError
from opfield.warehouse.ledger import read_events
from opfield.warehouse.seal import seal_campaign
from opfield.warehouse.views import installed_views
from tests.campaign import confirming
from tests.campaign.campaigns import small


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse in which `first` selected `more`."""
    folder = tmp_path_factory.mktemp("confirmed") / "warehouse"
    of.run(confirming.first, folder, executor="inline")
    return folder


@pytest.fixture(scope="module")
def first(root: Path) -> str:
    return of.open(root).campaign_id("small")


def run_fresh(root: Path, first: str, **more: Any) -> of.Outcome:
    return of.confirm(first, confirming.fresh, root, executor="inline", **more)


def test_a_confirmation_tries_the_selected_candidate_only_and_is_linked(root: Path, first: str) -> None:
    outcome = run_fresh(root, first)
    before, state = load_state(root, first), load_state(root, outcome.campaign_id)
    link = {"campaign_id": first, "root": before.digest, "candidate_id": before.completed["selected"]}
    identity = state.started["identity"]
    assert identity["confirms"] == link
    assert (identity["name"], identity["proposer"]) == ("small-confirm", PROPOSER)
    assert list(state.registered) == [link["candidate_id"]] == identity["candidates"]
    assert (outcome.state, outcome.outcome, outcome.selected) == ("completed", "selected", link["candidate_id"])
    # 1 started, 1 registered, 2 arms of 2 cases and 2 repeats, 1 compared, 1 decided, 1 completed
    assert state.sequence == 13
    assert audit(root).findings == ()
    again = run_fresh(root, first)
    assert (again.campaign_id, again.appended) == (outcome.campaign_id, 0)


def test_the_link_is_part_of_the_identity_and_of_nothing_else(root: Path, first: str) -> None:
    views = installed_views()
    linked = of.confirming(first, confirming.fresh, root, name="small")
    bare = of.Campaign(**{name: getattr(linked, name) for name in linked.__slots__ if name != "confirms"})
    told, plain = prepare(linked, views), prepare(bare, views)
    assert told.campaign_id != plain.campaign_id
    assert {**plain.identity, "confirms": told.identity["confirms"]} == told.identity
    assert "confirms" not in plain.identity


def test_the_view_of_campaigns_names_what_is_confirmed(root: Path, first: str) -> None:
    confirmed = run_fresh(root, first).campaign_id
    told = dict(of.open(root).sql("select campaign_id, confirms from campaigns").fetchall())
    assert (told[first], told[confirmed]) == (None, first)


def test_what_was_selected_there_is_read_with_its_score(root: Path, first: str) -> None:
    confirmed = run_fresh(root, first).campaign_id
    identity = load_state(root, confirmed).started["identity"]
    found = read_confirmed(root, identity)
    assert found is not None
    # more doubles a mean weight of 2
    assert (found.campaign_id, found.is_found, found.score) == (first, True, 2.0)
    assert read_confirmed(root, load_state(root, first).started["identity"]) is None
    altered = read_confirmed(root, {"confirms": {**identity["confirms"], "root": "sha256:" + "0" * 64}})
    assert altered is not None
    assert (altered.is_found, altered.score) == (False, None)
    elsewhere = read_confirmed(root, {"confirms": {**identity["confirms"], "campaign_id": "sha256:" + "0" * 64}})
    assert elsewhere is not None
    assert not elsewhere.is_found


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("stale", r"1 of 2 cases were in campaign 'small' .* fresh: renamed\."),
        ("first", r"3 of 3 cases were .* fresh: a, b, c\."),
        ("other_baseline", "confirm against the same baseline"),
        ("other_candidate", "selected 'more', sha256:.* none of the candidates of 'small': less, more"),
        ("other_policy", r"differs from campaign 'small' .* in policy\.gates, policy\.min_gain;"),
        ("other_metrics", "differs from campaign 'small' .* in metrics;"),
        ("other_runner", "differs from campaign 'small' .* in runner;"),
    ],
)
def test_what_would_confirm_nothing_is_refused_before_anything_is_recorded(
    root: Path, first: str, name: str, message: str
) -> None:
    events = len(list(root.glob("events/*/*.parquet")))
    with pytest.raises(DeclarationError, match=message):
        of.confirm(first, getattr(confirming, name), root, executor="inline", name="another")
    assert len(list(root.glob("events/*/*.parquet"))) == events


def test_many_cases_that_are_not_fresh_are_counted_and_some_named(tmp_path: Path) -> None:
    cases = {f"c{ix:02}": {"weight": ix + 1} for ix in range(12)}
    of.run(small(cases=cases), tmp_path, executor="inline")
    with pytest.raises(DeclarationError, match=r"12 of 13 cases .*: c00, c01, .*c09, …\. Take"):
        of.confirming("small", small(cases={**cases, "new": {"weight": 99}}), tmp_path)


def test_a_campaign_that_selected_nothing_cannot_be_confirmed(tmp_path: Path) -> None:
    of.run(confirming.kept, tmp_path, executor="inline")
    with pytest.raises(DeclarationError, match=r"selected no candidate .its outcome is kept_baseline."):
        of.confirming("small", confirming.fresh, tmp_path)


def test_a_campaign_that_is_not_completed_cannot_be_confirmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPFIELD_TEST_OUTAGE", str(tmp_path / "outage"))
    (tmp_path / "outage").touch()
    root = tmp_path / "warehouse"
    of.run(confirming.first_online, root, executor="inline")
    with pytest.raises(DeclarationError, match="is not completed: let `opfield resume` complete it"):
        of.confirming("small", confirming.fresh_online, root)


def test_an_unknown_campaign_lists_the_known_ones(root: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown campaign 'smal'.*small"):
        of.confirming("smal", confirming.fresh, root)


def test_a_sealed_campaign_can_be_confirmed(tmp_path: Path) -> None:
    first = of.run(confirming.first, tmp_path, executor="inline").campaign_id
    with duckdb.connect() as con:
        seal_campaign(tmp_path, first, con)
    assert run_fresh(tmp_path, first).outcome == "selected"


def test_a_confirmation_can_be_confirmed(root: Path, first: str) -> None:
    second = run_fresh(root, first).campaign_id
    third = of.confirm(second, confirming.by_option("7"), root, executor="inline", name="third")
    identity = load_state(root, third.campaign_id).started["identity"]
    assert identity["confirms"]["campaign_id"] == second


def test_a_started_confirmation_is_declared_as_it_was(root: Path, first: str) -> None:
    confirmed = run_fresh(root, first, name="mine").campaign_id
    opened, views = of.open(root), installed_views()
    identity = load_state(root, confirmed).started["identity"]
    assert prepare(confirming_again(confirming.fresh, identity, opened), views).campaign_id == confirmed
    assert confirming_again(confirming.first, load_state(root, first).started["identity"], opened) is confirming.first


def test_the_first_event_holds_the_link(root: Path, first: str) -> None:
    confirmed = run_fresh(root, first).campaign_id
    assert f'"confirms":{{"campaign_id":"{first}"' not in next(iter(read_events(root, first))).payload
    assert f'"campaign_id":"{first}"' in next(iter(read_events(root, confirmed))).payload
