"""All attention heads on one text: their weights, reduced for display, and their habits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from contextlens.analysis.snippet_start import literal
from contextlens.content.language import Claim
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray, Tokens
from contextlens.core.words import Span
from contextlens.features.attention.joins import Joins, pair_weights, strongest_joins
from contextlens.ui.state.view import Sentence

FORMULA = r"""
**Entropy** of a head in bits: 0 where each token attends to one, $\log_2 n$ where to all equally:

$$H = -\frac{1}{n} \sum_{i} \sum_{j} A_{ij} \log_2 A_{ij}$$
""".strip()

HabitName = Literal["previous", "next", "first", "separators", "word"]
HABITS: tuple[HabitName | Literal["entropy"], ...] = (*get_args(HabitName), "entropy")
"""The values of `habits`, in their order: five shares of attention, and the entropy in bits.

previous, next: on that neighbour; first: on the first token ([CLS]); separators: on the other
special tokens ([SEP]); word: on the token itself and the other sub-tokens of its word.
"""
_MAX_CELLS = 32  # along each side of a head's small picture
_MAX_PICTURE_CELLS = 80_000  # in the pictures of all heads together
_MAX_FULL_BYTES = 8_000_000  # of weights: up to this size, every head is kept in full


@dataclass(frozen=True, eq=False)
class Heads:
    """All heads on one text, reduced.

    Attributes:
        habits: (n_layers, n_heads, 6) float32, as in `HABITS`.
        even: (6,) float32, the habits of evenly spread attention.
        pictures: (n_layers, n_heads, n_cells, n_cells) float32 means of blocks of weights.
        layer_means: (n_layers, n_tokens, n_tokens) float32, over each layer's heads.
        full: (n_full, n_tokens, n_tokens) float32, the heads kept in full.
        full_at: the (layer, head) of each head in `full`, layers counted from 1.
        joins: the two words that each head joins most.
    """

    habits: FloatArray
    even: FloatArray
    pictures: FloatArray
    layer_means: FloatArray
    full: FloatArray
    full_at: tuple[tuple[int, int], ...]
    joins: Joins

    def whole(self, layer: int, head: int) -> FloatArray | None:
        """(n_tokens, n_tokens) weights of a head; None if only its reduction was kept."""
        if (layer, head) not in self.full_at:
            return None
        weights: FloatArray = self.full[self.full_at.index((layer, head))]
        return weights

    def everything(self) -> FloatArray | None:
        """(n_layers, n_heads, n_tokens, n_tokens); None if not every head was kept in full."""
        n_layers, n_heads, _ = self.habits.shape
        if len(self.full_at) < n_layers * n_heads:
            return None
        weights: FloatArray = self.full.reshape(n_layers, n_heads, *self.full.shape[1:])
        return weights


def reduce_heads(attentions: FloatArray, tokens: Tokens, word: Span | None = None) -> Heads:
    """Reduce (n_layers, n_heads, n_tokens, n_tokens) attention weights to what a page shows."""
    n_layers, n_heads, n_tokens, _ = attentions.shape
    cells = max(4, min(_MAX_CELLS, int((_MAX_PICTURE_CELLS / (n_layers * n_heads)) ** 0.5)))
    n_real = int(tokens.attention_mask.sum())
    even = np.full((n_tokens, n_tokens), 1 / max(1, n_real), np.float32)
    measured = np.stack([habits(layer, tokens) for layer in attentions])
    full_at = _heads_in_full(measured, attentions.nbytes)
    return Heads(
        habits=measured,
        even=habits(even * (tokens.attention_mask == 1), tokens),
        pictures=block_means(attentions, cells),
        layer_means=attentions.mean(axis=1, dtype=np.float32),
        full=np.stack([attentions[layer - 1, head] for layer, head in full_at]),
        full_at=full_at,
        joins=strongest_joins(attentions, tokens, word),
    )


def habits(attention: FloatArray, tokens: Tokens) -> FloatArray:
    """(..., 6) float32 of (..., n_tokens, n_tokens) weights: means over real tokens, see `HABITS`.

    Padding is left out. "previous" leaves out the first token, and "next" the last; in a text of
    one token both are 0.
    """
    real = np.flatnonzero(tokens.attention_mask)
    padded = len(real) < tokens.n_tokens
    weights = attention[..., real[:, None], real] if padded else attention
    same_word = _same_word(tokens)[np.ix_(real, real)]
    is_separator = np.isin(real, separators(tokens))
    means = [
        _mean(np.diagonal(weights, -1, -2, -1)),
        _mean(np.diagonal(weights, 1, -2, -1)),
        _mean(weights[..., 0]),
        _mean(weights[..., is_separator].sum(axis=-1)),
        _mean(np.einsum("...ij,ij->...i", weights, same_word)),
        _mean(_entropy(weights)),
    ]
    return np.stack(means, axis=-1).astype(np.float32)


def separators(tokens: Tokens) -> IntArray:
    """Positions of the added tokens after the first one: [SEP] and similar, without padding."""
    added = (tokens.special_tokens_mask == 1) & (tokens.attention_mask == 1)
    return np.flatnonzero(added & (np.arange(tokens.n_tokens) > 0))


def ranked(values: FloatArray) -> list[tuple[int, int]]:
    """(layer, head) of every head by (n_layers, n_heads) values, highest first, ties in order."""
    order = np.argsort(-values.ravel(), kind="stable")
    n_heads = values.shape[1]
    return [(int(i) // n_heads + 1, int(i) % n_heads) for i in order]


def block_means(attention: FloatArray, max_size: int) -> FloatArray:
    """Means over nearly equal blocks: (..., n, n) as (..., m, m) with m = min(n, max_size)."""
    n = attention.shape[-1]
    m = min(n, max_size)
    edges = np.arange(m) * n // m
    sizes = np.diff([*edges, n])
    sums = np.add.reduceat(np.add.reduceat(attention, edges, axis=-2), edges, axis=-1)
    means: FloatArray = (sums / (sizes[:, None] * sizes)).astype(np.float32)
    return means


def _heads_in_full(measured: FloatArray, n_bytes: int) -> tuple[tuple[int, int], ...]:
    """The heads to keep in full: all for a short text, the first by each sort key for a long one.

    Args:
        measured: (n_layers, n_heads, 6), as in `HABITS`.
        n_bytes: the size of all heads' weights.
    """
    n_layers, n_heads, _ = measured.shape
    if n_bytes <= _MAX_FULL_BYTES:
        return tuple((layer + 1, head) for layer in range(n_layers) for head in range(n_heads))
    flat = measured.reshape(-1, len(HABITS))
    chosen = dict.fromkeys([*flat.argmax(axis=0).tolist(), int(flat[:, -1].argmin())])
    return tuple((i // n_heads + 1, i % n_heads) for i in chosen)


def _same_word(tokens: Tokens) -> FloatArray:
    """(n_tokens, n_tokens) 1 where two tokens are the same token or belong to one word."""
    words, texts = tokens.word_ids, tokens.text_ids
    alike = (words[:, None] == words) & (texts[:, None] == texts) & (words >= 0)
    together: FloatArray = (alike | np.eye(len(words), dtype=bool)).astype(np.float32)
    return together


def _mean(values: FloatArray) -> FloatArray:
    if not values.shape[-1]:
        return np.zeros(values.shape[:-1], np.float32)
    mean: FloatArray = values.mean(axis=-1, dtype=np.float32)
    return mean


def _entropy(weights: FloatArray) -> FloatArray:
    """(..., n) entropy of each row in bits; 0 log 0 is 0."""
    logs = np.log2(np.maximum(weights, np.float32(1e-30)))
    bits: FloatArray = -np.einsum("...ij,...ij->...i", weights, logs)
    return np.maximum(bits, 0)


@dataclass(frozen=True)
class HeadMean:
    """A way to combine heads into one matrix, chosen with a layer.

    Attributes:
        kind: the name of its sentences: "mean" or "rollout".
        weights: (n_tokens, n_tokens) float32 of the heads at a layer.
        layers: the layers whose heads it combines, from a layer and the number of layers.
        script: lines of Python that define `attention`.
        script_heads: Python for the combined heads.
        preposition: the last part of its title's key.
        verb: the name of the verb between two tokens.
        sure: the details for engineers.
    """

    kind: Literal["mean", "rollout"]
    weights: Callable[[Heads, int], FloatArray]
    layers: Callable[[int, int], range]
    script: Sequence[str]
    script_heads: str
    preposition: Literal["to", "from"] = "to"
    verb: Literal["takes_in", "draws_on"] = "takes_in"
    sure: Callable[[], list[Claim]] = list


# --- The weights of a text


@dataclass(frozen=True, eq=False)
class ReducedAttention:
    """A text's encoding without its attentions, and their reduced form."""

    encoding: Encoding
    heads: Heads


