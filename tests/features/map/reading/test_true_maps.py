"""Every sentence on a map, its groups and closest points, read back against numbers made anew."""

from __future__ import annotations

import random
import re
from functools import partial
from typing import Any

import numpy as np
import pytest

from components.features.map.reading.maps import label_agreement, map_reading, map_title
from components.maps.neighbors import Neighbors
from components.maps.points import Points
from tests.features.map.reading.odd_maps import (
    BESIDE,
    N_EACH,
    NAME,
    SAME,
    SHARES,
    Told,
    assert_equal,
    ends_of,
    odd_points,
    state_of,
    told_of,
)
from tests.support.true_words import (
    LABELS,
    PERCENT,
    bare,
    cut,
    is_percent,
    is_two,
    read_back,
)


@pytest.mark.slow
def test_what_is_said_of_a_map_is_so() -> None:
    for seed in range(N_EACH):
        chance, rng = random.Random(seed), np.random.default_rng(seed)
        points, near = odd_points(chance, rng)
        about = ("topic", None, "groups")[seed % 3]
        groups = rng.integers(-1, chance.choice((0, 1, 2, 4)), size=points.n_points)
        groups = np.arange(points.n_points) % 2 if chance.random() < 0.2 else groups
        names = [chance.choice(LABELS) for _ in range(groups.max() + 1)]
        column = about if about == "topic" else None
        clusters = groups if about == "groups" else None
        said = map_reading(points, near, column=column, clusters=clusters, cluster_names=names)
        labels = list(points.labels["topic"])
        if clusters is not None:
            labels = [str(own) if own >= 0 else "" for own in groups.tolist()]
        told = told_of(labels, points.sentence, near)
        claims = {
            **of_labels(points, labels, told),
            **of_groups(points, groups, names, told),
            **of_closest(points, near),
        }
        read_back(bare(" ".join(said)), claims)
        assert_title(points, column, clusters, told, near)


def of_labels(points: Points, labels: list[str], told: Told | None) -> dict[str, Any]:
    known = {label for label in labels if label}
    has = r"the nearest one(?: in another sentence)? has the same “topic”"

    def beside(kind: str, *, share: str, low: str, high: str, chance: str, **_: str) -> None:
        assert told is not None
        ends = ends_of(told.share, told.n_apart)
        assert is_percent(share, told.share)
        assert is_percent(low, ends[0])
        assert is_percent(high, ends[1])
        assert is_percent(chance, told.chance)
        states = state_of(told.share, told.chance, told.n_apart)
        assert (kind in states) if kind else not states & {"clear", "below"}

    def better(a: str, b: str, x: str, y: str, p: str, q: str) -> None:
        assert told is not None
        assert float(x.rstrip("%")) > float(y.rstrip("%"))
        ones = [own for name, own in told.by_label.items() if cut(name) == a]
        others = [own for name, own in told.by_label.items() if cut(name) == b]
        assert any(is_percent(x, s) and is_percent(p, c) and n >= 5 for n, s, c in ones)
        assert any(is_percent(y, s) and is_percent(q, c) and n >= 5 for n, s, c in others)

    def alike(share: str, **_: str) -> None:
        assert told is not None
        own = [share for n, share, _ in told.by_label.values() if n >= 5]
        assert len(own) > 1
        assert all(is_percent(share, each) for each in own)

    def counted(n: str, of: str, **_: str) -> None:
        assert told is not None
        assert (int(n), int(of)) == (told.n, sum(map(bool, labels)))

    def none_labelled(**_: str) -> None:
        assert not known

    def one_label(a: str, **_: str) -> None:
        assert [cut(label) for label in known] == [a]

    def no_pair(**_: str) -> None:
        assert told is None or told.chance == 0

    few = r"On the map (?:is|are) (?P<n>\d+) \w+: too few to tell of neighbours\."
    one, two_ = (rf"\((?P<{x}>{PERCENT}), by chance (?P<{p}>{PERCENT})\)" for x, p in ("xp", "yq"))
    return {
        few: lambda n: assert_equal(int(n), points.n_points) or assert_equal(n, "1"),
        r"No \w+ on this map has a label in “topic”\.": none_labelled,
        rf"All labelled \w+ are {NAME.format('a')}: there is nothing to part\.": one_label,
        r"No label of “topic” stands at two [\w ]+: there is nothing to compare\.": no_pair,
        rf"In the full space, for {SHARES} {has} {BESIDE}\.": partial(beside, "clear"),
        rf"In the full space, {has} less often than by chance: for {SHARES} {BESIDE}\.": (
            partial(beside, "below")
        ),
        rf"In the full space, it is not clear that {has} more often than by chance: for {SHARES} "
        rf"it has {BESIDE}\.": partial(beside, ""),
        rf"{NAME.format('a')} {one} keeps together better than {NAME.format('b')} {two_}\.": better,
        rf"For every label of 5 \w+ or more it is (?P<share>{PERCENT})\.": alike,
        r"Counted are (?P<n>\d+) of the (?P<of>\d+) labelled \w+: those with a labelled neighbour "
        r"(?:of another sentence )?in reach\.": counted,
    }


