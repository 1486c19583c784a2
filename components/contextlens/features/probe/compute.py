"""The data behind the probe: labelled texts, their vectors at every layer, and scores, as a job."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.correlation import Float64Array
from contextlens.analysis.separation import SPLIT, Trial, scaled, trial_of
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.errors import RequestError
from contextlens.core.recipe import NormalizeStep, SentenceRecipe
from contextlens.core.schema import FloatArray, Passport
from contextlens.core.threads import one_blas_thread
from contextlens.corpus.bundled import ambiguous_corpus, sentiment_corpus
from contextlens.corpus.columns import kind_of_column, numbers_of
from contextlens.corpus.corpus import Corpus
from contextlens.features.probe import word2vec
from contextlens.features.probe.controls import FILE, KEPT, LABEL, SOURCE
from contextlens.features.probe.copies import copies_of
from contextlens.features.probe.grades import (
    GradeResult,
    GradeScore,
    grade_score,
    grade_trial,
    learned_grades,
)
from contextlens.features.probe.measures import (
    WORDS,
    ProbeResult,
    Score,
    learned_from,
    learning_curve,
    score_of,
)
from contextlens.jobs import Report, Task, page_work
from contextlens.maps.vectors import RECIPE, recipe_prompt, sentence_vectors
from contextlens.ui.corpora.texts import stored_texts
from contextlens.ui.files import uploads
from contextlens.ui.models.services import settings
from contextlens.ui.state.controls import Choice
from contextlens.ui.state.view import ViewState

# --- The labelled texts that a view asks for

MOST_LABELS = 50
"""The most different labels in a column."""
_MOST_BYTES = 1_000_000_000  # of vectors in memory at a time


@dataclass(frozen=True, eq=False)
class LabelledTexts:
    """Texts with one label each, and the trial that tests them.

    Attributes:
        name: the corpus's name.
        column: the title of the column with the labels.
        texts: the texts.
        trial: the texts to learn from and to test.
        n_left_out: the number of labelled texts that are more than the memory for vectors holds.
        grades: (n_texts,) the labels as numbers, if they are grades; None if they are names.
    """

    name: str
    column: str
    texts: tuple[str, ...]
    trial: Trial
    n_left_out: int
    grades: Float64Array | None = None

    @cached_property
    def key(self) -> str:
        """SHA-256, hex: the same for the same name, texts, labels and folds."""
        trial = self.trial
        parts = [trial.senses, trial.codes.tolist(), trial.folds.tolist(), trial.teaches.tolist()]
        parts.append([] if self.grades is None else self.grades.tolist())
        content = json.dumps([self.name, self.column, self.texts, parts, self.n_left_out])
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def n_learned(self) -> int:
        """The number of texts that are learned from, on average over the folds."""
        trial = self.trial
        folds = [trial.teaches & (trial.folds != fold) for fold in range(trial.n_folds)]
        return round(float(np.mean([np.count_nonzero(rows) for rows in folds])))


def corpus_of(view: ViewState) -> Corpus | None:
    """The corpus that a view names; None if a file or a stored one must be chosen.

    Raises:
        CorpusError: the corpus is missing or unusable.
    """
    source = SOURCE.of(view)
    if source == "kept":
        name = KEPT.asked(view)
        return stored_texts(name) if name else None
    if source == "file":
        upload = uploads.shared(FILE.of(view))
        return upload if isinstance(upload, Corpus) else None
    return ambiguous_corpus() if source == "ambiguous" else sentiment_corpus()


def label_of(corpus: Corpus) -> Choice:
    """The choice of the column with the labels: 2 to `MOST_LABELS` different ones, or grades."""
    titles = [
        title
        for title, labels in corpus.labels.items()
        if title.casefold() != SPLIT and (_is_short(labels) or kind_of_column(labels) == "number")
    ]
    return LABEL.among(titles)


def _is_short(labels: Sequence[str]) -> bool:
    return 2 <= len(set(labels) - {""}) <= MOST_LABELS


def labelled_texts(corpus: Corpus, column: str, card: ModelCard) -> LabelledTexts:
    """Return the labelled texts of a corpus: all, or as many as the memory for vectors holds.

    Of more than that, some are drawn with a fixed seed.
    """
    labels = corpus.labels[column]
    every_grade = numbers_of(labels, "number") if kind_of_column(labels) == "number" else None
    has_label = [label != "" for label in labels] if every_grade is None else ~np.isnan(every_grade)
    rows = np.flatnonzero(has_label)
    n = len(rows)
    most = max(1, _MOST_BYTES // (2 * 4 * (card.n_layers + 1) * card.n_dims))
    if n > most:
        rows = np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
    chosen = rows.tolist()
    split = next((c for title, c in corpus.labels.items() if title.casefold() == SPLIT), ())
    own_split = [split[i] for i in chosen] if split else []
    grades = None if every_grade is None else every_grade[rows].astype(np.float64)
    if grades is None:
        trial = trial_of([labels[i] for i in chosen], own_split)
    else:
        trial = grade_trial(grades, own_split)
    texts = tuple(corpus.texts[i] for i in chosen)
    return LabelledTexts(corpus.name, column, texts, trial, n - len(chosen), grades)


# --- Their vectors: each text is encoded once for all layers and poolings

POOLINGS = ("mean", "cls")
_N_TEXTS = 96  # encoded at a time
OnProgress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class TextVectors:
    """The vectors of texts.

    Attributes:
        pooled: (n_layers, n_texts, n_dims) float32 for each pooling.
        static: (n_texts, n_embedding_dims) float32, the mean row of the word table.
        recipe: (n_texts, n) float32 by the model's own recipe; None if it has none.
        n_cut: the number of texts whose end did not fit the model.
        passport: the passport of the encodings.
    """

    pooled: dict[str, FloatArray]
    static: FloatArray
    recipe: FloatArray | None
    n_cut: int
    passport: Passport


def text_vectors(
    texts: Sequence[str], card: ModelCard, service: EncoderService, on_progress: OnProgress
) -> TextVectors:
    """Return the vectors of texts; an exception from `on_progress` ends the work.

    Raises:
        RequestError: there is no text.
    """
    shape = (card.n_layers + 1, len(texts), card.n_dims)
    pooled = {pooling: np.empty(shape, np.float32) for pooling in POOLINGS}
    static: list[FloatArray] = []
    recipe: list[FloatArray] = []
    n_cut, passport = 0, None
    for at in range(0, len(texts), _N_TEXTS):
        on_progress(f"Reading {len(texts):,} texts", at / len(texts))
        batch = texts[at : at + _N_TEXTS]
        encodings = service.encode(card.id, batch, checksum=card.checksum)
        for i, encoding in enumerate(encodings, at):
            for pooling, vectors in pooled.items():
                vectors[:, i] = sentence_vectors(encoding, pooling)
        static += _static_rows(encodings, card, service)
        if card.recipe is not None:
            recipe += _by_recipe(card.recipe, batch, encodings, card, service)
        n_cut += sum(encoding.n_truncated > 0 for encoding in encodings)
        passport = encodings[-1].passport
    if passport is None:
        raise RequestError("There is no text to read. Choose another corpus.")
    by_recipe = np.stack(recipe) if recipe else None
    return TextVectors(pooled, np.stack(static), by_recipe, n_cut, passport)


def _by_recipe(
    recipe: SentenceRecipe,
    texts: Sequence[str],
    encodings: Sequence[Encoding],
    card: ModelCard,
    service: EncoderService,
) -> list[FloatArray]:
    """The texts' vectors by a recipe; texts that it reads as they were read are not read again."""
    if recipe.is_plain_mean and max(e.n_tokens for e in encodings) <= recipe.max_length:
        means = np.stack([sentence_vectors(encoding, "mean")[-1] for encoding in encodings])
        is_scaled = any(isinstance(step, NormalizeStep) for step in recipe.steps)
        return list(scaled(means) if is_scaled else means)
    prompt = recipe_prompt(card, RECIPE)
    made = service.sentence_vectors(card.id, texts, prompt=prompt, checksum=card.checksum)
    return [one.vector for one in made]


