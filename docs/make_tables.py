"""`python docs/make_tables.py senses` prints the table of docs/senses.md.

`heads` prints that of docs/why.md, in some minutes. A second argument is the ID of a model that
takes the place of the bundled one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from contextlens.content.wording import percent
from contextlens.core import BUNDLED_ID, EncoderService, open_service
from contextlens.core.cache import CachedService
from contextlens.corpus.bundled import ambiguous_corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.features.senses.words import WordUses, course_of, word_in
from contextlens.features.why.switch_off import head_costs

WORDS = tuple(dict.fromkeys(ambiguous_corpus().labels["word"]))
N_HEADS, N_LOSERS = 10, 3


def senses_table(service: EncoderService, model: str, words: Sequence[str] = WORDS) -> str:
    """Nearest-centroid accuracy: words down, layers across, the best of each word in bold."""
    corpus = LiveCorpus(ambiguous_corpus(), service, model)
    found = [word_in(corpus, word, "sense") for word in words]
    uses = [word for word in found if isinstance(word, WordUses)]
    curves = [course_of(word, corpus).curve for word in uses]
    chances = [word.trial.chance for word in uses]
    rows = []
    for word, curve in zip(uses, curves, strict=True):
        shares = _bold_best([test.accuracy for test in curve])
        rows.append([word.word, len(word.senses), curve[0].n, percent(word.trial.chance), *shares])
    means = np.mean([[test.accuracy for test in curve] for curve in curves], axis=0)
    n = sum(curve[0].n for curve in curves)
    rows.append(["mean of the words", "", f"{n:,}", percent(np.mean(chances)), *_bold_best(means)])
    head = ["word", "senses", "n", "guessing", *(f"layer {layer}" for layer in corpus.layers)]
    return _markdown(head, ["---", *["--:"] * (len(head) - 1)], rows)


def heads_table(service: EncoderService, model: str, words: Sequence[str] = WORDS) -> str:
    """The heads whose absence lowers the separation of senses most, and what all of them do."""
    uncached = service.uncached if isinstance(service, CachedService) else service
    costs = head_costs(uncached, uncached.load(model), words)
    mean_gap, rows = float(costs.gaps.mean()), []
    for place, (layer, head) in enumerate(costs.dearest(N_HEADS), start=1):
        changes = costs.changes[:, layer - 1, head]
        losers = [i for i in np.argsort(changes, kind="stable") if changes[i] < 0]
        rows.append([
            place,
            f"layer {layer}, head {head}",
            f"{changes.mean():+.4f}",
            f"{changes.mean() / mean_gap:+.1%}",
            f"{len(losers)} of {len(changes)}",
            ", ".join(f"{costs.words[i]} ({changes[i]:+.3f})" for i in losers[:N_LOSERS]),
        ])  # fmt: skip
    head = ["", "head", "change of the gap", "of it", "words that lose", "most"]
    table = _markdown(head, ["--:", "---", "--:", "--:", "--:", "---"], rows)
    means = costs.changes.mean(axis=0)
    return (
        f"{table}\n\nWith all heads on, the gap is {mean_gap:.4f} on average over "
        f"{len(costs.words)} words. {(means < 0).sum()} of {means.size} heads lower it when they "
        f"are off, and the largest rise is {means.max():+.4f}."
    )


def _bold_best(shares: Sequence[float]) -> list[str]:
    return [f"**{percent(s)}**" if s == max(shares) else percent(s) for s in shares]


def _markdown(head: Sequence[str], rule: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in (head, rule, *rows))


TABLES = {"senses": senses_table, "heads": heads_table}

if __name__ == "__main__":
    name, model = (*sys.argv[1:], BUNDLED_ID)[:2]
    print(TABLES[name](open_service(), model))
