"""The data behind the Tokens & IDs page: the tokens of one sentence, and its closer looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.tokens import TokenKind, find_pieces, kinds, labels, source
from contextlens.core import EncoderService, ModelCard, ModelSpec
from contextlens.core.schema import FloatArray, Passport, TokenizerCard, Tokens, Vocabulary
from contextlens.features.tokens.controls import (
    HIDE,
    KIND,
    KINDS,
    PICKED,
    SEARCH,
    SENTENCE,
    cut_within,
    pad_within,
)
from contextlens.features.tokens.measures import (
    Change,
    Stretch,
    WordCut,
    explain_cut,
    find_changes,
    joined_words,
    split_by_fate,
)
from contextlens.ui.state.controls import sentence_index
from contextlens.ui.state.view import Sentence, ViewState
from contextlens.ui.widgets.unread import unknown_reason

# --- The tokens of the selected sentence


@dataclass(frozen=True, eq=False)
class TokenizedSentence:
    """The tokens of one sentence.

    Attributes:
        index: the sentence's index.
        max_length: the number of tokens after which a text is truncated.
        pad_to: the number of tokens after padding; None if the text was not padded.
        requested_pad: the length that the reader asked to pad to; 0 for none.
        kinds, labels: the kind of each token, and the text written on it.
        reasons: the reasons why tokens are unknown, by position.
        changes: the ways in which the tokenizer rewrote the characters of the text and its pair.
        picked: the position of the picked token.
        special: True if added tokens are shown.
    """

    index: int
    sentence: Sentence
    card: TokenizerCard
    vocabulary: Vocabulary
    tokens: Tokens
    max_length: int
    pad_to: int | None
    requested_pad: int
    kinds: tuple[TokenKind, ...]
    labels: tuple[str, ...]
    reasons: Mapping[int, str]
    changes: tuple[Change, ...]
    picked: int
    special: bool

    @property
    def passport(self) -> Passport:
        """The passport: what is needed to reproduce these tokens."""
        padding = {} if self.pad_to is None else {"pad_to": self.pad_to}
        return Passport(
            model=self.card.id,
            revision=self.card.revision,
            checksum=self.card.checksum,
            precision="exact",
            versions=self.card.versions,
            settings={"checksum_of": "tokenizer files", "max_length": self.max_length, **padding},
        )

    @property
    def unknown_name(self) -> str:
        """The tokenizer's unknown token, empty if it has none."""
        unknown_id = self.vocabulary.unknown_id
        return "" if unknown_id is None else self.vocabulary.pieces[unknown_id]

    @property
    def picked_id(self) -> int:
        """The ID of the picked token."""
        return int(self.tokens.token_ids[self.picked])

    @property
    def title(self) -> str:
        """The text, followed by its pair."""
        return " / ".join(filter(None, (self.tokens.text, self.tokens.pair)))

    @property
    def boxes(self) -> list[tuple[str, int, bool]]:
        """For each visible token: its label, its ID, and whether it was added."""
        added = [kind in ("special", "padding") for kind in self.kinds]
        boxes = zip(self.labels, self.tokens.token_ids.tolist(), added, strict=True)
        return [box for box in boxes if self.special or not box[2]]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays and texts of the sentence, for a download."""
        tokens = self.tokens
        segments = tokens.token_type_ids
        return {
            "token_ids": tokens.token_ids,
            "attention_mask": tokens.attention_mask,
            "special_tokens_mask": tokens.special_tokens_mask,
            "offsets": tokens.offsets,
            "tokens": np.array(tokens.tokens),
            "text": np.array(tokens.text),
            "pair": np.array(tokens.pair or ""),
            **({} if segments is None else {"token_type_ids": segments}),
        }


def tokenized_sentence(
    view: ViewState, service: EncoderService, card: TokenizerCard
) -> TokenizedSentence:
    """Tokenize the chosen sentence with the settings of the controls."""
    index = sentence_index(view, SENTENCE)
    sentence = view.sentences[index]
    max_length, requested = cut_within(card, sentence).of(view), pad_within(card).of(view)
    tokens = tokens_of(service, view.model, sentence, max_length=max_length)
    pad_to = requested if requested > tokens.n_tokens else None
    if pad_to is not None:
        tokens = tokens_of(service, view.model, sentence, max_length=max_length, pad_to=pad_to)
    vocabulary = service.vocabulary(view.model)
    token_kinds = kinds(tokens, vocabulary)
    return TokenizedSentence(
        index=index,
        sentence=sentence,
        card=card,
        vocabulary=vocabulary,
        tokens=tokens,
        max_length=max_length,
        pad_to=pad_to,
        requested_pad=requested,
        kinds=token_kinds,
        labels=labels(tokens, vocabulary),
        reasons=_reasons(service, view.model, tokens, vocabulary, token_kinds),
        changes=tuple(_changes(service, view.model, tokens, vocabulary)),
        picked=_picked_token(view, sentence, tokens),
        special=not HIDE.of(view),
    )


def tokens_of(
    service: EncoderService,
    model: str,
    sentence: Sentence,
    *,
    max_length: int | None = None,
    pad_to: int | None = None,
) -> Tokens:
    """The tokens of a sentence, and of its pair if it has one, by a model's tokenizer."""
    pairs = None if sentence.pair is None else [sentence.pair]
    texts = [sentence.text]
    return service.tokenize(model, texts, pairs=pairs, pad_to=pad_to, max_length=max_length)[0]


