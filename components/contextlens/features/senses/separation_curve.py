"""The separation of a word's senses at every layer: the curve, its numbers and its script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.separation import Separation
from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.content.language import say
from contextlens.content.wording import percent
from contextlens.core.schema import ModelCard
from contextlens.features.senses.controls import MAX_SCRIPT_OCCURRENCES
from contextlens.features.senses.occurrences import WordUses
from contextlens.figures.frames import layer_mark, spread
from contextlens.figures.theme import (
    CATEGORICAL,
    INK,
    MUTED,
    NEUTRAL,
    SMALLEST,
    figure,
    plain,
    tint,
)
from contextlens.ui.panel import Panel
from contextlens.ui.widgets.sense_claims import curve_title

FORMULA = r"""
**Word vector.** The mean of the word's sub-tokens at a layer, scaled to length 1:
$u = v / \lVert v \rVert$.

**Nearest centroid.** The centroid of a sense $s$ is the mean of its training vectors, scaled to
length 1; the sense with the highest cosine wins:

$$
c_s = \frac{\sum_{i \in s} u_i}{\lVert \sum_{i \in s} u_i \rVert} \qquad
\hat{s}(u) = \arg\max_s \; u \cdot c_s
$$

**What is tested.** Where a column tells train from test, centroids come from train and the share is
of test; other values, such as dev, are left out. Else it is stratified $k$-fold cross-validation
with $k$ the number of examples of the rarest sense, at most 5, in the order of the text and not
shuffled; a sense with one example is left out. A sense that is tested and was never learned counts
as wrong.

**Always guessing** the commonest sense among the tested is right for its share of them.

**Interval.** Wilson's score interval at 95%, with $\hat{p}$ the share of $n$ and $z = 1.96$:

$$
\frac{\hat{p} + \frac{z^2}{2n} \pm z \sqrt{\frac{\hat{p}(1 - \hat{p})}{n} + \frac{z^2}{4n^2}}}
{1 + \frac{z^2}{n}}
$$

The interval takes uses for independent, but similar ones are right or wrong together. That senses
separate at all is therefore said only where the best layer's share is above always guessing, and
the best layer does as well after at most 2.5% of up to 199 shuffles of the labels, with new folds
(of more than 2,000 occurrences, those of a random 2,000; of a split, within its parts). Layers
whose share lies within the best layer's interval are named with it.

**Silhouette** (Rousseeuw 1987) is the mean over occurrences of $(b - a) / \max(a, b)$, with $a$ the
mean cosine distance to the own sense and $b$ to the nearest other; of more than 1,000 occurrences,
that of a random 1,000 with a fixed seed.
""".strip()

_MAX_TICKS = 13
_LOW = 0.3  # shares whose labels stand above them, clear of the axis
_BAND_OPACITY = 0.18
_HEIGHT = 300

CURVE_SNIPPET = """\
import plotly.express as px

px.line(y=accuracy, markers=True, labels={"x": "layer", "y": "accuracy"})
"""
"""Goes on from `separation_snippet`: the curve over the layers."""

_VECTORS = """\
rows = [row for row in rows if row[3]]  # those with a sense that takes part
senses = sorted({sense for *_, sense, _ in rows})
codes = torch.tensor([senses.index(sense) for *_, sense, _ in rows])
folds = torch.tensor([fold for *_, fold in rows])  # which one tests it; -1: it is learned from only

vectors = []
for text, start, end, _, _ in rows:
    batch = tokenizer(
        text, truncation=True, max_length=MAX_LENGTH,
        return_offsets_mapping=True, return_tensors="pt",
    )
    first, last = batch.pop("offset_mapping")[0].T
    inside = (first < end) & (last > start)
    with torch.inference_mode():
        hidden = torch.stack(model(**batch, output_hidden_states=True).hidden_states)[:, 0]
    vectors.append(hidden[:, inside].mean(dim=1))
units = torch.nn.functional.normalize(torch.stack(vectors, dim=1), dim=-1)  # layers, rows, dims

