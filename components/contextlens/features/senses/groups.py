"""The groups of a word's occurrences at one layer, found without the labels of their senses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from contextlens.analysis.separation import scaled, silhouette
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import shortened
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.features.senses.controls import FOUND, group_name
from contextlens.features.senses.layers import principal_components
from contextlens.features.senses.occurrences import WordUses
from contextlens.features.senses.word_map import color_of
from contextlens.maps.clusters import cluster
from contextlens.maps.typical import count_terms, typical_of

FORMULA = r"""
**Automatic.** HDBSCAN (Campello, Moulavi and Sander 2013) looks for dense places on the first 10
principal components of the scaled vectors; a group has at least 5 members, and half the square root
of the number of occurrences where that is more. On fewer components it would find groups in clouds
that have none. Where nothing is dense, $k$-means (seeded) splits the scaled vectors into the number
of groups, from 2 to 6, with the highest silhouette of $k$-means on these components.

**Adjusted Rand index** (Hubert and Arabie 1985) of groups and labelled senses: 1 where they are the
same, 0 on average for groups drawn at random. It is over the labelled occurrences; those in no
group count as one group more. Beside it stands what shuffled labels reach in 5 of 100 cases.

**Typical words** are those of the group's contexts with the highest class-based TF-IDF
(Grootendorst 2022); words in several contexts come first. **Central** are the three occurrences
with the highest cosine to the mean of the group's scaled vectors.

**The map** shows the first two principal components of the scaled vectors at each layer, turned or
mirrored onto the layer before (orthogonal Procrustes); distances on it are those of the two
components and no more.
""".strip()

N_COMPONENTS = 10
"""Maximum number of principal components for HDBSCAN."""
MAX_TRIED_GROUPS = 6
"""Maximum number of groups when searching for the best number."""
N_SHUFFLES = 100
_SEED = 0
_MIN_MEAN_SIZE = 5  # vectors in a group, on average
_MANY = 500  # with more vectors, k-means has fewer starts, and `best_k` uses a sample
_HIGH = 0.95
_GOOD = 0.8  # an adjusted Rand index from here on is good (Steinley 2004)

_N_TYPICAL = 5
_N_TRIED = 200  # most typical words to choose from; those in several contexts come first
_SEVERAL = 2  # contexts
_TYPICAL_WIDTH = 200  # characters on each side of an occurrence searched for typical words
_ROW_WIDTH, _CARD_WIDTH = 60, 44  # characters on each side of an example's word
_N_CARD_SENSES = 4
_CARD_CHARACTERS = 40


@dataclass(frozen=True)
class UseGroup:
    """One group of a word's occurrences.

    Attributes:
        number: 0 for the largest.
        n: its number of occurrences.
        words: the typical words of its contexts, in the order of `_typical`.
        central: the indices of the three occurrences nearest to its mean, nearest first.
        senses: the count of each labelled sense in it, the most frequent first.
    """

    number: int
    n: int
    words: tuple[str, ...]
    central: tuple[int, ...]
    senses: tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups at one layer.

    Attributes:
        layer: the layer.
        n_requested: the requested number; 0 for automatic.
        method: "dense" for HDBSCAN, "k" for k-means, "none" for no groups.
        groups: (n,) each occurrence's group; -1 for none.
        descriptions: the groups, the largest first.
        rand: adjusted Rand index with the labelled senses; nan without at least two of them.
        shuffled: the index that 5 of 100 shufflings of the labels reach; nan in the same cases.
        problem: the reason why there are no groups, one plain sentence; "" if there are.
        n_labelled: the number of occurrences with a sense.
    """

    layer: int
    n_requested: int
    method: Literal["dense", "k", "none"]
    groups: IntArray
    descriptions: tuple[UseGroup, ...] = ()
    rand: float = math.nan
    shuffled: float = math.nan
    problem: str = ""
    n_labelled: int = 0

    @property
    def n_none(self) -> int:
        """The number of occurrences in no group."""
        return int((self.groups < 0).sum())

    def claims(self) -> list[Claim]:
        """The number of groups, and how well they match labelled senses; none with a problem."""
        if self.problem:
            return []
        n, match = len(self.descriptions), self.match
        if match and self.method == "k":
            return [claim(f"senses.groups.split.{match}", n=n, **self._inside())]
        case = "dense" if self.method == "dense" else "asked" if self.n_requested else "kmeans"
        claims = [claim(f"senses.groups.{case}", n=n, layer=self.layer)]
        if self.n_none:
            claims.append(claim("senses.groups.outside", n=self.n_none))
        return (
            [*claims, claim(f"senses.groups.match.{match}", **self._inside())] if match else claims
        )

    def _inside(self) -> dict[str, int]:
        """The numbers of uses of the commonest sense of their group, and of all labelled ones."""
        inside = sum(group.senses[0][1] for group in self.descriptions if group.senses)
        return {"inside": inside, "total": self.n_labelled}

    @property
    def match(self) -> Literal["well", "partly", "not", ""]:
        """How well the groups match the labelled senses, by the displayed digits.

        "well" from `_GOOD` on; "not" if shuffled labels reach the same; "" without two senses.
        """
        if math.isnan(self.rand):
            return ""
        rand = round(self.rand, 2)
        if rand <= round(self.shuffled, 2):
            return "not"
        return "well" if rand >= _GOOD else "partly"

    def sure(self) -> list[Claim]:
        """The agreement of the groups with the labelled senses; no claims without such senses."""
        if math.isnan(self.rand):
            return []
        return [claim("senses.groups.agreement", rand=self.rand, shuffled=self.shuffled)]

    def rows(self, uses: WordUses) -> list[dict[str, str | int]]:
        """A row for each group."""
        return [
            {
                "group": group_name(group.number),
                "occurrences": group.n,
                "typical words": ", ".join(group.words),
                "senses": ", ".join(f"{sense} ({n})" for sense, n in group.senses),
                **{
                    f"example {i}": "".join(uses.around(index, _ROW_WIDTH))
                    for i, index in enumerate(group.central, 1)
                },
            }
            for group in self.descriptions
        ]


