"""The attention of one sentence: the selected weights as a grid, and the words about them.

All claims are computed from the weights; the sentences are in `english.toml`. Shares that are
displayed as the same number count as equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.analysis.tokens import TokenKind, kinds, labels, source
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, occurrence, percent, placed, quoted, several
from contextlens.core import EncoderService, Encoding, ModelCard
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
from contextlens.features.attention.grid import Arrangement, Grid, GridItem, arrange
from contextlens.features.attention.heads import AttentionSource, ReducedAttention, habits_script
from contextlens.features.attention.heatmap import attention_heatmap
from contextlens.features.attention.navigator import Navigator, ordered
from contextlens.features.attention.selection import (
    MIN_RATIO,
    MIN_SHARE,
    HeadSelection,
    select,
)
from contextlens.ui.panel import Panel, Rows
from contextlens.ui.state.controls import sentence_index
from contextlens.ui.state.view import Sentence, ViewState

FORMULA = r"""
**Attention** of one head, with queries $Q$ and keys $K$ of $d_k$ dimensions for each token:

$$A = \mathrm{softmax}\left(\frac{Q K^{\top}}{\sqrt{d_k}} + M\right)$$

$M$ is so far below zero at padding that its columns are exactly 0. Row $i$ holds the
attention of token $i$ to each token $j$, and sums to 1. (MPNet adds a bias for the distance between
$i$ and $j$ before the softmax.)
""".strip()

_IN_TITLE = 12  # characters of a token


@dataclass(frozen=True, eq=False)
class AttentionView(Panel):
    """The attention of one sentence.

    Attributes:
        encoding: its tokens and passport; hidden states of layer 0 only, no attentions.
        kinds: the kind of each token.
        navigator: all heads.
        selection: the heads that are shown.
        weights: (n_tokens, n_tokens) float32 of the selection, before any hiding or merging.
        grid: the weights after hiding and merging as `arrangement` says.
        picked: ("from", row) or ("to", column), an index into the grid.
        pad_to: the length with padding; None if no padding was added.
        requested_pad: the requested length, 0 for none.
    """

    formula: ClassVar[str] = FORMULA

    sentence: Sentence
    card: ModelCard
    encoding: Encoding
    kinds: tuple[TokenKind, ...]
    navigator: Navigator
    selection: HeadSelection
    weights: FloatArray
    arrangement: Arrangement
    grid: Grid
    picked: tuple[str, int]
    pad_to: int | None
    requested_pad: int

    @property
    def passport(self) -> Passport:
        """The passport behind the numbers, with this page's own settings."""
        selection, encoded = self.selection, self.encoding.passport
        position = {"head": {"layer": selection.layer, "head": selection.head}, "all": {}}
        settings = {
            "show": selection.scope,
            **position.get(selection.scope, {"layer": selection.layer}),
            "special_tokens": self.arrangement.special,
            "unit": "words" if self.arrangement.words else "tokens",
            "direction": self.arrangement.direction,
        }
        return replace(encoded, settings={**encoded.settings, **settings})

    def title(self) -> Claim:
        """The finding of the heatmap, as a short title in plain text."""
        selection, grid = self.selection, self.grid
        if selection.mean is None:
            return selection.habit_claim("title", str)
        top, labels = largest(grid.means()), [item.label for item in grid.columns]
        first = top.indices[0]
        name = occurrence(labels[first], grid.columns[first].positions[0], labels, _IN_TITLE)
        verdict: str = top.verdict
        if verdict in ("one", "several"):
            verdict = selection.mean.preposition
        return claim(f"attention.title.{verdict}", Scope=selection.name, share=top.share, name=name)

    def claims(self) -> list[Claim]:
        """A head's habit or a mean, the picked token, and one caution."""
        selection = self.selection
        return [
            selection.habit_claim("head", escape)
            if selection.mean is None
            else self._mean_claim(selection.mean.kind),
            self._picked_claim(),
            claim(f"attention.caution.{'trained' if selection.trained else 'untrained'}"),
        ]

    def sure(self) -> list[Claim]:
        """Return the claims on how the numbers of the reading were computed."""
        mean = self.selection.mean
        if mean is not None:
            return mean.sure()
        return [
            claim("attention.sure.pattern", least=MIN_SHARE, times=MIN_RATIO),
            claim("attention.sure.counted"),
        ]

    def notes(self) -> list[Claim]:
        """Notes on tokens that were hidden, padded, unknown or cut off, one sentence each."""
        lost = self.encoding.n_truncated
        notes = [
            self._special_note(),
            self._text_note(),
            self._pair_note(),
            self._padding_note(),
            self._unknown_note(),
            claim("attention.note.cut", n=lost) if lost else None,
        ]
        return [note for note in notes if note is not None]

    def figure(self) -> go.Figure:
        """All weights at once, as a heatmap with the finding as its title."""
        grid = self.grid
        return attention_heatmap(
            grid.weights,
            [(item.positions[0], item.label) for item in grid.rows],
            [(item.positions[0], item.label) for item in grid.columns],
            title=str(self.title()),
            marked=self.picked,
        )

    def alt(self) -> str:
        """A description of the heatmap."""
        return say("attention.page.alt", title=str(self.title()))

    def rows(self) -> Rows:
        """Every weight as shown, one row each."""
        return self.grid.cells()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays on screen and those behind them."""
        grid, heads, encoding = self.grid, self.navigator.heads, self.encoding
        return {
            "weights": grid.weights,
            "rows": np.array([item.label for item in grid.rows]),
            "columns": np.array([item.label for item in grid.columns]),
            "attention": self.weights,
            "layer_means": heads.layer_means,
            "habits": heads.habits,
            "habit_names": np.array([*self.selection.habit_names, "entropy (bits)"]),
            "tokens": np.array(encoding.tokens),
            "token_ids": encoding.token_ids,
            "text": np.array(encoding.text),
            "pair": np.array(encoding.pair or ""),
        }

    def snippet(self) -> str:
        """A script that defines `attention`, (n_rows, n_columns) as shown, and the numbers.

        `received` is the mean weight of each column, `measured` the mean habits of the heads that
        are shown, and `even` the habits of evenly spread attention.
        """
        card, encoding, selection = self.card, self.encoding, self.selection
        texts = [text for text in (encoding.text, encoding.pair) if text is not None]
        padding = f'padding="max_length", max_length={self.pad_to}'
        limit = padding if self.pad_to else f"max_length={card.max_length}"
        lines = [
            "import torch",
            "from transformers import AutoModel, AutoTokenizer",
            "",
            *load_lines(card),
            "",
            "batch = tokenizer(",
            f"    {', '.join(map(literal, texts))},",
            f'    truncation="longest_first", {limit}, return_tensors="pt",',
            # ALBERT's tokenizer returns segments only on request.
            *(["    return_token_type_ids=True,"] if card.has_segments else []),
            ")",
            "with torch.inference_mode():",
            "    layers = model(**batch, output_attentions=True).attentions",
            "attentions = torch.stack(layers)[:, 0]  # (layers, heads, tokens, tokens)",
            *selection.script(),
            *self.grid.script(),
            "print(attention, received)",
            habits_script(encoding, selection.habit_names, selection.script_heads()).rstrip(),
        ]
        return "\n".join(lines) + "\n"

    def _mean_claim(self, kind: str) -> Claim:
        columns, top = self.grid.columns, largest(self.grid.means())
        names = several(_names(columns, top.indices))
        even = self._even(columns[top.indices[0]])
        return claim(f"attention.{kind}.{top.verdict}", names=names, share=top.share, even=even)

    def _picked_claim(self) -> Claim:
        (side, index), grid, mean = self.picked, self.grid, self.selection.mean
        items, others = (grid.rows, grid.columns) if side == "from" else (grid.columns, grid.rows)
        weights = (grid.weights[index] if side == "from" else grid.weights[:, index]).tolist()
        top = largest(weights)
        kind = side if mean is None or mean.kind == "mean" else f"{mean.kind}_{side}"
        return claim(
            f"attention.{kind}.{top.verdict}",
            word=_names(items, [index])[0],
            names=several(_names(others, top.indices)),
            share=top.share,
        )

    def _even(self, item: GridItem) -> float:
        """An item's weight in an even spread over all tokens, or over those left after hiding."""
        grid, per_token = self.grid, self.selection.even["first"]
        if grid.renormalised:
            visible = {i for other in (*grid.rows, *grid.columns) for i in other.positions}
            per_token = 1 / len(visible)
        return per_token * len(item.positions)

    def _special_note(self) -> Claim | None:
        grid = self.grid
        if self.arrangement.special == "show":
            return None
        if not grid.hidden:
            return claim("attention.note.nothing_else")
        case = "divided" if grid.renormalised else "hidden"
        names = dict.fromkeys(self.encoding.tokens[i] for i in grid.hidden)
        return claim(f"attention.note.{case}", names=escape(", ".join(names)))

    def _text_note(self) -> Claim | None:
        if (self.encoding.text_ids >= 0).any():
            return None
        names = dict.fromkeys(self.encoding.tokens)
        return claim("attention.note.only_special", names=escape(", ".join(names)))

    def _pair_note(self) -> Claim | None:
        if self.sentence.pair is None:
            return None
        if self.arrangement.direction == "all":
            return None if self.card.has_segments else claim("attention.note.no_segments")
        return claim(f"attention.note.{'all_ways' if self.grid.is_square else 'one_way'}")

    def _padding_note(self) -> Claim | None:
        n, requested = self.encoding.n_tokens, self.requested_pad
        if self.pad_to is None:
            if requested in (0, n):
                return None
            return claim("attention.note.long_enough", n=n, asked=requested)
        mask = self.encoding.attention_mask
        largest = float(self.weights[np.ix_(mask == 1, mask == 0)].max(initial=0.0))
        case = "padding_gets" if largest else "padding"
        return claim(f"attention.note.{case}", n=int((mask == 0).sum()), most=largest)

    def _unknown_note(self) -> Claim | None:
        unknown = [i for i, kind in enumerate(self.kinds) if kind == "unknown"]
        if not unknown:
            return None
        word = quoted(source(self.encoding, unknown[0]))
        return claim("attention.note.unknown", n=len(unknown), word=word)


