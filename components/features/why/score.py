"""The score of two sentences that Why alike? explains, and its yardsticks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from components.analysis.baseline import Band
from components.analysis.similarity import cosine_matrix
from components.analysis.tokens import labels
from components.content.bundled_texts import baseline_sentences
from components.content.language import say
from components.core import EncoderService, Encoding, ModelCard
from components.core.errors import RequestError
from components.core.schema import Counted, Intervention, Passport, Tokens
from components.features.why.controls import FIRST, SECOND, WHAT
from components.features.why.measures import (
    WHATS,
    Doubles,
    Unit,
    What,
    cosine,
    is_word,
    units_of,
    vector_of,
    weights_of,
)
from components.ui.state.controls import Choice
from components.ui.state.view import Sentence, ViewState, letter
from components.ui.widgets.comparison.compute import chosen_span

__all__ = [
    "Missing",
    "Run",
    "Score",
    "SentencePairs",
    "Side",
    "problem_of",
    "random_pairs",
    "score_of",
    "side_of",
    "vectors_of",
]


# --- The cosines of unrelated sentences

_OF = "English sentences"
_AT_ONCE = 65


@dataclass(frozen=True, eq=False)
class SentencePairs:
    """The cosines of all pairs of sample sentences.

    Attributes:
        mean, cls: those of their sentence vectors of either kind, at each layer.
        n_sentences: the number of sentences.
    """

    mean: Band
    cls: Band
    n_sentences: int

    def band(self, what: What) -> Band | None:
        """The band of one kind of sentence vector; None for words, whose pairs are elsewhere."""
        return {"mean": self.mean, "cls": self.cls}.get(what)

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(b.low.nbytes * 3 for b in (self.mean, self.cls))


def random_pairs(service: EncoderService, card: ModelCard) -> SentencePairs:
    """Measure the random pairs of a model: half a second for a small one, once."""
    texts = baseline_sentences()
    vectors: dict[What, list[Doubles]] = {what: [] for what in WHATS if what != "word"}
    for start in range(0, len(texts), _AT_ONCE):  # all layers of all tokens would take much memory
        some = texts[start : start + _AT_ONCE]
        for encoding in service.encode(card.id, some, checksum=card.checksum):
            for what, own in vectors.items():
                own.append(vector_of(encoding.hidden, weights_of(encoding, what)))
    bands = {what: _band(np.stack(own, axis=1)) for what, own in vectors.items()}
    return SentencePairs(bands["mean"], bands["cls"], len(texts))


def _band(vectors: Doubles) -> Band:
    """The band of (n_layers, n_sentences, n_dims) vectors."""
    first, second = np.triu_indices(vectors.shape[1], 1)
    rows = []
    for layer in vectors:
        cosines = cosine_matrix(layer)[first, second]
        rows.append((np.percentile(cosines, 5), cosines.mean(), np.percentile(cosines, 95)))
    low, mean, high = np.array(rows, np.float32).T
    return Band(low, mean, high, _OF)


# --- Runs of the model with changes

_AT_ONCE_BYTES = 1 << 26
"""Maximum bytes of hidden states in memory at a time."""


@dataclass(frozen=True)
class Run:
    """One run of the model.

    Attributes:
        text, pair: the input.
        weigh: returns from the text's tokens (n_tokens,) the weight of each.
        interventions: the changes inside the model.
    """

    text: str
    pair: str | None
    weigh: Callable[[Tokens], Doubles]
    interventions: tuple[Intervention, ...] = ()


def vectors_of(
    runs: Sequence[Run],
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
        baseline: texts whose tokens give the mean of parts that are switched to their mean.
        progress: receives the number of finished runs; an exception that it raises ends the work.
    """
    found: list[Doubles] = []
    for some in _portions(runs, service, card):
        done = len(found)
        encodings = service.intervene(
            card.id,
            [run.text for run in some],
            [run.interventions for run in some],
            pairs=[run.pair for run in some],
            layers=[layer],
            baseline=baseline,
            progress=None if progress is None else _from(done, len(runs), progress),
        )
        found += [
            vector_of(encoding.layer(layer), run.weigh(encoding))
            for run, encoding in zip(some, encodings, strict=True)
        ]
    return found


def _from(n_before: int, n: int, progress: Counted) -> Counted:
    return lambda done, _: progress(n_before + done, n)


