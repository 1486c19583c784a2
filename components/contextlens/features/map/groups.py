"""The groups on a map of one layer, and the names that a visitor gives to them.

A group has no identity of its own: each layer is clustered anew. A visitor's name therefore keeps a
layer and one of the group's points there, and applies at other layers to the group with mostly the
same points. Names apply only to maps of the same points, and are one short text of the view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from contextlens.core.schema import IntArray
from contextlens.features.map.controls import MAX_GROUP_NAME_CHARACTERS
from contextlens.features.map.identity import once
from contextlens.maps.clusters import ClusterLabel, cluster, cluster_labels
from contextlens.maps.result import MapResult

FORMULA = r"""
**Cluster labels.** Groups are found on the map (HDBSCAN); a word's weight in group $c$ is its share
$f_{w,c}$ of the words there times $\log(1 + A / f_w)$, with $A$ the average number of words in a
group and $f_w$ the word's count in all of them (c-TF-IDF, Grootendorst 2022).
""".strip()

# --- The groups at one layer


@dataclass(frozen=True, eq=False)
class MapGroups:
    """The groups on one layer's map.

    Attributes:
        numbers: (n_points,) each point's group, -1 for none.
        labels: each group with its place and its words: the visitor's name, else typical words.
        own_names: the visitor's names, by group.
    """

    numbers: IntArray
    labels: tuple[ClusterLabel, ...]
    own_names: Mapping[int, GroupName]

    def names(self) -> tuple[str, ...]:
        """The name of each point's group; "" for none."""
        words = {label.cluster: ", ".join(label.words) for label in self.labels}
        return tuple(
            words.get(number, "") or ("" if number < 0 else f"group {number + 1}")
            for number in self.numbers.tolist()
        )


def groups_of(result: MapResult, row: int, names: tuple[GroupName, ...] = ()) -> MapGroups:
    """Return the groups on the map at a row of its layers.

    Args:
        result: the map.
        row: the layer's row.
        names: the visitor's names for groups of this map.
    """

    def numbers_at(layer: int) -> IntArray | None:
        known = layer in result.layers
        return _clusters(result, result.layers.index(layer))[0] if known else None

    numbers, labels = _clusters(result, row)
    own_names = apply(names, numbers, numbers_at)
    labels = tuple(
        replace(label, words=(own_names[label.cluster].name,))
        if label.cluster in own_names
        else label
        for label in labels
    )
    return MapGroups(numbers, labels, own_names)


def _clusters(result: MapResult, row: int) -> tuple[IntArray, tuple[ClusterLabel, ...]]:
    """The number of each point's group at a row, and the typical words of each group."""

    def compute() -> tuple[IntArray, tuple[ClusterLabel, ...]]:
        positions = result.map.coordinates[row]
        groups = cluster(positions)
        return groups, cluster_labels(result.points, positions, groups)

    return once(result, "groups", row, compute=compute)


# --- A visitor's names

_SAME = 0.5
"""Two groups of two layers are the same if they share more than this part of their points."""


class GroupName(NamedTuple):
    """A name, with the layer and a point of the group that it was given to."""

    layer: int
    point: int
    name: str


def pack(of: str, names: Iterable[GroupName]) -> str:
    """Return names as one text; "" for none.

    Args:
        of: the short name of the map's points, from `marks.name_of`.
        names: the names.
    """
    parts = [f"{layer}:{point}:{name}" for layer, point, name in names]
    return ";".join([of, *parts]) if parts else ""


def unpack(of: str, text: str) -> tuple[GroupName, ...]:
    """The names that a text has for a map of these points; parts that are none are left out."""
    head, *packed_names = text.split(";")
    if head != of:
        return ()
    names = []
    for packed in packed_names:
        layer, _, named_point = packed.partition(":")
        point, _, name = named_point.partition(":")
        if _is_whole(layer.removeprefix("-")) and _is_whole(point) and _cleaned(name):
            names.append(GroupName(int(layer), int(point), _cleaned(name)))
    return tuple(names)


def renamed(
    names: Iterable[GroupName], before: GroupName | None, layer: int, point: int, name: str
) -> tuple[GroupName, ...]:
    """Return the names after a group at a layer got another one, or none if that is blank.

    Args:
        names: the names so far.
        before: the group's name so far, if it has one.
        layer: the layer at which it is named.
        point: a point of the group there.
        name: the name as typed.
    """
    others = tuple(given for given in names if given != before)
    cleaned = _cleaned(name)
    return (*others, GroupName(layer, point, cleaned)) if cleaned else others


def apply(
    names: Iterable[GroupName], groups: IntArray, groups_at: Callable[[int], IntArray | None]
) -> Mapping[int, GroupName]:
    """Return the name of each named group of a layer's map.

    Args:
        names: the names.
        groups: (n_points,) the group of each point on this map, -1 for none.
        groups_at: the groups at another layer; None if the map does not have that layer.
    """
    applied: dict[int, GroupName] = {}
    for name in names:
        there = groups_at(name.layer)
        if there is None or name.point >= len(there) or there[name.point] < 0:
            continue
        number = _same_group(there == there[name.point], groups)
        if number is not None:
            applied[number] = name
    return applied


def _same_group(members: IntArray, groups: IntArray) -> int | None:
    """The group with mostly these points; None if there is none."""
    members_groups = groups[members & (groups >= 0)]
    if not len(members_groups):
        return None
    number = int(np.bincount(members_groups).argmax())
    here = groups == number
    return number if (members & here).sum() > _SAME * (members | here).sum() else None


def _cleaned(name: str) -> str:
    """The name in one line, cut to its longest, without the sign between names."""
    return " ".join(name.replace(";", ",").split())[:MAX_GROUP_NAME_CHARACTERS].strip()


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 6
