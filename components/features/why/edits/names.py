"""Another given name in place of one that is known; names that are common words are no part."""

from __future__ import annotations

from components.features.why.edits.edit import Edit, replaced, words_of

__all__ = ["NAMES", "other_names"]

_LISTS = (
    ("Mary", "Fatima", "Olga", "Mei", "Aisha", "Anna", "Priya", "Sofia", "Emma", "Adaeze", "Maria"),
    (
        "John",
        "Ahmed",
        "Ivan",
        "Wei",
        "Kwame",
        "Peter",
        "Tomasz",
        "Carlos",
        "James",
        "David",
        "Omar",
    ),
)
NAMES = frozenset(name for names in _LISTS for name in names)


def other_names(text: str) -> list[Edit]:
    """The first known name replaced by the next one of its list, wherever it stands."""
    words = words_of(text)
    for _, word in words:
        for names in _LISTS:
            if word in names:
                new = names[(names.index(word) + 1) % len(names)]
                places = [(span, new) for span, own in words if own == word]
                return [Edit("name", replaced(text, *places), f"“{new}” in place of “{word}”")]
    return []
