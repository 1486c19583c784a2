"""The cosine of each pair at every layer, each text read once; and scripts that compute it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from contextlens.analysis.baseline import SEED
from contextlens.analysis.snippet_start import literal, load_lines, prompt_argument, recipe_lines
from contextlens.analysis.words import word_vectors
from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.errors import RequestError
from contextlens.core.recipe import pool
from contextlens.core.schema import FloatArray, IntArray, Passport
from contextlens.corpus.file_vectors import FileVectors
from contextlens.features.pairs.controls import POOLING
from contextlens.features.pairs.pair_file import no_vectors, reasons_of
from contextlens.features.pairs.pair_set import PairSet
from contextlens.maps.vectors import RECIPE, is_recipe, recipe_prompt, sentence_vectors
from contextlens.ui.models.recipes import recipe_of, recipe_poolings, recipe_title
from contextlens.ui.state.controls import Choice

COSINE_FORMULA = r"""
**Cosine of a pair.** A word is cut into the sub-tokens $T$. At layer $\ell$, token $t$ has the
hidden state $h_{\ell,t}$; the word has their mean, and a pair the cosine of its two words:

$$w_\ell = \frac{1}{|T|} \sum_{t \in T} h_{\ell,t}$$

$$c_\ell = \frac{w_\ell \cdot w'_\ell}{\lVert w_\ell \rVert \, \lVert w'_\ell \rVert}$$

Where no word is marked, $T$ is all tokens of the text, [CLS] and [SEP] among them. By the model's
own recipe, a text is cut at the recipe's length and pooled as the recipe says at every layer; at
the last layer its further steps follow, so those cosines are sentence-transformers' own.
"""


GIVEN_FORMULA = r"""
**Cosine of a pair.** Your file gives a vector for either text of a pair, $w$ and $w'$:

$$c = \frac{w \cdot w'}{\lVert w \rVert \, \lVert w' \rVert}$$

These vectors have no layers; below, they count as one.

**Random pairs** are the first text of one row and the second of another, with different texts,
drawn with a fixed seed. Nine in ten of their cosines lie between the 5th and the 95th percentile.
"""


def pooling_of(pairs: PairSet, card: ModelCard) -> Choice:
    """Return the choice of how whole texts become vectors; a model's own recipe comes first."""
    by_recipe = recipe_poolings(card) if not pairs.has_words else {}
    options, default = {**by_recipe, **POOLING.options}, next(iter(by_recipe), "mean")
    return replace(POOLING.among(options, default=default), help=escape(recipe_of(card)))


def pooling_title(passport: Passport) -> str:
    """Return in words how whole texts became vectors."""
    pooling, prompt = (str(passport.settings.get(name, "")) for name in ("pooling", "prompt"))
    if not is_recipe(pooling):
        return POOLING.options["mean"]
    return say("recipe.title") if pooling == RECIPE and not prompt else recipe_title(prompt)


# --- The cosine of each pair at every layer

_CHUNK_BYTES = 96_000_000  # of hidden states at a time
_CACHE_BYTES = 256_000_000  # of vectors kept for a later pair
_TOKEN_CHARACTERS = 3  # of an English token, on the low side
OnProgress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class PairCosines:
    """The cosines of pairs.

    Attributes:
        values: (n_layers, n_pairs) float32; NaN if the model does not read a pair's word.
        layers: the layer of each row.
        n_cut: the number of texts whose end did not fit the model.
        n_encoded: the number of encoded texts; one counts again if its vectors were evicted.
        passport: the passport of the encodings.
        n_unknown: the number of texts with unknown tokens.
        random_range: the 5th and the 95th percentile of the cosines of random pairs of texts, for
            the vectors of a file; None if they are not known.
    """

    values: FloatArray
    layers: tuple[int, ...]
    n_cut: int
    n_encoded: int
    passport: Passport
    n_unknown: int
    random_range: tuple[float, float] | None = None