def of_groups(
    points: Points, groups: np.ndarray, names: list[str], told: Told | None
) -> dict[str, Any]:
    n = points.n_points
    counts = np.bincount(groups[groups >= 0])

    def stand_out(many: str, most: str, share: str = "", name: str | None = None) -> None:
        assert int(many) == (counts > 0).sum()
        assert is_percent(most, counts.max() / n)
        assert not share or is_percent(share, (groups >= 0).mean())
        if name is not None:
            own = [i for i, count in enumerate(counts) if count == counts.max()]
            assert [cut(names[i], 40) for i in own] == [name]

    def truly(kind: str, *, share: str, low: str, high: str, chance: str, of: str | None) -> None:
        assert told is not None
        assert of is None or int(of) == told.n
        assert of is not None or told.n == (groups >= 0).sum()
        ends = ends_of(told.share, told.n_apart)
        pairs = zip((share, low, high, chance), (told.share, *ends, told.chance), strict=True)
        assert all(is_percent(said, value) for said, value in pairs)
        states = state_of(told.share, told.chance, told.n_apart)
        assert (kind in states) if kind else not states & {"clear", "below"}

    share, most = rf"(?P<share>{PERCENT})", rf"(?P<most>{PERCENT})"
    them = r"(?:them|the (?P<of>\d+) that have one(?: in another sentence)? in reach)"
    own = r"the nearest one(?: in another sentence)? in the full space is in the same group"
    called = rf"(?:, {NAME.format('name')},)?"
    return {
        r"On the map no groups stand out among the (?P<n>\d+) \w+\.": lambda n: assert_equal(
            (int(n), int((groups >= 0).sum())), (points.n_points, 0)
        ),
        rf"On the map (?P<many>1) group stands out{called} with {most} of \w+\.": stand_out,
        rf"On the map (?P<many>\d+) groups stand out with {share} of \w+; the largest{called} "
        rf"holds {most}\.": stand_out,
        rf"For {share} of {them} {own} {BESIDE}\.": partial(truly, "clear"),
        rf"For only {share} of {them} {own} {BESIDE}\.": partial(truly, "below"),
        rf"For {share} of {them} {own} {BESIDE}: that is not clearly more than chance gives\.": (
            partial(truly, "")
        ),
    }