def grouping_of(uses: WordUses, units: FloatArray, layer: int, how: str) -> Grouping:
    """The groups at a layer: found automatically, or as many as `how` says; computed once.

    Args:
        uses: the word and its occurrences.
        units: (n, n_dims) their scaled vectors at the layer.
        layer: the layer.
        how: an option of the control for the number of groups.
    """
    return remembered(
        "senses: groups", uses.key, layer, how, compute=lambda: _grouping(uses, units, layer, how)
    )


def _grouping(uses: WordUses, units: FloatArray, layer: int, how: str) -> Grouping:
    n_requested = 0 if how == FOUND else int(how)
    problem, groups = "", np.full(uses.n, -1, dtype=np.int64)
    method: Literal["dense", "k", "none"] = "none"
    if uses.n < 2:
        problem = say("senses.missing.one_use")
    else:
        try:
            groups, method = _groups(units, n_requested)
        except RequestError as exc:
            problem = str(exc)
    if method == "none":
        problem = problem or say("senses.missing.too_few")
        return Grouping(layer, n_requested, method, groups, problem=problem)
    words = _typical(uses, units, groups)
    numbers = range(int(groups.max()) + 1)
    has_senses = len(uses.senses) > 1
    return Grouping(
        layer=layer,
        n_requested=n_requested,
        method=method,
        groups=groups,
        descriptions=tuple(_group(uses, units, groups, i, words.get(i, ())) for i in numbers),
        rand=agreement(groups, uses.codes) if has_senses else math.nan,
        shuffled=shuffled_agreement(groups, uses.codes) if has_senses else math.nan,
        n_labelled=int((uses.codes >= 0).sum()),
    )


def _groups(units: FloatArray, n_requested: int) -> tuple[IntArray, Literal["dense", "k", "none"]]:
    """The requested groups; else the dense ones, else those with the highest silhouette."""
    if n_requested:
        return k_groups(units, n_requested), "k"
    dense = dense_groups(units)
    if (dense >= 0).any():
        return dense, "dense"
    k = best_k(units)
    return (k_groups(units, k), "k") if k else (dense, "none")