def attention_view(view: ViewState, service: EncoderService, card: ModelCard) -> AttentionView:
    """Encode the chosen sentence and arrange the attention as the controls say."""
    sentence = view.sentences[sentence_index(view, SENTENCE)] if view.sentences else Sentence("")
    unpadded = service.tokenize(card.id, [sentence.text], pairs=[sentence.pair])[0]
    requested_pad = PAD.between(0, card.max_length).of(view)
    pad_to = requested_pad if requested_pad > unpadded.n_tokens else None
    all_heads = AttentionSource(service, card, sentence, pad_to)
    reduced = all_heads.reduced()
    encoding, heads, vocabulary = reduced.encoding, reduced.heads, service.vocabulary(card.id)
    token_kinds = kinds(encoding, vocabulary)
    order = ordered(view, heads)
    selection = _selection(view, card, reduced, order)
    weights = selection.weights(heads)
    if weights is None:
        weights = all_heads.whole(selection.layer, selection.head)
    arrangement = Arrangement(
        special=SPECIALS[SPECIAL.of(view)],
        words=UNIT.of(view) == WORDS,
        direction="all" if sentence.pair is None else DIRECTIONS[DIRECTION.of(view)],
    )
    grid = arrange(weights, encoding, token_kinds, labels(encoding, vocabulary), arrangement)
    return AttentionView(
        sentence=sentence,
        card=card,
        encoding=encoding,
        kinds=token_kinds,
        navigator=Navigator(heads, SORT.of(view), order, selection),
        selection=selection,
        weights=weights,
        arrangement=arrangement,
        grid=grid,
        picked=_picked(view, sentence, encoding, grid),
        pad_to=pad_to,
        requested_pad=requested_pad,
    )


