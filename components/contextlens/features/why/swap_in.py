"""Swap in: each hidden state of one sentence put into the other's run (activation patching)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Figure

from contextlens.analysis.shares import Doubles
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import occurrence, placed
from contextlens.core import EncoderService
from contextlens.core.schema import Counted, Patch, Tokens
from contextlens.features.why.charts import MAX_GAPPED, axis_names, layer_axis, titled, word_axis
from contextlens.features.why.controls import INTO, MAX_SWAPPED_TOKENS
from contextlens.features.why.explanation import PARTIAL_RUN, Explanation, leading_of, task_of
from contextlens.features.why.score import SCORE_FORMULA, ModelRun, Score, Side, vectors_of
from contextlens.features.why.script import hooks, reader, script, side_arguments
from contextlens.features.why.word_rows import word_row
from contextlens.figures.theme import SEQUENTIAL
from contextlens.figures.word_rows import Captions, LinkedSentence, WordRows
from contextlens.jobs import Task
from contextlens.ui.panel import Rows
from contextlens.ui.state.view import ViewState

FORMULA = (
    SCORE_FORMULA
    + r"""
**Swap in.** One sentence is read again, and at one layer the hidden state of one position is
replaced by that of the token of the other sentence that stands for it. With $a$ and $b$ the results
of both sentences and $a'$ that of the changed run, the share of the way is the projection