def _group(
    uses: WordUses, units: FloatArray, groups: IntArray, number: int, words: tuple[str, ...]
) -> UseGroup:
    members = np.flatnonzero(groups == number)
    senses = Counter(uses.labels[i] for i in members.tolist() if uses.labels[i])
    ordered = sorted(senses.items(), key=lambda pair: (-pair[1], pair[0]))
    examples = tuple(central(units, groups, number))
    return UseGroup(number, len(members), words, examples, tuple(ordered))


def _typical(uses: WordUses, units: FloatArray, groups: IntArray) -> dict[int, tuple[str, ...]]:
    """The typical words of the groups' contexts, without the word itself.

    Words in several of a group's contexts come first, then words of its central examples. No other
    words are used: with few contexts, nearly every word is in only one.
    """
    contexts = [uses.around(index, _TYPICAL_WIDTH) for index in range(uses.n)]
    terms = count_terms([f"{left} {right}" for left, _, right in contexts])
    candidates = typical_of(terms, np.arange(uses.n), groups, n_words=_N_TRIED)
    columns = {term: i for i, term in enumerate(terms.terms)}
    often = terms.counts.tocsc() > 0
    typical: dict[int, tuple[str, ...]] = {}
    for number, words in candidates.items():
        examples = central(units, groups, number)
        contexts_of = [often[:, [columns[word]]].nonzero()[0] for word in words]
        several = [(groups[rows] == number).sum() >= _SEVERAL for rows in contexts_of]
        near = [bool(np.isin(rows, examples).any()) for rows in contexts_of]
        ordered = sorted(range(len(words)), key=lambda i: (not several[i], not near[i]))
        typical[number] = tuple(words[i] for i in ordered[:_N_TYPICAL] if several[i] or near[i])
    return typical


# --- The vectors in groups


def components_of(units: FloatArray, n: int = N_COMPONENTS) -> FloatArray:
    """(n_vectors, at most n) float32: the vectors on their first principal components."""
    pca = principal_components(units, n)
    if pca is None:
        return np.zeros((len(units), 1), dtype=np.float32)
    components: FloatArray = pca.transform(units.astype(np.float64)).astype(np.float32)
    return components


def dense_groups(units: FloatArray) -> IntArray:
    """(n,) the group of each vector by HDBSCAN, as for maps: 0 the largest, -1 for none.

    A group has at least 5 members, or half the square root of the number of vectors if that is
    more.
    """
    return cluster(components_of(units))


