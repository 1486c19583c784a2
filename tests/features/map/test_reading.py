"""The Map's claims on odd maps: each verdict and number against an independent oracle."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import beta

from contextlens.analysis.baseline import Band
from contextlens.content.language import Claim
from contextlens.content.wording import quoted
from contextlens.features.map.reading import (
    frame_claims,
    label_agreement,
    map_reading,
    map_title,
    near_claim,
    neighbours_claim,
    not_one_claim,
    pinned_claim,
    selection_claims,
)
from contextlens.maps.map_quality import MapQuality
from contextlens.maps.neighbors import Neighbors, nearest
from contextlens.maps.points import Points
from contextlens.maps.vector_space import VectorSpace
from tests.features.map.points import made
from tests.support.odd import ODD_NAMES, Said, assert_plain, assert_said, odd_names

SAME = 1e-6


# The truth, computed anew


def ends_of(share: float, n: int, risk: float = 0.05) -> tuple[float, float]:
    """Clopper and Pearson's interval, by the quantiles of the beta distribution."""
    hits = share * n
    low = 0.0 if hits <= 0 else float(beta.ppf(risk / 2, hits, n - hits + 1))
    high = 1.0 if hits >= n else float(beta.ppf(1 - risk / 2, hits + 1, n - hits))
    return min(low, share), max(high, share)


def state_of(share: float, baseline: float, n: int) -> str:
    low, high = (round(100 * end) for end in ends_of(share, n))
    if low > round(100 * baseline):
        return "separate" if share >= (1 + baseline) / 2 else "partly"
    return "not" if high < round(100 * baseline) else "unclear"


@dataclass(frozen=True)
class Truth:
    """Labels shared by nearest points, counted point by point."""

    share: float
    chance: float
    baseline: float
    commonest: set[str]
    n: int
    n_apart: int


def truth_of(labels: list[str], sentence: np.ndarray, near: Neighbors) -> Truth | None:
    known = [i for i, label in enumerate(labels) if label]
    closest: dict[int, set[int]] = {}
    equal: set[tuple[int, int]] = set()
    for i in known:
        pairs = zip(near.distances[i].tolist(), near.indices[i].tolist(), strict=True)
        others = [(far, j) for far, j in pairs if labels[j] and sentence[j] != sentence[i]]
        if others:
            least = min(others)[0]
            closest[i] = {j for far, j in others if far <= least + SAME * max(1.0, least)}
            equal |= {(i, j) for far, j in others if far <= SAME and j in closest[i]}
    if not closest:
        return None
    root = list(range(len(labels)))

    def top(i: int) -> int:
        return i if root[i] == i else top(root[i])

    for i, own in closest.items():
        for j in own:
            if (i, j) in equal or i in closest.get(j, ()):
                root[top(i)] = top(j)
    shares = [np.mean([labels[j] == labels[i] for j in own]) for i, own in closest.items()]
    chances = [
        np.mean([labels[j] == labels[i] for j in known if sentence[j] != sentence[i]])
        for i in closest
    ]
    counted = [labels[i] for i in closest]
    most = max(map(counted.count, counted))
    return Truth(
        float(np.mean(shares)),
        float(np.mean(chances)),
        most / len(counted),
        {label for label in counted if counted.count(label) == most},
        len(closest),
        len({top(i) for i in closest}),
    )


# Odd maps


