"""A few sentences, compared by every way of making one vector of a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.similarity import cosine_matrix
from contextlens.analysis.snippet_start import literal, load_lines, recipe_lines
from contextlens.content.bundled_texts import N_EVERYDAY
from contextlens.content.examples import SAME_MEANINGS
from contextlens.content.language import Claim, claim, say, table
from contextlens.content.wording import listed_names, quoted, two
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import FloatArray
from contextlens.features.sentences.controls import YOURS, source_of
from contextlens.features.sentences.drawn_texts import DrawnTexts
from contextlens.features.sentences.pair_to_read import PairToRead, pair_to_read
from contextlens.features.sentences.vectors import (
    TextVectors,
    encode_texts,
    layers_of,
    name_of,
    nearest,
    recipe_equals,
    title_of,
)
from contextlens.figures.similarity import cosine_range
from contextlens.figures.svg import HEIGHT, WIDTH, drawing, fitted, text_at
from contextlens.figures.theme import CATEGORICAL, GROUND, INK, SEQUENTIAL, figure, ink_on
from contextlens.maps.request import GIVEN
from contextlens.maps.vectors import RECIPE
from contextlens.ui.panel import Panel, Rows
from contextlens.ui.state.view import Sentence, ViewState, letter

FORMULA = r"""
**One vector of many.** After the last layer $L$, token $t$ of a text has the state $h_{L,t}$; token
0 is [CLS], and $T$ are all real tokens:

$$v_{\text{[CLS]}} = h_{L,0}$$

$$v_{\text{mean}} = \frac{1}{|T|} \sum_{t \in T} h_{L,t}$$

Without special tokens, $T$ leaves out [CLS] and [SEP]. **Max** takes the largest value of each
dimension over $T$. The mean of the last four layers averages $h_{\ell,t}$ over $T$ and over
$\ell = L-3, \ldots, L$. The **pooler** is $\tanh(W h_{L,0} + b)$ with weights of its own. The
**recipe** is what the model's authors published, as sentence-transformers runs it.

