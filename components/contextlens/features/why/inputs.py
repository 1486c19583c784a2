"""Shares traced down to the input tokens of both sentences, by integrated gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Figure

from contextlens.analysis.shares import Doubles, by_unit
from contextlens.content.language import Claim, claim, say
from contextlens.core import EncoderService
from contextlens.core.schema import Counted
from contextlens.features.why.charts import WordBar, word_bars
from contextlens.features.why.controls import UNIT, WORDS
from contextlens.features.why.explanation import Explanation, before_and_after, task_of
from contextlens.features.why.score import Score, Side
from contextlens.features.why.script import (
    COSINE,
    both_vectors,
    hooks,
    reader,
    script,
    side_arguments,
)
from contextlens.features.why.shares import CAPTIONS, largest_words, leading_words
from contextlens.features.why.shares import FORMULA as SHARES_FORMULA
from contextlens.features.why.word_rows import linked_words, word_row
from contextlens.figures.frames import signed_end
from contextlens.figures.word_rows import WordRows
from contextlens.jobs import Task
from contextlens.ui.panel import Rows
from contextlens.ui.state.view import ViewState

INPUTS_FORMULA = (
    SHARES_FORMULA
    + r"""
**Down to the input tokens.** Integrated gradients (Sundararajan, Taly and Yan 2017) of the score
over the embedding layer's output $x$, from a start $x^0$ to the sentence's own. At the start every
ordinary token has the word vector of padding; special tokens keep theirs, and positions, segments
and LayerNorm are the same. The other sentence stays as it is:

$$
s_i = (x_i - x_i^0) \cdot \int_0^1 \frac{\partial \cos}{\partial x_i}
\bigl(x^0 + t\,(x - x^0)\bigr) \, dt
$$

The shares add up to the score less the score at the start, but for what the steps of the integral
miss. They are called approximate if the errors on the pieces of the path add up to over 0.001.
"""
)
CONVERGED = 0.001
"""The most that the steps of integrated gradients may miss where shares can still be compared."""
_GRADIENT_RUNS = 3.0
"""The cost of a gradient, in plain runs."""
_N_STEPS = 64
"""The usual number of gradients for a sentence."""


@dataclass(frozen=True, eq=False)
class InputShares:
    """The contribution of each input token of one sentence, with the other sentence held fixed.

    Attributes:
        side: the sentence.
        shares: (n_tokens,) float64.
        by_word: (n_units,) float64 sums over the tokens of each of `side.units`.
        start: the cosine if every token that is not special has the word vector of padding.
        end: the cosine of the actual sentence: the score.
        remainder: `end - start` less the sum of the shares: the error of the steps.
        missed: the errors on all pieces of the path, which do not cancel out: at least `remainder`.
        n_steps: the number of steps, the same on each piece of the path.
        cuts: the ends of the pieces, in order, from 0 to 1.
    """

    side: Side
    shares: Doubles
    by_word: Doubles
    start: float
    end: float
    remainder: float
    missed: float
    n_steps: int
    cuts: tuple[float, ...]

    @property
    def is_rough(self) -> bool:
        """True if the steps were too few: they miss too much of the score."""
        return self.missed > CONVERGED

    def typed(self, unit: str) -> Doubles:
        """The shares of words or tokens; NaN for special tokens, which are the same on the path."""
        values = self.by_word if unit == WORDS else self.shares
        is_typed = [word.kind == "word" for word in linked_words(self.side, unit)]
        return np.where(np.array(is_typed, dtype=bool), values, np.nan)


@dataclass(frozen=True, eq=False)
class InputsResult(Explanation):
    """The input tokens of both sentences.

    Attributes:
        first, second: the shares in each sentence.
        unit: what is drawn: "words" or "tokens".
    """

    formula = INPUTS_FORMULA
    chart_code = """\
