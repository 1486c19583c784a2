"""The reading of Tokens & IDs: number of tokens, cut words, unknown tokens, lost text.

All claims are computed here; the sentences are in `english.toml`. Words that
become unknown tokens are called unknown, never the same as each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from contextlens.analysis.tokens import TokenKind, cut_words, lost_spans, source
from contextlens.content.language import Claim, claim
from contextlens.content.wording import escape, named_character, quoted, several
from contextlens.core.schema import Tokens, Vocabulary
from contextlens.core.words import split_words
from contextlens.features.tokens.measures import Change, WordCut

_PIECES = 6  # the most tokens that are named
_ASKED = 120  # the most characters of a word that is asked about: more than a tokenizer cuts


# A text's tokens


def tokens_reading(
    tokens: Tokens,
    kinds: Sequence[TokenKind],
    labels: Sequence[str],
    unknown_name: str,
    changes: Sequence[Change] = (),
) -> list[Claim]:
    """At most three claims: the number of tokens, the cut words, and what the model misses.

    Args:
        tokens: the text's tokens.
        kinds: the kind of each token.
        labels: the text shown on each token.
        unknown_name: the tokenizer's unknown token.
        changes: the ways in which the tokenizer rewrote characters.
    """
    claims = [_count_claim(tokens, kinds), _cut_claim(tokens, labels)]
    claims += _missing_claims(tokens, kinds, unknown_name, changes)[:1]
    return [item for item in claims if item is not None]


def tokens_sure(
    tokens: Tokens,
    kinds: Sequence[TokenKind],
    reasons: Mapping[int, str],
    unknown_name: str,
    changes: Sequence[Change] = (),
) -> list[Claim]:
    """Further notes: more that the model misses, the reason for unknown tokens, and padding."""
    n_padding = kinds.count("padding")
    claims = _missing_claims(tokens, kinds, unknown_name, changes)[1:]
    claims += [
        claim("tokens.unknown.because", word=quoted(source(tokens, at)), reason=escape(reason))
        for at, reason in list(reasons.items())[:1]
    ]
    return claims + ([claim("tokens.padding", n=n_padding)] if n_padding else [])


def padding_note(length: int, n_tokens: int) -> Claim | None:
    """A note that padding to a length had no effect; None if it had one or was not requested."""
    useless = 0 < length < n_tokens
    return claim("tokens.long_enough", n=n_tokens, asked=length) if useless else None


def _count_claim(tokens: Tokens, kinds: Sequence[TokenKind]) -> Claim:
    n_text = int((tokens.text_ids >= 0).sum())
    added = [t for t, kind in zip(tokens.tokens, kinds, strict=True) if kind == "special"]
    names = escape(", ".join(dict.fromkeys(added)))
    if not n_text:
        return claim("tokens.count.none", names=names)
    case = "text" if tokens.pair is None else "pair"
    if not added:
        return claim(f"tokens.count.{case}_alone", n=n_text)
    return claim(
        f"tokens.count.{case}", n=n_text + len(added), n_own=n_text, n_added=len(added), names=names
    )


def _cut_claim(tokens: Tokens, labels: Sequence[str]) -> Claim | None:
    """The cut words, or that none is cut; None if none is cut but text is lost or has no words."""
    cut = cut_words(tokens, labels)
    if cut:
        word, pieces = max(cut, key=lambda item: len(item[1]))
        return claim(
            "tokens.cut",
            n=len(cut),
            word=quoted(word),
            n_pieces=len(pieces),
            pieces=_spelled(pieces),
        )
    seen = set(zip(tokens.text_ids.tolist(), tokens.word_ids.tolist(), strict=True))
    has_words = any(
        (which, i) in seen and any(map(str.isalnum, text[slice(*span)]))
        for which, text in enumerate((tokens.text, tokens.pair or ""))
        for i, span in enumerate(split_words(text))
    )
    return claim("tokens.uncut") if has_words and not tokens.n_truncated else None


def _missing_claims(
    tokens: Tokens, kinds: Sequence[TokenKind], unknown_name: str, changes: Sequence[Change]
) -> list[Claim]:
    """The parts that do not reach the model: cut-off text, unknown tokens, dropped signs, marks."""
    lost = tokens.n_truncated
    unknown = [i for i, kind in enumerate(kinds) if kind == "unknown"]
    claims = [claim("tokens.lost", n=lost)] if lost else []
    if unknown:
        word, name = quoted(source(tokens, unknown[0])), escape(unknown_name)
        claims.append(claim("tokens.unknown.tokens", n=len(unknown), word=word, name=name))
    by_way = {change.way: change for change in changes}
    if dropped := by_way.get("dropped"):
        sign = escape(named_character(dropped.before))
        claims.append(claim("tokens.dropped", n=dropped.count, sign=sign))
    if marked := by_way.get("accents"):
        names = {"before": quoted(marked.before), "after": quoted(marked.after)}
        claims.append(claim("tokens.marks", n=marked.count, **names))
    return claims


def _spelled(pieces: Sequence[str]) -> str:
    dots = " …" if len(pieces) > _PIECES else ""
    return f"{' '.join(map(escape, pieces[:_PIECES]))}{dots}"


# The vocabulary and its table


def vocabulary_reading(
    query: str, tokens: Tokens, vocabulary: Vocabulary, *, n_found: int, reason: str
) -> list[Claim]:
    """The pieces of a query, and the number of pieces that match it.

    Args:
        query: the query as typed.
        tokens: the query cut by the tokenizer.
        vocabulary: the vocabulary that was searched.
        n_found: pieces of the chosen kind that begin with the query, or all without a query.
        reason: the reason why the query would be an unknown token.
    """
    typed = query.strip()
    if not typed:
        return [claim("tokens.vocabulary.size", size=len(vocabulary.pieces), listed=n_found)]
    word = quoted(typed, _ASKED)
    typed_tokens = [i for i in range(tokens.n_tokens) if tokens.text_ids[i] >= 0]
    ids = tokens.token_ids[typed_tokens].tolist()
    claims = []
    if typed in vocabulary.ids and ids != [vocabulary.ids[typed]]:
        token_id = vocabulary.ids[typed]
        claims.append(claim("tokens.vocabulary.piece", word=word, token_id=token_id))
    named = [escape(tokens.tokens[i]) for i in typed_tokens[:_PIECES]]
    n_tokens = len(typed_tokens) + tokens.n_truncated
    if not typed_tokens:
        claims.append(claim("tokens.vocabulary.dropped", word=word))
    elif n_tokens == 1:
        case = "unknown" if ids[0] == vocabulary.unknown_id else "token"
        numbers = {"name": named[0], "token_id": ids[0], "reason": escape(reason)}
        claims.append(claim(f"tokens.vocabulary.{case}", word=word, **numbers))
    else:
        dots = " …" if n_tokens > len(named) else ""
        pieces = ", ".join(f"{name} ({i})" for name, i in zip(named, ids, strict=False)) + dots
        claims.append(claim("tokens.vocabulary.cut", word=word, n=n_tokens, pieces=pieces))
    return [*claims, claim("tokens.vocabulary.found", n=n_found)]


def cut_reading(cut: WordCut, method: str) -> Claim:
    """The method by which a word was cut, and its outcome."""
    if method == "WordPiece":
        case = "split" if len(cut.parts) > 1 else "longest" if len(cut.pieces) > 1 else "whole"
    elif method == "BPE":
        case = "merged" if cut.rows else "bytes"
    else:
        case = "probable" if len(cut.rows) > 1 else "only"
    return claim(f"tokens.why.{case}", word=quoted(cut.word, len(cut.word)))


def row_reading(piece: str, token_id: int, n_rows: int, n_dims: int) -> Claim:
    """The meaning of an ID: one row of the table."""
    return claim("tokens.row", piece=quoted(piece), token_id=token_id, n_rows=n_rows, n_dims=n_dims)


# Two tokenizers


def tokenizers_reading(
    one: Tokens, other: Tokens, names: tuple[str, str], unknown_ids: tuple[int | None, int | None]
) -> list[Claim]:
    """The differences between two tokenizers on one text.

    Args:
        one, other: the text as each tokenizer cuts it.
        names: the names of the tokenizers.
        unknown_ids: the ID of each tokenizer's unknown token.
    """
    first_name, second_name = map(escape, names)
    counts = [int((t.text_ids >= 0).sum()) + t.n_truncated for t in (one, other)]
    is_same = _pieces(one) == _pieces(other)
    is_complete = not (one.n_truncated or other.n_truncated)
    if not any(counts):
        return [claim("tokens.both.none")]
    if is_same and is_complete:
        return [claim("tokens.both.same", n=counts[0])]
    case = "as_many" if counts[0] == counts[1] and not is_same else "counts"
    claims = [
        claim(f"tokens.both.{case}", a=first_name, b=second_name, n_a=counts[0], n_b=counts[1])
    ]
    sides = (
        (one, other, first_name, second_name, unknown_ids[0]),
        (other, one, second_name, first_name, unknown_ids[1]),
    )
    for tokens, rival, name, rival_name, unknown_id in sides:
        if merged := _merged(tokens, rival):
            words, ids = merged
            case = "unknown" if unknown_id in ids else "merged"
            numbers = {"words": _both(words), "name": name, "rival": rival_name}
            return [*claims, claim(f"tokens.both.{case}", **numbers)]
    return claims


def twins_reading(tokens: Tokens, unknown_id: int | None, unknown_name: str) -> list[Claim]:
    """The words of a text that look different but are the same to its tokenizer."""
    groups = _twins(tokens)
    known = [words for ids, words in groups if unknown_id not in ids]
    unknown = [words for ids, words in groups if unknown_id in ids]
    claims = []
    if known:
        claims.append(claim("tokens.twins.known", n=len(known), words=_both(known[0])))
    if unknown:
        names = several([quoted(word) for word in max(unknown, key=len)])
        claims.append(claim("tokens.twins.unknown", words=names, name=escape(unknown_name)))
    return claims or [claim("tokens.twins.none")]


def _pieces(tokens: Tokens) -> list[str]:
    return [tokens.tokens[i] for i in np.flatnonzero(tokens.text_ids >= 0)]


def _both(words: Sequence[str]) -> str:
    return several([quoted(word) for word in words[:2]])


def _merged(tokens: Tokens, rival: Tokens) -> tuple[list[str], tuple[int, ...]] | None:
    """Two words that are the same to one tokenizer but not to the other, and their IDs."""
    rival_ids = _ids_by_word(rival)
    for ids, words in _twins(tokens):
        known_words = [word for word in words if word in rival_ids]
        for word in known_words[1:]:
            if rival_ids[word] != rival_ids[known_words[0]]:
                return [known_words[0], word], ids
    return None


def _twins(tokens: Tokens) -> list[tuple[tuple[int, ...], list[str]]]:
    """Words with different spelling but the same token IDs, by these IDs."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for word, ids in _ids_by_word(tokens).items():
        groups.setdefault(ids, []).append(word)
    return [(ids, words) for ids, words in groups.items() if len(words) > 1]


