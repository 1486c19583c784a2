"""A map of one layer drawn again from the page's download, with umap-learn and openTSNE.

For UMAP the script begins with umap-learn alone on the same vectors: another map, as good. The very
same one follows, which needs the layout of our own that moved its points.

The same machine and versions give the very same coordinates: what precedes the drawing (lengths
taken out, the start from PCA) is done here to the letter, for UMAP and t-SNE carry a difference in
the last digit on to the whole picture.
"""

from __future__ import annotations

from components.analysis.snippet_start import literal
from components.maps.honesty import Honesty
from components.maps.projection import K_MEASURED, Map

__all__ = ["redraw_snippet"]

_IMPORTS = """\
import numpy
from sklearn.manifold import trustworthiness
"""
_UMAP_IMPORTS = _IMPORTS.replace("numpy\n", "numpy\nimport umap\n", 1)
_PLAIN = """\
# With umap-learn alone: another map, as good. Only who is near whom can be compared.
plain = umap.UMAP(
    n_neighbors={n_neighbors}, n_components={n_components}, metric="{metric}",
    min_dist={min_dist}, init="pca", random_state={seed}, n_jobs=1,
).fit_transform(vectors)
print(trustworthiness(vectors, plain, n_neighbors={k}, metric="{metric}"))

# Optional: the very same map. The links and the curve of the forces are umap-learn's; what follows
# the forces is Contextlens' own, so this needs its folder.
from umap.umap_ import find_ab_params, fuzzy_simplicial_set

from components.maps.umap_layout import optimize

"""
_TSNE_IMPORTS = """\
import numpy
from openTSNE import TSNE
from openTSNE.affinity import PerplexityBasedNN
from openTSNE.nearest_neighbors import PrecomputedNeighbors
from sklearn.manifold import trustworthiness
"""

_ROWS = {
    "cosine": """\
# Each vector at length one: then Euclidean distances order as cosines do.
largest = numpy.abs(vectors).max(axis=1, keepdims=True)
rows = vectors / numpy.where(largest > 0, largest, 1)
lengths = numpy.sqrt(numpy.einsum("ij,ij->i", rows, rows, dtype=numpy.float64))[:, None]
rows = (rows / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)
""",
    "euclidean": """\
# The mean taken off and brought to one scale: distances keep their order.
mean = vectors.mean(axis=0, dtype=numpy.float64)
scale = max((vectors.max(axis=0) - mean).max(), (mean - vectors.min(axis=0)).max())
scale = float(scale) if scale > 1e-6 * numpy.abs(vectors).max() else numpy.inf
rows = ((vectors - mean) / scale).astype(numpy.float32)
""",
}

_AXES = '''\
def main_axes(rows, n_components):
    """Places along the main axes (PCA); the largest loading of each axis is positive."""
    places = numpy.zeros((len(rows), n_components), numpy.float32)
    centred = rows - rows.mean(axis=0, dtype=numpy.float64).astype(numpy.float32)
    n_axes = min(n_components, len(rows) - 1, rows.shape[1])
    if n_axes < 1 or not centred.any():
        return places
    if len(rows) > rows.shape[1]:
        axes = numpy.linalg.eigh(centred.T @ centred)[1][:, : -n_axes - 1 : -1].T
    else:
        axes = numpy.linalg.svd(centred, full_matrices=False)[2][:n_axes]
    which = numpy.abs(axes).argmax(axis=1)
    axes = axes * numpy.sign(axes[numpy.arange(n_axes), which])[:, None]
    found = centred @ axes.T.astype(numpy.float32)
    spread = numpy.abs(found).max(axis=0)
    places[:, :n_axes] = numpy.where(spread > 1e-5 * spread[0], found, 0)
    return places
'''

_UMAP = """\
# UMAP from that start, scaled and shaken a little, on the true neighbours; each point is its own
# first neighbour.
largest = float(numpy.abs(start).max())
begin = start * (10 / largest if largest > 0 else 1)
shaking = numpy.random.RandomState({seed}).normal(scale=1e-4, size=start.shape)
begin = (begin + shaking).astype(numpy.float32)
own, none = numpy.arange(n)[:, None], numpy.zeros((n, 1), numpy.float32)
others = slice(0, {n_neighbors} - 1)
known = (
    numpy.hstack([own, page["neighbor_indices"][:, others]]).astype(numpy.int32),
    numpy.hstack([none, page["neighbor_distances"][:, others]]).astype(numpy.float32),
)
graph = fuzzy_simplicial_set(
    vectors, {n_neighbors}, numpy.random.RandomState(0), "{metric}",
    knn_indices=known[0], knn_dists=known[1],
)[0]
a, b = find_ab_params(1.0, {min_dist})
coordinates = optimize(graph, begin, a=a, b=b, n_epochs={n_epochs}, seed={seed})
"""

