"""The tokens of the chosen sentence: their kinds, what is said of them, their drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.analysis.tokens import TokenKind, cut_words, kinds, labels, source
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, named_character, quoted
from contextlens.core import EncoderService
from contextlens.core.schema import ModelCard, Passport, TokenizerCard, Tokens, Vocabulary
from contextlens.core.words import split_words
from contextlens.features.tokens.controls import (
    HIDE,
    MAX_NAMED_PIECES,
    PICKED,
    SENTENCE,
    cut_within,
    pad_within,
)
from contextlens.features.tokens.rewriting import Change, find_changes
from contextlens.figures.svg import HEIGHT, WIDTH, drawing, fitted, text_at, text_width
from contextlens.ui.state.controls import sentence_index
from contextlens.ui.state.view import Sentence, ViewState
from contextlens.ui.widgets.unread import unknown_reason

FORMULA = r"""
**Special tokens.** One text becomes `[CLS] text [SEP]`, a pair `[CLS] first [SEP] second [SEP]`;
other model families have other special tokens. The segment of the second text is 1 in models that
have segments.

**Padding and mask.** Padding adds pad tokens up to a length $N$; the attention mask is 1 for real
tokens and 0 for padding.

**Truncation.** Where a text has more than $N$ tokens, special tokens included, its end is left out.
In a pair, the longer text is shortened first.
""".strip()

_LARGE, _SIZE, _SMALL = 17, 14, 11
_MAX_LABEL_WIDTH = 210  # in pixels
_ROW = 58


@dataclass(frozen=True, eq=False)
class TokenizedSentence:
    """The tokens of one sentence.

    Attributes:
        index: the sentence's index.
        max_length: the number of tokens after which a text is truncated.
        pad_to: the number of tokens after padding; None if the text was not padded.
        requested_pad: the length that the reader asked to pad to; 0 for none.
        kinds, labels: the kind of each token, and the text written on it.
        reasons: the reasons why tokens are unknown, by position.
        changes: the ways in which the tokenizer rewrote the characters of the text and its pair.
        picked: the position of the picked token.
        special: True if added tokens are shown.
    """

    index: int
    sentence: Sentence
    card: TokenizerCard
    vocabulary: Vocabulary
    tokens: Tokens
    max_length: int
    pad_to: int | None
    requested_pad: int
    kinds: tuple[TokenKind, ...]
    labels: tuple[str, ...]
    reasons: Mapping[int, str]
    changes: tuple[Change, ...]
    picked: int
    special: bool

    @property
    def passport(self) -> Passport:
        """The passport: what is needed to reproduce these tokens."""
        padding = {} if self.pad_to is None else {"pad_to": self.pad_to}
        return Passport(
            model=self.card.id,
            revision=self.card.revision,
            checksum=self.card.checksum,
            precision="exact",
            versions=self.card.versions,
            settings={"checksum_of": "tokenizer files", "max_length": self.max_length, **padding},
        )

    @property
    def unknown_name(self) -> str:
        """The tokenizer's unknown token, empty if it has none."""
        unknown_id = self.vocabulary.unknown_id
        return "" if unknown_id is None else self.vocabulary.pieces[unknown_id]

    @property
    def picked_id(self) -> int:
        """The ID of the picked token."""
        return int(self.tokens.token_ids[self.picked])

    @property
    def title(self) -> str:
        """The text, followed by its pair."""
        return " / ".join(filter(None, (self.tokens.text, self.tokens.pair)))

    @property
    def boxes(self) -> list[tuple[str, int, bool]]:
        """For each visible token: its label, its ID, and True if it was added."""
        added = [kind in ("special", "padding") for kind in self.kinds]
        boxes = zip(self.labels, self.tokens.token_ids.tolist(), added, strict=True)
        return [box for box in boxes if self.special or not box[2]]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays and texts of the sentence, for a download."""
        tokens = self.tokens
        segments = tokens.token_type_ids
        return {
            "token_ids": tokens.token_ids,
            "attention_mask": tokens.attention_mask,
            "special_tokens_mask": tokens.special_tokens_mask,
            "offsets": tokens.offsets,
            "tokens": np.array(tokens.tokens),
            "text": np.array(tokens.text),
            "pair": np.array(tokens.pair or ""),
            **({} if segments is None else {"token_type_ids": segments}),
        }


def tokenized_sentence(
    view: ViewState, service: EncoderService, card: TokenizerCard
) -> TokenizedSentence:
    """Tokenize the chosen sentence with the settings of the controls."""
    index = sentence_index(view, SENTENCE)
    sentence = view.sentences[index]
    max_length, requested = cut_within(card, sentence).of(view), pad_within(card).of(view)
    tokens = tokens_of(service, view.model, sentence, max_length=max_length)
    pad_to = requested if requested > tokens.n_tokens else None
    if pad_to is not None:
        tokens = tokens_of(service, view.model, sentence, max_length=max_length, pad_to=pad_to)
    vocabulary = service.vocabulary(view.model)
    token_kinds = kinds(tokens, vocabulary)
    return TokenizedSentence(
        index=index,
        sentence=sentence,
        card=card,
        vocabulary=vocabulary,
        tokens=tokens,
        max_length=max_length,
        pad_to=pad_to,
        requested_pad=requested,
        kinds=token_kinds,
        labels=labels(tokens, vocabulary),
        reasons=_reasons(service, view.model, tokens, vocabulary, token_kinds),
        changes=tuple(_changes(service, view.model, tokens, vocabulary)),
        picked=_picked_token(view, sentence, tokens),
        special=not HIDE.of(view),
    )


def tokens_of(
    service: EncoderService,
    model: str,
    sentence: Sentence,
    *,
    max_length: int | None = None,
    pad_to: int | None = None,
) -> Tokens:
    """Return the tokens of a sentence, and of its pair if it has one, by a model's tokenizer."""
    pairs = None if sentence.pair is None else [sentence.pair]
    texts = [sentence.text]
    return service.tokenize(model, texts, pairs=pairs, pad_to=pad_to, max_length=max_length)[0]


