"""The hidden states of one sentence and their measures, which all parts of the page share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from contextlens.analysis.baseline import N_PAIRS, SEED, Band, Baseline
from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.analysis.tokens import kinds, labels
from contextlens.content.language import Claim, claim
from contextlens.content.wording import (
    MARGIN,
    about_same,
    are_alike,
    escape,
    leading,
    occurrence,
    quoted,
    shortened,
)
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.schema import FloatArray, IntArray, PartState, Passport, Vocabulary
from contextlens.core.words import token_of_word, with_marks
from contextlens.features.layers.controls import MEASURE, MEASURES, SENTENCE, TOKEN, MeasureKind
from contextlens.figures.similarity import cosine_range
from contextlens.ui.state.controls import sentence_index
from contextlens.ui.state.view import Sentence, ViewState, letter

FORMULA = r"""
**Hidden states.** $h_{\ell,t}$ is the vector of token $t$ after layer $\ell$; layer 0 is the
embedding layer's output.

**Vector length** is $\lVert h_{\ell,t} \rVert$, the root of the sum of squares.

**Cosine to layer 0, to the layer before, to the first token:**

$$
\cos(h_{\ell,t}, h_{0,t}) \qquad \cos(h_{\ell,t}, h_{\ell-1,t}) \qquad
\cos(h_{\ell,t}, h_{\ell,0})
$$

The first token is [CLS], or what the family writes in its place. There is no layer before layer 0.

**To the other tokens.** For the first two, the average of $\cos(h_{\ell,t}, h_{k,u})$ over all
pairs of different tokens of the text (two places with the same token are none), with $k$ the layer
compared with: the yardstick that a cosine must exceed to stand out.

**Averages** use the text's tokens only, without those that the tokenizer adds; where these are all
that there is, they count. The first token does not count where it is compared with.

