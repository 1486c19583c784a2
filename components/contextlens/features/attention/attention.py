"""The attention of one sentence: the selected weights as a grid, and the words about them.

All claims are computed from the weights; the sentences are in `english.toml`. Shares that are
displayed as the same number count as equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
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
from contextlens.features.attention.all_heads import all_heads_figure
from contextlens.features.attention.controls import (
    DIRECTION,
    DIRECTIONS,
    HEAD,
    OTHER,
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
from contextlens.features.attention.heads import (
    AttentionSource,
    Heads,
    ReducedAttention,
    habits_script,
    ranked,
)
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
$i$ and $j$ before the softmax. DeBERTa may add two products of queries and keys with vectors for
that distance, and divides by the root of $d_k$ times one more than their number in its config.
Gemma normalises queries and keys, and divides by the root of a number in its config, or, as
EmbeddingGemma 2, by nothing. Where positions act by rotation, queries and keys are rotated by them;
in local layers (ModernBERT, Gemma), $M$ also covers what is farther away than their window.)
""".strip()

_IN_TITLE = 12  # characters of a token


class JoinVerdict(StrEnum):
    """What a head that is shown has of the two chosen words, beside all other heads."""

    LINKS = "links"
    ALSO = "also"
    HARDLY = "hardly"
    NONE = "none"


@dataclass(frozen=True)
class Pick:
    """The two chosen items of a grid.

    Attributes:
        side: "from" or "to": the side of the item that was clicked last.
        row, column: their indices.
    """

    side: str
    row: int
    column: int

    @property
    def index(self) -> int:
        """The index of the item that was clicked last."""
        return self.row if self.side == "from" else self.column


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
        pick: the two chosen items of the grid.
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
    pick: Pick
    pad_to: int | None
    requested_pad: int

    @property
    def passport(self) -> Passport:
        """The passport behind the numbers, with this page's own settings."""
        selection, encoded = self.selection, self.encoding.passport
        position = {"head": {"layer": selection.layer, "head": selection.head + 1}, "all": {}}
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
        to = selection.mean.preposition
        verdict = top.verdict if top.verdict in ("alike", "faint") else to
        return claim(f"attention.title.{verdict}", Scope=selection.name, share=top.share, name=name)

    @property
    def share(self) -> float:
        """What the one chosen word takes in from the other, as shown."""
        return float(self.grid.weights[self.pick.row, self.pick.column])

    def verdict(self) -> JoinVerdict | None:
        """What the head has of the two chosen words; None for a mean of heads."""
        return self._join() if self.selection.mean is None else None

    def _join(self) -> JoinVerdict:
        strongest = float(self.navigator.joins.max())
        is_strongest = percent(self.share) == percent(strongest)
        if self.share >= max(MIN_SHARE, MIN_RATIO * self._even(self._column)):
            return JoinVerdict.LINKS if is_strongest else JoinVerdict.ALSO
        return JoinVerdict.NONE if is_strongest else JoinVerdict.HARDLY

    def headline(self) -> Claim:
        """What the head that is shown has of the two chosen words, or the finding of a mean."""
        if self.selection.mean is not None:
            return self._mean_claim(self.selection.mean.kind)
        return claim(f"attention.join.{self._join()}", **self._names())

    def claims(self) -> list[Claim]:
        """The share of the one chosen word in the other, and the head that has most of it."""
        selection = self.selection
        kind = "head" if selection.mean is None else selection.mean.kind
        claims = [
            claim(
                f"attention.taken.{kind}",
                **self._names(),
                layer=selection.layer,
                head=selection.head + 1,
                share=self.share,
                even=self._even(self._column),
                n=self.navigator.joins.size,
            )
        ]
        if self.verdict() in (JoinVerdict.ALSO, JoinVerdict.HARDLY):
            layer, head = ranked(self.navigator.joins)[0]
            share = float(self.navigator.joins.max())
            claims.append(claim("attention.most", layer=layer, head=head + 1, share=share))
        if not selection.trained:
            claims.append(claim("attention.untrained"))
        return claims

    def sure(self) -> list[Claim]:
        """Return what the shares do not tell, and how they were computed."""
        mean, looks = self.selection.mean, claim("attention.sure.looks")
        if mean is not None:
            return [looks, *mean.sure()]
        return [
            looks,
            self.selection.habit_claim("head", escape),
            claim("attention.sure.pattern", least=MIN_SHARE, times=MIN_RATIO),
        ]

    def notes(self) -> list[Claim]:
        """Notes on a local layer, and on tokens that were hidden, padded, unknown or cut off."""
        lost = self.encoding.n_truncated
        notes = [
            self._local_note(),
            self._special_note(),
            self._text_note(),
            self._pair_note(),
            self._padding_note(),
            self._unknown_note(),
            claim("attention.note.cut", n=lost) if lost else None,
        ]
        return [note for note in notes if note is not None]

    def figure(self) -> go.Figure:
        """All weights of what is shown, as a heatmap with the finding as its title."""
        grid = self.grid
        return attention_heatmap(
            grid.weights,
            [(item.positions[0], item.label) for item in grid.rows],
            [(item.positions[0], item.label) for item in grid.columns],
            title=str(self.title()),
            marked=(self.pick.row, self.pick.column),
        )

    def all_heads_figure(self) -> go.Figure:
        """All heads at once, each as a small square."""
        heads, title = self.navigator.heads, say("attention.page.all_heads")
        return all_heads_figure(heads.pictures, self.navigator.selected, title=title)

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

    def _mean_claim(self, kind: Literal["mean", "rollout"]) -> Claim:
        columns, top = self.grid.columns, largest(self.grid.means())
        names = several(_names(columns, top.indices))
        even = self._even(columns[top.indices[0]])
        return claim(f"attention.{kind}.{top.verdict}", names=names, share=top.share, even=even)

    @property
    def _column(self) -> GridItem:
        return self.grid.columns[self.pick.column]

    def _names(self) -> dict[str, str]:
        """The chosen row and column in quotation marks; a token's share of itself has a word."""
        grid, pick = self.grid, self.pick
        row, column = grid.rows[pick.row], grid.columns[pick.column]
        itself = row.positions == column.positions
        return {
            "row": _names(grid.rows, [pick.row])[0],
            "column": say("attention.itself") if itself else _names(grid.columns, [pick.column])[0],
        }

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

    def _local_note(self) -> Claim | None:
        card, layer = self.card, self.selection.layer
        if self.selection.scope in ("all", "rollout"):
            n = sum(local <= layer for local in card.local_layers)
            if not n:
                return None
            return claim("attention.note.local.within", n=n, n_layers=layer, window=card.window)
        if layer not in card.local_layers:
            return None
        return claim("attention.note.local.shown", layer=layer, window=card.window)

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
    source = AttentionSource(service, card, sentence, pad_to)
    reduced = source.reduced()
    encoding, heads, vocabulary = reduced.encoding, reduced.heads, service.vocabulary(card.id)
    arrangement = Arrangement(
        special=SPECIALS[SPECIAL.of(view)],
        words=UNIT.of(view) == WORDS,
        direction="all" if sentence.pair is None else DIRECTIONS[DIRECTION.of(view)],
    )
    token_kinds = kinds(encoding, vocabulary)
    names = labels(encoding, vocabulary)

    def arranged(weights: FloatArray) -> Grid:
        return arrange(weights, encoding, token_kinds, names, arrangement)

    means = arranged(heads.layer_means.mean(axis=0, dtype=np.float32))
    pick = _pick(view, card, heads, means)
    row, column = means.rows[pick.row], means.columns[pick.column]
    rescaled = means.hidden if means.renormalised else ()
    joins = source.of_pair(heads, row.positions, column.positions, rescaled)
    order = ordered(SORT.of(view), heads, joins)
    selection = _selection(view, card, reduced, order)
    weights = selection.weights(heads)
    if weights is None:
        weights = source.whole(selection.layer, selection.head)
    return AttentionView(
        sentence=sentence,
        card=card,
        encoding=encoding,
        kinds=token_kinds,
        navigator=Navigator(
            heads, SORT.of(view), order, selection, joins, _plain_names(means, pick)
        ),
        selection=selection,
        weights=weights,
        arrangement=arrangement,
        grid=arranged(weights),
        pick=pick,
        pad_to=pad_to,
        requested_pad=requested_pad,
    )


