"""`python -m tests.benchmarks.fast_reading FILE`: what reading in 16 bits costs, and saves.

The file has the columns "text" and "label", for instance reviews with their sentiment. Of a sample
of its texts, everything is computed from vectors that were read fast, and from exact ones: the
nearest neighbours, a search, the accuracies of Probe, and a map. The seconds are the processor's,
of reading in turns. About ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.manifold import trustworthiness

from contextlens import open_service
from contextlens.analysis.separation import scaled, trial_of
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import FloatArray, Precision
from contextlens.core.threads import one_blas_thread
from contextlens.corpus.readers import read, to_corpus
from contextlens.features.probe.labels import label_score
from contextlens.maps.projection import project
from contextlens.maps.request import MapSettings
from contextlens.maps.vectors import sentence_vectors

__all__ = ["Reading", "cosine_errors", "read_both", "recall"]

N_TEXTS, N_AT_ONCE, K = 2_000, 256, 15
N_QUERIES, N_HITS = 300, 5


@dataclass(frozen=True, eq=False)
class Reading:
    """The means of texts at each layer, (n_layers, n_texts, n_dims), and the processor's time."""

    vectors: FloatArray
    seconds: float


def read_both(texts: Sequence[str], service: EncoderService) -> dict[Precision, Reading]:
    """Return the texts as read fast and exactly, in turns."""
    order: tuple[Precision, Precision] = ("exact", "fast")
    rows: dict[Precision, list[FloatArray]] = {precision: [] for precision in order}
    seconds = dict.fromkeys(order, 0.0)
    for precision in order:  # warm
        service.encode(BUNDLED_ID, texts[:32], precision=precision)
    for at in range(0, len(texts), N_AT_ONCE):
        for precision in order:
            start = time.process_time()
            some = service.encode(BUNDLED_ID, texts[at : at + N_AT_ONCE], precision=precision)
            seconds[precision] += time.process_time() - start
            rows[precision] += [sentence_vectors(one, "mean") for one in some]
        order = order[1], order[0]
    return {
        precision: Reading(np.stack(rows[precision], axis=1), seconds[precision])
        for precision in order
    }


def cosine_errors(exact: FloatArray, fast: FloatArray) -> tuple[float, float]:
    """The median and the greatest difference of the cosines of all pairs."""
    pairs = np.triu_indices(len(exact), 1)
    errors = np.abs(_cosines(fast, fast) - _cosines(exact, exact))[pairs]
    return float(np.median(errors)), float(errors.max())


def recall(exact: FloatArray, fast: FloatArray, k: int) -> float:
    """The share of each row's k highest values that are among its k highest in other values."""
    both = (np.argsort(-values, axis=1, kind="stable")[:, :k] for values in (exact, fast))
    first, second = both
    shared = [len(set(a) & set(b)) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    return float(np.mean(shared)) / k


def _cosines(one: FloatArray, other: FloatArray) -> FloatArray:
    cosines: FloatArray = scaled(one) @ scaled(other).T
    return cosines


def _neighbours(vectors: FloatArray) -> FloatArray:
    cosines = _cosines(vectors, vectors)
    np.fill_diagonal(cosines, -np.inf)
    return cosines


def report(texts: Sequence[str], labels: Sequence[str], name: str) -> None:
    """Print the table in Markdown."""
    service = open_service().uncached
    print(f"{len(texts):,} of {name}. {service.load(BUNDLED_ID).fast.reason}", flush=True)
    both = read_both(texts, service)
    exact, fast = both["exact"], both["fast"]
    last, fast_last = exact.vectors[-1], fast.vectors[-1]
    median, greatest = cosine_errors(last, fast_last)
    queries = last[:N_QUERIES]
    plain, mixed, all_fast = (
        _cosines(one, other)
        for one, other in (
            (queries, last),
            (queries, fast_last),
            (fast_last[:N_QUERIES], fast_last),
        )
    )
    found = [recall(plain, cosines, N_HITS) for cosines in (mixed, all_fast)]
    near = recall(_neighbours(last), _neighbours(fast_last), K)
    trial = trial_of(labels)
    with one_blas_thread():
        scores = [
            [label_score("mean", rows, trial).value for rows in reading.vectors]
            for reading in (exact, fast)
        ]
    best, apart = [max(values) for values in scores], np.abs(np.subtract(*scores)).max()
    maps = [project(vectors, MapSettings()).coordinates[-1] for vectors in (last, fast_last)]
    trust = [trustworthiness(last, places, n_neighbors=K, metric="cosine") for places in maps]
    rows = [
        ("time of the processor", f"{exact.seconds:.1f} s", f"{fast.seconds:.1f} s"),
        ("error of a cosine: median of all pairs", "", f"{median:.4f}"),
        ("error of a cosine: greatest", "", f"{greatest:.4f}"),
        (f"neighbours: recall@{K}", "1", f"{near:.3f}"),
        (f"search with an exact query: recall@{N_HITS}", "1", f"{found[0]:.3f}"),
        (f"search with a fast query: recall@{N_HITS}", "1", f"{found[1]:.3f}"),
        ("Probe: accuracy at the best layer", *(f"{value:.1%}" for value in best)),
        ("Probe: largest difference at one layer", "", f"{apart:.1%}"),
        (f"map: trustworthiness of {K} in the exact space", *(f"{value:.3f}" for value in trust)),
    ]
    print("| what | exact | fast |\n| --- | --: | --: |")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    path = parser.parse_args().file
    corpus = to_corpus(read(path.name, path.read_bytes(), max_bytes=100_000_000), "text", ["label"])
    chosen = np.random.default_rng(0).permutation(len(corpus.texts))[:N_TEXTS].tolist()
    report(
        [corpus.texts[i] for i in chosen],
        [corpus.labels["label"][i] for i in chosen],
        path.name,
    )
