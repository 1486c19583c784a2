"""Closer look "Next sentence": would the second sentence follow the first, to the model's own head?

Only BERT was trained to answer this, on pairs of which half were random (Devlin et al. 2019).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.analysis.tokens import kinds
from contextlens.content.bundled_texts import baseline_sentences
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, percent
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import Tokens, Vocabulary
from contextlens.figures.margins import beside
from contextlens.figures.theme import NEUTRAL, color_of, figure, values
from contextlens.ui.panel import Panel, Rows
from contextlens.ui.state.view import ViewState, letter

FORMULA = r"""
**Next sentence.** BERT reads both sentences together. With $u$ the pooler's output, and $W$ and $b$
the weights of the head:

$$p(\text{the second follows}) = \mathrm{softmax}(W u + b)_0$$

The head was trained on pairs of which half were neighbours in a text, and half were random.
**Unrelated sentences** are pairs of the app's own English sample, each sentence with one far
from it in the list.
""".strip()

N_UNRELATED = 40
"""Pairs of unrelated sentences that the answer is compared with."""


@dataclass(frozen=True, eq=False)
class NextSentence(Panel):
    """The answers for two sentences in both orders; only a card and a problem if there are none.

    Attributes:
        card: the model's card.
        problem: the reason why there is no answer.
        letters: the letters of both sentences.
        texts: both sentences.
        probabilities: (2,) that the second follows the first, and that the first follows the
            second.
        unrelated: the probabilities of unrelated pairs.
        remarks: on what the model did not read.
    """

    formula = FORMULA

    card: ModelCard
    problem: Claim | None = None
    letters: tuple[str, str] = ("A", "B")
    texts: tuple[str, str] = ("", "")
    probabilities: tuple[float, float] | None = None
    unrelated: tuple[float, ...] = ()
    remarks: tuple[Claim, ...] = ()

    @property
    def usual(self) -> float:
        """The average probability of unrelated pairs."""
        return float(np.mean(self.unrelated))

    def title(self) -> str:
        """Return the answer in short, as plain text."""
        return str(self.claims()[0]).replace("**", "") if self.problem is None else ""

    def claims(self) -> list[Claim]:
        """Return the answer for both orders, and a caution with unrelated pairs."""
        if self.probabilities is None:
            return [] if self.problem is None else [self.problem]
        first, second = self.letters
        (forward, backward), names = self.probabilities, {"first": first, "second": second}
        n, of = sum(value > 0.5 for value in self.unrelated), len(self.unrelated)
        return [
            claim(
                f"blank.next_sentence.{'yes' if forward > 0.5 else 'no'}",
                probability=forward,
                **names,
            ),
            claim("blank.next_sentence.reverse", probability=backward, **names),
            claim(f"blank.next_sentence.{'often' if n > of / 2 else 'seldom'}", n=n, of=of),
        ]

    def sure(self) -> list[Claim]:
        """Return the average probability of unrelated pairs."""
        if self.probabilities is None:
            return []
        return [claim("blank.next_sentence.unrelated", probability=self.usual)]

    def notes(self) -> Sequence[Claim]:
        """Return remarks on what the model did not read."""
        return self.remarks

    def alt(self) -> str:
        """Return a description of the bars."""
        return say("blank.next_sentence.alt", title=self.title())

    def figure(self) -> go.Figure | None:
        """Return the probabilities as bars, beside the average of unrelated pairs."""
        if self.probabilities is None:
            return None
        bars = np.array([*self.probabilities, self.usual])
        names = [*self._orders(), say("blank.next_sentence.usual")]
        trace = {
            "type": "bar",
            "orientation": "h",
            "x": values(bars),
            "y": names,
            "width": 0.6,
            "marker": {"color": [color_of(0), color_of(0), NEUTRAL]},
            "text": [percent(float(value)) for value in bars],
            "textposition": "outside",
            "cliponaxis": False,
            "hovertemplate": "%{y}<br>%{x:.4f}<extra></extra>",
        }
        layout = {
            "xaxis": {
                "title": {"text": say("blank.next_sentence.axis")},
                "range": [0, 1],
                "tickformat": ".0%",
                "nticks": 5,
                "zeroline": False,
            },
            "yaxis": {"autorange": "reversed", "showgrid": False},
            "margin": {"l": beside(names), "r": 76, "t": 8},
        }
        return figure([trace], layout, title="", height=220)

    def _orders(self) -> list[str]:
        first, second = self.letters
        return [
            say("blank.next_sentence.order", first=first, second=second),
            say("blank.next_sentence.order", first=second, second=first),
        ]

    def rows(self) -> Rows:
        """Return a row for each order."""
        if self.probabilities is None:
            return ()
        return [
            {"order": order, "first": first, "second": second, "probability": probability}
            for order, first, second, probability in zip(
                self._orders(), self.texts, self.texts[::-1], self.probabilities, strict=True
            )
        ]

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return the probabilities of both orders, and of unrelated pairs."""
        if self.probabilities is None:
            return {}
        arrays = {"follows": self.probabilities, "unrelated_follow": self.unrelated}
        return {name: np.array(numbers) for name, numbers in arrays.items()}

    def snippet(self) -> str:
        """Return a script that leaves `follows`, a list for both orders."""
        if self.probabilities is None:
            return ""
        model = "BertForNextSentencePrediction"
        lines = [
            "import torch",
            f"from transformers import AutoTokenizer, {model}",
            "",
            *(line.replace("AutoModel.", f"{model}.") for line in load_lines(self.card)),
            "",
            f"first = {literal(self.texts[0])}",
            f"second = {literal(self.texts[1])}",
        ]
        return "\n".join(lines) + "\n" + _SCRIPT.format(max_length=self.card.max_length)