accuracy = []
for layer, vectors in enumerate(units):
    right = 0
    for fold in range(int(folds.max()) + 1):
        tested = folds == fold
        means = [vectors[~tested & (codes == i)].mean(dim=0) for i in range(len(senses))]
        centroids = torch.nn.functional.normalize(torch.stack(means).nan_to_num(0.0), dim=-1)
        cosines = vectors[tested] @ centroids.T
        cosines[:, centroids.norm(dim=-1) == 0] = -2.0  # a sense that nothing was learned of
        right += int((cosines.argmax(dim=1) == codes[tested]).sum())
    accuracy.append(right / int((folds >= 0).sum()))
    print(f"layer {layer}: {accuracy[-1]:.4f}")
"""

_READ = """\
# All occurrences, from this page's NPZ download.
with np.load("senses.npz") as page:
    sentences, spans = json.loads(str(page["sentences"])), page["spans"].tolist()
    names = ["", *page["tested_senses"].tolist()]
    tested, folds = page["tested_codes"].tolist(), page["folds"].tolist()
rows = [
    (text, start, end, names[code + 1], fold)
    for text, (start, end), code, fold in zip(sentences, spans, tested, folds, strict=True)
]
"""


@dataclass(frozen=True, eq=False)
class SeparationCurve(Panel):
    """The test of a word's labelled senses at every layer.

    Attributes:
        uses: the word, its occurrences and their senses.
        curve: the test at each layer; not empty.
        layer: the layer shown.
    """

    uses: WordUses
    curve: Sequence[Separation]
    layer: int
    formula = FORMULA

    def figure(self) -> go.Figure:
        """The share of uses with the right sense at each layer."""
        return curve_figure(
            [("right sense", self.curve)],
            self.uses.trial.chance,
            layer=self.layer,
            title=self.title,
            height=_HEIGHT,
        )

    def alt(self) -> str:
        """The description of the chart."""
        return say("senses.curve_alt", title=self.title)

    @property
    def title(self) -> str:
        """The finding over all layers."""
        return curve_title(self.curve, self.uses.trial)

    def rows(self) -> list[dict[str, float | int | str]]:
        """A row for each layer."""
        return [
            {
                "layer": test.layer,
                "accuracy": test.accuracy,
                "right": test.right,
                "tested": test.n,
                "95% from": test.interval[0],
                "95% to": test.interval[1],
                "always guessing": self.uses.trial.chance,
                "silhouette": test.silhouette,
            }
            for test in self.curve
        ]


def separation_snippet(card: ModelCard, uses: WordUses) -> str:
    """A script that computes `accuracy` at each layer, as in the page's curve.

    It holds the occurrences that take part in the test; many are read from the page's NPZ download.
    """
    occurrences, trial = uses.occurrences, uses.trial
    indices = np.flatnonzero(trial.codes >= 0).tolist()
    is_many = len(indices) > MAX_SCRIPT_OCCURRENCES
    given = ["rows = [  # text, start and end of the word, sense, fold"]
    for i in () if is_many else indices:
        start, end = (int(edge) for edge in occurrences.spans[i])
        sense = literal(trial.senses[trial.codes[i]])
        given.append(f"    ({literal(uses.texts[i])}, {start}, {end}, {sense}, {trial.folds[i]}),")
    lines = [
        *(["import json", "", "import numpy as np"] if is_many else []),
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        *([_READ.rstrip()] if is_many else [*given, "]"]),
        _VECTORS.replace("MAX_LENGTH", str(card.max_length)),
    ]
    return "\n".join(lines)


def curve_figure(
    curves: Sequence[tuple[str, Sequence[Separation]]],
    chance: float,
    *,
    layer: int,
    title: str,
    height: int = 340,
) -> go.Figure:
    """The share of uses given the right sense at each layer, with its interval.

    Args:
        curves: one word's, or two to compare, each with its name.
        chance: the accuracy of always naming the most frequent sense, for the first curve.
        layer: the layer shown.
        title: the title.
        height: in pixels.
    """
    colors = (CATEGORICAL[0], CATEGORICAL[1])
    traces: list[dict[str, Any]] = []
    for color, (name, curve) in zip(colors, curves, strict=False):
        traces += _with_band(curve, plain(name), color)
    layers = sorted({test.layer for _, curve in curves for test in curve})
    layout = {
        "xaxis": {
            "title": {"text": "layer (0: before the first)"},
            "tickvals": layers[:: max(1, ceil(len(layers) / _MAX_TICKS))],
            "zeroline": False,
            "showgrid": False,
        },
        "yaxis": {
            "title": {"text": "uses with the right sense" if len(curves) > 1 else ""},
            "range": [0.0, 1.02],
            "tickformat": ".0%",
            "zeroline": False,
        },
        "shapes": [layer_mark(layer), _chance_line(chance)],
        "annotations": [*_ends(curves), *_value(curves, layer), _chance_label(chance)],
        "margin": {"l": 90, "r": 96 if len(curves) > 1 else 20},
    }
    return figure(traces, layout, title=title, height=height)


def _with_band(curve: Sequence[Separation], name: str, color: str) -> list[dict[str, Any]]:
    x = [test.layer for test in curve]
    low, high = ([test.interval[i] for test in curve] for i in (0, 1))
    band = {
        "type": "scatter",
        "mode": "lines",
        "x": [*x, *x[::-1]],
        "y": [*_rounded(high), *_rounded(low)[::-1]],
        "fill": "toself",
        "fillcolor": tint(color, _BAND_OPACITY),
        "line": {"width": 0},
        "hoverinfo": "skip",
    }
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": _rounded([test.accuracy for test in curve]),
        "name": name,
        "line": {"color": color, "width": 2.5},
        "marker": {"size": 7},
        "customdata": [[test.right, test.n, *test.interval] for test in curve],
        "hovertemplate": (
            f"{name}<br>layer %{{x}}: %{{y:.4f}}<br>%{{customdata[0]}} of %{{customdata[1]}} "
            "right<br>95% from %{customdata[2]:.4f} to %{customdata[3]:.4f}<extra></extra>"
        ),
    }
    return [band, line]


def _ends(curves: Sequence[tuple[str, Sequence[Separation]]]) -> list[dict[str, Any]]:
    """The lines' names at their right ends; a single line needs none."""
    labels = [(plain(name, 14), curve[-1].accuracy) for name, curve in curves if curve]
    if len(curves) < 2:
        return []
    where = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 6, "showarrow": False}
    spots = spread([y for _, y in labels], 0.08, (-0.2, 1.0))
    return [{"text": text, "y": y, **where} for (text, _), y in zip(labels, spots, strict=True)]


