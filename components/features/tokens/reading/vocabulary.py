"""The vocabulary and its table, said in words: is a piece there, and what is in its row."""

from __future__ import annotations

import numpy as np

from components.analysis.tokens import unknown_reason
from components.content.wording import bold, escape, quoted
from components.core.schema import FloatArray, Tokens, Vocabulary
from components.features.tokens.measures.cutting import Cut

__all__ = ["cut_reading", "no_row_reading", "row_reading", "vocabulary_reading"]

_MOST = 8
"""Parts of a word that are named."""


def vocabulary_reading(
    query: str,
    normalized: str,
    tokens: Tokens,
    vocabulary: Vocabulary,
    *,
    n_found: int,
    among: str = "",
) -> list[str]:
    """Whether a query is a piece, what it becomes, how it is cut, and how many begin with it.

    Args:
        query: what was typed.
        normalized: the same as the tokenizer sees it.
        tokens: the query cut by the tokenizer.
        vocabulary: where it was looked up.
        n_found: pieces of the chosen kind that begin with it.
        among: the chosen kind as it is said, "" for all pieces.
    """
    size = f"**{len(vocabulary.pieces):,}**"
    if not query.strip():
        return [f"The vocabulary has {size} pieces; **{n_found:,}** of them {_be(n_found)} listed."]
    seen = normalized.replace("▁", " ").strip()
    said = [
        _there(query.strip(), vocabulary),
        _becomes(query.strip(), seen, vocabulary),
        _cut(tokens, seen, vocabulary),
        _begin(n_found, size, among, read=seen != query.strip()),
    ]
    return [sentence for sentence in said if sentence]


def cut_reading(cut: Cut, method: str) -> str:
    """Why a word is cut as it is, in a sentence or two."""
    word = quoted(cut.word)
    if method == "WordPiece":
        if len(cut.parts) > 1:
            first = [quoted(part) for part in cut.parts[:_MOST]]
            last = f" and {first.pop()}" if len(first) == len(cut.parts) else ", …"
            parts = ", ".join(first) + last
            return (
                f"**Why so?** {word} is first parted into {parts}: signs "
                "and Chinese characters stand alone. Each part is cut from the left: the longest "
                "piece of the vocabulary that it begins with, then each time the longest one that "
                "goes on with it."
            )
        if len(cut.pieces) == 1:
            return f"**Why so?** {word} is in the vocabulary whole, and the longest piece is taken."
        return (
            f"**Why so?** {word} is cut from the left: the longest piece of the vocabulary that it "
            "begins with, then each time the longest one that goes on with it."
        )
    if method == "BPE":
        if not cut.rows:
            return f"**Why so?** {word} has no neighbours that were merged when it was learned."
        return (
            f"**Why so?** {word} starts as single bytes. Of the neighbours that can be merged, "
            "those that were learned first are merged first, until none are left."
        )
    if len(cut.rows) == 1:
        return f"**Why so?** There is no other way to put {word} together from the vocabulary."
    return (
        f"**Why so?** Of all ways to cut {word} into pieces of the vocabulary, the most probable "
        "one is taken; here are the first of them."
    )


def row_reading(piece: str, token_id: int, n_rows: int, row: FloatArray) -> list[str]:
    """What an ID stands for: one row of the table, with its first values and its length."""
    first = ", ".join(bold(value) for value in row[:3])
    norm = float(np.linalg.norm(row))
    return [
        f"{quoted(piece)} has the ID **{token_id}**, so the model takes row {token_id} of its "
        f"table of {n_rows:,} rows: **{len(row)}** numbers that begin {first} (norm {bold(norm)})."
    ]


def no_row_reading(token_id: int, last: int) -> str:
    """That an ID lies behind the end of the table."""
    return (
        f"ID {token_id} has no row: the table of this model ends at row {last}, so tokenizer and "
        "table do not fit together."
    )


def _there(query: str, vocabulary: Vocabulary) -> str:
    found = [piece for piece in _written(query) if piece in vocabulary.ids]
    if not found:
        return f"{quoted(query)} is not in the vocabulary."
    first, *more = (f"{quoted(piece)} is ID **{vocabulary.ids[piece]}**" for piece in found)
    inside = f"; inside a word, {more[0]}" if more else ""
    return f"{first} in the vocabulary{inside}."


def _written(query: str) -> tuple[str, ...]:
    """The ways in which vocabularies write a piece, at the beginning of a word first."""
    return f"Ġ{query}", f"▁{query}", query, f"##{query}"


def _becomes(query: str, seen: str, vocabulary: Vocabulary) -> str:
    if seen == query or query in vocabulary.ids:
        return ""
    if not seen:
        return "The tokenizer drops it."
    known = f", which is ID **{vocabulary.ids[seen]}**" if seen in vocabulary.ids else ""
    return f"It is read as {quoted(seen)}{known}."


def _cut(tokens: Tokens, seen: str, vocabulary: Vocabulary) -> str:
    own = [i for i in range(tokens.n_tokens) if tokens.text_ids[i] >= 0]
    if len(own) == 1 and tokens.token_ids[own[0]] == vocabulary.unknown_id:
        name = escape(tokens.tokens[own[0]])
        return f"It becomes {name}. {escape(unknown_reason(seen, vocabulary))}"
    if len(own) < 2:
        return ""
    named = [f"{escape(tokens.tokens[i])} ({int(tokens.token_ids[i])})" for i in own[:8]]
    whole = len(own) + tokens.n_truncated
    dots = " …" if whole > len(named) else ""
    return f"It is cut into **{whole:,}** tokens: {', '.join(named)}{dots}."


def _begin(n_found: int, size: str, among: str, *, read: bool) -> str:
    """How many pieces begin with a query, as typed or as it is read."""
    of = f"of those under “{escape(among)}”" if among else f"of {size} pieces"
    verb = "begins" if n_found == 1 else "begin"
    also = ", as typed or as read" if read else ""
    return f"**{n_found:,}** {of} {verb} with it{also}."


def _be(count: int) -> str:
    return "is" if count == 1 else "are"