_SCRIPT = """\
follows = []
for texts in ((first, second), (second, first)):
    batch = tokenizer(
        *texts, truncation=True, max_length={max_length}, return_token_type_ids=True,
        return_tensors="pt",
    )
    with torch.inference_mode():
        logits = model(**batch).logits[0]
    follows.append(float(logits.softmax(dim=-1)[0]))  # index 0 stands for "follows"
print(follows)
"""


def next_sentence(view: ViewState, service: EncoderService, card: ModelCard) -> NextSentence:
    """Return the model's answer for the first two sentences, without their second texts."""
    for part in (card.provenance.next_head, card.provenance.pooler):
        if part.state != "trained":
            reason = escape(part.reason)
            return NextSentence(card, claim("blank.next_sentence.absent", reason=reason))
    if len(view.sentences) < 2:
        return NextSentence(card, claim("blank.next_sentence.alone"))
    first, second = (sentence.text for sentence in view.sentences[:2])
    (tokens,) = service.tokenize(view.model, [first], pairs=[second])
    for i in (0, 1):
        if not (tokens.text_ids == i).any():
            return NextSentence(card, claim("blank.next_sentence.empty", letter=letter(i)))
    forward, backward = service.follows(view.model, [first, second], [second, first])
    sample = baseline_sentences()
    others = sample[len(sample) // 2 :]
    unrelated = service.follows(view.model, sample[:N_UNRELATED], others[:N_UNRELATED])
    has_pair = any(sentence.pair is not None for sentence in view.sentences[:2])
    return NextSentence(
        card,
        letters=(letter(0), letter(1)),
        texts=(first, second),
        probabilities=(forward, backward),
        unrelated=tuple(unrelated),
        remarks=tuple(_remarks(tokens, service.vocabulary(view.model), has_pair=has_pair)),
    )


def _remarks(tokens: Tokens, vocabulary: Vocabulary, *, has_pair: bool) -> Iterator[Claim]:
    if n := kinds(tokens, vocabulary).count("unknown"):
        yield claim("blank.next_sentence.note.unknown", n=n)
    if tokens.n_truncated:
        yield claim("blank.next_sentence.note.cut", n=tokens.n_truncated)
    if has_pair:
        yield claim("blank.next_sentence.note.pair")
