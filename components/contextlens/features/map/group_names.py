"""Names that a visitor gives to groups of a map, as one short text of the view.

A group has no identity of its own: each layer is clustered anew. A name therefore keeps a layer and
one of the group's points there, and applies at other layers to the group with mostly the same
points. Names apply only to maps of the same points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from contextlens.core.schema import IntArray

MAX_NAME = 24
MAX_TEXT = 200  # the most characters that an address accepts for one control
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
    head, *parts = text.split(";")
    if head != of:
        return ()
    names = []
    for part in parts:
        layer, _, rest = part.partition(":")
        point, _, name = rest.partition(":")
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
    found = groups[members & (groups >= 0)]
    if not len(found):
        return None
    number = int(np.bincount(found).argmax())
    here = groups == number
    return number if (members & here).sum() > _SAME * (members | here).sum() else None


def _cleaned(name: str) -> str:
    """The name in one line and at most `MAX_NAME` characters, without the sign between names."""
    return " ".join(name.replace(";", ",").split())[:MAX_NAME].strip()


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 6
