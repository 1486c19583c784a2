"""The vocabulary and its table, said in words: is a piece there, and what is in its row."""

from __future__ import annotations

import numpy as np

from components.analysis.readings.text import bold, escape, quoted
from components.core.schema import FloatArray, Tokens, Vocabulary

__all__ = ["row_reading", "vocabulary_reading"]


def vocabulary_reading(
    query: str, normalized: str, tokens: Tokens, vocabulary: Vocabulary, *, n_found: int
) -> list[str]:
    """Whether a query is a piece, what it becomes, how it is cut, and how many begin with it.

    Args:
        query: what was typed.
        normalized: the same as the tokenizer sees it.
        tokens: the query cut by the tokenizer.
        vocabulary: where it was looked up.
        n_found: pieces of the chosen kind that begin with it.
    """
    size = f"**{len(vocabulary.pieces):,}**"
    if not query.strip():
        return [f"The vocabulary has {size} pieces; **{n_found:,}** of them are listed."]
    said = [
        _there(query.strip(), vocabulary),
        _becomes(query.strip(), normalized.strip()),
        _cut(tokens),
        f"**{n_found:,}** of {size} pieces begin with it.",
    ]
    return [sentence for sentence in said if sentence]


def row_reading(piece: str, token_id: int, n_rows: int, row: FloatArray) -> list[str]:
    """What an ID stands for: one row of the table, with its first values and its length."""
    first = ", ".join(bold(value) for value in row[:3])
    norm = float(np.linalg.norm(row))
    return [
        f"{quoted(piece)} has the ID **{token_id}**, so the model takes row {token_id} of its "
        f"table of {n_rows:,} rows: **{len(row)}** numbers that begin {first} (norm {bold(norm)})."
    ]


def _there(query: str, vocabulary: Vocabulary) -> str:
    if query in vocabulary.ids:
        said = f"{quoted(query)} is in the vocabulary: ID **{vocabulary.ids[query]}**."
        inside = f"##{query}"
        if inside in vocabulary.ids:
            said += f" {quoted(inside)}, inside a word, is **{vocabulary.ids[inside]}**."
        return said
    marks = [f"{mark}{query}" for mark in ("Ġ", "▁") if f"{mark}{query}" in vocabulary.ids]
    if marks:
        return f"{quoted(marks[0])} is in the vocabulary: ID **{vocabulary.ids[marks[0]]}**."
    return f"{quoted(query)} is not in the vocabulary."


def _becomes(query: str, normalized: str) -> str:
    shown = normalized.replace("▁", " ").strip()
    return "" if shown == query else f"It is read as {quoted(shown)}."


def _cut(tokens: Tokens) -> str:
    own = [i for i in range(tokens.n_tokens) if tokens.text_ids[i] >= 0]
    if len(own) < 2:
        return ""
    shown = [f"{escape(tokens.tokens[i])} ({int(tokens.token_ids[i])})" for i in own[:8]]
    dots = " …" if len(own) > len(shown) else ""
    return f"It is cut into **{len(own)}** tokens: {', '.join(shown)}{dots}."
