"""A map of all layers drawn again from the page's download.

The script begins with umap-learn, openTSNE or numpy alone on the same vectors: another map,
which says as much. The very same one follows, which needs Contextlens itself.
"""

from __future__ import annotations

from components.analysis.snippet_start import literal
from components.maps.layer_maps import How
from components.maps.settings import MapSettings, Method

__all__ = ["redraw_layers_snippet"]

_LOAD = """\
with numpy.load({file}) as download:  # from this page
    vectors, shown = download["all_vectors"], download["all_coordinates"]
n_layers, n, n_dims = vectors.shape

"""

_FOOTING = """\
# Each layer with its mean taken off and at one scale; then all of them are one set of points.
centred = vectors - vectors.mean(axis=1, keepdims=True, dtype=numpy.float64)
sizes = numpy.sqrt((centred**2).sum(axis=2).mean(axis=1))[:, None, None]
sizes = numpy.where(sizes > 1e-6 * numpy.abs(vectors).max(), sizes, numpy.inf)
rows = (centred / sizes).reshape(-1, n_dims).astype(numpy.float32)

"""

_PLAIN: dict[tuple[Method, How], tuple[str, str]] = {
    ("umap", "joint"): (
        "import numpy\nimport umap\n",
        """\
# With umap-learn alone. The page's map has more links: within each layer's own space, and from each
# point to itself at the next layer.
plain = umap.UMAP(
    n_neighbors={n_neighbors}, n_components={n_components}, metric="{metric}",
    min_dist={min_dist}, init="pca", random_state={seed}, n_jobs=1,
).fit_transform(rows).reshape(n_layers, n, -1)
""",
    ),
    ("umap", "aligned"): (
        "import warnings\n\nimport numpy\nimport umap\n",
        """\
# With umap-learn alone, which holds each point near its places at the layers around.
warnings.filterwarnings("ignore", message="n_jobs value")  # a seed takes one thread anyway
same_points = [{{point: point for point in range(n)}}] * (n_layers - 1)
plain = numpy.stack(umap.AlignedUMAP(
    n_neighbors={n_neighbors}, n_components={n_components}, metric="{metric}",
    min_dist={min_dist}, random_state={seed},
).fit(list(vectors), relations=same_points).embeddings_)
""",
    ),
    ("tsne", "joint"): (
        "import numpy\nfrom openTSNE import TSNE\n",
        """\
# With openTSNE alone.
plain = numpy.asarray(TSNE(
    n_components={n_components}, perplexity={n_neighbors}, metric="{metric}",
    initialization="pca", negative_gradient_method="bh", random_state={seed},
).fit(rows)).reshape(n_layers, n, -1)
""",
    ),
    ("pca", "joint"): (
        "import numpy\n",
        """\
# PCA with numpy alone; under cosine each vector is brought to length one.
lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
own = rows / numpy.where(lengths > 0, lengths, 1) if "{metric}" == "cosine" else rows
own = own - own.mean(axis=0)
axes = numpy.linalg.svd(own, full_matrices=False)[2][:{n_components}]
plain = (own @ axes.T).reshape(n_layers, n, -1)
""",
    ),
}

_EXACT = """\
print(plain.shape)  # a map of each layer; only who is near whom can be compared

# Optional: the very same map, each layer moved and turned as the page has it. {why}
from components.maps.layer_maps import project_layers
from components.maps.settings import MapSettings

settings = MapSettings(
    method="{method}", n_components={n_components}, metric="{metric}",
    n_neighbors={asked}, min_dist={min_dist}, seed={seed}, effort="{effort}",
)
coordinates = project_layers(vectors, settings, how="{how}").coordinates
same = numpy.array_equal(coordinates, shown)
print("the very same map" if same else "another map: other versions or another machine?")
"""
_OWN = """It has those links,
# and an optimiser of Contextlens' own follows UMAP's forces: this needs its folder."""
_NEEDS = """This needs
# Contextlens' folder."""


def redraw_layers_snippet(
    settings: MapSettings, method: Method, how: How, *, n_points: int, file: str = "map.npz"
) -> str:
    """A script that leaves `plain` and `coordinates`, (layers, points, axes) each.

    It reads the download's `all_vectors` and `all_coordinates`.

    Args:
        settings: what the map was asked for.
        method: the one that was used.
        how: how layers were put on one footing.
        n_points: at one layer.
        file: the download's name.
    """
    how = how if method == "umap" else "joint"
    imports, drawing = _PLAIN[method, how]
    most = (n_points - 1) // 3 if method == "tsne" else n_points - 1
    values = {
        **settings.as_dict(),
        "asked": settings.n_neighbors,
        "n_neighbors": min(settings.n_neighbors, most),
        "how": how,
        "why": _OWN if (method, how) == ("umap", "joint") else _NEEDS,
    }
    load = _LOAD.format(file=literal(file)) + ("" if how == "aligned" else _FOOTING)
    return f"{imports}\n{load}{drawing.format(**values)}{_EXACT.format(**values)}"