_TSNE = """\
# t-SNE from that start, on the true neighbours, with openTSNE.
distances = page["neighbor_distances"].astype(numpy.float64)
lengths = numpy.maximum({lengths}, 1e-6)
known = PrecomputedNeighbors(page["neighbor_indices"], lengths)
spread = float(numpy.std(start[:, 0]))
coordinates = TSNE(
    n_components={n_components}, early_exaggeration=12, early_exaggeration_iter=250, n_iter=750,
    learning_rate=max(n / 12, 200), initial_momentum=0.5, max_step_norm=None,
    negative_gradient_method="bh",
).fit(
    affinities=PerplexityBasedNN(perplexity={n_neighbors}, knn_index=known),
    initialization=(start / spread * 1e-4 if spread > 0 else start).astype(numpy.float64),
)
coordinates = numpy.asarray(coordinates, numpy.float32)
"""

_ALL = """\
# How far the map can be trusted: neighbours there beside neighbours in the full space. Where
# distances are equal the page has the mean over all orders of equals, scikit-learn takes one order.
trusted = trustworthiness(rows, coordinates, n_neighbors={k})
continuity = trustworthiness(coordinates, rows, n_neighbors={k})
"""

_SAMPLE = """\
# How far the map can be trusted, by a sample of the points; ranks are among all points.
points = numpy.sort(numpy.random.default_rng(0).choice(n, {n_measured}, replace=False))
half = 0.5 * (rows * rows).sum(axis=1)
false = missed = 0
for point in points:
    here = half - rows @ rows[point]  # grows as the distance does
    there = ((coordinates - coordinates[point]) ** 2).sum(axis=1)
    here[point] = there[point] = numpy.inf
    true, near = numpy.argsort(here)[:{k}], numpy.argsort(there)[:{k}]
    false += numpy.maximum((here < here[near][:, None]).sum(axis=1) + 1 - {k}, 0).sum()
    missed += numpy.maximum((there < there[true][:, None]).sum(axis=1) + 1 - {k}, 0).sum()
most = len(points) * {k} * (2 * n - 3 * {k} - 1) / 2
trusted, continuity = 1 - false / most, 1 - missed / most
"""


def redraw_snippet(shown: Map, *, file: str = "map.npz") -> str:
    """A script that leaves `coordinates`, and `trusted` and `continuity` where they are measured.

    It reads the download's `vectors`, `coordinates`, `neighbor_indices` and `neighbor_distances`.

    Args:
        shown: the map of some vectors.
        file: the download's name.
    """
    settings, method, n_points = shown.settings, shown.method, len(shown.coordinates)
    most = (n_points - 1) // 3 if method == "tsne" else n_points - 1
    imports = {"umap": _UMAP_IMPORTS, "tsne": _TSNE_IMPORTS, "pca": _IMPORTS}[method]
    lengths = "numpy.sqrt(2 * distances)" if settings.metric == "cosine" else "distances / scale"
    values = {
        "n_components": settings.n_components,
        "metric": settings.metric,
        "min_dist": settings.min_dist,
        "seed": settings.seed,
        "n_epochs": settings.n_epochs(n_points),
        "n_neighbors": min(settings.n_neighbors, most),
        "lengths": lengths,
        "k": min(K_MEASURED, (n_points - 1) // 2),
    }
    drawing = {"umap": _UMAP, "tsne": _TSNE, "pca": "coordinates = start\n"}[method]
    lines = [
        imports,
        "",
        f"with numpy.load({literal(file)}) as download:  # from this page",
        "    page = dict(download)",
        'vectors = page["vectors"]',
        "n = len(vectors)",
        "",
        *([_PLAIN.format(**values)] if method == "umap" else []),
        "",
        _AXES,
        "",
        _ROWS[settings.metric] + f"start = main_axes(rows, {settings.n_components})",
        "",
        drawing.format(**values),
        *([] if shown.honesty is None else [_measuring(shown.honesty, n_points)]),
        'same = numpy.array_equal(coordinates, page["coordinates"])',
        'print("the very same map" if same else "another map: other versions or another machine?")',
    ]
    return "\n".join(lines) + "\n"


def _measuring(honesty: Honesty, n_points: int) -> str:
    code = _ALL if honesty.n_measured == n_points else _SAMPLE
    return code.format(k=honesty.k, n_measured=honesty.n_measured) + "print(trusted, continuity)"
