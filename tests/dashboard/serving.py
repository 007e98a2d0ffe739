"""A dashboard in a process of its own, as a user starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Served:
    """A dashboard that answers: its process, and the URL that it printed."""

    process: subprocess.Popen[str]
    url: str

    @property
    def base(self) -> str:
        return self.url.split("/?")[0]

    @property
    def port(self) -> int:
        port = urlsplit(self.url).port
        assert port is not None
        return port

    @property
    def token(self) -> str:
        return self.url.split("token=")[1]

    def stop(self) -> tuple[int, str]:
        """End it as Ctrl-C does; return its exit code and what stands on stderr."""
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


def command(*arguments: str, **variables: str) -> subprocess.Popen[str]:
    """Start the command, from a folder that is no warehouse's."""
    environment = {**os.environ, **variables, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.Popen(
        [sys.executable, "-m", "opfield", *arguments],
        cwd=REPOSITORY / "tests",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def serving(root: Path) -> Iterator[Served]:
    """Serve a warehouse on a free port, and end the process by its id."""
    process = command("dashboard", "--warehouse", str(root), "--no-browser")
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), process.stderr.read()
        yield Served(process, url)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
