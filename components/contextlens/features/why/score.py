"""The score of two sentences that Why alike? explains: sides, vectors, runs with changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.shares import (
    Doubles,
    Shares,
    Unit,
    is_word,
    shares_of,
    units_of,
    vector_of,
)
from contextlens.analysis.tokens import labels
from contextlens.analysis.words import token_positions
from contextlens.content.language import say
from contextlens.content.wording import listed_names, occurrence, placed
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.errors import RequestError
from contextlens.core.schema import Counted, Intervention, Passport, Tokens, Vocabulary
from contextlens.core.words import Span
from contextlens.features.why.controls import FIRST, SECOND, VECTOR_KIND
from contextlens.ui.state.view import Sentence, ViewState, letter
from contextlens.ui.widgets.comparison.compute import chosen_span
from contextlens.ui.widgets.unread import unknown_positions

SCORE_FORMULA = r"""
**The score.** With $h_i$ and $g_j$ the hidden states of the two sentences at a layer, and weights
$w_i$, $v_j$ that sum to 1 (equal for all real tokens, special ones included; or for [CLS] alone; or
for the tokens of a word):

$$a = \sum_i w_i h_i, \qquad b = \sum_j v_j g_j, \qquad \cos(a, b) = \frac{a \cdot b}{|a|\,|b|}$$
"""

# --- The compared vector of a text

VectorKind = Literal["mean", "cls", "word"]
"""The mean over all tokens but padding; the first token; the mean over a word's tokens."""
VECTOR_KINDS: tuple[VectorKind, ...] = get_args(VectorKind)


def weights_of(tokens: Tokens, kind: VectorKind, span: Span | None = None) -> Doubles:
    """(n_tokens,) float64 the weight of each token; the weights sum to 1.

    Args:
        tokens: the text's tokens.
        kind: the vector to compare.
        span: the span of the chosen word in the text; only needed for a word.

    Raises:
        RequestError: no word is chosen, or the model does not read it.
    """
    if kind == "word":
        if span is None:
            raise RequestError("No word of this sentence is chosen. Choose one.")
        return _even(token_positions(tokens, span), tokens.n_tokens)
    real = np.flatnonzero(tokens.attention_mask)
    return _even(real[:1] if kind == "cls" else real, tokens.n_tokens)


def _even(positions: NDArray[np.int64], n_tokens: int) -> Doubles:
    weights = np.zeros(n_tokens)
    weights[positions] = 1 / len(positions)
    return weights


def cosine(first: Doubles, second: Doubles) -> float:
    """The cosine of two vectors in [-1, 1]; 0 if one has length zero."""
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return 0.0 if lengths == 0 else float(np.clip(first @ second / lengths, -1.0, 1.0))


# --- Runs of the model with changes

_STATES_BYTES = 1 << 26
"""Maximum bytes of hidden states in memory at a time."""


@dataclass(frozen=True)
class ModelRun:
    """One run of the model.

    Attributes:
        text, pair: the input.
        weigh: takes the text's tokens and returns their weights, (n_tokens,).
        interventions: the changes inside the model.
    """

    text: str
    pair: str | None
    weigh: Callable[[Tokens], Doubles]
    interventions: tuple[Intervention, ...] = ()


def vectors_of(
    runs: Sequence[ModelRun],
    service: EncoderService,
    card: ModelCard,
    *,
    layer: int,
    baseline: Sequence[str] = (),
    progress: Counted | None = None,
) -> list[Doubles]:
    """The vector of each run at a layer, in the order of the runs.

    Args:
        runs: the runs.
        service: runs the model; preferably without a cache.
        card: the model's card.
        layer: the layer of the hidden states.
        baseline: texts whose tokens give the mean output, for parts that are set to their mean.
        progress: receives the number of finished runs; an exception that it raises ends the work.
    """
    vectors: list[Doubles] = []
    for portion in _portions(runs, service, card):
        done = len(vectors)
        encodings = service.intervene(
            card.id,
            [run.text for run in portion],
            [run.interventions for run in portion],
            pairs=[run.pair for run in portion],
            layers=[layer],
            baseline=baseline,
            progress=None if progress is None else _counting_from(done, len(runs), progress),
        )
        vectors += [
            vector_of(encoding.layer(layer), run.weigh(encoding))
            for run, encoding in zip(portion, encodings, strict=True)
        ]
    return vectors


