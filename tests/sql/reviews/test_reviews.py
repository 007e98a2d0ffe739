from __future__ import annotations

from datetime import timedelta

from tests.sql.build import EPOCH, Campaign, Metric
from tests.sql.conftest import Read, Write
from tests.sql.reviewing import Said, with_reviews

TINY = Campaign(cases={"a": {}}, metrics=[Metric("m")], candidates=["c1", "c2"])


def test_every_review_is_a_row_and_says_whether_it_is_of_the_recorded_comparison(write: Write, read: Read) -> None:
    other = "sha256:" + "0" * 64
    said = [
        Said("c1", "approve", "ann", comment='it\'s "fine"'),
        Said("c1", "reject", "ann", key="ab" * 32),
        Said("c2", "approve", "bea", key="ab" * 32, is_signed=False, comparison=other),
    ]
    campaign = with_reviews(TINY, said)
    write(campaign)
    # 1 start, 2 registrations, 2 comparisons: the reviews are events 6, 7 and 8, one second and one microsecond apart.
    rows = read("from reviews order by sequence")
    assert [list(row.values())[:5] for row in rows] == [
        [6, "c1", "approve", "ann", 'it\'s "fine"'],
        [7, "c1", "reject", "ann", None],
        [8, "c2", "approve", "bea", None],
    ]
    assert [(row["public_key"], row["is_signed"], row["is_current"]) for row in rows] == [
        (None, False, True),
        ("ab" * 32, True, True),
        ("ab" * 32, False, False),
    ]
    assert rows[2]["comparison"] == other
    assert [row["recorded_at"] for row in rows] == [EPOCH + timedelta(seconds=ix, microseconds=ix) for ix in (5, 6, 7)]
    assert read("from violations") == [
        {"sequence": 8, "law": "review", "detail": "the comparison reviewed is not the one recorded"}
    ]


def test_a_campaign_without_reviews_has_none(write: Write, read: Read) -> None:
    write(with_reviews(TINY, []))
    assert read("from reviews") == []
