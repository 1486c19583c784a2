"""Closer look "Layers compared": linear CKA of the layers of one model, or of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import are_alike, escape, leading, number
from contextlens.core import EncoderService, ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.schema import FloatArray
from contextlens.core.words import split_words
from contextlens.features.layers.controls import MAX_SNIPPET_WORDS, MIN_COMPARED_WORDS, WORDS
from contextlens.features.layers.heatmap import BARE_AXIS, heatmap_traces
from contextlens.features.layers.hidden_states import IMPORT_LINES, encode_all
from contextlens.features.layers.word_vectors import WordVectors, centred, sample_words, words_of
from contextlens.figures.theme import figure, plain
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState

Verdict = Literal["few", "none", "steps", "models", "steps_even", "models_even"]
FORMULA = r"""
**Linear CKA** (Kornblith et al. 2019). Let $X$ and $Y$ hold the vectors of the same $n$ words at
two layers, a row for each word, every column centred on its mean:

$$
\mathrm{CKA}(X, Y) = \frac{\lVert Y^\top X \rVert_F^2}
{\lVert X^\top X \rVert_F \, \lVert Y^\top Y \rVert_F}
$$

It is 1 where one layer is the other rotated or scaled as a whole. A word's vector is the mean over
its sub-tokens, so that two models that cut words differently can be compared; words that either
model drops are left out, and at most 512 words enter.

**Shuffled words.** The same with the rows of $Y$ in random order, averaged over 5 orders. With few
words and many dimensions, chance alone gives a high CKA, and this cannot simply be subtracted.

**Debiased CKA** (Murphy et al. 2024) has no such bias: it puts the unbiased estimator of HSIC (Song
et al. 2007) in the place of each of the three norms, so that over all orders of the words its
numerator averages 0. With $K = X X^\top$ and $L = Y Y^\top$, their diagonals set to 0:

$$
\mathrm{HSIC}_1(K, L) = \frac{1}{n (n - 3)} \left( \mathrm{tr}(K L)
+ \frac{\mathbf{1}^\top K \mathbf{1} \; \mathbf{1}^\top L \mathbf{1}}{(n - 1)(n - 2)}
- \frac{2}{n - 2} \mathbf{1}^\top K L \mathbf{1} \right)
$$

$$
\frac{\mathrm{HSIC}_1(K, L)}{\sqrt{\mathrm{HSIC}_1(K, K) \, \mathrm{HSIC}_1(L, L)}}
$$

