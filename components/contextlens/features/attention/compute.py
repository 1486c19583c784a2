"""The data of the Attention page: the selected heads, all heads, tables and arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from contextlens.analysis.tokens import TokenKind, kinds, labels
from contextlens.content.language import say
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, Passport
from contextlens.core.words import token_of_word
from contextlens.features.attention.controls import (
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
from contextlens.features.attention.measures import (
    HABITS,
    Arrangement,
    Grid,
    Heads,
    HeadSelection,
    arrange,
    ranked,
    reduce_heads,
    reduced_weights,
    select,
)
from contextlens.ui.state.controls import sentence_index
from contextlens.ui.state.view import Sentence, ViewState

# --- Attention weights for a page


@dataclass(frozen=True, eq=False)
class Reduced:
    """A text's encoding without its attentions, and their reduced form."""

    encoding: Encoding
    heads: Heads


@dataclass(frozen=True, eq=False)
class Source:
    """The model and the text behind a page's weights; `pad_to` is None without padding."""

    service: EncoderService
    card: ModelCard
    sentence: Sentence
    pad_to: int | None

    def reduced(self) -> Reduced:
        """All heads on the text, reduced and cached; few full matrices of a long text are kept."""
        return remembered(
            "reduced attention",
            self.card.id,
            self.card.checksum,
            self.sentence.text,
            self.sentence.pair,
            self.pad_to,
            compute=self._reduce,
        )

    def whole(self, layer: int, head: int) -> FloatArray:
        """(n_tokens, n_tokens) weights of one head, which the service caches."""
        weights: FloatArray = _weights(self._encode([(layer, head)]))[0]
        return weights

    def _reduce(self) -> Reduced:
        encoding = self._encode(True)
        heads = reduce_heads(_weights(encoding), encoding)
        return Reduced(replace(encoding, attentions=None), heads)

    def _encode(self, attentions: bool | list[tuple[int, int]]) -> Encoding:
        return self.service.encode(
            self.card.id,
            [self.sentence.text],
            pairs=[self.sentence.pair],
            pad_to=self.pad_to,
            layers=[0],
            attentions=attentions,
        )[0]


def _weights(encoding: Encoding) -> FloatArray:
    if encoding.attentions is None:
        raise RequestError("This model gives no attention weights. Choose another one.")
    return encoding.attentions


# --- The attention that a view shows


@dataclass(frozen=True, eq=False)
class AttentionView:
    """The attention of one sentence.

    Attributes:
        encoding: its tokens and passport; hidden states of layer 0 only, no attentions.
        kinds: the kind of each token.
        heads: all heads, reduced.
        sort: the sort key of the heads.
        order: the (layer, head) pairs, sorted by it.
        selection: the heads that are shown.
        weights: (n_tokens, n_tokens) float32 of the selection, before any hiding or merging.
        grid: the weights after hiding and merging as `arrangement` says.
        picked: ("from", row) or ("to", column), an index into the grid.
        pad_to: the length with padding; None if no padding was added.
        requested_pad: the requested length, 0 for none.
    """

    sentence: Sentence
    card: ModelCard
    encoding: Encoding
    kinds: tuple[TokenKind, ...]
    heads: Heads
    sort: str
    order: list[tuple[int, int]]
    selection: HeadSelection
    weights: FloatArray
    arrangement: Arrangement
    grid: Grid
    picked: tuple[str, int]
    pad_to: int | None
    requested_pad: int

    @property
    def sort_habit(self) -> str:
        """The habit behind the sort key: `focus` sorts by entropy."""
        return "entropy" if self.sort == "focus" else self.sort

    @property
    def passport(self) -> Passport:
        """The passport behind the numbers, with this page's own settings."""
        selection, encoded = self.selection, self.encoding.passport
        place = {"head": {"layer": selection.layer, "head": selection.head}, "all": {}}
        settings = {
            "show": selection.scope,
            **place.get(selection.scope, {"layer": selection.layer}),
            "special_tokens": self.arrangement.special,
            "unit": "words" if self.arrangement.words else "tokens",
            "direction": self.arrangement.direction,
        }
        return replace(encoded, settings={**encoded.settings, **settings})


