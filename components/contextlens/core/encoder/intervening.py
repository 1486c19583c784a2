"""Encoder runs with interventions, and the checks of what may be changed."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from contextlens.core.encoder.devices import tidy_memory
from contextlens.core.encoder.inputs import (
    Request,
    check_rows,
    checked_layers,
    is_index,
    network_inputs,
    one_of,
)
from contextlens.core.encoder.loading import LoadedModel
from contextlens.core.encoder.running import (
    ProgressCounter,
    allocate_encoding,
    batches,
    check_finite,
    freeze,
    passport_of,
)
from contextlens.core.encoder.tokenizing import checked_texts, tokenize
from contextlens.core.errors import RequestError
from contextlens.core.schema import (
    Average,
    Block,
    Counted,
    Encoding,
    Intervention,
    ModelCard,
    Passport,
    Patch,
    SwitchOff,
    Tokens,
)

__all__ = ["intervene"]


# --- Interventions checked against the model and the text before anything runs

Changes = tuple[Intervention, ...]
"""All interventions for one reading of a text."""

_KINDS = (SwitchOff, Block, Patch, Average)


def read_changes(interventions: object, n_texts: int) -> list[Changes]:
    """The interventions for each text, read once.

    Raises:
        RequestError: there is not one list for each text, or a list holds something else.
    """
    if not isinstance(interventions, Iterable):
        interventions = ()
    rows = [tuple(row) if isinstance(row, Iterable) else (None,) for row in interventions]
    if len(rows) != n_texts or not all(isinstance(one, _KINDS) for row in rows for one in row):
        raise RequestError(
            f"{n_texts} texts came with {len(rows)} lists of interventions; give one list for each "
            "text, empty or of SwitchOff, Block, Patch and Average."
        )
    return rows


def check_changes(
    changes: Changes,
    tokens: Tokens,
    card: ModelCard,
    *,
    sources: Mapping[tuple[str, str | None], Tokens],
    has_baseline: bool,
) -> None:
    """Check that the model and the text have everything that the interventions name.

    Args:
        changes: the interventions for one text.
        tokens: that text's tokens.
        card: the model's card.
        sources: the tokens of each text that states are taken from, by text and pair.
        has_baseline: True if there are texts to average parts over.

    Raises:
        RequestError: something named does not exist or does not fit.
    """
    for change in changes:
        if isinstance(change, SwitchOff):
            _check_switch(change, card, has_baseline=has_baseline)
        elif isinstance(change, Block):
            _check_block(change, tokens, card)
        else:
            _check_layer(change.layer, 0, card)
            _check_positions(change.positions, tokens)
            if isinstance(change, Average):
                one_of("over", change.over, ("text", "batch"))
            else:
                _check_source(change, sources[change.source, change.source_pair])
    _check_something_is_seen(changes, tokens, card)


def _check_switch(change: SwitchOff, card: ModelCard, *, has_baseline: bool) -> None:
    one_of("part", change.part, ("head", "attention", "feed_forward"))
    one_of("to", change.to, ("zero", "mean"))
    _check_layer(change.layer, 1, card)
    if change.part == "head" and not is_index(change.head, 0, card.n_heads - 1):
        raise RequestError(
            f"Head {change.head!r} of layer {change.layer} was named; {card.title} has heads 0 to "
            f"{card.n_heads - 1} in each layer. Give one of these."
        )
    if change.part != "head" and change.head is not None:
        raise RequestError(
            f"Head {change.head!r} was named with the part {change.part!r}, which is a whole "
            "layer's. Leave the head out, or ask for the part 'head'."
        )
    if change.to == "mean" and not has_baseline:
        raise RequestError(
            "A part was to be set to its mean, and there are no texts to average it over. Give "
            "`baseline` texts, or set the part to zero."
        )


def _check_block(change: Block, tokens: Tokens, card: ModelCard) -> None:
    by = () if change.seen_by is None else (change.seen_by,)
    _check_positions((change.token,), tokens)
    if by:
        _check_positions(by, tokens)
    if change.layers is not None:
        _check_numbers("Layers", change.layers)
        for layer in change.layers:
            _check_layer(layer, 1, card)


def _check_layer(layer: object, lowest: int, card: ModelCard) -> None:
    if not is_index(layer, lowest, card.n_layers):
        raise RequestError(
            f"Layer {layer!r} was named; {card.title} has layers {lowest} to {card.n_layers} in "
            "which this can be changed. Give one of these."
        )


def _check_positions(positions: Any, tokens: Tokens) -> None:
    _check_numbers("Positions", positions)
    if max(positions) >= tokens.n_tokens:
        raise RequestError(
            f"Positions {_quoted(positions)} were named; {_quoted(tokens.text)} has the "
            f"positions 0 to {tokens.n_tokens - 1} in this model. Give some of these."
        )


def _check_numbers(title: str, numbers: Any) -> None:
    are_whole = isinstance(numbers, tuple) and all(is_index(n, 0, sys.maxsize) for n in numbers)
    if not are_whole or not numbers or len(set(numbers)) != len(numbers):
        raise RequestError(
            f"{title} {_quoted(numbers)} were named; give a tuple of whole numbers, at "
            "least one and each once."
        )


def _check_source(change: Patch, source: Tokens) -> None:
    given = change.source_positions
    if not isinstance(given, tuple) or len(given) != len(change.positions):
        raise RequestError(
            f"Positions {_quoted(change.positions)} were to be taken from positions "
            f"{_quoted(given)}; give one position of the other text for each."
        )
    for position in given:  # the same state may be inserted at several positions
        _check_positions((position,), source)


def _check_something_is_seen(changes: Changes, tokens: Tokens, card: ModelCard) -> None:
    """Check that every position may still attend to one: attention to none is undefined."""
    blocks = [change for change in changes if isinstance(change, Block)]
    n, window = tokens.n_tokens, card.window
    fewest = n if window is None else min(n, window + 1)
    if len({block.token for block in blocks}) < fewest:
        return
    for layer in range(1, card.n_layers + 1):
        layer_blocks = [b for b in blocks if b.layers is None or layer in b.layers]
        for position in range(n):
            reach = range(n)
            if window is not None and layer in card.local_layers:
                reach = range(max(0, position - window), min(n, position + window + 1))
            hidden = {b.token for b in layer_blocks if b.seen_by in {None, position}}
            if hidden.issuperset(reach):
                raise RequestError(
                    f"All {len(reach)} positions were hidden from position {position} in "
                    f"layer {layer}; leave it at least one to look at."
                )


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def sources_of(rows: Sequence[Changes]) -> list[tuple[str, str | None]]:
    """The texts that states are taken from, each once.

    Raises:
        TextError: a source is not a text, or no tokenizer can read it.
    """
    patches = [change for row in rows for change in row if isinstance(change, Patch)]
    sources, pairs = [p.source for p in patches], [p.source_pair for p in patches]
    return list(dict.fromkeys(checked_texts(sources, pairs)))


# --- Replacement vectors for parts that are switched off and states that are replaced

_Read = Iterator[tuple[list[Tokens], int, torch.Tensor]]
"""A batch's texts, a layer number, and that layer's hidden states."""


@dataclass(frozen=True)
class Replacement:
    """The vectors that interventions put in place of the model's own.

    Attributes:
        states: (n_tokens, n_dims) hidden states of source texts, by text, pair and layer.
        parts: (n_dims,) mean of a part over the baseline, by part and layer; all heads of a layer
            side by side.
        text_means: (n_dims,) mean over a text's own tokens, by text, pair and layer.
        batch_means: (n_dims,) mean over all texts, by layer.
    """

    states: dict[tuple[str, str | None, int], torch.Tensor] = field(default_factory=dict)
    parts: dict[tuple[str, int], torch.Tensor] = field(default_factory=dict)
    text_means: dict[tuple[str, str | None, int], torch.Tensor] = field(default_factory=dict)
    batch_means: dict[int, torch.Tensor] = field(default_factory=dict)


def gather(
    loaded: LoadedModel,
    rows: Sequence[Changes],
    *,
    texts: Sequence[Tokens],
    sources: Sequence[Tokens],
    baseline: Sequence[Tokens],
    pause: Callable[[], None],
) -> Replacement:
    """Compute the vectors that the interventions of all texts need.

    Args:
        loaded: the model.
        rows: the interventions for each result.
        texts: the distinct texts that are read.
        sources: the texts that states are taken from.
        baseline: the texts that parts are averaged over.
        pause: called between batches; an exception that it raises ends the work.
    """

    most = loaded.device.for_steps.batch_tokens

    def read(
        texts_read: Sequence[Tokens], layers: set[int], sums: _PartSums | None = None
    ) -> _Read:
        lengths = [t.n_tokens for t in texts_read]
        for places in batches(lengths, same_length=False, most=most) if layers else ():
            pause()
            batch = [texts_read[i] for i in places]
            for layer, hidden in plain_layers(loaded, batch, max(layers), sums):
                if layer in layers:
                    yield batch, layer, hidden

    changes = [change for row in rows for change in row]
    patched = {change.layer for change in changes if isinstance(change, Patch)}
    averaged = {change.layer for change in changes if isinstance(change, Average)}
    switched = {c.layer for c in changes if isinstance(c, SwitchOff) and c.to == "mean"}
    put_in = Replacement()
    for batch, layer, hidden in read(sources, patched):
        for tokens, states in zip(batch, hidden, strict=True):
            put_in.states[tokens.text, tokens.pair, layer] = states[: tokens.n_tokens].clone()
    means: defaultdict[int, _Mean] = defaultdict(_Mean)
    for batch, layer, hidden in read(texts, averaged):
        means[layer].add(hidden, batch)
        for tokens, states in zip(batch, hidden, strict=True):
            put_in.text_means[tokens.text, tokens.pair, layer] = states[: tokens.n_tokens].mean(0)
    put_in.batch_means.update({layer: mean.value for layer, mean in means.items()})
    sums = _PartSums()
    for _ in read(baseline, switched, sums):  # the tap collects the sums
        pass
    put_in.parts.update({key: mean.value for key, mean in sums.means.items()})
    return put_in


def plain_layers(
    loaded: LoadedModel, batch: Sequence[Tokens], last: int, sums: _PartSums | None = None
) -> Iterator[tuple[int, torch.Tensor]]:
    """One batch's unmodified hidden states: layers 0 to `last`, each with its number."""
    ids, mask, segments = network_inputs(loaded, batch, loaded.device.for_steps)
    visible = None if bool(mask.all()) else mask.bool()[:, None, None, :]
    hidden = loaded.layerwise.embed(ids, segments) * mask[..., None]  # a convolution reads padding
    inputs = loaded.layerwise.layer_inputs(hidden)
    yield 0, hidden
    for layer in range(1, last + 1):
        if sums is not None:
            sums.begin(layer, batch)
        hidden = loaded.layerwise.step(layer, hidden, visible, inputs, sums)
        yield layer, hidden