def compare(
    pairs: PairSet,
    card: ModelCard,
    service: EncoderService,
    *,
    pooling: str = "mean",
    on_progress: OnProgress | None = None,
    chunk_bytes: int = _CHUNK_BYTES,
    cache_bytes: int = _CACHE_BYTES,
) -> PairCosines:
    """Return each pair's cosine at every layer.

    Args:
        pairs: the pairs: words are the mean of their sub-tokens.
        card: the model's card.
        service: encodes the texts.
        pooling: how a whole text becomes a vector: "mean" of all tokens, or the model's own recipe
            as in `maps.vectors.RECIPE`: its pooling at each layer, and its further steps at the
            last one, where the cosines are those of sentence-transformers.
        on_progress: receives the progress; an exception that it raises ends the work.
        chunk_bytes: approximate bytes of hidden states in memory at a time.
        cache_bytes: bytes of vectors kept for a later pair.
    """
    layers = tuple(range(card.n_layers + 1))
    values = np.full((len(layers), pairs.n), np.nan, np.float32)
    vectors = _Vectors(pairs, card, service, cache_bytes, pooling)
    for start, stop in _chunks(pairs, card, chunk_bytes):
        if on_progress is not None:
            on_progress(f"Reading {pairs.n:,} pairs", start / pairs.n)
        first, second = vectors.of(start, stop)
        values[:, start:stop] = np.clip(np.einsum("pld,pld->lp", first, second), -1, 1)
    passport = vectors.passport.with_prompt(recipe_prompt(card, pooling))
    settings = {**passport.settings, "pooling": pooling}
    return PairCosines(
        values,
        layers,
        len(vectors.cut),
        vectors.n_encoded,
        replace(passport, settings=settings),
        len(vectors.unknown),
    )


_N_RANDOM = 2_000  # pairs
_MIN_RANDOM = 20
_GIVEN_ROWS = 4_096  # multiplied at a time


def given_cosines(pairs: PairSet, vectors: tuple[FileVectors, ...]) -> PairCosines:
    """Return each pair's cosine by the vectors of its file, which count as one layer.

    Args:
        pairs: the pairs, all of whole texts.
        vectors: the vectors of their first and second texts, or of the three of triplets; pairs
            without both have no cosine.
    """
    known = np.flatnonzero(reasons_of(vectors) == 0)
    values = np.full((1, pairs.n), np.nan, np.float32)
    values[0, known] = _crossed(vectors, known, known)
    one, other = np.random.default_rng(SEED).choice(known, (2, _N_RANDOM))
    different = (pairs.sides[one] != pairs.sides[other]).all(axis=1)
    different &= pairs.sides[one, 0] != pairs.sides[other, 1]
    one, other = one[different], other[different]
    random_range = None
    if len(np.unique(np.stack([one, other]), axis=1).T) >= _MIN_RANDOM:
        low, high = np.percentile(_crossed(vectors, one, other), [5, 95]).tolist()
        random_range = (low, high)
    passports = [own.passport() for own in vectors]
    settings = [
        {name: value for name, value in passport.settings.items() if name != "texts_left_out"}
        for passport in passports
    ]
    passport = replace(
        passports[0],
        settings={
            **{f"text_{i}": own for i, own in enumerate(settings, start=1)},
            "pairs_left_out": dict(no_vectors(vectors)),
            "random_pairs": len(one),
            "random_seed": SEED,
        },
    )
    return PairCosines(values, (-1,), 0, 0, passport, 0, random_range)


def _crossed(vectors: tuple[FileVectors, ...], one: IntArray, other: IntArray) -> FloatArray:
    """Return the cosines of the first texts of some pairs with the second texts of others."""
    first, *seconds = vectors
    cosines = np.empty(len(one), np.float64)
    for at in range(0, len(one), _GIVEN_ROWS):
        some = slice(at, at + _GIVEN_ROWS)
        (rows, _), (places, sides) = (divmod(own[some], len(seconds)) for own in (one, other))
        a, b = first.rows[rows].astype(float), np.empty((len(rows), first.n_dims))
        for side, second in enumerate(seconds):
            b[sides == side] = second.rows[places[sides == side]]
        lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        cosines[some] = np.einsum("pd,pd->p", a, b) / lengths
    return np.clip(cosines, -1, 1).astype(np.float32)


def n_tokens_of(pairs: PairSet, card: ModelCard) -> IntArray:
    """Return the approximate number of tokens of each text, (n_texts,) int64."""
    n = [
        len(text) // _TOKEN_CHARACTERS + 2 if text.isascii() else len(text) + 2
        for text in pairs.texts
    ]
    return np.minimum(np.array(n, np.int64), card.max_length)