def _reasons(
    service: EncoderService,
    model: str,
    tokens: Tokens,
    vocabulary: Vocabulary,
    token_kinds: Sequence[TokenKind],
) -> dict[int, str]:
    unknown = [i for i, kind in enumerate(token_kinds) if kind == "unknown"]
    normalized = service.normalize(model, [source(tokens, i) for i in unknown])
    return {
        i: str(unknown_reason(text.strip(), vocabulary))
        for i, text in zip(unknown, normalized, strict=True)
    }


def _changes(
    service: EncoderService, model: str, tokens: Tokens, vocabulary: Vocabulary
) -> list[Change]:
    """The changes of characters in both texts; for each way, the first example."""
    merged: dict[str, Change] = {}
    for text_id in (0, 1):
        for change in find_changes(tokens, vocabulary, text_id, partial(service.normalize, model)):
            known = merged.get(change.way, replace(change, count=0))
            merged[change.way] = replace(known, count=known.count + change.count)
    return list(merged.values())


def _picked_token(view: ViewState, sentence: Sentence, tokens: Tokens) -> int:
    """The picked token's position, else that of the chosen word's or the text's first token."""
    position = PICKED.of(view)
    if 0 <= position < tokens.n_tokens:
        return position
    word = sentence.word
    candidates = [
        i
        for i in range(tokens.n_tokens)
        if tokens.text_ids[i] == 0 and (word is None or tokens.offsets[i, 1] > word[0])
    ]
    return candidates[0] if candidates else 0


# --- The closer looks of a view

_NEIGHBOURS = 3  # rows above and below the picked token's row