class _Mean:
    """A mean over the tokens of several batches, without padding."""

    def __init__(self) -> None:
        self._total = torch.zeros((), dtype=torch.float64)
        self._n = 0

    def add(self, states: torch.Tensor, batch: Sequence[Tokens]) -> None:
        lengths = torch.tensor([tokens.n_tokens for tokens in batch])
        real = torch.arange(states.shape[1]) < lengths[:, None]
        self._total = self._total.to(states.device) + states[real.to(states.device)].sum(
            0, dtype=torch.float64
        )
        self._n += int(lengths.sum())

    @property
    def value(self) -> torch.Tensor:
        return (self._total / self._n).float()


class _PartSums:
    """A tap that averages the output of every part."""

    def __init__(self) -> None:
        self.means: defaultdict[tuple[str, int], _Mean] = defaultdict(_Mean)
        self._layer = 0
        self._batch: Sequence[Tokens] = ()

    def begin(self, layer: int, batch: Sequence[Tokens]) -> None:
        self._layer, self._batch = layer, batch

    def heads(self, outputs: torch.Tensor) -> None:
        self.means["head", self._layer].add(outputs, self._batch)

    def attention(self, outputs: torch.Tensor) -> None:
        self.means["attention", self._layer].add(outputs, self._batch)

    def feed_forward(self, outputs: torch.Tensor) -> None:
        self.means["feed_forward", self._layer].add(outputs, self._batch)


