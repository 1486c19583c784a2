"""Closer look "Back to text": a text decoded from its IDs, and what was lost on the way."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from contextlens.content.language import Claim, claim, say, table
from contextlens.core import EncoderService
from contextlens.features.tokens.rewriting import (
    Change,
    Fate,
    Stretch,
    find_changes,
    split_by_fate,
)
from contextlens.features.tokens.tokenized_sentence import TokenizedSentence
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState

_MARKS: dict[Fate, str] = {
    "kept": "{}",
    "rewritten": "<mark>{}</mark>",
    "unknown": "<mark>{}</mark>",
    "lost": "<del>{}</del>",
}


@dataclass(frozen=True, eq=False)
class RoundTrip(Panel):
    """A text that was encoded as IDs and decoded again.

    Attributes:
        text: the text as typed.
        decoded: the text decoded from the IDs.
        changes: the ways in which the tokenizer rewrote its characters.
        stretches: the whole text, split where the fate of its characters changes.
        n_unknown: the number of unknown tokens.
    """

    text: str
    decoded: str
    changes: list[Change]
    stretches: list[Stretch]
    n_unknown: int

    @property
    def n_rewritten(self) -> int:
        """The number of rewritten characters."""
        return sum(change.count for change in self.changes)

    @property
    def n_lost(self) -> int:
        """The number of characters lost because the text was truncated."""
        return sum(len(part.text) for part in self.stretches if part.fate == "lost")

    def claims(self) -> list[Claim]:
        """Return the difference between the decoded and the typed text, and two causes."""
        return self._verdicts()[:3]

    def sure(self) -> list[Claim]:
        """Return further causes."""
        return self._verdicts()[3:]

    def _verdicts(self) -> list[Claim]:
        text, decoded = self.text, self.decoded
        if not text:
            return [claim("tokens.back.empty")]
        if decoded == text:
            return [claim("tokens.back.same")]
        counts: dict[Literal["rewritten", "unknown", "lost"], int] = {
            "rewritten": self.n_rewritten,
            "unknown": self.n_unknown,
            "lost": self.n_lost,
        }
        causes = [claim(f"tokens.back.{cause}", n=n) for cause, n in counts.items() if n]
        if not decoded:
            return [claim("tokens.back.nothing"), *causes]
        if not causes and "".join(decoded.split()) == "".join(text.split()):
            return [claim("tokens.back.spaces")]
        return [claim("tokens.back.differs"), *causes]

    def rows(self) -> list[Mapping[str, str | int]]:
        """Return the ways in which the tokenizer rewrote characters, with an example each."""
        names = table("tokens.column")
        return [
            {
                names["change"]: table("tokens.change")[change.way],
                names["before"]: _printable(change.before),
                names["after"]: _printable(change.after),
                names["count"]: change.count,
            }
            for change in self.changes
        ]


def round_trips(
    view: ViewState, service: EncoderService, tokenized: TokenizedSentence
) -> list[RoundTrip]:
    """Return the round trip to IDs and back, of the text and of its pair if it has one."""
    texts = [tokenized.tokens.text, *filter(None, [tokenized.tokens.pair])]
    return [_round_trip(view, service, tokenized, text_id) for text_id in range(len(texts))]


def _round_trip(
    view: ViewState, service: EncoderService, tokenized: TokenizedSentence, text_id: int
) -> RoundTrip:
    tokens, vocabulary = tokenized.tokens, tokenized.vocabulary
    normalize = partial(service.normalize, view.model)
    in_text = tokens.text_ids == text_id
    return RoundTrip(
        text=tokens.text if text_id == 0 else tokens.pair or "",
        decoded=service.decode(view.model, tokens.token_ids[in_text]),
        changes=find_changes(tokens, vocabulary, text_id, normalize),
        stretches=split_by_fate(tokens, vocabulary, text_id, normalize),
        n_unknown=sum(tokenized.kinds[i] == "unknown" for i in np.flatnonzero(in_text)),
    )


def there_and_back(parts: Sequence[tuple[str, Fate]], decoded: str) -> str:
    """Return a text with its rewritten or lost parts marked, and the decoded text, as escaped HTML.

    Args:
        parts: the whole text in stretches, and the fate of each.
        decoded: the text decoded from the IDs.
    """
    typed = "".join(_MARKS[fate].format(html.escape(text)) for text, fate in parts)
    return (
        f'<div class="back"><span>{say("tokens.page.typed")}</span><p>{typed}</p>'
        f"<span>{say('tokens.page.back')}</span><p>{html.escape(decoded)}</p></div>"
    )


def _printable(text: str) -> str:
    """Return the characters, or their codes if they are invisible."""
    if text.isprintable() and text.strip():
        return text
    return " ".join(f"U+{ord(c):04X}" for c in text) or say("tokens.change.nothing")
