"""`python docs/make_tables.py senses` prints the table of docs/senses.md.

`heads` prints that of docs/why.md, in some minutes. A second argument is the ID of a model that
takes the place of the bundled one. `families` prints the table of docs/models.md, `exports` that of
docs/files.md.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from contextlens.analysis.shares import Doubles
from contextlens.content.bundled_texts import SenseSentence, measured_words
from contextlens.content.wording import percent
from contextlens.core import BUNDLED_ID, EncoderService, ModelCard, open_service
from contextlens.core.errors import RequestError
from contextlens.core.families import FAMILIES
from contextlens.core.schema import Intervention
from contextlens.core.words import find_word
from contextlens.corpus.bundled import sample_corpus
from contextlens.corpus.exports.reading import EXPORTS, TABLE_KINDS
from contextlens.corpus.live import LiveCorpus
from contextlens.features.senses.layers import word_layers
from contextlens.features.senses.occurrences import WordUses, word_in
from contextlens.features.why.score import ModelRun, vectors_of, weights_of
from contextlens.features.why.switch_off import parts_of

WORDS = tuple(dict.fromkeys(sample_corpus().labels["word"]))
N_HEADS, N_LOSERS = 10, 3


def senses_table(service: EncoderService, model: str, words: Sequence[str] = WORDS) -> str:
    """Nearest-centroid accuracy: words down, layers across, the best of each word in bold."""
    corpus = LiveCorpus(sample_corpus(), service, model)
    found = [word_in(corpus, word, "sense") for word in words]
    uses = [word for word in found if isinstance(word, WordUses)]
    curves = [word_layers(word, corpus).curve for word in uses]
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
    uncached = service.uncached
    costs = head_costs(uncached, uncached.load(model), words)
    mean_gap, rows = float(costs.gaps.mean()), []
    for place, (layer, head) in enumerate(costs.dearest(N_HEADS), start=1):
        changes = costs.changes[:, layer - 1, head]
        losers = [i for i in np.argsort(changes, kind="stable") if changes[i] < 0]
        rows.append([
            place,
            f"layer {layer}, head {head + 1}",
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


_POSITIONS = {"bias": "a bias", "distances": "distances", "rotation": "rotation"}


def families_table(*_: object) -> str:
    """What tells the supported families apart, as `core.families` describes them."""
    rows = []
    for family in FAMILIES.values():
        start = ", from the row after padding" if family.skips_positions else ""
        told = [f"a table{start}"] if family.has_positions else []
        told += [f"{_POSITIONS[family.positions]} in attention"] if family.positions else []
        layers = "shared" if family.parts.are_shared else "separate"
        layers += ", each reads layer 0 too" if family.parts.layer_inputs else ""
        layers += f", then a final {family.parts.norm}" if family.parts.final_norm else ""
        pooler = "yes" if family.publishes_pooler else "seldom published"
        rows.append([
            f"`{family.model_type}`",
            ", and ".join(told),
            {True: "yes", False: "no", None: "in some models"}[family.has_segments],
            pooler if family.has_pooler else "no",
            layers,
            "yes",
        ])  # fmt: skip
    head = ["family", "positions", "segments", "pooler", "layers", "interventions, gradients"]
    return _markdown(head, ["---"] * len(head), rows)


def exports_table(*_: object) -> str:
    """What is read of the files of other tools, as their readers describe it."""
    rows = [
        [own.tool, own.files, own.texts, own.marks, own.labels, own.left_out]
        for own in (*EXPORTS.values(), *TABLE_KINDS)
    ]
    head = ["Tool", "Files", "Text", "Marked word", "Label", "Left out, counted or named"]
    return _markdown(head, ["---"] * len(head), rows)


class HeadCosts(NamedTuple):
    """The gap between the cosines within a sense and those across senses, with each head off.

    Attributes:
        words: the words measured.
        gaps: (n_words,) with all heads on, at the last layer.
        changes: (n_words, n_layers, n_heads) changes of the gap with that head off.
    """

    words: tuple[str, ...]
    gaps: Doubles
    changes: Doubles

    def dearest(self, n: int) -> list[tuple[int, int]]:
        """Layer (from 1) and head (from 0) of those whose absence lowers the mean gap most."""
        means = self.changes.mean(axis=0)
        order = np.argsort(means, axis=None, kind="stable")[:n]
        rows, heads = np.unravel_index(order, means.shape)
        return [(int(row) + 1, int(head)) for row, head in zip(rows, heads, strict=True)]


def head_costs(
    service: EncoderService,
    card: ModelCard,
    words: Sequence[str] = (),
) -> HeadCosts:
    """Measure how the gap changes when each head in turn is set to zero, for ambiguous words.

    Args:
        service: runs the model; preferably without a cache.
        card: the model's card.
        words: some of the ambiguous words; all if none are given.
    """
    measured = tuple(words) or tuple(dict.fromkeys(sentence.word for sentence in measured_words()))
    gaps, changes = [], []
    for word in measured:
        sentences = [sentence for sentence in measured_words() if sentence.word == word]
        runs = list(filter(None, (_sense_run(sentence, service, card) for sentence in sentences)))
        senses = [sense for sense, _ in runs]
        parts = parts_of(range(1, card.n_layers + 1), card.n_heads, "zero")
        heads = [part for part in parts if part.part == "head"]
        interventions: list[tuple[Intervention, ...]] = [(), *((head,) for head in heads)]
        vectors = vectors_of(
            [ModelRun(run.text, None, run.weigh, off) for off in interventions for _, run in runs],
            service,
            card,
            layer=card.n_layers,
        )
        n = len(runs)
        word_gaps = [
            sense_gap(np.stack(vectors[i : i + n]), senses) for i in range(0, len(vectors), n)
        ]
        gaps.append(word_gaps[0])
        shape = (card.n_layers, card.n_heads)
        changes.append((np.array(word_gaps[1:]) - word_gaps[0]).reshape(shape))
    return HeadCosts(measured, np.array(gaps), np.stack(changes))


def _sense_run(
    sentence: SenseSentence, service: EncoderService, card: ModelCard
) -> tuple[str, ModelRun] | None:
    """A sentence's sense and run; None if the model does not read its word."""
    span = find_word(sentence.text, sentence.word)
    (tokens,) = service.tokenize(card.id, [sentence.text])
    try:
        weights_of(tokens, "word", span)
    except RequestError:
        return None
    return sentence.sense, ModelRun(
        sentence.text, None, lambda read: weights_of(read, "word", span)
    )


def sense_gap(vectors: Doubles, senses: Sequence[str]) -> float:
    """The mean cosine of pairs of one sense, less that of pairs of two senses.

    It changes gradually with every head, while an accuracy jumps with each sentence.

    Args:
        vectors: (n, n_dims) of one word in n sentences; at least two of one sense, and two senses.
        senses: (n,) the sense in each.

    Raises:
        ValueError: there are no pairs of one sense, or none of two.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    first, second = np.triu_indices(len(units), 1)
    names = np.array(senses)
    same = names[first] == names[second]
    if not same.any() or same.all():
        raise ValueError("A gap needs pairs of one sense and pairs of two senses.")
    cosines = (units @ units.T)[first, second]
    return float(cosines[same].mean() - cosines[~same].mean())


def _bold_best(shares: Sequence[float]) -> list[str]:
    return [f"**{percent(s)}**" if s == max(shares) else percent(s) for s in shares]


def _markdown(head: Sequence[str], rule: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in (head, rule, *rows))


TABLES = {
    "senses": senses_table,
    "heads": heads_table,
    "families": families_table,
    "exports": exports_table,
}

if __name__ == "__main__":
    name, model = (*sys.argv[1:], BUNDLED_ID)[:2]
    print(TABLES[name](open_service(), model))