def _chunks(pairs: PairSet, card: ModelCard, chunk_bytes: int) -> Iterator[tuple[int, int]]:
    """Ranges of pairs whose hidden states take about this many bytes; at least one pair each."""
    n_tokens = n_tokens_of(pairs, card)[pairs.sides].sum(axis=1)
    max_tokens = max(1, chunk_bytes // (4 * (card.n_layers + 1) * card.n_dims))
    start, total = 0, 0
    for i, n in enumerate(n_tokens.tolist()):
        if i > start and total + n > max_tokens:
            yield start, i
            start, total = i, 0
        total += n
    yield start, pairs.n


class _Vectors:
    """Unit vectors of the sides of pairs, each computed when it is first needed."""

    def __init__(
        self,
        pairs: PairSet,
        card: ModelCard,
        service: EncoderService,
        cache_bytes: int,
        pooling: str,
    ) -> None:
        self._pairs, self._card, self._service = pairs, card, service
        self._recipe = card.recipe if is_recipe(pooling) else None
        self._prompt = recipe_prompt(card, pooling)
        flat = np.concatenate([pairs.sides[:, :, None], pairs.spans], axis=2).reshape(-1, 3)
        kinds, numbers = np.unique(flat, axis=0, return_inverse=True)
        self._kinds = kinds  # (n_different, 3): text, start, end
        self._sides = numbers.reshape(-1, 2)
        self._uses = np.bincount(numbers.ravel(), minlength=len(kinds))
        self._first = np.searchsorted(kinds[:, 0], np.arange(len(pairs.texts) + 1))
        shape = (card.n_layers + 1, card.n_dims)
        self._max_cached = max(1, cache_bytes // (4 * shape[0] * shape[1]))
        self._unread = np.full(shape, np.nan, np.float32)
        self._cache: OrderedDict[int, FloatArray] = OrderedDict()
        self.cut: set[int] = set()
        self.unknown: set[int] = set()
        self._unknown_id = service.vocabulary(card.id).unknown_id
        self.n_encoded = 0
        self._passport: Passport | None = None

    @property
    def passport(self) -> Passport:
        """The passport of the encodings."""
        if self._passport is None:  # only if there is no pair, which readers refuse
            raise RequestError("There is no pair to compare. Choose other pairs.")
        return self._passport

    def of(self, start: int, stop: int) -> tuple[FloatArray, FloatArray]:
        """The (n, n_layers, n_dims) unit vectors of both sides for a range of pairs."""
        sides = self._sides[start:stop]
        missing = {int(self._kinds[s, 0]) for s in np.unique(sides) if int(s) not in self._cache}
        if missing:
            self._encode(sorted(missing))
        first, second = (np.stack([self._cache[s] for s in column.tolist()]) for column in sides.T)
        self._evict(sides)
        return first, second

    def _encode(self, texts: Sequence[int]) -> None:
        model, checksum = self._card.id, self._card.checksum
        contents = [self._pairs.texts[i] for i in texts]
        last: Sequence[FloatArray | None] = [None] * len(texts)
        if self._recipe is None:
            encodings = self._service.encode(model, contents, checksum=checksum)
        else:
            encodings = self._service.encode(
                model,
                [self._recipe.prepared(self._prompt + text) for text in contents],
                max_length=self._recipe.max_length,
                checksum=checksum,
            )
            if self._recipe.is_more_than_pooling:
                sentences = self._service.sentence_vectors(
                    model, contents, prompt=self._prompt, checksum=checksum
                )
                last = [sentence.vector for sentence in sentences]
        for text, encoding, vector in zip(texts, encodings, last, strict=True):
            self._passport = encoding.passport
            self.n_encoded += 1
            if encoding.n_truncated:
                self.cut.add(text)
            if self._unknown_id in encoding.token_ids:
                self.unknown.add(text)
            for side in range(self._first[text], self._first[text + 1]):
                if self._uses[side]:
                    start, end = self._kinds[side, 1:].tolist()
                    self._cache[side] = self._unit(encoding, start, end, vector)

    def _text_vectors(self, encoding: Encoding, last: FloatArray | None) -> FloatArray:
        """(n_layers, n) of a whole text; shorter vectors of some layers end in zeros."""
        if self._recipe is None:
            return sentence_vectors(encoding, "mean")
        pooled = [pool(encoding.hidden, mode) for mode in self._recipe.poolings]
        vectors: FloatArray = np.concatenate(pooled, axis=-1)
        if last is not None:
            n_more = max(0, len(last) - vectors.shape[1])
            vectors = np.pad(vectors, ((0, 0), (0, n_more)))
            vectors[-1] = 0
            vectors[-1, : len(last)] = last
        return vectors

    def _unit(
        self, encoding: Encoding, start: int, end: int, last: FloatArray | None
    ) -> FloatArray:
        """(n_layers, n_dims) of length 1 at each layer; NaN if the model does not read the word."""
        vectors = self._unread
        with suppress(RequestError):
            vectors = (
                self._text_vectors(encoding, last)
                if start < 0
                else word_vectors(encoding, (start, end))
            )
        lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
        unit: FloatArray = vectors / np.maximum(lengths, 1e-12)
        return unit

    def _evict(self, sides: IntArray) -> None:
        """Drop vectors that no later pair needs, then the oldest ones if there are too many."""
        used, n = np.unique(sides, return_counts=True)
        self._uses[used] -= n
        for side in used[self._uses[used] == 0].tolist():
            del self._cache[side]
        while len(self._cache) > self._max_cached:
            self._cache.popitem(last=False)


# --- Scripts for the cosines of some pairs

COSINES_PICTURE = """\
import plotly.express as px

px.line(torch.stack(cosines).T.numpy(), labels={"index": "layer", "value": "cosine"})
"""

_VECTORS = '''\
def vectors(text, span):
    """(layers, dims): the mean over the word text[start:end], or over all tokens."""
    batch = tokenizer(
        text, truncation=True, max_length={max_length},
        return_offsets_mapping=True, return_tensors="pt",
    )
    first, last = batch.pop("offset_mapping")[0].T
    inside = torch.ones_like(first, dtype=torch.bool)
    if span is not None:
        inside = (first < span[1]) & (last > span[0])
    with torch.inference_mode():
        hidden = torch.stack(model(**batch, output_hidden_states=True).hidden_states)[:, 0]
    return hidden[:, inside].mean(dim=1)
'''

_COSINES = """\
cosines = []
for text1, span1, text2, span2 in pairs:
    cosines.append(torch.cosine_similarity(vectors(text1, span1), vectors(text2, span2), dim=-1))
    print(*[f"{value:.4f}" for value in cosines[-1].tolist()])
"""


def cosine_scripts(
    pairs: PairSet, numbers: IntArray, card: ModelCard, passport: Passport
) -> list[tuple[str, str]]:
    """Return scripts for the cosines of some pairs, each with its title; a chart has none.

    Those of the file's vectors compute the cosines of all pairs.
    """
    if pairs.vectors is not None:
        return [(say("pairs.given.snippet"), given_snippet(pairs.vectors))]
    pooling = str(passport.settings["pooling"])
    if not is_recipe(pooling) or card.recipe is None:
        script = cosines_snippet(card, pairs, numbers)
        return [(say("pairs.cosines_snippet"), script), ("", COSINES_PICTURE)]
    texts = [(pairs.text(i, 0), pairs.text(i, 1)) for i in numbers.tolist()]
    script = recipe_snippet(card, texts, prompt=recipe_prompt(card, pooling))
    return [(say("pairs.recipe_snippet"), script)]


_GIVEN_ROWS_LINES = """\
import numpy as np

with np.load("pairs.npz") as page:
    lost = np.isnan(page["cosines"][0]).reshape(-1, {step}).any(axis=1)
    rows = page["rows"][::{step}][~lost] - 1  # of your file, from 0

"""
_GIVEN_COSINES = """\
lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(vectors, axis=1)
cosines = (first * vectors).sum(axis=1) / lengths
print(*[f"{value:.4f}" for value in cosines[:3]], f"of {len(cosines)} pairs")
"""


def given_snippet(vectors: tuple[FileVectors, ...]) -> str:
    """Return a script that reads both vectors of the pairs in the NPZ, and prints `cosines`.

    Of triplets it prints those of anchors and positives, then those of anchors and negatives.
    """
    first, *others = (own.script(None) for own in vectors)
    rows = _GIVEN_ROWS_LINES.format(step=len(others))
    cosines = "\n".join(f"{other}{_GIVEN_COSINES}" for other in others)
    return f"{rows}{first}first = vectors\n\n{cosines}"


def cosines_snippet(card: ModelCard, pairs: PairSet, numbers: IntArray) -> str:
    """Return a script that prints `cosines`, an (n_layers,) tensor for each of some pairs."""
    sides = [
        [(pairs.text(i, side), pairs.span(i, side)) for side in (0, 1)] for i in numbers.tolist()
    ]
    lines = [
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        "",
        _VECTORS.format(max_length=card.max_length),
        "",
        "pairs = [",
        *(
            f"    ({literal(one)}, {span}, {literal(two)}, {other}),"
            for (one, span), (two, other) in sides
        ),
        "]",
        _COSINES,
    ]
    return "\n".join(lines)


def recipe_snippet(card: ModelCard, pairs: Sequence[tuple[str, str]], *, prompt: str) -> str:
    """Return a script for the `cosines` (n_pairs,) of whole texts by the model's own recipe."""
    argument = prompt_argument(card, prompt)
    lines = [
        "import torch",
        "from sentence_transformers import SentenceTransformer",
        "",
        *recipe_lines(card),
        "",
        "pairs = [",
        *(f"    ({literal(one)}, {literal(two)})," for one, two in pairs),
        "]",
        "first, second = (",
        f"    model.encode(list(texts){argument}, convert_to_tensor=True) for texts in zip(*pairs)",
        ")",
        "cosines = torch.cosine_similarity(first, second)",
        'print(*[f"{value:.4f}" for value in cosines.tolist()])',
    ]
    return "\n".join(lines) + "\n"
