"""Short texts count as English, and nothing does that could be another language."""

from __future__ import annotations

import pytest

from contextlens.content.bundled_texts import ambiguous_words
from contextlens.features.why import english
from contextlens.features.why.english import is_english

ENGLISH = """
bank|I love my pet python|I love coding in python|The bank lends money|Rain fell|Is it late?|I am
She gave me an apple|can't come tonight|The man was on the war path|Mary saw the engineer
The teacher's unbelievable python|The food was not good|Die hard in the attic
"""
FOREIGN = """
Die Bank am Fluss|Die Bank am not Fluss|Ich liebe meine Python|Der Hund biss den Mann|Das war gut
Die Hand war warm|Am Ufer saß ein alter Mann und las|Er hat die Bank am Fluss gesehen|Der Wind
Le chat dort sur la table|J'aime mon python|La banque prête de l'argent|On me dit non
El perro mordió al hombre|Me gusta mi perro|El banco está en el parque|La casa es grande
我喜欢蟒蛇|银行在河边|I love 蟒蛇|I love meine Python|The bank und der Fluss|Привет мир|אני אוהב
Il cane morde l'uomo|O banco está no parque|De bank is in het park|Jag älskar min hund
no|die|x|123|…|!!|[MASK]
"""


def lines(texts: str) -> list[str]:
    return [text for text in texts.replace("\n", "|").split("|") if text]


@pytest.mark.parametrize("text", lines(ENGLISH))
def test_short_english_is_english(text: str) -> None:
    assert is_english(text)
    assert is_english(text.upper())


@pytest.mark.parametrize("text", ["", " ", *lines(FOREIGN)])
def test_what_may_be_another_language_is_not(text: str) -> None:
    assert not is_english(text)


def test_most_english_sentences_are_known_without_their_own_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each tenth of a corpus, judged by the words of the others."""
    texts = [each.text for each in ambiguous_words()]
    whole = english._known()
    found = 0
    for k in range(10):
        own = {word for text in texts[k::10] for word in text.casefold().split()}
        others = {word for i in range(10) if i != k for text in texts[i::10]
                  for word in text.casefold().split()}  # fmt: skip
        known = frozenset(word for word in whole if word in others or word not in own)
        monkeypatch.setattr(english, "_known", lambda known=known: known)
        found += sum(map(is_english, texts[k::10]))
    assert found / len(texts) > 0.9
