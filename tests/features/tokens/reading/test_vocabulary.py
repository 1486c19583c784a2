"""What is said of the vocabulary, also where the story that one expects does not hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from components.core import EncoderService
from components.features.tokens.reading.vocabulary import no_row_reading, row_reading
from tests.features.tokens.reading.odd_tokens import texts

# The vocabulary


def test_the_measured_facts_are_said(look_up: Callable[..., str]) -> None:
    assert look_up("an").startswith(
        "“an” is ID **2019** in the vocabulary; inside a word, “\\#\\#an” is ID **2319**."
    )
    said = look_up("sinan")
    assert "“sinan” is not in the vocabulary." in said
    assert "It is cut into **2** tokens: sin (8254), \\#\\#an (2319)." in said
    assert "of **30,522** pieces" in said


def test_an_empty_query_says_the_size(look_up: Callable[..., str]) -> None:
    assert look_up(" ") == "The vocabulary has **30,522** pieces; **30,522** of them are listed."


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("An", "“An” is not in the vocabulary. It is read as “an”, which is ID **2019**."),
        ("Café", "It is read as “cafe”, which is ID **7668**."),
        ("Sinan", "It is read as “sinan”. It is cut into **2** tokens"),
        ("🐍", "It becomes \\[UNK\\]. 🐍 \\(U\\+1F40D\\) is not in the vocabulary"),
        ("\x00", "The tokenizer drops it."),
        ("[CLS]", "“\\[CLS\\]” is ID **101** in the vocabulary."),
        ("##an", "“\\#\\#an” is ID **2319** in the vocabulary."),
        ("zzyzx", "**0** of **30,522** pieces begin with it."),
    ],
)
def test_a_query_is_said_as_it_is_read(look_up: Callable[..., str], query: str, said: str) -> None:
    assert said in look_up(query)


@pytest.mark.parametrize(("family", "piece"), [("roberta", "Ġthe"), ("albert", "▁the")])
def test_pieces_are_found_as_a_family_writes_them(
    tiny_service: EncoderService, look_up: Callable[..., str], family: str, piece: str
) -> None:
    model = f"folder:{family}"
    token_id = tiny_service.vocabulary(model).ids[piece]
    assert look_up("the", model).startswith(f"“{piece}” is ID **{token_id}** in the vocabulary")


@pytest.mark.slow
@settings(deadline=None)
@given(query=texts)
def test_any_query_is_answered(look_up: Callable[..., str], query: str) -> None:
    assert look_up(query)


# A row


def test_a_row_is_said_with_its_first_values_and_norm() -> None:
    (said,) = row_reading("#*x", 7, 1000, np.array([3.0, -4.0, 0.001, 0.0], dtype=np.float32))
    assert "“\\#\\*x” has the ID **7**" in said
    assert "row 7 of its table of 1,000 rows: **4** numbers that begin" in said
    assert "**3.00**, **−4.00**, **0.00** (norm **5.00**)" in said


def test_an_id_behind_the_table_is_said_to_have_no_row() -> None:
    assert no_row_reading(9, 4).startswith("ID 9 has no row: the table of this model ends at row 4")
