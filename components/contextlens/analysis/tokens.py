"""A tokenizer's result for a text: kinds and labels of tokens, table rows, and lost parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from contextlens.core.schema import Tokens, Vocabulary
from contextlens.core.words import Span, split_words, with_marks

__all__ = [
    "TokenKind",
    "cut_words",
    "find_pieces",
    "kinds",
    "labels",
    "lost_spans",
    "marked_span",
    "source",
    "token_rows",
]

TokenKind = Literal["token", "continuation", "special", "typed special", "padding", "unknown"]


def source(tokens: Tokens, position: int) -> str:
    """Return the characters that a token stands for, with their marks; empty for added tokens."""
    return _text(tokens, int(tokens.text_ids[position]))[slice(*marked_span(tokens, position))]


def _text(tokens: Tokens, text_id: int) -> str:
    return "" if text_id < 0 else tokens.text if text_id == 0 else tokens.pair or ""


def marked_span(tokens: Tokens, position: int) -> Span:
    """Return a token's offsets with the marks behind them that no other token covers."""
    text_id = int(tokens.text_ids[position])
    start, end = map(int, tokens.offsets[position])
    behind = with_marks(_text(tokens, text_id), end) if end > start else end
    lost = lost_spans(tokens)[text_id] if behind > end else None
    if behind == end or (lost is not None and lost[0] == end):
        return start, end
    starts = tokens.offsets[tokens.text_ids == text_id, 0]
    return start, min(behind, int(starts[starts >= end].min(initial=behind)))


def kinds(tokens: Tokens, vocabulary: Vocabulary) -> tuple[TokenKind, ...]:
    """Return the kind of each token; a typed special token differs from an added one."""
    return tuple(_kind(tokens, vocabulary, i) for i in range(tokens.n_tokens))


def _kind(tokens: Tokens, vocabulary: Vocabulary, i: int) -> TokenKind:
    token_id = int(tokens.token_ids[i])
    if tokens.attention_mask[i] == 0:
        return "padding"
    if tokens.special_tokens_mask[i]:
        return "special"
    if token_id == vocabulary.unknown_id:
        typed = source(tokens, i).strip() == vocabulary.pieces[token_id]
        return "typed special" if typed else "unknown"
    if vocabulary.kinds[token_id] == "special":
        return "typed special"
    return "continuation" if _touches(tokens, i) else "token"


def _touches(tokens: Tokens, i: int) -> bool:
    """True if a token continues the word of the token before it."""
    same_word = i > 0 and tokens.word_ids[i] == tokens.word_ids[i - 1] >= 0
    return bool(same_word and tokens.text_ids[i] == tokens.text_ids[i - 1])


def lost_spans(tokens: Tokens) -> tuple[Span | None, Span | None]:
    """Return the cut-off ends of the text and of the pair; None if nothing was cut off."""
    return _lost(tokens, 0, tokens.text), _lost(tokens, 1, tokens.pair or "")


def _lost(tokens: Tokens, text_id: int, text: str) -> Span | None:
    end = int(tokens.offsets[tokens.text_ids == text_id, 1].max(initial=0))
    rest = text[end:]
    start = end + len(rest) - len(rest.lstrip())
    return (start, len(text)) if tokens.n_truncated and rest.strip() else None


def labels(tokens: Tokens, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the label of each token: its piece, or its characters if pieces are bytes."""
    if vocabulary.method != "BPE":
        return tokens.tokens
    sources = [source(tokens, i) for i in range(tokens.n_tokens)]
    return tuple(
        text if text.strip() else piece for text, piece in zip(sources, tokens.tokens, strict=True)
    )


def cut_words(tokens: Tokens, labels: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the words that were cut into several tokens, each once, with their tokens' labels.

    A word whose end did not fit is left out, as its number of tokens is unknown.
    """
    pieces: dict[tuple[int, int], list[str]] = {}
    for i, key in enumerate(zip(tokens.text_ids.tolist(), tokens.word_ids.tolist(), strict=True)):
        if key[1] >= 0:
            pieces.setdefault(key, []).append(labels[i])
    spans = (split_words(tokens.text), split_words(tokens.pair or ""))
    texts, lost_parts = (tokens.text, tokens.pair or ""), lost_spans(tokens)
    words: dict[str, tuple[str, ...]] = {}
    for (text_id, word), parts in pieces.items():
        span, lost_span = spans[text_id][word], lost_parts[text_id]
        if len(parts) > 1 and (lost_span is None or span[1] <= lost_span[0]):
            words.setdefault(texts[text_id][slice(*span)], tuple(parts))
    return list(words.items())


def token_rows(
    tokens: Tokens, vocabulary: Vocabulary, *, special: bool = True
) -> list[dict[str, str | int | None]]:
    """Return the table of a text's tokens; without the added ones if `special` is False."""
    segments = tokens.token_type_ids
    rows: list[dict[str, str | int | None]] = []
    for i, kind in enumerate(kinds(tokens, vocabulary)):
        if not special and tokens.text_ids[i] < 0:
            continue
        is_in_text = int(tokens.text_ids[i]) >= 0
        start, end = marked_span(tokens, i)
        rows.append(
            {
                "position": i,
                "token": tokens.tokens[i],
                "ID": int(tokens.token_ids[i]),
                "characters": source(tokens, i),
                "from": start if is_in_text else None,
                "to": end if is_in_text else None,
                "word": int(tokens.word_ids[i]) if tokens.word_ids[i] >= 0 else None,
                "mask": int(tokens.attention_mask[i]),
                "segment": None if segments is None else int(segments[i]),
                "kind": kind,
            }
        )
    return rows


def find_pieces(
    vocabulary: Vocabulary,
    *queries: str,
    kind: Literal["all", "start", "continuation", "special"] = "all",
) -> list[int]:
    """Return IDs of the pieces that begin with one of the queries, exact ones first, then by ID.

    "##an" matches WordPiece's own notation, "an" matches what a piece stands for; an empty query
    matches all of a kind.
    """
    rows = zip(vocabulary.pieces, vocabulary.texts, vocabulary.kinds, strict=True)
    matches = [
        i
        for i, (piece, text, piece_kind) in enumerate(rows)
        if piece
        and kind in ("all", piece_kind)
        and (piece.startswith(queries) or text.startswith(queries))
    ]
    exact = set(queries) - {""}
    return sorted(
        matches, key=lambda i: exact.isdisjoint((vocabulary.pieces[i], vocabulary.texts[i]))
    )