**Most and least** are named only where they differ by more than 0.02 (lengths: by 2%), or where one
has changed over 1.25 times as much as another (1 - cosine). Values within 0.01 (lengths: 1%) and
about the same count as ties.
""".strip()

MAX_TICKS = 13
"""The most layers whose numbers fit on an axis."""
KINDS: tuple[MeasureKind, ...] = get_args(MeasureKind)
_LENGTH_MARGIN = 0.01  # of the longest vector
_NAMES: dict[MeasureKind, str] = {
    "start": "cosine to layer 0",
    "before": "cosine to layer before",
    "first": "cosine to first token",
    "length": "vector length",
}


# --- One measure of every token


@dataclass(frozen=True, eq=False)
class Measure:
    """One number for each token at each layer.

    Attributes:
        kind: cosine to the same token at layer 0 ("start") or at the layer before ("before"),
            cosine to the text's first token at the same layer ("first"), or the vector's length.
        layers: the layer of each row of `values`; "before" has no row for layer 0.
        values: (len(layers), n_tokens).
        own_mask: (n_tokens,) a mask of the text's own tokens.
        chance: for "start" and "before", the cosines of the own tokens to own tokens of the earlier
            layer that are *different* tokens; None for other kinds, and if no two tokens differ.
    """

    kind: MeasureKind
    layers: tuple[int, ...]
    values: FloatArray
    own_mask: np.ndarray
    chance: Band | None

    @property
    def counted(self) -> IntArray:
        """Positions that enter averages and extremes: the text's own tokens.

        All positions if it has none. For "first", the first token itself counts only if alone.
        """
        mask = self.own_mask if self.own_mask.any() else np.ones_like(self.own_mask)
        positions = np.flatnonzero(mask)
        others = positions[positions > 0]
        return others if self.kind == "first" and others.size else positions

    @property
    def averages(self) -> FloatArray:
        """(len(layers),) average over the `counted` tokens."""
        mean: FloatArray = self.values[:, self.counted].mean(axis=1)
        return mean

    def row(self, layer: int) -> int:
        """Return the row of a layer, or the nearest row if the measure has none for it."""
        return int(np.abs(np.array(self.layers) - layer).argmin())

    def are_even(self, values: Sequence[float]) -> bool:
        """True if some values of the measure are about the same.

        Of cosines to an earlier layer, so must be the amounts of change, 1 - cosine.
        """
        return are_alike(values, self._margin(values)) and self._have_changed_alike(values)

    def leaders(self, values: Sequence[float], sign: int = 1) -> list[int]:
        """Return the indices of the highest values, or of the lowest if `sign` is -1, with ties."""
        best = leading([sign * value for value in values], self._margin(values))
        return [i for i in best if self._have_changed_alike((values[i], values[best[0]]))]

    @property
    def peak_sign(self) -> int:
        """1 if the layer with the highest value is named, -1 if that with the lowest is."""
        return -1 if self.kind == "before" else 1

    def _have_changed_alike(self, values: Sequence[float]) -> bool:
        """True if the values are no cosines to an earlier layer, or show about the same change."""
        is_visible = max(values) - min(values) > MARGIN / 2
        is_of_change = self.kind in ("start", "before") and is_visible
        return not is_of_change or about_same([1 - value for value in values])

    def _margin(self, values: Sequence[float]) -> float:
        """The difference above which one of some values is called higher than another."""
        return max(MARGIN, _LENGTH_MARGIN * max(values)) if self.kind == "length" else MARGIN


def own_tokens(encoding: Encoding) -> np.ndarray:
    """(n_tokens,) bool: tokens of the text, not added by the tokenizer."""
    mask: np.ndarray = encoding.text_ids >= 0
    return mask


def measure(encoding: Encoding, kind: MeasureKind) -> Measure:
    """Return one measure of an encoding that holds all layers."""
    own_mask, hidden, layers = own_tokens(encoding), encoding.hidden, encoding.layers
    if kind == "length":
        return Measure(kind, layers, _lengths(hidden)[..., 0], own_mask, None)
    units = unit_vectors(hidden)
    if kind == "first":
        values = np.einsum("lnd,ld->ln", units, units[:, 0])
        return Measure(kind, layers, clip_cosines(values), own_mask, None)
    later, earlier = (units[1:], units[:-1]) if kind == "before" else (units, units[:1])
    values = np.einsum("lnd,lnd->ln", later, np.broadcast_to(earlier, later.shape))
    compared = layers[1:] if kind == "before" else layers
    own = np.flatnonzero(own_mask)
    is_different = encoding.token_ids[own, None] != encoding.token_ids[own]
    chance = _chance(later[:, own], earlier[:, own], is_different)
    return Measure(kind, compared, clip_cosines(values), own_mask, chance)


def pair_cosines(hidden: FloatArray) -> FloatArray:
    """(..., n, n) float32 cosines between the rows of (..., n, n_dims) hidden states."""
    units = unit_vectors(hidden)
    return clip_cosines(units @ np.swapaxes(units, -1, -2))


def unit_vectors(vectors: FloatArray) -> FloatArray:
    """Return vectors of length one; a vector of length zero stays zero, and so does its cosine."""
    lengths = _lengths(vectors)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def clip_cosines(values: FloatArray) -> FloatArray:
    """Return cosines clipped to [-1, 1] to undo rounding."""
    return np.clip(values, -1.0, 1.0).astype(np.float32)


def _lengths(vectors: FloatArray) -> FloatArray:
    lengths: FloatArray = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return lengths


def _chance(later: FloatArray, earlier: FloatArray, is_different: np.ndarray) -> Band | None:
    """Return the cosines of tokens to different tokens of the earlier layer, row by row.

    Args:
        later, earlier: (n_layers, n_tokens, n_dims) unit vectors.
        is_different: (n_tokens, n_tokens) bool, True for two different tokens.
    """
    if not is_different.any():
        return None
    ends = []
    for row, start in zip(later, np.broadcast_to(earlier, later.shape), strict=True):
        cosines = clip_cosines(row @ start.T)[is_different]
        low, high = np.quantile(cosines, (0.05, 0.95))
        ends.append((low, cosines.mean(dtype=np.float64), high))
    low, mean, high = np.array(ends, np.float32).T
    return Band(low, mean, high, of="two different tokens")


# --- The sentence of a view


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """The hidden states of one sentence.

    Attributes:
        index: the sentence's index.
        labels: the text written on each token.
        measure: the measure in the picture.
        layer: the chosen layer.
        picked: the position of the picked token.
        random_band: the random-pair baseline, or None until it is measured.
    """

    index: int
    sentence: Sentence
    card: ModelCard
    vocabulary: Vocabulary
    encoding: Encoding
    labels: tuple[str, ...]
    measure: Measure
    layer: int
    picked: int
    random_band: Band | None

    @property
    def measure_name(self) -> str:
        """The name of the measure in the picture."""
        if self.measure.kind == "first":
            return f"cosine to {self.labels[0]}"
        return _NAMES[self.measure.kind]

    @property
    def random_cosines(self) -> FloatArray | None:
        """(n_layers,) the average cosine of random pairs, if known."""
        return None if self.random_band is None else self.random_band.mean

    @cached_property
    def cosine_scale(self) -> tuple[float, float]:
        """The common scale of every cosine of this sentence."""
        # One layer at a time, to save memory.
        lowest = min(float(pair_cosines(rows).min()) for rows in self.encoding.hidden)
        return cosine_range(np.array([lowest]))

    @property
    def scale(self) -> tuple[float, float]:
        """The ends of the picture's colour scale."""
        if self.measure.kind != "length":
            return self.cosine_scale
        return 0.0, float(self.measure.values.max())

    @property
    def passport(self) -> Passport:
        """The passport behind the numbers."""
        has_band = self.random_band is not None
        baseline = {"baseline_pairs": N_PAIRS, "baseline_seed": SEED} if has_band else {}
        encoded = self.encoding.passport
        return replace(encoded, settings={**encoded.settings, **baseline})

    def notes(self) -> list[Claim]:
        """Return notes on special cases of this text or model, such as a truncated text."""
        encoding = self.encoding
        claims = text_notes(
            n_own=int(own_tokens(encoding).sum()),
            # A typed "[UNK]" does not count.
            n_unknown=kinds(encoding, self.vocabulary).count("unknown"),
            n_lost=encoding.n_truncated,
            has_pair=encoding.pair is not None,
            has_segments=self.card.has_segments,
        )
        text_id, word_id = encoding.text_ids[self.picked], encoding.word_ids[self.picked]
        in_word = (encoding.text_ids == text_id) & (encoding.word_ids == word_id)
        if word_id >= 0 and in_word.sum() > 1:
            spans = encoding.offsets[in_word]
            text = encoding.text if text_id == 0 else encoding.pair or ""
            word = text[int(spans.min()) : with_marks(text, int(spans.max()))]
            names = {"token": quoted(self.labels[self.picked]), "word": quoted(word)}
            claims.append(claim("layers.one.piece", n=int(in_word.sum()), **names))
        return claims

    def table(self) -> pd.DataFrame:
        """Return the numbers of the picture: a row for each token, a column for each layer."""
        measured = self.measure
        table = pd.DataFrame(measured.values.T, columns=[f"layer {n}" for n in measured.layers])
        table.insert(0, "token", self.labels)
        table.insert(0, "position", np.arange(len(table)))
        return table

    def snippet(self) -> str:
        """Return a script that leaves the page's numbers for this text."""
        return layers_snippet(self.card, self.encoding.text, self.encoding.pair)


