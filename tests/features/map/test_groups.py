"""Names of groups: kept as text, applied to the same group at every layer, and to no other."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from contextlens.features.map.coloring import UNCOLORED
from contextlens.features.map.controls import MAX_GROUP_NAME_CHARACTERS
from contextlens.features.map.groups import (
    GroupName,
    MapGroups,
    apply,
    pack,
    renamed,
    unpack,
)
from contextlens.features.map.names import members_of
from contextlens.maps.clusters import ClusterLabel

OF = "0123456789ab"
FIRST = np.repeat([0, 1, 2, -1], [40, 30, 20, 10])
SECOND = np.repeat([1, 0, 2, -1], [35, 40, 15, 10])  # renumbered, and a few points have moved
LAYERS = {0: FIRST, 1: SECOND}


@given(st.lists(st.tuples(st.integers(-1, 48), st.integers(0, 99_999), st.text(max_size=40))))
def test_names_come_back_from_a_text_cleaned_and_bounded(parts: list[tuple[int, int, str]]) -> None:
    names: tuple[GroupName, ...] = ()
    for layer, point, name in parts:
        names = renamed(names, None, layer, point, name)
    assert unpack(OF, pack(OF, names)) == names
    assert unpack("another map", pack(OF, names)) == ()
    for name in names:
        assert name.name == " ".join(name.name.split())
        assert 0 < len(name.name) <= MAX_GROUP_NAME_CHARACTERS
        assert ";" not in name.name


@given(st.text())
def test_any_text_from_an_address_is_read(text: str) -> None:
    for name in unpack(OF, f"{OF};{text}"):
        assert name.name
        assert name.layer >= -1
        assert name.point >= 0


def test_a_name_stays_with_its_group_however_it_is_numbered() -> None:
    names = renamed((), None, 0, 75, "the third")
    names = renamed(names, None, 0, 0, "the first")
    at = {layer: apply(names, groups, LAYERS.get) for layer, groups in LAYERS.items()}
    assert {number: name.name for number, name in at[0].items()} == {2: "the third", 0: "the first"}
    numbers = {name.name: number for number, name in at[1].items()}
    assert SECOND[10] == numbers["the first"]
    assert SECOND[80] == numbers["the third"]


def test_a_name_does_not_move_to_another_group() -> None:
    names = renamed((), None, 0, 0, "mine")
    others = np.tile(np.arange(5), 20)  # every new group has a fifth of every old one
    assert apply(names, others, {**LAYERS, 2: others}.get) == {}
    assert apply(names, np.full(100, -1), LAYERS.get) == {}
    assert apply(names, SECOND, {1: SECOND}.get) == {}  # a map without that layer
    assert apply((GroupName(0, 99, "none"), GroupName(0, 100, "none")), FIRST, LAYERS.get) == {}


def test_groups_with_one_name_are_selected_together() -> None:
    labels = [ClusterLabel(i, (name,), (0.0, 0.0), 1) for i, name in enumerate("aba")]
    finding = SimpleNamespace(
        color=UNCOLORED, groups=MapGroups(FIRST, tuple(labels), {}), group_labels=labels
    )
    members = members_of(finding)  # type: ignore[arg-type]
    assert {name: len(rows) for name, rows in members.items()} == {"a": 60, "b": 30}


def test_a_new_name_replaces_the_old_one_and_a_blank_removes_it() -> None:
    names = renamed((), None, 0, 0, "old")
    before = apply(names, SECOND, LAYERS.get)[1]
    names = renamed(names, before, 1, 0, "new")
    assert [name.name for name in apply(names, FIRST, LAYERS.get).values()] == ["new"]
    assert renamed(names, names[0], 0, 0, "  ") == ()
    assert pack(OF, ()) == ""
