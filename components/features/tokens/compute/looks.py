"""Tokens & IDs, from a view to its closer looks: vocabulary, rows, two tokenizers, back to text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from components.analysis.tokens import find_pieces
from components.core import EncoderService, ModelCard, ModelSpec
from components.core.schema import FloatArray, Tokens, Vocabulary
from components.features.tokens.compute.sentence import TokenizedSentence, tokens_of
from components.features.tokens.controls import KIND, KINDS, SEARCH
from components.features.tokens.measures.cutting import Cut, why_cut
from components.features.tokens.measures.rewriting import Change, Part, fates, rewritten
from components.ui.state.view import Sentence, ViewState

__all__ = [
    "LookUp",
    "RoundTrip",
    "TableRows",
    "last_row",
    "look_up",
    "other_tokenizers",
    "picked_word",
    "round_trips",
    "table_rows",
    "tokenized_by_both",
]

_NEIGHBOURS = 3  # rows shown on each side of an ID's own


@dataclass(frozen=True, eq=False)
class LookUp:
    """What the vocabulary says to a query.

    Attributes:
        query: what was typed.
        seen: the same as the tokenizer sees it.
        tokens: the query cut by the tokenizer.
        ids: those of the pieces of the chosen kind that begin with it.
        cut: why its most cut word is cut as it is; None where that is not known.
    """

    query: str
    seen: str
    tokens: Tokens
    ids: list[int]
    cut: Cut | None


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows of the word-embedding table: a token's own, and its neighbours.

    Attributes:
        ids: the rows' numbers.
        names: each with its piece.
        values: (n_rows, n_dims) float32.
        own: which of them is the token's.
    """

    ids: list[int]
    names: list[str]
    values: FloatArray
    own: int


@dataclass(frozen=True, eq=False)
class RoundTrip:
    """A text on its way to IDs and back.

    Attributes:
        text: what was typed.
        decoded: what came back.
        changes: how its characters were rewritten.
        parts: the whole text, by what came back of it.
        n_unknown: its unknown tokens.
    """

    text: str
    decoded: str
    changes: list[Change]
    parts: list[Part]
    n_unknown: int

    @property
    def n_rewritten(self) -> int:
        """Characters that were rewritten."""
        return sum(change.count for change in self.changes)

    @property
    def n_lost(self) -> int:
        """Characters that did not fit."""
        return sum(len(part.text) for part in self.parts if part.fate == "lost")


def picked_word(tokenized: TokenizedSentence) -> str:
    """The word of the token that is looked at closer; of an added token, that token."""
    return _picked(tokenized).strip()


def _picked(tokenized: TokenizedSentence) -> str:
    """The same with a space before it where one stands there: some tokenizers cut it otherwise."""
    tokens, at = tokenized.tokens, tokenized.picked
    if tokens.word_ids[at] < 0:
        return tokens.tokens[at]
    text_id = tokens.text_ids[at]
    own = (tokens.word_ids == tokens.word_ids[at]) & (tokens.text_ids == text_id)
    spans = tokens.offsets[own]
    text = tokens.text if text_id == 0 else tokens.pair or ""
    start, end = int(spans.min()), int(spans.max())
    return " " * text[:start][-1:].isspace() + text[start:end]


def look_up(view: ViewState, service: EncoderService, tokenized: TokenizedSentence) -> LookUp:
    """Look the view's query up in the vocabulary of its model, or else the picked word."""
    vocabulary = tokenized.vocabulary
    typed = SEARCH.of(view)
    text = typed or _picked(tokenized)
    query = typed or text.strip()
    seen = service.normalize(view.model, [query])[0].replace("▁", " ").strip()
    asked = dict.fromkeys((query.strip(), seen or query.strip()))  # what is dropped begins nothing
    ids = find_pieces(vocabulary, *asked, kind=KINDS[KIND.of(view)])
    tokens = service.tokenize(view.model, [text])[0]
    cut = why_cut(tokens, vocabulary, service.cut_rules(view.model))
    return LookUp(query, seen, tokens, ids, cut)


def table_rows(
    tokenized: TokenizedSentence, service: EncoderService, model: ModelCard
) -> TableRows | None:
    """The picked token's row of the table and its neighbours; None where its ID has no row."""
    token_id, last = tokenized.picked_id, last_row(tokenized.vocabulary, model)
    if token_id > last:
        return None
    ids = list(range(max(0, token_id - _NEIGHBOURS), min(last, token_id + _NEIGHBOURS) + 1))
    names = [f"{i}  {tokenized.vocabulary.pieces[i]}" for i in ids]
    return TableRows(ids, names, service.word_rows(model.id, ids), ids.index(token_id))


def last_row(vocabulary: Vocabulary, model: ModelCard) -> int:
    """The last row of the table that a piece of the vocabulary can have."""
    return min(len(vocabulary.pieces), model.vocabulary_size) - 1


def other_tokenizers(
    view: ViewState, service: EncoderService, more: Iterable[ModelSpec] = ()
) -> dict[str, ModelSpec]:
    """The other models by id; first the one that differs most plainly from an uncased default.

    To those that everyone is offered come the visitor's own.
    """
    others = [spec for spec in (*service.models(), *more) if spec.id != view.model]
    others.sort(key=lambda spec: spec.id != "google-bert/bert-base-cased")
    return {spec.id: spec for spec in others}


def tokenized_by_both(
    view: ViewState, service: EncoderService, sentence: Sentence, other: str
) -> tuple[Tokens, Tokens]:
    """The whole sentence, cut by the view's own tokenizer and by another model's."""
    return tokens_of(service, view.model, sentence), tokens_of(service, other, sentence)


def round_trips(
    view: ViewState, service: EncoderService, tokenized: TokenizedSentence
) -> list[RoundTrip]:
    """The text, and its pair if any, on its way to IDs and back."""
    texts = [tokenized.tokens.text, *filter(None, [tokenized.tokens.pair])]
    return [_round_trip(view, service, tokenized, which) for which in range(len(texts))]


def _round_trip(
    view: ViewState, service: EncoderService, tokenized: TokenizedSentence, which: int
) -> RoundTrip:
    tokens = tokenized.tokens
    own = tokens.text_ids == which
    asked = tokens, tokenized.vocabulary, which, partial(service.normalize, view.model)
    here = zip(tokenized.kinds, own, strict=True)
    return RoundTrip(
        text=tokens.text if which == 0 else tokens.pair or "",
        decoded=service.decode(view.model, tokens.token_ids[own]),
        changes=rewritten(*asked),
        parts=fates(*asked),
        n_unknown=sum(kind == "unknown" for kind, is_own in here if is_own),
    )
