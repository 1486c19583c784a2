"""Tokens & IDs, from a view to the tokens of the sentence that is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.analysis.tokens import Kind, kinds, labels, source
from components.core import EncoderService
from components.core.schema import Passport, TokenizerCard, Tokens, Vocabulary
from components.features.tokens.controls import HIDE, PICKED, SENTENCE, cut_within, pad_within
from components.features.tokens.reading import unknown_reason
from components.ui.state.controls import sentence_index
from components.ui.state.view import Sentence, ViewState

__all__ = ["TokenizedSentence", "tokenized_sentence", "tokens_of"]


@dataclass(frozen=True, eq=False)
class TokenizedSentence:
    """What the page shows of one sentence.

    Attributes:
        index: which sentence it is.
        cut: the length in tokens that a longer text is cut to.
        pad_to: the length that was padded to; None where there was nothing to pad.
        pad_asked: the length that was asked, 0 for none.
        kinds, labels: what each token is, and what is written on it.
        reasons: why unknown tokens are unknown, by position.
        picked: the position of the token that is looked at closer.
        special: whether added tokens are shown.
    """

    index: int
    sentence: Sentence
    card: TokenizerCard
    vocabulary: Vocabulary
    tokens: Tokens
    cut: int
    pad_to: int | None
    pad_asked: int
    kinds: tuple[Kind, ...]
    labels: tuple[str, ...]
    reasons: Mapping[int, str]
    picked: int
    special: bool

    @property
    def passport(self) -> Passport:
        """How to get the same tokens again."""
        padding = {} if self.pad_to is None else {"pad_to": self.pad_to}
        return Passport(
            model=self.card.id,
            revision=self.card.revision,
            checksum=self.card.checksum,
            precision="exact",
            versions=self.card.versions,
            settings={"checksum_of": "tokenizer files", "max_length": self.cut, **padding},
        )

    @property
    def unknown_name(self) -> str:
        """The tokenizer's unknown token, empty where it has none."""
        unknown_id = self.vocabulary.unknown_id
        return "" if unknown_id is None else self.vocabulary.pieces[unknown_id]

    @property
    def picked_id(self) -> int:
        """The ID of the token that is looked at closer."""
        return int(self.tokens.token_ids[self.picked])

    @property
    def title(self) -> str:
        """The text, and its pair behind it."""
        return " / ".join(filter(None, (self.tokens.text, self.tokens.pair)))

    @property
    def boxes(self) -> list[tuple[str, int, bool]]:
        """For each token that is drawn: its label, its ID, and whether it was added."""
        added = [kind in ("special", "padding") for kind in self.kinds]
        every = zip(self.labels, self.tokens.token_ids.tolist(), added, strict=True)
        return [box for box in every if self.special or not box[2]]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything as arrays, for a download."""
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
    """Cut the chosen sentence into tokens as the view's controls say."""
    index = sentence_index(view, SENTENCE)
    sentence = view.sentences[index]
    cut, asked = cut_within(card, sentence).of(view), pad_within(card).of(view)
    tokens = tokens_of(service, view.model, sentence, max_length=cut)
    padded = asked > tokens.n_tokens
    if padded:
        tokens = tokens_of(service, view.model, sentence, max_length=cut, pad_to=asked)
    vocabulary = service.vocabulary(view.model)
    own = kinds(tokens, vocabulary)
    return TokenizedSentence(
        index=index,
        sentence=sentence,
        card=card,
        vocabulary=vocabulary,
        tokens=tokens,
        cut=cut,
        pad_to=asked if padded else None,
        pad_asked=asked,
        kinds=own,
        labels=labels(tokens, vocabulary),
        reasons=_reasons(service, view.model, tokens, vocabulary, own),
        picked=_picked(view, sentence, tokens),
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
    """A sentence (and its pair) as a model's tokenizer cuts it."""
    pairs = None if sentence.pair is None else [sentence.pair]
    texts = [sentence.text]
    return service.tokenize(model, texts, pairs=pairs, pad_to=pad_to, max_length=max_length)[0]


def _reasons(
    service: EncoderService,
    model: str,
    tokens: Tokens,
    vocabulary: Vocabulary,
    own: Sequence[Kind],
) -> dict[int, str]:
    unknown = [i for i, kind in enumerate(own) if kind == "unknown"]
    normalized = service.normalize(model, [source(tokens, i) for i in unknown])
    return {
        i: str(unknown_reason(text.strip(), vocabulary))
        for i, text in zip(unknown, normalized, strict=True)
    }


def _picked(view: ViewState, sentence: Sentence, tokens: Tokens) -> int:
    """The token that the view names, or the chosen word's first, or the first of the text."""
    asked = PICKED.of(view)
    if 0 <= asked < tokens.n_tokens:
        return asked
    word = sentence.word
    starts = [
        i
        for i in range(tokens.n_tokens)
        if tokens.text_ids[i] == 0 and (word is None or tokens.offsets[i, 1] > word[0])
    ]
    return starts[0] if starts else 0