def _value(curves: Sequence[tuple[str, Sequence[Separation]]], layer: int) -> list[dict[str, Any]]:
    """The share at the shown layer, if there is one line."""
    tests = [test for _, curve in curves for test in curve if test.layer == layer]
    if len(curves) > 1 or not tests:
        return []
    accuracy = tests[0].accuracy
    is_low = accuracy < _LOW
    edge = {"yanchor": "bottom", "yshift": 10} if is_low else {"yanchor": "top", "yshift": -14}
    where = {"x": layer, "y": accuracy, "xanchor": "right", **edge}
    font = {"size": 16, "color": INK}
    return [{"text": f"<b>{percent(accuracy)}</b>", **where, "showarrow": False, "font": font}]


def _chance_line(chance: float) -> dict[str, Any]:
    ends = {"x0": 0, "x1": 1, "xref": "paper", "y0": chance, "y1": chance}
    return {"type": "line", **ends, "line": {"color": NEUTRAL, "width": 1.5, "dash": "dash"}}


def _chance_label(chance: float) -> dict[str, Any]:
    edge = "bottom" if chance < _LOW else "top"
    where = {"x": 1, "xref": "paper", "xanchor": "right", "y": chance, "yanchor": edge}
    font = {"color": MUTED, "size": SMALLEST}
    return {"text": "always guessing", **where, "showarrow": False, "font": font}


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [round(float(number), 5) for number in numbers]