def _reasons(
    service: EncoderService,
    model: str,
    tokens: Tokens,
    vocabulary: Vocabulary,
    token_kinds: Sequence[TokenKind],
) -> dict[int, str]:
    unknown = [i for i, kind in enumerate(token_kinds) if kind == "unknown"]
    normalized = service.normalize(model, [source(tokens, i) for i in unknown])
    return {
        i: str(unknown_reason(text.strip(), vocabulary))
        for i, text in zip(unknown, normalized, strict=True)
    }


def _changes(
    service: EncoderService, model: str, tokens: Tokens, vocabulary: Vocabulary
) -> list[Change]:
    """Return the changes of characters in both texts; for each way, the first example."""
    merged: dict[str, Change] = {}
    for text_id in (0, 1):
        for change in find_changes(tokens, vocabulary, text_id, partial(service.normalize, model)):
            known = merged.get(change.way, replace(change, count=0))
            merged[change.way] = replace(known, count=known.count + change.count)
    return list(merged.values())


def _picked_token(view: ViewState, sentence: Sentence, tokens: Tokens) -> int:
    """Return the picked token's position, else the chosen word's, else the text's first one."""
    position = PICKED.of(view)
    if 0 <= position < tokens.n_tokens:
        return position
    word = sentence.word
    candidates = [
        i
        for i in range(tokens.n_tokens)
        if tokens.text_ids[i] == 0 and (word is None or tokens.offsets[i, 1] > word[0])
    ]
    return candidates[0] if candidates else 0


# --- What is said of the tokens


def tokens_claims(
    tokens: Tokens,
    kinds: Sequence[TokenKind],
    labels: Sequence[str],
    unknown_name: str,
    changes: Sequence[Change] = (),
) -> list[Claim]:
    """Return at most three claims: the number of tokens, the cut words, and what the model misses.

    Args:
        tokens: the text's tokens.
        kinds: the kind of each token.
        labels: the text shown on each token.
        unknown_name: the tokenizer's unknown token.
        changes: the ways in which the tokenizer rewrote characters.
    """
    claims = [_count_claim(tokens, kinds), _cut_claim(tokens, labels)]
    claims += _missing_claims(tokens, kinds, unknown_name, changes)[:1]
    return [item for item in claims if item is not None]


def tokens_sure(
    tokens: Tokens,
    kinds: Sequence[TokenKind],
    reasons: Mapping[int, str],
    unknown_name: str,
    changes: Sequence[Change] = (),
) -> list[Claim]:
    """Return further notes: more that the model misses, reasons for unknown tokens, padding."""
    n_padding = kinds.count("padding")
    claims = _missing_claims(tokens, kinds, unknown_name, changes)[1:]
    claims += [
        claim("tokens.unknown.because", word=quoted(source(tokens, at)), reason=escape(reason))
        for at, reason in list(reasons.items())[:1]
    ]
    return claims + ([claim("tokens.padding", n=n_padding)] if n_padding else [])


def padding_note(length: int, n_tokens: int) -> Claim | None:
    """Return a note that requested padding had no effect, if so."""
    useless = 0 < length < n_tokens
    return claim("tokens.long_enough", n=n_tokens, asked=length) if useless else None


def _count_claim(tokens: Tokens, kinds: Sequence[TokenKind]) -> Claim:
    n_text = int((tokens.text_ids >= 0).sum())
    added = [t for t, kind in zip(tokens.tokens, kinds, strict=True) if kind == "special"]
    names = escape(", ".join(dict.fromkeys(added)))
    if not n_text:
        return claim("tokens.count.none", names=names)
    case = "text" if tokens.pair is None else "pair"
    if not added:
        return claim(f"tokens.count.{case}_alone", n=n_text)
    return claim(
        f"tokens.count.{case}", n=n_text + len(added), n_own=n_text, n_added=len(added), names=names
    )


