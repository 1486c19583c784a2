"""Switch off: the score without each head, each layer's attention and each feed-forward step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Figure

from contextlens.analysis.shares import Doubles
from contextlens.analysis.snippet_start import literal
from contextlens.content.bundled_texts import baseline_sentences
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import signed, span
from contextlens.core import EncoderService
from contextlens.core.errors import RequestError
from contextlens.core.families import FAMILIES
from contextlens.core.schema import Counted, SwitchOff
from contextlens.features.why.charts import (
    BARE,
    Numbers,
    colorbar,
    layer_axis,
    titled,
)
from contextlens.features.why.controls import OF_ALL, OFF_TO, OVER, TO_MEAN
from contextlens.features.why.explanation import (
    NOISE,
    PARTIAL_RUN,
    Explanation,
    before_and_after,
    direction,
    strongest,
    task_of,
)
from contextlens.features.why.score import (
    SCORE_FORMULA,
    ModelRun,
    Score,
    Side,
    cosine,
    problem_of,
    side_of,
    vectors_of,
)
from contextlens.features.why.script import COSINE, hooks, reader, script, side_arguments
from contextlens.figures.frames import signed_end
from contextlens.figures.theme import CATEGORICAL, SIGNED, values
from contextlens.jobs import Task
from contextlens.ui.panel import Rows
from contextlens.ui.state.view import ViewState, letter

FORMULA = (
    SCORE_FORMULA
    + r"""
**Switch off.** A head's output, before the projection that follows all heads of its layer, is
replaced by zeros, or by its mean over all tokens of sample sentences; likewise a layer's whole
attention and its feed-forward, before they are added to what went in. (What EmbeddingGemma 2's
layers add of layer 0 is never switched off.) The change is the score then, less the score; over
several sentences, the mean over all their pairs.
"""
)
To = Literal["zero", "mean"]
Over = Literal["two", "all"]
N_SAMPLE = 64
"""Sample sentences whose tokens give the mean output of a part."""
_SAMPLE_TOKENS = 15
"""The average number of tokens in a sample sentence."""


@dataclass(frozen=True)
class HeadEffect:
    """A head and the effect of its absence: the change of the (mean) cosine, and its consistency.

    Attributes:
        layer: from 1.
        head: from 0.
        change: the change of the cosine; the mean over the pairs.
        n_alike: the number of pairs whose change has the sign of that mean.
        n_pairs: the number of pairs.
    """

    layer: int
    head: int
    change: float
    n_alike: int
    n_pairs: int

    @property
    def label(self) -> str:
        """The head, its change and, if that is a mean, the number of pairs with its sign."""
        agreed = f" · {self.n_alike} of {self.n_pairs}" if self.n_pairs > 1 else ""
        return f"layer {self.layer}, head {self.head + 1}: {signed(self.change)}{agreed}"


@dataclass(frozen=True, eq=False)
class SwitchOffResult(Explanation):
    """The contribution of each part to the score.

    Attributes:
        to: the replacement of a part's output: "zero", or its "mean" over sample sentences.
        sides: the sentences measured, without their states: the score's two, or all that can be
            compared.
        cosine: the mean over all pairs of these sentences, with all parts on.
        layers: 1 to the score's layer: higher layers do not affect it.
        heads: (n_layers, n_heads) float64 changes of `cosine` with that head off.
        attention: (n_layers,) float64 changes with the layer's whole attention off.
        feed_forward: (n_layers,) float64 changes with the layer's feed-forward off.
        by_pair: (n_pairs, n_layers, n_heads) float64 the heads' changes for each pair of sentences.
        limits: a remark that names the sentences left out, if any.
    """

    formula = FORMULA
    chart_code = """\
