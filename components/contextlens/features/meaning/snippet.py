"""Meaning in context with transformers alone: a script that prints the page's table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.analysis.words import Pooling
from contextlens.core.schema import ModelCard

PICTURE = """\
import plotly.express as px

lines = {f"{a} ~ {b}": values.tolist() for (a, b), values in cosines.items()}
px.line(lines, markers=True, labels={"index": "layer", "value": "cosine", "variable": ""})
"""
"""Goes on from `cosine_snippet`: a line for each pair."""

_POOL = {"mean": ".mean(dim=-2)", "first": "[..., 0, :]", "last": "[..., -1, :]"}

_WORDS = '''\
def word_vectors(text, start, end):
    """text[start:end] in context, (layers, dims), and from the word table, (dims,)."""
    batch = tokenizer(
        text, truncation=True, max_length={max_length},
        return_offsets_mapping=True, return_tensors="pt",
    )
    first, last = batch.pop("offset_mapping")[0].T
    inside = (first < end) & (last > start)
    with torch.inference_mode():
        hidden = torch.stack(model(**batch, output_hidden_states=True).hidden_states)[:, 0]
        rows = model.get_input_embeddings().weight[batch["input_ids"][0, inside]]
    return hidden[:, inside]{pool}, rows{pool}
'''

_NO_REFERENCES = "references = set()"

_CENTRE = """\
# The average vectors of the sample words, from this page's NPZ download.
with numpy.load("meaning-in-context.npz") as page:
    mean, static_mean = [torch.from_numpy(page[f"{name}_mean"]) for name in ("baseline", "static")]
words = {name: (here - mean, alone - static_mean) for name, (here, alone) in words.items()}
"""

_COSINES = """\
pairs = [pair for pair in itertools.combinations(words, 2) if not references.issuperset(pair)]
cosines, static = {}, {}
for a, b in pairs:
    cosines[a, b] = torch.cosine_similarity(words[a][0], words[b][0], dim=-1)
    static[a, b] = torch.cosine_similarity(words[a][1], words[b][1], dim=-1)
    layers = [f"{value:.4f}" for value in cosines[a, b].tolist()]
    print(a, "~", b, *layers, f"without context {static[a, b]:.4f}")
"""

_BAND = """\
# The random pairs of words, from this page's NPZ download, where it is at hand.
if os.path.exists("meaning-in-context.npz"):
    with numpy.load("meaning-in-context.npz") as page:
        ends = page["random_pairs"]
    for name, values in zip(["5th percentile", "mean", "95th percentile"], ends):
        print("random pairs,", name, *[f"{value:.4f}" for value in values.tolist()])
"""


@dataclass(frozen=True)
class SnippetWord:
    """A compared word: its name, its text, its span in code points, and its role."""

    name: str
    text: str
    start: int
    end: int
    is_reference: bool = False


def cosine_snippet(
    card: ModelCard, words: Sequence[SnippetWord], pooling: Pooling, *, centred: bool
) -> str:
    """A script that leaves `cosines` and `static`, and prints the page's table.

    `cosines` maps the names of a pair to an (n_layers,) tensor, `static` to the cosine without
    context. Pairs of two references are left out, as on the page.
    """
    names = _distinct([word.name for word in words])
    references = [name for name, word in zip(names, words, strict=True) if word.is_reference]
    lines = [
        "import itertools",
        "import os",
        "",
        "import numpy",
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        _WORDS.format(max_length=card.max_length, pool=_POOL[pooling]),
        "words = {",
        *(
            f"    {literal(name)}: word_vectors({literal(w.text)}, {w.start}, {w.end}),"
            for name, w in zip(names, words, strict=True)
        ),
        "}",
        f"references = {{{', '.join(map(literal, references))}}}" if references else _NO_REFERENCES,
        *([_CENTRE.rstrip()] if centred else []),
        _COSINES + _BAND,
    ]
    return "\n".join(lines)


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number for repeated ones."""
    counts = [names[: i + 1].count(name) for i, name in enumerate(names)]
    return [f"{name} ({n})" if n > 1 else name for name, n in zip(names, counts, strict=True)]
