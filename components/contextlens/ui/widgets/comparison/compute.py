"""The comparison of a word in several sentences, computed from a view. No streamlit in here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from contextlens.analysis.baseline import N_PAIRS, SEED, Band, Baseline
from contextlens.analysis.similarity import Comparison, Item, Pair, compare
from contextlens.analysis.words import Pooling, pool, token_positions, word_vectors
from contextlens.analysis.yardstick import Yardstick
from contextlens.content.language import Claim
from contextlens.content.wording import quoted, shortened
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, Passport
from contextlens.core.words import Span, split_words
from contextlens.figures.similarity import cosine_range
from contextlens.ui.state.view import Sentence, ViewState, letter
from contextlens.ui.widgets.comparison.controls import CENTRED, LINES, POOLING
from contextlens.ui.widgets.unread import unread


@dataclass(frozen=True, eq=False)
class Chosen:
    """A chosen word that has vectors, with its span and the encoding of its sentence."""

    item: Item
    span: Span
    encoding: Encoding

    @property
    def n_pieces(self) -> int:
        """The number of its tokens."""
        return len(token_positions(self.encoding, self.span))


@dataclass(frozen=True, eq=False)
class Meaning:
    """The data behind the page Meaning in context, for one view.

    Attributes:
        chosen: the words to compare, in the order of `comparison.items`.
        comparison: None if fewer than two words can be compared.
        problems: the reasons why other words cannot be compared, one sentence each.
        unread: what the model cannot read of the texts, one claim a text.
        yardstick: random pairs, to judge cosines by; None while they are being measured.
        centre: the mean vectors in context, (n_layers, n_dims), and without, (n_embedding_dims,),
            which are subtracted before cosines are taken; None if cosines are not centred.
    """

    chosen: tuple[Chosen, ...]
    comparison: Comparison | None
    problems: tuple[str, ...]
    unread: tuple[Claim, ...]
    pooling: Pooling
    yardstick: Yardstick | None
    centre: tuple[FloatArray, FloatArray] | None

    def band(self, pair: Pair) -> Band | None:
        """Return the random pairs to judge one pair by; None if there are none of its kind."""
        return None if self.yardstick is None else self.yardstick.of(pair)

    @property
    def shared_band(self) -> Band | None:
        """Return one band of random pairs to judge all pairs by that share a chart."""
        if self.yardstick is None or self.comparison is None:
            return None
        return self.yardstick.shared(self.comparison.pairs())

    @property
    def passport(self) -> Passport:
        """The encoding's passport, with this page's own settings added."""
        settings: dict[str, Any] = {"pooling": self.pooling, "centred": self.centre is not None}
        if self.yardstick is not None:
            settings |= {"baseline_pairs": N_PAIRS, "baseline_seed": SEED}
        encoded = self.chosen[0].encoding.passport
        return replace(encoded, settings={**encoded.settings, **settings})

    @property
    def key(self) -> str:
        """The legend in one line: each letter with its sentence."""
        lettered = [c for c in self.chosen if c.item.label]
        return " · ".join(f"{c.item.label}: {shortened(c.encoding.text, 70)}" for c in lettered)


@dataclass(frozen=True, eq=False)
class Portrait:
    """A comparison with the settings of its charts.

    Attributes:
        pairs: the pairs whose lines are drawn.
        layer: the chosen layer, one of the comparison's.
        scale: the lowest and highest cosine on the axes of the page's charts.
    """

    meaning: Meaning
    comparison: Comparison
    pairs: list[Pair]
    layer: int
    scale: tuple[float, float]

    @property
    def row(self) -> int:
        """The chosen layer's row of the comparison's cosines."""
        return self.comparison.layers.index(self.layer)

    def cosine(self, pair: Pair) -> float:
        """Return a pair's cosine at the chosen layer."""
        return float(self.comparison.along(pair)[self.row])


