"""`python -m tests.benchmarks.sense_names natural_senses.zip`: names of senses on natural text.

The file has CoarseWSD-20 (Loureiro et al. 2021) in folders `coarsewsd/WORD/`: `test.data.txt` (the
place of the word among those between spaces, a tab, the text), `test.gold.txt` (a number a line).
For all pairs of up to 200 texts of each word that the ready corpus has too: how often a verdict is
given at the last layer, how often it is right, and how often uses of one sense are called
different. Senses that the ready corpus lacks count in the last line only. About two minutes.
"""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from contextlens import open_service
from contextlens.analysis.sense_names import SenseNames, Verdict, meaning_of
from contextlens.analysis.words import word_vectors
from contextlens.core import BUNDLED_ID, EncoderService, ModelCard, Settings
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray
from contextlens.core.words import Span
from contextlens.ui.models import tasks

__all__ = ["Score", "score"]

MOST_TEXTS = 200
SENSES = {
    "apple": ("company", "fruit"),
    "bank": ("money", "river"),
    "bow": ("ship", "weapon", "violin"),
    "chair": ("chairperson", "furniture"),
    "crane": ("machine", "bird"),
    "deck": ("ship", "terrace"),
    "java": ("island", "language"),
    "mole": ("animal", "spy", "chemistry"),
    "seal": ("animal", "", "stamp", "closure"),
    "spring": ("water", "season", "coil"),
}
"""The ready corpus's name of each numbered sense; "" or nothing for a sense that it lacks."""


@dataclass(frozen=True)
class Score:
    """Shares of pairs of uses.

    Attributes:
        given: with a verdict.
        right: of these, right.
        false_two: of the pairs of one sense, called different.
        n: the number of pairs.
    """

    given: float
    right: float
    false_two: float
    n: int


def score(verdicts: Sequence[Verdict], is_same: Sequence[bool]) -> Score:
    """Return the shares of verdicts that are given and right, from the truth of each pair."""
    given = [verdict is not Verdict.CANNOT_TELL for verdict in verdicts]
    right = [
        verdict is (Verdict.SAME if same else Verdict.DIFFERENT)
        for verdict, same in zip(verdicts, is_same, strict=True)
    ]
    of_one = [v is Verdict.DIFFERENT for v, same in zip(verdicts, is_same, strict=True) if same]
    return Score(
        float(np.mean(given)),
        sum(right) / max(1, sum(given)),
        float(np.mean(of_one or [False])),
        len(verdicts),
    )


def _read(file: zipfile.ZipFile, word: str) -> tuple[list[tuple[str, Span]], list[str]]:
    """Return up to `MOST_TEXTS` texts with the span of the word, and their senses."""
    lines = {
        name: file.read(f"coarsewsd/{word}/test.{name}.txt").decode().splitlines()
        for name in ("data", "gold")
    }
    texts, senses = [], []
    for line, gold in zip(lines["data"], lines["gold"], strict=True):
        place, text = line.split("\t")
        words, index = text.split(" "), int(place.split()[0])
        start = len(" ".join([*words[:index], ""]))
        texts.append((text, (start, start + len(words[index]))))
        known, number = SENSES[word], int(gold.split()[0])
        senses.append(known[number] if number < len(known) else "")
    chosen = Random(0).sample(range(len(texts)), min(MOST_TEXTS, len(texts)))
    return [texts[i] for i in chosen], [senses[i] for i in chosen]


def _vectors(
    texts: Sequence[tuple[str, Span]], service: EncoderService, card: ModelCard
) -> list[FloatArray | None]:
    """Return each word's vector at the last layer; None where it is cut off."""
    encodings = service.encode(card.id, [text for text, _ in texts], layers=[card.n_layers])
    vectors: list[FloatArray | None] = []
    for encoding, (_, span) in zip(encodings, texts, strict=True):
        try:
            vectors.append(word_vectors(encoding, span)[0])
        except RequestError:
            vectors.append(None)
    return vectors


def _verdicts(names: SenseNames, vectors: FloatArray, layer: int) -> list[list[Verdict]]:
    cosines = names.similarities(vectors, layer)
    namings = [names.name(vector, layer) for vector in vectors]
    return [
        [meaning_of(namings[i], namings[j], float(cosines[i, j])) for j in range(i)]
        for i in range(len(namings))
    ]


def _line(name: str, shares: Score) -> str:
    return (
        f"{name:22} {shares.n:8,} pairs · given {shares.given:5.1%} · right {shares.right:5.1%} "
        f"· one sense called two {shares.false_two:5.1%}"
    )


def _mean(name: str, scores: Sequence[Score]) -> str:
    """A line of the mean of the words: a word without verdicts has none that are right."""
    judged = sum(own.given for own in scores)
    return _line(
        name,
        Score(
            float(np.mean([own.given for own in scores])),
            sum(own.given * own.right for own in scores) / max(judged, 1e-9),
            float(np.mean([own.false_two for own in scores])),
            sum(own.n for own in scores),
        ),
    )


def main() -> None:
    """Print a line for each word, and one for all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    settings = Settings.from_env()
    service = open_service(settings)
    card = service.load(BUNDLED_ID)
    baseline = tasks.read_baseline(card, service, settings.data_dir)
    known_scores, all_scores = [], []
    with zipfile.ZipFile(parser.parse_args().file) as file:
        for word in SENSES:
            texts, senses = _read(file, word)
            task = tasks.measure_senses(card, service, baseline, word, settings.data_dir)
            names: SenseNames = task.work(None)
            read = [
                (vector, sense)
                for vector, sense in zip(_vectors(texts, service, card), senses, strict=True)
                if vector is not None
            ]
            verdicts = _verdicts(names, np.stack([vector for vector, _ in read]), card.n_layers)
            labels = [sense for _, sense in read]
            pairs = [(i, j) for i in range(len(labels)) for j in range(i)]
            # Two senses that the corpus lacks may be different ones, so such a pair has no truth.
            every = [(i, j) for i, j in pairs if labels[i] or labels[j]]
            known = [(i, j) for i, j in pairs if labels[i] and labels[j]]
            known_score, all_score = (
                score([verdicts[i][j] for i, j in own], [labels[i] == labels[j] for i, j in own])
                for own in (known, every)
            )
            known_scores.append(known_score)
            all_scores.append(all_score)
            print(_line(word, known_score), flush=True)
    print(_mean("mean of the words", known_scores))
    print(_mean("with other senses too", all_scores))


if __name__ == "__main__":
    main()
