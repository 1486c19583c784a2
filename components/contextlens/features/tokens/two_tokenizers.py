"""Closer look "Two tokenizers": the same text, cut by another model's tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from contextlens.analysis.tokens import lost_spans
from contextlens.content.language import Claim, claim
from contextlens.content.wording import escape, quoted, several
from contextlens.core import EncoderService, ModelSpec
from contextlens.core.schema import Tokens, Vocabulary
from contextlens.core.words import split_words
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState


def other_tokenizers(
    view: ViewState, service: EncoderService, more: Iterable[ModelSpec] = ()
) -> dict[str, ModelSpec]:
    """Return all models but the chosen one, by ID.

    Cased BERT comes first, because it differs most from an uncased model. The visitor's own models
    (`more`) come last.
    """
    others = [spec for spec in (*service.models(), *more) if spec.id != view.model]
    others.sort(key=lambda spec: spec.id != "google-bert/bert-base-cased")
    return {spec.id: spec for spec in others}


@dataclass(frozen=True, eq=False)
class TwoTokenizers(Panel):
    """A text as two tokenizers cut it.

    Attributes:
        tokens: the text, cut by each.
        names: the names of the tokenizers.
        vocabularies: their vocabularies.
    """

    tokens: tuple[Tokens, Tokens]
    names: tuple[str, str]
    vocabularies: tuple[Vocabulary, Vocabulary]

    def claims(self) -> list[Claim]:
        """Return the differences between the tokenizers."""
        (one, other), (a, b) = self.tokens, map(escape, self.names)
        n_a, n_b = (int((t.text_ids >= 0).sum()) + t.n_truncated for t in self.tokens)
        is_same = _pieces(one) == _pieces(other)
        if not n_a and not n_b:
            return [claim("tokens.both.none")]
        if is_same and not (one.n_truncated or other.n_truncated):
            return [claim("tokens.both.same", n=n_a)]
        are_as_many = n_a == n_b and not is_same
        key = "tokens.both.as_many" if are_as_many else "tokens.both.counts"
        claims = [claim(key, a=a, b=b, n_a=n_a, n_b=n_b)]
        first, second = self.vocabularies
        sides = ((one, other, a, b, first), (other, one, b, a, second))
        for tokens, rival, name, rival_name, vocabulary in sides:
            if merged := _merged(tokens, rival):
                words, ids = merged
                is_unknown = vocabulary.unknown_id in ids
                key = "tokens.both.unknown" if is_unknown else "tokens.both.merged"
                numbers = {"words": _both(words), "name": name, "rival": rival_name}
                return [*claims, claim(key, **numbers)]
        return claims


def twins_claims(tokens: Tokens, unknown_id: int | None, unknown_name: str) -> list[Claim]:
    """Return the words of a text that look different but are the same to its tokenizer."""
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
    """Return two words that are the same to one tokenizer but not to the other, and their IDs."""
    rival_ids = _ids_by_word(rival)
    for ids, words in _twins(tokens):
        known_words = [word for word in words if word in rival_ids]
        for word in known_words[1:]:
            if rival_ids[word] != rival_ids[known_words[0]]:
                return [known_words[0], word], ids
    return None


def _twins(tokens: Tokens) -> list[tuple[tuple[int, ...], list[str]]]:
    """Return words with different spelling but the same token IDs, by these IDs."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for word, ids in _ids_by_word(tokens).items():
        groups.setdefault(ids, []).append(word)
    return [(ids, words) for ids, words in groups.items() if len(words) > 1]


def _ids_by_word(tokens: Tokens) -> dict[str, tuple[int, ...]]:
    """Return the token IDs of each word as written, at its first occurrence not cut off."""
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
