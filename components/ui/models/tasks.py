"""What is done in the background for models: loads, tokenizers, baselines. No streamlit in here."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from components.analysis import baseline as baselines
from components.analysis.baseline import Baseline
from components.content.sample import baseline_sentences
from components.core import EncoderService, ModelCard
from components.core.schema import ProgressEvent
from components.core.words import Span, split_words
from components.jobs import Kind, Report, Task

__all__ = [
    "BASELINES",
    "LOADS",
    "TOKENIZERS",
    "baseline_key",
    "baseline_path",
    "load",
    "load_key",
    "measure",
    "measure_baseline",
    "tokenizer",
]

LOADS = Kind(
    "models",
    n_at_once=16,
    keeps=False,  # one that is there may leave memory
    first_words="Looking for the model",
    silence="waiting for the hub",
)
TOKENIZERS = Kind(
    "tokenizers",
    n_at_once=4,
    first_words="Getting the tokenizer",
    silence="waiting for the hub",
)
BASELINES = Kind(
    "baselines",
    n_at_once=2,
    first_words="Measuring how alike random words are in this model",
)
_FORMAT = 2
"""Part of a baseline's file name: raised when what is measured changes."""

_log = logging.getLogger("contextlens")


def load_key(model: str) -> tuple[str, str]:
    """The key of a model's load."""
    return ("model", model)


def load(model: str, service: EncoderService) -> Task:
    """Brings a model into memory; gives its card."""
    return Task(
        load_key(model), LOADS, lambda report: service.load(model, progress=_counted(report))
    )


def tokenizer(model: str, service: EncoderService) -> Task:
    """Brings a tokenizer into memory; gives its card."""
    return Task(
        ("tokenizer", model),
        TOKENIZERS,
        lambda report: service.load_tokenizer(model, progress=_counted(report)),
    )


def baseline_key(card: ModelCard) -> tuple[str, str]:
    """The key of a model's baseline."""
    return ("baseline", card.checksum)


def measure_baseline(card: ModelCard, service: EncoderService, folder: Path) -> Task:
    """Reads a model's baseline from its file in a folder, or measures it and keeps it there."""
    return Task(baseline_key(card), BASELINES, lambda _: _baseline(card, service, folder))


def baseline_path(card: ModelCard, folder: Path) -> Path:
    """The file of a model's baseline."""
    return folder / "baselines" / f"{card.checksum[:32]}-{_FORMAT}.npz"


def _counted(report: Report) -> Callable[[ProgressEvent], None]:
    return lambda event: report.count(event.stage, event.done_bytes, event.total_bytes)


def _baseline(card: ModelCard, service: EncoderService, folder: Path) -> Baseline:
    path = baseline_path(card, folder)
    found = baselines.load(path)
    if found is not None and found.fits(card.n_layers, card.n_dims):
        return found
    try:
        measured = measure(card, service)
    except Exception:
        _log.exception("Measuring the baseline of %s failed", card.id)
        raise
    try:
        baselines.save(measured, path)
    except OSError as exc:
        _log.warning("The baseline of %s could not be kept on disk: %s", card.id, exc)
    return measured


def measure(card: ModelCard, service: EncoderService) -> Baseline:
    """A model's random-pair baseline, from sample sentences."""
    texts = baseline_sentences()
    encodings = service.encode(card.id, texts)
    rows = [service.word_rows(card.id, encoding.token_ids) for encoding in encodings]
    return baselines.measure(baselines.sample_words(encodings, rows, list(map(_long_words, texts))))


def _long_words(text: str) -> list[Span]:
    """Words of at least four letters: most shorter ones are function words, alike anywhere."""
    return [(a, b) for a, b in split_words(text) if b - a >= 4 and text[a:b].isalpha()]