def _static_rows(
    encodings: Sequence[Encoding], card: ModelCard, service: EncoderService
) -> list[FloatArray]:
    """The mean row of each text's own tokens in the word table; zeros if it has none."""
    tokens = [
        e.token_ids[(e.attention_mask == 1) & (e.special_tokens_mask == 0)] for e in encodings
    ]
    ids = np.unique(np.concatenate([*tokens, encodings[0].token_ids[:1]]))
    rows = service.word_rows(card.id, ids, checksum=card.checksum)
    return [
        rows[np.searchsorted(ids, own)].mean(axis=0) if len(own) else np.zeros_like(rows[0])
        for own in tokens
    ]


# --- The probe as a background job

PROBES = page_work("probes", "Looking at the texts", large_seconds=15.0)
_READING, _LEARNING = 0.5, 0.55
"""The progress after which the texts are read, and after which the labels are learned."""
_FIT_SECONDS = 4e-8, 2e-9  # for each number of each text, and as much more for each label
_WORD2VEC_SECONDS = 1.4e-5  # for each token
_SHUFFLED_SEED = 0
_N_MORE = 7  # fits beside those of the layers: the recipe, three yardsticks, fewer texts


def probe(
    labelled: LabelledTexts, card: ModelCard, service: EncoderService, report: OnProgress
) -> ProbeResult | GradeResult:
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
    score: Callable[..., Any] = partial(score_of, trial=trial)
    if grades is not None:
        score = partial(grade_score, trial=trial, grades=grades)
    per_step = (1 - _LEARNING) / (len(features) + _N_MORE)
    with one_blas_thread():
        scores = []
        for i, (name, layer, rows) in enumerate(features):
            report("Learning the labels", _LEARNING + per_step * i)
            scores.append(score(name, rows, layer=layer))
        report("Comparing with simpler ways", _LEARNING + per_step * len(features))
        best = features[int(np.argmax([each.value for each in scores]))][2]
        kind = "label" if grades is None else "grade"
        about = {**vectors.passport.settings, kind: labelled.column, "test": trial.how}
        found: dict[str, Any] = {
            "scores": tuple(scores),
            "words": score(WORDS, labelled.texts),
            "contextless": tuple(score(name, rows) for name, rows in contextless.items()),
            "shuffled": score("shuffled", best, seed=_SHUFFLED_SEED),
            "vectors": best.copy(),  # without the other layers
            "n_cut": vectors.n_cut,
            "n_copies": copies_of(labelled.texts, trial),
            "passport": replace(vectors.passport, settings=about),
        }
        if grades is not None:
            return GradeResult(**found, learned=learned_grades(best, trial, grades))
        return ProbeResult(
            **found,
            learned=learned_from(best, trial),
            guessing=trial.chance,
            curve=learning_curve(best, trial),
        )