def _selection(
    view: ViewState, card: ModelCard, reduced: ReducedAttention, order: Sequence[tuple[int, int]]
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


def _picked(view: ViewState, sentence: Sentence, encoding: Encoding, grid: Grid) -> tuple[str, int]:
    """(side, index) of the picked token; by default the first of the chosen or last word."""
    side = SIDE.of(view)
    items = grid.rows if side == "from" else grid.columns
    for position in (TOKEN.of(view), token_of_word(encoding, sentence.word)):
        for i, item in enumerate(items):
            if position in item.positions:
                return side, i
    return side, 0


@dataclass(frozen=True)
class Largest:
    """The largest of some weights.

    Attributes:
        verdict: "one" or "several" weights are largest; "alike" if all are displayed as the same
            number; "faint" if none reaches 1%.
        indices: the indices of the largest.
        share: the largest weight.
    """

    verdict: Literal["one", "several", "alike", "faint"]
    indices: tuple[int, ...]
    share: float


def largest(weights: Sequence[float]) -> Largest:
    """The largest weights, compared in whole per cent."""
    top = max(weights)
    best = tuple(i for i, weight in enumerate(weights) if percent(weight) == percent(top))
    if percent(top) in (percent(0), percent(1e-9)):
        return Largest("faint", best, top)
    if len(best) == 1:
        return Largest("one", best, top)
    return Largest("alike" if len(best) == len(weights) else "several", best, top)


def _names(items: Sequence[GridItem], indices: Sequence[int]) -> list[str]:
    """Names in quotation marks, with positions if several names are the same."""
    labels = [item.label for item in items]
    return [placed(labels[i], items[i].positions[0], labels) for i in indices]
