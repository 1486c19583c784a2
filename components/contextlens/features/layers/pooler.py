"""Closer look "Pooler": its output, computed again from its weights, and sentences by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.similarity import cosine_matrix
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray
from contextlens.features.layers.hidden_states import HiddenStates, encode_all, encoding_snippet
from contextlens.figures.frames import vector_strips
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState, letter

FORMULA = r"""
With $x$ the first token's vector after the last layer, $W$ and $b$ the pooler's weights:

$$\mathrm{pooler\_output} = \tanh(W x + b)$$
""".strip()

_EXACT = 1e-5  # the float32 difference between two computations of the same value


@dataclass(frozen=True, eq=False)
class Pooler(Panel):
    """The pooler's output for one text, and its arithmetic; only a card if there is no pooler.

    Attributes:
        card: the model's card.
        output: (n_dims,) the model's own pooler output.
        first: (n_dims,) the pooler's input, and
        first_name: its token and layer.
        linear: (n_dims,) W x + b; None if the weights are unavailable.
        pooled: (n_dims,) tanh of `linear`.
        not_computed: the reason why the weights are unavailable.
        sentences: a row for each two sentences: their similarity, computed in three ways.
        code: a script with the same numbers.
    """

    formula = FORMULA

    card: ModelCard
    output: FloatArray | None = None
    first: FloatArray | None = None
    first_name: str = ""
    linear: FloatArray | None = None
    pooled: FloatArray | None = None
    not_computed: str = ""
    sentences: Sequence[Mapping[str, str | float]] = ()
    code: str = ""

    @property
    def difference(self) -> float | None:
        """The largest difference from the model's own output, if both are known."""
        if self.output is None or self.pooled is None:
            return None
        return float(np.abs(self.pooled - self.output).max())

    def claims(self) -> list[Claim]:
        """Return the training of this model's pooler; first, a computation that disagrees."""
        pooler = self.card.provenance.pooler
        if pooler.state != "trained":
            training = claim(f"layers.pooler.{pooler.state}", reason=escape(pooler.reason))
        else:
            family = self.card.family if self.card.family in ("bert", "albert") else "other"
            training = claim(f"layers.pooler.trained.{family}")
        difference = self.difference
        if difference is not None and difference > _EXACT:
            return [claim("layers.pooler.off", difference=difference), training]
        return [training]

    def sure(self) -> list[Claim]:
        """Return the agreement of both computations."""
        difference = self.difference
        if difference is None or difference > _EXACT:
            return []
        return [claim("layers.pooler.close", difference=difference)]

    def notes(self) -> list[Claim]:
        """Return the reason why the output was not computed from the weights."""
        if not self.not_computed:
            return []
        return [claim("layers.pooler.not_computed", reason=escape(self.not_computed))]

    def steps(self) -> dict[str, FloatArray]:
        """Return the steps from the first token's vector to the pooler output, by name."""
        steps = {
            self.first_name: self.first,
            "W x + b": self.linear,
            "tanh, by hand": self.pooled,
            "model's own": self.output,
        }
        return {name: vector for name, vector in steps.items() if vector is not None}

    def alt(self) -> str:
        """Return a description of the steps."""
        title = say("layers.pooler.title")
        return say("layers.pooler.alt", title=title, steps=", ".join(self.steps()))

    def figure(self) -> go.Figure | None:
        """Return the steps as strips."""
        if self.output is None:
            return None
        steps, title = self.steps(), say("layers.pooler.title")
        return vector_strips(np.stack(list(steps.values())), list(steps), title=title, height=260)

    def rows(self) -> Sequence[Mapping[str, str | float]]:
        """Return the similarity of each two sentences."""
        return self.sentences

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the model's pooler output, and the one computed from the weights."""
        outputs = {"pooler_output": self.output, "pooler_by_hand": self.pooled}
        return {name: vector for name, vector in outputs.items() if vector is not None}

    def snippet(self) -> str:
        """Return a script with the same numbers."""
        return self.code


def pooler_of(view: ViewState, states: HiddenStates, service: EncoderService) -> Pooler:
    """Return the pooler's output and its arithmetic for a sentence."""
    card, encoding = states.card, states.encoding
    if encoding.pooler_output is None:
        return Pooler(card)
    first = encoding.hidden[-1, 0]
    parameters = [parameter.name for parameter in service.parameters(card.id)]
    weight = next(n for n in parameters if n.startswith("pooler.") and n.endswith(".weight"))
    layer = weight.removesuffix(".weight")  # its name depends on the family
    linear, reason = None, ""
    try:
        linear = service.matrix(card.id, weight) @ first + service.matrix(card.id, f"{layer}.bias")
    except RequestError as exc:  # too large to be sent
        reason = str(exc)
    return Pooler(
        card,
        output=encoding.pooler_output,
        first=first,
        first_name=f"{states.labels[0]}, layer {encoding.layers[-1]}",
        linear=linear,
        pooled=None if linear is None else np.tanh(linear),
        not_computed=reason,
        sentences=sentence_rows(encode_all(view, service)),
        code=pooler_snippet(card, encoding.text, encoding.pair, layer),
    )


def sentence_rows(encodings: Sequence[Encoding]) -> list[dict[str, str | float]]:
    """Return the similarity of the sentences by pooler output, by first token and by mean."""
    kinds = {
        "by pooler output": [e.pooler_output for e in encodings],
        "by first token": [e.hidden[-1, 0] for e in encodings],
        "by mean of tokens": [e.hidden[-1].mean(axis=0) for e in encodings],
    }
    cosines = {
        name: cosine_matrix(np.stack([v for v in vectors if v is not None]))
        for name, vectors in kinds.items()
    }
    return [
        {
            "sentences": f"{letter(i)} ~ {letter(j)}",
            **{name: float(matrix[i, j]) for name, matrix in cosines.items()},
        }
        for i, j in combinations(range(len(encodings)), 2)
    ]


def pooler_snippet(card: ModelCard, text: str, pair: str | None, layer: str) -> str:
    """Return a script that leaves `by_hand` and `by_model`, (dims,).

    Args:
        card: the model's card.
        text: the text.
        pair: a second text, if any.
        layer: the name of the pooler's linear layer.
    """
    lines = [
        f"linear = model.{layer}",
        "with torch.inference_mode():",
        "    by_hand = torch.tanh(linear.weight @ hidden[-1, 0] + linear.bias)",
        "by_model = output.pooler_output[0]",
        "print((by_hand - by_model).abs().max())",
    ]
    return encoding_snippet(card, text, pair) + "\n".join(lines) + "\n"