It lies between -1 and 1, and needs at least 4 words.
""".strip()

_N_SHUFFLES = 5
_SEED = 0


# --- The numbers


@dataclass(frozen=True, eq=False)
class LayerSimilarity:
    """The similarity of the layers of two models (or of one) over the same words.

    Attributes:
        cka: (n_layers, n_other_layers) linear CKA in [0, 1]; nan where it is undefined.
        debiased: debiased linear CKA in [-1, 1], 0 on average over all orders of the words; nan
            where it is undefined or there are fewer than `MIN_COMPARED_WORDS`.
        shuffled: linear CKA with the second model's words in random order, averaged.
        n_words: the number of words compared.
    """

    cka: FloatArray
    debiased: FloatArray
    shuffled: FloatArray
    n_words: int


def layer_similarity(first: FloatArray, second: FloatArray) -> LayerSimilarity:
    """Return the CKA of each layer of one and each of the other, plain, debiased and shuffled.

    Args:
        first: (n_layers, n_words, n_dims).
        second: (n_other_layers, n_words, n_other_dims), of the same words.
    """
    n_words = first.shape[1]
    ours, theirs = _units(_grams(first), first), _units(_grams(second), second)
    random = np.random.default_rng(_SEED)
    total = np.zeros((len(ours), len(theirs)))
    for _ in range(_N_SHUFFLES):
        order = random.permutation(n_words)
        total += _products(ours, theirs[:, order][:, :, order])
    shuffled = (total / _N_SHUFFLES).astype(np.float32)
    debiased = np.full(total.shape, np.nan, np.float32)
    if n_words >= MIN_COMPARED_WORDS:
        ours_off, theirs_off = (_units(_u_centred(_grams(own)), own) for own in (first, second))
        debiased = _products(ours_off, theirs_off, lowest=-1.0)
    return LayerSimilarity(_products(ours, theirs), debiased, shuffled, n_words)


def shared_words(first: WordVectors, second: WordVectors) -> tuple[FloatArray, FloatArray]:
    """Return the vectors of the words that both have, in the same order."""
    row_of = {key: i for i, key in enumerate(second.keys)}
    rows = [(i, row_of[key]) for i, key in enumerate(first.keys) if key in row_of]
    ours, theirs = [i for i, _ in rows], [i for _, i in rows]
    return first.vectors[:, ours], second.vectors[:, theirs]


def _grams(vectors: FloatArray) -> np.ndarray:
    """(n_layers, n_words, n_words) Gram matrices of the centred vectors."""
    return np.stack([rows @ rows.T for rows in map(centred, vectors)])


def _u_centred(grams: np.ndarray) -> np.ndarray:
    """Return Gram matrices with zero diagonals, whose rows and columns all sum to 0.

    The unbiased estimator for two Gram matrices is the sum of the elementwise products of these
    forms, divided by n (n - 3) (Szekely and Rizzo 2014, "Partial Distance Correlation").
    """
    n = grams.shape[1]
    off = 1 - np.eye(n)
    bare = grams * off
    sums = bare.sum(axis=2, keepdims=True)
    total = sums.sum(axis=1, keepdims=True) / ((n - 1) * (n - 2))
    forms: np.ndarray = (bare - (sums + np.swapaxes(sums, 1, 2)) / (n - 2) + total) * off
    return forms


def _units(grams: np.ndarray, vectors: FloatArray) -> np.ndarray:
    """Return matrices of Frobenius norm 1; nan where all `vectors` of a layer are equal."""
    norms = np.linalg.norm(grams, axis=(1, 2), keepdims=True)
    # Equal vectors, once centred, leave only rounding errors: there is nothing to compare.
    scale = np.square(vectors.astype(np.float64)).sum(axis=(1, 2)).reshape(-1, 1, 1)
    nothing = norms <= 1e-12 * np.maximum(scale, 1e-300)
    units: np.ndarray = np.divide(grams, norms, out=np.full_like(grams, np.nan), where=~nothing)
    return units


def _products(ours: np.ndarray, theirs: np.ndarray, lowest: float = 0.0) -> FloatArray:
    flat = ours.reshape(len(ours), -1) @ theirs.reshape(len(theirs), -1).T
    undefined = np.isnan(flat) | (ours.shape[1] < 2)
    clipped = np.where(undefined, np.nan, np.clip(flat, lowest, 1.0))
    products: FloatArray = clipped.astype(np.float32)
    return products


# --- What is shown


@dataclass(frozen=True, eq=False)
class ComparedLayers(Panel):
    """The layers of two models, or of one, over the same words.

    Attributes:
        names: the models' titles.
        similarity: the similarity of the layers.
        is_one: True if both are one model.
        code: a script with the same numbers, or "".
        no_code: the reason why there is no script.
    """

    formula = FORMULA

    names: tuple[str, str]
    similarity: LayerSimilarity
    is_one: bool
    code: str = ""
    no_code: str = ""

    def title(self) -> Claim:
        """Return the finding of the heatmap."""
        verdict, numbers = self._verdict()
        return claim(f"layers.alike.title.{verdict}", **numbers)

    def claims(self) -> list[Claim]:
        """Return the layers most or least alike, and the result for shuffled words."""
        verdict, numbers = self._verdict()
        ours, theirs = map(escape, self.names)
        numbers |= {"n_words": self.similarity.n_words, "ours": ours, "theirs": theirs}
        claims = [claim(f"layers.alike.{verdict}", **numbers)]
        if verdict not in ("few", "none"):
            shuffled = float(np.nanmean(self.similarity.shuffled))
            claims.append(claim("layers.alike.shuffled", cka=shuffled))
        return claims

    def sure(self) -> list[Claim]:
        """Return the similarity of the first and last layer, or of both last ones, and debiased."""
        if self._verdict()[0] in ("few", "none"):
            return []
        ends = (0 if self.is_one else -1, -1)
        cka, debiased = (float(m[ends]) for m in (self.similarity.cka, self.similarity.debiased))
        case = "ends" if self.is_one else "last"
        claims = []
        if np.isfinite(cka):
            claims.append(claim(f"layers.alike.sure.{case}", cka=cka))
            if np.isfinite(debiased):
                claims.append(claim(f"layers.alike.sure.{case}_debiased", cka=debiased))
        return claims

    def _verdict(self) -> tuple[Verdict, dict[str, Any]]:
        """Return the two layers that differ most (of one model) or least (of two)."""
        cka, is_one = self.similarity.cka, self.is_one
        if self.is_few:
            return "few", {"n": MIN_COMPARED_WORDS}
        steps = [(i, i + 1) for i in range(len(cka) - 1)] if is_one else list(np.ndindex(cka.shape))
        cells = [(int(i), int(j)) for i, j in steps if np.isfinite(cka[i, j])]
        values = [float(cka[cell]) for cell in cells]
        if not cells:
            return "none", {}
        if are_alike(values):
            return "steps_even" if is_one else "models_even", {"cka": float(np.mean(values))}
        best = leading([-value for value in values] if is_one else values)
        i, j = cells[best[0]]
        numbers = {"i": i, "j": j, "n": len(best), "cka": values[best[0]]}
        return "steps" if is_one else "models", numbers

    @property
    def is_few(self) -> bool:
        """True if there are too few words, or too few different vectors, to compare layers."""
        is_defined = np.isfinite(self.similarity.cka).any()
        return self.similarity.n_words < MIN_COMPARED_WORDS or not is_defined

    def alt(self) -> str:
        """Return a description of the heatmap."""
        return say("layers.alike.alt", title=str(self.title()))

    def figure(self) -> go.Figure | None:
        """Return linear CKA between layers, debiased and shuffled values on hover."""
        similarity = self.similarity
        if self.is_few:
            return None
        rows, columns = (list(range(n)) for n in similarity.cka.shape)
        ours, theirs = map(plain, self.names)
        on_hover = [_in_hover(similarity.debiased), _in_hover(similarity.shuffled)]
        trace: dict[str, Any] = {
            "x": columns,
            "y": rows,
            "customdata": np.stack(on_hover, 2).tolist(),
            "xgap": 2,
            "ygap": 2,
            "hovertemplate": (
                f"layer %{{y}} of {ours}<br>layer %{{x}} of {theirs}<br>"
                "linear CKA %{z:.4f}<br>debiased %{customdata[0]}<br>"
                "with shuffled words %{customdata[1]}<extra></extra>"
            ),
        }
        across, down = ({"title": {"text": f"layer of {name}"}} for name in (theirs, ours))
        layout = {
            "xaxis": {**across, "dtick": 1, **BARE_AXIS},
            "yaxis": {**down, "dtick": 1, "autorange": "reversed", **BARE_AXIS},
        }
        traces = heatmap_traces(trace, similarity.cka, scale=(0.0, 1.0), name="linear CKA")
        return figure(traces, layout, title=str(self.title()), height=430)

    def table(self, cka: FloatArray) -> pd.DataFrame:
        """Return one kind of CKA with the first model's layers down and the second's across."""
        table = pd.DataFrame(cka, columns=[f"layer {n}" for n in range(cka.shape[1])])
        table.insert(0, self.names[0], [f"layer {n}" for n in range(len(table))])
        return table

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the three kinds of CKA."""
        return {
            "linear_cka": self.similarity.cka,
            "linear_cka_debiased": self.similarity.debiased,
            "linear_cka_shuffled": self.similarity.shuffled,
        }

    def snippet(self) -> str:
        """Return a script with the same numbers, if the page can give one."""
        return self.code


