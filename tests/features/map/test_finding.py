"""The finding on a map: each verdict and number against an independent oracle, and its title."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from contextlens.content.language import Claim
from contextlens.content.wording import quoted
from contextlens.core import EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.features.map.finding import label_agreement, map_claims, map_title, sense_tests
from contextlens.maps.map_quality import MapQuality
from contextlens.maps.neighbors import Neighbors, nearest
from contextlens.maps.points import Points
from contextlens.maps.vector_space import VectorSpace
from tests.features.map.points import ends_of, made, odd_map
from tests.support.maps import QUICK, drawn_map, map_view
from tests.support.odd import Said, assert_plain, assert_said

SAME = 1e-6


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


def texts_of(points: Points) -> np.ndarray:
    return np.array([points.text(i) for i in range(points.n_points)])


def assert_copies(claims: list[Claim | str], points: Points) -> None:
    total = len(set(points.sentence.tolist()))
    n = total - len(set(texts_of(points)))
    assert any(own.key.startswith("map.sure.copies") for own in claims) == bool(n)
    if n:
        assert_said(claims, "map.sure.copies", n=n, total=total)


@pytest.mark.slow
def test_what_is_said_of_labels_is_so() -> None:
    said_all = Said()
    for seed in range(800):
        points, near = odd_map(seed)
        labels = list(points.labels["topic"])
        said = map_claims(points, near, column="topic")
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
        said = map_claims(points, near, clusters=groups)
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
    said = map_claims(points, near, column="topic")
    assert list(map(str, said.claims)) == [
        "Those with the same “topic” lie together: **100%** of nearest neighbours share it "
        "(guessing: 33%)."
    ]
    assert str(said.sure[0]) == (
        "With more points, this share would probably be between 93% and 100% (95% interval)."
    )
    agreed = label_agreement(points, "topic", near)
    title = map_title(points, column="topic", agreed=agreed, layer=6)
    assert title == "Layer 6 separates “topic”: 100% of neighbours share it (guessing: 33%)"
    noise = nearest(VectorSpace.of(rng.normal(size=(60, 16)).astype(np.float32), "cosine"), 15)
    said = map_claims(points, noise, column="topic")
    assert str(said.claims[0]).startswith(
        "We cannot tell from 60 points whether those with the same"
    )
    long = label_agreement(made(labels, 60), "topic", noise)
    title = map_title(made(labels, 60), column="topic", agreed=long)
    assert title == "We cannot tell from 60 points whether this vector separates “topic”"
    one = map_claims(made(None, 1), None)
    assert one.claims[0].key == "map.reading.one_point"


# Senses


def test_a_split_column_tests_senses_on_the_map_as_on_senses(service: EncoderService) -> None:
    texts = tuple(f"my python {word} {i}" for i in range(4) for word in ("sleeps", "compiles"))
    labels = {"sense": ("animal", "language") * 4, "split": ("train",) * 4 + ("test",) * 4}
    view = map_view(only="python", every_word=True, **QUICK)
    points = drawn_map(service, view, Corpus("mine", texts, labels))
    tests = sense_tests(points.points, points.vectors, points.layers)
    assert tests is not None
    assert (tests.trial.how, tests.curve[0].n) == ("split", 4)
