"""The vectors of texts: each is encoded once for all layers and poolings; and their script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from contextlens.analysis.separation import scaled
from contextlens.analysis.snippet_start import load_lines, recipe_lines
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.errors import RequestError
from contextlens.core.recipe import NormalizeStep, SentenceRecipe
from contextlens.core.schema import FloatArray, Passport, Precision
from contextlens.corpus.file_vectors import FileVectors
from contextlens.maps.precision import with_cosine_errors
from contextlens.maps.request import GIVEN
from contextlens.maps.vectors import RECIPE, recipe_prompt, sentence_vectors

POOLINGS = ("mean", "cls")
_N_TEXTS = 96  # encoded at a time
OnProgress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class TextVectors:
    """The vectors of texts.

    Attributes:
        pooled: (n_layers, n_texts, n_dims) float32 for each pooling.
        static: (n_texts, n_embedding_dims) float32, the mean row of the word table; None for the
            vectors of a file.
        recipe: (n_texts, n) float32 by the model's own recipe; None if it has none.
        n_cut: the number of texts whose end did not fit the model.
        passport: the passport of the encodings.
    """

    pooled: dict[str, FloatArray]
    static: FloatArray | None
    recipe: FloatArray | None
    n_cut: int
    passport: Passport


def text_vectors(
    texts: Sequence[str],
    card: ModelCard,
    service: EncoderService,
    on_progress: OnProgress,
    precision: Precision = "exact",
) -> TextVectors:
    """Return the vectors of texts; an exception from `on_progress` ends the work.

    Raises:
        RequestError: there is no text.
    """
    shape = (card.n_layers + 1, len(texts), card.n_dims)
    pooled = {pooling: np.empty(shape, np.float32) for pooling in POOLINGS}
    static: list[FloatArray] = []
    recipe: list[FloatArray] = []
    n_cut, passport = 0, None
    for at in range(0, len(texts), _N_TEXTS):
        on_progress(f"Reading {len(texts):,} texts", at / len(texts))
        batch = texts[at : at + _N_TEXTS]
        encodings = service.encode(card.id, batch, precision=precision, checksum=card.checksum)
        for i, encoding in enumerate(encodings, at):
            for pooling, vectors in pooled.items():
                vectors[:, i] = sentence_vectors(encoding, pooling)
        static += _static_rows(encodings, card, service)
        if card.recipe is not None:
            recipe += _by_recipe(card.recipe, batch, encodings, card, service, precision)
        n_cut += sum(encoding.n_truncated > 0 for encoding in encodings)
        passport = encodings[-1].passport
    if passport is None:
        raise RequestError("There is no text to read. Choose another corpus.")
    by_recipe = np.stack(recipe) if recipe else None
    passport = with_cosine_errors(passport, texts, card, service)
    return TextVectors(pooled, np.stack(static), by_recipe, n_cut, passport)


def given_vectors(own: FileVectors) -> TextVectors:
    """Return the vectors that a file gives for its texts, which no model reads."""
    return TextVectors({GIVEN: own.rows[None]}, None, None, 0, own.passport())


def _by_recipe(
    recipe: SentenceRecipe,
    texts: Sequence[str],
    encodings: Sequence[Encoding],
    card: ModelCard,
    service: EncoderService,
    precision: Precision,
) -> list[FloatArray]:
    """The texts' vectors by a recipe; texts that it reads as they were read are not read again."""
    if recipe.is_plain_mean and max(e.n_tokens for e in encodings) <= recipe.max_length:
        means = np.stack([sentence_vectors(encoding, "mean")[-1] for encoding in encodings])
        is_scaled = any(isinstance(step, NormalizeStep) for step in recipe.steps)
        return list(scaled(means) if is_scaled else means)
    prompt = recipe_prompt(card, RECIPE)
    sentences = service.sentence_vectors(
        card.id, texts, prompt=prompt, precision=precision, checksum=card.checksum
    )
    return [sentence.vector for sentence in sentences]


def _static_rows(
    encodings: Sequence[Encoding], card: ModelCard, service: EncoderService
) -> list[FloatArray]:
    """The mean row of each text's own tokens in the word table; zeros if it has none."""
    tokens = [
        e.token_ids[(e.attention_mask == 1) & (e.special_tokens_mask == 0)] for e in encodings
    ]
    ids = np.unique(np.concatenate([*tokens, encodings[0].token_ids[:1]]))
    rows = service.word_rows(card.id, ids, checksum=card.checksum)
    indices = [np.searchsorted(ids, token_ids) for token_ids in tokens]
    return [rows[i].mean(axis=0) if len(i) else np.zeros_like(rows[0]) for i in indices]


def text_vector(
    text: str, pooling: str, layer: int, card: ModelCard, service: EncoderService
) -> FloatArray:
    """Return the vector of one text, as `text_vectors` computes it."""
    if pooling == RECIPE:
        prompt = recipe_prompt(card, RECIPE)
        sentences = service.sentence_vectors(card.id, [text], prompt=prompt, checksum=card.checksum)
        return sentences[0].vector
    encoding = service.encode(card.id, [text], checksum=card.checksum)[0]
    vector: FloatArray = sentence_vectors(encoding, pooling)[layer]
    return vector


# --- A script for the vectors of the texts in the page's NPZ

_STATES = """\
vectors = []
for text in texts:
    batch = tokenizer(text, truncation=True, max_length={max_length}, return_tensors="pt")
    with torch.inference_mode():
        states = model(**batch, output_hidden_states=True).hidden_states[{layer}][0]{floats}
    vectors.append({pooled}.numpy())
vectors = np.stack(vectors)
"""


_ROWS = """\
with np.load("probe.npz") as page:
    rows = page["rows"]  # of your file, from 0
"""


def vectors_script(
    card: ModelCard,
    pooling: str,
    layer: int,
    *,
    precision: Precision,
    imports: str,
    load: str,
    learn: str,
    own: FileVectors | None = None,
) -> str:
    """Return a script that reads the NPZ, computes the texts' vectors and learns from them.

    Args:
        card: the model's card.
        pooling: the pooling of the vectors.
        layer: their layer.
        precision: the precision in which the texts were read.
        imports: what `learn` imports.
        load: reads `texts` and more from the NPZ.
        learn: goes on with `vectors`.
        own: the vectors of the file, if these are learned from.
    """
    if own is not None:
        start = f"import json\n\nimport numpy as np\n{imports}"
        return "\n".join([start, load, _ROWS, own.script(None), learn])
    if pooling == RECIPE:
        libraries = "from sentence_transformers import SentenceTransformer"
        prompt = recipe_prompt(card, RECIPE)
        vectors = f"vectors = model.encode([{prompt!r} + text for text in texts])\n"
        model = recipe_lines(card, precision)
    else:
        libraries = "import torch\nfrom transformers import AutoModel, AutoTokenizer"
        pooled = "states.mean(dim=0)" if pooling == "mean" else "states[0]"
        floats = ".float()" if precision == "fast" else ""
        vectors = _STATES.format(
            max_length=card.max_length, layer=layer, pooled=pooled, floats=floats
        )
        model = load_lines(card, precision)
    start = f"import json\n\nimport numpy as np\n{libraries}\n{imports}"
    return "\n".join([start, *model, "", load, vectors, learn])
