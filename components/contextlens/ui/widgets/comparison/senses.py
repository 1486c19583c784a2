"""The meanings of a word's uses in a comparison, by their labelled senses. No streamlit in here.

All pages take their conclusion on the meaning of two uses from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

import numpy as np

from contextlens.analysis.sense_names import Naming, SenseNames, Verdict, meaning_of
from contextlens.analysis.similarity import Comparison
from contextlens.analysis.words import word_vectors
from contextlens.content.bundled_texts import ambiguous_words, sense_titles
from contextlens.content.wording import shortened
from contextlens.core.schema import FloatArray
from contextlens.core.words import folded
from contextlens.ui.widgets.comparison.compute import Portrait

_ENDINGS = (("s", ""), ("es", ""), ("ies", "y"))
_PLURALS = {"mice": "mouse", "arms": "", "glasses": ""}
"""Plurals with another ending, or with a meaning of their own."""
_MAX_TITLE = 28  # characters of a label in a sentence
_NUMBER = re.compile(r"[-+\u2212]?\d+([.,]\d+)?")
_PLAIN = re.compile(r"[^\W_]([\w '\u2019&/-]*[^\W_])?")


@dataclass(frozen=True, eq=False)
class OwnSenses:
    """The senses of a word by the labels of a collection that the visitor chose.

    Attributes:
        word: the word, folded.
        names: the senses with their centroids at each layer.
        collection: the collection's title.
        column: the title of its column of labels.
        n: the number of texts that the names come from.
        n_total: the number of texts with the word and a label; more than n if those are a sample.
    """

    word: str
    names: SenseNames
    collection: str
    column: str
    n: int
    n_total: int

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """Each label as sentences name it, on one line; no two look the same."""
        labels = self.names.senses.tolist()
        titles = [self._title(label) for label in labels]
        return {
            label: title if titles.count(title) == 1 else f"{title} ({i})"
            for i, (label, title) in enumerate(zip(labels, titles, strict=True), start=1)
        }

    def _title(self, label: str) -> str:
        short = shortened(label, _MAX_TITLE)
        if short.endswith("\u2026") and " " in short:
            short = short[: short.rindex(" ")] + "\u2026"  # not within a word
        if _NUMBER.fullmatch(label):
            return f"{shortened(self.column, _MAX_TITLE - 8)} {short}"
        return short if _PLAIN.fullmatch(short) else f"\u201c{short}\u201d"


@dataclass(frozen=True, eq=False)
class NamedUses:
    """The uses of one word in the sentences of a comparison, each with its sense.

    Attributes:
        word: the word in the ready corpus, "bank" for "Banks"; or in the visitor's collection.
        names: the senses with their centroids at each layer.
        layer: the shown layer.
        items: the index of each use in `Comparison.items`.
        letters: the letter of each use's sentence.
        vectors: (n_uses, n_layers, n_dims) the word vectors, not centred.
        namings: the sense of each use at the layer.
        verdict: the conclusion on whether all of them have the same meaning; `CANNOT_TELL` for
            one use.
        own: the visitor's collection, if the senses are its labels; None for the ready corpus.
    """

    word: str
    names: SenseNames
    layer: int
    items: tuple[int, ...]
    letters: tuple[str, ...]
    vectors: FloatArray
    namings: tuple[Naming, ...]
    verdict: Verdict
    own: OwnSenses | None = None

    @property
    def margin(self) -> float:
        """The lowest margin that gives a name at the layer; infinite if the layer gives none."""
        return float(self.names.margins[self.layer])

    @property
    def by_sense(self) -> dict[str | None, list[str]]:
        """The letters by their sense, in the order of the sentences; None for "cannot tell"."""
        groups: dict[str | None, list[str]] = {}
        for letter, naming in zip(self.letters, self.namings, strict=True):
            groups.setdefault(naming.sense, []).append(letter)
        return groups

    def title(self, sense: str) -> str:
        """Return a sense as sentences name it, "the animal"; no Markdown."""
        if self.own is not None:
            return self.own.titles[sense]
        return sense_titles().get((self.word, sense), sense)

    @property
    def lowest_cosine(self) -> float:
        """The lowest centred cosine of two of the uses at the layer."""
        return float(self.names.similarities(self.vectors[:, self.layer], self.layer).min())

    def nearest_two(self, use: int) -> tuple[str, str]:
        """Return the two senses that a use is nearest to at the layer, the nearest first."""
        order = np.argsort(-self.cosines()[use, self.layer], kind="stable")[:2]
        first, second = self.names.senses[order].tolist()
        return first, second

    def cosines(self) -> FloatArray:
        """(n_uses, n_layers, n_senses) centred cosine of each use to each sense's centroid."""
        return np.stack([self.names.cosines(vectors) for vectors in self.vectors])


