"""Pairs at one layer, by their similarity alone; `threshold` and `correlation` say more of some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.baseline import Baseline
from contextlens.analysis.correlation import Float64Array
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import shortened, two
from contextlens.core.schema import FloatArray, IntArray
from contextlens.corpus.file_vectors import FileVectors
from contextlens.features.pairs.controls import LAYERS, PLAIN_LISTS, PLAIN_PANELS
from contextlens.features.pairs.cosines import PairCosines, pooling_title
from contextlens.features.pairs.layer_chart import HEIGHT, interval, layer_axis, line, upright
from contextlens.features.pairs.pair_file import no_vectors, reasons_in
from contextlens.features.pairs.pair_set import PairSet
from contextlens.figures.theme import figure
from contextlens.ui.panel import Arrays, Panel, Rows

_MIN_QUARTERED = 4
"""Of fewer pairs, not half lie between the quartiles."""

Limits = Literal["pairs.limits", "pairs.scores_limits", "pairs.triplets.limits"]


@dataclass(frozen=True, eq=False)
class PairsAtLayer(Panel):
    """Pairs at one layer, whose labels or scores, if they have any, do not tell anything.

    Attributes:
        pairs: the compared pairs.
        every_layer: their cosines at every layer.
        row: the selected layer's row in these.
        baseline: the cosines of random pairs of words, if they are known.
        why_not: the reason why labels are not used, or not all of them; "" if there is none.
    """

    lists: ClassVar[tuple[str, ...]] = PLAIN_LISTS
    """The lists in which a pair can be chosen."""
    panels: ClassVar[tuple[str, ...]] = PLAIN_PANELS
    """The closer looks."""
    limits: ClassVar[Limits] = "pairs.limits"
    """The key of what these numbers do not say."""

    pairs: PairSet
    every_layer: PairCosines
    row: int
    baseline: Baseline | None = None
    why_not: str = ""

    @property
    def closer_looks(self) -> tuple[str, ...]:
        """The closer looks of these pairs: the vectors of a file have no layers."""
        given = self.pairs.vectors is not None
        return tuple(name for name in self.panels if not (given and name == LAYERS))

    @property
    def layers(self) -> tuple[int, ...]:
        """The layer of each row."""
        return self.every_layer.layers

    @property
    def layer(self) -> int:
        """The selected layer."""
        return self.layers[self.row]

    @property
    def best_row(self) -> int:
        """The row of the layer that tells most: the last one, if nothing else is known."""
        return len(self.layers) - 1

    @property
    def cosines(self) -> FloatArray:
        """(n_pairs,) cosines at the layer."""
        cosines: FloatArray = self.every_layer.values[self.row]
        return cosines

    @cached_property
    def compared_pairs(self) -> IntArray:
        """The pairs that have a cosine."""
        return np.flatnonzero(~np.isnan(self.cosines))

    @property
    def n_lost(self) -> int:
        """The number of pairs whose word the model does not read."""
        return self.pairs.n - len(self.compared_pairs)

    # --- The scale of cosines, and where those of random words lie

    @property
    def scale(self) -> tuple[float, float]:
        """One scale for all layers that holds the cosines of the pairs and of random words."""
        lowest = 1.0 if self.random_range is None else min(self.random_range)
        if self.baseline is not None and self.pairs.has_words:
            lowest = float(self.baseline.band("mean", centred=False).low.min())
        return cosine_scale(self.every_layer.values, lowest)

    @property
    def random_range(self) -> tuple[float, float] | None:
        """The range of cosines of random pairs: of words at the layer, or of the file's vectors.

        None for whole texts that the model reads.
        """
        if self.pairs.vectors is not None:
            return self.every_layer.random_range
        if self.baseline is None or not self.pairs.has_words:
            return None
        band = self.baseline.band("mean", centred=False)
        low, high = float(band.low[self.row]), float(band.high[self.row])
        return None if np.isnan(low) else (low, high)

    # --- One pair: how its cosine is judged, and the lists in which it stands

    @property
    def threshold(self) -> float | None:
        """The threshold at the layer; None without one."""
        return None

    @property
    def pair_thresholds(self) -> Float64Array | None:
        """(n_pairs,) the threshold that judges each pair at the layer; None without one."""
        return None

    @property
    def verdict_columns(self) -> Arrays:
        """The verdicts for the table of every pair: (n_pairs,) by the column's title."""
        return {}

    @property
    def rank_columns(self) -> Arrays:
        """The places in the order of scores for that table."""
        return {}

    def pair_claims(self, pair: int) -> list[Claim]:
        """Return the verdict on one pair: here, its place among all."""
        cosine, cosines = float(self.cosines[pair]), self.cosines[self.compared_pairs]
        n_others, n_lower = len(cosines) - 1, int((cosines < cosine).sum())
        case = "place"
        if n_others < 1:
            case = "alone"
        elif n_lower == n_others:
            case = "highest"
        elif (cosines > cosine).sum() == n_others:
            case = "lowest"
        words, texts = f"pairs.verdict.words.{case}", f"pairs.verdict.texts.{case}"
        key = words if self.pairs.has_words else texts
        numbers = {"cosine": cosine, "share": n_lower / max(1, n_others), "n": n_others}
        return [claim(key, **numbers), claim("pairs.verdict.no_threshold")]

    def to_read(self, which: str) -> IntArray:
        """Return the pairs of a list, the most telling one first: here, by their cosine."""
        order = np.argsort(self.cosines[self.compared_pairs], kind="stable")
        by_cosine: IntArray = self.compared_pairs[order if which == "least" else order[::-1]]
        return by_cosine

    # --- All pairs: the finding, its chart and numbers

    @property
    def title(self) -> str:
        """The finding over all layers."""
        medians = np.median(self.every_layer.values[:, self.compared_pairs], axis=1)
        high, low = int(np.argmax(medians)), int(np.argmin(medians))
        if medians[high] - medians[low] < 0.01 or two(medians[high]) == two(medians[low]):
            return say("pairs.title.alike", median=float(medians[self.row]))
        return say(
            "pairs.title.spread",
            high_layer=self.layers[high],
            low_layer=self.layers[low],
            high=float(medians[high]),
            low=float(medians[low]),
        )

    def claims(self) -> Sequence[Claim]:
        """Return the reading at the layer."""
        cosines = self.cosines[self.compared_pairs].astype(float)
        is_few = 1 < len(cosines) < _MIN_QUARTERED
        ends = (0, 50, 100) if is_few else (25, 50, 75)
        low, median, high = np.percentile(cosines, ends).tolist()
        numbers = {"low": low, "median": median, "high": high}
        n = len(cosines)
        if self.pairs.vectors is not None:
            key = "pairs.given.unlabelled_few" if is_few else "pairs.given.unlabelled"
            return [claim(key, n=n, **numbers)]
        key = "pairs.unlabelled_few" if is_few else "pairs.unlabelled"
        return [claim(key, n=n, layer=self.layer, **numbers)]

    def figure(self) -> go.Figure:
        """Return the distribution of cosines at each layer: median, middle half, nine of ten."""
        x, cosines = list(self.layers), self.every_layer.values[:, self.compared_pairs]
        cuts = np.percentile(cosines, [5, 25, 50, 75, 95], axis=1)
        low, high = cosine_scale(cosines)
        median = line(
            x,
            cuts[2],
            list(cuts),
            name="median",
            template="median %{y:.4f}<br>middle half: %{customdata[1]:.4f} to %{customdata[3]:.4f}"
            "<br>nine of ten: %{customdata[0]:.4f} to %{customdata[4]:.4f}",
        )
        layout = {
            "xaxis": layer_axis(x),
            "yaxis": {"title": {"text": "similarity"}, "range": [low, high + 0.02]},
            "shapes": [upright(self.layer)],
        }
        bands = [interval(x, cuts[0], cuts[4]), interval(x, cuts[1], cuts[3])]
        return figure([*bands, median], layout, title=self.title, height=HEIGHT)

    def alt(self) -> str:
        """Return a description of the chart."""
        return say("pairs.alt.similarities", title=self.title)

    def rows(self) -> Rows:
        """Return the numbers at each layer: here, the distribution of cosines."""
        cosines = self.every_layer.values[:, self.compared_pairs]
        cuts = np.percentile(cosines, [5, 25, 50, 75, 95], axis=1).T
        names = ("5th percentile", "25th percentile", "median", "75th percentile",
                 "95th percentile")  # fmt: skip
        return [
            {"layer": layer, **dict(zip(names, map(float, row), strict=True))}
            for layer, row in zip(self.layers, cuts, strict=True)
        ]

    def arrays(self) -> Arrays:
        """Return the cosines and labels of the pairs; `scripts` read them."""
        pairs = self.pairs
        return {
            "cosines": self.every_layer.values,
            **({"layers": np.array(self.layers)} if pairs.vectors is None else {}),
            "gold": pairs.gold,
            "split": np.full(pairs.n, -1) if pairs.split is None else pairs.split,
            "sides": pairs.sides,
            "spans": pairs.spans,
            "rows": pairs.rows,
            "contents": pairs.contents,
        }

    def scripts(self) -> list[tuple[str, str]]:
        """Return scripts for the numbers at each layer, each with its title; a chart has none."""
        return []

    def repeated_texts(self, rows: IntArray) -> list[Claim]:
        """Return that some pairs share texts, if different ones do."""
        sides = self.pairs.sides[np.unique(self.pairs.contents[rows])]
        n, n_of_pairs = len(np.unique(sides)), sides.size - int((sides[:, 0] == sides[:, 1]).sum())
        return [claim("pairs.repeated_texts", n=n)] if n < n_of_pairs else []

    # --- What was compared and what was left out

    def remarks(self) -> list[str]:
        """Return a line each on the pairs, and on those left out; names are not escaped."""
        pairs, every_layer = self.pairs, self.every_layer
        numbers = {"name": shortened(pairs.name, 60), "n": pairs.n}
        if pairs.has_words:
            facts = [say("pairs.notes.words", **numbers)]
        elif pairs.vectors is None:
            facts = [say("pairs.notes.texts", **numbers), pooling_title(every_layer.passport)]
        else:
            facts = [say("pairs.notes.texts", **numbers)]
        facts += self._used_pairs()
        if self.n_lost:
            facts.append(str(self.lost_note()))
        if every_layer.n_cut:
            limit = every_layer.passport.settings.get("max_length")
            case = "cut" if limit is None else "cut_at"
            facts.append(say(f"pairs.notes.{case}", n=every_layer.n_cut, limit=limit))
        if every_layer.n_unknown:
            facts.append(say("pairs.notes.unknown", n=every_layer.n_unknown))
        given = [] if pairs.vectors is None else self._given_notes(pairs.vectors)
        why_not = [self.why_not] if self.why_not else []
        return [" · ".join(facts), *given, *pairs.notes, *why_not]

    def lost_note(self) -> Claim:
        """Return how many pairs have no cosine, and why."""
        if self.pairs.vectors is None:
            return claim("pairs.notes.lost", n=self.n_lost)
        reasons = reasons_in(no_vectors(self.pairs.vectors))
        return claim("pairs.given.lost", n=self.n_lost, reasons=reasons)

    def _given_notes(self, vectors: tuple[FileVectors, ...]) -> list[str]:
        """The vectors of the file, and their yardstick."""
        notes = [own.note() for own in vectors]
        if self.random_range is not None:
            low, high = self.random_range
            notes.append(say("pairs.given.random", low=low, high=high))
        return notes

    def _used_pairs(self) -> list[str]:
        """The pairs whose labels or scores are used, or are not, if there are any; and copies."""
        n = self._n_copies(self.compared_pairs)
        return [say("pairs.notes.copies", n=n)] if n else []

    def _n_copies(self, rows: IntArray) -> int:
        return len(rows) - len(np.unique(self.pairs.contents[rows]))


def cosine_scale(cosines: FloatArray, lowest: float = 1.0) -> tuple[float, float]:
    """Return a scale from a round number below all cosines and `lowest` to 1."""
    smallest = float(np.nanmin(cosines)) if not np.isnan(cosines).all() else 1.0
    return float(np.floor(min(smallest, lowest, 0.6) * 5) / 5), 1.0
