"""The numbers of a map as tables and arrays, and scripts that draw it from these files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from contextlens.analysis.snippet_start import literal
from contextlens.features.map.controls import MAX_FILE_CHARACTERS
from contextlens.features.map.display import MapDisplay
from contextlens.maps.request import Method
from contextlens.maps.result import MapResult


def map_table(display: MapDisplay, max_rows: int | None = None) -> pd.DataFrame:
    """The points with their coordinates; only the first `max_rows`, if given."""
    points, first = display.points, slice(max_rows)
    texts = _bounded(points.texts, points.n_points if max_rows is None else max_rows)
    names = {label.cluster: label.text for label in display.finding.group_labels}
    name = points.unit.removesuffix("s")
    axes = zip("xyz", display.positions[first].T.astype(float), strict=False)
    columns: dict[str, Any] = {
        **({} if points.unit == "sentences" else {name: points.names[first]}),
        **{title: labels[first] for title, labels in points.labels.items()},
        **{title: values[first].astype(float) for title, values in points.measures.items()},
        "sentence": [texts[i] for i in points.sentence[first].tolist()],
        "group": [names.get(group, "") for group in display.finding.groups.numbers[first].tolist()],
        **dict(axes),
    }
    return pd.DataFrame(columns)


def map_arrays(display: MapDisplay) -> Mapping[str, NDArray[Any]]:
    """The vectors, coordinates, neighbours and texts of a map, for the download."""
    result, points = display.result, display.points
    return {
        "vectors": display.vectors,
        "coordinates": display.positions,
        "neighbor_indices": display.neighbors.indices,
        "neighbor_distances": display.neighbors.distances,
        "layers": np.array(result.layers),
        "all_coordinates": result.map.coordinates,
        "all_vectors": result.vectors,
        "sentence": points.sentence,
        "spans": points.spans,
        "names": np.array(_bounded(points.names, points.n_points)),
        "texts": np.array(_bounded(points.texts, len(points.texts))),
    }


def _bounded(texts: Sequence[str], n_times: int) -> Sequence[str]:
    """The texts, cut so that `n_times` the longest stays within `MAX_FILE_CHARACTERS`."""
    longest = max(1, MAX_FILE_CHARACTERS // max(n_times, 1))
    if max(map(len, texts), default=0) <= longest:
        return texts
    return [text[:longest] for text in texts]


def map_shapes(display: MapDisplay) -> list[dict[str, str]]:
    """The shapes of the arrays behind the map."""
    return [
        {"array": "vectors (points, dims)", "shape": str(display.vectors.shape)},
        {"array": "places on the map (points, axes)", "shape": str(display.positions.shape)},
        {"array": "true neighbours (points, k)", "shape": str(display.neighbors.indices.shape)},
        {"array": "places at all layers", "shape": str(display.result.map.coordinates.shape)},
    ]


# --- The picture, from its files

PICTURE = """\
import plotly.express as px

with numpy.load("map.npz") as download:
    names, page = download["names"], download["coordinates"]
axes = dict(zip("xyz", page.T))
draw = px.scatter_3d if len(axes) == 3 else px.scatter
draw(**axes, hover_name=names)
"""
"""The map as the page drew it, point for point, from its NPZ download."""


# --- A similar map, from the vectors that the page offers for download

_LOAD = """\
with numpy.load({file}) as download:  # from this page
    vectors, page = download["all_vectors"], download["all_coordinates"]

places = []
for rows in vectors[::-1]:  # from the last layer down, each starts from the layer above
"""
_DRAW: dict[Method, tuple[str, str]] = {
    "umap": (
        "import umap\n",
        """\
    # This gives a similar map, not the same points: Contextlens' own optimiser places them.
    drawn = umap.UMAP(
        n_neighbors={n_neighbors}, n_components={n_components}, metric="{metric}",
        min_dist={min_dist}, init=places[-1] if places else "pca", random_state={seed}, n_jobs=1,
    ).fit_transform(rows)
""",
    ),
    "tsne": (
        "from openTSNE import TSNE\n",
        """\
    # This gives a similar map, not the same points: Contextlens has settings of its own.
    drawn = numpy.asarray(TSNE(
        n_components={n_components}, perplexity={n_neighbors}, metric="{metric}",
        initialization=places[-1] / places[-1].std() * 1e-4 if places else "pca",
        negative_gradient_method="bh", random_state={seed},
    ).fit(rows))
""",
    ),
    "pca": (
        "",
        """\
    # PCA: the same map, but axes may point the other way. Under cosine each vector has length one.
    lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / numpy.where(lengths > 0, lengths, 1) if "{metric}" == "cosine" else rows
    rows = rows - rows.mean(axis=0)
    few = len(rows) < {n_components}
    axes = numpy.linalg.svd(rows, full_matrices=few)[2][:{n_components}]
    drawn = rows @ axes.T
""",
    ),
}
_ALIGN = """\
    if places:  # rotated onto the layer above
        drawn, above = drawn - drawn.mean(axis=0), places[-1].mean(axis=0)
        drawn = drawn @ orthogonal_procrustes(drawn, places[-1] - above)[0] + above
    places.append(drawn)
places = numpy.stack(places[::-1])
"""
_MEASURE = """
# How far each layer of the page's map, and then of this one, can be trusted. Where distances are
# equal the page has the mean over all orders of equals, scikit-learn takes one order.
trusted = [
    [trustworthiness(*layer, n_neighbors={k}, metric="{metric}") for layer in zip(vectors, drawn)]
    for drawn in (page, places)
]
print(trusted)
"""


def redraw_snippet(result: MapResult, *, file: str = "map.npz") -> str:
    """A script that draws a similar map with the method's own library.

    It stores the map in `places`, (layers, points, axes), and the trustworthiness of each layer of
    the page's map and of this one in `trusted`.

    Args:
        result: the map on the page.
        file: the name of the downloaded file.
    """
    settings, n_points = result.request.settings, result.points.n_points
    measured = [quality for quality in result.map.quality if quality is not None]
    is_measured = bool(measured) and all(q.n_measured == n_points for q in measured)
    max_neighbors = (n_points - 1) // 3 if result.map.method == "tsne" else n_points - 1
    imports, draw = _DRAW[result.map.method]
    values = {
        **settings.as_dict(),
        "file": literal(file),
        "n_neighbors": min(settings.n_neighbors, max_neighbors),
        "k": measured[0].k if measured else 0,
    }
    parts = [
        "import numpy\n",
        imports,
        "from scipy.linalg import orthogonal_procrustes\n",
        "from sklearn.manifold import trustworthiness\n" if is_measured else "",
        "\n",
        _LOAD,
        draw,
        _ALIGN,
        _MEASURE if is_measured else "",
    ]
    return "".join(part if part in {"\n", ""} else part.format(**values) for part in parts)
