"""One token through the layers, as a figure and in words. No streamlit in here."""

from __future__ import annotations

from plotly import graph_objects as go

from contextlens.content.language import Claim, say
from contextlens.features.layers.compute import HiddenStates
from contextlens.features.layers.figures import token_lines
from contextlens.features.layers.measures import cosines_to_starts, measure
from contextlens.features.layers.reading import token_reading, token_titles
from contextlens.figures.theme import color_of


def line_titles(states: HiddenStates) -> list[str]:
    """Return the finding about the picked token at each layer of the text."""
    measured = states.measure
    claims = [str(title) for title in token_titles(measured, states.picked, states.labels)]
    rows = [measured.row(n) if measured.layers else 0 for n in states.encoding.layers]
    return [claims[row] for row in rows]


def lines_of(states: HiddenStates) -> go.Figure:
    """Return the measure of the picked token over the layers, among the other tokens' lines."""
    measured, kind = states.measure, states.measure.kind
    band = states.band if kind == "first" else measured.chance
    return token_lines(
        measured,
        states.labels,
        picked=states.picked,
        layers=states.encoding.layers,
        layer=states.layer,
        band=band,
        band_name="" if band is None else say(f"layers.one.band.{kind}"),
        axis=say(f"layers.one.axis.{kind}", first=states.labels[0]),
        titles=line_titles(states),
        color=color_of(states.index),
    )


def reading_of_token(states: HiddenStates) -> tuple[list[Claim], list[Claim]]:
    """Return the claims on the picked token at the chosen layer, and the folded ones."""
    return token_reading(
        states.measure,
        states.labels,
        states.picked,
        states.layer,
        steps=measure(states.encoding, "before"),
        to_starts=cosines_to_starts(states.encoding, states.picked),
        state=states.card.provenance.encoder,
    )