def attention_view(view: ViewState, service: EncoderService, card: ModelCard) -> AttentionView:
    """Encode the chosen sentence and arrange the attention as the controls say."""
    source = _source(view, service, card)
    reduced = source.reduced()
    encoding, vocabulary = reduced.encoding, service.vocabulary(card.id)
    token_kinds = kinds(encoding, vocabulary)
    order = _order(view, reduced.heads)
    selection = _selection(view, card, reduced, order)
    weights = reduced_weights(reduced.heads, selection)
    if weights is None:
        weights = source.whole(selection.layer, selection.head)
    arrangement = _arrangement(view, source.sentence)
    grid = arrange(weights, encoding, token_kinds, labels(encoding, vocabulary), arrangement)
    return AttentionView(
        sentence=source.sentence,
        card=card,
        encoding=encoding,
        kinds=token_kinds,
        heads=reduced.heads,
        sort=SORT.of(view),
        order=order,
        selection=selection,
        weights=weights,
        arrangement=arrangement,
        grid=grid,
        picked=_picked(view, source.sentence, encoding, grid),
        pad_to=source.pad_to,
        requested_pad=_requested_pad(view, card),
    )


def _source(view: ViewState, service: EncoderService, card: ModelCard) -> Source:
    """The chosen sentence, padded if that makes it longer."""
    sentence = view.sentences[sentence_index(view, SENTENCE)] if view.sentences else Sentence("")
    unpadded = service.tokenize(card.id, [sentence.text], pairs=[sentence.pair])[0]
    length = _requested_pad(view, card)
    return Source(service, card, sentence, length if length > unpadded.n_tokens else None)


def _requested_pad(view: ViewState, card: ModelCard) -> int:
    return PAD.between(0, card.max_length).of(view)


def _order(view: ViewState, heads: Heads) -> list[tuple[int, int]]:
    by = SORT.of(view)
    return ranked(heads, "entropy", least=True) if by == "focus" else ranked(heads, by)


def _selection(
    view: ViewState, card: ModelCard, reduced: Reduced, order: list[tuple[int, int]]
) -> HeadSelection:
    """The chosen head or layer; by default the first head in `order`, or the last layer."""
    scope = SCOPES[SHOW.of(view)]
    by_name = {f"{layer}.{head}": (layer, head) for layer, head in order}
    layer, head = by_name[HEAD.among(by_name.keys()).of(view)]
    if scope != "head":
        has_layer = view.layer is not None and 1 <= view.layer <= card.n_layers
        layer = int(view.layer or 0) if has_layer else card.n_layers
    trained = card.provenance.encoder.state == "trained"
    return select(reduced.heads, reduced.encoding, scope, (layer, head), trained=trained)


def _arrangement(view: ViewState, sentence: Sentence) -> Arrangement:
    return Arrangement(
        special=SPECIALS[SPECIAL.of(view)],
        words=UNIT.of(view) == WORDS,
        direction="all" if sentence.pair is None else DIRECTIONS[DIRECTION.of(view)],
    )


def _picked(view: ViewState, sentence: Sentence, encoding: Encoding, grid: Grid) -> tuple[str, int]:
    """(side, index) of the picked token; by default the first of the chosen or last word."""
    side = SIDE.of(view)
    items = grid.rows if side == "from" else grid.columns
    for position in (TOKEN.of(view), token_of_word(encoding, sentence.word)):
        for i, item in enumerate(items):
            if position in item.positions:
                return side, i
    return side, 0


# --- The names of heads, of their habits and of means


def habit_names(selection: HeadSelection) -> list[str]:
    """The names of `HABITS` except the entropy, in order, with this model's special tokens."""
    first, others = selection.names["first"], selection.names["separators"]
    separators = say("attention.habit.others", name=others) if others == first else others
    return [
        say("attention.habit.previous"),
        say("attention.habit.next"),
        first,
        separators or say("attention.habit.special"),
        say("attention.habit.word"),
    ]


def sort_titles(attention: AttentionView) -> list[str]:
    """The titles of the sort keys, in the order of `SORT`."""
    ends = [say(f"attention.habit.{name}_focused") for name in ("least", "most")]
    return [*habit_names(attention.selection), *ends]