$$f = \frac{(a' - a) \cdot (b - a)}{|b - a|^2}$$

0 where nothing moves, 1 where the result lies level with $b$. In sentences of equal length, tokens
are matched by position; otherwise equal tokens in the same order are (Ratcliff and Obershelp
1988). At layer 0, equal tokens are not swapped: their vectors differ by position alone. Where one
token or word is compared, nothing is swapped at the last layer: its state is the result itself.
"""
)
Into = Literal["first", "second"]
Verdict = Literal[
    "nowhere", "none", "one", "one_beyond", "same", "same_beyond", "several", "several_beyond"
]
FAR = 0.25
"""The smallest share of the way from the receiver's vector to the donor's that is called far."""
_CAPTIONS = Captions(
    quantity="", between=say("why.swap_in.between"), low="", high="", hint=say("why.swap_in.hint")
)


@dataclass(frozen=True, eq=False)
class SwapInResult(Explanation):
    """The share of the way from the receiver's vector to the donor's for each hidden state.

    Attributes:
        into: the sentence whose run changes: "first" or "second".
        alignment: the pairs of a receiver's token (first) and a donor's (second).
        layers: as in `swapped_layers`.
        fractions: (n_layers, n_aligned) float64 for each pair of `alignment.pairs`: 0 for none,
            1 for all of the way; values outside this range are possible. NaN for equal tokens at
            layer 0, which are not swapped.
        problem: the reason why there is nothing to show; None if there is a result.
    """

    formula = FORMULA
    chart_code = 'px.imshow(fractions.numpy(), labels={"x": "aligned token", "y": "layer"})'

    into: Into
    alignment: Alignment
    layers: tuple[int, ...]
    fractions: Doubles
    problem: Claim | None = None

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to swap."""
        return self.problem is not None

    @property
    def receiver(self) -> Side:
        """The sentence whose run changes."""
        return self.score.first if self.into == "first" else self.score.second

    @property
    def donor(self) -> Side:
        """The sentence whose hidden states are inserted."""
        return self.score.second if self.into == "first" else self.score.first

    @property
    def names(self) -> tuple[str, ...]:
        """The label of each aligned pair: the token, or "pet / coding" if they differ."""
        ours, theirs = self.receiver.labels, self.donor.labels
        labels = ((ours[i], theirs[j]) for i, j in self.alignment.pairs)
        return tuple(a if a == b else f"{a} / {b}" for a, b in labels)

    def settings(self) -> Mapping[str, Any]:
        """Return the direction of the swap."""
        donor, receiver = self.donor.letter, self.receiver.letter
        return {"changed": f"each hidden state of {donor} put into {receiver}"}

    # Claims

    def title(self) -> Claim:
        """Return the token that moves the receiver furthest."""
        if self.is_empty:
            why = "equal" if self.score.are_equal else "stuck"
            return claim(f"why.swap_in.title.{why}")
        verdict, numbers = self._furthest(occurrence)
        return claim(f"why.swap_in.title.{verdict}", **numbers)

    def claims(self) -> Sequence[Claim]:
        """Return the token that moves the receiver furthest, or the reason why none was tried."""
        if self.problem is not None:
            return (self.problem,)
        verdict, numbers = self._furthest(placed)
        return (claim(f"why.swap_in.{verdict}", **numbers), claim("why.swap_in.alone"))

    def sure(self) -> Sequence[Claim]:
        """Return how tokens were matched, and how many move the receiver away."""
        if self.is_empty:
            return ()
        alignment, bottom = self.alignment, self.fractions[0]
        verdict = "position" if alignment.same_length else "order"
        claims = [claim(f"why.swap_in.matched.{verdict}", n=len(alignment.pairs))]
        if alignment.n_equal:
            claims.append(claim("why.swap_in.equal_tokens", n=alignment.n_equal))
        for side, alone in (
            (self.receiver, alignment.first_alone),
            (self.donor, alignment.second_alone),
        ):
            if alone:
                claims.append(claim("why.swap_in.unmatched", n=len(alone), letter=side.letter))
        n_away = int((np.round(100 * bottom[np.isfinite(bottom)]) < 0).sum())
        if n_away:
            claims.append(claim("why.swap_in.away", n=n_away, **self._letters))
        return claims

    @property
    def _letters(self) -> dict[str, str]:
        return {"a": self.receiver.letter, "b": self.donor.letter}

    def _furthest(self, name: Callable[..., str]) -> tuple[Verdict, Mapping[str, Any]]:
        """Return the verdict on the swaps that move the receiver furthest, and its numbers.

        It is "..._beyond" if they move it by more than 100%, as displayed.

        Args:
            name: names a token by its label, its position and all labels.
        """
        largest = np.nanmax(self.fractions, axis=0, initial=-np.inf).tolist()
        leaders, share = leading_of(largest, 0.0), max(largest)
        if round(100 * share) <= 0:
            return "nowhere", self._letters
        if share < FAR:
            return "none", {"share": share, **self._letters}
        numbers: dict[str, Any] = {"n": len(leaders), "share": share, **self._letters}
        i, j = self.alignment.pairs[leaders[0]]
        numbers["layer"] = self.layers[int(np.nanargmax(self.fractions[:, leaders[0]]))]
        numbers["old"] = name(self.receiver.labels[i], i, self.receiver.labels)
        numbers["new"] = name(self.donor.labels[j], j, self.donor.labels)
        is_beyond = round(100 * share) > 100
        if len(leaders) > 1:
            return "several_beyond" if is_beyond else "several", numbers
        if self.receiver.encoding.token_ids[i] == self.donor.encoding.token_ids[j]:
            return "same_beyond" if is_beyond else "same", numbers
        return "one_beyond" if is_beyond else "one", numbers

    # Pictures

    def word_rows(self) -> WordRows:
        """Return both sentences as tokens, with lines between those that are matched."""
        is_turned = self.receiver is not self.score.first
        alignment = self.alignment.turned if is_turned else self.alignment
        return WordRows(
            _token_row(self.score.first, alignment.first_alone),
            _token_row(self.score.second, alignment.second_alone),
            _CAPTIONS,
            end=1.0,
            links=alignment.pairs,
        )

    def figure(self) -> Figure:
        """Return the effect of each token at each layer: 0 for none, 1 for all of the way.

        Colours end at 0 and 1; values beyond are in words on hover.
        """
        labels = axis_names(self.names)
        trace: dict[str, Any] = {
            "type": "heatmap",
            "z": np.ascontiguousarray(self.fractions, dtype=np.float32),
            "zmin": 0.0,
            "zmax": 1.0,
            "colorscale": SEQUENTIAL,
            "xgap": int(len(labels) <= MAX_GAPPED),
            "ygap": 1,
            "hoverongaps": False,
            "customdata": [
                [
                    [label, layer, self._share_in_words(share)]
                    for label, share in zip(labels, shares, strict=True)
                ]
                for layer, shares in zip(self.layers, self.fractions.tolist(), strict=True)
            ],
            "hovertemplate": (
                "%{customdata[0]}, swapped in at layer %{customdata[1]}<br>"
                "%{customdata[2]}<extra></extra>"
            ),
            "colorbar": {"title": {"text": say("why.swap_in.scale")}, "thickness": 8, "len": 0.9,
                         "tickvals": [0, 0.5, 1], "ticktext": ["0%", "50%", "100%"]},
        }  # fmt: skip
        layout = {
            "xaxis": {**word_axis(self.names), "tickangle": -50},
            "yaxis": layer_axis(self.layers),
            "margin": {"l": 8, "r": 8, "b": 8},
        }
        return titled([trace], layout, title=str(self.title()))

    def _share_in_words(self, share: float) -> str:
        """A share of the way in words: in per cent, or as beyond either end; "" if not swapped."""
        if np.isnan(share):
            return ""
        whole = round(100 * share)
        where = "hover_beyond" if whole > 100 else "hover_away" if whole < 0 else "hover"
        return say(f"why.swap_in.{where}", share=abs(share), b=self.donor.letter)

    def alt(self) -> str:
        """Return the finding, and what the heatmap shows."""
        return say("why.swap_in.alt", title=str(self.title()), **self._letters)

    # Files

    def rows(self) -> Rows:
        """Return a row for each token and layer."""
        pairs = list(zip(self.names, self.alignment.pairs, strict=True))
        return [
            {
                "layer": layer,
                "position": i,
                "from position": j,
                "token": name,
                "share of the way": float(self.fractions[row, column]),
            }
            for row, layer in enumerate(self.layers if self.fractions.size else ())
            for column, (name, (i, j)) in enumerate(pairs)
            if np.isfinite(self.fractions[row, column])
        ]

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return the shares of the way, and the positions of the matched tokens."""
        return {
            "fractions": self.fractions,
            "layers": np.array(self.layers),
            "positions": np.array(self.alignment.pairs, dtype=np.int64).reshape(-1, 2),
        }

    def snippet(self) -> str:
        """Return a script that computes `fractions`, or the distance of the two if it is 0."""
        score, kind = self.score, self.score.vector_kind
        if self.is_empty:
            ends = f"a = vector({side_arguments(score.first, kind)})\n"
            ends += f"b = vector({side_arguments(score.second, kind)})\nprint((a - b).norm())"
            return script(score.card, reader(score), ends)
        body = _SCRIPT.format(
            receiver=side_arguments(self.receiver, kind),
            donor=side_arguments(self.donor, kind),
            pairs=list(self.alignment.pairs),
            equal=list(self.alignment.equal),
            layer=score.layer,
            n_layers=len(self.layers),
        )
        return script(score.card, reader(score), hooks(score.card), body, imports=("itertools",))


def _token_row(side: Side, alone: Sequence[int]) -> LinkedSentence:
    """The tokens of a sentence; those that lack a partner are marked."""
    row = word_row(side, "tokens")
    words = [replace(w, kind="alone") if w.position in alone else w for w in row.words]
    return replace(row, words=words)


_SCRIPT = """
states, counts = read({receiver})
donor, donor_counts = read({donor})
pairs = {pairs}  # positions in the one and in the other
start = states[{layer}, counts].double().mean(dim=0)
way = donor[{layer}, donor_counts].double().mean(dim=0) - start


def swapped(layer, i, j):
    \"\"\"The states of all layers where one of them has the other's state at a position.\"\"\"

    def put(x):
        x = x.clone()
        x[..., i, :] = donor[layer, j]
        return x

    if layer == {layer}:
        return torch.stack([*states[:layer], put(states[layer])])
    hook = at(layer, put)
    moved, _ = read({receiver})
    hook.remove()
    return moved


fractions = torch.full(({n_layers}, len(pairs)), float("nan"))
for layer in range({n_layers}):
    for k, (i, j) in enumerate(pairs):
        if layer == 0 and k in {equal}:
            continue  # equal tokens
        moved = swapped(layer, i, j)[{layer}, counts].double().mean(dim=0) - start
        fractions[layer, k] = moved @ way / (way @ way)
print(fractions)
"""


# --- The work


def task(view: ViewState, score: Score, service: EncoderService, *, token_seconds: float) -> Task:
    """Return the job that swaps hidden states in; `token_seconds` is the duration of a token."""
    into = cast(Into, INTO.of(view))
    lengths = [side.encoding.n_tokens for side in score.sides]
    n_tokens = min(*lengths, MAX_SWAPPED_TOKENS) * (score.layer + 1) * lengths[0]
    return task_of(
        ("swap in", into, score.key),
        "Swapping each hidden state in",
        partial(swap_in, score, service, into=into),
        n_tokens * PARTIAL_RUN * token_seconds,
    )


def swap_in(
    score: Score,
    service: EncoderService,
    *,
    into: Into = "first",
    progress: Counted | None = None,
) -> SwapInResult:
    """Insert each hidden state of one sentence into the other's run, one at a time.

    Args:
        score: the score of the two.
        service: runs the model; preferably without a cache.
        into: the sentence whose run changes: the first or the second.
        progress: receives the number of finished runs; an exception that it raises ends the work.
    """
    receiver, donor = score.sides if into == "first" else score.sides[::-1]
    alignment = align(receiver.encoding, donor.encoding)
    layers = swapped_layers(score)
    start, end = receiver.vector(score.layer), donor.vector(score.layer)
    problem = _swap_problem(score, alignment, is_way(start, end))
    shape = (len(layers), len(alignment.pairs)) if problem is None else (0, 0)
    swaps = [
        (row, k) for row, k in np.ndindex(shape) if layers[row] > 0 or k not in alignment.equal
    ]
    runs = [_swapped_run(receiver, donor, layers[row], *alignment.pairs[k]) for row, k in swaps]
    vectors = vectors_of(runs, service, score.card, layer=score.layer, progress=progress)
    fractions = np.full(shape, np.nan)
    for swap, vector in zip(swaps, vectors, strict=True):
        fractions[swap] = fraction(vector, start, end)
    return SwapInResult(
        score=score.lean,
        into=into,
        alignment=alignment,
        layers=layers,
        fractions=fractions,
        problem=problem,
    )


def swapped_layers(score: Score) -> tuple[int, ...]:
    """Return the layers at which states are swapped: up to the score's own.

    That one is left out where a single token or word is compared: its state is the result itself.
    """
    return tuple(range(max(1, score.layer + (score.vector_kind == "mean"))))


def _swapped_run(receiver: Side, donor: Side, layer: int, i: int, j: int) -> ModelRun:
    patch = Patch(layer, (i,), donor.encoding.text, (j,), donor.encoding.pair)
    encoding = receiver.encoding
    return ModelRun(encoding.text, encoding.pair, lambda _: receiver.weights, (patch,))


def _swap_problem(score: Score, alignment: Alignment, is_some_way: bool) -> Claim | None:
    n = len(alignment.pairs)
    if score.are_equal:
        return claim("why.swap_in.equal", a=score.first.letter, b=score.second.letter)
    if not is_some_way:
        return claim("why.swap_in.stuck")
    if not n:
        return claim("why.swap_in.unpaired")
    if swapped_layers(score) == (0,) and len(alignment.equal) == n:
        return claim("why.swap_in.only_equal")
    return (
        claim("why.swap_in.long", n=n, most=MAX_SWAPPED_TOKENS) if n > MAX_SWAPPED_TOKENS else None
    )


NO_WAY = 1e-4
"""The distance between two vectors, relative to their length, below which they count as equal."""


def is_way(start: Doubles, end: Doubles) -> bool:
    """True if two vectors differ by more than rounding."""
    length = max(float(np.linalg.norm(start)), float(np.linalg.norm(end)))
    return float(np.linalg.norm(end - start)) > NO_WAY * length


def fraction(moved: Doubles, start: Doubles, end: Doubles) -> float:
    """The share of the way from one vector to another that a moved one has covered.

    This is the projection of its movement on the way: 0 at the start and 1 at the end, whatever its
    distance from the way; below 0 if it moved the other way, above 1 if it went beyond the end.

    Raises:
        ValueError: start and end are the same vector, so there is no way; check `is_way` first.
    """
    way = end - start
    length = float(way @ way)
    if length == 0:
        raise ValueError("The two vectors are the same: there is no way between them.")
    return float((moved - start) @ way / length)


# --- The alignment of the tokens of two texts


@dataclass(frozen=True)
class Alignment:
    """Tokens of two texts, one to one and in order.

    Attributes:
        pairs: each a position in the first text and one in the second.
        same_length: True if both texts have equally many tokens, aligned by position.
        first_alone, second_alone: positions without a partner in the other text.
        equal: the indices of the pairs of equal tokens.
    """

    pairs: tuple[tuple[int, int], ...]
    same_length: bool
    first_alone: tuple[int, ...]
    second_alone: tuple[int, ...]
    equal: tuple[int, ...]

    @property
    def n_equal(self) -> int:
        """The number of pairs of equal tokens."""
        return len(self.equal)

    @property
    def turned(self) -> Alignment:
        """The alignment of the second text with the first."""
        return Alignment(
            tuple((j, i) for i, j in self.pairs),
            self.same_length,
            self.second_alone,
            self.first_alone,
            self.equal,
        )


def align(first: Tokens, second: Tokens) -> Alignment:
    """Align two tokenized texts, ignoring padding.

    Texts of equal length are aligned by position. Otherwise equal tokens in the same order are
    aligned (Ratcliff and Obershelp 1988, as in difflib), and so are the stretches between them if
    they have equal length.
    """
    ours, theirs = _ids(first), _ids(second)
    same_length = len(ours) == len(theirs)
    pairs = list(zip(range(len(ours)), range(len(theirs)), strict=False))
    if not same_length:
        pairs = _matched(ours, theirs)
    known, others = {i for i, _ in pairs}, {j for _, j in pairs}
    return Alignment(
        pairs=tuple(pairs),
        same_length=same_length,
        first_alone=tuple(i for i in range(len(ours)) if i not in known),
        second_alone=tuple(j for j in range(len(theirs)) if j not in others),
        equal=tuple(k for k, (i, j) in enumerate(pairs) if ours[i] == theirs[j]),
    )


def _ids(tokens: Tokens) -> list[int]:
    """The token IDs without padding, which follows everything else, so positions do not change."""
    token_ids: list[int] = tokens.token_ids[np.flatnonzero(tokens.attention_mask)].tolist()
    return token_ids


def _matched(ours: list[int], theirs: list[int]) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for _, i, i_end, j, j_end in matcher.get_opcodes():
        if i_end - i == j_end - j:
            pairs += zip(range(i, i_end), range(j, j_end), strict=True)
    return pairs