# --- Changes made to a batch at one layer

NEVER = sys.maxsize


@dataclass(frozen=True, eq=False)
class ChangedText:
    """One row of a batch.

    Attributes:
        result: one text's encoding, whose arrays receive the results.
        changes: the interventions for this reading of the text.
    """

    result: Encoding
    changes: Changes

    @property
    def joins(self) -> int:
        """The last layer whose states, before replacement, are the unmodified text's; or NEVER."""
        return min(map(_joins, self.changes), default=NEVER)


def _joins(change: Intervention) -> int:
    if isinstance(change, SwitchOff):
        return change.layer - 1
    if isinstance(change, Block):
        return min(change.layers or (1,)) - 1
    return change.layer


class Switches:
    """A tap that applies, in one layer, the rows' requests to switch off parts."""

    def __init__(
        self, layer: int, rows: Sequence[ChangedText], put_in: Replacement, *, n_heads: int
    ) -> None:
        self._layer, self._put_in, self._n_heads = layer, put_in, n_heads
        self._off = {  # if two name the same part, the later one wins
            (change.part, place, change.head or 0): change.to
            for place, row in enumerate(rows)
            for change in row.changes
            if isinstance(change, SwitchOff) and change.layer == layer
        }

    def heads(self, outputs: torch.Tensor) -> None:
        """See `layerwise.HiddenStateHook`."""
        self._replace("head", outputs.view(*outputs.shape[:-1], self._n_heads, -1))

    def attention(self, outputs: torch.Tensor) -> None:
        """See `layerwise.HiddenStateHook`."""
        self._replace("attention", outputs.unsqueeze(-2))

    def feed_forward(self, outputs: torch.Tensor) -> None:
        """See `layerwise.HiddenStateHook`."""
        self._replace("feed_forward", outputs.unsqueeze(-2))

    def _replace(self, part: str, outputs: torch.Tensor) -> None:
        """Replace outputs in place: (n_batch, n_tokens, n_heads or 1, n_dims of each)."""
        for kind in ("zero", "mean"):
            off = [(i, head) for (p, i, head), to in self._off.items() if (p, to) == (part, kind)]
            if off:
                places, heads = map(list, zip(*off, strict=True))
                if kind == "zero":
                    outputs[places, :, heads] = 0
                else:
                    means = self._put_in.parts[part, self._layer].view(outputs.shape[2:])
                    outputs[places, :, heads] = means[heads].unsqueeze(1)