@dataclass(frozen=True, eq=False)
class AttentionSource:
    """The model and the text behind a page's weights; `pad_to` is None without padding."""

    service: EncoderService
    card: ModelCard
    sentence: Sentence
    pad_to: int | None

    def reduced(self) -> ReducedAttention:
        """All heads on the text, reduced and cached; few full matrices of a long text are kept."""
        return remembered(
            "reduced attention",
            self.card.id,
            self.card.checksum,
            self.sentence.text,
            self.sentence.pair,
            self.sentence.word,
            self.pad_to,
            compute=self._reduce,
        )

    def of_pair(
        self, heads: Heads, rows: Sequence[int], columns: Sequence[int], hidden: Sequence[int] = ()
    ) -> FloatArray:
        """(n_layers, n_heads): what each head takes in for some tokens from others, cached."""
        kept = heads.everything()
        if kept is not None:
            return pair_weights(kept, rows, columns, hidden)
        return remembered(
            "attention of a pair of words",
            self.card.id,
            self.card.checksum,
            self.sentence.text,
            self.sentence.pair,
            self.pad_to,
            tuple(rows),
            tuple(columns),
            tuple(hidden),
            compute=lambda: pair_weights(_weights(self._encode(True)), rows, columns, hidden),
        )

    def whole(self, layer: int, head: int) -> FloatArray:
        """(n_tokens, n_tokens) weights of one head, which the service caches."""
        weights: FloatArray = _weights(self._encode([(layer, head)]))[0]
        return weights

    def _reduce(self) -> ReducedAttention:
        encoding = self._encode(True)
        heads = reduce_heads(_weights(encoding), encoding, self.sentence.word)
        return ReducedAttention(replace(encoding, attentions=None), heads)

    def _encode(self, attentions: bool | list[tuple[int, int]]) -> Encoding:
        return self.service.encode(
            self.card.id,
            [self.sentence.text],
            pairs=[self.sentence.pair],
            pad_to=self.pad_to,
            layers=[0],
            attentions=attentions,
        )[0]