def of_closest(points: Points, near: Neighbors) -> dict[str, Any]:
    far = near.distances.astype(float)
    unit = 1.0 if near.metric == "cosine" else far.max(initial=0)
    equal = far <= SAME * unit
    n_equal = int(equal[:, :1].sum())
    names = [cut(name) for name in points.names]
    value = r"(?:cosine|euclidean distance) (?:over )?-?[\d.e-]+"

    def is_said(said: str, distance: float) -> bool:
        number = float(said.split()[-1])
        if said.startswith("cosine over"):
            return 0.995 <= 1 - distance <= 1
        if said.startswith("cosine"):
            return is_two(said.split()[-1], 1 - distance)
        return bool(np.isclose(number, distance, atol=0.0051 if number >= 0.01 else 0.0005))

    def equals(n: str, **_: str) -> None:
        assert int(n) == n_equal
        assert (n_equal == points.n_points) == ("unit" not in _)

    def pairs_named(a: str, b: str) -> list[tuple[int, int]]:
        rows, places = np.nonzero(~equal)
        pairs = zip(rows.tolist(), near.indices[rows, places].tolist(), places, strict=True)
        return [(i, p) for i, j, p in pairs if {names[i], names[j]} == {a, b}]

    def pair(a: str, b: str, how: str, value: str, **_: str) -> None:
        least = far[~equal].min()
        assert any(np.isclose(far[i, p], least, rtol=1e-5) for i, p in pairs_named(a, b))
        assert is_said(value, least)
        if how == "closest":  # no other pair reads the same
            row, place = (int(own[0]) for own in np.nonzero(np.where(equal, np.inf, far) == least))
            first = {row, int(near.indices[row, place])}
            rest = [
                far[i, p]
                for i, p in zip(*np.nonzero(~equal), strict=True)
                if {int(i), int(near.indices[i, p])} != first
            ]
            if rest and not value.startswith("cosine over"):
                other = 1 - min(rest) if near.metric == "cosine" else min(rest)
                shown = f"{other:.2f}" if f"{other:.2f}" != "0.00" else f"{other:.2g}"
                assert shown.replace("-0.00", "0.00") != value.split()[-1]

    def lonely(c: str, d: str, rare: str, last: str) -> None:
        most = far[:, 0].max()
        rows = [i for i in range(len(far)) if np.isclose(far[i, 0], most, rtol=1e-5)]
        assert any((names[i], names[near.indices[i, 0]]) == (c, d) for i in rows)
        assert is_said(last, most)
        assert rare or len(rows) == 1

    def both(**found: str) -> None:
        pair(*(found[key] for key in ("a", "b", "how", "value")))
        if found.get("c") is not None:
            lonely(*(found[key] or "" for key in ("c", "d", "rare", "last")))

    first = (
        rf"(?:apart from such, )?{NAME.format('a')} and {NAME.format('b')} are "
        rf"(?P<how>closest|among the closest) \((?P<value>{value})\)"
    )
    second = (
        rf"(?P<rare>among the )?loneliest is {NAME.format('c')}, whose nearest is "
        rf"{NAME.format('d')} \((?P<last>{value})\)"
    )
    return {
        r"Each of the (?P<n>\d+) \w+ is at distance 0 from another one\.": equals,
        r"(?P<n>\d+) (?P<unit>\w+) are at distance 0 from another one\.": equals,
        rf"In the full space, {first}(?:; {second})?\.": both,
        rf"In the full space, {second}\.": lonely,
    }


def assert_title(
    points: Points,
    column: str | None,
    clusters: np.ndarray | None,
    told: Told | None,
    near: Neighbors,
) -> None:
    agreed = label_agreement(points, column, near) if column else None
    title = map_title(points, agreed=agreed, column=column, clusters=clusters)
    assert len(title) <= 80
    found = re.fullmatch(rf"topic: ({PERCENT}) of nearest \w+ agree \(chance ({PERCENT})\)", title)
    if found and told is not None:
        assert is_percent(found[1], told.share)
        assert is_percent(found[2], told.chance)
        assert state_of(told.share, told.chance, told.n_apart) & {"clear", "below"}
    if "beyond chance" in title:
        assert told is not None
        assert not state_of(told.share, told.chance, told.n_apart) & {"clear", "below"}
    assert ("too few" in title) == (points.n_points < 15)