def _word2vec(texts: Sequence[str], report: OnProgress) -> dict[str, FloatArray]:
    """The texts by word2vec: learned from them, if gensim is there, and from the server's file."""

    def on_progress(share: float) -> None:
        report("Learning word vectors", _READING + (_LEARNING - _READING) * share)

    file = settings().word_vectors
    learned = word2vec.vectors_from_texts(texts, on_progress)
    vectors = {} if learned is None else {"word2vec": learned}
    return (
        vectors
        if file is None
        else {**vectors, "word2vec_file": word2vec.vectors_from_file(texts, file)}
    )


def seconds_of(labelled: LabelledTexts, card: ModelCard, token_seconds: float) -> float:
    """The expected duration of a probe, from the duration of one token."""
    n_tokens = sum(min(len(text) // 3 + 2, card.max_length) for text in labelled.texts)
    n_reads = 1 if card.recipe is None or card.recipe.is_plain_mean else 2
    trial = labelled.trial
    n_fits = trial.n_folds * (2 * (card.n_layers + 1) + _N_MORE)
    per_number = _FIT_SECONDS[0] + _FIT_SECONDS[1] * len(trial.senses)
    learning = n_fits * (0.03 + len(labelled.texts) * card.n_dims * per_number)
    return n_tokens * (n_reads * token_seconds + _WORD2VEC_SECONDS) + learning


def _probe_key(labelled: LabelledTexts, card: ModelCard) -> Hashable:
    return ("probe", labelled.key, card.id, card.checksum)


def probe_task(
    labelled: LabelledTexts, card: ModelCard, service: EncoderService, *, seconds: float
) -> Task:
    """A task that returns a result, the same for all who probe the same texts.

    Args:
        labelled: the texts and their trial, without a problem.
        card: the model's card.
        service: encodes the texts, preferably without a cache.
        seconds: the expected duration.
    """

    def work(report: Report) -> ProbeResult | GradeResult:
        return probe(labelled, card, service, report)

    return Task(_probe_key(labelled, card), PROBES, work, size=seconds)


# --- A sentence of a visitor's own

_N_NEAREST = 3


@dataclass(frozen=True)
class Tried:
    """What the best vectors make of a sentence.

    Attributes:
        chances: each label with its probability, highest first; empty for grades.
        grade: the predicted grade; NaN for labels.
        nearest: the texts to learn from that are most similar, with label and cosine.
    """

    chances: tuple[tuple[str, float], ...]
    grade: float
    nearest: tuple[tuple[str, str, float], ...]


def tried(
    sentence: str,
    labelled: LabelledTexts,
    result: ProbeResult | GradeResult,
    card: ModelCard,
    service: EncoderService,
) -> Tried:
    """Return the probabilities of the labels of a sentence, or its grade, and similar texts."""
    best, trial = result.best, labelled.trial
    if best.name == RECIPE:
        prompt = recipe_prompt(card, RECIPE)
        made = service.sentence_vectors(card.id, [sentence], prompt=prompt, checksum=card.checksum)
        vector = made[0].vector
    else:
        encoding = service.encode(card.id, [sentence], checksum=card.checksum)[0]
        vector = sentence_vectors(encoding, best.name)[best.layer]
    rows = np.flatnonzero(trial.teaches)
    cosines = scaled(result.vectors[rows]) @ scaled(vector[None])[0]
    nearest = np.argsort(-cosines, kind="stable")[:_N_NEAREST].tolist()
    labels = _labels(labelled)
    similar = tuple((labelled.texts[rows[i]], labels[rows[i]], float(cosines[i])) for i in nearest)
    if isinstance(result, GradeResult):
        return Tried((), float(result.learned.values(vector)[0]), similar)
    chances = result.learned.chances(vector)
    names = [trial.senses[code] for code in result.learned.codes.tolist()]
    order = np.argsort(-chances, kind="stable").tolist()
    return Tried(tuple((names[i], float(chances[i])) for i in order), math.nan, similar)


# --- The numbers


def probe_json(labelled: LabelledTexts, result: ProbeResult | GradeResult) -> bytes:
    """The classifier of the best vectors as JSON: standardise, multiply, add, then softmax.

    For grades, the sum is the grade.
    """
    learned, best = result.learned, result.best
    names = [labelled.trial.senses[code] for code in learned.codes.tolist()]
    content = {
        "vectors": {"name": best.name, "layer": best.layer},
        "labels": [labelled.column] if labelled.grades is not None else names,
        "shift": learned.shift.tolist(),
        "scale": learned.scale.tolist(),
        "weights": learned.weights.tolist(),
        "biases": learned.biases.tolist(),
        "passport": result.passport.as_dict(),
    }
    return json.dumps(content).encode()


def vectors_parquet(labelled: LabelledTexts, result: ProbeResult | GradeResult) -> bytes:
    """The texts with their labels and their best vectors as a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    flat = pa.array(result.vectors.ravel())
    table = pa.table(
        {
            "text": list(labelled.texts),
            "label": _labels(labelled),
            "vector": pa.FixedSizeListArray.from_arrays(flat, result.vectors.shape[1]),
        },
        metadata={"passport": json.dumps(result.passport.as_dict())},
    )
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


def vectors_tsv(labelled: LabelledTexts, result: ProbeResult | GradeResult) -> tuple[bytes, bytes]:
    """The best vectors, and the labels with the texts, as the Embedding Projector reads them."""
    vectors = io.StringIO()
    np.savetxt(vectors, result.vectors, fmt="%.6g", delimiter="\t")
    plain = (" ".join(text.split()) for text in labelled.texts)
    rows = zip((" ".join(label.split()) for label in _labels(labelled)), plain, strict=True)
    names = "\n".join(["label\ttext", *("\t".join(row) for row in rows)])
    return vectors.getvalue().encode(), f"{names}\n".encode("utf-8", "replace")


def _labels(labelled: LabelledTexts) -> list[str]:
    """The label or the grade of each text; "" if it takes no part."""
    trial = labelled.trial
    if labelled.grades is not None:
        return [f"{grade:g}" for grade in labelled.grades.tolist()]
    return [trial.senses[code] if code >= 0 else "" for code in trial.codes.tolist()]


def score_rows(result: ProbeResult | GradeResult) -> list[dict[str, Any]]:
    """A row for each score: what reads the text, its layer, and how well it does."""
    is_graded = isinstance(result, GradeResult)
    every: tuple[Score | GradeScore, ...] = (*result.scores, *result.yardsticks)
    rows: list[dict[str, Any]] = [
        {
            "vectors": score.name,
            "layer": score.layer if score.layer >= 0 else None,
            "Spearman" if is_graded else "accuracy": score.value,
            "from (95%)": score.interval[0],
            "to (95%)": score.interval[1],
            **({"macro-F1": score.macro_f1} if isinstance(score, Score) else {}),
        }
        for score in every
    ]
    if isinstance(result, ProbeResult):
        rows.append({"vectors": "commonest label", "layer": None, "accuracy": result.guessing})
    return rows


def mistake_rows(labelled: LabelledTexts, result: ProbeResult, most: int) -> list[dict[str, Any]]:
    """A row for each text that the best vectors get wrong, the most confident mistake first."""
    trial, best = labelled.trial, result.best
    codes = trial.codes[trial.tested]
    wrong = np.flatnonzero(best.predicted != codes)
    order = wrong[np.argsort(-best.chances[wrong], kind="stable")][:most]
    return [
        {
            "text": labelled.texts[trial.tested[i]],
            "label": trial.senses[codes[i]],
            "judged": trial.senses[best.predicted[i]],
            "probability": float(best.chances[i]),
        }
        for i in order.tolist()
    ]


def probe_arrays(
    labelled: LabelledTexts, result: ProbeResult | GradeResult
) -> dict[str, NDArray[Any]]:
    """The texts, their labels and folds, and the best predictions, for a script of one's own."""
    trial = labelled.trial
    if labelled.grades is not None or isinstance(result, GradeResult):
        return {
            "texts": np.array(json.dumps(labelled.texts)),
            "grades": np.array(labelled.grades),
            "fold": trial.folds,
            "teaches": trial.teaches,
            "tested": trial.tested,
            "predicted": result.best.predicted,
        }
    return {
        "texts": np.array(json.dumps(labelled.texts)),
        "labels": np.array(trial.senses),
        "label_of_text": trial.codes,
        "fold": trial.folds,
        "teaches": trial.teaches,
        "tested": trial.tested,
        "predicted": result.best.predicted,
        "chances": result.best.chances,
    }
