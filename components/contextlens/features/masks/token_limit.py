"""Closer look: a text at the model's limit, repeated until it is cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import Tokens
from contextlens.core.words import with_marks
from contextlens.features.masks.controls import REPEAT, repeat_within
from contextlens.features.masks.padded_batch import PaddedText
from contextlens.figures.theme import CATEGORICAL, NEUTRAL, figure
from contextlens.ui.panel import Panel
from contextlens.ui.state.controls import Number
from contextlens.ui.state.view import MAX_CHARACTERS

_MAX_QUOTE_LENGTH = 40


@dataclass(frozen=True, eq=False)
class TokenLimit(Panel):
    """A text that reaches or exceeds the model's limit.

    Attributes:
        tokens: the text as the tokenizer cuts it.
        limit: the model's maximum number of tokens.
        n_positions: positions of a text for which the model has a vector; None if unknown.
    """

    tokens: Tokens
    limit: int
    n_positions: int | None

    def title(self) -> Claim:
        """Return the number of the text's tokens that fit."""
        n_fit, n_cut = self.tokens.n_tokens, self.tokens.n_truncated
        if not n_cut:
            return claim("masks.limit.title_fits", n=n_fit)
        return claim("masks.limit.title_cut", total=n_fit + n_cut, kept=n_fit, n=n_cut)

    def claims(self) -> list[Claim]:
        """Return the model's treatment of the text."""
        tokens, n_cut = self.tokens, self.tokens.n_truncated
        claims = [claim("masks.limit.total", n=tokens.n_tokens + n_cut, limit=self.limit)]
        if not n_cut:
            return claims
        rest = tokens.text[with_marks(tokens.text, int(tokens.offsets[:, 1].max())) :]
        key = "masks.limit.lost_from" if rest.strip() else "masks.limit.lost"
        claims.append(claim(key, n=n_cut, rest=quoted(rest, _MAX_QUOTE_LENGTH)))
        if self.n_positions is not None:
            claims.append(claim("masks.limit.positions", n=self.n_positions))
        return claims

    def alt(self) -> str:
        """Return a description of the bar."""
        return say("masks.limit.alt", title=str(self.title()))

    def figure(self) -> go.Figure:
        """Return the text as a bar of tokens, the part beyond the limit hatched."""
        n_fit, n_cut, limit = self.tokens.n_tokens, self.tokens.n_truncated, self.limit
        hatch = {"shape": "/", "fgcolor": CATEGORICAL[3], "size": 7, "solidity": 0.3}
        cut = {"color": "rgba(128,128,128,0.07)", "pattern": hatch}
        traces = [_bar(say("masks.limit.bar_fit", n=n_fit), 0, n_fit, {"color": CATEGORICAL[0]})]
        if n_cut:
            traces.append(_bar(say("masks.limit.bar_cut", n=n_cut), n_fit, n_cut, cut))
        edge = {"x0": limit, "x1": limit, "y0": 0, "y1": 1, "yref": "paper", "type": "line"}
        layout = {
            "barmode": "overlay",
            "xaxis": {
                "title": {"text": say("masks.limit.axis")},
                "range": [0, 1.04 * max(limit, n_fit + n_cut)],
                "showgrid": False,
                "zeroline": False,
            },
            "yaxis": {"visible": False},
            "shapes": [{**edge, "line": {"color": NEUTRAL, "width": 2, "dash": "dot"}}],
            "margin": {"l": 8, "r": 8, "t": 36, "b": 44},
        }
        return figure(traces, layout, title=str(self.title()), height=130)


def repetition(service: EncoderService, card: ModelCard, row: PaddedText) -> Number:
    """Return the number of repetitions of the first text; by default a fifth above the limit."""
    text, limit = row.alone.text, card.max_length
    tokens = service.tokenize(card.id, [text])[0]
    total = tokens.n_tokens + tokens.n_truncated
    body = max(1, total - int(tokens.special_tokens_mask.sum()))
    maximum = max(1, min(REPEAT.high, 10 * MAX_CHARACTERS // (len(text) + 1)))
    default = 1 if total > limit else min(maximum, -(-6 * limit // (5 * body)))
    return repeat_within(row.label, default, maximum, has_pair=row.alone.pair is not None)


def token_limit(service: EncoderService, card: ModelCard, tokens: Tokens, times: int) -> TokenLimit:
    """Return the first text repeated several times, as this model's tokenizer cuts it."""
    text = " ".join([tokens.text] * times)
    return TokenLimit(
        tokens=service.tokenize(card.id, [text])[0],
        limit=card.max_length,
        n_positions=_n_positions(service, card, tokens.text),
    )


def _n_positions(service: EncoderService, card: ModelCard, text: str) -> int | None:
    """Return the number of position vectors, starting at that of the first position in a text."""
    named = (p for p in service.parameters(card.id) if "position_embeddings" in p.name)
    table, rows = next(named, None), service.embedding_parts(card.id, text).position_ids
    return None if table is None or rows is None else table.shape[0] - int(rows[0])


def _bar(on_hover: str, start: int, n: int, marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "x": [n],
        "base": [start],
        "y": [0],
        "marker": marker,
        "hovertemplate": f"{on_hover}<extra></extra>",
    }