def _selection(
    view: ViewState, card: ModelCard, reduced: ReducedAttention, order: Sequence[tuple[int, int]]
) -> HeadSelection:
    """The chosen head or layer; by default the first head in `order`, or the last layer."""
    scope, (layer, head) = SCOPES[SHOW.of(view)], _chosen_head(view, card) or order[0]
    if scope != "head":
        has_layer = view.layer is not None and 1 <= view.layer <= card.n_layers
        layer = int(view.layer or 0) if has_layer else card.n_layers
    trained = card.provenance.encoder.state == "trained"
    return select(reduced.heads, reduced.encoding, scope, (layer, head), trained=trained)


def _chosen_head(view: ViewState, card: ModelCard) -> tuple[int, int] | None:
    """The (layer, head) of the view, heads from 0; None if it has none that the model has."""
    by_name = {
        f"{layer}.{head}": (layer, head)
        for layer in range(1, card.n_layers + 1)
        for head in range(card.n_heads)
    }
    return by_name.get(HEAD.among(["", *by_name]).of(view))


def _pick(view: ViewState, card: ModelCard, heads: Heads, means: Grid) -> Pick:
    """The chosen items; by default the two that the chosen head, or any head, joins most.

    Args:
        view: the view.
        card: the model.
        heads: all heads.
        means: the mean of all heads, arranged.
    """
    side, weights = SIDE.of(view), means.weights
    clicked, other = means.index(side, TOKEN.of(view)), OTHER.of(view)
    if clicked is None:
        side = "from"
        joined = heads.joins.at(*(_chosen_head(view, card) or heads.joins.strongest()))
        row, column = means.index("from", joined[0]), means.index("to", joined[1])
        if row is None or column is None:
            best = int(_without_itself(means).argmax())
            row, column = divmod(best, weights.shape[1])
    elif side == "from":
        row, column = clicked, means.index("to", other)
        column = int(_without_itself(means)[row].argmax()) if column is None else column
    else:
        row, column = means.index("from", other), clicked
        row = int(_without_itself(means)[:, column].argmax()) if row is None else row
    return Pick(side, row, column)


def _without_itself(grid: Grid) -> FloatArray:
    """The weights, below zero where an item would attend to itself or to a special token."""
    rows = np.array([item.positions[0] for item in grid.rows])
    columns = np.array([item.positions[0] for item in grid.columns])
    special = np.array([item.text_id < 0 for item in grid.columns])
    weights: FloatArray = grid.weights - 4 * (rows[:, None] == columns) - 2 * special
    return weights


def _plain_names(grid: Grid, pick: Pick) -> tuple[str, str]:
    """The chosen row and column as in a menu: without quotation marks."""
    sides = ((grid.rows, pick.row), (grid.columns, pick.column))
    labels = [[item.label for item in items] for items, _ in sides]
    one, other = (
        occurrence(names[i], items[i].positions[0], names, _IN_TITLE)
        for names, (items, i) in zip(labels, sides, strict=True)
    )
    return one, other


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
