"""The Map's snippets: vectors with transformers, the layout with umap-learn or scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from components.analysis.snippet_start import literal, load_lines
from components.analysis.words import Pooling
from components.core.errors import RequestError
from components.core.schema import ModelCard
from components.maps.layer_maps import How
from components.maps.map_quality import MapQuality
from components.maps.points import Unit
from components.maps.projection import K_MEASURED, Map
from components.maps.request import MapSettings, Method

__all__ = [
    "SENTENCE_POOLINGS",
    "MapText",
    "map_vectors_snippet",
    "redraw_layers_snippet",
    "redraw_snippet",
]


# --- A map of all layers redrawn from the page's download

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
from components.maps.request import MapSettings

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
        settings: the settings of the map.
        method: the method that was used.
        how: the way in which layers were aligned.
        n_points: the number of points at one layer.
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


# --- A map of one layer redrawn from the page's download

_IMPORTS = """\
import numpy
from sklearn.manifold import trustworthiness
"""
_UMAP_IMPORTS = _IMPORTS.replace("numpy\n", "numpy\nimport umap\n", 1)
_REDRAW_PLAIN = """\
# With umap-learn alone: another map, as good. Only who is near whom can be compared.
plain = umap.UMAP(
    n_neighbors={n_neighbors}, n_components={n_components}, metric="{metric}",
    min_dist={min_dist}, init="pca", random_state={seed}, n_jobs=1,
).fit_transform(vectors)
print(trustworthiness(vectors, plain, n_neighbors={k}, metric="{metric}"))

# Optional: the very same map. The links and the curve of the forces are umap-learn's; what follows
# the forces is Contextlens' own, so this needs its folder.
from umap.umap_ import find_ab_params, fuzzy_simplicial_set

from components.maps.layouts import optimize

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
    """A script that leaves `coordinates`, and `trusted` and `continuity` if they are measured.

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
        *([_REDRAW_PLAIN.format(**values)] if method == "umap" else []),
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


def _measuring(honesty: MapQuality, n_points: int) -> str:
    code = _ALL if honesty.n_measured == n_points else _SAMPLE
    return code.format(k=honesty.k, n_measured=honesty.n_measured) + "print(trusted, continuity)"


# --- The vectors behind a map with transformers alone

Span = tuple[int, int]
SentencePooling = Literal["mean", "own", "cls", "max", "pooler"]
"""The mean over all real tokens or over the text's own, the first token, the maximum of each
dimension, or the model's pooler."""
SENTENCE_POOLINGS: tuple[SentencePooling, ...] = get_args(SentencePooling)

_WORD = {"mean": "inside.mean(dim=0)", "first": "inside[0]", "last": "inside[-1]"}
_SENTENCE = {
    "mean": "hidden.mean(dim=0)",
    "own": "hidden[own].mean(dim=0)",
    "cls": "hidden[0]",
    "max": "hidden.max(dim=0).values",
    "pooler": "output.pooler_output[0]",
}

_READ = """\
names, vectors = [], []
for {item} in texts:
    batch = tokenizer(
        text, truncation=True, max_length={max_length}, return_offsets_mapping=True,
        return_special_tokens_mask=True, return_tensors="pt",
    )
    offsets = batch.pop("offset_mapping")[0]
    own = batch.pop("special_tokens_mask")[0] == 0  # not what the tokenizer added
    with torch.inference_mode():
        output = model(**batch, output_hidden_states=True)
    hidden = output.hidden_states[{layer}][0]  # (tokens, dims)
"""

_TOKENS = """\
    tokens = tokenizer.convert_ids_to_tokens(batch["input_ids"][0])
    kept = {kept}
    names += [token for token, keep in zip(tokens, kept.tolist()) if keep]
    vectors += list(hidden[kept])
"""

_WORDS = """\
    for start, end in words:
        inside = hidden[own & (offsets[:, 0] < end) & (offsets[:, 1] > start)]
        names.append(text[start:end])
        vectors.append({pool})
"""

_SENTENCES = """\
    names.append(text)
    vectors.append({pool})
"""


@dataclass(frozen=True)
class MapText:
    """A sentence of a map, with the words that are points on it, in code points."""

    text: str
    words: tuple[Span, ...] = ()


def map_vectors_snippet(
    card: ModelCard,
    texts: Sequence[MapText],
    unit: Unit,
    layer: int,
    *,
    pooling: Pooling | SentencePooling = "mean",
    added: bool = False,
    pair: tuple[int, int] = (0, 1),
) -> str:
    """A script that leaves `names`, `vectors` (points, dims) and `cosine`, of two of the points.

    Args:
        card: the model.
        texts: a few sentences of the map; their points come in the order of the texts.
        unit: the kind of point.
        layer: the layer of the hidden states; the pooler always reads the last one.
        pooling: the pooling of a word's or a sentence's tokens into one vector.
        added: True if tokens that the tokenizer added are points as well.
        pair: the two points to compare.

    Raises:
        RequestError: the model lacks the layer, or the unit lacks the pooling.
    """
    if not 0 <= layer <= card.n_layers:
        raise RequestError(f"Layer {layer} was asked for; {card.title} has 0 to {card.n_layers}.")
    own_words = unit == "words"
    lines = [
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        "texts = [  # with the start and end of the words" if own_words else "texts = [",
        *(f"    {_item(text, words=own_words)}," for text in texts),
        "]",
        _READ.format(
            item="text, words" if own_words else "text", max_length=card.max_length, layer=layer
        )
        + _points(unit, pooling, added=added),
        "vectors = torch.stack(vectors)",
        f"a, b = {pair[0]}, {pair[1]}",
        "cosine = torch.cosine_similarity(vectors[a], vectors[b], dim=0)",
        'print(names[a], names[b], f"{cosine:.4f}")',
    ]
    return "\n".join(lines) + "\n"


def _item(text: MapText, *, words: bool) -> str:
    return f"({literal(text.text)}, {list(text.words)})" if words else literal(text.text)


def _points(unit: Unit, pooling: str, *, added: bool) -> str:
    """The lines that extract the points of one text from its hidden states."""
    if unit == "tokens":
        return _TOKENS.format(kept="torch.ones_like(own)" if added else "own")
    allowed = _WORD if unit == "words" else _SENTENCE
    if pooling not in allowed:
        raise RequestError(
            f"{unit.capitalize()} have no pooling {pooling!r}. Choose one of {', '.join(allowed)}."
        )
    pool = allowed[pooling]
    return _WORDS.format(pool=pool) if unit == "words" else _SENTENCES.format(pool=pool)
