"""The data behind Padding & masks: texts encoded alone and padded, and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from contextlens.content.bundled_texts import baseline_sentences
from contextlens.content.wording import shortened
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.schema import Mask, Passport, Tokens
from contextlens.features.masks.controls import (
    LONGEST,
    MASK,
    PAD_TO,
    REPEAT,
    SENTENCE,
    pad_within,
    repeat_within,
)
from contextlens.features.masks.measures import (
    Damage,
    FourCases,
    PaddedBatch,
    PaddedText,
    Saving,
    damage,
    four_cases,
    saving,
    text_to_describe,
)
from contextlens.ui.state.controls import Choice, Number
from contextlens.ui.state.view import MAX_CHARACTERS, Sentence, ViewState, letter

EXAMPLE = (
    "The next morning it slept on the warm stones by the river until the rain came and woke it."
)
"""The long text beside a visitor's sentence if all of theirs have one length: 22 tokens in BERT."""
_BATCH = 32  # texts of the sample in a batch


@dataclass(frozen=True, eq=False)
class Masks:
    """The data of Padding & masks for a view.

    Attributes:
        lab: the batch; None if every sentence is blank.
        other: the same batch with the mask switched; None with `lab`.
        row: the text that the numbers are for: the chosen one, or if it has no padding another.
        chosen: the letter of the chosen text.
        example: the letter of the example in the batch; "" without it.
        padding: the possible lengths of the batch.
        left_out: letters of the blank sentences.
        unfit: a requested length that is too short or too long, or "".
    """

    lab: PaddedBatch | None
    other: PaddedBatch | None
    row: PaddedText | None
    chosen: str
    example: str
    layer: int
    padding: Choice
    left_out: tuple[str, ...]
    unfit: str

    @property
    def batch(self) -> tuple[PaddedBatch, PaddedText]:
        """The batch, and the text whose layers are shown."""
        if self.lab is None or self.row is None:
            raise ValueError("Every text is blank, so there is no batch; ask `lab` first.")
        return self.lab, self.row

    @property
    def chosen_row(self) -> PaddedText:
        """The chosen text, whether it has padding or not."""
        return next(row for row in self.batch[0].rows if row.label == self.chosen)

    @property
    def batches(self) -> tuple[PaddedBatch, ...]:
        """The batch and, with the mask switched, the same batch."""
        return tuple(batch for batch in (self.lab, self.other) if batch is not None)

    @property
    def cases(self) -> FourCases | None:
        """The four cases of the described text; None without padding."""
        return four_cases(self.batches, self.batch[1], self.layer)

    @property
    def passport(self) -> Passport:
        """The passport behind the numbers, with this page's own settings."""
        encoded = self.batch[1].padded.passport
        return replace(encoded, settings={**encoded.settings, "compared_with": "the text alone"})

    @property
    def key(self) -> str:
        """The text behind each letter, in one line."""
        rows = self.lab.rows if self.lab else ()
        return " · ".join(f"{row.label}: {_in_brief(row.alone)}" for row in rows)


@dataclass(frozen=True, eq=False)
class OverLimit:
    """A text repeated until it reaches or exceeds the model's limit."""

    tokens: Tokens
    limit: int
    n_positions: int | None  # positions of a text for which the model's table has a vector


