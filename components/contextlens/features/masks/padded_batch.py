"""The sentences of a view alone and padded, with the mask and without: what all parts share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.content.examples import LONGER_TEXT
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, shortened
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray, Mask, Passport, Tokens
from contextlens.features.masks.controls import (
    ALL,
    AVERAGE,
    LONGEST,
    MASK,
    MAX_POSITIONS,
    PAD_TO,
    SENTENCE,
    pad_within,
)
from contextlens.ui.state.controls import Choice
from contextlens.ui.state.view import Sentence, ViewState, letter

FORMULA = r"""
**Attention with a mask.** Position $i$ attends to position $j$ with the score $s_{ij}$. The
mask $m_j$ is 1 for a token and 0 for padding; where it is 0, the score is lowered so far that the
attention is 0:

$$a_{ij} = \frac{m_j \, e^{s_{ij}}}{\sum_k m_k \, e^{s_{ik}}}$$

With the mask switched off every $m_j$ is 1, and padding gets some of every token's attention.

**Similarity to the unpadded self.** At layer $\ell$, token $t$ has the vector $h_{\ell,t}$ in the
text alone and $h'_{\ell,t}$ in the padded batch. The cells show

$$\cos(h, h') = \frac{h \cdot h'}{\lVert h \rVert \, \lVert h' \rVert}$$

**Means.** Over the $n$ real tokens of a text padded to $N$ positions, and over all positions:

$$\bar{h}_\ell = \frac{1}{n} \sum_{t=1}^{n} h'_{\ell,t}$$

$$\tilde{h}_\ell = \frac{1}{N} \sum_{t=1}^{N} h'_{\ell,t}$$

Both are compared with the mean over the tokens of the text alone.

**The share of padding** in a batch of $B$ texts with $n_b$ tokens each:

$$1 - \frac{\sum_b n_b}{B \, N}$$

**The pooler.** $W$ and $b$ are the model's own:

$$\mathrm{pooler\_output} = \tanh(W \, h_{L,1} + b)$$
""".strip()


# --- One text, alone and padded


@dataclass(frozen=True, eq=False)
class Damage:
    """The effect of padding on a text: cosines with the same text run alone.

    Attributes:
        layers: the layer of each row.
        tokens: (n_layers, n_real) for each real token.
        mean: (n_layers,) for the mean over real tokens.
        mean_all: (n_layers,) for the mean over all positions, padding included, with the mean
            over the tokens of the text alone.
        pooled: for `pooler_output`, or None if the model has none.
        lengths: (n_layers, n_tokens) Euclidean lengths of the padded run's vectors.
    """

    layers: tuple[int, ...]
    tokens: FloatArray
    mean: FloatArray
    mean_all: FloatArray
    pooled: float | None
    lengths: FloatArray

    def means(self, layer: int) -> tuple[float, float]:
        """Return the mean's cosine at a layer, over the real tokens and over all positions."""
        at = self.layers.index(layer)
        return float(self.mean[at]), float(self.mean_all[at])

    @property
    def first(self) -> FloatArray:
        """(n_layers,) for the first token, [CLS] or similar."""
        row: FloatArray = self.tokens[:, 0]
        return row


@dataclass(frozen=True, eq=False)
class PaddedText:
    """One text of the batch: alone, padded, and the comparison of both."""

    label: str
    alone: Encoding
    padded: Encoding
    damage: Damage

    @property
    def n_real(self) -> int:
        """The number of positions that are tokens of the text."""
        return self.alone.n_tokens

    @property
    def n_padding(self) -> int:
        """The number of positions that are padding."""
        return self.padded.n_tokens - self.alone.n_tokens

    @property
    def mask(self) -> IntArray:
        """(n_tokens,) the mask given to the model: all ones if masking is off."""
        mask = self.padded.attention_mask
        switched_off = self.padded.passport.settings.get("mask") == "ones"
        return np.ones_like(mask) if switched_off else mask

    @property
    def pad_token(self) -> str:
        """The padding token's name; "[PAD]" if the text has no padding."""
        return self.padded.tokens[-1] if self.n_padding else "[PAD]"


def damage(alone: Encoding, padded: Encoding) -> Damage:
    """Return the cosines between a text run alone and the same text padded, layer by layer.

    Raises:
        RequestError: they are not the same text followed by padding, in the same layers.
    """
    n = alone.n_tokens
    if padded.layers != alone.layers or padded.tokens[:n] != alone.tokens:
        raise RequestError("The padded text is not the text alone with padding behind it.")
    mean = alone.hidden.mean(axis=1)
    pooled = None
    if alone.pooler_output is not None and padded.pooler_output is not None:
        pooled = float(_cosines(alone.pooler_output, padded.pooler_output))
    return Damage(
        layers=alone.layers,
        tokens=_cosines(alone.hidden, padded.hidden[:, :n]),
        mean=_cosines(mean, padded.hidden[:, :n].mean(axis=1)),
        mean_all=_cosines(mean, padded.hidden.mean(axis=1)),
        pooled=pooled,
        lengths=_lengths(padded.hidden),
    )


def token_labels(tokens: Tokens) -> list[str]:
    """Return the text of each token: its piece, or its part of the text if that lacks the piece."""
    labels = []
    for piece, text_id, (start, end) in zip(
        tokens.tokens, tokens.text_ids, tokens.offsets, strict=True
    ):
        text = (tokens.pair or "") if text_id == 1 else tokens.text
        is_in_text = piece.removeprefix("##").casefold() in text.casefold()
        labels.append(piece if text_id < 0 or is_in_text else text[start:end].strip() or "␣")
    return labels


def _cosines(a: FloatArray, b: FloatArray) -> NDArray[Any]:
    """(...,) float32 cosines of the vectors in the last axis; 0 for a vector of length zero."""
    products = np.einsum("...d,...d->...", a, b)
    lengths = _lengths(a) * _lengths(b)
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    clipped: NDArray[Any] = np.clip(cosines, -1.0, 1.0)
    return clipped


def _lengths(vectors: FloatArray) -> FloatArray:
    lengths: FloatArray = np.sqrt(np.einsum("...d,...d->...", vectors, vectors))
    return lengths


# --- A batch of texts


@dataclass(frozen=True, eq=False)
class PaddedBatch:
    """A batch padded to one length, with the mask or without."""

    rows: tuple[PaddedText, ...]
    pad_to: int
    masked: bool

    @property
    def lengths(self) -> list[int]:
        """The number of real tokens of each text."""
        return [row.n_real for row in self.rows]

    @property
    def share(self) -> float:
        """The share of padding among all positions, 0 to 1."""
        return 1 - sum(self.lengths) / (len(self.rows) * self.pad_to)

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that were compared."""
        return self.rows[0].damage.layers

    def row(self, label: str) -> PaddedText:
        """Return the text of a letter."""
        return next(row for row in self.rows if row.label == label)

    def most_changed(self, layer: int) -> PaddedText | None:
        """Return the padded text whose mean moved furthest at a layer; None without padding."""
        padded = [row for row in self.rows if row.n_padding]
        return min(padded, key=lambda row: row.damage.means(layer)[0], default=None)


def cosine_scale(*batches: PaddedBatch) -> tuple[float, float]:
    """Return one scale for all of the page's cosines: 0 to 1, lower only if one is negative."""
    damages = [row.damage for batch in batches for row in batch.rows]
    lowest = min(float(min(d.tokens.min(), d.mean_all.min(), d.pooled or 0.0)) for d in damages)
    return min(0.0, float(np.floor(lowest * 5)) / 5), 1.0


def encode_both(
    service: EncoderService,
    model: str,
    texts: Mapping[str, Sentence],
    *,
    pad_to: int,
    masked: bool,
) -> PaddedBatch:
    """Encode texts, by the letters that name them, alone and padded; compare the two."""
    sentences = texts.values()
    strings, pairs = [s.text for s in sentences], [s.pair for s in sentences]
    mask: Mask = "model" if masked else "ones"
    alone = service.encode(model, strings, pairs=pairs)
    padded = service.encode(model, strings, pairs=pairs, pad_to=pad_to, mask=mask)
    rows = (
        PaddedText(label, a, p, damage(a, p))
        for label, a, p in zip(texts, alone, padded, strict=True)
    )
    return PaddedBatch(tuple(rows), pad_to, masked)


# --- The batch of a view


@dataclass(frozen=True, eq=False)
class Masks:
    """The data of Padding & masks for a view.

    Attributes:
        batches: the batch with the mask (True) and without; empty if every sentence is blank.
        masked: True if the mask is on.
        averaged: True if padding is averaged in.
        layer: the chosen layer.
        chosen: the letter of the chosen text.
        limit: the model's limit, in tokens.
        example: the letter of the example in the batch; "" without it.
        padding: the possible lengths of the batch.
        left_out: letters of the blank sentences.
        unfit: a requested length that is too short or too long, or "".
    """

    batches: Mapping[bool, PaddedBatch]
    masked: bool
    averaged: bool
    layer: int
    chosen: str
    limit: int
    example: str = ""
    padding: Choice = PAD_TO
    left_out: tuple[str, ...] = ()
    unfit: str = ""

    @property
    def batch(self) -> PaddedBatch:
        """The batch with the mask as it is switched."""
        if not self.batches:
            raise ValueError("Every text is blank, so there is no batch; ask `batches` first.")
        return self.batches[self.masked]

    @property
    def row(self) -> PaddedText:
        """The text that the numbers are for, with the mask on and off the same one.

        It is the chosen one, or if that has no padding the most changed one that has.
        """
        unmasked = self.batches[False]
        chosen = unmasked.row(self.chosen)
        worst = None if chosen.n_padding else unmasked.most_changed(self.layer)
        return self.batch.row((worst or chosen).label)

    @property
    def scale(self) -> tuple[float, float]:
        """The scale of all of the page's cosines."""
        return cosine_scale(*self.batches.values())

    @property
    def passport(self) -> Passport:
        """The passport behind the numbers, with this page's own settings."""
        encoded = self.row.padded.passport
        return replace(encoded, settings={**encoded.settings, "compared_with": "the text alone"})

    @property
    def key(self) -> str:
        """The text behind each letter, in one line."""
        texts = []
        for row in self.batch.rows:
            both = [row.alone.text, *([] if row.alone.pair is None else [row.alone.pair])]
            texts.append(f"{row.label}: {shortened(' | '.join(both), 60)}")
        return " · ".join(texts)

    def problems(self) -> list[Claim]:
        """Return notes on what was left out, cut or impossible, one sentence each."""
        names = ", ".join(self.left_out)
        claims = []
        if self.left_out:
            claims.append(claim("masks.problem.blank", n=len(self.left_out), names=names))
        if not self.batches:
            return claims
        batch, row = self.batch, self.row
        if row.label != self.chosen:
            claims.append(claim("masks.problem.other", label=self.chosen, other=row.label))
        if self.unfit:
            numbers = {
                "longest": max(batch.lengths),
                "limit": self.limit,
                "pad_to": batch.pad_to,
            }
            claims.append(claim("masks.problem.unfit", asked=escape(self.unfit), **numbers))
        cut = [(row.label, row.alone.n_truncated) for row in batch.rows if row.alone.n_truncated]
        return claims + [claim("masks.problem.cut", label=label, n=n) for label, n in cut]

    def snippet(self, card: ModelCard) -> str:
        """Return a script with the numbers of the batch."""
        texts = [(row.label, row.alone.text, row.alone.pair) for row in self.batch.rows]
        return masks_snippet(card, texts, pad_to=self.batch.pad_to, masked=self.masked)


def masks_of(view: ViewState, service: EncoderService, card: ModelCard) -> Masks:
    """Encode the sentences alone and padded, with and without the mask, and compare them.

    If all have one length, padding to the longest would add nothing. Then the chosen sentence
    stands beside a longer example.

    Raises:
        RequestError: the batch is too large.
    """
    named = {letter(i): sentence for i, sentence in enumerate(view.sentences)}
    usable = {label: sentence for label, sentence in named.items() if sentence.text.strip()}
    lengths = _token_counts(view, service, list(usable.values()))
    longest = max(lengths, default=1)
    padding, requested = pad_within(longest, card.max_length), PAD_TO.asked(view) or ""
    size, example = padding.of(view), ""
    if size == LONGEST and len(set(lengths)) == 1:
        label, example = SENTENCE.among(usable).of(view), letter(len(named))
        usable = {label: usable[label], example: Sentence(LONGER_TEXT)}
        longest = max(longest, *_token_counts(view, service, [usable[example]]))
    pad_to = longest if size == LONGEST else int(size)
    if len(usable) * pad_to > MAX_POSITIONS:
        raise RequestError(say("masks.page.too_large", n=len(usable), pad_to=pad_to))
    is_number = requested.isascii() and requested.isdigit()
    return Masks(
        batches={
            masked: encode_both(service, view.model, usable, pad_to=pad_to, masked=masked)
            for masked in (True, False)
            if usable
        },
        masked=MASK.of(view),
        averaged=AVERAGE.of(view) == ALL,
        layer=view.layer_among(range(card.n_layers + 1)),
        chosen=SENTENCE.among(usable).of(view) if usable else "",
        limit=card.max_length,
        example=example,
        padding=padding,
        left_out=tuple(label for label in named if not named[label].text.strip()),
        unfit=requested if is_number and requested != size else "",
    )


def _token_counts(
    view: ViewState, service: EncoderService, sentences: Sequence[Sentence]
) -> list[int]:
    if not sentences:
        return []
    texts, pairs = [s.text for s in sentences], [s.pair for s in sentences]
    return [tokens.n_tokens for tokens in service.tokenize(view.model, texts, pairs=pairs)]


# --- Files and tables


def summary_row(row: PaddedText, layer: int) -> dict[str, Any]:
    """Return one text at one layer: its padding, and its similarity to its unpadded self."""
    damage = row.damage
    at = damage.layers.index(layer)
    return {
        "sentence": row.label,
        "tokens": row.n_real,
        "padding": row.n_padding,
        row.alone.tokens[0]: float(damage.first[at]),
        "mean of real tokens": float(damage.mean[at]),
        "mean with padding": float(damage.mean_all[at]),
        "most changed token": float(damage.tokens[at].min()),
        "pooler_output": damage.pooled,
    }


def position_rows(row: PaddedText) -> list[dict[str, Any]]:
    """Return one row for each position: token, ID, mask, segment, cosines, vector length.

    Padding has no counterpart in the text alone, so it has a length but no cosine.
    """
    padded, damage, mask = row.padded, row.damage, row.mask
    return [
        {
            "sentence": row.label,
            "position": i,
            "token": padded.tokens[i],
            "token ID": int(padded.token_ids[i]),
            "mask": int(mask[i]),
            "segment": None if padded.token_type_ids is None else int(padded.token_type_ids[i]),
            **{
                f"layer {layer}": float(damage.tokens[at, i]) if i < row.n_real else None
                for at, layer in enumerate(damage.layers)
            },
            "length at the last layer": float(damage.lengths[-1, i]),
        }
        for i in range(padded.n_tokens)
    ]


def batch_arrays(batch: PaddedBatch) -> dict[str, NDArray[Any]]:
    """Return the batch as arrays, one row for each text; the cosines of padding are NaN."""
    rows = batch.rows
    cosines = np.full((len(rows), len(batch.layers), batch.pad_to), np.nan, dtype=np.float32)
    for i, row in enumerate(rows):
        cosines[i, :, : row.n_real] = row.damage.tokens
    texts = [{"label": r.label, "text": r.alone.text, "pair": r.alone.pair} for r in rows]
    kinds = [r.padded.token_type_ids for r in rows]
    pooled = [np.nan if r.damage.pooled is None else r.damage.pooled for r in rows]
    return {
        "token_ids": np.stack([r.padded.token_ids for r in rows]),
        "attention_mask": np.stack([r.mask for r in rows]),
        **(
            {"token_type_ids": np.stack([k for k in kinds if k is not None])}
            if all(k is not None for k in kinds)
            else {}
        ),
        "token_cosines": cosines,
        "mean_cosines": np.stack([r.damage.mean for r in rows]),
        "mean_with_padding_cosines": np.stack([r.damage.mean_all for r in rows]),
        "pooler_output_cosines": np.array(pooled, dtype=np.float32),
        "vector_lengths": np.stack([r.damage.lengths for r in rows]),
        "layers": np.array(batch.layers),
        "texts": np.array(json.dumps(texts)),
    }


# --- The same numbers with transformers alone

PICTURE = """\
import plotly.express as px

px.line(
    {name: cosines["mean"].tolist() for name, cosines in results.items()},
    markers=True, labels={"index": "layer", "value": "cosine, alone and padded"},
)
"""
"""Goes on from `masks_snippet`: a line for each text."""

_RUN = '''\
def run(text, pair, pad_to=None, mask=True):
    """The hidden states (layers, tokens, dims), and `pooler_output` where there is one."""
    batch = tokenizer(
        text, pair, truncation=True, max_length=pad_to or {max_length},
        padding="max_length" if pad_to else False,{segments} return_tensors="pt",
    )
    if not mask:
        batch["attention_mask"] = torch.ones_like(batch["attention_mask"])
    with torch.inference_mode():
        output = model(**batch, output_hidden_states=True)
    return torch.cat(output.hidden_states), {pooled}


def cosine(a, b):
    return torch.cosine_similarity(a, b, dim=-1)
'''

_LOOP = """\
results = {}
for name, (text, pair) in texts.items():
    alone, alone_pooled = run(text, pair)
    padded, padded_pooled = run(text, pair, pad_to=PAD_TO, mask=MASK)
    real = alone.shape[1]  # padding stands behind the real tokens
    results[name] = {
        "tokens": cosine(alone, padded[:, :real]),
        "mean": cosine(alone.mean(1), padded[:, :real].mean(1)),
        "mean with padding": cosine(alone.mean(1), padded.mean(1)),
    }
    if alone_pooled is not None:
        results[name]["pooler_output"] = cosine(alone_pooled, padded_pooled)
    print(name, [f"{value:.4f}" for value in results[name]["mean"].tolist()])
"""


def masks_snippet(
    card: ModelCard, texts: Sequence[tuple[str, str, str | None]], *, pad_to: int, masked: bool
) -> str:
    """Return a script for `results`: for each (name, text, pair), cosines at each layer."""
    pooled = "None" if card.provenance.pooler.state == "absent" else "output.pooler_output[0]"
    segments = " return_token_type_ids=True," if card.has_segments else ""
    lines = [
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        f"PAD_TO = {pad_to}",
        f"MASK = {masked}",
        "",
        *_RUN.format(max_length=card.max_length, segments=segments, pooled=pooled).splitlines(),
        "",
        "",
        "texts = {",
        *(
            f"    {literal(name)}: ({literal(text)}, {'None' if pair is None else literal(pair)}),"
            for name, text, pair in texts
        ),
        "}",
        *_LOOP.splitlines(),
    ]
    return "\n".join(lines) + "\n"
