"""Probing as a background job: from labelled texts to the scores of every layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import FloatArray
from contextlens.core.threads import one_blas_thread
from contextlens.features.probe import word2vec
from contextlens.features.probe.copies import copies_of
from contextlens.features.probe.grades import GradeProbe, GradeResult, grade_score, learned_grades
from contextlens.features.probe.labelled_texts import LabelledTexts
from contextlens.features.probe.labels import LabelProbe, LabelResult, label_score, learned_from
from contextlens.features.probe.layer_scores import WORDS, Probe
from contextlens.features.probe.learning_curve import learning_curve
from contextlens.features.probe.text_vectors import OnProgress, text_vectors
from contextlens.jobs import Report, Task, page_work
from contextlens.maps.vectors import RECIPE
from contextlens.ui.state.services import settings

PROBES = page_work("probes", "Looking at the texts", large_seconds=15.0)
_READING, _LEARNING = 0.5, 0.55
"""The progress after which the texts are read, and after which the labels are learned."""
_FIT_SECONDS = 4e-8, 2e-9  # for each number of each text, and as much more for each label
_WORD2VEC_SECONDS = 1.4e-5  # for each token
_SHUFFLED_SEED = 0
_N_MORE = 7  # fits beside those of the layers: the recipe, three yardsticks, fewer texts


def run_probe(
    labelled: LabelledTexts, card: ModelCard, service: EncoderService, report: OnProgress
) -> LabelResult | GradeResult:
    """Return the scores of labelled texts; an exception from `report` ends the work.

    Raises:
        RequestError: the server's file of word vectors cannot be read.
    """
    trial, grades = labelled.trial, labelled.grades
    vectors = text_vectors(
        labelled.texts, card, service, lambda stage, share: report(stage, _READING * share)
    )
    features: list[tuple[str, int, FloatArray]] = [
        (pooling, layer, rows)
        for pooling, layers in vectors.pooled.items()
        for layer, rows in enumerate(layers)
    ]
    if vectors.recipe is not None:
        features.append((RECIPE, card.n_layers, vectors.recipe))
    contextless = {"static": vectors.static, **_word2vec(labelled.texts, report)}
    score: Callable[..., Any] = partial(label_score, trial=trial)
    if grades is not None:
        score = partial(grade_score, trial=trial, grades=grades)
    per_step = (1 - _LEARNING) / (len(features) + _N_MORE)
    with one_blas_thread():
        scores = []
        for i, (name, layer, rows) in enumerate(features):
            report("Learning the labels", _LEARNING + per_step * i)
            scores.append(score(name, rows, layer=layer))
        report("Comparing with simpler ways", _LEARNING + per_step * len(features))
        best = features[int(np.argmax([layer_score.value for layer_score in scores]))][2]
        kind = "label" if grades is None else "grade"
        passport_settings = {**vectors.passport.settings, kind: labelled.column, "test": trial.how}
        shared: dict[str, Any] = {
            "scores": tuple(scores),
            "words": score(WORDS, labelled.texts),
            "contextless": tuple(score(name, rows) for name, rows in contextless.items()),
            "shuffled": score("shuffled", best, seed=_SHUFFLED_SEED),
            "vectors": best.copy(),  # without the other layers
            "n_cut": vectors.n_cut,
            "n_copies": copies_of(labelled.texts, trial),
            "passport": replace(vectors.passport, settings=passport_settings),
        }
        if grades is not None:
            return GradeResult(**shared, guessing=0.0, learned=learned_grades(best, trial, grades))
        return LabelResult(
            **shared,
            learned=learned_from(best, trial),
            guessing=trial.chance,
            curve=learning_curve(best, trial),
        )


def _word2vec(texts: Sequence[str], report: OnProgress) -> dict[str, FloatArray]:
    """The texts by word2vec: learned from them, if gensim is there, and from the server's file."""

    def on_progress(share: float) -> None:
        report("Learning word vectors", _READING + (_LEARNING - _READING) * share)

    vectors, file = {}, settings().word_vectors
    learned = word2vec.vectors_from_texts(texts, on_progress)
    if learned is not None:
        vectors["word2vec"] = learned
    if file is not None:
        vectors["word2vec_file"] = word2vec.vectors_from_file(texts, file)
    return vectors


def seconds_of(labelled: LabelledTexts, card: ModelCard, token_seconds: float) -> float:
    """Return the expected duration of a probe, from the duration of one token."""
    n_tokens = sum(min(len(text) // 3 + 2, card.max_length) for text in labelled.texts)
    n_reads = 1 if card.recipe is None or card.recipe.is_plain_mean else 2
    trial = labelled.trial
    n_fits = trial.n_folds * (2 * (card.n_layers + 1) + _N_MORE)
    per_number = _FIT_SECONDS[0] + _FIT_SECONDS[1] * len(trial.senses)
    learning = n_fits * (0.03 + len(labelled.texts) * card.n_dims * per_number)
    return n_tokens * (n_reads * token_seconds + _WORD2VEC_SECONDS) + learning


def probe_task(
    labelled: LabelledTexts, card: ModelCard, service: EncoderService, *, seconds: float
) -> Task:
    """Return a task for a result, the same for all who probe the same texts.

    Args:
        labelled: the texts and their trial, without a problem.
        card: the model's card.
        service: encodes the texts, preferably without a cache.
        seconds: the expected duration.
    """

    def work(report: Report) -> LabelResult | GradeResult:
        return run_probe(labelled, card, service, report)

    key = ("probe", labelled.key, card.id, card.checksum)
    return Task(key, PROBES, work, size=seconds)


def probe_of(labelled: LabelledTexts, result: LabelResult | GradeResult, card: ModelCard) -> Probe:
    """Return what the page shows of a result."""
    if isinstance(result, GradeResult):
        return GradeProbe(labelled, result, card)
    return LabelProbe(labelled, result, card)
