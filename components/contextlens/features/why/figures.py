"""The figures of the Why alike? page."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.content.language import say
from contextlens.content.wording import shortened
from contextlens.figures.frames import signed_bound
from contextlens.figures.room import below, beside
from contextlens.figures.svg import HEIGHT, WIDTH, drawing, fitted, text_at, text_width
from contextlens.figures.theme import (
    CATEGORICAL,
    NEUTRAL,
    SEQUENTIAL,
    SIGNED,
    figure,
    plain,
    values,
)

# --- Parts that several pictures share

LOW, HIGH = "#3F8FD6", "#D98A2B"
"""The colours of bars below and above zero, readable in light and dark themes."""

Numbers = NDArray[np.floating[Any]]

BARE: Mapping[str, Any] = MappingProxyType({"showgrid": False, "zeroline": False, "ticks": ""})
_MOST_NAMES = 24
_MOST_LAYERS = 13
_LONG_TITLE = 46  # characters that fit on one line of a narrow chart
_LINE = 42  # characters in a line of a longer title
LEAST = 1e-3
"""The smallest end of a scale of changes: below it, colours would only show rounding."""
LEAST_SHARE = 1e-12
"""The smallest end of a scale of shares: the shares in long texts are small but exact."""


def names(labels: Sequence[str]) -> list[str]:
    """Labels for plotly, escaped and cut; "␣" replaces a blank one."""
    return [plain(label, 16) or "␣" for label in labels]


def word_axis(labels: Sequence[str], *, most: int = _MOST_NAMES) -> dict[str, Any]:
    """An axis of words at 0, 1, ...; with many, every nth is named."""
    step = max(1, ceil(len(labels) / most))
    return {
        **BARE,
        "tickvals": list(range(len(labels)))[::step],
        "ticktext": names(labels)[::step],
        "automargin": True,
        "range": [-0.5, len(labels) - 0.5],
    }


def layer_axis(layers: Sequence[int]) -> dict[str, Any]:
    """An axis of layers at 0, 1, ..., the first at the top; with many, every nth is named."""
    step = max(1, ceil(len(layers) / _MOST_LAYERS))
    return {
        **BARE,
        "tickvals": list(range(len(layers)))[::step],
        "ticktext": [f"layer {n}" for n in layers][::step],
        "automargin": True,
        "range": [len(layers) - 0.5, -0.5],
    }


def signed_end(*arrays: Numbers, least: float = LEAST) -> float:
    """The end of a scale that is symmetric around zero: the largest absolute value of all.

    Args:
        arrays: of any shape; NaN is ignored.
        least: the smallest end that is returned.
    """
    sizes = [float(np.abs(array[np.isfinite(array)]).max(initial=0.0)) for array in arrays]
    return max(*sizes, least) if sizes else least


def titled(
    traces: list[dict[str, Any]], layout: dict[str, Any], *, title: str, height: int
) -> go.Figure:
    """A figure with a title of at most two lines, and a top margin that fits them."""
    is_long = len(title) > _LONG_TITLE
    longest = len(title)
    while is_long and len(textwrap.wrap(shortened(title, longest), _LINE)) > 2:
        longest -= 1
    title = shortened(title, longest)
    margin = {**layout["margin"], "t": 58 if is_long else 40}
    return figure(traces, {**layout, "margin": margin}, title=title, height=height, narrow=is_long)


def colorbar(title: str, end: float, *, is_whole: bool = True) -> dict[str, Any]:
    """The colour bar of a signed picture; "≤" and "≥" mark its ends if values lie beyond them."""
    low, high = ("", "") if is_whole else ("≤", "≥")
    return {
        "title": {"text": title},
        "thickness": 8,
        "len": 0.9,
        "tickvals": [-end, 0, end],
        "ticktext": [f"{low}\N{MINUS SIGN}{end:.2g}", "0", f"{high}+{end:.2g}"],
    }


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign; a number that rounds to zero has none."""
    rounded = round(float(value), digits) + 0.0
    sign = "+" if rounded > 0 else "\N{MINUS SIGN}" if rounded < 0 else ""
    return f"{sign}{abs(rounded):.{digits}f}"