def meaning_of(
    view: ViewState, service: EncoderService, card: ModelCard, baseline: Baseline | None
) -> Meaning:
    """Encode the sentences and compare their chosen words."""
    sentences = [*view.sentences, *view.references]
    usable = [i for i, s in enumerate(sentences) if not missing(s, _role(view, i))]
    encodings = service.encode(view.model, [sentences[i].text for i in usable])
    unknown_id = service.vocabulary(view.model).unknown_id
    chosen, problems = [], []
    for i, encoding in zip(usable, encodings, strict=True):
        span = counted_span(sentences[i])
        try:
            positions = token_positions(encoding, span or (0, 0))
        except RequestError as exc:
            problems.append(f"{_item(view, i).label or 'A reference'}: {exc}")
        else:
            ids = tuple(encoding.token_ids[positions].tolist())
            item = replace(
                _item(view, i),
                token_ids=ids,
                unknown=set(ids) == {unknown_id},
                has_context=bool((encoding.special_tokens_mask == 0).sum() > len(ids)),
            )
            chosen.append(Chosen(item, span or (0, 0), encoding))
    items = [_item(view, i) for i in usable]
    names = [item.label or quoted(item.word) for item in items]
    texts = dict(zip(names, encodings, strict=True))
    pooling = cast(Pooling, POOLING.of(view))
    centred = CENTRED.of(view) and baseline is not None
    return Meaning(
        chosen=tuple(chosen),
        comparison=_compare(chosen, service, card, pooling, baseline if centred else None),
        problems=tuple(problems),
        unread=tuple(unread(texts, service, view.model)),
        pooling=pooling,
        yardstick=None
        if baseline is None
        else Yardstick(
            baseline,
            pooling,
            centred,
            words=tuple(c.item.word for c in chosen),
            n_pieces=tuple(c.n_pieces for c in chosen),
        ),
        centre=baseline.centre(pooling) if centred and baseline is not None else None,
    )


def portrait_of(meaning: Meaning, view: ViewState) -> Portrait | None:
    """Return the comparison with the view's settings; None if there is nothing to compare."""
    comparison = meaning.comparison
    if comparison is None:
        return None
    kind = cast(Literal["all", "sentences", "references"], LINES.of(view).lower())
    band = meaning.shared_band
    layer = view.layer if view.layer in comparison.layers else comparison.layers[-1]
    return Portrait(
        meaning=meaning,
        comparison=comparison,
        pairs=comparison.pairs(kind) or comparison.pairs(),
        layer=int(layer or 0),
        scale=cosine_range(comparison.cosines, comparison.static, *([band.low] if band else [])),
    )


def missing(sentence: Sentence, role: str, *, needs_word: bool = True) -> str:
    """Return what a sentence or reference needs before it can be compared; "" if nothing."""
    if not sentence.text.strip():
        return f"This {role} is empty. Type something, or take it away."
    if needs_word and role == "sentence" and chosen_span(sentence) is None:
        return "Choose a word of this sentence."
    return ""


def chosen_span(sentence: Sentence) -> Span | None:
    """Return the chosen span if it begins and ends at word boundaries, else None."""
    if sentence.word is None:
        return None
    starts, ends = zip(*split_words(sentence.text) or [(-1, -1)], strict=True)
    is_whole = sentence.word[0] in starts and sentence.word[1] in ends
    return sentence.word if is_whole else None


def counted_span(sentence: Sentence) -> Span | None:
    """Return the chosen span, else the whole text; None if the text is blank."""
    return chosen_span(sentence) or ((0, len(sentence.text)) if sentence.text.strip() else None)


def _item(view: ViewState, index: int) -> Item:
    n, role = len(view.sentences), _role(view, index)
    sentence = view.sentences[index] if index < n else view.references[index - n]
    word = sentence.text[slice(*(counted_span(sentence) or (0, 0)))]
    return Item(letter(index) if index < n else "", word, role, index)


def _role(view: ViewState, index: int) -> Literal["sentence", "reference"]:
    return "sentence" if index < len(view.sentences) else "reference"


def _compare(
    chosen: Sequence[Chosen],
    service: EncoderService,
    card: ModelCard,
    pooling: Pooling,
    baseline: Baseline | None,
) -> Comparison | None:
    if len(chosen) < 2 or not any(c.item.role == "sentence" for c in chosen):
        return None
    vectors = [word_vectors(c.encoding, c.span, pooling) for c in chosen]
    positions = [token_positions(c.encoding, c.span) for c in chosen]
    static = [
        pool(service.word_rows(card.id, c.encoding.token_ids[own_positions]), pooling)
        for c, own_positions in zip(chosen, positions, strict=True)
    ]
    return compare(
        [c.item for c in chosen],
        np.stack(vectors),
        np.stack(static),
        layers=chosen[0].encoding.layers,
        centre=None if baseline is None else baseline.centre(pooling),
    )
