"""Meaning in context with transformers alone: the cosines of word vectors at every layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.analysis.snippet_start import literal, load_lines
from components.analysis.words import Pooling
from components.core.schema import ModelCard

__all__ = ["SnippetWord", "cosine_snippet"]

_POOL = {"mean": "mean(dim=1)", "first": "[:, 0]", "last": "[:, -1]"}

_WORDS = '''\
def word_vectors(text, start, end):
    """The vectors of text[start:end] at every layer: (layers, dims)."""
    batch = tokenizer(
        text, truncation=True, max_length={max_length},
        return_offsets_mapping=True, return_tensors="pt",
    )
    first, last = batch.pop("offset_mapping")[0].T
    with torch.inference_mode():
        hidden = torch.stack(model(**batch, output_hidden_states=True).hidden_states)[:, 0]
    inside = (first < end) & (last > start)
    return hidden[:, inside]{pool}
'''


@dataclass(frozen=True)
class SnippetWord:
    """A compared word: its name, its text, and its span in code points."""

    name: str
    text: str
    start: int
    end: int


def cosine_snippet(
    card: ModelCard, words: Sequence[SnippetWord], pooling: Pooling, *, centred: bool
) -> str:
    """A script that leaves `cosines`: name pairs -> (n_layers,) tensor of cosines."""
    pool = _POOL[pooling]
    lines = [
        "import itertools",
        *(["", "import numpy"] if centred else []),
        "",
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        _WORDS.format(max_length=card.max_length, pool=pool if pool[0] == "[" else f".{pool}"),
        "words = {",
        *(
            f"    {literal(name)}: word_vectors({literal(w.text)}, {w.start}, {w.end}),"
            for name, w in zip(_distinct([w.name for w in words]), words, strict=True)
        ),
        "}",
        *(_CENTRE if centred else []),
        "cosines = {",
        "    (a, b): torch.cosine_similarity(words[a], words[b], dim=-1)",
        "    for a, b in itertools.combinations(words, 2)",
        "}",
        "for pair, values in cosines.items():",
        '    print(*pair, [f"{value:.4f}" for value in values.tolist()])',
    ]
    return "\n".join(lines) + "\n"


_CENTRE = [
    "# The mean word vector of the sample sentences, from this page's NPZ download.",
    'mean = torch.from_numpy(numpy.load("meaning-in-context.npz")["baseline_mean"])',
    "words = {name: vectors - mean for name, vectors in words.items()}",
]


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number where one stands there before."""
    counts = [names[: i + 1].count(name) for i, name in enumerate(names)]
    return [f"{name} ({n})" if n > 1 else name for name, n in zip(names, counts, strict=True)]
