"""From a view to what Layer by layer shows: the model's numbers, for any text and family."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.layers.compute import (
    HiddenStates,
    alike_table,
    arrays,
    by_hand,
    compared_layers,
    encode_all,
    hidden_states,
    measure_table,
    nearest_tokens,
    pairs_of,
    pairs_table,
    rows,
    sentence_rows,
    snippet_texts,
    spread_of,
    spread_table,
    steps,
)
from contextlens.features.layers.controls import (
    MEASURE,
    MEASURES,
    OTHER,
    PAGE,
    SECTION,
    SENTENCE,
    TOKEN,
    WORDS,
    other_in,
)
from contextlens.features.layers.figures import (
    layers_heatmap,
    pairs_heatmap,
    spaces_heatmap,
    token_lines,
)
from contextlens.features.layers.measures import measure
from contextlens.features.layers.reading import (
    alike_reading,
    layers_picture_title,
    layers_reading,
    nearest_reading,
    pairs_reading,
    pairs_title,
    pooler_reading,
    token_titles,
)
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.claims import read
from tests.support.texts import LONG, TYPED
from tests.support.tiny_models import ALL


def of(*texts: str, pair: str | None = None, model: str = BUNDLED_ID, **controls: Any) -> ViewState:
    sentences = tuple(Sentence(text, pair) for text in texts)
    return ViewState(model, sentences, controls={PAGE: controls} if controls else {})


def shown(view: ViewState, service: EncoderService) -> HiddenStates:
    return hidden_states(view, service, service.load(view.model), None)


def told(states: HiddenStates) -> list[Claim]:
    trained = states.card.provenance.encoder
    return layers_reading(states.measure, states.labels, states.layer, states.chance, trained)


NAMES = {
    "start": "cosine to layer 0",
    "before": "cosine to layer before",
    "first": "cosine to [CLS]",
    "length": "vector length",
}

# One sentence


@pytest.mark.parametrize("name", MEASURE.options)
def test_picture_and_table_are_the_chosen_measure(service: EncoderService, name: str) -> None:
    states = shown(MEASURE.put(DEFAULT, name), service)
    assert states.measured == NAMES[states.measure.kind]
    encoding = service.encode(BUNDLED_ID, [DEFAULT.sentences[0].text])[0]
    own = measure(encoding, MEASURES[name])
    np.testing.assert_array_equal(states.measure.values, own.values)
    table = measure_table(states)
    np.testing.assert_array_equal(table.iloc[:, 2:].to_numpy(float).T, own.values)
    assert table["token"].tolist() == list(encoding.tokens)
    assert told(states)[0].key.endswith(own.kind)


def test_cosines_keep_one_scale_whatever_is_looked_at(service: EncoderService) -> None:
    chosen = [
        shown(MEASURE.put(replace(DEFAULT, layer=layer), name), service)
        for name in MEASURE.options
        for layer in (0, 3, 6)
    ]
    cosines = [states for states in chosen if states.measure.kind != "length"]
    assert len({states.scale for states in cosines} | {s.cosine_scale for s in chosen}) == 1
    (low, high) = cosines[0].scale
    assert all(low <= pairs_of(states).min() for states in cosines)
    assert high == 1
    lengths = {states.scale for states in chosen if states.measure.kind == "length"}
    assert lengths == {(0.0, float(chosen[-1].measure.values.max()))}


def test_the_chosen_sentence_s_word_is_followed_until_another_token_is_picked(
    service: EncoderService,
) -> None:
    assert shown(DEFAULT, service).picked == 5
    assert shown(TOKEN.put(DEFAULT, 2), service).picked == 2
    assert shown(of("two words?!"), service).picked == 2
    assert shown(of("the Kontinental"), service).picked == 2  # ko ##ntine ##ntal
    assert shown(of("?!"), service).picked == 1
    assert shown(of("one " * 600), service).picked == 510
    assert shown(of(""), service).picked == 0
    states = shown(SENTENCE.put(DEFAULT, "B"), service)
    assert (states.index, states.encoding.text) == (1, DEFAULT.sentences[1].text)


@pytest.mark.parametrize(
    "controls",
    [
        {"measure": "nothing", "section": "nowhere", "sentence": "Z", "token": 99999},
        {"measure": 5, "section": True, "sentence": "AB", "token": -7},
        {"words": "x", "other": "no/such-model", "section": "Layers compared"},
        {"token": 1.5, "sentence": ""},
    ],
)
def test_broken_controls_from_an_address_mean_the_defaults(
    service: EncoderService, controls: dict[str, Any]
) -> None:
    view = replace(DEFAULT, controls={PAGE: controls}, layer=77)
    states = shown(view, service)
    assert (states.index, states.measure.kind, states.layer, states.picked) == (0, "start", 6, 5)
    assert SECTION.of(view) in SECTION.options
    assert WORDS.of(view) == WORDS.default
    assert other_in(service.models(), BUNDLED_ID).of(view) == OTHER.default


def test_files_hold_every_layer_of_every_sentence(service: EncoderService) -> None:
    states, encodings = shown(DEFAULT, service), encode_all(DEFAULT, service)
    found = arrays(encodings)
    for letter, encoding in zip("AB", encodings, strict=True):
        np.testing.assert_array_equal(found[f"hidden_{letter}"], encoding.hidden)
        np.testing.assert_array_equal(found[f"pooler_output_{letter}"], encoding.pooler_output)
        assert found[f"tokens_{letter}"].tolist() == list(encoding.tokens)
        assert found[f"text_{letter}"].tolist() == [encoding.text]
    table = rows(states, encodings)
    assert len(table) == 7 * sum(e.n_tokens for e in encodings)
    assert {row["sentence"] for row in table} == {"A", "B"}
    pair = arrays(encode_all(of("one", pair="two"), service))
    assert pair["text_A"].tolist() == ["one", "two"]


# Closer looks


def test_the_nearest_token_is_that_of_scikit_learn(service: EncoderService) -> None:
    view = TOKEN.put(DEFAULT, 4)
    states = shown(view, service)
    table = nearest_tokens(view, states, service).table(states)
    encodings = service.encode(BUNDLED_ID, [s.text for s in DEFAULT.sentences])
    names = [f"{t} in {s}" for s, e in zip("AB", encodings, strict=True) for t in e.tokens[1:-1]]
    for layer in range(7):
        vectors = np.concatenate([e.hidden[layer, 1:-1] for e in encodings])
        cosines = cosine_similarity(encodings[0].hidden[layer, 4:5], vectors)[0]
        cosines[names.index("pet in A")] = -2
        assert table["nearest"][layer] == names[int(cosines.argmax())]
        assert table["cosine 0"][layer] == pytest.approx(cosines.max(), abs=1e-5)


def test_pairs_are_those_of_the_chosen_layer(service: EncoderService) -> None:
    states = shown(replace(DEFAULT, layer=3), service)
    pairs = pairs_of(states)
    hidden = service.encode(BUNDLED_ID, [DEFAULT.sentences[0].text])[0].hidden
    np.testing.assert_allclose(pairs, cosine_similarity(hidden[3]), atol=1e-5)
    table = pairs_table(pairs, states.labels)
    assert list(table.columns) == [f"{i} {label}" for i, label in enumerate(states.labels)]


def test_pairs_of_a_long_text_have_no_table(service: EncoderService) -> None:
    states = shown(replace(of(LONG), layer=3), service)
    pairs = pairs_of(states)
    assert pairs.shape == (512, 512)
    assert pairs_table(pairs, states.labels) is None


@pytest.mark.slow
def test_layers_are_compared_over_the_words_of_the_sentences(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    compared = compared_layers(DEFAULT, card, card, service)
    np.testing.assert_allclose(np.diag(compared.alike.cka), 1, atol=1e-4)
    assert (compared.alike.n_words, compared.is_one) == (10, True)
    assert compared_layers(DEFAULT, card, card, service).alike is compared.alike
    np.testing.assert_array_equal(
        alike_table(compared, compared.alike.debiased).iloc[:, 1:], compared.alike.debiased
    )
    sample = compared_layers(WORDS.put(DEFAULT, "Sample sentences"), card, card, service)
    assert 400 <= sample.alike.n_words <= 512
    assert abs(sample.alike.cka - compared.alike.cka).max() > 0.05


def test_two_models_are_compared_over_the_same_words(tiny_service: EncoderService) -> None:
    cards = [tiny_service.load(model) for model in (BUNDLED_ID, "folder:roberta")]
    for pair, n_words in ((None, 3), ("by the sea", 6)):
        view = of("a python slept", pair=pair)
        assert compared_layers(view, *cards, tiny_service).alike.n_words == n_words
    compared = compared_layers(DEFAULT, *cards, tiny_service)
    assert compared.alike.cka.shape == (7, 4)
    assert not compared.is_one
    spans = [span for text in snippet_texts(DEFAULT, compared) for span in text.words]
    assert len(spans) == compared.alike.n_words


def test_the_spread_is_of_the_sample_and_remembered(service: EncoderService) -> None:
    states = shown(DEFAULT, service)
    spread = spread_of(states, service)
    assert spread.shares.shape == (7, 10)
    assert (np.diff(spread.shares, axis=1) > 0).all()
    assert spread_of(shown(of("another text"), service), service).sample is spread.sample
    table = spread_table(states, spread.shares)
    np.testing.assert_array_equal(table["first 3 of the variance"], spread.shares[:, 2])
    assert "random pairs, average" not in table


def test_the_pooler_by_hand_is_the_model_s(service: EncoderService) -> None:
    states = shown(DEFAULT, service)
    own, hand = states.encoding.pooler_output, by_hand(states, service)
    np.testing.assert_allclose(hand.pooled, own, atol=1e-6)
    np.testing.assert_allclose(np.tanh(hand.linear), hand.pooled, atol=1e-6)
    assert list(steps(states, hand, own)) == [
        "[CLS], layer 6", "W x + b", "tanh, by hand", "model's own",
    ]  # fmt: skip
    (row,) = sentence_rows(encode_all(DEFAULT, service))
    assert row["sentences"] == "A ~ B"
    outputs = [e.pooler_output for e in encode_all(DEFAULT, service)]
    assert row["by pooler output"] == pytest.approx(cosine_similarity(outputs)[0, 1], abs=1e-5)
    assert 0.7 < row["by pooler output"] < 0.95
    assert sentence_rows(encode_all(of("alone"), service)) == []


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
    ways = token_titles(states.measure, states.picked, states.labels)
    figures += [
        token_lines(
            states.measure,
            states.labels,
            picked=states.picked,
            layers=layers,
            layer=states.layer,
            band=states.measure.chance,
            band_name="",
            axis=states.measured,
            titles=[str(ways[states.measure.row(n)]) for n in layers],
            color="blue",
        )
    ]
    titles += ways
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
