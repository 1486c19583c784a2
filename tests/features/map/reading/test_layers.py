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


def made(*shares: float, chance: float = 0.5, n: int = 60) -> list[Agreement]:
    kinds = (("river", 0.05), ("money", -0.05))
    return [
        Agreement(
            share,
            chance,
            n,
            tuple(LabelShare(name, n // 2, min(1, share + more), chance) for name, more in kinds),
        )
        for share in shares
    ]


def told(agreed: Sequence[Agreement], layer: int = 4) -> tuple[str, str]:
    said = senses_reading(agreed, LAYERS[: len(agreed)], layer, "bank")
    return senses_title(agreed, LAYERS[: len(agreed)], "bank"), " ".join(said)


def test_senses_part_at_the_first_layer_from_which_they_stay_apart() -> None:
    title, said = told(made(0.5, 0.55, 0.9, 0.95, 0.92))
    assert title == "The senses of bank part at layer 2"
    assert said.startswith(
        "The senses of “bank” part at layer 2: the nearest occurrence has the same sense for "
        "**90%** there (**55%** at layer 1), by chance 50%; most at layer 3 (**95%**). "
    )
    assert (
        "At layer 4, “river” keeps together best (**97%**, by chance 50%), “money” least (**87%**, "
        "by chance 50%)." in said
    )


def test_senses_that_never_part_are_said_never_to() -> None:
    title, said = told(made(0.5, 0.52, 0.4, 0.55, 0.5))
    assert title == "The senses of bank never part"
    assert "at no layer" in said
    assert "at most for **55%**, at layer 3 (by chance 50%)" in said
    assert "best" not in said  # which sense leads would be chance too


def test_senses_that_only_lean_apart_are_not_said_to_part() -> None:
    """Clearly above chance, yet most of what chance leaves is not reached."""
    title, said = told(made(0.5, 0.6, 0.72, 0.72, 0.7))
    assert title == "The senses of bank never part"
    assert "lean apart but never part" in said


def test_senses_that_merge_again_are_said_to() -> None:
    title, said = told(made(0.5, 0.9, 0.9, 0.6, 0.55))
    assert title == "The senses of bank part at layer 1 and merge again"
    assert "part at layer 1 but merge again: they are apart at layers 1, 2 alone" in said
    assert "at layer 3 for only **60%**" in said
    once = told(made(0.5, 0.9, 0.5, 0.6, 0.55))[0]
    assert once == "The senses of bank are apart at layer 1 only"
    back = told(made(0.5, 0.9, 0.5, 0.6, 0.95))
    assert back[0].endswith("merge again")
    assert "apart at layers 1, 4 alone" in back[1]


def test_senses_apart_from_the_start_are_not_said_to_part_later() -> None:
    title, said = told(made(0.9, 0.95, 1.0, 0.95, 0.9))
    assert title == "The senses of bank are apart at every layer"
    assert "for **90%** to **100%** (by chance 50%)" in said
    assert "Layer 0 has read no context" in said
    assert "Layer 0" not in told(made(0.5, 0.95, 1.0, 0.95, 0.9))[1]
    from_start = told(made(0.9, 0.95, 0.5, 0.5, 0.5))
    assert from_start[0] == "The senses of bank part at layer 0 and merge again"


def test_too_few_occurrences_part_nothing() -> None:
    title, said = told(made(0.5, 1.0, 1.0, 1.0, 1.0, n=4))
    assert title == "The senses of bank never part"
    assert "With only **4** occurrences, not even full agreement would rise above chance." in said


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
    said = senses_reading(agreed, layers, layers[-1], word)[0]
    assert len(title) <= 80
    parted = parted_layers(agreed, layers)
    assert ("never part" in title) == ("never part" in said) == (not parted)
    assert ("every layer" in title) == ("at every layer" in said) == (len(parted) == len(layers))
    assert ("merge again" in title or title.endswith("only")) == ("merge again" in said)


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
    assert title.startswith("The senses of bank part at layer ")
    assert not title.endswith("layer 0")
    assert found[0].share == pytest.approx(found[0].chance)  # sixteen times the same vector
    mixed = by_layer(["river", "money"] * 8, vectors)
    assert senses_title(mixed, layers, "bank") == "The senses of bank never part"
