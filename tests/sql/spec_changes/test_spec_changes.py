"""Where a candidate's specification differs from the baseline's, field by field."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sql.build import Campaign, Metric
from tests.sql.conftest import Read, Write

NAMES = st.text("abc", min_size=1, max_size=3)
LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.text("xyü \"'", max_size=4)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3))
SPECS = st.dictionaries(NAMES, VALUES, max_size=4)


def fields(value: Any, path: str = "") -> dict[str, Any]:
    """Return what stands innermost by its path."""
    if isinstance(value, dict) and value:
        inner = [fields(each, f"{path}.{name}" if path else name) for name, each in value.items()]
    elif isinstance(value, list) and value:
        inner = [fields(each, f"{path}[{ix}]") for ix, each in enumerate(value)]
    else:
        return {path: value}
    return {name: each for found in inner for name, each in found.items()}


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(base=SPECS, own=SPECS, name=st.uuids())
def test_the_fields_that_differ_are_told_with_both_values(
    write: Write, read: Read, base: Any, own: Any, name: Any
) -> None:
    campaign_id = write(
        Campaign(cases={"a": {}}, metrics=[Metric("m")], name=str(name), specs={"base": base, "c1": own})
    )
    before, after = fields(base), fields(own)
    absent = object()
    expected = {
        path: (before.get(path, absent), after.get(path, absent))
        for path in before.keys() | after.keys()
        if json.dumps(before.get(path, "absent")) != json.dumps(after.get(path, "absent"))
        or (path in before) != (path in after)
    }
    rows = read(f"from spec_changes where campaign_id = '{campaign_id}'")
    told = {
        row["field"]: tuple(
            absent if row[f"{arm}_value"] is None else json.loads(row[f"{arm}_value"])
            for arm in ("baseline", "candidate")
        )
        for row in rows
    }
    assert told == expected
    assert len(rows) == len(told)