def _cut_claim(tokens: Tokens, labels: Sequence[str]) -> Claim | None:
    """Return the cut words, or that none is cut; None if text is lost or has no words."""
    cut = cut_words(tokens, labels)
    if cut:
        word, pieces = max(cut, key=lambda item: len(item[1]))
        return claim(
            "tokens.cut",
            n=len(cut),
            word=quoted(word),
            n_pieces=len(pieces),
            pieces=_spelled(pieces),
        )
    seen = set(zip(tokens.text_ids.tolist(), tokens.word_ids.tolist(), strict=True))
    has_words = any(
        (which, i) in seen and any(map(str.isalnum, text[slice(*span)]))
        for which, text in enumerate((tokens.text, tokens.pair or ""))
        for i, span in enumerate(split_words(text))
    )
    return claim("tokens.uncut") if has_words and not tokens.n_truncated else None


def _missing_claims(
    tokens: Tokens, kinds: Sequence[TokenKind], unknown_name: str, changes: Sequence[Change]
) -> list[Claim]:
    """Return what does not reach the model: cut-off text, unknown tokens, dropped signs, marks."""
    lost = tokens.n_truncated
    unknown = [i for i, kind in enumerate(kinds) if kind == "unknown"]
    claims = [claim("tokens.lost", n=lost)] if lost else []
    if unknown:
        word, name = quoted(source(tokens, unknown[0])), escape(unknown_name)
        claims.append(claim("tokens.unknown.tokens", n=len(unknown), word=word, name=name))
    by_way = {change.way: change for change in changes}
    if dropped := by_way.get("dropped"):
        sign = escape(named_character(dropped.before))
        claims.append(claim("tokens.dropped", n=dropped.count, sign=sign))
    if marked := by_way.get("accents"):
        names = {"before": quoted(marked.before), "after": quoted(marked.after)}
        claims.append(claim("tokens.marks", n=marked.count, **names))
    return claims


def _spelled(pieces: Sequence[str]) -> str:
    dots = " …" if len(pieces) > MAX_NAMED_PIECES else ""
    return f"{' '.join(map(escape, pieces[:MAX_NAMED_PIECES]))}{dots}"


# --- The drawing


def tokens_svg(boxes: Sequence[tuple[str, int, bool]], title: str) -> str:
    """Return tokens with their IDs as an SVG of at most 928 x 440 px, in the text colour around it.

    Args:
        boxes: the text in each box, the number below it, and True if the box is only outlined
            (for special tokens and padding).
        title: a line above.
    """
    drawn: list[str] = []
    x, y = 0.0, 48.0
    for n, (label, token_id, faint) in enumerate(boxes):
        text = fitted(label, _MAX_LABEL_WIDTH, _SIZE)
        width = max(text_width(text, _SIZE), text_width(str(token_id), _SMALL)) + 16
        if x and x + width > WIDTH:
            x, y = 0.0, y + _ROW
        if y + _ROW > HEIGHT:
            drawn.append(
                text_at(0, y + 12, say("tokens.page.more_tokens", n=len(boxes) - n), 12, 0.7)
            )
            break
        drawn.append(_box(x, y, width, text, token_id, faint))
        x += width + 8
    above = text_at(0, 20, fitted(title, WIDTH, _LARGE), _LARGE, 1.0, 'font-weight="600"')
    return drawing([above, *drawn], min(y + _ROW, HEIGHT))


def _box(x: float, y: float, width: float, text: str, token_id: int, faint: bool) -> str:
    fill = 'fill="none" stroke-opacity="0.35"' if faint else 'fill="#0072B2" fill-opacity="0.14"'
    edge = 'stroke="currentColor"' if faint else 'stroke="none"'
    middle = x + width / 2
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="28" rx="6" {fill} {edge}/>'
        + text_at(middle, y + 19, text, _SIZE, 1.0, 'text-anchor="middle"')
        + text_at(middle, y + 43, str(token_id), _SMALL, 0.7, 'text-anchor="middle"')
    )


# --- The same numbers with transformers alone

PICTURE = """\
import plotly.graph_objects as go

columns = {"token": tokens, "ID": batch["input_ids"], "mask": batch["attention_mask"]}
go.Figure(go.Table(header={"values": list(columns)}, cells={"values": list(columns.values())}))
"""
"""Goes on from `tokens_snippet`: the table of tokens."""


def tokens_snippet(
    card: ModelCard, text: str, pair: str | None, *, cut: int, pad_to: int | None
) -> str:
    """Return a script for `batch` (IDs, mask, segments, offsets), `tokens` and `decoded`."""
    texts = f"{literal(text)}, {literal(pair)}" if pair else literal(text)
    lines = [
        "from transformers import AutoTokenizer",
        "",
        *[line for line in load_lines(card) if not line.startswith("model = ")],
        "",
        "batch = tokenizer(",
        f"    {texts},",
        f'    truncation="longest_first", max_length={cut}, return_offsets_mapping=True,',
        ")",
        *(
            []
            if pad_to is None
            else [f'batch = tokenizer.pad(batch, padding="max_length", max_length={pad_to})']
        ),
        'tokens = tokenizer.convert_ids_to_tokens(batch["input_ids"])',
        'decoded = tokenizer.decode(batch["input_ids"])',
        'for token, token_id, mask in zip(tokens, batch["input_ids"], batch["attention_mask"]):',
        "    print(token, token_id, mask)",
        "print(decoded)",
    ]
    return "\n".join(lines) + "\n"
