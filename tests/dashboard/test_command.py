from __future__ import annotations

import socket
from pathlib import Path

import pytest

from opfield.cli.app import invoke
from opfield.dashboard import server
from opfield.errors import OpfieldError


def test_it_listens_on_the_loopback_address_alone() -> None:
    with server.listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_a_port_in_use_is_told(finished: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert invoke(["dashboard", "--warehouse", str(finished), "--port", str(port), "--no-browser"]) == 1

    assert f"port {port} is in use; name another with --port" in capfd.readouterr().err


def test_a_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opfield.dashboard.server._NEEDED", ("marimo", "no_such_module"))

    with pytest.raises(OpfieldError, match=r"needs no_such_module, which the extra brings: pip install 'opfield"):
        server.check_extra()


def test_no_warehouse_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert invoke(["dashboard", "--warehouse", str(tmp_path), "--no-browser"]) == 1

    assert "is no warehouse yet" in capfd.readouterr().err


def test_its_code_runs_as_a_notebook_of_ones_own(
    finished: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert invoke(["dashboard", "--code"]) == 0
    mine = tmp_path / "mine.py"
    mine.write_text(capfd.readouterr().out)
    monkeypatch.setenv("OPFIELD_WAREHOUSE", str(finished))

    found: dict[str, object] = {"__name__": "mine", "__file__": str(mine)}
    exec(compile(mine.read_text(), str(mine), "exec"), found)
    outputs, defined = found["app"].run()  # type: ignore[attr-defined]  # a marimo.App

    assert [row["state"] for row in defined["shown"]().told["rows"]] == ["completed"] * 3
    assert any("Campaigns" in getattr(each, "text", "") for each in outputs)
