"""The picture of the batch: a column for each text, with each token's bit of the mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, number, placed, several, two
from contextlens.features.masks.padded_batch import Masks, PaddedBatch, PaddedText, token_labels
from contextlens.figures.theme import (
    INK,
    MUTED,
    NEUTRAL,
    SMALLEST,
    figure,
    plain,
    values,
)
from contextlens.ui.panel import Panel

_UNCHANGED = two(1.0)
_MIN_SCALE = 0.1  # of change: less is faint
_ORANGE = [[0, "rgba(128,128,128,0.12)"], [1, "rgba(230,140,0,0.85)"]]
_DARK, _STRONG = "#1F2933", 0.3  # ink from this share of the scale on, in both themes
_HATCH = {"shape": "/", "fgcolor": NEUTRAL, "fgopacity": 0.4, "size": 9, "solidity": 0.14}
_BARE_AXIS = {"showgrid": False, "zeroline": False, "ticks": ""}
_MAX_ROWS = 23  # tokens that still have room for their names
_MAX_WIDE = 4  # columns; with more, names are smaller
_MAX_VALUES = 3  # columns that still have room for numbers beside the names
_BITS = 0.4  # from a column's middle to its bits, in widths of a column


@dataclass(frozen=True, eq=False)
class BatchGrid(Panel):
    """The batch: real tokens as coloured cells, padding hatched.

    Attributes:
        batch: the texts.
        row: the text that the numbers are for; if it has no padding, none has.
        layer: the layer whose cosines colour the tokens.
        largest_change: the end of the colour scale, which begins at no change.
        averaged: True if padding is averaged in.
    """

    batch: PaddedBatch
    row: PaddedText
    layer: int
    largest_change: float = 1.0
    averaged: bool = False

    # The words

    def title(self) -> Claim:
        """Return the finding: what the mask does with the padding."""
        if not self.batch.share:
            return claim("masks.title.none")
        return claim("masks.title.on" if self.batch.masked else "masks.title.off")

    def claims(self) -> list[Claim]:
        """Return the finding without padding; with padding, the four cases have it."""
        n_positions = len(self.batch.rows) * self.batch.pad_to
        return [] if self.row.n_padding else [claim("masks.share.none", n=n_positions)]

    def most(self) -> list[Claim]:
        """Return the one or two words of the text that padding changes most, if it changes them."""
        row, cosines = self.row, self._cosines(self.row)
        labels = token_labels(row.alone)
        words = [i for i, text_id in enumerate(row.alone.text_ids) if text_id >= 0]
        lowest = two(min((cosines[i] for i in words), default=1.0))
        leaders = [i for i in words if two(cosines[i]) == lowest]
        if lowest == _UNCHANGED or not 1 <= len(leaders) <= 2 or len(words) < 3:
            return []
        names = [placed(labels[i], i, labels) for i in leaders]
        return [claim("masks.most", n=len(names), names=several(names))]

    def sure(self) -> list[Claim]:
        """Return the share of padding, its effect, the compared vectors, the most changed text."""
        batch, row, layer = self.batch, self.row, self.layer
        worst = batch.most_changed(layer)
        if worst is None:
            return []
        lengths = row.damage.lengths[row.damage.layers.index(layer)]
        pad, real = float(lengths[row.n_real :].mean()), float(lengths[: row.n_real].mean())
        claims = [
            claim("masks.share.some", share=batch.share, n=len(batch.rows) * batch.pad_to),
            self._effect(),
            claim("masks.sure.compared"),
            claim("masks.sure.lengths", pad=escape(row.pad_token), length=pad, real=real),
        ]
        similarity, _ = worst.damage.means(layer)
        if two(similarity) != two(row.damage.means(layer)[0]):
            claims.append(claim("masks.sure.worst", label=worst.label, similarity=similarity))
        return claims

    def notes(self) -> list[Claim]:
        """Return the meaning of the hatching, if there is any."""
        if not self.row.n_padding:
            return []
        key = "masks.note.off" if self.row.mask[-1] else "masks.note.on"
        return [claim(key, pad=escape(self.row.pad_token))]

    def _effect(self) -> Claim:
        """Return the effect of padding on the text's mean and on its most changed tokens."""
        row, layer = self.row, self.layer
        cosines = row.damage.tokens[row.damage.layers.index(layer)].tolist()
        similarity, lowest = row.damage.means(layer)[0], min(cosines)
        numbers = {"label": row.label, "layer": layer, "lowest": lowest}
        if two(min(similarity, lowest)) == _UNCHANGED:
            if self.batch.masked:
                return claim("masks.effect.on_unchanged", **numbers)
            key = "masks.effect.off_unchanged" if layer else "masks.effect.embedding"
            return claim(key, **numbers)
        most_changed = [i for i, cosine in enumerate(cosines) if two(cosine) == two(lowest)]
        labels = token_labels(row.alone)
        return claim(
            "masks.effect.on" if self.batch.masked else "masks.effect.off",
            **numbers,
            n=len(most_changed),
            similarity=similarity,
            token=placed(labels[most_changed[0]], most_changed[0], labels),
        )

    # The picture

    def alt(self) -> str:
        """Return a description of the grid."""
        return say("masks.page.batch_alt", title=str(self.title()))

    def figure(self) -> go.Figure:
        """Return a column for each text, with each token's bit of the mask; padding hatched."""
        layout = {
            "xaxis": self._text_axis(),
            "yaxis": self._position_axis(),
            "annotations": self._padding_labels(),
            "barmode": "overlay",
            "margin": {"l": 66, "r": 8, "t": 36, "b": 60 if self._needs_scale else 8},
        }
        traces = [self._tokens(), *self._padding()]
        if self._is_named:
            traces.append(self._bits())
        return figure(traces, layout, title="", height=390)

    @property
    def _longest(self) -> int:
        """The number of positions with a token, each of the height 1."""
        return max(self.batch.lengths)

    @property
    def _height(self) -> float:
        """The height of all positions; those with only padding have a limited sum."""
        rest = min(0.8 * self._longest, max(4.0, _MAX_ROWS - self._longest))
        n_padded = float(self.batch.pad_to - self._longest)
        return self._longest + min(n_padded, max(4.0, rest))

    @property
    def _is_named(self) -> bool:
        """True if the names fit in the cells."""
        return self._height <= _MAX_ROWS

    @property
    def _needs_scale(self) -> bool:
        """True if a colour bar is needed because the cells have no numbers."""
        return len(self.batch.rows) > _MAX_VALUES or not self._is_named

    def _cosines(self, row: PaddedText) -> list[float]:
        cosines: list[float] = row.damage.tokens[row.damage.layers.index(self.layer)].tolist()
        return cosines

    def _ink(self, value: float) -> str:
        """Return the colour of text on a cell of this similarity: dark on strong orange."""
        return _DARK if (1 - value) / self.largest_change > _STRONG else INK

    def _tokens(self) -> dict[str, Any]:
        """Return the real tokens as a heatmap whose other cells are empty."""
        rows, longest = self.batch.rows, self._longest
        columns = [
            values(1 - row.damage.tokens[row.damage.layers.index(self.layer)]) for row in rows
        ]
        name = {"text": say("masks.figure.change"), "side": "bottom"}
        position = {"orientation": "h", "y": 0, "yanchor": "top", "ypad": 6}
        trace = {
            "type": "heatmap",
            "x": list(range(len(rows))),
            "y": [i + 0.5 for i in range(longest)],
            "z": _across(columns, longest),
            "customdata": _across([self._hovers(row) for row in rows], longest),
            "hovertemplate": "%{customdata}<extra></extra>",
            "hoverongaps": False,
            "xgap": 3,
            "ygap": 1 if self._is_named else 0,
            "zmin": 0.0,
            "zmax": self.largest_change,
            "showscale": self._needs_scale,
            "colorbar": {"thickness": 8, "title": name, **position},
            "colorscale": _ORANGE,
        }
        if self._is_named:
            texts = [self._texts(row) for row in rows]
            trace |= {"text": _across(texts, longest, ""), "texttemplate": "%{text}"}
            if len(rows) > _MAX_WIDE:  # this many are narrow on a phone
                trace["textfont"] = {"size": 10}
        return trace

    def _texts(self, row: PaddedText) -> list[str]:
        """Return names, and numbers if there is room, in a colour readable on the cell."""
        n = len(self.batch.rows)
        longest = 9 if n <= 2 or n == 4 else 5
        return [
            f'<span style="color:{self._ink(value)}">'
            f"{plain(name, longest)}{self._change(value)}</span>"
            for name, value in zip(token_labels(row.alone), self._cosines(row), strict=False)
        ]

    def _change(self, value: float) -> str:
        """Return the similarity of a changed token, if there is room."""
        is_shown = len(self.batch.rows) <= _MAX_VALUES and two(value) != _UNCHANGED
        return f"  <b>{two(value)}</b>" if is_shown else ""

    def _hovers(self, row: PaddedText) -> list[str]:
        padded, names, mask = row.padded, token_labels(row.alone), row.mask
        kinds = padded.token_type_ids
        return [
            f"{row.label}: {plain(names[i])}<br>position {i} · ID {padded.token_ids[i]} · "
            f"mask {mask[i]}"
            + ("" if kinds is None else f" · segment {kinds[i]}")
            + f"<br>layer {self.layer}: similarity {number(value, '.4f')}"
            for i, value in enumerate(self._cosines(row))
        ]

    def _bits(self) -> dict[str, Any]:
        """Return the mask's bit beside each token, and beside the padding of drawn positions."""
        points: list[tuple[float, float, int, str]] = []
        for x, row in enumerate(self.batch.rows):
            inks = [*map(self._ink, self._cosines(row)), *[INK] * row.n_padding]
            bits = [(i + 0.5, int(row.mask[i]), inks[i]) for i in range(self._longest)]
            if self.batch.pad_to > self._longest:
                bits.append(((self._longest + self._height) / 2, int(row.mask[-1]), INK))
            points += [(x + _BITS, *bit) for bit in bits]
        return {
            "type": "scatter",
            "mode": "text",
            "x": [x for x, *_ in points],
            "y": [y for _, y, *_ in points],
            "text": [f'<b style="color:{ink}">{bit}</b>' for *_, bit, ink in points],
            "textfont": {"size": SMALLEST if len(self.batch.rows) <= _MAX_WIDE else 10},
            "hoverinfo": "skip",
        }

    def _text_axis(self) -> dict[str, Any]:
        """Return the axis of texts: lengths and, if there is room, a name above the bits."""
        rows = self.batch.rows
        n = len(rows)
        axis = {"side": "top", "range": [-0.5, n - 0.5], **_BARE_AXIS}
        if n > _MAX_WIDE:
            return {"tickvals": list(range(n)), "ticktext": [row.label for row in rows], **axis}
        form = "{} · {} tokens" if n <= 2 else "{} · {}"
        names = [form.format(row.label, row.n_real) for row in rows]
        bits = [say("masks.figure.bit")] * n if self._is_named else []
        return {
            "tickvals": [i - 0.08 for i in range(n)] + [i + _BITS for i in range(len(bits))],
            "ticktext": [*names, *bits],
            "tickangle": 0,
            **axis,
        }

    def _position_axis(self) -> dict[str, Any]:
        ticks = list(range(0, self._longest, max(1, -(-self._longest // 16))))
        heights = [i + 0.5 for i in ticks]
        if self.batch.pad_to > self._longest + 1:
            heights.append(self._height - 0.4)
            ticks.append(self.batch.pad_to - 1)
        return {
            "title": {"text": say("masks.figure.position")},
            "tickvals": heights,
            "ticktext": [str(i) for i in ticks],
            "range": [self._height, 0],
            **_BARE_AXIS,
        }

    def _padding(self) -> list[dict[str, Any]]:
        """Return one hatched bar for each text's padding."""
        columns = [i for i, row in enumerate(self.batch.rows) if row.n_padding]
        rows = [self.batch.rows[i] for i in columns]
        if not rows:
            return []
        faint = {"color": "rgba(128,128,128,0.07)", "pattern": _HATCH, "line": {"width": 0}}
        return [
            {
                "type": "bar",
                "x": columns,
                "base": [row.n_real for row in rows],
                "y": [self._height - row.n_real for row in rows],
                "width": 1 - 0.008 * len(self.batch.rows),
                "marker": faint,
                "customdata": [self._padding_hover(row) for row in rows],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        ]

    def _padding_hover(self, row: PaddedText) -> str:
        first, last = row.n_real, row.padded.n_tokens - 1
        positions = f"position {first}" if first == last else f"positions {first} to {last}"
        kinds = row.padded.token_type_ids
        segment = "" if kinds is None else f" · segment {kinds[last]}"
        length = float(row.damage.lengths[row.damage.layers.index(self.layer), first:].mean())
        return (
            f"{row.label}: {row.n_padding} × {plain(row.pad_token)}<br>{positions} · "
            f"ID {row.padded.token_ids[last]} · mask {row.mask[last]}{segment}<br>"
            f"layer {self.layer}: vectors of length {number(length, '.4f')} on average, for no word"
        )

    def _padding_labels(self) -> list[dict[str, Any]]:
        rows, height = self.batch.rows, self._height
        few = len(rows) <= _MAX_WIDE
        ending = f"<br>{say('masks.figure.averaged')}" if self.averaged and few else ""
        bit = say("masks.figure.bit")
        return [
            {
                "text": (
                    f"{row.n_padding} × {plain(row.pad_token)}" if few else f"{row.n_padding} pad"
                )
                + ("" if self._is_named else f"<br>{bit} {row.mask[-1]}")
                + ending,
                "x": i,
                "y": (row.n_real + height) / 2,
                "showarrow": False,
                "font": {"color": INK if self.averaged else MUTED},
            }
            for i, row in enumerate(rows)
            if height - row.n_real >= 0.06 * height
        ]


def batch_grid(masks: Masks) -> BatchGrid:
    """Return the picture of the batch of a view; its colours are those of all its layers."""
    tokens = [row.damage.tokens for batch in masks.batches.values() for row in batch.rows]
    change = max(_MIN_SCALE, 1 - min(float(cosines.min()) for cosines in tokens))
    return BatchGrid(masks.batch, masks.row, masks.layer, change, masks.averaged)


def _across(columns: list[list[Any]], longest: int, fill: Any = None) -> list[list[Any]]:
    """Return columns of different lengths as rows, filled up after the end of a column."""
    return [[c[i] if i < len(c) else fill for c in columns] for i in range(longest)]