def _portions(
    runs: Sequence[Run], service: EncoderService, card: ModelCard
) -> Iterator[Sequence[Run]]:
    """The runs in order, in portions that fit in memory."""
    texts = {(run.text, run.pair): 0 for run in runs}
    tokens = service.tokenize(card.id, [t for t, _ in texts], pairs=[p for _, p in texts])
    texts = {key: own.n_tokens for key, own in zip(texts, tokens, strict=True)}
    most = max(1, _AT_ONCE_BYTES // (4 * card.n_dims))
    start, held = 0, 0
    for i, run in enumerate(runs):
        n_tokens = texts[run.text, run.pair]
        if i > start and held + n_tokens > most:
            yield runs[start:i]
            start, held = i, 0
        held += n_tokens
    if start < len(runs):
        yield runs[start:]


# --- The score that the page explains


@dataclass(frozen=True)
class Missing:
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
    """

    index: int
    sentence: Sentence
    encoding: Encoding
    weights: Doubles
    labels: tuple[str, ...]
    units: tuple[Unit, ...]

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


@dataclass(frozen=True, eq=False)
class Score:
    """A cosine to be explained.

    Attributes:
        card: the model's card.
        what: the vector to compare.
        layer: the selected layer; by default the last.
        first, second: the two sentences; they may be the same.
        cosines: (n_layers + 1,) float64 the cosine at each layer.
    """

    card: ModelCard
    what: What
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
        one, other = self.sides
        ours, theirs = one.encoding, other.encoding
        segments = ours.token_type_ids, theirs.token_type_ids
        return (
            np.array_equal(ours.token_ids, theirs.token_ids)
            and np.array_equal(one.weights, other.weights)
            and all(np.array_equal(a, b) for a, b in [segments] if a is not None and b is not None)
        )

    @property
    def name(self) -> str:
        """The name of the comparison, for titles and files: "A ~ B"."""
        return f"{self.first.letter} ~ {self.second.letter}"

    @property
    def key(self) -> Hashable:
        """A key that is equal for equal scores."""
        spans = (chosen_span(s.sentence) if self.what == "word" else None for s in self.sides)
        texts = tuple(
            (side.encoding.text, side.encoding.pair, span)
            for side, span in zip(self.sides, spans, strict=True)
        )
        return (self.card.id, self.card.checksum, self.what, self.layer, texts)

    @property
    def lean(self) -> Score:
        """The score without hidden states, for results that are kept."""
        return replace(self, first=self.first.lean, second=self.second.lean)

    @cached_property
    def passport(self) -> Passport:
        """The passport behind the numbers, with this page's own settings."""
        encoded = self.first.encoding.passport
        own: dict[str, Any] = {"compared": self.what, "layer": self.layer}
        return replace(encoded, settings={**encoded.settings, **own})


def score_of(view: ViewState, service: EncoderService, card: ModelCard) -> Score | Missing:
    """The score that a view asks for, or the reason why there is none.

    Raises:
        ContextlensError: the model cannot be used, or cannot read the text.
    """
    if not view.sentences:
        return Missing(say("why.missing.none"))
    if len(view.sentences) < 2:
        return Missing(say("why.missing.alone"))
    what = cast(What, WHAT.of(view))
    indices = (_index(view, FIRST), _index(view, SECOND))
    problem = next(filter(None, (problem_of(view, i, what) for i in indices)), "")
    if problem:
        return Missing(problem)
    chosen = [view.sentences[i] for i in indices]
    encodings = service.encode(
        card.id, [s.text for s in chosen], pairs=[sentence.pair for sentence in chosen]
    )
    vocabulary = service.vocabulary(card.id)
    try:
        sides = [
            side_of(view, i, encoding, what, labels(encoding, vocabulary))
            for i, encoding in zip(indices, encodings, strict=True)
        ]
    except RequestError as exc:
        return Missing(str(exc))
    layers = range(card.n_layers + 1)
    return Score(
        card=card,
        what=what,
        layer=view.layer_among(layers),
        first=sides[0],
        second=sides[1],
        cosines=np.array([cosine(*(side.vector(n) for side in sides)) for n in layers]),
    )


def side_of(
    view: ViewState, index: int, encoding: Encoding, what: What, names: tuple[str, ...]
) -> Side:
    """One sentence of a view with its encoding.

    Raises:
        RequestError: no word is chosen in it, or the model does not read the word.
    """
    sentence = view.sentences[index]
    weights = weights_of(encoding, what, chosen_span(sentence))
    return Side(index, sentence, encoding, weights, names, units_of(encoding))


def _index(view: ViewState, control: Choice) -> int:
    """The index of the chosen sentence; if it is gone, the control's default, or the last."""
    letters = [letter(i) for i in range(len(view.sentences))]
    return letters.index(control.among(letters).of(view))


def problem_of(view: ViewState, index: int, what: What) -> str:
    """The reason why a sentence cannot be compared, and what to do; "" for none."""
    sentence = view.sentences[index]
    if not sentence.text.strip():
        return say("why.missing.empty", letter=letter(index))
    if what == "word" and chosen_span(sentence) is None:
        return say("why.missing.word", letter=letter(index))
    return ""