def odd_map(seed: int) -> tuple[Points, Neighbors]:
    """Spread, equal, tied, zero or huge vectors; their labels follow them or do not."""
    chance, rng = random.Random(seed), np.random.default_rng(seed)
    n = 120 if seed % 32 == 0 else chance.choice((2, 3, 4, 8, 15, 20))
    sentence = np.arange(n) if chance.random() < 0.4 else np.sort(rng.integers(n, size=n))
    if seed % 17 == 0:
        sentence = np.zeros(n, np.int64)
    labels = odd_names(chance, n, few=chance.choice((None, 2)))
    vectors = rng.normal(size=(n, 5))
    how = rng.integers(7)
    if how == 0:
        vectors[:] = vectors[0]
    elif how == 1:
        vectors = vectors[rng.integers(max(1, n // 3), size=n)]
    elif how == 2:
        vectors = np.sign(vectors)  # many distances are equal
    elif how == 3:
        vectors[: n // 2] = 0
    elif how == 4:
        vectors *= 1e4
    if n == 120 and seed % 64:  # one label in its own cluster, two mixed in another
        labels = ["abc"[kind] for kind in (np.arange(n) * 3 // n).tolist()]
        vectors = rng.normal(size=(n, 5)) + np.where(np.arange(n)[:, None] * 3 < n, 8, -8)
        sentence = np.arange(n)
    elif n == 120 and seed % 128:  # neighbours in pairs, with alternating labels
        vectors = np.repeat(rng.normal(size=(n // 2, 5)), 2, axis=0)
        vectors += rng.normal(size=vectors.shape) * 1e-2
        labels, sentence = ["ab"[i % 2] for i in range(n)], np.arange(n)
    elif chance.random() < 0.4:  # labels that the vectors follow
        for i, label in enumerate(labels):
            vectors[i] += 4 * np.sin(np.arange(5) * (1 + ODD_NAMES.index(label)))
    if chance.random() < 0.3:
        labels = [label if chance.random() < 0.6 else "" for label in labels]
    if seed % 13 == 0:
        labels = [""] * n
    points = Points(
        unit=chance.choice(("words", "tokens", "sentences")),
        texts=tuple(f"text {i if seed % 5 else i // 3}" for i in range(n)),  # some are copies
        sentence=sentence,
        spans=np.zeros((n, 2), np.int64),
        names=tuple(odd_names(chance, n)),
        labels={"topic": tuple(labels)},
    )
    metric = chance.choice(("cosine", "euclidean"))
    return points, nearest(
        VectorSpace.of(vectors.astype(np.float32), metric), chance.choice((2, 15))
    )


def texts_of(points: Points) -> np.ndarray:
    return np.array([points.text(i) for i in range(points.n_points)])


def assert_copies(claims: list[Claim | str], points: Points) -> None:
    total = len(set(points.sentence.tolist()))
    n = total - len(set(texts_of(points)))
    assert any(own.key.startswith("map.sure.copies") for own in claims) == bool(n)
    if n:
        assert_said(claims, "map.sure.copies", n=n, total=total)


def test_what_is_said_of_labels_is_so() -> None:
    said_all = Said()
    for seed in range(800):
        points, near = odd_map(seed)
        labels = list(points.labels["topic"])
        said = map_reading(points, near, column="topic")
        claims = said_all([*said.claims, *said.sure])
        agreed = label_agreement(points, "topic", near)
        title = map_title(points, column="topic", agreed=agreed)
        assert_plain([title])
        assert len(title) <= 80
        labelled = [i for i, label in enumerate(labels) if label]
        kinds = {labels[i] for i in labelled}
        truth = truth_of(labels, texts_of(points), near)
        if len(kinds) < 2:
            assert_said(claims, f"map.untested.{'one' if kinds else 'none'}", column="“topic”")
        elif len({points.text(i) for i in labelled}) == 1:
            assert_said(claims, "map.untested.alone")
        elif truth is None or truth.baseline == 1:
            assert_said(claims, "map.untested.unreached")
        elif not truth.chance:
            assert_said(claims, "map.untested.unshared")
        else:
            state = state_of(truth.share, truth.baseline, truth.n_apart)
            numbers = {"share": truth.share, "baseline": truth.baseline, "n": truth.n}
            assert_said(claims, f"map.labels.{state}", **numbers)
            assert said.claims[0].numbers["commonest"] in set(map(quoted, truth.commonest))
            assert len(said.sure) <= 5
            assert_copies(claims, points)
            low, high = ends_of(truth.share, truth.n_apart)
            assert_said(claims, "map.sure.interval", low=low, high=high)
            if truth.n < len(labelled):
                assert_said(claims, "map.sure.left_out", n=len(labelled) - truth.n)
            continue
        assert_closest(claims, near, points)
    said_all.assert_all("map.labels", "map.untested", "map.closest")
    said_all.assert_all("map.sure", without=("map.sure.groups",))


def assert_closest(claims: list[Claim | str], near: Neighbors, points: Points) -> None:
    """No two points are nearer than the two that are named."""
    least, largest = float(near.distances.min()), float(near.distances.max())
    unit = 1.0 if near.metric == "cosine" else largest
    (own,) = [each for each in claims if each.key.startswith("map.closest")]
    pairs = np.argwhere(near.distances == least)
    names = {(points.names[i], points.names[near.indices[i, place]]) for i, place in pairs}
    case = own.key.rpartition(".")[2]
    assert case in {"same" if one == other else "two" for one, other in names}
    assert own.numbers["a"] in {quoted(one, 36) for one, _ in names}
    if least <= SAME * unit:
        n = int((near.distances.min(axis=1) <= SAME * unit).sum())
        assert_said(claims, f"map.closest.equal.{case}", n=n, total=points.n_points)
    elif near.metric == "cosine":
        assert_said(claims, f"map.closest.cosine.{case}", similarity=1 - least)
    else:
        assert_said(claims, f"map.closest.euclidean.{case}", distance=least)


def test_what_is_said_of_groups_is_so() -> None:
    said_all = Said()
    for seed in range(500):
        points, near = odd_map(seed)
        rng, n = np.random.default_rng(seed), points.n_points
        kinds = {label: i for i, label in enumerate(dict.fromkeys(points.labels["topic"]))}
        groups = np.array([kinds[label] for label in points.labels["topic"]])
        if seed % 3:
            groups = rng.integers(-1, 3, n) if seed % 3 == 1 else np.zeros(n, np.int64)
        if seed % 11 == 0:
            groups[:] = -1
        said = map_reading(points, near, clusters=groups)
        claims = said_all([*said.claims, *said.sure])
        inside = groups[groups >= 0]
        if not len(inside):
            assert ("map.groups.none" in {own.key for own in claims}) == (n >= 15)
            assert_closest(claims, near, points)
            continue
        n_groups = len(set(inside.tolist()))
        assert_said(claims, "map.groups.some", n=n_groups, share=len(inside) / n)
        names = [str(group) if group >= 0 else "" for group in groups.tolist()]
        is_alone = len(set(texts_of(points)[groups >= 0])) == 1
        truth = None if is_alone else truth_of(names, texts_of(points), near)
        assert_copies(claims, points)
        if truth is None or not 0 < truth.chance < 1:
            assert len(said.claims) == 1
            continue
        state = state_of(truth.share, truth.chance, truth.n_apart)
        assert_said(claims, f"map.groups.{state}", share=truth.share, chance=truth.chance)
    said_all.assert_all("map.groups")


def test_what_is_said_of_points_and_selections_is_so() -> None:
    said_all = Said()
    for seed in range(700):
        chance = random.Random(seed)
        points, _ = odd_map(seed)
        n = points.n_points
        k = min(chance.choice((0, 1, 3, 10)), n - 1)
        true, near = (chance.sample(range(n), k) for _ in range(2))
        claims = said_all([neighbours_claim(chance.choice(ODD_NAMES), true, near)])
        if k > 1:
            assert_said(claims, "map.point.kept", n=len(set(true) & set(near)), k=k)
        else:
            assert_said(claims, f"map.point.{'only' if k else 'alone'}")
        a, b = odd_names(chance, 2)
        cosine, layer = chance.uniform(-1, 1), chance.choice((None, 0, 1))
        band = Band(np.full(2, -0.2), np.full(2, 0.1), np.full(2, 0.4), "words")
        claims = said_all(
            [pinned_claim(a, b, cosine, layer=layer, band=chance.choice((None, band)))]
        )
        assert claims[0].numbers["cosine"] == cosine
        rows = [i for i in range(n) if chance.random() < chance.choice((0, 0.3, 1))]
        labels = points.labels["topic"]
        if seed % 3 == 0:  # drawn around one label
            rows = [i for i, label in enumerate(labels) if label == labels[0]]
        typical = odd_names(chance, chance.choice((0, 1, 4)))
        claims = said_all(selection_claims(points, rows * 2, column="topic", typical=typical))
        assert_selection(claims, points, rows)
    said_all.assert_all("map.point", "map.pinned", "map.selection")


def assert_selection(claims: list[Claim | str], points: Points, rows: list[int]) -> None:
    n, labels = len(rows), points.labels["topic"]
    if n in (0, points.n_points):
        assert_said(claims, f"map.selection.{'all' if n else 'nothing'}")
        assert len(claims) == 1
        return
    assert_said(claims, "map.selection.some", n=n, total=points.n_points, share=n / len(labels))
    own, every = [labels[i] for i in rows if labels[i]], [label for label in labels if label]
    if not own:
        assert_said(claims, "map.selection.unlabelled")
        return
    if len(set(every)) < 2:
        assert not [claim for claim in claims if claim.key.startswith("map.selection.label")]
        return
    shares = {
        label: (own.count(label) / len(own), every.count(label) / len(every)) for label in set(own)
    }
    most = max(share - whole for share, whole in shares.values())
    best = {label for label, (share, whole) in shares.items() if share - whole == most}
    n_sentences = len({int(points.sentence[i]) for i in rows if labels[i]})
    outstanding = {
        label
        for label in best
        if round(100 * ends_of(shares[label][0], n_sentences, 0.05 / len(shares))[0])
        > round(100 * shares[label][1])
    }
    named = [claim for claim in claims if claim.key == "map.selection.label"]
    if named:
        (label,) = [own for own in outstanding if quoted(own) == named[0].numbers["label"]][:1]
        share, whole = shares[label]
        assert_said(claims, "map.selection.label", share=share, whole=whole)
    else:
        assert outstanding != best
        assert_said(claims, "map.selection.mixed", column="“topic”")


def test_what_is_near_to_a_typed_text_is_told() -> None:
    said = near_claim("a{0}", [0.9, 0.5, -0.004])
    assert str(said) == (
        r"The 3 points most similar to “a\{0\}” in the full space have similarities (cosine) from "
        "**0.90** down to 0.00."
    )
    several = not_one_claim("words", "x", ["a", "b", "c", "d", "e", "f"])
    assert str(several).startswith(
        "Points here are single words, but your text has 6 of them: “a”, “b”, “c”"
    )
    none = not_one_claim("tokens", "??", [])
    said_all = Said()
    said_all([said, near_claim("a", [0.2]), several, none])
    said_all([not_one_claim("words", "", []), not_one_claim("tokens", "a b", ["a", "b"])])
    said_all.assert_all("map.near")


def test_layers_that_share_a_frame_are_told_how() -> None:
    said_all = Said()
    assert frame_claims((), (6,), "umap") == []
    linked, moved = said_all(frame_claims((0.02, 0.2, 0.05), (0, 1, 2, 3), "tsne"))
    assert linked.key == "map.frame.linked"
    assert str(moved) == (
        "Half of the points move less than 5% of the map's diagonal from one layer to the next "
        "(20% between layers 1 and 2)."
    )
    assert said_all(frame_claims((0.1,), (0, 1), "pca"))[0].key == "map.frame.pca"
    said_all.assert_all("map.frame")


@pytest.mark.parametrize(
    ("n", "given", "title"),
    [
        (1, {}, "1 point: too few to measure this map"),
        (14, {"clusters": np.zeros(14, int)}, "14 points: too few to measure this map"),
        (60, {"clusters": np.zeros(60, int)}, "1 group on the map"),
        (60, {"clusters": np.arange(60) % 3 - 1}, "2 groups on the map"),
        (60, {"clusters": np.full(60, -1)}, "No group of points stands out"),
        (60, {}, "A map of 60 points"),
        (
            60,
            {"quality": MapQuality(1, 1, 0.4, 15, 60)},
            "This map keeps 40% of the nearest neighbours",
        ),
        (60, {"quality": MapQuality(1, 1, 0, 15, 60, is_flat=True)}, "60 points, all equally far"),
        (60, {"column": "topic"}, "A map of 60 points"),
    ],
)
def test_a_title_is_the_finding(n: int, given: dict, title: str) -> None:
    assert map_title(made(None, n), **given).startswith(title)


def test_labels_are_told_as_they_are_read() -> None:
    rng = np.random.default_rng(0)
    labels = [label for label in ("sport", "music", "law") for _ in range(20)]
    centres = np.repeat(np.eye(3, 16), 20, axis=0)
    near = nearest(
        VectorSpace.of((centres + rng.normal(size=(60, 16)) * 0.05).astype(np.float32), "cosine"),
        15,
    )
    points = made(labels, 60)
    said = map_reading(points, near, column="topic")
    assert list(map(str, said.claims)) == [
        "The labels in “topic” are separate: for **100%** of 60 points, the nearest point of "
        "another text has the same label (always guessing “law”: 33%)."
    ]
    assert str(said.sure[0]) == (
        "With more points, this share would probably be between 93% and 100% (95% interval)."
    )
    agreed = label_agreement(points, "topic", near)
    title = map_title(points, column="topic", agreed=agreed, layer=6)
    assert title == "Layer 6 separates “topic”: 100% of neighbours share it (guessing: 33%)"
    noise = nearest(VectorSpace.of(rng.normal(size=(60, 16)).astype(np.float32), "cosine"), 15)
    said = map_reading(points, noise, column="topic")
    assert str(said.claims[0]).startswith("60 points are too few to tell whether the labels in")
    long = label_agreement(made(labels, 60), "topic", noise)
    title = map_title(made(labels, 60), column="topic", agreed=long)
    assert title == "We cannot tell from 60 points whether this vector separates “topic”"
    one = map_reading(made(None, 1), None)
    assert one.claims[0].key == "map.reading.one_point"
