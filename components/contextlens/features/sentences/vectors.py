"""The vectors of texts by every way to make one vector of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from contextlens.analysis.separation import scaled
from contextlens.content.bundled_texts import N_EVERYDAY, baseline_sentences
from contextlens.content.language import table
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import Encoding, FloatArray, IntArray, Passport
from contextlens.jobs import Report, Task, page_work
from contextlens.maps.request import GIVEN
from contextlens.maps.vectors import RECIPE, sentence_vectors

LAST_FOUR = "last_four"
POOLINGS = ("cls", "mean", "own", "max", "pooler", LAST_FOUR, RECIPE)
"""Ways to make one vector of a text, in the order of the page."""
WORK = page_work("texts to make vectors of", "Reading the texts", large_seconds=10.0)
_N_LAST = 4
_N_TEXTS = 64  # texts encoded at a time
_N_CHARACTERS = 4.0  # of a token, on average


@dataclass(frozen=True, eq=False)
class TextVectors:
    """Vectors of texts by every way that their model offers.

    Attributes:
        by_pooling: (n_texts, n_dims) float32 for each way.
        passport: that of the encodings.
        n_cut: the number of texts whose end did not fit the model.
    """

    by_pooling: Mapping[str, FloatArray]
    passport: Passport
    n_cut: int

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(vectors.nbytes for vectors in self.by_pooling.values())


def poolings_of(card: ModelCard) -> tuple[str, ...]:
    """The ways that a model offers: the pooler if it is trained, a recipe if there is one."""
    left_out = set()
    if card.provenance.pooler.state != "trained":
        left_out.add("pooler")
    if card.recipe is None:
        left_out.add(RECIPE)
    return tuple(pooling for pooling in POOLINGS if pooling not in left_out)


def layers_of(card: ModelCard) -> tuple[int, ...]:
    """The last four layers; fewer if the model has fewer."""
    return tuple(range(max(1, card.n_layers + 1 - _N_LAST), card.n_layers + 1))


def name_of(pooling: str) -> str:
    """The name of a way within a sentence."""
    return str(table("sentences.pooling")[pooling])


def title_of(pooling: str) -> str:
    """The name of a way by itself."""
    return str(table("sentences.title")[pooling])


def vectors_of(encoding: Encoding, poolings: Sequence[str]) -> dict[str, FloatArray]:
    """A text's vector (n_dims,) by each way but the model's own recipe.

    Args:
        encoding: the text at the layers of `layers_of`.
        poolings: some of `POOLINGS`.
    """
    vectors: dict[str, FloatArray] = {}
    for pooling in poolings:
        if pooling == LAST_FOUR:
            vectors[pooling] = sentence_vectors(encoding, "mean").mean(axis=0)
        elif pooling != RECIPE:
            vectors[pooling] = sentence_vectors(encoding, pooling)[-1]
    return vectors


def recipe_equals(by_pooling: Mapping[str, FloatArray]) -> str:
    """Return the way whose vectors of these texts have the recipe's directions; "" if none has."""
    if RECIPE not in by_pooling:
        return ""
    units = {pooling: scaled(rows) for pooling, rows in by_pooling.items() if pooling != GIVEN}
    recipe = units.pop(RECIPE)
    same = (p for p, rows in units.items() if rows.shape == recipe.shape and _equal(rows, recipe))
    return next(same, "")


def _equal(first: FloatArray, second: FloatArray) -> bool:
    return bool(np.allclose(first, second, atol=1e-5))


def nearest(cosines: FloatArray) -> IntArray:
    """(n,) the other text that is nearest to each, from (n, n) cosines."""
    others = np.where(np.eye(len(cosines), dtype=bool), -np.inf, cosines)
    neighbours: IntArray = others.argmax(axis=1)
    return neighbours


def encode_texts(
    texts: Sequence[str],
    card: ModelCard,
    service: EncoderService,
    *,
    pairs: Sequence[str | None] | None = None,
    report: Report | None = None,
) -> TextVectors:
    """Return the vectors of one or more texts."""
    poolings, n_cut = poolings_of(card), 0
    vectors: dict[str, list[FloatArray]] = {pooling: [] for pooling in poolings}
    options: dict[str, Any] = {"checksum": card.checksum}
    for at in range(0, len(texts), _N_TEXTS):
        if report is not None:
            report("Reading the texts", at / len(texts))
        batch, end = list(texts[at : at + _N_TEXTS]), at + _N_TEXTS
        both = None if pairs is None else list(pairs[at:end])
        encodings = service.encode(card.id, batch, pairs=both, layers=layers_of(card), **options)
        for encoding in encodings:
            n_cut += encoding.n_truncated > 0
            for pooling, vector in vectors_of(encoding, poolings).items():
                vectors[pooling].append(vector)
        if RECIPE in vectors:
            by_recipe = service.sentence_vectors(card.id, batch, pairs=both, **options)
            vectors[RECIPE].extend(made.vector for made in by_recipe)
    stacked = {pooling: np.stack(rows) for pooling, rows in vectors.items()}
    prompt = "" if card.recipe is None else card.recipe.prompt(None)
    return TextVectors(stacked, encodings[0].passport.with_prompt(prompt), n_cut)


def vectors_task(
    name: str,
    texts: Sequence[str],
    card: ModelCard,
    service: EncoderService,
    *,
    token_seconds: float,
) -> Task:
    """A task that returns the `TextVectors` of texts.

    Args:
        name: identifies the texts.
        texts: the texts.
        card: the model's card.
        service: encodes each text once, so preferably without a cache.
        token_seconds: the expected duration of a token.
    """
    n_tokens = sum(2 + min(len(text) / _N_CHARACTERS, card.max_length) for text in texts)
    n_runs = 1 if card.recipe is None else 2
    return Task(
        ("sentences", name, card.id, card.checksum),
        WORK,
        lambda report: encode_texts(texts, card, service, report=report),
        size=n_tokens * n_runs * token_seconds,
    )


def random_task(card: ModelCard, service: EncoderService, *, token_seconds: float) -> Task:
    """A task that returns the `TextVectors` of everyday sentences."""
    texts = baseline_sentences()[:N_EVERYDAY]
    return vectors_task("everyday sentences", texts, card, service, token_seconds=token_seconds)
