"""One token: a measure of it over the layers, as a strong line among those of the other tokens."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.baseline import Band
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import (
    leading,
    listed,
    placed,
    two,
)
from contextlens.core.schema import Encoding, FloatArray, PartState
from contextlens.features.layers.heatmap import token_names
from contextlens.features.layers.hidden_states import (
    MAX_TICKS,
    HiddenStates,
    Measure,
    clip_cosines,
    measure,
    own_tokens,
    text_cautions,
    training_cautions,
    unit_vectors,
)
from contextlens.figures.frames import add_frames, end_label, layer_mark, spread
from contextlens.figures.margins import beside
from contextlens.figures.similarity import band_area, cosine_range
from contextlens.figures.theme import (
    INK,
    MUTED,
    NEUTRAL,
    SMALLEST,
    color_of,
    figure,
    plain,
    values,
)
from contextlens.ui.panel import Panel

_RISE = 0.1  # of a cosine to another token's starting vector, to be called a movement towards it
_HEIGHT = 360
_ABOVE, _BELOW = 16, 70  # pixels of the margins above and below the lines
_MAX_NAME_LENGTH = 14  # characters
_MAX_VALUES = 7  # written along the chosen token's line
_MAX_NAMED = 10  # lines whose names have room at their ends
_FEW_LINES = 40  # that can be told apart


@dataclass(frozen=True, eq=False)
class OneToken(Panel):
    """One token's way through the layers.

    Attributes:
        measure: the measure in the picture.
        labels: the text written on each token.
        position: the token.
        layers: all layers of the text, each of which gets a frame.
        layer: the chosen layer.
        steps: the measure "before" of the same text.
        to_starts: (n_layers, n_tokens) the token's cosines to all tokens at layer 0.
        training: the training state of the encoder.
        band: the yardstick at each layer, or None for none.
        are_words: True if each token of the text is a word of its own.
        measure_name: the measure's name in the description.
        color: of the strong line.
    """

    measure: Measure
    labels: Sequence[str]
    position: int
    layers: Sequence[int]
    layer: int
    steps: Measure
    to_starts: FloatArray
    training: PartState
    band: Band | None = None
    are_words: bool = False
    measure_name: str = ""
    color: str = INK

    # The words

    def title(self) -> Claim:
        """Return the finding at the layer, or over all layers."""
        labels = self.labels
        numbers: dict[str, Any] = {
            "name": placed(labels[self.position], self.position, labels),
            "first": placed(labels[0], 0, labels),
        }
        if not self.measure.layers:
            return claim("layers.title.none")
        if self.measure.kind != "start":
            verdict, peak = self._peak(self.measure)
            return claim(f"layers.one.title.{self.measure.kind}{verdict}", **numbers, **peak)
        row = self.measure.row(self.layer)
        value = float(self.measure.values[row, self.position])
        key = f"layers.one.title.{self._distance(row)}"
        return claim(key, layer=self.layer, value=value, **numbers)

    def claims(self) -> list[Claim]:
        """Return its rank by its similarity to the start, or else its value at the layer."""
        measured, layer, labels = self.measure, self.layer, self.labels
        claims = text_cautions(measured, labels)
        token = placed(labels[self.position], self.position, labels)
        if layer not in measured.layers:
            claims.append(claim("layers.no_layer_before"))
        elif measured.kind == "start":
            claims += self._rank() if layer > 0 else []
        else:
            value = float(measured.values[measured.row(layer), self.position])
            numbers: dict[str, Any] = {"layer": layer, "token": token, "value": value}
            first = placed(labels[0], 0, labels)
            numbers |= {"first": first} if measured.kind == "first" else {}
            average = float(measured.averages[measured.row(layer)])
            only = "only." if len(measured.counted) < 2 else ""
            key = f"layers.one.{only}{measured.kind}"
            claims.append(claim(key, average=average, **numbers))
        return claims + training_cautions(self.training)

    def sure(self) -> list[Claim]:
        """Return its largest step and the token that it moves towards."""
        layer, measured = self.layer, self.measure
        if measured.kind != "start" or layer not in measured.layers or layer == 0:
            return []
        claims = []
        if len(self.steps.layers) > 1:
            verdict, peak = self._peak(self.steps)
            claims.append(claim(f"layers.one.step{verdict}", **peak))
        direction = self._direction()
        return claims if direction is None else [*claims, direction]

    def _distance(self, row: int) -> Literal["begin", "near", "far", "lost"]:
        """Return a verdict on the cosine to the start, on the scale from other tokens' to 1.

        The token has moved "far" if it is nearer to what two different tokens have than to 1, and
        is "lost" if one of 20 pairs of different tokens has as much.
        """
        if self.measure.layers[row] == 0:
            return "begin"
        value, chance = float(self.measure.values[row, self.position]), self.measure.chance
        if chance is not None and value <= float(chance.high[row]):
            return "lost"
        usual = 0.0 if chance is None else float(chance.mean[row])
        return "near" if value > (1 + usual) / 2 else "far"

    def _rank(self) -> list[Claim]:
        """Return a claim if the token has changed least or most of the text's own tokens."""
        own = np.flatnonzero(self.measure.own_mask).tolist()
        if self.position not in own or len(own) < 3:
            return []
        unit = "words" if self.are_words else "tokens"
        cosines = self.measure.values[self.measure.row(self.layer), own].tolist()
        if self.measure.are_even(cosines):
            return []
        for end, sign in (("least", 1), ("most", -1)):
            if [own[i] for i in self.measure.leaders(cosines, sign)] == [self.position]:
                return [claim(f"layers.one.rank.{unit}.{end}", n=len(own))]
        return []

    def _peak(self, measured: Measure) -> tuple[Literal["", ".even"], dict[str, Any]]:
        """Return the layers at which a measure is highest; for "before", lowest.

        The first value is the end of a sentence's key: "", or ".even" if no layer stands out.
        """
        along = measured.values[:, self.position].tolist()
        if measured.are_even(along):
            return ".even", {"value": float(np.mean(along))}
        best = measured.leaders(along, measured.peak_sign)
        names = listed(sorted(measured.layers[i] for i in best)).capitalize()
        return "", {"n": len(best), "Layers": names, "value": along[best[0]]}

    def _direction(self) -> Claim | None:
        """Return the claim about the token that it moves towards; None where there is none."""
        measured, layer = self.measure, self.layer
        is_start = measured.kind == "start" and layer in measured.layers and layer > 0
        if not is_start or not self._others or measured.chance is None:
            return None
        at = self._towards()
        if at is None:
            return claim("layers.one.unclear")
        row = measured.row(layer)
        before, after = float(self.to_starts[0, at]), float(self.to_starts[row, at])
        other = placed(self.labels[at], at, self.labels)
        return claim("layers.one.towards", other=other, before=before, after=after)

    @property
    def _others(self) -> list[int]:
        """The positions of the text's other tokens."""
        own: list[int] = np.flatnonzero(self.measure.own_mask).tolist()
        return [i for i in own if i != self.position]

    def _towards(self) -> int | None:
        """Return the token whose starting vector this one has come closer to, if one stands out.

        It stands out if the cosine rose by `_RISE` at least and more than any other, and if fewer
        than one of 20 pairs of different tokens have as much.
        """
        others, chance, row = self._others, self.measure.chance, self.measure.row(self.layer)
        if self.measure.kind != "start" or not others or chance is None:
            return None
        rises = (self.to_starts[row] - self.to_starts[0])[others].tolist()
        best = leading(rises)
        at = others[best[0]]
        is_usual = float(self.to_starts[row, at]) < float(chance.high[row])
        return None if len(best) > 1 or rises[best[0]] < _RISE or is_usual else at

    # The picture

    def alt(self) -> str:
        """Return a description of the lines."""
        title = str(self.title()).replace("**", "")
        token = self.labels[self.position]
        return say("layers.one.alt", title=title, measure=self.measure_name, token=token)

    def figure(self) -> go.Figure:
        """Return the lines, with a frame for each layer, to which the strong line has come."""
        measured, kind, layers = self.measure, self.measure.kind, self.layers
        names, scale = token_names(self.labels), self._scale()
        others = [i for i in range(len(names)) if i != self.position]
        towards = self._towards() if measured.layers else None
        few = others if len(others) < _MAX_NAMED else [] if towards is None else [towards]
        named = [self.position, *few]
        notes = _end_names(measured, names, named, scale)
        frames = {n: self._way_to(n) for n in layers}
        looks = {
            n: {"annotations": [*notes, *self._band_label(n)], "shapes": [layer_mark(n)]}
            for n in layers
        }
        still = [
            *self._band_area(),
            _faint_lines(measured, names, [i for i in others if measured.own_mask[i]]),
            self._whole_way(names[self.position]),
            _special_lines(measured, names, [i for i in others if not measured.own_mask[i]]),
        ]
        ticks = list(layers)[:: ceil(len(layers) / MAX_TICKS)]
        axis = say(f"layers.one.axis.{kind}", first=self.labels[0])
        layout = {
            "xaxis": {
                "title": {"text": "layer"},
                "tickvals": ticks,
                "ticktext": ["start" if n == 0 else str(n) for n in ticks],
                "range": [layers[0] - 0.25, layers[-1] + 0.15],
                "zeroline": False,
                "showgrid": False,
            },
            "yaxis": {"title": {"text": plain(axis, 60)}, "range": list(scale), "zeroline": False},
            "shapes": [layer_mark(self.layer)],
            "margin": {
                "l": 80,
                "r": beside([_end_text(measured, names, i) for i in named], most=150),
                "t": _ABOVE,
                "b": _BELOW,
            },
            "hovermode": "closest",
        }
        chart = figure([*frames[self.layer], *still], layout, title="", height=_HEIGHT)
        add_frames(chart, frames, self.layer, [""] * len(frames), looks=looks)
        return chart

    def _scale(self) -> tuple[float, float]:
        if self.measure.kind == "length":
            return 0.0, 1.08 * float(self.measure.values.max(initial=1e-6))
        bottom, top = cosine_range(self.measure.values)
        has_negative = self.measure.values.size and float(self.measure.values.min()) < 0
        return bottom if has_negative else 0.0, top + 0.06

    def _way_to(self, layer: int) -> list[dict[str, Any]]:
        """Return the token's line up to a layer, and a dot at its end."""
        rows = [row for row, n in enumerate(self.measure.layers) if n <= layer]
        x = [self.measure.layers[row] for row in rows]
        y = values(self.measure.values[rows, self.position])
        whole = {"type": "scatter", "hoverinfo": "skip", "zorder": 3}
        return [
            {**whole, "mode": "lines", "x": x, "y": y, "line": {"color": self.color, "width": 5}},
            {
                **whole,
                "mode": "markers",
                "x": x[-1:],
                "y": y[-1:],
                "marker": {"size": 16, "color": self.color},
                "cliponaxis": False,
            },
        ]

    def _whole_way(self, name: str) -> dict[str, Any]:
        """Return the token's line over all layers, thin, with some values between its ends."""
        along = values(self.measure.values[:, self.position])
        last, step = len(along) - 1, ceil(len(along) / _MAX_VALUES)
        texts = [two(y) if 0 < i < last and i % step == 0 else "" for i, y in enumerate(along)]
        return {
            "type": "scatter",
            "mode": "lines+markers+text",
            "x": list(self.measure.layers),
            "y": along,
            "text": texts,
            "textposition": "top right",
            "textfont": {"size": SMALLEST, "color": INK},
            "line": {"color": self.color, "width": 2, "dash": "dot"},
            "marker": {"size": 7, "color": self.color},
            "cliponaxis": False,
            "zorder": 2,
            "hovertemplate": f"{name}<br>layer %{{x}}: %{{y:.4f}}<extra></extra>",
        }

    def _band_area(self) -> list[dict[str, Any]]:
        band, x = self.band, list(self.measure.layers)
        if band is None:
            return []
        return [
            band_area(x, band),
            {
                "type": "scatter",
                "mode": "lines",
                "x": x,
                "y": values(band.mean),
                "line": {"color": NEUTRAL, "width": 1, "dash": "dot"},
                "customdata": [*map(list, zip(values(band.low), values(band.high), strict=True))],
                "hovertemplate": (
                    f"{self._band_name()}<br>layer %{{x}}: %{{y:.4f}} on average<br>"
                    "90 of 100 from %{customdata[0]:.4f} to %{customdata[1]:.4f}<extra></extra>"
                ),
            },
        ]

    def _band_label(self, layer: int) -> list[dict[str, Any]]:
        """Return the band's name, and its average at a layer, at the left end of the average."""
        band, x = self.band, self.measure.layers
        if band is None or not x:
            return []
        mean = float(band.mean[x.index(layer)] if layer in x else np.nan)
        text = say("layers.one.band_at", name=self._band_name(), mean=mean)
        return [
            {
                "text": self._band_name() if np.isnan(mean) else text,
                "x": x[0],
                "y": float(band.mean[0]),
                "xanchor": "left",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": SMALLEST, "color": MUTED},
            }
        ]

    def _band_name(self) -> str:
        return say(f"layers.one.band.{'words' if self.measure.kind == 'first' else 'tokens'}")