def masks_of(view: ViewState, service: EncoderService, card: ModelCard) -> Masks:
    """Encode the sentences alone and padded, with and without the mask, and compare them.

    If all have one length, padding to the longest would add nothing. Then the chosen sentence
    stands beside a longer example.
    """
    named = {letter(i): sentence for i, sentence in enumerate(view.sentences)}
    usable = {label: sentence for label, sentence in named.items() if sentence.text.strip()}
    lengths = _lengths(view, service, list(usable.values()))
    longest = max(lengths, default=1)
    padding, requested = pad_within(longest, card.max_length), PAD_TO.asked(view) or ""
    chosen, example = padding.of(view), ""
    if chosen == LONGEST and len(set(lengths)) == 1:
        label, example = SENTENCE.among(usable).of(view), letter(len(named))
        usable = {label: usable[label], example: Sentence(EXAMPLE)}
        longest = max(longest, *_lengths(view, service, [usable[example]]))
    pad_to = longest if chosen == LONGEST else int(chosen)
    batches = {
        masked: _padded_batch(view, service, usable, pad_to=pad_to, masked=masked)
        for masked in (True, False)
        if usable
    }
    masked = MASK.of(view)
    lab, layer = batches.get(masked), view.layer_among(range(card.n_layers + 1))
    chosen_label = SENTENCE.among(usable).of(view) if usable else ""
    return Masks(
        lab=lab,
        other=batches.get(not masked),
        row=None if lab is None else _described_row(lab, batches[False], chosen_label, layer),
        chosen=chosen_label,
        example=example,
        layer=layer,
        padding=padding,
        left_out=tuple(label for label, sentence in named.items() if not sentence.text.strip()),
        unfit=requested
        if requested.isascii() and requested.isdigit() and requested != chosen
        else "",
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
    """For each text: its encoding alone, its padded encoding, and the cosines of the two."""
    alone = service.encode(model, texts, pairs=pairs)
    mask: Mask = "model" if masked else "ones"
    padded = service.encode(model, texts, pairs=pairs, pad_to=pad_to, mask=mask)
    return [(a, p, damage(a, p)) for a, p in zip(alone, padded, strict=True)]


def sample_saving(service: EncoderService, card: ModelCard) -> Saving:
    """The saving by sorting the bundled sentences, measured once for a model."""
    lengths = remembered(
        "lengths of the sample",
        card.id,
        card.checksum,
        compute=lambda: [t.n_tokens for t in service.tokenize(card.id, list(baseline_sentences()))],
    )
    return saving(lengths, _BATCH)


def own_savings(masks: Masks) -> list[Saving]:
    """The savings by sorting the view's own sentences, in batches of 1, 2, 4, 8."""
    lengths = masks.lab.lengths if masks.lab else []
    return [saving(lengths, n) for n in (1, 2, 4, 8) if n < 2 * len(lengths)]


def repetition(row: PaddedText, limit: int) -> Number:
    """The number of repetitions of a text; by default enough to exceed the limit by a fifth."""
    tokens = row.alone
    total = tokens.n_tokens + tokens.n_truncated
    body = max(1, total - int(tokens.special_tokens_mask.sum()))
    maximum = max(1, min(REPEAT.high, 10 * MAX_CHARACTERS // (len(tokens.text) + 1)))
    default = 1 if total > limit else min(maximum, -(-6 * limit // (5 * body)))
    return repeat_within(row.label, default, maximum)


def over_limit(service: EncoderService, card: ModelCard, tokens: Tokens, times: int) -> OverLimit:
    """A text repeated several times, as this model's tokenizer cuts it."""
    text = " ".join([tokens.text] * times)
    return OverLimit(
        tokens=service.tokenize(card.id, [text])[0],
        limit=card.max_length,
        n_positions=_n_positions(service, card),
    )


def _lengths(view: ViewState, service: EncoderService, sentences: Sequence[Sentence]) -> list[int]:
    texts, pairs = _texts(sentences)
    tokenized = service.tokenize(view.model, texts, pairs=pairs) if texts else ()
    return [tokens.n_tokens for tokens in tokenized]


def _padded_batch(
    view: ViewState,
    service: EncoderService,
    named: Mapping[str, Sentence],
    *,
    pad_to: int,
    masked: bool,
) -> PaddedBatch:
    texts, pairs = _texts(list(named.values()))
    both = encode_both(service, view.model, texts, pairs=pairs, pad_to=pad_to, masked=masked)
    rows = (PaddedText(label, *encodings) for label, encodings in zip(named, both, strict=True))
    return PaddedBatch(tuple(rows), pad_to, masked)


def _texts(sentences: Sequence[Sentence]) -> tuple[list[str], list[str | None]]:
    return [s.text for s in sentences], [s.pair for s in sentences]


def _n_positions(service: EncoderService, card: ModelCard) -> int | None:
    """The number of position vectors, starting at that of the first position in a text."""
    named = (p for p in service.parameters(card.id) if "position_embeddings" in p.name)
    table = next(named, None)
    if table is None:
        return None
    return table.shape[0] - int(service.embedding_parts(card.id, "").position_ids[0])


def _described_row(lab: PaddedBatch, unmasked: PaddedBatch, label: str, layer: int) -> PaddedText:
    """The text that the numbers are for: with the mask on and off the same one."""
    chosen = next(row for row in unmasked.rows if row.label == label)
    described = text_to_describe(unmasked, chosen, layer) or chosen
    return next(row for row in lab.rows if row.label == described.label)


def _in_brief(encoding: Encoding) -> str:
    both = [encoding.text, *([] if encoding.pair is None else [encoding.pair])]
    return shortened(" | ".join(both), 60)