rows = [(name, i, v) for name, values in shares.items() for i, v in enumerate(values.tolist())]
px.bar(rows, x=1, y=2, facet_row=0, labels={"0": "sentence", "1": "token", "2": "share"})"""

    first: InputShares
    second: InputShares
    unit: str = WORDS

    @property
    def sides(self) -> tuple[InputShares, InputShares]:
        """Both sentences."""
        return self.first, self.second

    def in_view(self, view: ViewState) -> InputsResult:
        """Return the same shares with a view's unit."""
        return replace(self, unit=UNIT.of(view))

    def settings(self) -> Mapping[str, Any]:
        """Return the kind and number of steps."""
        steps = {inputs.side.letter: inputs.n_steps for inputs in self.sides}
        return {"integrated gradients": "Gauss-Legendre", "steps": steps}

    # Claims

    def title(self) -> Claim:
        """Return the leading typed word of each sentence, if each has just one."""
        rough = [inputs.n_steps for inputs in self.sides if inputs.is_rough]
        if rough:
            return claim("why.inputs.title.rough", n=max(rough))
        verdict, words = leading_words([(inputs.side, inputs.by_word) for inputs in self.sides])
        return claim(f"why.inputs.title.{verdict}", cosine=self.score.cosine, **words)

    def claims(self) -> Sequence[Claim]:
        """Return the typed words with the largest shares in each sentence."""
        claims = []
        for inputs in self.sides:
            verdict, numbers = largest_words(inputs.side, inputs.by_word)
            if inputs.is_rough:
                claims.append(claim("why.inputs.rough", cosine=inputs.end, **_steps(inputs)))
            else:
                claims.append(claim(f"why.inputs.{verdict}", cosine=inputs.end, **numbers))
        first, second = self.sides
        letters = {"a": first.side.letter, "b": second.side.letter}
        return [
            *claims,
            claim("why.inputs.start", first=first.start, second=second.start, **letters),
        ]

    def sure(self) -> Sequence[Claim]:
        """Return what the shares of each sentence add up to."""
        claims = []
        for inputs in self.sides:
            start, end, change = before_and_after(inputs.start, inputs.end - inputs.start)
            verdict = "rough" if inputs.is_rough else "whole"
            numbers = {"start": start, "end": end, "change": change, **_steps(inputs)}
            claims.append(claim(f"why.inputs.sum.{verdict}", **numbers))
        return claims

    # Pictures

    def word_rows(self) -> WordRows:
        """Return both sentences with the share of each typed word."""
        values = [inputs.typed(self.unit) for inputs in self.sides]
        first, second = map(word_row, self.score.sides, (self.unit, self.unit), values)
        captions = replace(CAPTIONS, between="", hint=say("why.inputs.hint"))
        return WordRows(first, second, captions, end=signed_end(*values))

    @property
    def detail(self) -> str:
        """The name of the bars."""
        return say("why.detail.words")

    def figure(self) -> Figure:
        """Return the strongest typed words as bars."""
        bars = [
            WordBar(word.label, inputs.side.letter, float(value))
            for inputs in self.sides
            for word, value in zip(
                linked_words(inputs.side, self.unit), inputs.typed(self.unit), strict=True
            )
            if not np.isnan(value)
        ]
        return word_bars(bars, quantity=say("why.inputs.quantity"), title=str(self.title()))

    def alt(self) -> str:
        """Return the finding, and what the bars show."""
        return say("why.inputs.alt", title=str(self.title()))

    # Files

    def rows(self) -> Rows:
        """Return a row for each token."""
        return [
            {
                "sentence": inputs.side.letter,
                "position": i,
                "token": label,
                "share": float(share),
                "start": inputs.start,
                "end": inputs.end,
                "remainder": inputs.remainder,
                "missed by steps": inputs.missed,
                "steps": inputs.n_steps,
            }
            for inputs in self.sides
            for i, (label, share) in enumerate(zip(inputs.side.labels, inputs.shares, strict=True))
        ]

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return the shares of each sentence, and the ends of its path."""
        arrays: dict[str, NDArray[Any]] = {}
        for name, inputs in zip(("first", "second"), self.sides, strict=True):
            ends = np.array([inputs.start, inputs.end, inputs.remainder])
            arrays |= {f"{name}_shares": inputs.shares, f"{name}_start_end_remainder": ends}
        return arrays

    def snippet(self) -> str:
        """Return a script that computes `shares` and `ends` of both sentences."""
        score = self.score
        body = _SCRIPT.format(
            max_length=score.card.max_length,
            segments=" return_token_type_ids=True," if score.card.has_segments else "",
            layer=score.layer,
            one=side_arguments(score.first, score.vector_kind),
            other=side_arguments(score.second, score.vector_kind),
            first_cuts=_cuts(self.first),
            n_first=_steps_of_piece(self.first),
            second_cuts=_cuts(self.second),
            n_second=_steps_of_piece(self.second),
        )
        parts = (reader(score), hooks(score.card), COSINE, both_vectors(score), body)
        return script(score.card, *parts, imports=("itertools", "numpy"))


def _steps(inputs: InputShares) -> dict[str, Any]:
    """The numbers of a claim about the path of one sentence."""
    letter = inputs.side.letter
    return {"letter": letter, "n": inputs.n_steps, "missed": inputs.missed}


def _cuts(inputs: InputShares) -> str:
    return f"({', '.join(f'{cut:g}' if cut in (0, 1) else repr(cut) for cut in inputs.cuts)})"


def _steps_of_piece(inputs: InputShares) -> int:
    return inputs.n_steps // (len(inputs.cuts) - 1)


# --- The work


def task(_: ViewState, score: Score, service: EncoderService, *, token_seconds: float) -> Task:
    """Return the job that traces the score; `token_seconds` is the duration of a token in a run."""
    n_tokens = sum(side.encoding.n_tokens for side in score.sides)
    return task_of(
        ("integrated", score.key),
        "Following the shares down to the tokens",
        partial(trace_inputs, score, service),
        _GRADIENT_RUNS * _N_STEPS * n_tokens * token_seconds,
    )


def trace_inputs(
    score: Score, service: EncoderService, *, progress: Counted | None = None
) -> InputsResult:
    """Trace the score down to the input tokens, for each sentence against the other.

    Args:
        score: the score to explain.
        service: runs the model and its gradients.
        progress: receives the progress in hundredths; an exception that it raises ends the work.
    """
    first, second = score.sides
    return InputsResult(
        score.lean,
        _input_shares(score, first, second, service, _half_counter(0, progress)),
        _input_shares(score, second, first, service, _half_counter(1, progress)),
    )


def _input_shares(
    score: Score, side: Side, other: Side, service: EncoderService, progress: Counted | None
) -> InputShares:
    encoding = side.encoding
    gradients = service.integrated_gradients(
        score.card.id,
        encoding.text,
        side.weights.astype(np.float32),
        other.vector(score.layer).astype(np.float32),
        pair=encoding.pair,
        layer=score.layer,
        progress=progress,
    )
    return InputShares(
        side=side.lean,
        shares=gradients.shares,
        by_word=by_unit(gradients.shares, side.units),
        start=gradients.start,
        end=gradients.end,
        remainder=gradients.remainder,
        missed=gradients.missed,
        n_steps=gradients.steps,
        cuts=gradients.cuts,
    )


def _half_counter(half: int, progress: Counted | None) -> Counted | None:
    """A counter that counts one of two halves of the work as fifty of a hundred."""
    if progress is None:
        return None
    highest = 0

    def count(done: int, n: int) -> None:  # where more steps are added, the share would go back
        nonlocal highest
        highest = max(highest, round(50 * done / max(n, 1)))
        progress(50 * half + highest, 100)

    return count


_SCRIPT = """
def integrated(text, toward, cuts, n_steps, **how):
    \"\"\"What each token adds to the cosine with `toward`, from padding in its place on.\"\"\"
    table = model.get_input_embeddings()
    batch = tokenizer(
        text, how.get("pair"), truncation="longest_first", max_length={max_length},
        return_special_tokens_mask=True, return_tensors="pt",{segments}
    )
    is_own = batch.pop("special_tokens_mask")[0, :, None] == 0
    states, counts = read(text, **how)
    padded = table.weight[tokenizer.pad_token_id].detach()
    hook = table.register_forward_hook(lambda _, given, rows: torch.where(is_own, padded, rows))
    start = read(text, **how)[0][0]  # layer 0 with [PAD]'s word vectors
    hook.remove()

    def value(x):
        \"\"\"The cosine where layer 0 is `x`.\"\"\"
        if {layer} == 0:
            top = x
        else:
            hook = at(0, lambda _: x[None])
            top = model(**batch, output_hidden_states=True).hidden_states[{layer}][0]
            hook.remove()
        return torch.cosine_similarity(top[counts].double().mean(dim=0), toward, dim=0)

    way, slopes = states[0] - start, 0
    for low, high in itertools.pairwise(cuts):  # more steps where the cosine changes fast
        for node, weight in zip(*numpy.polynomial.legendre.leggauss(n_steps)):
            x = (start + (low + (high - low) * (node + 1) / 2) * way).clone().requires_grad_()
            slope = torch.autograd.grad(value(x), x)[0].double()
            slopes = slopes + (high - low) * weight / 2 * slope
    with torch.no_grad():
        ends = float(value(start)), float(value(states[0]))
    return (slopes * way).sum(dim=1), ends


shares, ends = {{}}, {{}}
shares["first"], ends["first"] = integrated(
    {one}, toward=b, cuts={first_cuts}, n_steps={n_first}
)
shares["second"], ends["second"] = integrated(
    {other}, toward=a, cuts={second_cuts}, n_steps={n_second}
)
for name, values in shares.items():
    start, end = ends[name]
    print(name, values, "sum:", values.sum(), "of", end - start)
"""
