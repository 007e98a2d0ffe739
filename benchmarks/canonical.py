"""Canonical JSON of a typical `trial.completed` event, as ratios to `orjson` with sorted keys in one run.

    python benchmarks/canonical.py

The best of many repeats is taken, since whatever else the machine does can only slow a repeat down.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import orjson
import rfc8785

from opfield.core import canonical_json

METRICS = {
    "recall": 0.75,
    "mrr": 0.3333333333333333,
    "hit_rate": 1.0,
    "scored_chunks": 42.0,
    "context_words": 96.0,
}
EVENT: dict[str, Any] = {
    "candidate_id": "sha256:" + "a" * 64,
    "arm": "candidate",
    "case_id": "case-0042",
    "repeat": 2,
    "seed": "0123456789abcdef",
    "status": "success",
    "measurements": [{"metric": name, "value": value, "missing_reason": None} for name, value in METRICS.items()],
    "failure": None,
    "cost_usd": 0.0012,
    "input_tokens": 512,
    "output_tokens": 64,
    "duration_s": 0.0123456,
    "started_at": "2026-01-01T00:00:00.123456Z",
    "finished_at": "2026-01-01T00:00:00.135801Z",
    "artifact_id": "sha256:" + "b" * 64,
    "attempts": 1,
    "worker": "thread-1",
}
ENCODERS: dict[str, Callable[[Any], object]] = {
    "orjson, sorted keys": lambda value: orjson.dumps(value, option=orjson.OPT_SORT_KEYS),
    "opfield.canonical_json": canonical_json,
    "json, sorted keys": lambda value: json.dumps(value, sort_keys=True),
    "rfc8785": rfc8785.dumps,
}


def best_seconds(encode: Callable[[Any], object], value: Any, repeats: int = 20, calls: int = 1000) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            encode(value)
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def main() -> None:
    # A no-op runner takes a few microseconds, and not every case id is English.
    events = {
        "a typical event": EVENT,
        "a duration below 10 µs": {**EVENT, "duration_s": 4.2e-06},
        "text beyond ASCII": {**EVENT, "case_id": "größe"},
        "an emoji": {**EVENT, "case_id": "\N{GRINNING FACE}"},
    }
    assert canonical_json(EVENT) == rfc8785.dumps(EVENT)
    for title, event in events.items():
        print(f"{title} ({len(canonical_json(event))} bytes)")
        unit = best_seconds(ENCODERS["orjson, sorted keys"], event)
        for name, encode in ENCODERS.items():
            seconds = best_seconds(encode, event)
            print(f"  {name:<24} {seconds * 1e6:7.2f} µs  {seconds / unit:6.2f} ×")


if __name__ == "__main__":
    main()