def one_token(states: HiddenStates) -> OneToken:
    """Return the picked token's way through the layers."""
    measured = states.measure
    return OneToken(
        measure=measured,
        labels=states.labels,
        position=states.picked,
        layers=states.encoding.layers,
        layer=states.layer,
        steps=measure(states.encoding, "before"),
        to_starts=cosines_to_starts(states.encoding, states.picked),
        training=states.card.provenance.encoder,
        are_words=are_words(states.encoding),
        band=states.random_band if measured.kind == "first" else measured.chance,
        measure_name=states.measure_name,
        color=color_of(states.index),
    )


def are_words(encoding: Encoding) -> bool:
    """Return True if each own token of a text is a whole word, and no punctuation mark."""
    own = own_tokens(encoding)
    words = list(zip(encoding.text_ids[own].tolist(), encoding.word_ids[own].tolist(), strict=True))
    texts = (encoding.text, encoding.pair or "")
    spans = zip(words, encoding.offsets[own].tolist(), strict=True)
    are_written = all(
        word >= 0 and any(map(str.isalnum, texts[text_id][slice(*span)]))
        for (text_id, word), span in spans
    )
    return are_written and len(set(words)) == len(words)


def cosines_to_starts(encoding: Encoding, position: int) -> FloatArray:
    """(n_layers, n_tokens) cosines of a token at each layer to all tokens at the first one."""
    return clip_cosines(
        unit_vectors(encoding.hidden[:, position]) @ unit_vectors(encoding.hidden[0]).T
    )


