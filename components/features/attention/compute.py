"""Attention, from a view to what is shown: which head or mean, of which tokens or words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import numpy as np

from components.analysis.tokens import Kind, kinds, labels
from components.core import EncoderService, Encoding, ModelCard
from components.core.schema import FloatArray, Passport
from components.features.attention.measures.grid import Direction, Grid, Special, arrange
from components.features.attention.measures.heads import HABITS, Heads, ranked, rollout
from components.features.attention.reading.weights import AttentionShown
from components.features.attention.reduced import head_weights, reduced
from components.ui.state.view import Sentence, ViewState

__all__ = [
    "DIRECTIONS",
    "LOOKS",
    "PAGE",
    "SORTS",
    "SPECIALS",
    "UNITS",
    "AttentionView",
    "compute",
    "index_of",
    "sort_of",
]

PAGE = "attention"
Look = Literal["head", "layer", "all", "rollout"]
LOOKS: Mapping[str, Look] = {
    "One head": "head",
    "Layer": "layer",
    "All": "all",
    "Rollout": "rollout",
}
SORTS = ("previous", "next", "first", "separators", "word", "entropy", "focus")
"""What heads can be sorted by: the habits, and least entropy first."""
SPECIALS: Mapping[str, Special] = {
    "Show": "show",
    "Hide": "hide",
    "Hide, rows to 1": "renormalise",
}
UNITS = ("Tokens", "Words")
DIRECTIONS: Mapping[str, Direction] = {
    "All": "all",
    "First to second": "forth",
    "Second to first": "back",
}
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class AttentionView:
    """What the page shows of one sentence.

    Attributes:
        index: which sentence it is.
        encoding: its tokens and passport; hidden states of layer 0 only, no attentions.
        kinds, labels: what each token is, and what is written on it.
        heads: all heads, reduced.
        sort: what they are sorted by; `order` is (layer, head), the first one first.
        shown: what is looked at, for the reading.
        attention: (n_tokens, n_tokens) float32, before anything was hidden or merged.
        grid: the same as shown.
        picked: "from" and a row, or "to" and a column, of the grid.
        special, words, direction: what was asked of the grid.
        pad_to, pad_asked: the length padded to, or None; and the length asked, 0 for none.
    """

    index: int
    sentence: Sentence
    card: ModelCard
    encoding: Encoding
    kinds: tuple[Kind, ...]
    labels: tuple[str, ...]
    heads: Heads
    sort: str
    order: list[tuple[int, int]]
    shown: AttentionShown
    attention: FloatArray
    grid: Grid
    picked: tuple[str, int]
    special: Special
    words: bool
    direction: Direction
    pad_to: int | None
    pad_asked: int

    @property
    def passport(self) -> Passport:
        """The passport behind the numbers, with this page's own settings."""
        shown, encoded = self.shown, self.encoding.passport
        place = {"head": {"layer": shown.layer, "head": shown.head}, "all": {}}
        own = {
            "show": shown.show,
            **place.get(shown.show, {"layer": shown.layer}),
            "special_tokens": self.special,
            "unit": "words" if self.words else "tokens",
            "direction": self.direction,
        }
        return replace(encoded, settings={**encoded.settings, **own})


def index_of(view: ViewState) -> int:
    """Which sentence the view looks at; the first where it names none."""
    letter = str(view.control(PAGE, "sentence", "A"))
    index = ord(letter) - ord("A") if len(letter) == 1 else 0
    return index if 0 <= index < len(view.sentences) else 0


def sort_of(view: ViewState) -> str:
    """What the heads are sorted by."""
    asked = str(view.control(PAGE, "sort", SORTS[0]))
    return asked if asked in SORTS else SORTS[0]


