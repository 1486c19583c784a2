"""Background work for models: loads, tokenizers, baselines, rulers. No streamlit in here."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from contextlens.analysis import baseline as baselines
from contextlens.analysis import kept_arrays, sense_names
from contextlens.analysis import ruler as rulers
from contextlens.analysis.baseline import Baseline
from contextlens.analysis.ruler import LabelledWords, Ruler
from contextlens.analysis.sense_names import SenseNames
from contextlens.analysis.words import POOLINGS, Pooling, word_vectors
from contextlens.content.bundled_texts import (
    SenseSentence,
    ambiguous_words,
    baseline_sentences,
    everyday_words,
    measured_words,
)
from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, ProgressEvent
from contextlens.core.words import Span, find_word, split_words
from contextlens.jobs import FORGOTTEN_SECONDS, JobKind, Report, StoppedError, Task

Kept = TypeVar("Kept", bound=kept_arrays.Measured)
Missing = TypeVar("Missing", bound=None)

_LINE: dict[str, Any] = {"n_waiting": 30, "n_waiting_each": 4}
"""Bounds on waiting jobs: one page starts at most two or three of a kind for its visitor."""
_FETCH: dict[str, Any] = {
    **_LINE,
    "n_at_once": 6,
    "n_at_once_each": 2,  # each may take an hour
    "forgotten_seconds": FORGOTTEN_SECONDS,
    "silence": "waiting for the hub",
}
LOADS = JobKind(
    "models to load",
    n_at_once=4,
    n_at_once_each=2,
    keeps=False,  # a loaded model may leave memory
    first_words="Looking for the model",
    **_LINE,
)
"""Loads from this machine take seconds, so they do not wait for downloads."""
FETCHES = JobKind("models to fetch", keeps=False, first_words="Looking for the model", **_FETCH)
TOKENIZERS = JobKind("tokenizers to fetch", first_words="Getting the tokenizer", **_FETCH)
BASELINES = JobKind(
    "models to measure",
    n_at_once=2,
    first_words="Measuring how alike random words are in this model",
    **_LINE,
)
RULERS = JobKind(
    "models to measure pairs of words in",
    n_at_once=1,
    first_words="Measuring what pairs of words of known senses get in this model",
    **_LINE,
)
SENSES = JobKind(
    "words to look up the meanings of",
    n_at_once=2,
    first_words="Looking up the meanings of the word",
    **_LINE,
)
_FORMAT = 2
"""Part of the names of baselines' files: raised when the measurement changes."""
_RULER_FORMAT = 5
"""Part of the names of rulers' files: raised when their measurement changes."""
_SENSES_FORMAT = 1
"""Part of the names of the files of senses: raised when their measurement changes."""
_EVERY = 2
"""The ruler is measured on every second sentence of each sense, eight of each.

Its certainty depends on the number of words: using all sentences would add little and take longer.
"""

_log = logging.getLogger("contextlens")


def load_key(model: str) -> tuple[str, str]:
    """Return the key of a model's load."""
    return ("model", model)


def load(model: str, service: EncoderService) -> Task:
    """Return the task that loads a model from this machine or the hub; its result is the card."""
    spec = service.spec(model)
    is_here = spec.loaded or spec.on_disk or spec.source != "hub"
    return Task(
        load_key(model),
        LOADS if is_here else FETCHES,
        lambda report: service.load(model, progress=_counted(report)),
    )


def tokenizer(model: str, service: EncoderService) -> Task:
    """Return the task that loads a tokenizer; its result is the card."""
    return Task(
        ("tokenizer", model),
        TOKENIZERS,
        lambda report: service.load_tokenizer(model, progress=_counted(report)),
    )


def baseline_key(card: ModelCard) -> tuple[str, str]:
    """Return the key of a model's baseline."""
    return ("baseline", card.checksum)


def measure_baseline(card: ModelCard, service: EncoderService, folder: Path) -> Task:
    """Return the task that reads a model's baseline from a folder, or measures and keeps it."""
    return Task(baseline_key(card), BASELINES, lambda _: read_baseline(card, service, folder))


def baseline_path(card: ModelCard, folder: Path) -> Path:
    """Return the file of a model's baseline."""
    return folder / "baselines" / f"{card.checksum[:32]}-{_FORMAT}.npz"


def ruler_key(card: ModelCard) -> tuple[str, str]:
    """Return the key of a model's ruler."""
    return ("ruler", card.checksum)


def measure_ruler(
    card: ModelCard, service: EncoderService, baseline: Baseline, folder: Path
) -> Task:
    """Return the task that reads a model's ruler from a folder, or measures and keeps it."""
    return Task(ruler_key(card), RULERS, lambda _: _ruler(card, service, baseline, folder))


def ruler_path(card: ModelCard, folder: Path) -> Path:
    """Return the file of a model's ruler."""
    return folder / "baselines" / f"{card.checksum[:32]}-{_RULER_FORMAT}-ruler.npz"


def senses_key(card: ModelCard, word: str) -> tuple[str, str, str]:
    """Return the key of the names of a word's senses in a model."""
    return ("senses", card.checksum, word)


def measure_senses(
    card: ModelCard, service: EncoderService, baseline: Baseline, word: str, folder: Path
) -> Task:
    """Return the task that reads the names of a word's senses from a folder, or measures them.

    The word is one of the ready corpus. The result is None if the model drops the word.
    """
    return Task(
        senses_key(card, word), SENSES, lambda _: _senses(card, service, baseline, word, folder)
    )