def replace_states(
    layer: int, hidden: torch.Tensor, rows: Sequence[ChangedText], put_in: Replacement
) -> None:
    """Replace, at one layer, the states that the rows of a batch name.

    Args:
        layer: 0 to n.
        hidden: (n_batch, n_tokens, n_dims), changed in place.
        rows: the batch's rows.
        put_in: the replacement vectors.
    """
    for states, row in zip(hidden, rows, strict=True):
        for change in row.changes:
            if isinstance(change, Patch) and change.layer == layer:
                source = put_in.states[change.source, change.source_pair, layer]
                states[list(change.positions)] = source[list(change.source_positions)]
            elif isinstance(change, Average) and change.layer == layer:
                text = row.result.text, row.result.pair, layer
                mean = (
                    put_in.text_means[text] if change.over == "text" else put_in.batch_means[layer]
                )
                states[list(change.positions)] = mean


def visible_positions(
    layer: int, rows: Sequence[ChangedText], width: int, device: torch.device
) -> torch.Tensor | None:
    """A mask of the positions that may attend to each other in one layer; see `Layerwise.step`.

    Args:
        layer: 1 to n.
        rows: the batch's rows.
        width: the number of tokens of the longest text.
        device: where to put the result.
    """
    lengths = torch.tensor([row.result.n_tokens for row in rows])
    visible = None
    if int(lengths.min()) < width:
        visible = (torch.arange(width) < lengths[:, None])[:, None, None, :]
    blocks = [
        (place, change)
        for place, row in enumerate(rows)
        for change in row.changes
        if isinstance(change, Block) and (change.layers is None or layer in change.layers)
    ]
    if blocks:
        known = torch.ones(1, dtype=torch.bool) if visible is None else visible
        visible = known.expand(len(rows), 1, width, width).clone()
        for place, block in blocks:
            by = slice(None) if block.seen_by is None else block.seen_by
            visible[place, 0, by, block.token] = False
    return None if visible is None else visible.to(device)