def _counting_from(n_before: int, n: int, progress: Counted) -> Counted:
    return lambda n_done, _: progress(n_before + n_done, n)


def _portions(
    runs: Sequence[ModelRun], service: EncoderService, card: ModelCard
) -> Iterator[Sequence[ModelRun]]:
    """The runs in order, in portions that fit in memory."""
    inputs = list(dict.fromkeys((run.text, run.pair) for run in runs))
    texts, pairs = [text for text, _ in inputs], [pair for _, pair in inputs]
    n_tokens = [tokens.n_tokens for tokens in service.tokenize(card.id, texts, pairs=pairs)]
    lengths = dict(zip(inputs, n_tokens, strict=True))
    max_tokens = max(1, _STATES_BYTES // (4 * card.n_dims))
    start, n_held = 0, 0
    for i, run in enumerate(runs):
        length = lengths[run.text, run.pair]
        if i > start and n_held + length > max_tokens:
            yield runs[start:i]
            start, n_held = i, 0
        n_held += length
    if start < len(runs):
        yield runs[start:]


# --- The score that the page explains


@dataclass(frozen=True)
class NoScore:
    """The reason why two sentences cannot be compared, and what to do: one plain sentence."""

    problem: str


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two sentences.

    Attributes:
        index: its index among the view's sentences.
        sentence: the sentence in the view.
        encoding: its encoding, with all layers.
        weights: (n_tokens,) float64 the weight of each token; they sum to 1.
        labels: the text written on each token.
        units: its words and special tokens, in order.
        unknown: the positions of its unknown tokens.
    """

    index: int
    sentence: Sentence
    encoding: Encoding
    weights: Doubles
    labels: tuple[str, ...]
    units: tuple[Unit, ...]
    unknown: frozenset[int] = frozenset()

    @property
    def letter(self) -> str:
        """The sentence's letter."""
        return letter(self.index)

    @property
    def word(self) -> str:
        """The chosen word as written; "" if there is none."""
        span = chosen_span(self.sentence)
        return "" if span is None else self.sentence.text[slice(*span)]

    @property
    def is_unread(self) -> bool:
        """True if the model knows no token of the compared word, or else of the text."""
        own = self.encoding.text_ids >= 0
        compared = own & (self.weights != 0)
        return self.unknown.issuperset(np.flatnonzero(compared if compared.any() else own).tolist())

    @property
    def words(self) -> tuple[Unit, ...]:
        """Its words, without special tokens."""
        return tuple(filter(is_word, self.units))

    @property
    def n_truncated(self) -> int:
        """The number of tokens that did not fit the model."""
        return self.encoding.n_truncated

    @property
    def lean(self) -> Side:
        """The side without hidden states; it has no vector."""
        encoding = replace(self.encoding, hidden=self.encoding.hidden[:0].copy(), layers=())
        return replace(self, encoding=encoding)

    def vector(self, layer: int) -> Doubles:
        """(n_dims,) float64 its compared vector at a layer."""
        return vector_of(self.encoding.layer(layer), self.weights)

    def quoted(self, unit: Unit) -> str:
        """One of its words for a sentence, with its position if the word occurs twice."""
        return placed(unit.label, unit.positions[0], [other.label for other in self.units])

    def titled(self, unit: Unit) -> str:
        """One of its words for a title, with its position if the word occurs twice."""
        return occurrence(unit.label, unit.positions[0], [other.label for other in self.units])


@dataclass(frozen=True, eq=False)
class Score:
    """A cosine to be explained.

    Attributes:
        card: the model's card.
        vector_kind: the kind of vector that is compared.
        layer: the selected layer; by default the last.
        first, second: the two sentences; they may be the same.
        cosines: (n_layers + 1,) float64 the cosine at each layer.
    """

    card: ModelCard
    vector_kind: VectorKind
    layer: int
    first: Side
    second: Side
    cosines: Doubles

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sentences."""
        return self.first, self.second

    @property
    def cosine(self) -> float:
        """The score itself."""
        return float(self.cosines[self.layer])

    @property
    def are_equal(self) -> bool:
        """True if the model reads the same tokens and the same ones are compared."""
        first, second = self.sides
        ours, theirs = first.encoding, second.encoding
        segments = ours.token_type_ids, theirs.token_type_ids
        return (
            np.array_equal(ours.token_ids, theirs.token_ids)
            and np.array_equal(first.weights, second.weights)
            and all(np.array_equal(a, b) for a, b in [segments] if a is not None and b is not None)
        )

    @property
    def unread_letters(self) -> str:
        """The sentences of which the model knows no compared token; "" for none."""
        letters = dict.fromkeys(side.letter for side in self.sides if side.is_unread)
        return listed_names(list(letters))

    @property
    def wordless_letters(self) -> tuple[str, ...]:
        """The sentences without a word that the model reads, with special tokens alone."""
        return tuple(dict.fromkeys(side.letter for side in self.sides if not side.words))

    @property
    def token_shares(self) -> Shares:
        """(n_tokens of the first, n_tokens of the second) shares of the score, at its layer."""
        first, second = (side.encoding.layer(self.layer) for side in self.sides)
        return shares_of(first, second, self.first.weights, self.second.weights)

    @property
    def key(self) -> Hashable:
        """A key that is equal for equal scores of sentences with the same letters."""
        is_of_word = self.vector_kind == "word"
        texts = tuple(
            (
                side.index,
                side.encoding.text,
                side.encoding.pair,
                chosen_span(side.sentence) if is_of_word else None,
            )
            for side in self.sides
        )
        return (self.card.id, self.card.checksum, self.vector_kind, self.layer, texts)

    @property
    def lean(self) -> Score:
        """The score without hidden states, for results that are stored."""
        return replace(self, first=self.first.lean, second=self.second.lean)

    @cached_property
    def passport(self) -> Passport:
        """The passport behind the numbers, with this page's own settings."""
        encoding_passport = self.first.encoding.passport
        options: dict[str, Any] = {"compared": self.vector_kind, "layer": self.layer}
        return replace(encoding_passport, settings={**encoding_passport.settings, **options})


def score_of(view: ViewState, service: EncoderService, card: ModelCard) -> Score | NoScore:
    """The score that a view asks for, or the reason why there is none.

    Raises:
        ContextlensError: the model cannot be used, or cannot read the text.
    """
    if not view.sentences:
        return NoScore(say("why.missing.none"))
    if len(view.sentences) < 2:
        return NoScore(say("why.missing.alone"))
    kind = cast(VectorKind, VECTOR_KIND.of(view))
    indices = compared_indices(view)
    problem = next(filter(None, (problem_of(view, i, kind) for i in indices)), "")
    if problem:
        return NoScore(problem)
    chosen = [view.sentences[i] for i in indices]
    encodings = service.encode(
        card.id,
        [sentence.text for sentence in chosen],
        pairs=[sentence.pair for sentence in chosen],
    )
    vocabulary = service.vocabulary(card.id)
    try:
        sides = [
            side_of(view, i, encoding, kind, vocabulary)
            for i, encoding in zip(indices, encodings, strict=True)
        ]
    except RequestError as exc:
        return NoScore(str(exc))
    layers = range(card.n_layers + 1)
    return Score(
        card=card,
        vector_kind=kind,
        layer=view.layer_among(layers),
        first=sides[0],
        second=sides[1],
        cosines=np.array([cosine(*(side.vector(n) for side in sides)) for n in layers]),
    )


def side_of(
    view: ViewState, index: int, encoding: Encoding, kind: VectorKind, vocabulary: Vocabulary
) -> Side:
    """One sentence of a view with its encoding.

    Raises:
        RequestError: no word is chosen in it, or the model does not read the word.
    """
    sentence = view.sentences[index]
    weights = weights_of(encoding, kind, chosen_span(sentence))
    names, unknown = labels(encoding, vocabulary), unknown_positions(encoding, vocabulary)
    return Side(index, sentence, encoding, weights, names, units_of(encoding), frozenset(unknown))


def compared_indices(view: ViewState) -> tuple[int, int]:
    """The indices of the two compared sentences, maybe equal; the first two if one was removed."""
    letters = [letter(i) for i in range(len(view.sentences))]
    first, second = (control.of(view) for control in (FIRST, SECOND))
    if first not in letters or second not in letters:
        return 0, 1
    return letters.index(first), letters.index(second)


def problem_of(view: ViewState, index: int, kind: VectorKind) -> str:
    """The reason why a sentence cannot be compared, and what to do; "" for none."""
    sentence = view.sentences[index]
    if not sentence.text.strip():
        return say("why.missing.empty", letter=letter(index))
    if kind == "word" and chosen_span(sentence) is None:
        return say("why.missing.word", letter=letter(index))
    return ""
