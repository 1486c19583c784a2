"""Attention, from a view to what is shown: which head or mean, of which tokens or words."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from components.analysis.tokens import Kind, kinds, labels
from components.core import EncoderService, Encoding, ModelCard
from components.core.schema import FloatArray, Passport
from components.features.attention.compute.reduced import Reduced, Source
from components.features.attention.controls import (
    DIRECTION,
    DIRECTIONS,
    HEAD,
    PAD,
    SCOPES,
    SENTENCE,
    SHOW,
    SIDE,
    SORT,
    SPECIAL,
    SPECIALS,
    TOKEN,
    UNIT,
    WORDS,
)
from components.features.attention.measures.grid import Arrangement, Grid, arrange
from components.features.attention.measures.heads import Heads, ranked
from components.features.attention.measures.selection import Selection, reduced_weights, select
from components.ui.state.controls import sentence_index
from components.ui.state.view import Sentence, ViewState

__all__ = ["AttentionView", "attention_view"]


@dataclass(frozen=True, eq=False)
class AttentionView:
    """What the page shows of one sentence.

    Attributes:
        encoding: its tokens and passport; hidden states of layer 0 only, no attentions.
        kinds: what each token is.
        heads: all heads, reduced.
        sort: what they are sorted by; `order` is (layer, head), the first one first.
        selection: which of them are shown.
        weights: (n_tokens, n_tokens) float32 of it, before anything was hidden or merged.
        grid: the same as shown, in the `arrangement` that was asked.
        picked: "from" and a row, or "to" and a column, of the grid.
        pad_to, pad_asked: the length padded to, or None; and the length asked, 0 for none.
    """

    sentence: Sentence
    card: ModelCard
    encoding: Encoding
    kinds: tuple[Kind, ...]
    heads: Heads
    sort: str
    order: list[tuple[int, int]]
    selection: Selection
    weights: FloatArray
    arrangement: Arrangement
    grid: Grid
    picked: tuple[str, int]
    pad_to: int | None
    pad_asked: int

    @property
    def sort_habit(self) -> str:
        """The habit by which the heads are sorted, most or least of it first."""
        return "entropy" if self.sort == "focus" else self.sort

    @property
    def passport(self) -> Passport:
        """The passport behind the numbers, with this page's own settings."""
        selection, encoded = self.selection, self.encoding.passport
        place = {"head": {"layer": selection.layer, "head": selection.head}, "all": {}}
        own = {
            "show": selection.scope,
            **place.get(selection.scope, {"layer": selection.layer}),
            "special_tokens": self.arrangement.special,
            "unit": "words" if self.arrangement.words else "tokens",
            "direction": self.arrangement.direction,
        }
        return replace(encoded, settings={**encoded.settings, **own})


def attention_view(view: ViewState, service: EncoderService, card: ModelCard) -> AttentionView:
    """Encode the chosen sentence and arrange the attention that the controls ask for."""
    source = _source(view, service, card)
    reduced = source.reduced()
    encoding, vocabulary = reduced.encoding, service.vocabulary(card.id)
    own = kinds(encoding, vocabulary)
    order = _order(view, reduced.heads)
    selection = _selection(view, card, reduced, order)
    kept = reduced_weights(reduced.heads, selection)
    weights = source.whole(selection.layer, selection.head) if kept is None else kept
    arrangement = _arrangement(view, source.sentence)
    grid = arrange(weights, encoding, own, labels(encoding, vocabulary), arrangement)
    return AttentionView(
        sentence=source.sentence,
        card=card,
        encoding=encoding,
        kinds=own,
        heads=reduced.heads,
        sort=SORT.of(view),
        order=order,
        selection=selection,
        weights=weights,
        arrangement=arrangement,
        grid=grid,
        picked=_picked(view, source.sentence, encoding, grid),
        pad_to=source.pad_to,
        pad_asked=_pad_asked(view, card),
    )


def _source(view: ViewState, service: EncoderService, card: ModelCard) -> Source:
    """The chosen sentence, padded where that makes it longer."""
    sentence = view.sentences[sentence_index(view, SENTENCE)] if view.sentences else Sentence("")
    alone = service.tokenize(card.id, [sentence.text], pairs=[sentence.pair])[0]
    asked = _pad_asked(view, card)
    return Source(service, card, sentence, asked if asked > alone.n_tokens else None)


def _pad_asked(view: ViewState, card: ModelCard) -> int:
    return PAD.between(0, card.max_length).of(view)


def _order(view: ViewState, heads: Heads) -> list[tuple[int, int]]:
    by = SORT.of(view)
    return ranked(heads, "entropy", least=True) if by == "focus" else ranked(heads, by)


def _selection(
    view: ViewState, card: ModelCard, reduced: Reduced, order: list[tuple[int, int]]
) -> Selection:
    """The head that is chosen, or the layer's; the first head and the last layer by default."""
    scope = SCOPES[SHOW.of(view)]
    places = {f"{layer}.{head}": (layer, head) for layer, head in order}
    layer, head = places[HEAD.among(places.keys()).of(view)]
    if scope != "head":
        known = view.layer is not None and 1 <= view.layer <= card.n_layers
        layer = int(view.layer or 0) if known else card.n_layers
    trained = card.provenance.encoder.state == "trained"
    return select(reduced.heads, reduced.encoding, scope, (layer, head), trained=trained)


def _arrangement(view: ViewState, sentence: Sentence) -> Arrangement:
    return Arrangement(
        special=SPECIALS[SPECIAL.of(view)],
        words=UNIT.of(view) == WORDS,
        direction="all" if sentence.pair is None else DIRECTIONS[DIRECTION.of(view)],
    )


def _picked(view: ViewState, sentence: Sentence, encoding: Encoding, grid: Grid) -> tuple[str, int]:
    """The token that the view names, or the chosen word's first, or the first of the text."""
    side = SIDE.of(view)
    items = grid.rows if side == "from" else grid.columns
    start = sentence.word[0] if sentence.word else 0
    own = np.flatnonzero((encoding.text_ids == 0) & (encoding.offsets[:, 1] > start))
    first = int(own[0]) if len(own) else 0
    for wanted in (TOKEN.of(view), first):
        for i, item in enumerate(items):
            if wanted in item.positions:
                return side, i
    return side, 0