@dataclass(frozen=True, eq=False)
class LookUp:
    """The result of a search in the vocabulary.

    Attributes:
        query: the query as typed.
        seen: the query as the tokenizer's normalisation leaves it.
        tokens: the tokens of the query.
        ids: the IDs of the pieces of the chosen kind that begin with the query.
        cut: the steps that split the query's word with the most pieces; None if they are unknown.
    """

    query: str
    seen: str
    tokens: Tokens
    ids: list[int]
    cut: WordCut | None


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows of the word-embedding table: a token's own, and those just above and below it.

    Attributes:
        ids: the numbers of the rows, which are token IDs.
        names: the ID and piece of each row, as one text.
        values: (n_rows, n_dims) float32.
        picked: the index of the token's own row in these lists.
    """

    ids: list[int]
    names: list[str]
    values: FloatArray
    picked: int


@dataclass(frozen=True, eq=False)
class RoundTrip:
    """A text that was encoded as IDs and decoded again.

    Attributes:
        text: the text as typed.
        decoded: the text decoded from the IDs.
        changes: the ways in which the tokenizer rewrote its characters.
        stretches: the whole text, split where the fate of its characters changes.
        n_unknown: the number of unknown tokens.
    """

    text: str
    decoded: str
    changes: list[Change]
    stretches: list[Stretch]
    n_unknown: int

    @property
    def n_rewritten(self) -> int:
        """The number of rewritten characters."""
        return sum(change.count for change in self.changes)

    @property
    def n_lost(self) -> int:
        """The number of characters lost because the text was truncated."""
        return sum(len(part.text) for part in self.stretches if part.fate == "lost")


def picked_text(tokenized: TokenizedSentence) -> str:
    """The word of the picked token; for an added token, the token itself.

    A space before the word is included, because some tokenizers then cut the word differently.
    """
    tokens, position = tokenized.tokens, tokenized.picked
    if tokens.word_ids[position] < 0:
        return tokens.tokens[position]
    text_id = tokens.text_ids[position]
    words = np.array(joined_words(tokens, tokenized.vocabulary))
    spans = tokens.offsets[(words == words[position]) & (tokens.text_ids == text_id)]
    text = tokens.text if text_id == 0 else tokens.pair or ""
    start, end = int(spans.min()), int(spans.max())
    return " " * text[:start][-1:].isspace() + text[start:end]


def look_up(view: ViewState, service: EncoderService, tokenized: TokenizedSentence) -> LookUp:
    """Look up the view's query, or else the picked word, in the vocabulary of its model."""
    vocabulary = tokenized.vocabulary
    typed = SEARCH.of(view)
    text = typed or picked_text(tokenized)
    query = typed or text.strip()
    seen = service.normalize(view.model, [query])[0].replace("▁", " ").strip()
    # If the tokenizer drops the query, `seen` is empty, and every piece would begin with it.
    prefixes = dict.fromkeys((query.strip(), seen or query.strip()))
    ids = find_pieces(vocabulary, *prefixes, kind=KINDS[KIND.of(view)])
    tokens = service.tokenize(view.model, [text])[0]
    cut = explain_cut(tokens, vocabulary, service.cut_rules(view.model))
    return LookUp(query, seen, tokens, ids, cut)


def table_rows(
    tokenized: TokenizedSentence, service: EncoderService, model: ModelCard
) -> TableRows | None:
    """The picked token's row of the table, with adjacent rows; None if its ID has no row."""
    token_id, last = tokenized.picked_id, last_row(tokenized.vocabulary, model)
    if token_id > last:
        return None
    ids = list(range(max(0, token_id - _NEIGHBOURS), min(last, token_id + _NEIGHBOURS) + 1))
    names = [f"{i}  {tokenized.vocabulary.pieces[i]}" for i in ids]
    return TableRows(ids, names, service.word_rows(model.id, ids), ids.index(token_id))


def last_row(vocabulary: Vocabulary, model: ModelCard) -> int:
    """The last row of the table that belongs to a piece of the vocabulary."""
    return min(len(vocabulary.pieces), model.vocabulary_size) - 1


def other_tokenizers(
    view: ViewState, service: EncoderService, more: Iterable[ModelSpec] = ()
) -> dict[str, ModelSpec]:
    """All models but the chosen one, by ID.

    Cased BERT comes first, because it differs most from an uncased model. The visitor's own models
    (`more`) come last.
    """
    others = [spec for spec in (*service.models(), *more) if spec.id != view.model]
    others.sort(key=lambda spec: spec.id != "google-bert/bert-base-cased")
    return {spec.id: spec for spec in others}


def round_trips(
    view: ViewState, service: EncoderService, tokenized: TokenizedSentence
) -> list[RoundTrip]:
    """The round trip to IDs and back, of the text and of its pair if it has one."""
    texts = [tokenized.tokens.text, *filter(None, [tokenized.tokens.pair])]
    return [_round_trip(view, service, tokenized, text_id) for text_id in range(len(texts))]


def _round_trip(
    view: ViewState, service: EncoderService, tokenized: TokenizedSentence, text_id: int
) -> RoundTrip:
    tokens, vocabulary = tokenized.tokens, tokenized.vocabulary
    normalize = partial(service.normalize, view.model)
    in_text = tokens.text_ids == text_id
    return RoundTrip(
        text=tokens.text if text_id == 0 else tokens.pair or "",
        decoded=service.decode(view.model, tokens.token_ids[in_text]),
        changes=find_changes(tokens, vocabulary, text_id, normalize),
        stretches=split_by_fate(tokens, vocabulary, text_id, normalize),
        n_unknown=sum(tokenized.kinds[i] == "unknown" for i in np.flatnonzero(in_text)),
    )