def hidden_states(
    view: ViewState, service: EncoderService, card: ModelCard, baseline: Baseline | None
) -> HiddenStates:
    """Encode the chosen sentence and measure its tokens as the controls say."""
    index = sentence_index(view, SENTENCE)
    sentence = view.sentences[index]
    encoding = service.encode(view.model, [sentence.text], pairs=[sentence.pair])[0]
    vocabulary, picked = service.vocabulary(view.model), TOKEN.of(view)
    if not 0 <= picked < encoding.n_tokens:
        picked = token_of_word(encoding, sentence.word)
    return HiddenStates(
        index=index,
        sentence=sentence,
        card=card,
        vocabulary=vocabulary,
        encoding=encoding,
        labels=labels(encoding, vocabulary),
        measure=measure(encoding, MEASURES[MEASURE.of(view)]),
        layer=view.layer if view.layer in encoding.layers else encoding.layers[-1],
        picked=picked,
        random_band=None if baseline is None else baseline.band("mean", centred=False),
    )


def encode_all(view: ViewState, service: EncoderService) -> list[Encoding]:
    """Encode every current sentence at all layers."""
    pairs = [sentence.pair for sentence in view.sentences]
    return service.encode(view.model, [s.text for s in view.sentences], pairs=pairs)


# --- Claims that several parts share


