"""Content words, in several languages."""

from __future__ import annotations

import pytest

from contextlens.analysis.content_words import content_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The bill didn't rise, did it?", ["bill", "rise", "did"]),
        ("Fire in the dog\u2019s system!", ["fire", "dog", "system"]),
        ("l'eau \u00e0 Cafe\u0301", ["l", "eau", "\u00e0", "caf\u00e9"]),
        ("\u6211\u7231\u4f60 abc", ["\u6211", "\u7231", "\u4f60", "abc"]),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", ["\u0939\u093f\u0928\u094d\u0926\u0940"]),
        ("of the ?! \U0001f642", []),
    ],
)
def test_words_that_mean_something_are_found_in_any_script(text: str, expected: list[str]) -> None:
    assert content_words(text) == expected
