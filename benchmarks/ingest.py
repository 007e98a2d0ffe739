"""Taking results in: small files from the start of the process to the verdict, and large ones in bounded memory.

    python -m benchmarks.ingest [--small] [--rounds 5] [--folder FOLDER]

*Small*: a CSV file of two systems and 1,000 cases. Timed are whole processes, the least of the rounds, which take
turns: `opfield ingest table` into a new warehouse and into one that stands, `opfield compare`, and a view. Beside them
stand loading the libraries that any such command needs, and a paired t-test by hand with polars and SciPy.

*Large*: 2 GB of JSON lines, and one JSON document of promptfoo's with 25,000 results in 500 MB, each output 20 kB. Told
are results per second, the greatest memory of the process, and the ratio to reading the same file and keeping the
scores by the shortest way in Python: line by line, and with `json.load`, since promptfoo's own loader is `JSON.parse`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CASES = 1_000
SMALL_GOAL_S = 1.0
OUTPUT_BYTES = 20_000
LINES = 100_000
RESULTS = 25_000
MEMORY_GOAL_GB = 1.5

LOADING = "import click, duckdb, pyarrow.parquet, rich.console, rich.table"
BY_HAND = """
import sys, polars as pl
from scipy.stats import ttest_rel
wide = pl.read_csv(sys.argv[1]).pivot("model", index="question", values="score")
print(wide["b"].mean() - wide["a"].mean(), ttest_rel(wide["b"], wide["a"]).pvalue)
"""
BY_LINE = """
import json, sys
scores = {}
for line in open(sys.argv[1]):
    row = json.loads(line)
    scores[row["model"], row["question"]] = row["score"]
print(len(scores))
"""
WHOLE = """
import json, sys
told = json.load(open(sys.argv[1]))
print(len({(each["provider"]["id"], each["testIdx"]): each["score"] for each in told["results"]["results"]}))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took: seconds by the wall, and its greatest memory in GB."""

    wall: float
    memory: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="leave the large files out")
    parser.add_argument("--rounds", type=int, default=5, help="turns of the small file")
    parser.add_argument("--folder", type=Path, help="keep the large files here, and reuse them")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        small(Path(temporary), asked.rounds)
        if not asked.small:
            folder = asked.folder or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            large("JSON lines", written(folder / "lines.jsonl", lines), LINES, table_options(), BY_LINE, folder)
            options = ["promptfoo", "--baseline", "base"]
            large("one document", written(folder / "promptfoo.json", document), RESULTS, options, WHOLE, folder)


def small(folder: Path, rounds: int) -> None:
    """Time the small file, and what stands beside it."""
    results = written(folder / "results.csv", rows)
    standing = folder / "standing"
    command("ingest", *table_options(), "--name", "before", str(results), warehouse=standing)
    timed: dict[str, Callable[[int], Cost]] = {
        "opfield ingest, new warehouse": lambda ix: command(
            "ingest", *table_options(), str(results), warehouse=folder / f"new-{ix}"
        ),
        "opfield ingest, standing warehouse": lambda ix: command(
            "ingest", *table_options(), "--name", f"again {ix}", str(results), warehouse=standing
        ),
        "opfield compare": lambda _: command("compare", "before", warehouse=standing),
        "opfield sql 'from coverage'": lambda _: command("sql", "from coverage", warehouse=folder / "new-0"),
        "loading the libraries": lambda _: process([sys.executable, "-c", LOADING]),
        "polars and SciPy, by hand": lambda _: process([sys.executable, "-c", BY_HAND, str(results)]),
    }
    best: dict[str, float] = {}
    for ix in range(rounds):
        for name, run in timed.items():
            best[name] = min(best.get(name, 1e9), run(ix).wall)
    print(f"{2 * CASES:,} rows{'':30}{'seconds':>9}{'× loading':>11}")
    for name, seconds in best.items():
        goal = f"  goal {SMALL_GOAL_S} s: {verdict(seconds <= SMALL_GOAL_S)}" if name.startswith("opfield") else ""
        print(f"{name:40}{seconds:9.2f}{seconds / best['loading the libraries']:11.1f}{goal}")


def large(name: str, path: Path, count: int, options: Sequence[str], peer: str, folder: Path) -> None:
    """Time a large file, and its peer."""
    with tempfile.TemporaryDirectory(dir=folder) as warehouse:
        ours = command("ingest", *options, str(path), warehouse=Path(warehouse))
    other = process([sys.executable, "-c", peer, str(path)])
    size = path.stat().st_size / 1e9
    print(
        f"{name}, {size:.2f} GB, {count:,} results: {ours.wall:.0f} s, {count / ours.wall:,.0f} per second, "
        f"{ours.memory:.2f} GB (goal {MEMORY_GOAL_GB}: {verdict(ours.memory <= MEMORY_GOAL_GB)}); "
        f"{ours.wall / other.wall:.1f} × reading it by hand ({other.wall:.1f} s, {other.memory:.2f} GB)"
    )


def table_options() -> list[str]:
    return ["table", "--candidate", "model", "--case", "question", "--metric", "score", "--baseline", "a"]


def command(*words: str, warehouse: Path) -> Cost:
    """Run the command as users do; its exit code tells the outcome, and 1 an error."""
    return process([sys.executable, "-m", "opfield", *words, "--warehouse", str(warehouse)], wrong=(1, 2))


def process(arguments: Sequence[str], wrong: Sequence[int] = (1,)) -> Cost:
    """Run a process to its end, with the compiled code of modules kept as an installation keeps it."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    running = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=kept)
    assert running.stderr is not None
    said = running.stderr.read()
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode in wrong or running.returncode < 0:
        raise SystemExit(f"{' '.join(arguments)} ended with {running.returncode}: {said}")
    return Cost(time.perf_counter() - started, used.ru_maxrss / 1e6)