names = [f"layer {n}" for n in range(1, len(heads) + 1)]
numbers = list(range(1, len(heads[0]) + 1))
px.imshow([[float(c) for c in row] for row in heads], x=numbers, y=names, labels={"x": "head"})"""

    to: To
    sides: tuple[Side, ...]
    cosine: float
    layers: tuple[int, ...]
    heads: Doubles
    attention: Doubles
    feed_forward: Doubles
    by_pair: Doubles
    limits: tuple[Claim, ...]

    @property
    def is_empty(self) -> bool:
        """True at layer 0, which has no parts."""
        return not self.layers

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the sentences measured."""
        return tuple(side.letter for side in self.sides)

    @property
    def n_pairs(self) -> int:
        """The number of pairs of sentences in the mean."""
        return len(self.by_pair)

    def strongest(self, n: int) -> list[HeadEffect]:
        """Return the heads whose absence changes the cosine most, in either direction."""
        flat = np.argsort(-np.abs(self.heads), axis=None, kind="stable")[:n]
        positions = zip(*np.unravel_index(flat, self.heads.shape), strict=True)
        return [self._head(int(row), int(head)) for row, head in positions]

    def _head(self, row: int, head: int) -> HeadEffect:
        change = float(self.heads[row, head])
        n_alike = int((np.sign(self.by_pair[:, row, head]) == np.sign(change)).sum())
        return HeadEffect(self.layers[row], head, change, n_alike, self.n_pairs)

    def settings(self) -> Mapping[str, Any]:
        """Return the replacement of a part, and the sentences measured."""
        return {"changed": f"each part set to {self.to}", "sentences": list(self.letters)}

    # Claims

    def title(self) -> Claim:
        """Return the head with the largest effect."""
        if self.is_empty:
            return claim("why.switch_off.title.empty")
        leaders = strongest(self.heads)
        if len(leaders) != 1:
            how_many = "several" if leaders else "none"
            return claim(f"why.switch_off.title.{how_many}", n=len(leaders))
        row, head = divmod(leaders[0], self.heads.shape[1])
        verdict = direction(self.heads[row, head])
        return claim(f"why.switch_off.title.{verdict}", layer=self.layers[row], head=head + 1)

    def claims(self) -> Sequence[Claim]:
        """Return the heads and the whole steps with the largest effects."""
        if self.is_empty:
            return (claim("why.switch_off.empty"),)
        return (
            self._heads_claim(),
            self._blocks_claim(),
            claim("why.switch_off.alone", n=self.n_pairs),
        )

    def sure(self) -> Sequence[Claim]:
        """Return the number of heads with an effect."""
        n_moving = int((np.abs(self.heads) > NOISE).sum())
        if n_moving == 0:
            return ()
        return (claim("why.switch_off.many", n=n_moving, of=self.heads.size),)

    def notes(self) -> Sequence[Claim]:
        """Return a remark on the sentences left out."""
        return self.limits

    def _heads_claim(self) -> Claim:
        leaders, cosine = strongest(self.heads), self.cosine
        if len(leaders) != 1:
            verdict, numbers = _no_leader(self.heads, leaders)
            return claim(f"why.switch_off.{verdict}", cosine=cosine, **numbers)
        row, head = divmod(leaders[0], self.heads.shape[1])
        change = float(self.heads[row, head])
        before, without, _ = before_and_after(cosine, change)
        numbers = {
            "layer": self.layers[row],
            "head": head + 1,
            "cosine": before,
            "without": without,
        }
        return claim(f"why.switch_off.{direction(change)}", **numbers)

    def _blocks_claim(self) -> Claim:
        changes = np.stack([self.attention, self.feed_forward], axis=1)
        leaders = strongest(changes)
        if len(leaders) != 1:
            verdict, numbers = _no_leader(changes, leaders)
            return claim(f"why.switch_off.layer.{verdict}", **numbers)
        row, kind = divmod(leaders[0], 2)
        step = ("attention", "feed_forward")[kind]
        numbers = {"layer": self.layers[row], "change": signed(float(changes[row, kind]))}
        return claim(f"why.switch_off.layer.{step}", **numbers)

    # Picture

    def figure(self) -> Figure:
        """Return the changes with each head off as a grid, and with whole parts off as bars."""
        parts = self.attention, self.feed_forward
        end = signed_end(*parts)
        round_end = _rounded(end)
        layout = {
            "xaxis": {
                "domain": [0.0, 0.58],
                "title": {"text": "head"},
                **BARE,
                "dtick": max(1, -(-self.heads.shape[1] // 16)),
            },
            "xaxis2": {
                "domain": [0.76, 1.0],
                "title": {"text": _LEGEND},
                "range": [-1.15 * end, 1.15 * end],
                "tickvals": [-round_end, 0, round_end],
                "ticktext": [f"\N{MINUS SIGN}{round_end:.1g}", "0", f"+{round_end:.1g}"],
                "anchor": "y",
                "zeroline": True,
                "zerolinewidth": 1,
            },
            "yaxis": layer_axis(self.layers),
            "barmode": "group",
            "bargap": 0.3,
            "margin": {"l": 8, "r": 24, "b": 56},
        }
        traces = [_grid(self.heads, self.layers), *_layer_bars(parts, self.layers)]
        return titled(traces, layout, title=str(self.title()))

    def alt(self) -> str:
        """Return the finding, and what the grid shows."""
        return say("why.switch_off.alt", title=str(self.title()))

    # Files

    def rows(self) -> Rows:
        """Return a row for each part."""
        table = []
        for row, layer in enumerate(self.layers):
            changes = {
                **{f"head {head}": value for head, value in enumerate(self.heads[row], start=1)},
                "attention": self.attention[row],
                "feed-forward": self.feed_forward[row],
            }
            table += [
                {"layer": layer, "switched off": name, "change": float(value)}
                for name, value in changes.items()
            ]
        return table

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return the changes by head, attention and feed-forward."""
        return {
            "heads": self.heads,
            "attention": self.attention,
            "feed_forward": self.feed_forward,
            "each_pair": self.by_pair,
            "layers": np.array(self.layers, dtype=np.int64),
        }

    def snippet(self) -> str:
        """Return a script that computes `heads`, a list for each layer, and the whole parts."""
        score, card = self.score, self.score.card
        sentences = [
            f"    functools.partial(vector, {side_arguments(side, score.vector_kind)}),"
            for side in self.sides
        ]
        texts = ["sample = [", *(f"    {literal(text)}," for text in sample()), "]"]
        parts = FAMILIES[card.family].parts
        is_mean, n_layers = self.to == "mean", score.layer + 1
        mean = _MEAN.format(n_layers=n_layers, max_length=card.max_length)
        body = _OFF.format(
            mixing=literal(parts.mixing),
            attention=literal(parts.attention or parts.mixing),
            feed_forward=literal(parts.feed_forward),
            constant=(mean if is_mean else _ZERO).strip("\n") + "\n",
            n_layers=n_layers,
        )
        return script(
            card,
            reader(score),
            hooks(card),
            COSINE,
            "\n".join(["sentences = [", *sentences, "]"]),
            *(["\n".join(texts)] if is_mean else []),
            body,
            imports=("contextlib", "functools", "itertools"),
        )


def _no_leader(
    changes: Doubles, leaders: Sequence[int]
) -> tuple[Literal["none", "several"], Mapping[str, Any]]:
    """The verdict and numbers for the case that none leads, or several do."""
    if not leaders:
        return "none", {"n": 0}
    sizes = span([abs(float(changes.flat[i])) for i in leaders])
    return "several", {"n": len(leaders), "of": changes.size, "span": sizes}


_ZERO = """
def constant(layer, part):
    return torch.zeros(n_heads * size(layer) if part == "heads" else model.config.hidden_size)
"""
_MEAN = """
def means_of_parts():
    \"\"\"Each part's mean output over all tokens of the sample sentences.\"\"\"
    rows = {{(n, part): [] for n in range(1, {n_layers}) for part in modules}}
    for text in sample:
        batch = tokenizer(text, truncation=True, max_length={max_length}, return_tensors="pt")
        with torch.inference_mode(), contextlib.ExitStack() as stack:
            for (n, part), outputs in rows.items():
                keep = lambda x, outputs=outputs: outputs.append(x[0]) or x
                stack.enter_context(hooked(n, part, keep))
            model(**batch)
    return {{key: torch.cat(outputs).mean(dim=0) for key, outputs in rows.items()}}


means = means_of_parts()


def constant(layer, part):
    return means[layer, part]
"""
_OFF = """
modules = {{  # of a layer, where each part passes
    "heads": {mixing},  # what goes in: all heads side by side
    "attention": {attention},
    "feed_forward": {feed_forward},
}}
n_heads = model.config.num_attention_heads


def size(layer):
    \"\"\"The dimensions of a head.\"\"\"
    return blocks[layer - 1].get_submodule(modules["heads"]).in_features // n_heads


@contextlib.contextmanager
def hooked(layer, part, change):
    hook = once(layer, modules[part], change, before=part == "heads")
    yield
    hook.remove()


{constant}

def mean_cosine(vectors):
    cosines = [cosine(*pair) for pair in itertools.combinations(vectors, 2)]
    return sum(cosines) / len(cosines)


def without(layer, part, head=0, width=model.config.hidden_size):
    \"\"\"The change of the mean cosine with a part of a layer replaced by a constant.\"\"\"
    put, dims = constant(layer, part), slice(head * width, (head + 1) * width)

    def change(x):
        x = x.clone()
        x[..., dims] = put[dims]
        return x

    vectors = []
    for sentence in sentences:
        with hooked(layer, part, change):
            vectors.append(sentence())
    return mean_cosine(vectors) - score


score = mean_cosine([sentence() for sentence in sentences])
heads = [
    [without(n, "heads", h, size(n)) for h in range(n_heads)] for n in range(1, {n_layers})
]
attention = [without(n, "attention") for n in range(1, {n_layers})]
feed_forward = [without(n, "feed_forward") for n in range(1, {n_layers})]
for n, (of_heads, *others) in enumerate(zip(heads, attention, feed_forward), start=1):
    print(f"layer {{n}}:", *[f"{{change:+.4f}}" for change in [*of_heads, *others]])
"""


# --- The chart

_PARTS = (("attention", CATEGORICAL[4]), ("feed-forward", CATEGORICAL[2]))
_LEGEND = "<br>".join(
    f'<span style="color:{color}">\N{BLACK SQUARE}</span> {name}' for name, color in _PARTS
)
"""The legend under the bars, as a phone has no room for plotly's."""
_COLORBAR_X = 0.595  # of the width: the position of the heads' colour bar


def _rounded(end: float) -> float:
    """The largest one-digit number up to an end: 0.08 for 0.087."""
    size = 10.0 ** np.floor(np.log10(end))
    return float(np.floor(end / size + 1e-9) * size)


def _grid(heads: Numbers, layers: Sequence[int]) -> dict[str, Any]:
    end = signed_end(heads)
    return {
        "type": "heatmap",
        "x0": 1,  # heads count from 1, as layers do
        "z": np.ascontiguousarray(heads, dtype=np.float32),
        "zmin": -end,
        "zmax": end,
        **SIGNED,
        "reversescale": True,  # orange raises the similarity: without it, the similarity falls
        "xgap": 1,
        "ygap": 1,
        "customdata": [
            [[n, signed(value, 4)] for value in row]
            for n, row in zip(layers, heads.tolist(), strict=True)
        ],
        "hovertemplate": (
            "layer %{customdata[0]}, head %{x}<br>change %{customdata[1]}<extra></extra>"
        ),
        "colorbar": {**colorbar("change", end), "x": _COLORBAR_X},
    }


def _layer_bars(parts: Sequence[Numbers], layers: Sequence[int]) -> list[dict[str, Any]]:
    rows = list(range(len(layers)))
    return [
        {
            "type": "bar",
            "orientation": "h",
            "xaxis": "x2",
            "name": name,
            "x": values(part_changes),
            "y": rows,
            "marker": {"color": color},
            "customdata": [
                [n, signed(value, 4)]
                for n, value in zip(layers, part_changes.tolist(), strict=True)
            ],
            "hovertemplate": f"layer %{{customdata[0]}}, {name} off<br>"
            "change %{customdata[1]}<extra></extra>",
        }
        for (name, color), part_changes in zip(_PARTS, parts, strict=True)
    ]


# --- The work


def task(view: ViewState, score: Score, service: EncoderService, *, token_seconds: float) -> Task:
    """Return the job that switches parts off; `token_seconds` is the duration of a token."""
    to, over = cast(To, OFF_TO.of(view)), cast(Over, OVER.of(view))
    texts = tuple((s.text, s.pair, s.word) for s in view.sentences) if over == OF_ALL else ()
    n_sample = N_SAMPLE * _SAMPLE_TOKENS if to == TO_MEAN else 0
    n_more = max(0, len(view.sentences) - 2) if over == OF_ALL else 0
    n_parts = score.layer * (score.card.n_heads + 2)
    n_tokens = sum(side.encoding.n_tokens for side in score.sides) * (1 + n_more / 2)
    return task_of(
        ("switch off", to, over, texts, score.key),
        "Switching each part off",
        partial(switch_off, view, score, service, to=to, over=over),
        (n_parts * n_tokens * PARTIAL_RUN + n_sample) * token_seconds,
    )


def switch_off(
    view: ViewState,
    score: Score,
    service: EncoderService,
    *,
    to: To = "zero",
    over: Over = "two",
    progress: Counted | None = None,
) -> SwitchOffResult:
    """The score without each part of the layers up to its own.

    Args:
        view: the source of the sentences if `over` is "all".
        score: the score with all parts.
        service: runs the model; preferably without a cache.
        to: the replacement of a part's output.
        over: the score's two sentences, or all of the view's that can be compared.
        progress: receives the number of finished runs; an exception that it raises ends the work.
    """
    sides, limits = _comparable_sides(view, score, service, over)
    layers = tuple(range(1, score.layer + 1))
    parts = parts_of(layers, score.card.n_heads, to)
    runs = [
        ModelRun(
            side.encoding.text,
            side.encoding.pair,
            lambda _, weights=side.weights: weights,  # type: ignore[misc]
            (part,),
        )
        for part in parts
        for side in sides
    ]
    vectors = vectors_of(
        runs,
        service,
        score.card,
        layer=score.layer,
        baseline=sample() if to == "mean" else (),
        progress=progress,
    )
    cosines = pair_cosines([side.vector(score.layer) for side in sides])
    n, n_heads = len(sides), score.card.n_heads
    without = [pair_cosines(vectors[i : i + n]) for i in range(0, len(vectors), n)]
    changes = np.array(without).reshape(len(layers), n_heads + 2, len(cosines)) - cosines
    means = changes.mean(axis=2)
    return SwitchOffResult(
        score=score.lean,
        to=to,
        sides=tuple(side.lean for side in sides),
        cosine=float(cosines.mean()),
        layers=layers,
        heads=means[:, :n_heads],
        attention=means[:, n_heads],
        feed_forward=means[:, n_heads + 1],
        by_pair=np.moveaxis(changes[:, :n_heads], 2, 0),
        limits=limits,
    )


def parts_of(layers: Sequence[int], n_heads: int, to: To) -> list[SwitchOff]:
    """All parts, layer by layer: its heads, its whole attention, its feed-forward."""
    return [
        part
        for layer in layers
        for part in (
            *(SwitchOff("head", layer, head, to) for head in range(n_heads)),
            SwitchOff("attention", layer, to=to),
            SwitchOff("feed_forward", layer, to=to),
        )
    ]


def sample() -> tuple[str, ...]:
    """The sentences whose tokens give the mean output of a part."""
    return baseline_sentences()[:N_SAMPLE]


def pair_cosines(vectors: Sequence[Doubles]) -> Doubles:
    """(n_pairs,) the cosines of all pairs of n vectors, in the order of `combinations`."""
    return np.array([cosine(a, b) for a, b in combinations(vectors, 2)], dtype=np.float64)


def _comparable_sides(
    view: ViewState, score: Score, service: EncoderService, over: Over
) -> tuple[list[Side], tuple[Claim, ...]]:
    """The sentences to measure, and a note that names those left out."""
    if over == "two":
        return list(score.sides), ()
    problems = {i: problem_of(view, i, score.vector_kind) for i in range(len(view.sentences))}
    usable = [i for i, problem in problems.items() if not problem]
    chosen = [view.sentences[i] for i in usable]
    encodings = service.encode(
        score.card.id,
        [sentence.text for sentence in chosen],
        pairs=[sentence.pair for sentence in chosen],
    )
    vocabulary = service.vocabulary(score.card.id)
    sides = []
    for i, encoding in zip(usable, encodings, strict=True):
        try:
            sides.append(side_of(view, i, encoding, score.vector_kind, vocabulary))
        except RequestError:
            problems[i] = "the word is not read"
    left_out = [letter(i) for i, problem in problems.items() if problem]
    if len(sides) < 2:
        return list(score.sides), ()
    if not left_out:
        return sides, ()
    letters = ", ".join(left_out)
    return sides, (claim("why.switch_off.note", n=len(left_out), letters=letters),)
