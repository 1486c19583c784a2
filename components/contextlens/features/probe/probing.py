"""Probing as a background job: from labelled texts to the scores of every layer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import JobError
from contextlens.core.schema import FloatArray
from contextlens.core.threads import one_blas_thread
from contextlens.features.probe import word2vec
from contextlens.features.probe.copies import copies_of
from contextlens.features.probe.grades import GradeProbe, GradeResult, grade_score, learned_grades
from contextlens.features.probe.labelled_texts import (
    LabelledTexts,
    corpus_of,
    label_of,
    labelled_texts,
)
from contextlens.features.probe.labels import LabelProbe, LabelResult, label_score, learned_from
from contextlens.features.probe.layer_scores import WORDS, Probe
from contextlens.features.probe.learning_curve import learning_curve
from contextlens.features.probe.shuffling import p_value
from contextlens.features.probe.text_vectors import OnProgress, given_vectors, text_vectors
from contextlens.jobs import Report, Task, page_work
from contextlens.maps.request import GIVEN
from contextlens.maps.vectors import RECIPE
from contextlens.ui.corpora.controls import EXACT
from contextlens.ui.models.background import jobs
from contextlens.ui.state.services import service, settings
from contextlens.ui.state.view import ViewState

PROBES = page_work("probes", "Looking at the texts", large_seconds=15.0)
_EVICTED = "These results had to make room for others. Look at the page again, then download them."
_READING, _LEARNING, _COMPARING = 0.5, 0.55, 0.75
"""The progress after which the texts are read, word vectors learned, and labels learned."""
_FIT_SECONDS = 4e-8, 2e-9  # for each number of each text, and as much more for each label
_WORD2VEC_SECONDS = 1.4e-5  # for each token
_SHUFFLED_SEED = 0
_N_YARDSTICKS = 5  # fits beside those of the layers
_N_FITS = 4  # as much work as this many fits for each layer: two poolings, shuffled, fewer texts


def run_probe(
    labelled: LabelledTexts, card: ModelCard, service: EncoderService, report: OnProgress
) -> LabelResult | GradeResult:
    """Return the scores of labelled texts; an exception from `report` ends the work.

    Raises:
        RequestError: the server's file of word vectors cannot be read.
    """
    trial, grades = labelled.trial, labelled.grades
    if labelled.own is None:
        vectors = text_vectors(
            labelled.texts,
            card,
            service,
            lambda stage, share: report(stage, _READING * share),
            labelled.precision,
        )
    else:
        vectors = given_vectors(labelled.own)
    features: list[tuple[str, int, FloatArray]] = [
        (pooling, layer, rows)
        for pooling, layers in vectors.pooled.items()
        for layer, rows in enumerate(layers, -1 if pooling == GIVEN else 0)
    ]
    if vectors.recipe is not None:
        features.append((RECIPE, card.n_layers, vectors.recipe))
    static = {} if vectors.static is None else {"static": vectors.static}
    contextless = {**static, **_word2vec(labelled.texts, report)}
    score: Callable[..., Any] = partial(label_score, trial=trial)
    if grades is not None:
        score = partial(grade_score, trial=trial, grades=grades)
    per_step = (_COMPARING - _LEARNING) / len(features)
    with one_blas_thread():
        scores = []
        for i, (name, layer, rows) in enumerate(features):
            report("Learning the labels", _LEARNING + per_step * i)
            scores.append(score(name, rows, layer=layer))
        every = [rows for _, _, rows in features]
        luck = p_value(every, trial, grades, on_progress=_stage(report, "Shuffling the labels", 0))
        report("Comparing with simpler ways", _COMPARING + 0.1)
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
            "p_value": luck,
        }
        if grades is not None:
            return GradeResult(**shared, guessing=0.0, learned=learned_grades(best, trial, grades))
        return LabelResult(
            **shared,
            learned=learned_from(best, trial),
            guessing=trial.chance,
            curve=learning_curve(every, trial, _stage(report, "Learning from fewer texts", 0.1)),
        )


def _stage(report: OnProgress, name: str, start: float) -> Callable[[float], None]:
    """Report a tenth of the progress, from a start after `_COMPARING`."""
    return lambda share: report(name, _COMPARING + start + 0.1 * share)


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
    n_reads = n_reads if labelled.own is None else 0
    reading = n_tokens * (n_reads * token_seconds + _WORD2VEC_SECONDS)
    return reading + learning_seconds(labelled, card)


def learning_seconds(labelled: LabelledTexts, card: ModelCard) -> float:
    """Return the expected duration of learning: it grows with folds, labels and vectors."""
    trial = labelled.trial
    n_layers, n_dims = card.n_layers + 1, card.n_dims
    if labelled.own is not None:
        n_layers, n_dims = 1, labelled.own.n_dims
    n_fits = trial.n_folds * (_N_FITS * n_layers + _N_YARDSTICKS)
    per_number = _FIT_SECONDS[0] + _FIT_SECONDS[1] * len(trial.senses)
    return n_fits * (0.03 + len(labelled.texts) * n_dims * per_number)


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

    return Task(_key(labelled, card), PROBES, work, size=seconds)


def _key(labelled: LabelledTexts, card: ModelCard) -> Hashable:
    return ("probe", labelled.key, card.id, card.checksum)


def restored(view: ViewState) -> Probe:
    """Return the probe of a view as it was shown.

    Raises:
        JobError: it was evicted.
    """
    corpus, card = corpus_of(view).corpus, service().load(view.model)
    if corpus is not None:
        label, exact = label_of(view, corpus), EXACT.of(view)
        labelled = labelled_texts(corpus, label, card, exact=exact)
        job = jobs().get(_key(labelled, card))
        if job is not None and job.state == "done":
            return probe_of(labelled, job.result(), card)
    raise JobError(_EVICTED)


def probe_of(labelled: LabelledTexts, result: LabelResult | GradeResult, card: ModelCard) -> Probe:
    """Return what the page shows of a result."""
    if isinstance(result, GradeResult):
        return GradeProbe(labelled, result, card)
    return LabelProbe(labelled, result, card)