def written(path: Path, parts: Callable[[], Iterator[str]]) -> Path:
    """Write a file, unless it is there."""
    if not path.exists():
        with path.with_suffix(".part").open("w", encoding="utf-8") as file:
            file.writelines(parts())
        path.with_suffix(".part").rename(path)
    return path


def rows() -> Iterator[str]:
    drawn = random.Random(1)
    yield "model,question,score\n"
    for model in "ab":
        yield from (f"{model},q{ix},{drawn.random():.4f}\n" for ix in range(CASES))


def lines() -> Iterator[str]:
    drawn, output = random.Random(2), outputs()
    for ix in range(LINES):
        row = {"model": "ab"[ix % 2], "question": f"q{ix // 2}", "score": drawn.random(), "output": next(output)}
        yield json.dumps(row) + "\n"


def document() -> Iterator[str]:
    drawn, output = random.Random(3), outputs()
    yield '{"evalId": "eval-1", "results": {"version": 3, "results": [\n'
    for ix in range(RESULTS):
        question = f"What is {ix // 2} + {ix // 2}?"
        passed = drawn.random() < 0.6
        told: dict[str, Any] = {
            "promptIdx": ix % 2,
            "testIdx": ix // 2,
            "provider": {"id": ("base", "new")[ix % 2]},
            "prompt": {"raw": question, "label": "plain"},
            "vars": {"question": question},
            "testCase": {"vars": {"question": question}},
            "response": {"output": next(output)},
            "success": passed,
            "score": float(passed),
            "failureReason": 0 if passed else 1,
            "gradingResult": {"pass": passed, "score": float(passed), "componentResults": []},
        }
        yield (",\n" if ix else "") + json.dumps(told)
    yield "\n]}}\n"


def outputs() -> Iterator[str]:
    """Yield texts that differ and do not compress to nothing."""
    drawn = random.Random(4)
    words = [f"{drawn.getrandbits(24):06x}" for _ in range(4096)]
    while True:
        yield " ".join(drawn.choices(words, k=OUTPUT_BYTES // 7))


def verdict(is_met: bool) -> str:
    return "met" if is_met else "NOT met"


if __name__ == "__main__":
    main()
