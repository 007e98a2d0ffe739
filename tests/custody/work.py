"""A process that runs a campaign, to be killed or raced: `python -m tests.custody.work ROOT EXECUTOR LOCKING [NAME]`.

Says `ready` once everything is imported, waits for a line, then runs, and prints the outcome as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from opfield.campaign import writer
from opfield.campaign.engine import RunOptions, run
from opfield.errors import OpfieldError
from opfield.warehouse.lock import hold, no_lock
from tests.custody.campaigns import lasting, weighted

CAMPAIGNS = {
    "weighted": lambda: weighted(repeats=2, pause_s=0.002),
    "tiny": lambda: weighted(cases=2),
    "lasting": lambda: weighted(run=lasting),
}


def main() -> None:
    """Run the campaign and tell how it ended."""
    root, executor, locking, name = sys.argv[1:]
    # Many small segments, so that there are many moments to be killed at.
    writer.SEGMENT_EVENTS = 5  # type: ignore[misc]
    options = RunOptions(
        executor=executor,
        workers=None if executor == "inline" else 2,
        locking=no_lock if locking == "no_lock" else hold,
    )
    campaign = CAMPAIGNS[name]()
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        outcome = run(campaign, Path(root), options)
    except OpfieldError as error:
        print(json.dumps({"error": type(error).__name__, "message": str(error)}))
    else:
        print(json.dumps({"state": outcome.state, "selected": outcome.selected, "appended": outcome.appended}))


if __name__ == "__main__":
    main()