def compute(view: ViewState, service: EncoderService, card: ModelCard) -> AttentionView:
    """Encode the chosen sentence and arrange the attention that the controls ask for."""
    index = index_of(view)
    sentence = view.sentences[index] if view.sentences else Sentence("")
    pad_asked = min(max(int(view.control(PAGE, "pad", 0)), 0), card.max_length)
    pairs = None if sentence.pair is None else [sentence.pair]
    alone = service.tokenize(card.id, [sentence.text], pairs=pairs)[0]
    pad_to = pad_asked if pad_asked > alone.n_tokens else None
    kept = reduced(service, card, sentence, pad_to)
    encoding, heads = kept.encoding, kept.heads
    vocabulary = service.vocabulary(card.id)
    own, written = kinds(encoding, vocabulary), labels(encoding, vocabulary)
    sort = sort_of(view)
    order = ranked(heads, "entropy" if sort == "focus" else sort, least=sort == "focus")
    shown = _shown(view, card, encoding, heads, order)
    attention = _attention(service, card, sentence, pad_to, heads, shown)
    special = _of(SPECIALS, view, "special")
    words = str(view.control(PAGE, "unit", UNITS[0])) == UNITS[1]
    direction = _of(DIRECTIONS, view, "direction") if sentence.pair is not None else "all"
    grid = arrange(
        attention, encoding, own, written, special=special, words=words, direction=direction
    )
    return AttentionView(
        index=index,
        sentence=sentence,
        card=card,
        encoding=encoding,
        kinds=own,
        labels=written,
        heads=heads,
        sort=sort,
        order=order,
        shown=shown,
        attention=attention,
        grid=grid,
        picked=_picked(view, sentence, encoding, grid),
        special=special,
        words=words,
        direction=direction,
        pad_to=pad_to,
        pad_asked=pad_asked,
    )


def _of(options: Mapping[str, T], view: ViewState, name: str) -> T:
    """What a control's label stands for; the first where the address names none that exists."""
    first = next(iter(options))
    return options.get(str(view.control(PAGE, name, first)), options[first])


def _shown(
    view: ViewState,
    card: ModelCard,
    encoding: Encoding,
    heads: Heads,
    order: list[tuple[int, int]],
) -> AttentionShown:
    look = _of(LOOKS, view, "show")
    asked = str(view.control(PAGE, "head", ""))
    place = next((p for p in order if f"{p[0]}.{p[1]}" == asked), order[0])
    chosen = view.layer if view.layer in range(1, card.n_layers + 1) else card.n_layers
    layer = place[0] if look == "head" else int(chosen or card.n_layers)
    values = heads.habits[place[0] - 1, place[1]]
    return AttentionShown(
        show=look,
        layer=card.n_layers if look == "all" else layer,
        head=place[1],
        shares=dict(zip(HABITS[:-1], map(float, values), strict=False)),
        even=dict(zip(HABITS[:-1], map(float, heads.even), strict=False)),
        names=_names(encoding),
        trained=card.provenance.encoder.state == "trained",
    )


def _names(encoding: Encoding) -> dict[str, str]:
    """What the special tokens of this model are called."""
    added = encoding.special_tokens_mask == 1
    rest = [encoding.tokens[i] for i in np.flatnonzero(added & (encoding.attention_mask == 1))[1:]]
    return {"first": encoding.tokens[0], "separators": rest[0] if rest else "the last token"}


def _attention(
    service: EncoderService,
    card: ModelCard,
    sentence: Sentence,
    pad_to: int | None,
    heads: Heads,
    shown: AttentionShown,
) -> FloatArray:
    """(n_tokens, n_tokens) float32 of what is shown."""
    if shown.show == "layer":
        own: FloatArray = heads.layer_means[shown.layer - 1]
        return own
    if shown.show == "all":
        mean: FloatArray = heads.layer_means.mean(axis=0, dtype=np.float32)
        return mean
    if shown.show == "rollout":
        return rollout(heads.layer_means[: shown.layer])
    place = (shown.layer, shown.head)
    whole = heads.whole(*place)
    return head_weights(service, card, sentence, pad_to, place) if whole is None else whole


def _picked(view: ViewState, sentence: Sentence, encoding: Encoding, grid: Grid) -> tuple[str, int]:
    """The token that the view names, or the chosen word's first, or the first of the text."""
    side = "to" if str(view.control(PAGE, "side", "from")) == "to" else "from"
    items = grid.rows if side == "from" else grid.columns
    asked = int(view.control(PAGE, "token", -1))
    start = sentence.word[0] if sentence.word else 0
    own = (i for i in range(encoding.n_tokens) if encoding.text_ids[i] == 0)
    first = next((i for i in own if encoding.offsets[i, 1] > start), 0)
    for wanted in (asked, first):
        for i, item in enumerate(items):
            if wanted in item.positions:
                return side, i
    return side, 0