def _weights(encoding: Encoding) -> FloatArray:
    if encoding.attentions is None:
        raise RequestError("This model gives no attention weights. Choose another one.")
    return encoding.attentions


# --- The script

_SCRIPT = """

def habits(heads):  # (heads, tokens, tokens), without padding
    return {{
        {names[0]}: heads.diagonal(-1, 1, 2).mean(),
        {names[1]}: heads.diagonal(1, 1, 2).mean(),
        {names[2]}: heads[..., 0].mean(),
        {names[3]}: heads[..., others].sum(dim=-1).mean(),
        {names[4]}: (heads * (word[:, None] == word)).sum(dim=-1).mean(),
        "entropy in bits": -(heads * heads.clamp(min=1e-30).log2()).sum(dim=-1).mean(),
    }}


real = batch["attention_mask"][0].bool()
others = {others}  # the special tokens after the first
word = torch.tensor({word})  # which word each token is of
measured = habits({heads}[:, real][:, :, real])
even = habits(torch.full((1, len(word), len(word)), 1 / len(word)))
for name, value in measured.items():
    print(f"{{name}} {{value:.4f}} (spread evenly, {{even[name]:.4f}})")
"""


def habits_script(tokens: Tokens, names: Sequence[str], heads: str) -> str:
    """Python that defines `measured`, the mean habits of some heads, and `even`.

    Args:
        tokens: the tokens of the text and its pair.
        names: the habits' names, without the entropy.
        heads: Python for the heads.
    """
    real = np.flatnonzero(tokens.attention_mask)
    return _SCRIPT.format(
        names=[literal(name) for name in names],
        others=np.flatnonzero(np.isin(real, separators(tokens))).tolist(),
        word=_words(tokens)[real].tolist(),
        heads=heads,
    )


def _words(tokens: Tokens) -> np.ndarray:
    """(n_tokens,) the number of each token's word; a token outside any word has its own number."""
    texts, words = tokens.text_ids.tolist(), tokens.word_ids.tolist()
    keys = [
        (t, w) if w >= 0 else (-2, i) for i, (t, w) in enumerate(zip(texts, words, strict=True))
    ]
    numbers = {key: n for n, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys])
