"""The vectors behind a map with transformers alone: of tokens, words or sentences at one layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from components.analysis.snippet_start import literal, load_lines
from components.analysis.words import Pooling
from components.core.errors import RequestError
from components.core.schema import ModelCard
from components.maps.points import Unit

__all__ = ["SENTENCE_POOLINGS", "MapText", "SentencePooling", "map_vectors_snippet"]

Span = tuple[int, int]
SentencePooling = Literal["mean", "own", "cls", "max", "pooler"]
"""Over all real tokens, over those of the text itself, the first token, the largest value of each
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
        unit: what a point is.
        layer: whose hidden states are meant; the pooler reads the last one whatever it is.
        pooling: how a word's or a sentence's tokens become one vector.
        added: whether tokens that the tokenizer added are points as well.
        pair: which two points are compared.

    Raises:
        RequestError: a layer that the model does not have, or a pooling that the unit does not.
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
    """The lines that take the points of one text out of its hidden states."""
    if unit == "tokens":
        return _TOKENS.format(kept="torch.ones_like(own)" if added else "own")
    allowed = _WORD if unit == "words" else _SENTENCE
    if pooling not in allowed:
        raise RequestError(
            f"{unit.capitalize()} have no pooling {pooling!r}. Choose one of {', '.join(allowed)}."
        )
    pool = allowed[pooling]
    return _WORDS.format(pool=pool) if unit == "words" else _SENTENCES.format(pool=pool)
