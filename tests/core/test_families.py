"""What a config calls itself can be shown, whatever it is."""

from __future__ import annotations

from typing import Any

import pytest

from components.core.errors import UnsupportedModelError
from components.core.families import family_of

STRANGE = [
    "\u202e",
    "a\nb",
    "\x1b[31mred",
    "\ud800",
    "🐍" * 90,
    "<b>bert</b>",
    ["bert"],
    None,
    10**40,
]


@pytest.mark.parametrize("more", [{}, {"auto_map": {"AutoModel": "code.py"}}], ids=["", "auto_map"])
@pytest.mark.parametrize("name", STRANGE, ids=ascii)
def test_a_kind_with_a_strange_name_is_refused_in_a_sentence_that_can_be_shown(
    name: Any, more: dict[str, Any]
) -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        family_of({"model_type": name, **more})
    message = str(caught.value)
    assert message.isprintable()
    assert message.isascii()
    assert len(message) < 400