def compared_layers(
    view: ViewState, card: ModelCard, other: ModelCard, service: EncoderService
) -> ComparedLayers:
    """Compare a model's layers with another's, or with its own, over the words of the view."""
    is_sample, is_one = WORDS.of(view) != WORDS.default, other is card

    def words_in(model: ModelCard) -> WordVectors:
        if is_sample:
            return sample_words(model, service)
        return words_of(encode_all(replace(view, model=model.id), service))

    ours = words_in(card)
    theirs = ours if is_one else words_in(other)
    texts = () if is_sample else tuple((s.text, s.pair) for s in view.sentences)
    similarity = remembered(
        "alike layers",
        card.checksum,
        other.checksum,
        texts,
        compute=lambda: layer_similarity(*shared_words(ours, theirs)),
    )
    code = no_code = ""
    if is_sample:
        no_code = say("layers.alike.other_words", option=WORDS.options[WORDS.default])
    elif not 2 <= similarity.n_words <= MAX_SNIPPET_WORDS:
        no_code = say("layers.alike.other_number", n=MAX_SNIPPET_WORDS)
    else:
        code = cka_snippet(card, snippet_texts(view, ours, theirs), None if is_one else other)
    return ComparedLayers((card.title, other.title), similarity, is_one, code, no_code)


def _in_hover(matrix: FloatArray) -> np.ndarray:
    """Return numbers for a hover, with "not defined" for nan."""
    return np.array(
        [[number(v, ".4f") if np.isfinite(v) else "not defined" for v in row] for row in matrix]
    )