def senses_path(card: ModelCard, word: str, folder: Path) -> Path:
    """Return the file of the names of a word's senses in a model."""
    return folder / "baselines" / f"{card.checksum[:32]}-{_SENSES_FORMAT}-senses-{word}.npz"


def keep_measures(card: ModelCard, service: EncoderService, folder: Path) -> None:
    """Measure a model's baseline and ruler now, unless a folder has them, and keep them there.

    So are the senses of the ready corpus's first word, which the app opens with.
    """
    baseline = read_baseline(card, service, folder)
    _ruler(card, service, baseline, folder)
    _senses(card, service, baseline, ambiguous_words()[0].word, folder)


def _counted(report: Report) -> Callable[[ProgressEvent], None]:
    return lambda event: report.count(event.stage, event.done_bytes, event.total_bytes)


def read_baseline(card: ModelCard, service: EncoderService, folder: Path) -> Baseline:
    """Return a model's baseline from a folder, or measure it now and keep it there."""
    return kept(
        "baseline",
        Baseline,
        baseline_path(card, folder),
        lambda: measure(card, service),
        fits=lambda stored: stored.fits(card.n_layers, card.n_dims),
    )


def _ruler(card: ModelCard, service: EncoderService, baseline: Baseline, folder: Path) -> Ruler:
    return kept(
        "ruler",
        Ruler,
        ruler_path(card, folder),
        lambda: rulers.measure(labelled_words(card, service), baseline),
        fits=lambda stored: stored.fits(card.n_layers),
    )


def _senses(
    card: ModelCard, service: EncoderService, baseline: Baseline, word: str, folder: Path
) -> SenseNames | None:
    def measured() -> SenseNames | None:
        rows = [row for row in ambiguous_words() if row.word == word]
        uses, vectors = _labelled(rows, card, service, POOLINGS[:1])
        senses = [use.sense for use in uses]
        return sense_names.measure(senses, vectors[0], baseline.centre(POOLINGS[0])[0])

    return kept(
        "senses of a word",
        SenseNames,
        senses_path(card, word, folder),
        measured,
        fits=lambda stored: stored.fits(card.n_layers, card.n_dims),
    )


def kept(
    name: str,
    kind: type[Kept],
    path: Path,
    measure: Callable[[], Kept | Missing],
    *,
    fits: Callable[[Kept], bool],
) -> Kept | Missing:
    """Return what a file keeps of a model, or measure it now and keep it there.

    Args:
        name: names the measurement in the log.
        kind: a dataclass of arrays and integers.
        path: the file.
        measure: returns the measurement; None, which is not kept, if there is none.
        fits: returns True if an earlier measurement has the shapes of this model.
    """
    stored = kept_arrays.load(kind, path)
    if stored is not None and fits(stored):
        return stored
    try:
        measured = measure()
    except StoppedError:
        raise
    except Exception:
        _log.exception("Measuring the %s of a model failed", name)
        raise
    if measured is not None:
        try:
            kept_arrays.save(measured, path)
        except OSError as exc:  # a full disk, say; the next server measures again
            _log.warning("The %s of a model could not be kept on disk: %s", name, exc)
    return measured


def labelled_words(card: ModelCard, service: EncoderService) -> LabelledWords:
    """Return the vectors of everyday words, and of `MEASURED_WORDS` in half of their sentences.

    Words that the model drops are left out.
    """
    uses = measured_words()
    half = _half([f"{row.word}: {row.sense}" for row in uses])
    rows = [*(uses[i] for i in half), *everyday_words()]
    measured, vectors = _labelled(rows, card, service, POOLINGS)
    words, senses = tuple(row.word for row in measured), tuple(row.sense for row in measured)
    return LabelledWords(words, senses, vectors)


def _labelled(
    rows: Sequence[SenseSentence],
    card: ModelCard,
    service: EncoderService,
    poolings: Sequence[Pooling],
) -> tuple[list[SenseSentence], FloatArray]:
    """Return the sentences whose word has a vector, and (n_poolings, n, n_layers, n_dims)."""
    encodings = service.encode(card.id, [row.text for row in rows], checksum=card.checksum)
    measured, vectors = [], []
    for row, encoding in zip(rows, encodings, strict=True):
        span = find_word(row.text, row.word)
        with suppress(RequestError):
            if span is not None:
                vectors.append([word_vectors(encoding, span, pooling) for pooling in poolings])
                measured.append(row)
    shape = (-1, len(poolings), card.n_layers + 1, card.n_dims)
    return measured, np.array(vectors, np.float32).reshape(shape).swapaxes(0, 1)


def _half(senses: Sequence[str]) -> list[int]:
    """Return the rows of every second sentence of each sense, counted from the sense's first."""
    n_seen: Counter[str] = Counter()
    rows = []
    for row, sense in enumerate(senses):
        if n_seen[sense] % _EVERY == 0:
            rows.append(row)
        n_seen[sense] += 1
    return rows


def measure(card: ModelCard, service: EncoderService) -> Baseline:
    """Return a model's random-pair baseline, from sample sentences."""
    texts = baseline_sentences()
    encodings = service.encode(card.id, texts, checksum=card.checksum)
    rows = [
        service.word_rows(card.id, encoding.token_ids, checksum=card.checksum)
        for encoding in encodings
    ]
    return baselines.measure(baselines.sample_words(encodings, rows, list(map(_long_words, texts))))


def _long_words(text: str) -> list[Span]:
    """Return words of at least four letters: most shorter ones are function words, all alike."""
    return [(a, b) for a, b in split_words(text) if b - a >= 4 and text[a:b].isalpha()]
