"""Where the senses of a word part: the usual story, and all the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.analysis.words import word_vectors
from components.core import BUNDLED_ID, EncoderService
from components.core.words import find_word
from components.features.map.reading.layers import parted_layers, senses_reading, senses_title
from components.maps.agreement import Agreement, LabelShare, agreement
from components.maps.neighbors import nearest

LAYERS = (0, 1, 2, 3, 4)


def by_layer(labels: list[str], vectors: np.ndarray) -> list[Agreement]:
    """The agreement of occurrences, each in a sentence of its own, at each layer."""
    found = []
    for layer in vectors:
        lists = nearest(layer, len(layer), "cosine")
        one = agreement(labels, np.arange(len(layer)), lists.indices, lists.distances)
        assert one is not None
        found.append(one)
    return found


def made(*shares: float, chance: float = 0.5, n: int = 60, differ: float = 0.1) -> list[Agreement]:
    """Agreements of two senses, one of which lies above the other by some share."""
    kinds = (("river", differ / 2), ("money", -differ / 2))

    def label(share: float, name: str, more: float) -> LabelShare:
        return LabelShare(name, n // 2, min(1, max(0, share + more)), chance, n // 2)

    return [
        Agreement(share, chance, n, tuple(label(share, *kind) for kind in kinds), n)
        for share in shares
    ]


def told(agreed: Sequence[Agreement], layer: int = 4) -> tuple[str, str]:
    said = senses_reading(agreed, LAYERS[: len(agreed)], layer, "bank")
    return senses_title(agreed, LAYERS[: len(agreed)], "bank"), " ".join(said)


def test_senses_part_at_the_first_layer_from_which_they_stay_apart() -> None:
    title, said = told(made(0.5, 0.55, 0.9, 0.95, 0.92, differ=0.16))
    assert title == "The senses of bank part at layer 2"
    assert said.startswith(
        "The senses of “bank” part at layer 2: the nearest occurrence has the same sense for "
        "**90%** at layer 2 (95% interval 79% to 96%; **55%** at layer 1; by chance 50%). Senses "
        "count as apart above **75%**."
    )


def test_one_sense_keeps_together_better_only_where_intervals_do_not_meet() -> None:
    clear = told(made(0.5, 0.55, 0.9, 0.95, 0.8, n=200, differ=0.4))[1]
    assert clear.endswith(
        "At layer 4, “river” keeps together better (**100%**, by chance 50%) than “money” "
        "(**60%**, by chance 50%)."
    )
    assert "better" not in told(made(0.5, 0.55, 0.9, 0.95, 0.92))[1]  # 97% and 87% of 30
    alike = told(made(0.5, 0.55, 0.9, 0.95, 1.0, differ=0))[1]
    assert alike.endswith("At layer 4 it is **100%** for each sense.")


def test_what_comes_before_the_parting_may_be_open() -> None:
    """At layer 1 it cannot be told: they may have parted there already."""
    title, said = told(made(0.5, 0.75, 0.9, 0.95, 0.92))
    assert title == "The senses of bank part by layer 2"
    assert "Senses count as apart above **75%**; at layer 1 so few occurrences do not tell." in said
    some = told(made(0.5, 0.75, 0.95, 0.8, 0.92))
    assert some[0] == "The senses of bank are apart at layers 2, 4"
    assert "at layers 1, 3 so few occurrences do not tell." in some[1]


def test_senses_never_part_where_every_interval_lies_below_the_bound() -> None:
    title, said = told(made(0.5, 0.52, 0.4, 0.55, 0.5))
    assert title == "The senses of bank never part"
    assert "for up to **55%** (at layer 3: 95% interval 42% to 68%, by chance 50%)" in said
    assert "Senses count as apart above **75%**, which no interval reaches." in said
    assert "better" not in said  # which sense leads would be chance too


def test_few_occurrences_far_above_chance_are_not_said_never_to_part() -> None:
    """Seven of ten agree where chance gives 48%: that is no chance, and does not tell more."""
    agreed = made(0.49, 0.53, 0.54, 0.6, 0.7, chance=0.48, n=24)
    title, said = told(agreed)
    assert title == "The senses of bank: too few occurrences to tell"
    assert "never" not in said
    assert said.startswith(
        "Whether the senses of “bank” part is open: the nearest occurrence has the same sense for "
        "up to **70%** (at layer 4: 95% interval 48% to 87%, by chance 48%). Senses count as apart "
        "above **74%**: so few occurrences (**24**) do not tell whether they are."
    )
    assert all(found.chance < found.share for found in agreed)


def test_senses_above_chance_that_may_or_may_not_be_apart_lean_apart() -> None:
    title, said = told(made(0.5, 0.6, 0.72, 0.72, 0.7))
    assert title == "The senses of bank lean apart from layer 2 on"
    assert "more often than by chance, for up to **72%** (at layer 2: 95% interval" in said
    assert told(made(0.7, 0.7, 0.72), 0)[0] == "The senses of bank lean apart at every layer"
    assert told(made(0.5, 0.7, 0.5), 0)[0] == "The senses of bank lean apart at layer 1"


def test_senses_that_merge_again_are_said_to() -> None:
    title, said = told(made(0.5, 0.9, 0.9, 0.6, 0.55))
    assert title == "The senses of bank part at layer 1 and merge again"
    assert "at layer 3 for only **60%** (95% interval 47% to 72%)" in said
    unsure = told(made(0.5, 0.9, 0.9, 0.8, 0.7))
    assert unsure[0] == "The senses of bank are apart at layers 1, 2"
    assert "at layers 3, 4 so few occurrences do not tell" in unsure[1]
    from_start = told(made(0.9, 0.95, 0.5, 0.5, 0.5))
    assert from_start[0] == "The senses of bank are apart at layer 0 and merge again"


def test_senses_apart_from_the_start_are_not_said_to_part_later() -> None:
    title, said = told(made(0.9, 0.95, 1.0, 0.95, 0.9))
    assert title == "The senses of bank are apart at every layer"
    assert "for **90%** at layer 0 (95% interval 79% to 96%; by chance 50%)" in said
    assert "Layer 0 has read no context" in said
    assert "Layer 0" not in told(made(0.5, 0.95, 1.0, 0.95, 0.9))[1]


def test_too_few_occurrences_part_nothing() -> None:
    title, said = told(made(0.5, 1.0, 1.0, 1.0, 1.0, n=4))
    assert title == "The senses of bank: too few occurrences to tell"
    assert said.endswith(
        "At layer 4, not even full agreement of **4** occurrences would show that they are apart."
    )


def test_a_title_of_many_layers_fits() -> None:
    shares = [0.8 + 0.2 * (layer % 3 == 0) for layer in range(25)]
    title = senses_title(made(*shares), range(25), "incomprehensibilities")
    assert title == "The senses of incomprehensibilities are apart at 9 of 25 layers"


@pytest.mark.parametrize("agreed", [None, [], made(1.0, 1.0, chance=1.0), made(0, 0, chance=0)])
def test_nothing_to_compare_is_said(agreed: list[Agreement] | None) -> None:
    assert senses_title(agreed, LAYERS, "bank") == "The senses of bank: nothing to compare"
    said = senses_reading(agreed, LAYERS, 4, "*bank*", kind="topics")
    assert said[0].startswith(r"There is nothing to compare: “\*bank\*” needs two topics")


shares = st.lists(st.floats(0, 1), min_size=1, max_size=13)


@given(shares, st.floats(0.05, 0.9), st.integers(2, 500), st.text(max_size=60))
def test_title_and_reading_agree_on_any_course(
    values: list[float], chance: float, n: int, word: str
) -> None:
    agreed, layers = made(*values, chance=chance, n=n), tuple(range(len(values)))
    title = senses_title(agreed, layers, word)
    said = " ".join(senses_reading(agreed, layers, layers[-1], word))
    assert len(title) <= 80
    parted = parted_layers(agreed, layers)
    assert all(values[layer] > (1 + chance) / 2 for layer in parted)
    below = [layer for layer in layers if agreed[layer].is_together]
    assert ("never part" in title) == ("never part" in said) == (len(below) == len(layers))
    assert ("every layer" in title) == ("at every layer" in said)
    assert ("merge again" in title) == ("merge again" in said)
    if "merge again" in title:
        assert parted
        assert max(below) > parted[0]


BANKS = {  # the word always sixth, so that places in the sentence tell nothing
    "river": (
        "We sat down by the bank of the river",
        "They camped here on the bank under willows",
        "She swam back to the bank against the current",
        "The boat drifted to the bank in the fog",
        "He often fished from the bank of the lake",
        "Otters slept all over the bank of the stream",
        "Mud slid off of the bank after the flood",
        "Grass grew thick on the bank by the water",
    ),
    "money": (
        "She applied again to the bank for a loan",
        "He paid it into the bank on Monday",
        "They owed money to the bank for years",
        "I work downtown at the bank as a clerk",
        "We borrowed cash from the bank last spring",
        "Thieves broke quickly into the bank at night",
        "Shares fell sharply in the bank after bad news",
        "Investors put trust in the bank and its bonds",
    ),
}


def test_the_bundled_model_s_two_banks_part_and_shuffled_ones_do_not(
    service: EncoderService,
) -> None:
    labels = [sense for sense, texts in BANKS.items() for _ in texts]
    encodings = service.encode(BUNDLED_ID, [text for texts in BANKS.values() for text in texts])
    spans = [find_word(encoding.text, "bank") for encoding in encodings]
    vectors = np.stack(
        [word_vectors(e, span) for e, span in zip(encodings, spans, strict=True) if span], axis=1
    )
    layers = encodings[0].layers
    found = by_layer(labels, vectors)
    title = senses_title(found, layers, "bank")
    assert title == "The senses of bank are apart at layers 1, 2, 6"
    assert found[0].share == pytest.approx(found[0].chance)  # sixteen times the same vector
    assert found[0].n_apart <= 2
    mixed = by_layer(["river", "money"] * 8, vectors)
    assert senses_title(mixed, layers, "bank") == "The senses of bank: too few occurrences to tell"
