"""The numbers of a map as the page's table, its files and its snippets have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from components.core import ModelCard
from components.features.map.compute.shown import MapShown
from components.features.map.snippet.layers import redraw_layers_snippet
from components.features.map.snippet.redraw import redraw_snippet
from components.features.map.snippet.vectors import MapText, map_vectors_snippet

__all__ = ["drawing_snippet", "map_arrays", "map_shapes", "map_table", "vectors_snippet"]

_N_SNIPPET = 3
_MOST_CHARACTERS = 50_000_000
"""Of texts in one table or array: a text stands at each of its points, and an array is as wide as
the longest. Longer ones are cut, so that a file of 2 MB does not become one of 4 GB."""


def map_table(shown: MapShown, most: int | None = None) -> pd.DataFrame:
    """The points with their places; the first ones, where a number is given."""
    points, first = shown.points, slice(most)
    texts = _bounded(points.texts, points.n_points if most is None else most)
    group_names = {own.cluster: " · ".join(own.words) for own in shown.finding.group_labels}
    name = points.unit.removesuffix("s")
    axes = zip("xyz", shown.places[first].T.astype(float), strict=False)
    columns: dict[str, Any] = {
        **({} if points.unit == "sentences" else {name: points.names[first]}),
        **{title: own[first] for title, own in points.labels.items()},
        **{title: own[first].astype(float) for title, own in points.measures.items()},
        "sentence": [texts[i] for i in points.sentence[first].tolist()],
        "group": [group_names.get(group, "") for group in shown.finding.groups[first].tolist()],
        **dict(axes),
    }
    return pd.DataFrame(columns)


def map_arrays(shown: MapShown) -> Mapping[str, NDArray[Any]]:
    """What the map was made of: the redrawing snippet reads it."""
    picture, points = shown.picture, shown.points
    return {
        "vectors": shown.vectors,
        "coordinates": shown.places,
        "neighbor_indices": shown.neighbors.indices,
        "neighbor_distances": shown.neighbors.distances,
        "layers": np.array(picture.layers),
        "all_coordinates": picture.coordinates,
        "all_vectors": picture.vectors,
        "sentence": points.sentence,
        "spans": points.spans,
        "names": np.array(points.names),
        "texts": np.array(_bounded(points.texts, len(points.texts))),
    }


def _bounded(texts: Sequence[str], n_times: int) -> Sequence[str]:
    """Texts, cut where the longest would be too much so many times."""
    most = max(1, _MOST_CHARACTERS // max(n_times, 1))
    return texts if max(map(len, texts), default=0) <= most else [text[:most] for text in texts]


def map_shapes(shown: MapShown) -> list[dict[str, str]]:
    """The shapes of the arrays behind the map."""
    return [
        {"array": "vectors (points, dims)", "shape": str(shown.vectors.shape)},
        {"array": "places on the map (points, axes)", "shape": str(shown.places.shape)},
        {"array": "true neighbours (points, k)", "shape": str(shown.neighbors.indices.shape)},
        {"array": "places at all layers", "shape": str(shown.picture.coordinates.shape)},
    ]


def drawing_snippet(shown: MapShown, *, file: str) -> str:
    """A script that draws the map again from the page's download."""
    picture = shown.picture
    if len(picture.layers) == 1:
        return redraw_snippet(picture.as_map(), file=file)
    return redraw_layers_snippet(
        picture.request.settings,
        picture.method,
        "aligned" if picture.request.footing == "aligned" else "joint",
        n_points=picture.points.n_points,
        file=file,
    )


def vectors_snippet(shown: MapShown, card: ModelCard) -> str:
    """A script that computes the vectors of the map's first sentences."""
    points, request = shown.points, shown.picture.request
    return map_vectors_snippet(
        card,
        [_snippet_text(shown, int(i)) for i in np.unique(points.sentence)[:_N_SNIPPET]],
        points.unit,
        max(shown.layer, 0),
        pooling=request.pooling,  # type: ignore[arg-type]
        added=request.special,
    )


def _snippet_text(shown: MapShown, sentence: int) -> MapText:
    points = shown.points
    spans = points.spans[points.sentence == sentence].tolist()
    return MapText(points.texts[sentence], tuple((start, end) for start, end in spans))
