"""Results of promptfoo, made up in the shapes that it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from opfield.ingest.readers.promptfoo import reader
from opfield.ingest.records import (
    Sample,
)
from tests.ingest.reading import only, read

Result = dict[str, Any]


def result(question: str = "2+2?", *, column: int = 0, test: int = 0, **members: Any) -> Result:
    """A result as version 3 writes it, graded by one assertion that passed."""
    return {
        "id": f"r{test}-{column}",
        "provider": {"id": "openai:small", "label": ""},
        "prompt": {"raw": f"Answer: {question}", "label": "plain"},
        "promptId": "p0",
        "promptIdx": column,
        "testIdx": test,
        "vars": {"question": question},
        "testCase": {
            "vars": {"question": question},
            "description": "a sum",
            "assert": [{"type": "equals", "value": "4"}],
        },
        "response": {
            "output": "4",
            "cost": 0.002,
            "tokenUsage": {"total": 12, "prompt": 10, "completion": 2},
        },
        "success": True,
        "score": 1,
        "namedScores": {"exactness": 0.5},
        "gradingResult": {"pass": True, "score": 1, "reason": "fine", "tokensUsed": {"prompt": 0, "completion": 0}},
        "failureReason": 0,
        "latencyMs": 1500,
        "cost": 0.002,
    } | members


def column(provider: str = "openai:small", prompt: str = "plain", **metrics: Any) -> dict[str, Any]:
    return {"provider": provider, "label": prompt, "raw": f"{prompt}: {{{{question}}}}", "metrics": metrics}


def document(*results: Result, version: int | None = 3, **members: Any) -> dict[str, Any]:
    """A file of version 3 around results; members named `prompts` and `stats` stand in the summary."""
    inner = {name: members.pop(name) for name in ("prompts", "stats", "table") if name in members}
    return {"evalId": "eval-1", "results": {"version": version, **inner, "results": list(results)}, **members}


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def as_lines(path: Path, *results: Result) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in results))
    return path


def sample_of(tmp_path: Path, one: Result, **options: Any) -> Sample:
    (sample,) = only(Sample, read(reader, written(tmp_path / "out.json", document(one)), **options))
    return sample
