"""The score of two sentences that Why alike? explains, and its yardsticks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from contextlens.analysis.baseline import Band
from contextlens.analysis.shares import Doubles, Unit, is_word, units_of, vector_of
from contextlens.analysis.similarity import cosine_matrix
from contextlens.analysis.tokens import labels
from contextlens.content.bundled_texts import baseline_sentences
from contextlens.content.language import say
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.errors import RequestError
from contextlens.core.schema import Counted, Intervention, Passport, Tokens, Vocabulary
from contextlens.features.why.controls import FIRST, SECOND, VECTOR_KIND
from contextlens.features.why.measures import VECTOR_KINDS, VectorKind, cosine, weights_of
from contextlens.ui.state.view import Sentence, ViewState, letter
from contextlens.ui.widgets.comparison.compute import chosen_span
from contextlens.ui.widgets.unread import unknown_positions

# --- The cosines of unrelated sentences

_SAMPLE_NAME = "English sentences"
_N_AT_ONCE = 65


@dataclass(frozen=True, eq=False)
class SentencePairs:
    """The cosines of all pairs of sample sentences.

    Attributes:
        mean, cls: the bands for mean vectors and for vectors of the first token, at each layer.
        n_sentences: the number of sentences.
    """

    mean: Band
    cls: Band
    n_sentences: int

    def band(self, kind: VectorKind) -> Band | None:
        """The band of one kind of sentence vector; None for words."""
        return {"mean": self.mean, "cls": self.cls}.get(kind)

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(b.low.nbytes * 3 for b in (self.mean, self.cls))


def random_pairs(service: EncoderService, card: ModelCard) -> SentencePairs:
    """Measure the pairs of sample sentences in a model: half a second for a small one."""
    texts = baseline_sentences()
    vectors: dict[VectorKind, list[Doubles]] = {kind: [] for kind in VECTOR_KINDS if kind != "word"}
    for start in range(0, len(texts), _N_AT_ONCE):  # all at once would take much memory
        portion = texts[start : start + _N_AT_ONCE]
        for encoding in service.encode(card.id, portion, checksum=card.checksum):
            for kind, kind_vectors in vectors.items():
                kind_vectors.append(vector_of(encoding.hidden, weights_of(encoding, kind)))
    bands = {kind: _band(np.stack(kind_vectors, axis=1)) for kind, kind_vectors in vectors.items()}
    return SentencePairs(bands["mean"], bands["cls"], len(texts))


def _band(vectors: Doubles) -> Band:
    """The band of (n_layers, n_sentences, n_dims) vectors."""
    first, second = np.triu_indices(vectors.shape[1], 1)
    rows = []
    for layer in vectors:
        cosines = cosine_matrix(layer)[first, second]
        rows.append((np.percentile(cosines, 5), cosines.mean(), np.percentile(cosines, 95)))
    low, mean, high = np.array(rows, np.float32).T
    return Band(low, mean, high, _SAMPLE_NAME)


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
    most = max(1, _STATES_BYTES // (4 * card.n_dims))
    start, n_held = 0, 0
    for i, run in enumerate(runs):
        length = lengths[run.text, run.pair]
        if i > start and n_held + length > most:
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
    def name(self) -> str:
        """The name of the comparison, for titles and files: "A ~ B"."""
        return f"{self.first.letter} ~ {self.second.letter}"

    @property
    def key(self) -> Hashable:
        """A key that is equal for equal scores."""
        is_of_word = self.vector_kind == "word"
        texts = tuple(
            (
                side.encoding.text,
                side.encoding.pair,
                chosen_span(side.sentence) if is_of_word else None,
            )
            for side in self.sides
        )
        return (self.card.id, self.card.checksum, self.vector_kind, self.layer, texts)

    @property
    def lean(self) -> Score:
        """The score without hidden states, for results that are kept."""
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
    """The indices of the two compared sentences, maybe equal; the default if one was removed."""
    letters = [letter(i) for i in range(max(1, len(view.sentences)))]
    first, second = (letters.index(control.among(letters).of(view)) for control in (FIRST, SECOND))
    return first, second


def problem_of(view: ViewState, index: int, kind: VectorKind) -> str:
    """The reason why a sentence cannot be compared, and what to do; "" for none."""
    sentence = view.sentences[index]
    if not sentence.text.strip():
        return say("why.missing.empty", letter=letter(index))
    if kind == "word" and chosen_span(sentence) is None:
        return say("why.missing.word", letter=letter(index))
    return ""