**Similarity** of two texts is the cosine of their vectors. Cosines of different ways cannot be
compared as they are: the states of many models point in similar directions. So each cosine also has
the share of random pairs of everyday sentences that are below it, by the same way.
""".strip()

MATRIX_WIDTH = 300
"""Pixels of one matrix: two stand side by side on a desk, one on a phone."""
_MAX_NUMBERED = 8  # sentences whose cells have numbers, and rows letters
_BARE = {"showgrid": False, "zeroline": False, "ticks": "", "fixedrange": True}


@dataclass(frozen=True, eq=False)
class Comparison(Panel):
    """A few sentences, compared by every way.

    Attributes:
        card: the model's card.
        sentences: at least two.
        vectors: the sentences' vectors by way.
        cosines: (n_ways, n, n).
        shares: (n_ways, n, n) the share of random pairs below each cosine.
        meanings: (n,) the number of each ready sentence's meaning; None for others.
        drawn: where the sentences are from, if they are texts of a corpus.
    """

    formula: ClassVar[str] = FORMULA

    card: ModelCard
    sentences: tuple[Sentence, ...]
    vectors: TextVectors
    cosines: FloatArray
    shares: FloatArray
    meanings: tuple[int, ...] | None
    drawn: DrawnTexts | None = None

    @property
    def poolings(self) -> tuple[str, ...]:
        """The ways, in the order of `cosines`."""
        return tuple(self.vectors.by_pooling)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The visitor's sentences have letters, other texts numbers."""
        n = len(self.sentences)
        if self.drawn is not None:
            return tuple(say("sentences.drawn.name", i=i + 1) for i in range(n))
        return tuple(letter(i) if self.meanings is None else str(i + 1) for i in range(n))

    @cached_property
    def scale(self) -> tuple[float, float]:
        """The ends of the colour scale, the same for all ways."""
        return cosine_range(self.cosines)

    @cached_property
    def pair_to_read(self) -> PairToRead:
        """The pair about which two ways disagree most."""
        return pair_to_read(self.cosines, self.poolings, self.names)

    @cached_property
    def hits(self) -> tuple[int, tuple[int, ...]]:
        """The number of sentences with a partner, and by way, those nearest to it."""
        partnered = self._partnered.tolist()
        by_way = [self._nearest(at) for at in range(len(self.poolings))]
        return len(partnered), tuple(sum(way[i][1] for i in partnered) for way in by_way)

    @property
    def _partnered(self) -> NDArray[np.int64]:
        """The sentences of which another one means the same."""
        codes = np.array(self.meanings or range(len(self.sentences)))
        return np.flatnonzero((codes[:, None] == codes).sum(axis=1) > 1)

    def _nearest(self, at: int) -> list[tuple[int, bool]]:
        """The nearest other sentence of each by one way, and True if it means the same."""
        codes, closest = (
            np.array(self.meanings or range(len(self.sentences))),
            nearest(self.cosines[at]),
        )
        return list(zip(closest.tolist(), (codes[closest] == codes).tolist(), strict=True))

    def claims(self) -> list[Claim]:
        """The finding about the sentences.

        For the ready ones: how often the nearest sentence has the same meaning, by the best and the
        worst way. For a visitor's own, whose meanings nobody knows: whether the ways agree.
        """
        if self.meanings is None:
            return [self._agreement()]
        n, hits = self.hits
        low, high = min(hits), max(hits)
        if low == high:
            return [claim("sentences.claim.equal", n=n, right=low)]
        first, named = self._best()[0], self._worst()
        finding = claim(
            "sentences.claim.misleads",
            subject=table("sentences.subject")[first],
            right=high,
            of=n,
            pooling=name_of(named),
            wrong=low,
        )
        groups: dict[int, list[str]] = {}
        for name, meaning in zip(self.names, self.meanings, strict=True):
            groups.setdefault(meaning, []).append(name)
        partners = ", ".join(listed_names(group) for group in groups.values() if len(group) > 1)
        return [finding, claim("sentences.claim.partners", pairs=partners)]

    @property
    def main_ways(self) -> tuple[str, ...]:
        """The two ways that are shown first: the best, or the mean, and the worst, or [CLS]."""
        if GIVEN in self.poolings:
            return ("mean", GIVEN)
        is_known = self.meanings is not None and min(self.hits[1]) < max(self.hits[1])
        ways = (self._best()[0], self._worst()) if is_known else ("mean", "cls")
        return tuple(way for way in ways if way in self.poolings) or self.poolings[:2]

    def _ways_with(self, n_right: int) -> list[str]:
        """The ways with a number of sentences whose nearest means the same; the recipe once."""
        return [
            pooling
            for pooling, right in zip(self.poolings, self.hits[1], strict=True)
            if right == n_right and not (pooling == RECIPE and self.recipe_equals)
        ]

    def _best(self) -> list[str]:
        """The best ways; the mean of all tokens first."""
        return sorted(self._ways_with(max(self.hits[1])), key=lambda pooling: pooling != "mean")

    def _worst(self) -> str:
        worst = self._ways_with(min(self.hits[1]))
        return "cls" if "cls" in worst else worst[0]

    @cached_property
    def recipe_equals(self) -> str:
        """The way that gives the same cosines as the model's own recipe; "" if none does."""
        return recipe_equals(self.vectors.by_pooling)

    def title(self, pooling: str) -> str:
        """The title of a way; the recipe's names the way that it is here."""
        if pooling == RECIPE and self.recipe_equals:
            way = title_of(self.recipe_equals)
            return say("sentences.recipe_title", pooling=way[:1].lower() + way[1:])
        return title_of(pooling)

    def _agreement(self) -> Claim:
        pair = self.pair_to_read
        if pair.n_pairs == 1:
            return claim("sentences.claim.one_pair")
        if pair.all_agree:
            return claim("sentences.claim.agree", n=pair.n_pairs)
        return pair.ranking("sentences.claim.disagree")

    def sure(self) -> list[Claim]:
        """Return the sources of the sentences and random pairs, and what was left out."""
        lines = [claim("sentences.sure.random", n=N_EVERYDAY * (N_EVERYDAY - 1) // 2)]
        if self.drawn is not None and self.drawn.own is not None:
            n = len(self.drawn.random_given()[GIVEN])
            lines.append(claim("sentences.sure.given", n=n * (n - 1) // 2))
        if self.meanings is not None:
            lines.insert(0, claim("sentences.sure.chosen"))
            _, hits = self.hits
            if min(hits) < max(hits) and (others := self._best()[1:]):
                names = listed_names([name_of(pooling) for pooling in others])
                lines.insert(0, claim("sentences.claim.also", right=max(hits), poolings=names))
        pooler = self.card.provenance.pooler.state
        if pooler != "trained":
            lines.append(claim("sentences.sure.pooler", state=pooler))
        if self.recipe_equals:
            lines.append(claim("sentences.sure.recipe", pooling=name_of(self.recipe_equals)))
        if self.vectors.n_cut:
            lines.append(claim("sentences.sure.cut", n=self.vectors.n_cut))
        return lines

    def lines(self, indices: Iterable[int]) -> str:
        """Some sentences behind their letters, a line each, in Markdown."""
        lines = []
        for i in indices:
            s = self.sentences[i]
            text = " / ".join(quoted(part, 100) for part in (s.text, s.pair) if part is not None)
            lines.append(f"**{self.names[i]}** {text}")
        return "  \n".join(lines)

    def matrix(self, at: int) -> go.Figure:
        """The cosines of every pair of sentences by one way.

        Frames mark the pair to read; or, where meanings are known, the nearest sentence of each
        that has a partner.
        """
        cosines, (low, high) = self.cosines[at], self.scale
        is_numbered = len(self.names) <= _MAX_NUMBERED
        depths = (cosines - low) / (high - low)
        is_high = np.array([[ink_on(depth) == GROUND for depth in row] for row in depths.tolist()])
        traces: list[dict[str, Any]] = [
            {
                "type": "heatmap",
                "x": list(self.names),
                "y": list(self.names),
                "z": [[round(float(v), 4) if ok else None for v, ok in zip(*row, strict=True)]
                      for row in zip(cosines, mask, strict=True)],
                "customdata": np.round(100 * self.shares[at], 1).tolist(),
                "zmin": low,
                "zmax": high,
                "colorscale": SEQUENTIAL,
                "showscale": False,
                "xgap": int(is_numbered),
                "ygap": int(is_numbered),
                "text": [[two(v) if ok else "" for v, ok in zip(*row, strict=True)]
                         for row in zip(cosines.tolist(), mask.tolist(), strict=True)],
                "texttemplate": "%{text}" if is_numbered else "",
                "textfont": {"color": color},
                "hoverongaps": False,
                "hovertemplate": "%{y} ~ %{x}<br>cosine %{z:.4f}<br>"
                "above %{customdata}% of random pairs<extra></extra>",
            }
            for mask, color in ((is_high, GROUND), (~is_high, INK))
        ]  # fmt: skip
        axis = {**_BARE, "type": "category", "showticklabels": is_numbered}  # "1" is a name
        layout = {
            "xaxis": {**axis, "side": "bottom"},
            "yaxis": {**axis, "autorange": "reversed"},
            "margin": {"l": 28, "r": 8, "t": 36, "b": 40},
            "shapes": self._frames(at),
        }
        title, height = self.title(self.poolings[at]), matrix_height(len(self.names))
        return figure(traces, layout, title=title, height=height, narrow=True)

    def _frames(self, at: int) -> list[dict[str, Any]]:
        if self.meanings is None:
            one, other = self.pair_to_read.pair
            return [_frame(i, j, CATEGORICAL[1]) for i, j in ((one, other), (other, one))]
        closest = {i: self._nearest(at)[i] for i in self._partnered.tolist()}
        return [_frame(i, j, CATEGORICAL[2 if ok else 3]) for i, (j, ok) in closest.items()]

    def drawing(self) -> str:
        """All matrices on one drawing, to be saved as a picture."""
        titles, (low, high) = [self.title(pooling) for pooling in self.poolings], self.scale
        n_columns = min(4, len(titles))
        n_rows = -(-len(titles) // n_columns)
        width, height = WIDTH / n_columns, HEIGHT / n_rows
        side = min((width - 36) / len(self.names), (height - 52) / len(self.names))
        shapes: list[str] = []
        for at, title in enumerate(titles):
            left, top = width * (at % n_columns) + 20, height * (at // n_columns) + 34
            shapes.append(text_at(left, top - 14, fitted(title, width - 24, 11), 11, 1.0))
            names = self.names if len(self.names) <= _MAX_NUMBERED else [""] * len(self.names)
            for i, name in enumerate(names):
                shapes.append(text_at(left - 14, top + side * (i + 0.65), name, 10, 0.7))
                below = top + side * len(self.names) + 12
                shapes.append(text_at(left + side * (i + 0.4), below, name, 10, 0.7))
                for j in range(len(self.names)):
                    value = float(self.cosines[at, i, j])
                    depth = (value - low) / (high - low)
                    x, y = left + side * j, top + side * i
                    shapes.append(
                        f'<rect x="{x:.1f}" y="{y:.1f}" width="{side - 1:.1f}" '
                        f'height="{side - 1:.1f}" fill="{CATEGORICAL[0]}" '
                        f'fill-opacity="{0.6 * depth:.3f}"/>'
                    )
                    if side > 22:
                        middle = x + (side - 1) / 2
                        more = 'text-anchor="middle"'
                        shapes.append(text_at(middle, y + side * 0.62, two(value), 8, 1.0, more))
        return drawing(shapes)

    def rows(self) -> Rows:
        """A row for each pair of sentences and each way."""
        n = len(self.sentences)
        return [
            {
                "first": self.names[i],
                "second": self.names[j],
                "vector": title_of(pooling),
                "cosine": float(self.cosines[at, i, j]),
                "random pairs below": float(self.shares[at, i, j]),
            }
            for i in range(n)
            for j in range(i + 1, n)
            for at, pooling in enumerate(self.poolings)
        ]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The sentences, their vectors and cosines by way."""
        vectors = {f"vectors_{name}": rows for name, rows in self.vectors.by_pooling.items()}
        return {
            "texts": np.array([sentence.text for sentence in self.sentences]),
            "vector": np.array(self.poolings),
            "cosines": self.cosines,
            "random_pairs_below": self.shares,
            **vectors,
        }

    def snippets(self, file_name: str) -> list[tuple[str, str]]:
        """Scripts for the cosines by title, and one for a chart, without a title.

        Args:
            file_name: that of the page's NPZ, from which the scripts read the texts of a corpus.
        """
        texts = self.sentences if self.drawn is None else file_name
        plain = cosines_snippet(self.card, texts, has_pooler="pooler" in self.poolings)
        snippets = [(say("sentences.snippet.plain"), plain), ("", PICTURE)]
        if self.drawn is not None and self.drawn.own is not None:
            script = self.drawn.own.script(self.drawn.rows) + _GIVEN
            snippets.append((say("sentences.snippet.given"), script))
        if RECIPE in self.poolings:
            by_recipe = recipe_snippet(self.card, texts)
            snippets.append((say("sentences.snippet.recipe"), by_recipe))
        return snippets


def _frame(row: int, column: int, color: str) -> dict[str, Any]:
    """A line around a cell."""
    ends = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", **ends, "line": {"color": color, "width": 3}}


def matrix_height(n: int) -> int:
    """The height of a matrix of n sentences, in pixels."""
    return 84 + 32 * min(n, _MAX_NUMBERED)


def comparison(
    view: ViewState,
    card: ModelCard,
    service: EncoderService,
    random: TextVectors,
    *,
    drawn: tuple[DrawnTexts, TextVectors] | None = None,
) -> Comparison | None:
    """Compare the view's sentences, or drawn texts, by every way; None if there is only one.

    Args:
        view: the view.
        card: the model's card.
        service: encodes the sentences.
        random: the result of `random_task`.
        drawn: the drawn texts, with the result of `drawn_task`.
    """
    meanings, source = None, None
    if drawn is not None:
        source = drawn[0]
        sentences = tuple(map(Sentence, source.texts))
    elif source_of(view).of(view) == YOURS:
        sentences = view.sentences
    else:
        sentences = tuple(Sentence(text) for group in SAME_MEANINGS for text in group)
        meanings = tuple(i for i, group in enumerate(SAME_MEANINGS) for _ in group)
    if len(sentences) < 2:
        return None
    if drawn is None:
        texts, pairs = [s.text for s in sentences], [s.pair for s in sentences]
        vectors = encode_texts(texts, card, service, pairs=pairs)
    else:
        source, made = drawn
        passport = made.passport
        if source.own is not None:
            settings = {**passport.settings, "given": source.own.passport().settings}
            passport = replace(passport, settings=settings)
        by_pooling = {**made.by_pooling, **source.given()}
        vectors = TextVectors(by_pooling, passport, made.n_cut)
        random = replace(random, by_pooling={**random.by_pooling, **source.random_given()})
    cosines = np.stack([cosine_matrix(rows) for rows in vectors.by_pooling.values()])
    shares = [
        shares_below(matrix, cosine_matrix(random.by_pooling[pooling]))
        for pooling, matrix in zip(vectors.by_pooling, cosines, strict=True)
    ]
    return Comparison(card, sentences, vectors, cosines, np.stack(shares), meanings, source)


def shares_below(cosines: FloatArray, random: FloatArray) -> FloatArray:
    """The share of random pairs with a lower cosine, for each cosine; equal ones count half.

    Args:
        cosines: of any shape.
        random: (n, n) cosines of unrelated texts with each other.
    """
    known = np.sort(random[np.triu_indices(len(random), 1)])
    ranks = np.searchsorted(known, cosines, "left") + np.searchsorted(known, cosines, "right")
    shares: FloatArray = (ranks / (2 * len(known))).astype(np.float32)
    return shares


# --- The scripts

PICTURE = """\
import plotly.express as px

px.imshow(cosines["mean"].numpy(), text_auto=".2f", labels={"color": "cosine of the means"})
"""
"""Goes on from `cosines_snippet`: the matrix of the means."""

_GIVEN = """\
units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
cosines = units @ units.T
print(cosines.round(4))
"""

_VECTORS = '''\
def vectors(*text):
    """The vector of a text, or of a pair of texts, by each way."""
    batch = tokenizer(
        *text, truncation=True, max_length={max_length},
        return_special_tokens_mask=True, return_tensors="pt",
    )
    ordinary = batch.pop("special_tokens_mask")[0] == 0
    with torch.inference_mode():
        output = model(**batch, output_hidden_states=True)
    last = output.last_hidden_state[0]
    return {{
        "cls": last[0],
        "mean": last.mean(dim=0),
        "own": last[ordinary].mean(dim=0) if ordinary.any() else last.mean(dim=0),
        "max": last.max(dim=0).values,{pooler}
        "last_four": torch.stack(output.hidden_states[-{n_layers}:])[:, 0].mean(dim=(0, 1)),
    }}
'''
_COSINES = """\
by_text = [vectors(*text) for text in texts]
cosines = {}
for name in by_text[0]:
    rows = torch.nn.functional.normalize(torch.stack([ways[name] for ways in by_text]), dim=-1)
    cosines[name] = rows @ rows.T
    print(name, cosines[name].numpy().round(4), sep="\\n")
"""


def cosines_snippet(
    card: ModelCard, sentences: Sequence[Sentence] | str, *, has_pooler: bool
) -> str:
    """A script that leaves `cosines`, (n, n) for each way but the model's own recipe.

    Args:
        card: the model's card.
        sentences: the sentences, or the name of the page's NPZ that holds them.
        has_pooler: True if the model's pooler is one of the ways.
    """
    made = _VECTORS.format(
        max_length=card.max_length,
        n_layers=len(layers_of(card)),
        pooler='\n        "pooler": output.pooler_output[0],' if has_pooler else "",
    )
    lines = [
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        "",
        made,
        "",
        *_texts(sentences),
        _COSINES,
    ]
    return "\n".join(lines)


def recipe_snippet(card: ModelCard, sentences: Sequence[Sentence] | str) -> str:
    """A script that leaves `cosines` (n, n) by the model's own recipe."""
    lines = [
        "import torch",
        "from sentence_transformers import SentenceTransformer",
        "",
        *recipe_lines(card),
        "",
        *_texts(sentences),
        "given = [list(text) if len(text) == 2 else text[0] for text in texts]",
        "rows = model.encode(given, convert_to_tensor=True)",
        "rows = torch.nn.functional.normalize(rows, dim=-1)",
        "cosines = rows @ rows.T",
        "print(cosines.numpy().round(4))",
    ]
    return "\n".join(lines) + "\n"


def _texts(sentences: Sequence[Sentence] | str) -> list[str]:
    if isinstance(sentences, str):
        load = f'with np.load("{sentences}") as page:'
        return ["import numpy as np", "", load, '    texts = [(text,) for text in page["texts"]]']
    rows = [[s.text, *([s.pair] if s.pair else [])] for s in sentences]
    return ["texts = [", *(f"    ({', '.join(map(literal, row))},)," for row in rows), "]"]
