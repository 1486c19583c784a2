"""`python -m tests.benchmarks.shuffled_labels FILE...`: what Probe says of shuffled labels.

Each file has the columns "text" and "label", for instance film reviews with their ratings. The
labels of 200 samples are shuffled: 2.5% of them may be told apart by luck, and "more texts help"
may be said of 2.5%. In every third sample, each text stands beside a copy with one word changed.
Then the true labels are tested, to see how many texts it takes to tell them apart. About 10 minutes
on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from contextlens import open_service
from contextlens.analysis.separation import RISK, Trial, trial_of, wilson
from contextlens.core import BUNDLED_ID
from contextlens.core.schema import FloatArray
from contextlens.core.threads import one_blas_thread
from contextlens.corpus.readers import read, to_corpus
from contextlens.features.probe.labels import gets_more_right, label_score
from contextlens.features.probe.learning_curve import learning_curve
from contextlens.features.probe.shuffling import p_value
from contextlens.features.probe.text_vectors import text_vectors

__all__ = ["Sample", "helps", "is_told_apart", "shuffled_samples", "true_samples"]

N_SHUFFLED, N_TRUE = 200, 20
SIZES, TRUE_SIZES = (60, 120, 200, 300, 600), (40, 80, 200)
_N_READ = 600  # texts of a file


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts with their labels, and the vectors of the texts and of near copies of them."""

    name: str
    labels: tuple[str, ...]
    vectors: FloatArray  # (n_kinds, n_texts, n_dims)
    copies: FloatArray


@dataclass(frozen=True, eq=False)
class Sample:
    """Some of the texts with labels, true or shuffled."""

    name: str
    vectors: list[FloatArray]
    trial: Trial


def shuffled_samples(every: Sequence[Texts], n: int = N_SHUFFLED) -> Iterator[Sample]:
    """Yield samples of 60 to 600 texts with 2 to 5 labels that have nothing to do with them."""
    for seed in range(n):
        random, texts = np.random.default_rng(seed), every[seed % len(every)]
        has_copies, size = seed % 3 == 0, SIZES[seed // len(every) % len(SIZES)]
        n_texts = min(size // (2 if has_copies else 1), len(texts.labels))
        rows = random.choice(len(texts.labels), n_texts, replace=False)
        vectors = texts.vectors[:, rows]
        if has_copies:
            vectors = np.concatenate([vectors, texts.copies[:, rows]], axis=1)
        codes = random.permutation(np.arange(vectors.shape[1]) % random.integers(2, 6))
        order = random.permutation(len(codes))
        trial = trial_of([f"label {code}" for code in codes.tolist()])
        kind = f"{texts.name}, copies" if has_copies else texts.name
        yield Sample(kind, list(vectors[:, order]), trial)


def true_samples(texts: Texts, n_texts: int) -> Iterator[Sample]:
    """Yield samples of the texts with their true labels."""
    for seed in range(N_TRUE):
        rows = np.random.default_rng(seed).choice(len(texts.labels), n_texts, replace=False)
        trial = trial_of([texts.labels[i] for i in rows.tolist()])
        yield Sample(texts.name, list(texts.vectors[:, rows]), trial)


def is_told_apart(sample: Sample) -> bool:
    """True if the labels pass the test against luck."""
    return p_value(sample.vectors, sample.trial) <= RISK / 2


def helps(sample: Sample) -> bool:
    """True if labels that are told apart are more often right after all texts than after half."""
    scores = [label_score("all", rows, sample.trial) for rows in sample.vectors]
    best = max(scores, key=lambda score: score.value)
    curve = learning_curve(sample.vectors, sample.trial, lambda _: None)
    return bool(curve) and gets_more_right(best, curve[-1][1], risk=RISK / 2)


def _read(path: Path) -> Texts:
    table = read(path.name, path.read_bytes(), max_bytes=100_000_000)
    column = "label"
    corpus = to_corpus(table, "text", [column])
    random = np.random.default_rng(0)
    rows = random.permutation(len(corpus.texts))[:_N_READ].tolist()
    texts = [corpus.texts[i] for i in rows]
    copies = []
    for text in texts:
        words = text.split()
        words[random.integers(len(words))] = "thing"
        copies.append(" ".join(words))
    service = open_service()
    card = service.load(BUNDLED_ID)
    states = []
    for some in (texts, copies):
        vectors = text_vectors(some, card, service, lambda *_: None)
        states.append(np.concatenate(list(vectors.pooled.values())))
    return Texts(path.stem, tuple(corpus.labels[column][i] for i in rows), *states)


def report(every: Sequence[Texts]) -> None:
    """Print how often labels are told apart, shuffled and true."""
    told: dict[str, list[bool]] = {}
    n_helps = 0
    with one_blas_thread():
        for sample in shuffled_samples(every):
            is_told = is_told_apart(sample)
            told.setdefault(sample.name, []).append(is_told)
            n_helps += is_told and helps(sample)
        for name, answers in told.items():
            print(f"shuffled, {name}: {sum(answers)} of {len(answers)} told apart", flush=True)
        n_told = sum(map(sum, told.values()))
        for name, count in (("told apart", n_told), ("more texts help", n_helps)):
            low, high = wilson(count, N_SHUFFLED)
            print(f"shuffled, all: {name} {count} of {N_SHUFFLED} (95%: {low:.1%} to {high:.1%})")
        for texts in every:
            for n_texts in TRUE_SIZES:
                count = sum(map(is_told_apart, true_samples(texts, n_texts)))
                print(
                    f"true, {n_texts} of {texts.name}: {count} of {N_TRUE} told apart", flush=True
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="+", type=Path)
    report([_read(path) for path in parser.parse_args().file])