# --- The same numbers with transformers alone

_WORDS = '''\
def word_vectors(tokenizer, model, max_length, segments):
    """The vectors of all words at every layer: (layers, words, dims)."""
    vectors = []
    for (text, pair), (spans, more) in zip(texts, words):
        batch = tokenizer(
            text, pair, truncation=True, max_length=max_length,
            return_token_type_ids=segments, return_offsets_mapping=True, return_tensors="pt",
        )
        which = batch.sequence_ids(0)
        offsets = batch.pop("offset_mapping")[0].tolist()
        with torch.inference_mode():
            hidden = torch.stack(model(**batch, output_hidden_states=True).hidden_states)[:, 0]
        for side, word_spans in enumerate((spans, more)):
            for start, end in word_spans:
                inside = [
                    i for i, (a, b) in enumerate(offsets)
                    if which[i] == side and a < end and b > start
                ]
                vectors.append(hidden[:, inside].mean(dim=1))
    return torch.stack(vectors, dim=1).double()


def cka(x, y):
    x, y = x - x.mean(dim=0), y - y.mean(dim=0)
    return (y.T @ x).norm() ** 2 / ((x.T @ x).norm() * (y.T @ y).norm())


def hsic(k, l):
    """The unbiased estimator of Song et al. 2007, of Gram matrices without their diagonals."""
    n = len(k)
    both = k.sum() * l.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * (k @ l).sum()
    return ((k * l).sum() + both) / (n * (n - 3))


def debiased_cka(x, y):
    x, y = x - x.mean(dim=0), y - y.mean(dim=0)
    k, l = x @ x.T, y @ y.T
    k, l = k - k.diag().diag(), l - l.diag().diag()
    return hsic(k, l) / (hsic(k, k) * hsic(l, l)).sqrt()


def shuffled_cka(x, y):
    random = numpy.random.default_rng(0)
    orders = [random.permutation(len(y)) for _ in range(5)]
    return torch.stack([cka(x, y[order]) for order in orders]).mean()
'''

Span = tuple[int, int]


@dataclass(frozen=True)
class SnippetText:
    """A text (and pair) with the spans of the compared words, in code points."""

    text: str
    pair: str | None
    words: tuple[Span, ...]
    pair_words: tuple[Span, ...] = ()


def snippet_texts(view: ViewState, ours: WordVectors, theirs: WordVectors) -> list[SnippetText]:
    """Return the sentences with words in both models, and the spans of these words."""
    both = set(theirs.keys)
    keys = [key for key in ours.keys if key in both]
    texts = []
    for i, sentence in enumerate(view.sentences):
        groups = [
            tuple(split_words(text)[word] for at, part, word in keys if (at, part) == (i, text_id))
            for text_id, text in enumerate((sentence.text, sentence.pair or ""))
        ]
        texts.append(SnippetText(sentence.text, sentence.pair, groups[0], groups[1]))
    return [text for text in texts if text.words or text.pair_words]


def cka_snippet(
    card: ModelCard, texts: Sequence[SnippetText], other_card: ModelCard | None = None
) -> str:
    """Return a script for `matrix`, `debiased` and `shuffled`: (layers, other layers) each."""
    second = ["theirs = ours"] if other_card is None else _load_lines(other_card, "theirs")
    pairs = ["None" if text.pair is None else literal(text.pair) for text in texts]
    lines = [
        "import numpy",
        *IMPORT_LINES,
        "texts = [",
        *(f"    ({literal(t.text)}, {pair})," for t, pair in zip(texts, pairs, strict=True)),
        "]",
        "words = [  # where the words of each text and of its pair are",
        *(f"    ({list(t.words)}, {list(t.pair_words)})," for t in texts),
        "]",
        "",
        "",
        _WORDS,
        "",
        *_load_lines(card, "ours"),
        *second,
        "matrix, debiased, shuffled = (",
        "    torch.stack([torch.stack([how(x, y) for y in theirs]) for x in ours])",
        "    for how in (cka, debiased_cka, shuffled_cka)",
        ")",
        "print(matrix, debiased, shuffled.mean(), sep='\\n')",
    ]
    return "\n".join(lines) + "\n"


def _load_lines(card: ModelCard, name: str) -> list[str]:
    """Return lines that load a model and leave its word vectors under a name."""
    arguments = f"{card.max_length}, segments={card.has_segments}"
    return [*load_lines(card), f"{name} = word_vectors(tokenizer, model, {arguments})"]
