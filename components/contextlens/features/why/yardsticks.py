"""The yardsticks of a score: random pairs of English sentences, or the ruler for words.

All yardsticks are English, so a score of texts in another language has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from plotly.graph_objects import Figure

from contextlens.analysis.baseline import Band, Baseline, kind_of
from contextlens.analysis.english import is_english
from contextlens.analysis.ruler import Range, Ruler
from contextlens.analysis.shares import Doubles, vector_of
from contextlens.analysis.similarity import cosine_matrix
from contextlens.content.bundled_texts import baseline_sentences
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import span
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import FloatArray
from contextlens.features.why.score import VECTOR_KINDS, Score, VectorKind, weights_of
from contextlens.figures.ruler import Stretch, line_ruler, ruler_figure
from contextlens.jobs import JobKind, Task
from contextlens.ui.models.tasks import kept
from contextlens.ui.panel import Panel
from contextlens.ui.widgets.comparison.ruler import pair_on_ruler

# --- Random pairs of sentences

_SAMPLE_NAME = "English sentences"
_FORMAT = 1
"""Part of the names of files: raised when the measurement changes."""
_BATCH_SIZE = 65  # sentences: all at once would take much memory
MEASURES = JobKind(
    "models to measure random sentences in",
    n_at_once=1,
    n_waiting=30,
    n_waiting_each=4,
    first_words="Measuring how alike random sentences are in this model",
)
"""Separate from the explanations, none of which waits for it."""


@dataclass(frozen=True, eq=False)
class SentencePairs:
    """The cosines of all pairs of sample sentences.

    Attributes:
        mean: (3, n_layers) 5th percentile, mean and 95th percentile for mean vectors.
        cls: as `mean`, for vectors of the first token.
    """

    mean: FloatArray
    cls: FloatArray

    def band(self, kind: VectorKind) -> Band | None:
        """Return the band of one kind of sentence vector; None for words."""
        ends = {"mean": self.mean, "cls": self.cls}.get(kind)
        return None if ends is None else Band(ends[0], ends[1], ends[2], _SAMPLE_NAME)


def random_pairs_task(service: EncoderService, card: ModelCard, folder: Path) -> Task:
    """Return the job that reads a `SentencePairs` from a folder, or measures and keeps it."""
    path = folder / "baselines" / f"{card.checksum[:32]}-{_FORMAT}-sentences.npz"
    return Task(
        ("why", "random pairs", card.id, card.checksum),
        MEASURES,
        lambda _: kept(
            "random pairs of sentences",
            SentencePairs,
            path,
            lambda: random_pairs(service, card),
            fits=lambda stored: stored.mean.shape == (3, card.n_layers + 1),
        ),
    )


def random_pairs(service: EncoderService, card: ModelCard) -> SentencePairs:
    """Return the pairs of sample sentences, measured in a model: half a second for a small one."""
    texts = baseline_sentences()
    vectors: dict[VectorKind, list[Doubles]] = {kind: [] for kind in VECTOR_KINDS if kind != "word"}
    for start in range(0, len(texts), _BATCH_SIZE):
        portion = texts[start : start + _BATCH_SIZE]
        for encoding in service.encode(card.id, portion, checksum=card.checksum):
            for kind, kind_vectors in vectors.items():
                kind_vectors.append(vector_of(encoding.hidden, weights_of(encoding, kind)))
    bands = {kind: _band(np.stack(kind_vectors, axis=1)) for kind, kind_vectors in vectors.items()}
    return SentencePairs(bands["mean"], bands["cls"])


def _band(vectors: Doubles) -> FloatArray:
    """(3, n_layers) 5th percentile, mean, 95th percentile of (n_layers, n_sentences, n_dims)."""
    first, second = np.triu_indices(vectors.shape[1], 1)
    rows = []
    for layer in vectors:
        cosines = cosine_matrix(layer)[first, second]
        rows.append((np.percentile(cosines, 5), cosines.mean(), np.percentile(cosines, 95)))
    return np.array(rows, np.float32).T


# --- The yardsticks of one score

_WORDS_HEIGHT = 140  # pixels, for ranges of several kinds


@dataclass(frozen=True, eq=False)
class Yardsticks(Panel):
    """A score on its ruler, beside the yardsticks that are known and fit.

    Attributes:
        score: the score.
        ranges: the ranges of pairs of known kinds, at the score's layer.
        middle: the middle value of a range: "mean" or "median".
        lowest: the lowest end of a range: for words at the score's layer, else at any layer.
        band: random pairs of the same kind at each layer.
        is_english: True if both texts are English, as those of all yardsticks are.
    """

    score: Score
    ranges: tuple[Range, ...] = ()
    middle: str = ""
    lowest: float = 0.0
    band: Band | None = None
    is_english: bool = True

    def figure(self) -> Figure:
        """Return the score on its ruler."""
        cosine, lowest = self.score.cosine, float(self.score.cosines.min())
        scale = (min(-0.2, self.lowest, lowest), 1.0)
        if len(self.ranges) > 1:
            return ruler_figure(
                self.ranges, cosine, scale=scale, middle=self.middle, height=_WORDS_HEIGHT
            )
        usual = [Stretch(say("why.score.random"), r.low, r.high) for r in self.ranges]
        same = Stretch(say("why.score.same"), 1.0, 1.0)
        return line_ruler([*usual, same], cosine, scale=scale)

    def alt(self) -> str:
        """Return the score and the ranges as text."""
        ends = "; ".join(f"{r.kind}: {span([r.low, r.high])}" for r in self.ranges)
        return say("why.score.alt", cosine=self.score.cosine, ranges=ends).strip()

    @property
    def name(self) -> str:
        """The name of the score: the kind of vector and the layer."""
        layer = self.score.layer
        if self.score.vector_kind == "cls":
            return say("why.score.name_cls", first=self.score.first.encoding.tokens[0], layer=layer)
        is_of_words = self.score.vector_kind == "word"
        return say("why.score.name_word" if is_of_words else "why.score.name_mean", layer=layer)

    def claims(self) -> tuple[Claim]:
        """Return the similarity, compared with that of random pairs."""
        score, cosine = self.score, self.score.cosine
        letters = {"a": score.first.letter, "b": score.second.letter}
        if unread := score.unread_letters:
            return (claim("why.score.unread", cosine=cosine, letters=unread),)
        if score.are_equal:
            return (claim("why.score.equal", cosine=cosine, **letters),)
        if not self.is_english:
            return (claim("why.score.foreign", cosine=cosine),)
        if self.band is None:
            return (claim("why.score.unknown", cosine=cosine, layer=score.layer, **letters),)
        low, high = (float(end[score.layer]) for end in (self.band.low, self.band.high))
        rounded, first, last = (round(value, 2) for value in (cosine, low, high))
        verdict = "above" if rounded > last else "below" if rounded < first else "within"
        kind = self.band.of
        usual = span([low, high])
        return (claim(f"why.score.{verdict}", cosine=cosine, kind=kind, usual=usual),)


def are_english(score: Score) -> bool:
    """Return True if the texts of both sentences are English, so that the yardsticks fit."""
    texts = [text for side in score.sides for text in (side.sentence.text, side.sentence.pair)]
    return all(is_english(text) for text in texts if text and text.strip())


def yardsticks_of(
    score: Score, pairs: SentencePairs | None, baseline: Baseline | None, ruler: Ruler | None
) -> Yardsticks:
    """Return the yardsticks of a score.

    Args:
        score: the score.
        pairs: random pairs of sentences, for a score of sentences.
        baseline: random pairs of words, for a score of words.
        ruler: labelled words, for a score of words.
    """
    if not are_english(score):
        return Yardsticks(score, is_english=False)
    if score.vector_kind != "word":
        return _of_band(score, None if pairs is None else pairs.band(score.vector_kind))
    kind = kind_of(*(int((side.weights != 0).sum()) for side in score.sides))
    band = None if baseline is None else baseline.band("mean", centred=False, kind=kind)
    if ruler is None:
        return _of_band(score, band)
    words = [side.word for side in score.sides]
    ruled = pair_on_ruler(words, score.cosine, ruler, at=(score.layer, "mean"), band=band)
    if ruled is not None:
        lowest = min((r.low for r in ruled.ranges), default=0.0)
        return Yardsticks(score, ruled.ranges, "median", lowest, band)
    return _of_band(score, band)


def _of_band(score: Score, band: Band | None) -> Yardsticks:
    if band is None:
        return Yardsticks(score)
    low, mean, high = (float(values[score.layer]) for values in (band.low, band.mean, band.high))
    ranges = (Range(f"random {band.of}", low, mean, high, 0),)
    return Yardsticks(score, ranges, "mean", float(band.low.min()), band)
