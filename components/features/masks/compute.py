"""Padding & masks, from a view to its laboratory: what is encoded, padded and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from components.content.sample import baseline_sentences
from components.core import EncoderService, Encoding, ModelCard
from components.core.schema import Mask, Passport, Tokens
from components.features.masks.figures.batch import COLORS, Color
from components.features.masks.measures.laboratory import (
    Damage,
    Lab,
    LabRow,
    Saving,
    damage,
    pad_sizes,
    saving,
)
from components.ui.state.view import MAX_CHARACTERS, Sentence, ViewState, letter

__all__ = [
    "LONGEST",
    "Masks",
    "OverLimit",
    "color_of_cells",
    "compute",
    "encode_both",
    "over_limit",
    "repeats",
    "sample_saving",
]

PAGE = "masks"
LONGEST = "Longest"
_DEFAULT_SIZE = 32
_BATCH = 32  # texts of the sample in a batch
_MAX_REPEATS = 600


@dataclass(frozen=True, eq=False)
class Masks:
    """What Padding & masks shows for a view.

    Attributes:
        lab: the batch; None where every sentence is empty.
        row: the text whose layers are shown.
        pad_options: what the batch can be padded to, in words, and which of them is the default.
        left_out: letters of the sentences that are empty.
        unfit: a length that was asked for and is too short or too long, or "".
    """

    lab: Lab | None
    row: LabRow | None
    layer: int
    pad_options: tuple[str, ...]
    pad_default: str
    left_out: tuple[str, ...]
    unfit: str

    @property
    def passport(self) -> Passport:
        """The passport behind the numbers, with this page's own settings."""
        if self.row is None:
            raise ValueError("Nothing was computed, so there is no passport.")
        encoded = self.row.padded.passport
        return replace(encoded, settings={**encoded.settings, "compared_with": "the text alone"})

    @property
    def key(self) -> str:
        """Which text each letter stands for, in one line."""
        rows = self.lab.rows if self.lab else ()
        return " · ".join(f"{row.label}: {_cut(row.alone)}" for row in rows)


@dataclass(frozen=True, eq=False)
class OverLimit:
    """A text repeated until it is as long as the model can take, or longer."""

    tokens: Tokens
    limit: int
    position_rows: int | None  # rows of the model's table of position vectors


def compute(view: ViewState, service: EncoderService, card: ModelCard) -> Masks:
    """Encode the sentences alone and padded, with or without the mask, and compare."""
    usable = [i for i, s in enumerate(view.sentences) if s.text.strip()]
    left_out = tuple(letter(i) for i in range(len(view.sentences)) if i not in usable)
    texts = [view.sentences[i].text for i in usable]
    pairs = [_pair(view.sentences[i]) for i in usable]
    lengths = [t.n_tokens for t in service.tokenize(view.model, texts, pairs=pairs)]
    longest = max(lengths, default=1)
    sizes = pad_sizes(longest, card.max_length)
    asked, options = str(view.control(PAGE, "pad_to", "")), (LONGEST, *map(str, sizes))
    default = str(next(n for n in sizes if n >= min(_DEFAULT_SIZE, card.max_length)))
    chosen = asked if asked in options else default
    lab = None
    if usable:
        pad_to = longest if chosen == LONGEST else int(chosen)
        masked = bool(view.control(PAGE, "mask", default=False))
        both = encode_both(service, view.model, texts, pairs=pairs, pad_to=pad_to, masked=masked)
        labels = [letter(i) for i in usable]
        lab = Lab(tuple(LabRow(a, *b) for a, b in zip(labels, both, strict=True)), pad_to, masked)
    return Masks(
        lab=lab,
        row=None if lab is None else _chosen_row(view, lab),
        layer=_layer(view, card),
        pad_options=options,
        pad_default=default,
        left_out=left_out,
        unfit=asked if asked.isascii() and asked.isdigit() and asked not in options else "",
    )


def encode_both(
    service: EncoderService,
    model: str,
    texts: Sequence[str],
    *,
    pairs: Sequence[str | None],
    pad_to: int,
    masked: bool,
) -> list[tuple[Encoding, Encoding, Damage]]:
    """Each text alone, padded with the mask on or off, and how like itself it still is."""
    alone = service.encode(model, texts, pairs=pairs)
    mask: Mask = "model" if masked else "ones"
    padded = service.encode(model, texts, pairs=pairs, pad_to=pad_to, mask=mask)
    return [(a, p, damage(a, p)) for a, p in zip(alone, padded, strict=True)]


def color_of_cells(view: ViewState, card: ModelCard) -> Color:
    """What the colours of the batch tell; the cosine where the view names nothing that exists."""
    asked = str(view.control(PAGE, "color", "Cosine")).lower()
    if asked == "segment" and not card.has_segments:
        return "cosine"
    return next((color for color in COLORS if color == asked), "cosine")


def sample_saving(service: EncoderService, card: ModelCard) -> Saving:
    """What sorting saves for the sentences that ship with the app, measured once for a model."""
    return saving(_sample_lengths(card.id, card.checksum, service), _BATCH)


def repeats(tokens: Tokens, limit: int) -> tuple[int, int]:
    """How often a text must stand there to be a fifth too long, and how often it may."""
    total = tokens.n_tokens + tokens.n_truncated
    body = max(1, total - int(tokens.special_tokens_mask.sum()))
    most = max(1, min(_MAX_REPEATS, 10 * MAX_CHARACTERS // (len(tokens.text) + 1)))
    return (1 if total > limit else min(most, -(-6 * limit // (5 * body)))), most


def over_limit(service: EncoderService, card: ModelCard, tokens: Tokens, times: int) -> OverLimit:
    """A text said several times over, as this model's tokenizer cuts it."""
    text = " ".join([tokens.text] * times)
    return OverLimit(
        tokens=service.tokenize(card.id, [text])[0],
        limit=card.max_length,
        position_rows=_position_rows(service, card),
    )


@st.cache_data(show_spinner=False, max_entries=16)
def _sample_lengths(model: str, checksum: str, _service: EncoderService) -> list[int]:  # noqa: ARG001
    return [t.n_tokens for t in _service.tokenize(model, list(baseline_sentences()))]


def _position_rows(service: EncoderService, card: ModelCard) -> int | None:
    named = (p for p in service.parameters(card.id) if "position_embeddings" in p.name)
    found = next(named, None)
    return None if found is None else found.shape[0]


def _chosen_row(view: ViewState, lab: Lab) -> LabRow:
    asked = view.control(PAGE, "sentence", "A")
    return next((row for row in lab.rows if row.label == asked), lab.rows[0])


def _layer(view: ViewState, card: ModelCard) -> int:
    known = view.layer is not None and 0 <= view.layer <= card.n_layers
    return int(view.layer or 0) if known else card.n_layers


def _pair(sentence: Sentence) -> str | None:
    return sentence.pair if sentence.pair and sentence.pair.strip() else None


def _cut(encoding: Encoding, longest: int = 60) -> str:
    both = [encoding.text, *([] if encoding.pair is None else [encoding.pair])]
    flat = " | ".join(" ".join(text.split()) for text in both)
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"