# --- Both sentences as coloured words, for a slide

ColoredRow: TypeAlias = tuple[str, str, Sequence[tuple[str, float | None]]]
"""A sentence's letter and colour, and its words with their values."""
_LONGEST_WORD = 300  # pixels
_LINE_HEIGHT, _LETTER = 70, 36
_MIDDLE = 'text-anchor="middle"'


def words_svg(rows: Sequence[ColoredRow], *, end: float, title: str) -> str:
    """Sentences as an SVG, each word coloured by its value, which stands below it.

    Args:
        rows: the sentences; a word without a value has no colour.
        end: the absolute value with the strongest colour.
        title: the finding, as a line above.
    """
    parts = [text_at(0, 20, fitted(title, WIDTH, 17), 17, 1.0, 'font-weight="600"')]
    y = 64.0
    for letter, color, words in rows:
        if y + _LINE_HEIGHT > HEIGHT:
            break
        x = float(_LETTER)
        parts.append(f'<rect x="0" y="{y - 4:.0f}" width="4" height="40" fill="{color}"/>')
        parts.append(text_at(12, y + 23, letter, 20, 1.0, 'font-weight="600"'))
        for word, value in words:
            label = fitted(word, _LONGEST_WORD, 20)
            width = max(text_width(label, 20) + 16, 52)
            if x + width > WIDTH:
                x, y = float(_LETTER), y + _LINE_HEIGHT
            if y + _LINE_HEIGHT > HEIGHT:
                parts.append(text_at(x, HEIGHT - 8, "…", 20, 0.7))
                break
            parts.append(_word_box(x, y, width, label, value, end))
            x += width + 8
        y += _LINE_HEIGHT + 24
    return drawing(parts, min(y, HEIGHT))


def _word_box(x: float, y: float, width: float, label: str, value: float | None, end: float) -> str:
    color, opacity = HIGH if (value or 0) > 0 else LOW, min(1.0, abs(value or 0) / end) * 0.72
    box = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="32" rx="6" '
    box += f'fill="{color}" fill-opacity="{opacity:.2f}" stroke="currentColor" '
    box += 'stroke-opacity="0.25"/>'
    middle = x + width / 2
    below_it = "" if value is None else text_at(middle, y + 49, signed(value), 14, 0.7, _MIDDLE)
    return box + text_at(middle, y + 23, label, 20, 1.0, _MIDDLE) + below_it


# --- The effect of single words on the cosine

MOST = 12
_FEWEST = 4  # minimum rows of space, so that a single bar does not fill the chart


@dataclass(frozen=True)
class WordBar:
    """A word and the number that its bar shows.

    Attributes:
        label: the word, as written in the text.
        sentence: the letter of its sentence.
        value: the change or share, with its sign.
        beside: a second number, drawn as a mark; None for no mark.
    """

    label: str
    sentence: str
    value: float
    beside: float | None = None


def word_bars(
    bars: Sequence[WordBar],
    *,
    quantity: str,
    beside: str = "",
    title: str,
    height: int = 360,
) -> go.Figure:
    """Bars from zero, the largest absolute values on top; at most twelve.

    Args:
        bars: the words.
        quantity: the meaning of a bar, under the axis.
        beside: the meaning of a mark, also under the axis; "" for no marks.
        title: the finding.
        height: in pixels.
    """
    largest = sorted(bars, key=lambda bar: -abs(bar.value))[:MOST]
    bar_values = np.array([bar.value for bar in largest], dtype=np.float64)
    marks = np.array([np.nan if b.beside is None else b.beside for b in largest], dtype=np.float64)
    labels = [
        f"{name} · {bar.sentence}"
        for name, bar in zip(names([b.label for b in largest]), largest, strict=True)
    ]
    traces = [
        _bars(bar_values, labels, quantity),
        *([_marks(marks, labels, beside)] if beside else []),
    ]
    layout = {
        "xaxis": {
            "title": {"text": f"{quantity}   ◇ {beside}" if beside else quantity},
            "range": _range(np.concatenate([bar_values, marks])),
            "zeroline": True,
            "zerolinewidth": 1,
        },
        "yaxis": {
            **BARE,
            "tickvals": list(range(len(largest))),
            "ticktext": [
                f"{label}  {signed(v)}" for label, v in zip(labels, bar_values, strict=True)
            ],
            "range": [max(len(largest), _FEWEST) - 0.5, -0.5],
            "automargin": True,
        },
        "margin": {"l": 8, "r": 24, "b": 48},
    }
    return titled(traces, layout, title=title, height=height)


