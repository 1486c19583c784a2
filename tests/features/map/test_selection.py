"""A selection of points: each claim and number against an oracle, and the rows of the table."""

from __future__ import annotations

import random

from contextlens.content.language import Claim
from contextlens.content.wording import quoted
from contextlens.features.map.selection import (
    TABLE,
    PointSelection,
    selection_claims,
    table_selection,
)
from contextlens.maps.points import Points
from tests.features.map.points import ends_of, odd_map
from tests.support.odd import Said, assert_said, odd_names


def test_what_is_said_of_selections_is_so() -> None:
    said_all = Said()
    for seed in range(700):
        chance = random.Random(seed)
        points, _ = odd_map(seed)
        rows = [i for i in range(points.n_points) if chance.random() < chance.choice((0, 0.3, 1))]
        labels = points.labels["topic"]
        if seed % 3 == 0:  # drawn around one label
            rows = [i for i, label in enumerate(labels) if label == labels[0]]
        typical = odd_names(chance, chance.choice((0, 1, 4)))
        claims = said_all(selection_claims(points, rows * 2, column="topic", typical=typical))
        assert_selection(claims, points, rows)
    said_all.assert_all("map.selection")


def test_rows_of_the_table_select_points_and_none_of_them_those_of_the_table() -> None:
    rows = (4, 7, 9)
    chosen = table_selection("map", "chart", rows, [2, 0, 5], are_all=True)
    assert chosen == PointSelection("map", "chart", TABLE, (4, 9))
    chosen = table_selection("map", "chart", rows, [1], are_all=False)
    assert chosen == PointSelection("map", "chart", TABLE, (7,), rows)
    assert table_selection("map", "chart", rows, [], are_all=True) is None
    chosen = table_selection("map", "chart", rows, [], are_all=False)
    assert chosen == PointSelection("map", "chart", TABLE, rows, rows)


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
