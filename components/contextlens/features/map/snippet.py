"""The Map page's Python snippets: vectors with transformers, and a similar map of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from contextlens.analysis.snippet_start import literal, load_lines, prompt_argument, recipe_lines
from contextlens.analysis.words import Pooling
from contextlens.core.errors import RequestError
from contextlens.core.schema import ModelCard
from contextlens.maps.points import Unit
from contextlens.maps.request import Method
from contextlens.maps.result import MapResult

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


# --- The vectors behind a map, with transformers alone

Span = tuple[int, int]
SentencePooling = Literal["mean", "own", "cls", "max", "pooler"]
"""In this order: the mean over all tokens but padding, the mean over all but special tokens, the
first token, the maximum of each dimension, and the model's pooler."""
SENTENCE_POOLINGS: tuple[SentencePooling, ...] = get_args(SentencePooling)

_WORD = {"mean": "inside.mean(dim=0)", "first": "inside[0]", "last": "inside[-1]"}
_SENTENCE = {
    "mean": "hidden.mean(dim=0)",
    "own": "hidden[in_text].mean(dim=0)",
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
    in_text = batch.pop("special_tokens_mask")[0] == 0  # not what the tokenizer added
    with torch.inference_mode():
        output = model(**batch, output_hidden_states=True)
    hidden = output.hidden_states[{layer}][0]  # (tokens, dims)
"""

_TOKENS = """\
    tokens = tokenizer.convert_ids_to_tokens(batch["input_ids"][0])
    used = {used}
    names += [token for token, keep in zip(tokens, used.tolist()) if keep]
    vectors += list(hidden[used])
"""

_WORDS = """\
    for start, end in words:
        inside = hidden[in_text & (offsets[:, 0] < end) & (offsets[:, 1] > start)]
        names.append(text[start:end])
        vectors.append({pool})
"""

_SENTENCES = """\
    names.append(text)
    vectors.append({pool})
"""


@dataclass(frozen=True)
class MapText:
    """A sentence of a map, with the spans (in code points) of the words that are points."""

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
    """A script that computes `names`, `vectors` (points, dims), and the `cosine` of two points.

    Args:
        card: the model.
        texts: a few sentences of the map; the points are in the same order.
        unit: the kind of text that a point stands for.
        layer: the layer of the hidden states; the pooler always uses the last one.
        pooling: how the tokens of a word or sentence become one vector.
        added: True if special tokens, which the tokenizer adds, are points too.
        pair: the two points to compare.

    Raises:
        RequestError: the model lacks the layer, or the unit lacks the pooling.
    """
    if not 0 <= layer <= card.n_layers:
        raise RequestError(f"Layer {layer} was asked for; {card.title} has 0 to {card.n_layers}.")
    are_words = unit == "words"
    lines = [
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        "texts = [  # with the start and end of the words" if are_words else "texts = [",
        *(f"    {_text_literal(text, words=are_words)}," for text in texts),
        "]",
        _READ.format(
            item="text, words" if are_words else "text", max_length=card.max_length, layer=layer
        )
        + _point_lines(unit, pooling, added=added),
        "vectors = torch.stack(vectors)",
        *_compared(pair),
    ]
    return "\n".join(lines) + "\n"


def recipe_snippet(
    card: ModelCard, texts: Sequence[str], *, prompt: str = "", pair: tuple[int, int] = (0, 1)
) -> str:
    """A script that computes the same as `map_vectors_snippet` by the model's own recipe.

    Args:
        card, texts, pair: as there.
        prompt: the text before each text; "" for none.
    """
    before = prompt_argument(card, prompt)
    lines = [
        "import torch",
        "from sentence_transformers import SentenceTransformer",
        "",
        *recipe_lines(card),
        "",
        "names = [",
        *(f"    {literal(text)}," for text in texts),
        "]",
        f"vectors = model.encode(names{before}, convert_to_tensor=True)",
        *_compared(pair),
    ]
    return "\n".join(lines) + "\n"


def _compared(pair: tuple[int, int]) -> list[str]:
    return [
        f"a, b = {pair[0]}, {pair[1]}",
        "cosine = torch.cosine_similarity(vectors[a], vectors[b], dim=0)",
        'print(names[a], names[b], f"{cosine:.4f}")',
    ]


def _text_literal(text: MapText, *, words: bool) -> str:
    return f"({literal(text.text)}, {list(text.words)})" if words else literal(text.text)


def _point_lines(unit: Unit, pooling: str, *, added: bool) -> str:
    """The lines of the script that add one text's points to `names` and `vectors`."""
    if unit == "tokens":
        return _TOKENS.format(used="torch.ones_like(in_text)" if added else "in_text")
    allowed = _WORD if unit == "words" else _SENTENCE
    if pooling not in allowed:
        raise RequestError(
            f"{unit.capitalize()} have no pooling {pooling!r}. Choose one of {', '.join(allowed)}."
        )
    pool = allowed[pooling]
    return _WORDS.format(pool=pool) if unit == "words" else _SENTENCES.format(pool=pool)
