from __future__ import annotations

from tests.sql.build import Campaign, Metric, Trial
from tests.sql.conftest import Read, Write


def test_failures_are_counted_by_status_and_code_on_both_arms(write: Write, read: Read) -> None:
    write(
        Campaign(
            cases={"a": {}, "b": {}, "c": {}},
            metrics=[Metric("m")],
            trials=[
                Trial("base", "a", status="cancelled"),
                Trial("c1", "a", status="domain_failure", failure_code="empty"),
                Trial("c1", "b", status="domain_failure", failure_code="empty"),
                Trial("c1", "c", 0, {"m": 1.0}),
            ],
        )
    )
    assert read("from failures order by candidate_id") == [
        {"candidate_id": "base", "arm": "baseline", "status": "cancelled", "failure_code": None, "cells": 1},
        {"candidate_id": "c1", "arm": "candidate", "status": "domain_failure", "failure_code": "empty", "cells": 2},
    ]