def text_notes(
    *, n_own: int, n_unknown: int, n_lost: int, has_pair: bool, has_segments: bool
) -> list[Claim]:
    """Return notes on unknown or missing tokens, and on how the model joins two texts.

    Args:
        n_own: the number of the text's own tokens.
        n_unknown: the number of these that the model does not know.
        n_lost: the number of tokens beyond the model's limit.
        has_pair: True if there are two texts.
        has_segments: True if the model has segments.
    """
    part = "all" if n_unknown == n_own else "some"
    unknown = claim(f"layers.notes.unknown.{part}", n=n_unknown, n_own=n_own)
    claims = [unknown] if n_unknown else []
    if n_lost:
        claims.append(claim(f"layers.notes.lost.{'pair' if has_pair else 'text'}", n=n_lost))
    if has_pair:
        claims.append(claim(f"layers.notes.pair.{'segments' if has_segments else 'separators'}"))
    return claims


def text_cautions(measured: Measure, token_labels: Sequence[str]) -> list[Claim]:
    """Return a caution if the text has no tokens of its own."""
    if measured.own_mask.any():
        return []
    names = ", ".join(quoted(label) for label in dict.fromkeys(token_labels))
    return [claim("layers.empty", tokens=names)]


def training_cautions(encoder: PartState) -> list[Claim]:
    """Return a caution if there is no sign that the encoder was trained."""
    if encoder.state == "trained":
        return []
    return [claim("layers.untrained", reason=escape(encoder.reason))]


def in_title(position: int, token_labels: Sequence[str]) -> str:
    """Return a token for a title: in quotation marks, not escaped."""
    label = token_labels[position]
    name = shortened(label, 24)
    return f"“{name}”{occurrence(label, position, token_labels)[len(name) :]}"


# --- Files and tables