def _bars(bar_values: Numbers, labels: Sequence[str], quantity: str) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "x": values(bar_values),
        "y": list(range(len(bar_values))),
        "marker": {"color": [HIGH if value > 0 else LOW for value in bar_values]},
        "width": 0.66,
        "customdata": _named(labels, bar_values),
        "hovertemplate": f"%{{customdata[0]}}<br>{quantity} %{{customdata[1]}}<extra></extra>",
    }


def _marks(marks: Numbers, labels: Sequence[str], beside: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [None if np.isnan(value) else round(float(value), 5) for value in marks],
        "y": list(range(len(marks))),
        "marker": {
            "symbol": "diamond",
            "size": 9,
            "color": "#FFFFFF",
            "line": {"width": 1.5, "color": "#4A5560"},
        },
        "customdata": _named(labels, marks),
        "hovertemplate": f"%{{customdata[0]}}<br>{beside} %{{customdata[1]}}<extra></extra>",
    }


def _named(labels: Sequence[str], numbers: Numbers) -> list[list[str]]:
    """Each word with its formatted number: plotly's own formats have no real minus sign."""
    return [
        [label, "" if np.isnan(value) else signed(value, 4)]
        for label, value in zip(labels, numbers.tolist(), strict=True)
    ]


def _range(drawn: Numbers) -> list[float]:
    """The axis range: up to the largest absolute value on each side where anything is drawn."""
    finite = drawn[np.isfinite(drawn)]
    end = 1.08 * signed_end(finite)
    low, high = (bool((sign * finite > 0).any()) for sign in (-1, 1))
    return [-end if low else -0.02 * end, end if high else 0.02 * end]


# --- The effect of each head, attention and feed-forward

_PARTS = (("attention", CATEGORICAL[4]), ("feed-forward", CATEGORICAL[2]))
_KEY = "<br>".join(
    f'<span style="color:{color}">\N{BLACK SQUARE}</span> {name}' for name, color in _PARTS
)
"""The legend under the bars, as a phone has no room for plotly's."""
_HEADS = (0.0, 0.58)
_LAYERS = (0.76, 1.0)
_BAR = 0.595  # of the width: the position of the heads' colour bar