def best_k(units: FloatArray) -> int:
    """The number of groups, 2 to `MAX_TRIED_GROUPS`, with the highest silhouette; 0 for too few.

    Groups have five members or more on average. k-means runs on the components that HDBSCAN uses;
    of more than 500 vectors, a sample with a fixed seed is used.
    """
    if len(units) > _MANY:
        rows = np.random.default_rng(_SEED).choice(len(units), _MANY, replace=False)
        units = units[np.sort(rows)]
    n, components = len(np.unique(units, axis=0)), components_of(units)
    scores = {
        k: silhouette(units, _k_means(components, k, n_starts=3))
        for k in range(2, min(MAX_TRIED_GROUPS, n // _MIN_MEAN_SIZE) + 1)
    }
    return max(scores, key=lambda k: scores[k]) if scores else 0


def k_groups(units: FloatArray, k: int) -> IntArray:
    """(n,) the group of each vector by seeded k-means into k groups: 0 the largest.

    It uses scaled vectors, so that distances rank as cosines do.

    Raises:
        RequestError: there are fewer different vectors than groups.
    """
    n = len(np.unique(units, axis=0))
    if not 1 <= k <= n:
        raise RequestError(
            f"{n} different vectors cannot make {k} groups. Choose {n} groups at most."
        )
    return _k_means(units, k, n_starts=10 if len(units) <= _MANY else 3)


def _k_means(vectors: FloatArray, k: int, *, n_starts: int) -> IntArray:
    from sklearn.cluster import KMeans

    labels = KMeans(k, n_init=n_starts, random_state=_SEED).fit(vectors.astype(np.float64)).labels_
    numbers, counts = np.unique(labels, return_counts=True)
    new = np.zeros(k, dtype=np.int64)
    new[numbers[np.lexsort((numbers, -counts))]] = np.arange(len(numbers))
    groups: IntArray = new[labels]
    return groups


def agreement(groups: IntArray, codes: IntArray) -> float:
    """Adjusted Rand index (Hubert and Arabie 1985) of groups and senses; nan for under two labels.

    Only labelled occurrences count. Those in no group form one more group, so that a grouping
    which leaves most out does not score well.
    """
    from sklearn.metrics import adjusted_rand_score

    is_labelled = codes >= 0
    if is_labelled.sum() < 2:
        return float("nan")
    return float(adjusted_rand_score(codes[is_labelled], groups[is_labelled]))


def shuffled_agreement(groups: IntArray, codes: IntArray) -> float:
    """The agreement that 5 of 100 shufflings of the labels reach; nan for under two labels."""
    is_labelled = codes >= 0
    if is_labelled.sum() < 2:
        return float("nan")
    random = np.random.default_rng(_SEED)
    labels, labelled_groups = codes[is_labelled], groups[is_labelled]
    values = [agreement(labelled_groups, random.permutation(labels)) for _ in range(N_SHUFFLES)]
    return float(np.quantile(values, _HIGH))


def central(units: FloatArray, groups: IntArray, group: int, n: int = 3) -> list[int]:
    """The members of a group nearest to its scaled mean, nearest first."""
    members = np.flatnonzero(groups == group)
    cosines = units[members] @ scaled(units[members].mean(axis=0))
    chosen: list[int] = members[np.argsort(-cosines, kind="stable")[:n]].tolist()
    return chosen


# --- The groups as cards


@dataclass(frozen=True)
class ColorShare:
    """A share of a group: its colour and its number of occurrences."""

    color: str
    n: int


@dataclass(frozen=True)
class CentralUse:
    """A central example: the identifier of the occurrence in its corpus, and its context."""

    row: int
    left: str
    keyword: str
    right: str


@dataclass(frozen=True)
class Card:
    """A group.

    Attributes:
        key: the key for choosing it: "g0".
        title: "group 1".
        n: its number of occurrences.
        words: its typical words, in one line; "" for none.
        parts: its shares, in the order of its strip of colours.
        made_of: its shares in words; "" for none.
        examples: its most central occurrences.
    """

    key: str
    title: str
    n: int
    words: str
    parts: tuple[ColorShare, ...]
    made_of: str
    examples: tuple[CentralUse, ...]


def group_cards(uses: WordUses, grouping: Grouping, by: str) -> list[Card]:
    """A card for each group, with its senses in their colours, or its own if `by` is "group"."""
    n_groups, rows = len(grouping.descriptions), uses.occurrences.rows.tolist()
    return [
        Card(
            key=f"g{group.number}",
            title=group_name(group.number),
            n=group.n,
            words=", ".join(group.words),
            parts=(ColorShare(color_of(group.number, n_groups), group.n),)
            if by == "group"
            else tuple(_sense_shares(uses, group)),
            made_of=_made_of(group),
            examples=tuple(
                CentralUse(rows[index], *uses.around(index, _CARD_WIDTH)) for index in group.central
            ),
        )
        for group in grouping.descriptions
    ]


def _sense_shares(uses: WordUses, group: UseGroup) -> Iterator[ColorShare]:
    for name, n in group.senses:
        yield ColorShare(color_of(uses.senses.index(name), len(uses.senses)), n)
    n_none = group.n - sum(n for _, n in group.senses)
    if n_none:
        yield ColorShare(color_of(-1, 0), n_none)


def _made_of(group: UseGroup) -> str:
    """A group's most frequent senses, with their counts."""
    if group.senses and group.senses[0][1] == group.n:
        return f"all {shortened(group.senses[0][0], _CARD_CHARACTERS)}"
    return ", ".join(
        f"{shortened(name, _CARD_CHARACTERS)} {n:,}" for name, n in group.senses[:_N_CARD_SENSES]
    )
