"""Any text in any family is measured, looked at closer, drawn and told without an error."""

from __future__ import annotations

import pytest

from components.core import EncoderService
from components.features.layers.compute import (
    HiddenStates,
    compared_layers,
    nearest_tokens,
    pairs_of,
)
from components.features.layers.figures import (
    layers_heatmap,
    pairs_heatmap,
    spaces_heatmap,
)
from components.features.layers.reading import (
    alike_reading,
    layers_picture_title,
    nearest_reading,
    pairs_reading,
    pairs_title,
    pooler_reading,
)
from components.ui.state.view import ViewState
from tests.features.layers.shown import of, shown, told
from tests.support.claims import read
from tests.support.texts import TYPED
from tests.support.tiny_models import ALL

RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y}'


@pytest.mark.slow
@pytest.mark.parametrize("text", [*TYPED.values(), RUDE], ids=[*TYPED.keys(), "an image"])
def test_any_text_is_measured_and_looked_at(text: str, service: EncoderService) -> None:
    assert_looks_work(of(text, "a python"), service)


@pytest.mark.parametrize(
    "view",
    [of("hello"), of("a text", pair=""), of(*map(str, range(8))), of("", "a python", "  ")],
    ids=["one token", "an empty second text", "eight sentences", "blank beside text"],
)
def test_any_view_is_measured_and_looked_at(view: ViewState, service: EncoderService) -> None:
    assert_looks_work(view, service)


@pytest.mark.parametrize("family", ALL)
def test_every_family_shows_what_it_has(family: str, tiny_service: EncoderService) -> None:
    view = of("a python slept", "she walked", pair="by the sea", model=f"folder:{family}")
    states = assert_looks_work(view, tiny_service)
    absent = states.card.provenance.pooler.state == "absent"
    assert (states.encoding.pooler_output is None) == absent
    assert absent == (
        family in {"distilbert", "electra", "electra-same-size", "bert-without-pooler"}
    )


def assert_looks_work(view: ViewState, service: EncoderService) -> HiddenStates:
    """All that is computed, drawn and said of a text, without what a model's sample takes."""
    states = shown(view, service)
    titles = [layers_picture_title(states.measure, states.labels[0])]
    layers = states.encoding.layers
    figures = [
        layers_heatmap(
            states.measure,
            states.labels,
            layer=states.layer,
            picked=states.picked,
            name=states.measured,
            scale=states.scale,
            title=str(titles[0]),
        )
    ]
    near = nearest_tokens(view, states, service)
    spoken = told(states)
    spoken += nearest_reading(near.picked, near.names, near.neighbours, layers, None)
    pairs = pairs_of(states)
    spoken += pairs_reading(pairs, states.labels, states.own_mask, states.layer, None)
    titles += [pairs_title(pairs, states.labels, states.own_mask)]
    title = str(titles[-1])
    figures += [pairs_heatmap(pairs, states.labels, scale=states.cosine_scale, title=title)]
    compared = compared_layers(view, states.card, states.card, service)
    spoken += alike_reading(compared.alike, compared.names, same=True)[0]
    figures += [spaces_heatmap(compared.alike, names=compared.names, title="")]
    spoken += pooler_reading(states.card, None)[0]
    assert read([*titles, *spoken])
    assert not [words for words in map(str, spoken) if "<img" in words.replace(r"\<img", "")]
    assert not [figure for figure in figures if "<img" in figure.to_json()]
    return states
