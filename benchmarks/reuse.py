"""What reuse by derivation keys saves on a retrieval collection: the same campaign with and without, in one run.

    python -m benchmarks.reuse FOLDER [QUERIES]

FOLDER is in BEIR layout, such as Cranfield. Without reuse every trial builds its own index.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

import opfield as of
from opfield_rag import passages, rag_campaign


def measured(campaign: of.Campaign) -> tuple[float, float, int, list[dict[str, object]]]:
    """Return the seconds that a campaign took, by the clock and of the processor, its builds, and its comparisons."""
    with (
        patch.object(passages, "make_build", wraps=passages.make_build) as build,
        tempfile.TemporaryDirectory() as folder,
    ):
        started, worked = time.perf_counter(), time.process_time()
        of.run(campaign, folder, executor="inline")
        took, work = time.perf_counter() - started, time.process_time() - worked
        rows = of.open(folder).rows("select * exclude (campaign_id) from comparisons order by candidate_id, metric")
    return took, work, build.call_count, rows


def main(folder: Path, queries: int) -> None:
    """Measure, and print."""
    campaign = rag_campaign(data=folder, limit=queries)
    reusing = measured(campaign)
    with patch.object(passages._BUILDS, "get", lambda _key, build: (build(), False)):
        fresh = measured(campaign)
    assert reusing[3] == fresh[3], "reuse changed a comparison"
    for name, (took, work, builds, _) in (("with reuse", reusing), ("without", fresh)):
        print(f"{queries} queries, {name}: {took:.1f} s, {work:.1f} s of the processor, {builds} builds")
    print(f"reuse takes {reusing[0] / fresh[0]:.2f} of the time; every comparison is equal")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)