def _faint_lines(measured: Measure, names: Sequence[str], others: Sequence[int]) -> dict[str, Any]:
    """Return the other tokens' lines, as one trace with gaps."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [n for _ in others for n in (*measured.layers, None)],
        "y": [y for i in others for y in (*values(measured.values[:, i]), None)],
        "customdata": [names[i] for i in others for _ in range(len(measured.layers) + 1)],
        "line": {"color": NEUTRAL, "width": 1.25},
        "opacity": 0.5 if len(others) <= _FEW_LINES else 0.15,
        "hovertemplate": "%{customdata}<br>layer %{x}: %{y:.4f}<extra></extra>",
    }


def _special_lines(
    measured: Measure, names: Sequence[str], others: Sequence[int]
) -> dict[str, Any]:
    """Return the lines of tokens that the tokenizer added, dotted."""
    lines = _faint_lines(measured, names, others)
    return {**lines, "line": {**lines["line"], "dash": "dot"}}


def _end_text(measured: Measure, names: Sequence[str], position: int) -> str:
    name = plain(html.unescape(names[position]), _MAX_NAME_LENGTH)
    return f"{name} {two(float(measured.values[-1, position]))}" if measured.layers else name


def _end_names(
    measured: Measure, names: Sequence[str], positions: Sequence[int], scale: tuple[float, float]
) -> list[dict[str, Any]]:
    """Return names and values at the right ends of lines, apart; the first one is bold."""
    if not measured.layers:
        return []
    gap = (scale[1] - scale[0]) * 18 / (_HEIGHT - _ABOVE - _BELOW)
    heights = spread([float(measured.values[-1, i]) for i in positions], gap, scale)
    notes = []
    for rank, (position, y) in enumerate(zip(positions, heights, strict=True)):
        text, color = _end_text(measured, names, position), INK if rank == 0 else MUTED
        note = end_label(f"<b>{text}</b>" if rank == 0 else text, y)
        notes.append({**note, "xshift": 10, "font": {"size": SMALLEST, "color": color}})
    return notes
