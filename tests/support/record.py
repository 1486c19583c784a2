"""The numbers that a page shows: of its figures, its tables and its own components."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from contextlens.core import BUNDLED_ID
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState

__all__ = ["FEW", "VIEWS", "differences", "numbers_of", "summary"]

ODD = (
    Sentence("Zoë's 🐍 & “nanorobot” + 100% <b>bold</b>", "the [MASK] sat", (0, 3)),
    Sentence("Die Bank am Fluss, Bank für Bank", None, (4, 8)),
    Sentence("مرحبا بالعالم 你好 world"),
)
SECOND = "folder:bert"
"""A tiny random model, with a pooler and segments."""
FEW = (
    *("home", "tokens", "masks", "embedding_layer", "layers"),
    *("attention head", "anatomy", "meaning", "why", "senses"),
)
"""The views whose numbers are kept beside the tests."""


def _view(page: str, *sentences: Sentence, **more: Any) -> tuple[str, ViewState]:
    model, layer = more.pop("model", BUNDLED_ID), more.pop("layer", None)
    view = replace(DEFAULT, model=model, layer=layer, controls={page: more} if more else {})
    return page, replace(view, sentences=sentences) if sentences else view


VIEWS: Mapping[str, tuple[str, ViewState]] = {
    "home": _view("home"),
    "tokens": _view("tokens"),
    "tokens odd": _view("tokens", *ODD, pad=40, section="From ID to row"),
    "tokens cut": _view("tokens", *ODD, cut=6, section="Back to text"),
    "tokens vocabulary": _view("tokens", section="Vocabulary", search="snake"),
    "tokens beside": _view("tokens", *ODD, section="Two tokenizers", other=SECOND),
    "masks": _view("masks"),
    "masks on": _view("masks", *ODD, mask=True, pad_to="64"),
    "masks tiny": _view("masks", *ODD, model=SECOND, pad_to="Longest", sentence="B"),
    "embedding_layer": _view("embedding_layer"),
    "embedding_layer token": _view("embedding_layer", token="5", width="16", section="Neighbours"),
    "embedding_layer odd": _view("embedding_layer", *ODD, section="Segments"),
    "embedding_layer positions": _view("embedding_layer", section="Positions"),
    "embedding_layer learned": _view("embedding_layer", model=SECOND, section="What is learned"),
    "layers": _view("layers"),
    "layers before": _view("layers", *ODD, measure="To layer before", section="Token pairs"),
    "layers first": _view("layers", measure="To first token", section="Layers compared"),
    "layers length": _view("layers", measure="Length", section="Spread", layer=2),
    "layers tiny": _view("layers", *ODD, model=SECOND, section="Pooler"),
    "layers samples": _view("layers", section="Layers compared", words="Sample sentences"),
    "attention": _view("attention"),
    "attention head": _view("attention", head="3.7", unit="Words"),
    "attention layer": _view("attention", *ODD, show="Layer", special="Hide", layer=4),
    "attention all": _view("attention", show="All", special="Hide, rows to 1"),
    "attention rollout": _view("attention", show="Rollout", pad=20, token=3),
    "attention tiny": _view("attention", *ODD, model=SECOND, direction="First to second"),
    "anatomy": _view("anatomy"),
    "anatomy part": _view(
        "anatomy", drawing="Tree", part="layer-1/attention/query", section="Inside the weights"
    ),
    "anatomy tiny": _view("anatomy", model=SECOND, tokens=16),
    "meaning": _view("meaning"),
    "meaning odd": _view("meaning", *ODD, layer=3),
    "meaning tiny": _view("meaning", model=SECOND),
    "why": _view("why"),
    "why inputs": _view("why", depth="inputs", unit="tokens", picked=3),
    "why left": _view("why", look="leave_out", out_of="pairs"),
    "why hidden": _view("why", *ODD, look="leave_out", how_out="hidden"),
    "why off": _view("why", look="switch_off", off_to="mean", panel="edits"),
    "why swap": _view("why", look="swap_in", into="second"),
    "why cls": _view("why", what="cls", layer=4),
    "senses": _view("senses"),
    "senses groups": _view("senses", word="bank", groups="3", color="group", layer=2),
    "senses beside": _view("senses", panel="beside", beside="word", other_word="bank"),
    "senses own": _view("senses", panel="own", own="My python eats a mouse"),
    "senses taken": _view("senses", corpus="sentiment", panel="taken"),
    "pairs": _view("pairs"),
    "pairs read": _view("pairs", layer=3, panel="Every pair"),
    "sentences": _view("sentences"),
    "sentences own": _view("sentences", source="yours", test="kind"),
    "map": _view("map"),
    "map pca": _view("map", method="pca", word="bank", layer=3),
    "map sentences": _view("map", *ODD, source="sentences", unit="tokens", method="pca"),
    "map beside": _view("map", method="pca", beside="layer", other_layer=2, panel="Point", point=3),
    "corpora": _view("corpora"),
    "corpora sentiment": _view("corpora", corpus="sentiment", word="film"),
}


def numbers_of(app: AppTest) -> dict[str, list[float]]:
    """All numbers of each figure, table and component of a page, in the order of the page."""
    shown: dict[str, list[float]] = {}
    for i, element in enumerate(app.get("plotly_chart")):
        spec = json.loads(element.proto.spec)
        shown[f"figure {i}"] = list(_numbers(spec["data"]))
    for i, table in enumerate(app.dataframe):
        shown[f"table {i}"] = list(_of_table(table.value))
    for i, element in enumerate(app.get("bidi_component")):
        given = element.proto.json
        shown[f"component {i}"] = list(_numbers(json.loads(given))) if given else []
    return shown


def summary(numbers: list[float]) -> list[float]:
    """The count of the numbers, their mean, standard deviation, least and most."""
    if not numbers:
        return [0]
    own = np.array(numbers)
    return [len(numbers), own.mean(), own.std(), own.min(), own.max()]


def _of_table(table: pd.DataFrame) -> Iterator[float]:
    for column in range(table.shape[1]):
        for value in table.iloc[:, column]:
            yield from _numbers(value.item() if isinstance(value, np.generic) else value)


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, bool | np.bool):
        return
    if isinstance(value, int | float | np.integer | np.floating):
        if np.isfinite(value):
            yield float(value)
    elif isinstance(value, dict) and "bdata" in value:
        data = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        yield from data[np.isfinite(data)].astype(float).tolist()
    elif isinstance(value, dict):
        yield from chain.from_iterable(map(_numbers, value.values()))
    elif isinstance(value, list | tuple | np.ndarray):
        yield from chain.from_iterable(map(_numbers, value))


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Each view and element whose numbers differ by more than 1e-6."""
    for view in sorted({*before, *after}):
        one, other = before.get(view, {}), after.get(view, {})
        for element in sorted({*one, *other}):
            a, b = one.get(element), other.get(element)
            if a is None or b is None or len(a) != len(b):
                sizes = [None if own is None else len(own) for own in (a, b)]
                yield f"{view}, {element}: {sizes[0]} and {sizes[1]} numbers"
            elif not np.allclose(a, b, rtol=0, atol=1e-6):
                most = np.abs(np.subtract(a, b)).max()
                yield f"{view}, {element}: up to {most:.3g} apart"


if __name__ == "__main__":
    found = [json.loads(Path(path).read_text(encoding="utf-8")) for path in sys.argv[1:3]]
    told = list(differences(*found))
    print("\n".join(told) or "All numbers agree.")
    sys.exit(bool(told))