# --- Running a group of texts: layers before the first change are computed once

_Plain = dict[int, dict[tuple[str, str | None], torch.Tensor]]
"""States of unmodified texts, (n_tokens of the longest, n_dims), by layer and text."""


def run_group(
    loaded: LoadedModel,
    group: Sequence[Tokens],
    rows: Sequence[ChangedText],
    put_in: Replacement,
    *,
    done: Callable[[int], None],
) -> None:
    """Fill the results of all rows of a group of texts.

    Args:
        loaded: the model.
        group: distinct texts, few enough for a batch.
        rows: all readings of these texts, modified and unmodified.
        put_in: the replacement vectors.
        done: called after each batch with the number of new results.
    """
    requested = rows[0].result.layers
    changed = sorted((r for r in rows if r.joins <= max(requested)), key=lambda row: row.joins)
    needed = {row.joins for row in changed} | {
        layer for row in rows for layer in requested if layer < row.joins
    }
    if changed and loaded.family.parts.layer_inputs:  # each layer reads layer 0, too
        needed.add(0)
    plain: _Plain = {}
    for layer, hidden in plain_layers(loaded, group, max(needed)):
        if layer in needed:
            plain[layer] = {
                (t.text, t.pair): states for t, states in zip(group, hidden, strict=True)
            }
    for row in rows:
        for layer in {layer for layer in requested if layer < row.joins}:
            _write(loaded, row.result, layer, plain[layer][_text_of(row)])
    if len(changed) < len(rows):
        done(len(rows) - len(changed))
    most = loaded.device.for_steps.batch_tokens
    for batch in batches([r.result.n_tokens for r in changed], same_length=False, most=most):
        _run_batch(loaded, [changed[i] for i in batch], plain, put_in)
        done(len(batch))


def _run_batch(
    loaded: LoadedModel, rows: Sequence[ChangedText], plain: _Plain, put_in: Replacement
) -> None:
    """Fill the rows' results for all requested layers, from the first layer that is changed."""
    rows = sorted(rows, key=lambda row: row.joins)
    requested, width = rows[0].result.layers, max(row.result.n_tokens for row in rows)
    n_heads = loaded.card.n_heads
    inputs = None
    if loaded.family.parts.layer_inputs:
        first = torch.stack([plain[0][_text_of(row)][:width] for row in rows])
        replace_states(0, first, rows, put_in)
        inputs = loaded.layerwise.layer_inputs(first)
    hidden = torch.empty(0)
    for layer in range(rows[0].joins, max(requested) + 1):
        inside = rows[: len(hidden)]
        if inside:
            switches = Switches(layer, inside, put_in, n_heads=n_heads)
            visible = visible_positions(layer, inside, width, hidden.device)
            own = None if inputs is None else inputs[: len(inside)]
            hidden = loaded.layerwise.step(layer, hidden, visible, own, switches)
        joining = [plain[layer][_text_of(row)][:width] for row in rows if row.joins == layer]
        if joining:
            hidden = torch.cat([*([hidden] if inside else []), torch.stack(joining)])
        inside = rows[: len(hidden)]
        replace_states(layer, hidden, inside, put_in)
        if layer in requested:
            for row, states in zip(inside, hidden, strict=True):
                _write(loaded, row.result, layer, states)


def _text_of(row: ChangedText) -> tuple[str, str | None]:
    return row.result.text, row.result.pair


def _write(loaded: LoadedModel, result: Encoding, layer: int, states: torch.Tensor) -> None:
    """Write one layer's states into a result, and the pooled vector after the last layer."""
    text_states = states[: result.n_tokens]
    for ours, number in zip(result.hidden, result.layers, strict=True):
        if number == layer:
            ours[:] = text_states.cpu().numpy()
    if layer == loaded.card.n_layers and result.pooler_output is not None:
        result.pooler_output[:] = loaded.layerwise.pooled(text_states[None])[0].cpu().numpy()


# --- Texts read with something changed inside the model