def measure_rows(encodings: Sequence[Encoding], vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """Return every measure of every token at every layer, of all sentences."""
    rows = []
    for i, encoding in enumerate(encodings):
        measures = {kind: measure(encoding, kind) for kind in KINDS}
        for position, label in enumerate(labels(encoding, vocabulary)):
            token = {"sentence": letter(i), "position": position, "token": label}
            for layer in encoding.layers:
                numbers = {
                    _NAMES[kind]: float(measured.values[measured.layers.index(layer), position])
                    if layer in measured.layers
                    else None
                    for kind, measured in measures.items()
                }
                rows.append({**token, "layer": layer, **numbers})
    return rows


def shape_rows(encoding: Encoding) -> list[dict[str, str]]:
    """Return the shapes of the model's outputs for a text."""
    outputs = {"hidden states (layers, tokens, dimensions)": encoding.hidden}
    if encoding.pooler_output is not None:
        outputs["pooler output (dimensions)"] = encoding.pooler_output
    return [{"array": name, "shape": str(array.shape)} for name, array in outputs.items()]


def sentence_arrays(encodings: Sequence[Encoding]) -> dict[str, NDArray[Any]]:
    """Return every layer of every sentence, by the sentence's letter."""
    by_name: dict[str, NDArray[Any]] = {"layers": np.array(encodings[0].layers)}
    for i, encoding in enumerate(encodings):
        name = letter(i)
        texts = [encoding.text, *([encoding.pair] if encoding.pair else [])]
        by_name[f"hidden_{name}"] = encoding.hidden
        by_name[f"tokens_{name}"] = np.array(encoding.tokens)
        by_name[f"token_ids_{name}"] = encoding.token_ids
        by_name[f"text_{name}"] = np.array(texts)
        if encoding.pooler_output is not None:
            by_name[f"pooler_output_{name}"] = encoding.pooler_output
    return by_name


# --- The same numbers with transformers alone

IMPORT_LINES = ("import torch", "from transformers import AutoModel, AutoTokenizer", "")

_ENCODE = """\
batch = tokenizer(
    {texts}, truncation=True, max_length={max_length}, return_token_type_ids={segments},
    return_tensors="pt",
)
with torch.inference_mode():
    output = model(**batch, output_hidden_states=True)
hidden = torch.stack(output.hidden_states)[:, 0]  # (layers, tokens, dims)
"""

_MEASURES = '''\
length = hidden.norm(dim=-1)
start = torch.cosine_similarity(hidden, hidden[:1], dim=-1)
before = torch.cosine_similarity(hidden[1:], hidden[:-1], dim=-1)
first = torch.cosine_similarity(hidden, hidden[:, :1], dim=-1)

# Averages are over the text's own tokens; over all where there are none.
texts = batch.sequence_ids(0)
of_text = [i for i, text in enumerate(texts) if text is not None] or list(range(len(texts)))
measures = {"length": length, "start": start, "before": before, "first": first}
averages = {name: values[:, of_text].mean(dim=1) for name, values in measures.items()}
averages["first"] = first[:, [i for i in of_text if i > 0]].mean(dim=1)
units = torch.nn.functional.normalize(hidden, dim=-1)
pairs = units @ units.mT  # the cosine of every two tokens


def to_others(later, earlier):
    """The average cosine of two different tokens of the text: (layers,)."""
    ids = batch["input_ids"][0, of_text]
    cosines = (later @ earlier.mT)[:, of_text][:, :, of_text]
    return cosines[:, ids[:, None] != ids].mean(dim=1)


chance = {
    "start": to_others(units, units[:1]),
    "before": to_others(units[1:], units[:-1]),
}
tokens = tokenizer.convert_ids_to_tokens(batch["input_ids"][0])
for token, values in zip(tokens, start.T.tolist()):
    print(token, [f"{value:.4f}" for value in values])
for name, values in [*averages.items(), *chance.items()]:
    print(name, [f"{value:.4f}" for value in values.tolist()])
'''


def layers_snippet(card: ModelCard, text: str, pair: str | None) -> str:
    """Return a script that leaves the page's numbers for one text.

    `length`, `start`, `before`, `first`: (layers, tokens); `pairs`: (layers, tokens, tokens).
    `averages` holds the averages by name, `chance` those of "start" and "before" with other tokens.
    """
    return encoding_snippet(card, text, pair) + _MEASURES


def encoding_snippet(card: ModelCard, text: str, pair: str | None) -> str:
    """Return a script that leaves a text's `hidden`, (layers, tokens, dims), and `output`."""
    texts = literal(text) if pair is None else f"{literal(text)}, {literal(pair)}"
    # Not every tokenizer returns segments of a pair by default (ALBERT's does not).
    numbers = {"max_length": card.max_length, "segments": card.has_segments}
    lines = [*IMPORT_LINES, *load_lines(card), "", _ENCODE.format(texts=texts, **numbers)]
    return "\n".join(lines) + "\n"


def picture_snippet(measure_title: str, kind: MeasureKind) -> str:
    """Return a script that goes on from `layers_snippet`: one measure as a heatmap.

    Args:
        measure_title: the measure's title, as the page has it.
        kind: its name in the script.
    """
    lines = [
        "import plotly.express as px",
        "",
        'names = [f"{i} {token}" for i, token in enumerate(tokens)]',
        f"layers = list(range({int(kind == 'before')}, len(hidden)))",
        f'labels = {{"x": "token", "y": "layer", "color": {literal(measure_title)}}}',
        "px.imshow(",
        f'    measures["{kind}"].numpy(), x=names, y=layers, labels=labels,',
        '    text_auto=".2f", aspect="auto", origin="lower",',
        ")",
    ]
    return "\n".join(lines) + "\n"