def head_titles(attention: AttentionView) -> dict[str, str]:
    """The menu of heads, sorted: from values of `HEAD` to titles, "Layer 3, head 7 · 0.42"."""
    values = attention.heads.habits[..., HABITS.index(attention.sort_habit)]
    key = f"attention.menu.{'entropy' if attention.sort_habit == 'entropy' else 'share'}"
    return {
        f"{layer}.{head}": say(key, layer=layer, head=head, value=float(values[layer - 1, head]))
        for layer, head in attention.order
    }


def habit_texts(attention: AttentionView) -> list[list[str]]:
    """For each layer and head, the value of the habit by which heads are sorted, in words."""
    column = HABITS.index(attention.sort_habit)
    key = f"attention.hover.{'entropy' if attention.sort_habit == 'entropy' else 'share'}"
    name = [*habit_names(attention.selection), ""][column]
    rows = attention.heads.habits[..., column].tolist()
    return [[say(key, name=name, value=value) for value in row] for row in rows]


def scope_name(selection: HeadSelection) -> str:
    """The name of the heads that a mean or rollout covers."""
    return say(f"attention.scope.{selection.scope}", n=selection.layer)


def habits_caption(attention: AttentionView) -> str:
    """The caption of the bars under the heads."""
    selection = attention.selection
    place = {"n": selection.layer, "layer": selection.layer, "head": selection.head}
    return say(f"attention.bars.{selection.scope}", **place)


# --- The numbers of the Attention page as rows and arrays


def weights_table(attention: AttentionView) -> pd.DataFrame:
    """The weights as shown: a row for each attending item, a column for each attended item.

    Each is named by its position (for a word, that of its first token) and its label.
    """
    grid = attention.grid
    names = [f"{item.positions[0]} {item.label}" for item in grid.columns]
    table = pd.DataFrame(grid.weights, columns=names)
    table.insert(0, "from", [f"{item.positions[0]} {item.label}" for item in grid.rows])
    return table


def picked_table(attention: AttentionView) -> pd.DataFrame:
    """The weights of the picked token alone, for grids too wide to show in full."""
    side, index = attention.picked
    grid, is_row = attention.grid, side == "from"
    items = grid.columns if is_row else grid.rows
    picked = (grid.rows if is_row else grid.columns)[index].label
    return pd.DataFrame(
        {
            "position": [item.positions[0] for item in items],
            "token": [item.label for item in items],
            f"{side} {picked}": grid.weights[index] if is_row else grid.weights[:, index],
        }
    )


def heads_table(attention: AttentionView) -> pd.DataFrame:
    """Every head's habits, in the chosen order."""
    habits, order = attention.heads.habits, attention.order
    rows = np.array([habits[layer - 1, head] for layer, head in order])
    names = [*habit_names(attention.selection), "entropy (bits)"]
    table = pd.DataFrame(dict(zip(names, rows.T, strict=True)))
    table.insert(0, "layer", [layer for layer, _ in order])
    table.insert(1, "head", [head for _, head in order])
    return table


def weight_rows(attention: AttentionView) -> list[dict[str, Any]]:
    """Every weight as shown, one row each."""
    grid = attention.grid
    return [
        {
            "from position": row.positions[0],
            "from": row.label,
            "to position": column.positions[0],
            "to": column.label,
            "weight": float(weight),
        }
        for row, weights in zip(grid.rows, grid.weights, strict=True)
        for column, weight in zip(grid.columns, weights, strict=True)
    ]


def arrays(attention: AttentionView) -> dict[str, NDArray[Any]]:
    """The arrays on screen and those behind them, by name."""
    grid, heads, encoding = attention.grid, attention.heads, attention.encoding
    return {
        "weights": grid.weights,
        "rows": np.array([item.label for item in grid.rows]),
        "columns": np.array([item.label for item in grid.columns]),
        "attention": attention.weights,
        "layer_means": heads.layer_means,
        "habits": heads.habits,
        "habit_names": np.array([*habit_names(attention.selection), "entropy (bits)"]),
        "tokens": np.array(encoding.tokens),
        "token_ids": encoding.token_ids,
        "text": np.array(encoding.text),
        "pair": np.array(encoding.pair or ""),
    }