_Input = tuple[str, str | None]


@torch.inference_mode()
def intervene(
    loaded: LoadedModel,
    texts: Sequence[str],
    interventions: Sequence[Sequence[Intervention]],
    *,
    pairs: Sequence[str | None] | None = None,
    layers: Sequence[int] | None = None,
    baseline: Sequence[str] = (),
    progress: Counted | None = None,
) -> list[Encoding]:
    """Each text's encoding under its interventions; see `EncoderService.intervene`."""
    card = loaded.card
    inputs = checked_texts(texts, pairs)
    every = read_changes(interventions, len(inputs))
    requested = tuple(range(card.n_layers + 1) if layers is None else checked_layers(layers, card))
    sources = sources_of(every)
    averaged = checked_texts(baseline, None) if any(map(_needs_means, every)) else []
    tokens = _tokenized(loaded, [*inputs, *sources, *averaged])
    for changes, text in zip(every, inputs, strict=True):
        check_changes(changes, tokens[text], card, sources=tokens, has_baseline=bool(averaged))
    texts_read = [tokens[text] for text in dict.fromkeys(inputs)]
    plain = passport_of(loaded, Request(), loaded.device.for_steps)
    passport = _Passports(plain, texts_read, averaged)
    rows = [
        ChangedText(_allocate(loaded, tokens[text], requested, passport.of(changes)), changes)
        for text, changes in zip(inputs, every, strict=True)
    ]
    with tidy_memory(sum(row.result.n_tokens for row in rows)):
        report = ProgressCounter(progress)
        report.begin(len(rows))
        put_in = gather(
            loaded,
            every,
            texts=texts_read,
            sources=[tokens[text] for text in sources],
            baseline=[tokens[text] for text in averaged],
            pause=lambda: report.done(0),
        )
        of_text = _by_text(rows)
        lengths, most = [t.n_tokens for t in texts_read], loaded.device.for_steps.batch_tokens
        for places in batches(lengths, same_length=False, most=most):
            group = [texts_read[i] for i in places]
            group_rows = [row for t in group for row in of_text[t.text, t.pair]]
            run_group(loaded, group, group_rows, put_in, done=report.done)
    for row in rows:
        check_finite(row.result, loaded)
        freeze(row.result)
    return [row.result for row in rows]


def _needs_means(changes: Changes) -> bool:
    return any(isinstance(change, SwitchOff) and change.to == "mean" for change in changes)


def _tokenized(loaded: LoadedModel, inputs: Sequence[_Input]) -> dict[_Input, Tokens]:
    different = list(dict.fromkeys(inputs))
    texts, pairs = [text for text, _ in different], [pair for _, pair in different]
    tokens = tokenize(loaded.reader, texts, pairs=pairs)
    check_rows(loaded, tokens)
    return dict(zip(different, tokens, strict=True))


def _allocate(
    loaded: LoadedModel, tokens: Tokens, layers: tuple[int, ...], passport: Passport
) -> Encoding:
    pooled = loaded.card.n_layers in layers
    return allocate_encoding(tokens, loaded, Request(layers=layers), passport, with_pooler=pooled)


def _by_text(rows: Sequence[ChangedText]) -> dict[_Input, list[ChangedText]]:
    by_text: dict[_Input, list[ChangedText]] = {}
    for row in rows:
        by_text.setdefault((row.result.text, row.result.pair), []).append(row)
    return by_text


class _Passports:
    """The passports of results: they add the interventions, and the texts averaged over."""

    def __init__(
        self, plain: Passport, texts: Sequence[Tokens], averaged: Sequence[_Input]
    ) -> None:
        self._plain = plain
        self._texts = [[t.text] if t.pair is None else [t.text, t.pair] for t in texts]
        self._averaged = [text for text, _ in averaged]

    def of(self, changes: Changes) -> Passport:
        if not changes:
            return self._plain
        settings = {
            **self._plain.settings,
            "interventions": [change.words for change in changes],
        }
        if _needs_means(changes):
            settings["baseline"] = self._averaged
        if any(isinstance(change, Average) and change.over == "batch" for change in changes):
            settings["all texts"] = self._texts
        return replace(self._plain, settings=settings)