def _ids_by_word(tokens: Tokens) -> dict[str, tuple[int, ...]]:
    """The token IDs of each word as written, from its first occurrence that is not cut off."""
    lost = lost_spans(tokens)
    spans = (split_words(tokens.text), split_words(tokens.pair or ""))
    ids: dict[tuple[int, int], list[int]] = {}
    for i in range(tokens.n_tokens):
        if tokens.word_ids[i] >= 0:
            key = int(tokens.text_ids[i]), int(tokens.word_ids[i])
            ids.setdefault(key, []).append(int(tokens.token_ids[i]))
    by_word: dict[str, tuple[int, ...]] = {}
    for (which, word), word_ids in ids.items():
        text, span, gone = (tokens.text, tokens.pair or "")[which], spans[which][word], lost[which]
        if gone is None or span[1] <= gone[0]:
            by_word.setdefault(text[slice(*span)], tuple(word_ids))
    return by_word


# Back to text


def back_reading(
    decoded: str, text: str, n_rewritten: int, n_unknown: int, n_lost: int
) -> list[Claim]:
    """The difference between the decoded and the typed text, and its causes.

    Args:
        decoded: the text decoded from the IDs.
        text: the text as typed.
        n_rewritten: characters that the tokenizer rewrote or dropped before cutting.
        n_unknown: the number of unknown tokens.
        n_lost: characters that were cut off.
    """
    if not text:
        return [claim("tokens.back.empty")]
    if decoded == text:
        return [claim("tokens.back.same")]
    counts = {"rewritten": n_rewritten, "unknown": n_unknown, "lost": n_lost}
    causes = [claim(f"tokens.back.{cause}", n=n) for cause, n in counts.items() if n]
    if not decoded:
        return [claim("tokens.back.nothing"), *causes]
    if not causes and "".join(decoded.split()) == "".join(text.split()):
        return [claim("tokens.back.spaces")]
    return [claim("tokens.back.differs"), *causes]
