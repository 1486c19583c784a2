"""Texts that are English, and texts that are plainly not, by function words and script."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.analysis.english import is_english, is_foreign
from contextlens.content.bundled_texts import (
    ambiguous_words,
    baseline_sentences,
    sentiment_sentences,
)

ENGLISH = """
I love my pet python|I love coding in python|The bank lends money|Is it late?|I am
She gave me an apple|can't come tonight|The man was on the war path|Mary saw the engineer
The teacher's unbelievable python|The food was not good|Die hard in the attic
A dog is running in a park|Stocks fell sharply on Monday|He said that he will go by train
"""
FOREIGN = """
Die Bank am Fluss|Ich liebe meine Python|Der Hund biss den Mann|Das war gut|Die Hand war warm
Am Ufer saß ein alter Mann und las|Er hat die Bank am Fluss gesehen|Was ist das|Ich bin in der Bank
Le chat dort sur la table|J'aime mon python|La banque prête de l'argent|On me dit non|Elle a un chat
El perro mordió al hombre|Me gusta mi perro|El banco está en el parque|La casa es grande
我喜欢蟒蛇|银行在河边|I love 蟒蛇|Привет мир|אני אוהב|Il cane morde l'uomo|O banco está no parque
De bank is in het park|Hij is in de tuin|Jag älskar min hund|no|die|x|123|…|!!|[MASK]
Ich will das nicht|Also das war gut|Er will nach Hause gehen|Das Kind will Milch trinken
Jeg bor i Oslo|Jag bor i Stockholm|I ragazzi giocano nel parco|No he comido hoy|Ik had een hond
Jan i Piotr|Die Frau will also nach Hause|À la maison il y a un chat
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


def test_most_english_sentences_are_recognised_and_none_is_foreign() -> None:
    texts = [*baseline_sentences(), *(sentence.text for sentence in ambiguous_words())]
    assert np.mean([is_english(text) for text in texts]) > 0.93
    texts += [*lines(ENGLISH), *(sentence.text for sentence in sentiment_sentences())]
    texts += [
        "i think i can",
        "Café de Flore",
        "Las Vegas hosts shows",
        "x = λ",
        "Charles de la Tour was born",
    ]
    assert [text for text in texts if is_foreign(text)] == []


@pytest.mark.parametrize(
    "text",
    lines(
        """
Ich liebe meine Python|Der Hund biss den Mann|Er hat die Bank am Fluss noch nicht gesehen
Elle est avec un chat|Le chat dort sur la table|El perro mordió al hombre|El banco está en el parque
Il cane dorme nella casa|Hij is niet in het park|Jag är inte i Stockholm|O meu banco não é este
我喜欢蟒蛇|Привет мир|אני אוהב|मेरा अजगर
"""
    ),
)
def test_what_is_plainly_another_language_is_foreign(text: str) -> None:
    assert is_foreign(text)
    assert is_foreign(text.upper())
