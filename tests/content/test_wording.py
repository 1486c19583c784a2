"""Numbers and texts as readings word them."""

from __future__ import annotations

import pytest

from components.content.wording import percent, quoted, shortened


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0, "0%"),
        (0.004, "under 1%"),
        (0.25, "25%"),
        (0.996, "over 99%"),
        (1, "100%"),
        (1.2, "120%"),
        (-0.001, "0%"),
        (-0.2, "-20%"),
    ],
)
def test_a_share_is_none_or_all_only_where_it_is(share: float, said: str) -> None:
    assert percent(share) == said


def test_a_text_is_cut_to_one_line_of_so_many_characters() -> None:
    assert shortened(" one\n two\t", 7) == "one two"
    assert shortened("one two", 6) == "one t…"
    assert shortened("*one*", 9) == "*one*"
    assert quoted("*one* two", 6) == r"“\*one\*…”"
