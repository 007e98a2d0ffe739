"""Write `sql/reads.json`: what each relation, and each query of the report and the dashboard, reads.

Parsing them takes a quarter of a second, which each command on a new warehouse would pay. A text that is not listed is
parsed when it is asked for, so that a file that is behind costs time and never an answer.

Run it from the repository after a change of SQL: `python -m scripts.reads`. The test suite runs `reads_text` and
compares.
"""

from __future__ import annotations

import json

from opfield.dashboard.parts import READINGS, part_queries
from opfield.report.parts import queries
from opfield.warehouse.locate import sql_folder
from opfield.warehouse.sql_text import READS, parsed_names, statement_digest
from opfield.warehouse.views import load_views


def statements() -> dict[str, str]:
    """Return the text of every relation, and of every query of a page under the page's name."""
    relations = {name: each.sql for name, each in load_views(folder=sql_folder(), is_checked=False).named.items()}
    report = {f"report/{name}": each.sql for name, each in queries().items()}
    dashboard = {f"dashboard/{name}": sql for reading in READINGS for name, sql in part_queries(reading).items()}
    return relations | report | dashboard


def reads_text() -> str:
    """Return the text of `sql/reads.json`, as DuckDB parses every statement now."""
    told = {}
    for name, sql in sorted(statements().items()):
        relations, functions = parsed_names(sql)
        told[name] = {
            "digest": statement_digest(sql),
            "relations": sorted(relations),
            "functions": sorted(functions),
        }
    lines = [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in told.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    (sql_folder() / READS).write_text(reads_text(), encoding="utf-8")
