"""Interventions held against the model and the text at the door.

A position too far or a head too many would else end inside torch, or change something else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from components.core.encoder.request import is_index, one_of
from components.core.encoder.tokenizing import checked_texts
from components.core.errors import RequestError
from components.core.schema import (
    Average,
    Block,
    Intervention,
    ModelCard,
    Patch,
    SwitchOff,
    Tokens,
)

__all__ = ["Changes", "check_changes", "read_changes", "sources_of"]

Changes = tuple[Intervention, ...]
"""All that is changed while one text is read."""

_KINDS = (SwitchOff, Block, Patch, Average)


def read_changes(interventions: object, n_texts: int) -> list[Changes]:
    """The interventions for each text, read once.

    Raises:
        RequestError: no list for each text, or something in one that is no intervention.
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
    """Pass where the model and the text have all that is named.

    Args:
        changes: of one text.
        tokens: the text's.
        card: of the model.
        sources: the tokens of each text that states are taken from, by text and pair.
        has_baseline: whether there are texts to average parts over.

    Raises:
        RequestError: what is not there, or does not fit.
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
            f"Positions {_shown(positions)} were named; {_shown(tokens.text)} has the positions 0 "
            f"to {tokens.n_tokens - 1} in this model. Give some of these."
        )


def _check_numbers(what: str, numbers: Any) -> None:
    whole = isinstance(numbers, tuple) and all(is_index(n, 0, sys.maxsize) for n in numbers)
    if not whole or not numbers or len(set(numbers)) != len(numbers):
        raise RequestError(
            f"{what} {_shown(numbers)} were named; give a tuple of whole numbers, at least one and "
            "each once."
        )


def _check_source(change: Patch, source: Tokens) -> None:
    given = change.source_positions
    if not isinstance(given, tuple) or len(given) != len(change.positions):
        raise RequestError(
            f"Positions {_shown(change.positions)} were to be taken from positions "
            f"{_shown(given)}; give one position of the other text for each."
        )
    for position in given:  # one state may be put in at several positions
        _check_positions((position,), source)


def _check_something_is_seen(changes: Changes, tokens: Tokens, card: ModelCard) -> None:
    """Nothing is what attention to no position at all would give."""
    blocks = [change for change in changes if isinstance(change, Block)]
    if len({block.token for block in blocks}) < tokens.n_tokens:
        return
    for layer in range(1, card.n_layers + 1):
        here = [b for b in blocks if b.layers is None or layer in b.layers]
        for position in range(tokens.n_tokens):
            hidden = {b.token for b in here if b.seen_by in {None, position}}
            if len(hidden) == tokens.n_tokens:
                raise RequestError(
                    f"All {tokens.n_tokens} positions were hidden from position {position} in "
                    f"layer {layer}; leave it at least one to look at."
                )


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def sources_of(rows: Sequence[Changes]) -> list[tuple[str, str | None]]:
    """The texts that states are taken from, each once.

    Raises:
        TextError: something that is no text, or that no tokenizer can read.
    """
    patches = [change for row in rows for change in row if isinstance(change, Patch)]
    sources, pairs = [p.source for p in patches], [p.source_pair for p in patches]
    return list(dict.fromkeys(checked_texts(sources, pairs)))
