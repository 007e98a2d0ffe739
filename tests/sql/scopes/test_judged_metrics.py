from __future__ import annotations

from typing import Any

from tests.sql.build import Campaign, Metric
from tests.sql.conftest import Read, Write


def test_what_a_gate_or_the_preference_names_is_judged_once(write: Write, read: Read) -> None:
    gates: list[dict[str, Any]] = [
        {"kind": "coverage"},
        {"kind": "mean_delta", "name": "all", "metric": "gain", "threshold": 0.0},
        {"kind": "worst_delta", "name": "worst", "metric": "gain", "threshold": -1.0},
        {"kind": "mean_delta", "name": "unknown", "metric": "nothing", "threshold": 0.0},
    ]
    metrics = [Metric("gain", 1, 0, 1, kind="binary"), Metric("loss", -1, 0), Metric("aside")]
    write(Campaign(cases={"a": {}}, metrics=metrics, gates=gates, preference="loss"))
    assert [tuple(row.values()) for row in read("from judged_metrics order by metric")] == [
        ("gain", 1, 0.0, 1.0, "binary"),
        ("loss", -1, 0.0, None, "continuous"),
    ]


def test_without_gates_and_preference_no_metric_is_judged(write: Write, read: Read) -> None:
    write(Campaign(cases={"a": {}}, metrics=[Metric("m")]))
    assert read("from judged_metrics") == []
    assert read("from bounds") == []
