"""A script that computes the vectors of a map's first sentences with transformers alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from contextlens.analysis.snippet_start import literal, load_lines, prompt_argument, recipe_lines
from contextlens.core.errors import RequestError
from contextlens.core.schema import ModelCard, Precision
from contextlens.core.words import Span
from contextlens.features.map.controls import N_SCRIPT_SENTENCES
from contextlens.features.map.display import MapDisplay
from contextlens.features.map.identity import once
from contextlens.maps.points import Points, Unit
from contextlens.maps.request import GIVEN
from contextlens.maps.vectors import is_recipe, recipe_prompt


def vectors_snippet(display: MapDisplay, card: ModelCard) -> str:
    """A script that computes the vectors of the map's first sentences."""
    points, request = display.points, display.result.request
    own = display.result.corpus.own
    if request.pooling == GIVEN and own is not None:
        given = own.rows

        def rows() -> list[int]:
            shown = display.result.vectors[0, :N_SCRIPT_SENTENCES]
            return [int((given == vector).all(axis=1).argmax()) for vector in shown]

        return own.script(once(display.result, "rows", compute=rows)) + _COSINE_OF_ROWS
    precision = display.result.passport.precision
    if is_recipe(request.pooling):
        texts, prompt = points.texts[:N_SCRIPT_SENTENCES], recipe_prompt(card, request.pooling)
        return recipe_snippet(card, texts, prompt=prompt, precision=precision)
    return map_vectors_snippet(
        card,
        [_text_of(points, int(i)) for i in np.unique(points.sentence)[:N_SCRIPT_SENTENCES]],
        points.unit,
        max(display.layer, 0),
        pooling=request.pooling,
        added=request.special,
        precision=precision,
    )


def _text_of(points: Points, sentence: int) -> MapText:
    spans = points.spans[points.sentence == sentence].tolist()
    return MapText(points.texts[sentence], tuple((start, end) for start, end in spans))


_COSINE_OF_ROWS = """\
a, b = vectors[:2]
cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
print(f"{cosine:.4f}")
"""
_WORD = {"mean": "inside.mean(dim=0)", "first": "inside[0]", "last": "inside[-1]"}
_SENTENCE = {
    "mean": "hidden.mean(dim=0)",
    "own": "hidden[in_text].mean(dim=0)",
    "cls": "hidden[0]",
    "max": "hidden.max(dim=0).values",
    "pooler": "output.pooler_output[0].float()",
}

_FLOATS: Mapping[Precision, str] = {"exact": "", "fast": ".float()"}
_COMPARE = (
    "a, b = 0, 1",
    "cosine = torch.cosine_similarity(vectors[a], vectors[b], dim=0)",
    'print(names[a], names[b], f"{cosine:.4f}")',
)
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
    hidden = output.hidden_states[{layer}][0]{floats}  # (tokens, dims)
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
    pooling: str = "mean",
    added: bool = False,
    precision: Precision = "exact",
) -> str:
    """A script that computes `names`, `vectors` (points, dims), and the `cosine` of the first two.

    Args:
        card: the model.
        texts: a few sentences of the map; the points are in the same order.
        unit: the kind of text that a point stands for.
        layer: the layer of the hidden states; the pooler always uses the last one.
        pooling: how the tokens of a word or sentence become one vector.
        added: True if special tokens, which the tokenizer adds, are points too.
        precision: the precision of the map's vectors.

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
        *load_lines(card, precision),
        "",
        "texts = [  # with the start and end of the words" if are_words else "texts = [",
        *(f"    {_text_literal(text, words=are_words)}," for text in texts),
        "]",
        _READ.format(
            item="text, words" if are_words else "text",
            max_length=card.max_length,
            layer=layer,
            floats=_FLOATS[precision],
        )
        + _point_lines(unit, pooling, added=added),
        "vectors = torch.stack(vectors)",
        *_COMPARE,
    ]
    return "\n".join(lines) + "\n"


def recipe_snippet(
    card: ModelCard, texts: Sequence[str], *, prompt: str = "", precision: Precision = "exact"
) -> str:
    """A script that computes the same as `map_vectors_snippet` by the model's own recipe.

    Args:
        card, texts, precision: as there.
        prompt: the text before each text; "" for none.
    """
    before = prompt_argument(card, prompt)
    lines = [
        "import torch",
        "from sentence_transformers import SentenceTransformer",
        "",
        *recipe_lines(card, precision),
        "",
        "names = [",
        *(f"    {literal(text)}," for text in texts),
        "]",
        f"vectors = model.encode(names{before}, convert_to_tensor=True){_FLOATS[precision]}",
        *_COMPARE,
    ]
    return "\n".join(lines) + "\n"


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