def switched_off(
    heads: Numbers,
    attention: Numbers,
    feed_forward: Numbers,
    *,
    title: str,
    height: int = 360,
) -> go.Figure:
    """A grid of the changes of the cosine with each head off, and bars with whole parts off.

    Args:
        heads: (n_layers, n_heads) changes; layers from 1, heads from 0.
        attention, feed_forward: (n_layers,) changes.
        title: the finding.
        height: in pixels.
    """
    layers = list(range(1, len(heads) + 1))
    traces = [_grid(heads, layers), *_layer_bars((attention, feed_forward), layers)]
    n_heads = heads.shape[1]
    tick = max(1, -(-n_heads // 16))
    end = signed_end(attention, feed_forward)
    round_end = _round(end)
    rows = layer_axis(layers)
    layout = {
        "xaxis": {"domain": list(_HEADS), "title": {"text": "head"}, **BARE, "dtick": tick},
        "xaxis2": {
            "domain": list(_LAYERS),
            "title": {"text": _KEY},
            "range": [-1.15 * end, 1.15 * end],
            "tickvals": [-round_end, 0, round_end],
            "ticktext": [f"\N{MINUS SIGN}{round_end:.1g}", "0", f"+{round_end:.1g}"],
            "anchor": "y",
            "zeroline": True,
            "zerolinewidth": 1,
        },
        "yaxis": rows,
        "barmode": "group",
        "bargap": 0.3,
        "margin": {"l": 8, "r": 24, "b": 56},
    }
    return titled(traces, layout, title=title, height=height)


def _round(end: float) -> float:
    """The largest one-digit number up to an end: 0.08 for 0.087."""
    size = 10.0 ** np.floor(np.log10(end))
    return float(np.floor(end / size + 1e-9) * size)


def _grid(heads: Numbers, layers: Sequence[int]) -> dict[str, Any]:
    end = signed_end(heads)
    return {
        "type": "heatmap",
        "z": np.ascontiguousarray(heads, dtype=np.float32),
        "zmin": -end,
        "zmax": end,
        **SIGNED,
        "xgap": 1,
        "ygap": 1,
        "customdata": [
            [[n, signed(value, 4)] for value in row]
            for n, row in zip(layers, heads.tolist(), strict=True)
        ],
        "hovertemplate": (
            "layer %{customdata[0]}, head %{x}<br>change %{customdata[1]}<extra></extra>"
        ),
        "colorbar": {**colorbar("change", end), "x": _BAR},
    }


def _layer_bars(parts: Sequence[Numbers], layers: Sequence[int]) -> list[dict[str, Any]]:
    places = list(range(len(layers)))
    return [
        {
            "type": "bar",
            "orientation": "h",
            "xaxis": "x2",
            "name": name,
            "x": values(part_changes),
            "y": places,
            "marker": {"color": color},
            "customdata": [
                [n, signed(value, 4)]
                for n, value in zip(layers, part_changes.tolist(), strict=True)
            ],
            "hovertemplate": f"layer %{{customdata[0]}}, {name} off<br>"
            "change %{customdata[1]}<extra></extra>",
        }
        for (name, color), part_changes in zip(_PARTS, parts, strict=True)
    ]


# --- A matrix of signed numbers between words

_ANGLE = -50  # degrees, of the names under the columns
_TITLE = 33  # pixels of an axis title, beside its names
_NAMED = 18  # the most words that have room for their names
_MANY = 64  # the most words whose cells have room for gaps, and for names on hover


def signed_matrix(
    values: Numbers,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    quantity: str,
    title: str,
    axes: tuple[str, str] = ("", ""),
    marked: tuple[int | None, int | None] = (None, None),
    height: int = 360,
    least: float = LEAST,
) -> go.Figure:
    """A heatmap of signed values, symmetric around zero, with exact values on hover.

    The scale of a large matrix covers 99.5 of 100 values, as a few large ones would leave no colour
    for the others; its ends say so.

    Args:
        values: (n_rows, n_columns); NaN for cells with nothing to show.
        rows, columns: the words, escaped here.
        quantity: the name of a value, for hover and scale.
        title: the finding.
        axes: the titles of the vertical and the horizontal axis.
        marked: a row and a column that get a frame.
        height: in pixels.
        least: the smallest end of the scale of a small matrix.
    """
    is_small = max(values.shape, default=0) <= _MANY
    end = signed_end(values, least=least) if is_small else signed_bound(values.astype(np.float32))
    gap = int(is_small)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": np.ascontiguousarray(values, dtype=np.float32),  # travels in binary
        "zmin": -end,
        "zmax": end,
        **SIGNED,
        "xgap": gap,
        "ygap": gap,
        "hoverongaps": False,
        "colorbar": colorbar(quantity, end, is_whole=is_small),
        **_hover(values, rows, columns, quantity),
    }
    across, down = (word_axis(words, most=_few(words)) for words in (columns, rows))
    layout = {
        "xaxis": {**across, "title": {"text": axes[1]}, "tickangle": _ANGLE},
        "yaxis": {**down, "title": {"text": axes[0]}, "range": [len(rows) - 0.5, -0.5]},
        "margin": {
            "l": beside(down["ticktext"]) + _TITLE,
            "r": 80,
            "b": below(across["ticktext"], _ANGLE) + _TITLE,
        },
        "shapes": [
            _frame(axis, index)
            for axis, index in zip("yx", marked, strict=True)
            if index is not None
        ],
    }
    return titled([trace], layout, title=title, height=height)


def _few(words: Sequence[str]) -> int:
    """The number of names on an axis: all if they fit, or enough for readers to find a place."""
    return _NAMED if len(words) <= _NAMED else _NAMED // 2


def _hover(
    values: Numbers, rows: Sequence[str], columns: Sequence[str], quantity: str
) -> dict[str, Any]:
    """The hover data: both words and the value; in large matrices, positions and the value."""
    if max(len(rows), len(columns)) > _MANY:
        return {
            "hovertemplate": f"row %{{y}}, column %{{x}}<br>{quantity} %{{z:.4f}}<extra></extra>"
        }
    across, down = names(columns), names(rows)
    return {
        "customdata": [
            [
                [row, column, signed(value, 4)]
                for column, value in zip(across, row_values, strict=True)
            ]
            for row, row_values in zip(down, values.tolist(), strict=True)
        ],
        "hovertemplate": (
            f"%{{customdata[0]}} × %{{customdata[1]}}<br>{quantity} %{{customdata[2]}}"
            "<extra></extra>"
        ),
    }


def _frame(axis: str, index: int) -> dict[str, Any]:
    other = "x" if axis == "y" else "y"
    return {
        "type": "rect",
        f"{other}ref": "paper",
        f"{other}0": 0,
        f"{other}1": 1,
        f"{axis}0": index - 0.5,
        f"{axis}1": index + 0.5,
        "line": {"color": NEUTRAL, "width": 2},
    }


# --- The effect of swapped hidden states


def swap_heatmap(
    fractions: Numbers,
    tokens: Sequence[str],
    layers: Sequence[int],
    *,
    ends: tuple[str, str] = ("A", "B"),
    title: str,
    height: int = 360,
) -> go.Figure:
    """A heatmap, tokens across and layers down, from 0 (no change) to 1 (the other sentence).

    Colours end at 0 and 1; values beyond are exact on hover.

    Args:
        fractions: (n_layers, n_tokens); NaN for a token without a partner.
        tokens: the text under each column, escaped here.
        layers: the layer of each row.
        ends: the letters of the sentence that is changed, and of the one it is moved towards.
        title: the finding.
        height: in pixels.
    """
    labels = names(tokens)
    gap = int(len(tokens) <= _MANY)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": np.ascontiguousarray(fractions, dtype=np.float32),
        "zmin": 0.0,
        "zmax": 1.0,
        "colorscale": SEQUENTIAL,
        "xgap": gap,
        "ygap": 1,
        "hoverongaps": False,
        "customdata": [
            [
                [label, layer, _share_in_words(share, ends[1])]
                for label, share in zip(labels, shares, strict=True)
            ]
            for layer, shares in zip(layers, fractions.tolist(), strict=True)
        ],
        "hovertemplate": (
            "%{customdata[0]}, swapped in at layer %{customdata[1]}<br>"
            "%{customdata[2]}<extra></extra>"
        ),
        "colorbar": {"title": {"text": say("why.swap_in.scale")}, "thickness": 8, "len": 0.9,
                     "tickvals": [0, 0.5, 1], "ticktext": ["0%", "50%", "100%"]},
    }  # fmt: skip
    layout = {
        "xaxis": {**word_axis(tokens), "tickangle": -50},
        "yaxis": layer_axis(layers),
        "margin": {"l": 8, "r": 8, "b": 8},
    }
    return titled([trace], layout, title=title, height=height)


def _share_in_words(share: float, end: str) -> str:
    """A share of the way in words: in per cent, or as a distance beyond either end."""
    if np.isnan(share):
        return ""
    whole = round(100 * share)
    where = "hover_beyond" if whole > 100 else "hover_away" if whole < 0 else "hover"
    return say(f"why.swap_in.{where}", share=abs(share), b=end)
