"""Gates that no evidence could let judge, such as k tries in a row out of fewer repeats: refused before any trial.

The views say what is wrong with a gate as it is declared; here they are asked before there is anything else to read.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import duckdb

from opfield.core import canonical_json
from opfield.errors import DeclarationError
from opfield.warehouse import ledger
from opfield.warehouse.contract import load_contract, projection_query
from opfield.warehouse.memory import scratch_catalogue
from opfield.warehouse.views import ViewSet

#: Relations that say of a gate why it cannot be judged as declared.
_PROBLEMS: Final = ("inference_gates", "percentile_gates")


def check_judgeable(campaign_id: str, started: Mapping[str, Any], views: ViewSet) -> None:
    """Refuse a policy with a gate that cannot be judged as declared.

    Args:
        campaign_id: identity of the campaign.
        started: payload of its first event.
        views: the relations that will judge.

    Raises:
        DeclarationError: naming each such gate, and why.
    """
    kinds = {gate["kind"] for gate in started["identity"]["policy"]["gates"]}
    read = {each for kind in kinds for each in views.closure([f"gate_{kind}"])}
    asked = [each for each in _PROBLEMS if each in read]
    if not asked:
        return
    told = " union all ".join(f"select campaign_id, gate_ix, problem from {each}" for each in asked)
    query = f"select name, problem from policy_gates inner join ({told}) using (campaign_id, gate_ix) order by gate_ix"
    with scratch_catalogue() as con:
        _install(con, campaign_id, started, views, (*asked, "policy_gates"))
        refused = [(name, problem) for name, problem in con.execute(query).fetchall() if problem is not None]
    if refused:
        listed = "; ".join(f"gate {name}: {problem}" for name, problem in refused)
        raise DeclarationError(f"the policy could never be judged: {listed}")


def _install(
    con: duckdb.DuckDBPyConnection,
    campaign_id: str,
    started: Mapping[str, Any],
    views: ViewSet,
    names: tuple[str, ...],
) -> None:
    """Create the relations, each computed at once, over a ledger that holds the first event alone."""
    event = {
        "campaign_id": campaign_id,
        "sequence": 1,
        "type": ledger.CAMPAIGN_STARTED,
        "schema_version": ledger.SCHEMA_VERSION,
        "recorded_at": datetime(1970, 1, 1),
        "fence": 1,
        "payload": canonical_json(started).decode(),
        "digest": "",
    }
    contracts = load_contract()
    for table in contracts.values():
        con.execute(table.ddl[0])
    members = ", ".join(event)
    con.execute(f"insert into events ({members}) values ({', '.join(f'${each}' for each in event)})", event)
    con.execute("create view segment as from events")
    con.execute(f"insert into metrics by name {projection_query(contracts['metrics'])}")
    for name in views.ordered(views.closure(names)):
        relation = views.named[name]
        con.execute(relation.sql if relation.is_macro else f"create table {name} as {relation.sql}")
