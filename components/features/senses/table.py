"""`python -m components.features.senses.table`: nearest-centroid accuracy by word and layer.

Of the ambiguous words that ship with the app; `docs/senses.md` shows what it prints.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

from components.analysis.separation import Separation
from components.content.wording import percent
from components.core import BUNDLED_ID, EncoderService, open_service
from components.corpus.bundled import ambiguous_corpus
from components.corpus.live import LiveCorpus
from components.features.senses.words import WordUses, course_of, word_in

__all__ = ["main", "table"]


def table(service: EncoderService, model: str = BUNDLED_ID) -> str:
    """The table in Markdown: words down, layers across, the best of each word in bold."""
    corpus = LiveCorpus(ambiguous_corpus(), service, model)
    curves: list[tuple[WordUses, Sequence[Separation]]] = []
    for word in dict.fromkeys(ambiguous_corpus().labels["word"]):
        found = word_in(corpus, word, "sense")
        if isinstance(found, WordUses):
            curves.append((found, course_of(found, corpus).curve))
    head = ["word", "senses", "n", "guessing", *(f"layer {n}" for n in corpus.layers)]
    lines = [_row(head), _row(["---", *["--:"] * (len(head) - 1)])]
    lines += [_row(_cells(found, curve)) for found, curve in curves]
    return "\n".join([*lines, _row(_means(curves))])


def main(given: Sequence[str] | None = None) -> None:
    """Print the table of one model."""
    parser = argparse.ArgumentParser(
        prog="python -m components.features.senses.table", description=__doc__
    )
    parser.add_argument("--model", default=BUNDLED_ID, help="a model's id (default: the bundled)")
    print(table(open_service(), parser.parse_args(given).model))


def _cells(found: WordUses, curve: Sequence[Separation]) -> list[str]:
    most = max(own.right for own in curve)
    shares = [percent(own.accuracy) for own in curve]
    marked = [
        f"**{share}**" if own.right == most else share
        for share, own in zip(shares, curve, strict=True)
    ]
    trial = found.trial
    return [found.word, str(len(found.senses)), str(curve[0].n), percent(trial.chance), *marked]


def _means(curves: Sequence[tuple[WordUses, Sequence[Separation]]]) -> list[str]:
    """The mean over the words, with equal weights."""
    chance = math.fsum(found.trial.chance for found, _ in curves) / len(curves)
    layers = zip(*(curve for _, curve in curves), strict=True)
    shares = [math.fsum(own.accuracy for own in column) / len(curves) for column in layers]
    best = max(shares)
    said = [f"**{percent(s)}**" if s == best else percent(s) for s in shares]
    n = sum(curve[0].n for _, curve in curves)
    return ["mean of the words", "", f"{n:,}", percent(chance), *said]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
