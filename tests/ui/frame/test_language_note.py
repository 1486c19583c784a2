"""The note beside the model's name where sentences are not in the language of its training."""

from __future__ import annotations

import pytest

from contextlens.core.registry import BUNDLED_ID, PRESETS
from contextlens.ui.frame.sidebar import language_note
from contextlens.ui.state.view import Sentence, ViewState

ENGLISH = "My python is a good pet"


@pytest.mark.parametrize(
    ("texts", "model", "names"),
    [
        (("Ich liebe meine Python", "我喜欢蟒蛇"), BUNDLED_ID, "A, B"),
        ((ENGLISH, "El perro mordió al hombre"), PRESETS[0].id, "B"),
        ((ENGLISH, "", "Jan i Piotr"), BUNDLED_ID, None),
        (("Ich liebe meine Python",), "folder:german", None),
    ],
)
def test_a_model_trained_on_english_is_said_beside_other_languages(
    texts: tuple[str, ...], model: str, names: str | None
) -> None:
    note = language_note(ViewState(model, tuple(map(Sentence, texts))))
    assert (note and note.numbers["names"]) == names
    assert note is None or "trained on English" in str(note)
