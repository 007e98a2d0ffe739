"""The macros in DuckDB's own shell, older than the library, give what the library gives."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sysconfig

import pytest

from opfield.warehouse.views import load_views
from tests.sql.statistics.conftest import Value
from tests.sql.statistics.test_edges import UNKNOWN

SHELL = shutil.which("duckdb", path=sysconfig.get_path("scripts")) or shutil.which("duckdb")

KNOWN = (
    *(f"{name}({x})" for name in ("normal_cdf", "normal_tail") for x in (-9, -3, -1.5, 0, 0.1, 2.9, 3, 7, 25)),
    *(f"normal_quantile({p})" for p in ("1e-10", "1e-3", 0.2, 0.5, 0.6, 0.99)),
    *(f"t_tail({t}, {df})" for t in (-3, 0, 0.5, 1.8, 6) for df in (1, 2, 3, 40, 41, 400, 401, 100_000)),
    *(f"t_quantile_at({p}, {df})" for p in ("1e-7", 0.3, 0.5, 0.975) for df in (1, 2, 3, 40, 400, 401, 100_000)),
    *(f"sign_test_tail({k}, {n})" for n in (0, 1, 9, 1100, 1101, 100_000) for k in (0, 1, n // 2, n // 2 + 1, n)),
    *(
        f"tango_{end}({each}, 1.96)"
        for end in ("low", "high")
        for each in ("0, 0, 9", "9, 0, 9", "0, 9, 9", "5, 2, 40")
    ),
    "constant_low(0.5, -1, 20, 0.025)",
    "t_low(1, 0.5, 9, 0.025)",
    "t_high(1, 0.5, 9, 0.025)",
    "smallest_effect(0.1, 30, 0.025, 0.8)",
    "betting_log_wealth([0.5, -1, 0.25, 0.5, 1], -1, 0, 5)",
    "betting_low([0.5, 0.4, 0.25, 0.5, 0.4, 0.3], 0, 0.2)",
    "list_reduce(betting_wealth_path(range(100)::double[], -1, 20), lambda total, each: total + each)",
)


@pytest.mark.skipif(SHELL is None, reason="the duckdb-cli package is not installed")
def test_the_shell_gives_the_values_that_the_library_gives(value: Value) -> None:
    definitions = [each.sql for each in load_views().relations.values() if each.is_macro]
    rows = [f"select {ix} as ix, {expression} as found" for ix, expression in enumerate((*KNOWN, *UNKNOWN))]
    script = ";\n".join([*definitions, *rows]) + ";\n"
    shell = subprocess.run(
        [str(SHELL), "-no-init", "-bail", "-jsonlines"], input=script, capture_output=True, text=True, check=True
    )
    found = [json.loads(line)["found"] for line in shell.stdout.splitlines() if line]
    assert len(found) == len(rows)
    for expression, told in zip((*KNOWN, *UNKNOWN), found, strict=True):
        expected = value(expression)
        if expected is None or told is None:
            assert told is expected, expression
        else:
            assert math.isclose(told, expected, rel_tol=1e-12, abs_tol=1e-12), expression