@cache
def _covered_words() -> frozenset[str]:
    return frozenset(row.word for row in ambiguous_words())


def senses_of(word: str) -> tuple[str, ...]:
    """Return the senses of a word in the ready corpus, in its order; none for other words."""
    base = covered(word)
    return tuple(dict.fromkeys(row.sense for row in ambiguous_words() if row.word == base))


def covered(word: str) -> str | None:
    """Return the word of the ready corpus that a word is, or is the plural of; None if neither."""
    wanted = folded(word)
    if wanted in _PLURALS:
        return _PLURALS[wanted] or None
    forms = [wanted] + [
        wanted.removesuffix(ending) + base for ending, base in _ENDINGS if wanted.endswith(ending)
    ]
    return next((form for form in forms if form in _covered_words()), None)


def covered_word(comparison: Comparison) -> str | None:
    """Return the word of the ready corpus that all sentences have chosen; None if they differ."""
    return _common(comparison, covered)


def shared_word(comparison: Comparison) -> str | None:
    """Return the word that all sentences have chosen, folded; None if they differ."""
    return _common(comparison, folded)


def _common(comparison: Comparison, base: Callable[[str], str | None]) -> str | None:
    chosen = [item for item in comparison.items if item.role == "sentence"]
    words = {base(item.word) for item in chosen}
    has_unknown = any(item.unknown for item in chosen)
    return words.pop() if len(words) == 1 and not has_unknown else None


def named_uses(
    portrait: Portrait, names: SenseNames | None, own: OwnSenses | None = None
) -> NamedUses | None:
    """Return the senses of the sentences' words at the shown layer; None without names for them.

    Args:
        portrait: the comparison.
        names: those of `covered_word(portrait.comparison)`.
        own: those of `shared_word(portrait.comparison)` by the visitor's labels, which come first.
    """
    word, layers = covered_word(portrait.comparison), portrait.comparison.layers
    if own is not None:
        word, names = own.word, own.names
    uses = [
        (i, chosen)
        for i, chosen in enumerate(portrait.meaning.chosen)
        if chosen.item.role == "sentence"
    ]
    if names is None or word is None or not uses or layers != tuple(range(len(names.margins))):
        return None
    return uses_at(
        portrait.layer,
        word,
        names,
        np.stack([word_vectors(chosen.encoding, chosen.span) for _, chosen in uses]),
        letters=[chosen.item.label for _, chosen in uses],
        items=[i for i, _ in uses],
        own=own,
    )


def uses_at(
    layer: int,
    word: str,
    names: SenseNames,
    vectors: FloatArray,
    *,
    letters: Sequence[str],
    items: Sequence[int],
    own: OwnSenses | None = None,
) -> NamedUses:
    """Return the senses of uses of a word at a layer from their vectors at all layers.

    Args:
        layer, word, names, vectors, letters, items, own: as in `NamedUses`.
    """
    namings = tuple(names.name(vector, layer) for vector in vectors[:, layer])
    is_last = layer == vectors.shape[1] - 1
    cosines = names.similarities(vectors[:, layer], layer) if is_last else None
    verdict = verdict_of(namings, cosines)
    return NamedUses(
        word, names, layer, tuple(items), tuple(letters), vectors, namings, verdict, own
    )


def verdict_of(namings: Sequence[Naming], cosines: FloatArray | None = None) -> Verdict:
    """Return the conclusion on whether uses of a word have the same meaning.

    Args:
        namings: the sense of each use.
        cosines: (n, n) centred cosines of the uses at the last layer; None at others, where a high
            cosine does not show one meaning.
    """
    verdicts = {
        meaning_of(namings[i], namings[j], -1.0 if cosines is None else float(cosines[i, j]))
        for i, j in combinations(range(len(namings)), 2)
    }
    return _overall(verdicts)


def _overall(verdicts: Iterable[Verdict]) -> Verdict:
    found = set(verdicts)
    if Verdict.DIFFERENT in found:
        return Verdict.DIFFERENT
    return Verdict.SAME if found == {Verdict.SAME} else Verdict.CANNOT_TELL
