"""The senses of a word by a visitor's labels: which texts count, and what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contextlens.analysis.sense_names import MIN_USES, SenseNames
from contextlens.content.bundled_texts import ambiguous_words
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import find_words
from contextlens.corpus.corpus import Corpus
from contextlens.ui.corpora import own_senses
from contextlens.ui.corpora.controls import COLLECTION, LABEL, NO_LABEL
from contextlens.ui.corpora.own_senses import MAX_USES, labelled_uses, task_of
from contextlens.ui.models import tasks
from contextlens.ui.models.background import store
from contextlens.ui.state.services import service as app_service
from contextlens.ui.state.view import DEFAULT
from contextlens.ui.widgets.comparison.senses import OwnSenses, covered
from tests.support.corpus_store import indexed
from tests.support.measured import measured
from tests.support.mint import corpus_of, labelled, with_file
from tests.support.pages import app_settings


@pytest.fixture
def _app(tmp_path: Path) -> Iterator[None]:
    with app_settings(DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0"):
        yield


# --- The texts that count


def test_each_label_gives_as_many_texts_from_all_over_the_collection() -> None:
    rows = [(f"the mint of year {i}", f"{i % 2 + (i >= 2_000)}") for i in range(3_000)]
    uses = labelled_uses(corpus_of([*rows, *[("a mint", "rare")] * 3]), "sense", "mint")
    assert Counter(uses.labels) == dict.fromkeys("012", MAX_USES // 3)
    assert uses.n_total == 3_000
    years = [int(text.rsplit(" ", 1)[1]) for text in uses.texts]
    assert years == sorted(years)
    assert np.diff(years).max() < 100


@pytest.mark.parametrize(
    "rows",
    [
        [(text, "plant") for text, _ in labelled()],
        labelled(n=MIN_USES - 1),
        labelled("", " "),
        labelled()[:2] * 10,  # copies
        [(text.replace("mint", "mints"), label) for text, label in labelled()],
        [(f"{label} {i}", label) for i in range(9) for label in "ab"],
    ],
    ids=["one label", "too few", "empty labels", "copies", "another word", "without the word"],
)
def test_too_little_gives_no_texts(rows: list[tuple[str, str]]) -> None:
    assert labelled_uses(corpus_of(rows), "sense", "mint").texts == ()


def test_a_marked_word_alone_has_the_label() -> None:
    rows = [(f"Mint {i} or mint, mint", label) for i in range(5) for label in ("x", "y")]
    rows = [(f"{label}: {text}", f"Mint: {label}") for text, label in rows]
    corpus = corpus_of(rows)
    uses = labelled_uses(corpus, "sense", "mint")
    assert set(uses.labels) == {"x", "y"}
    assert set(uses.spans) == {(3, 7)}
    last = tuple(find_words(text, "mint")[-1] for text in corpus.texts)
    assert labelled_uses(replace(corpus, spans=last), "sense", "mint").spans == last
    others = tuple(find_words(text, "or")[0] for text in corpus.texts)
    assert labelled_uses(replace(corpus, spans=others), "sense", "mint").texts == ()


# --- The names


@pytest.mark.slow
def test_the_ready_sentences_as_an_own_file_give_the_ready_names(
    service: EncoderService, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    card, word = service.load(BUNDLED_ID), "python"
    baseline = tasks.read_baseline(card, service, measured(tmp_path_factory))
    ready = tasks.measure_senses(card, service, baseline, word, tmp_path).work(lambda *_: None)
    rows = [(row.text, row.sense) for row in ambiguous_words() if row.word == word]
    found = senses_of(corpus_of(rows), word, service, baseline.centre("mean")[0])
    assert found is not None
    assert (found.n, found.n_total) == (len(rows), len(rows))
    assert found.names.senses.tolist() == ready.senses.tolist()
    np.testing.assert_allclose(found.names.centroids, ready.centroids, atol=1e-5)
    np.testing.assert_allclose(found.names.margins, ready.margins, atol=1e-5)


def senses_of(
    corpus: Corpus, word: str, service: EncoderService, centre: Any = None
) -> OwnSenses | None:
    card = service.load(BUNDLED_ID)
    if centre is None:
        centre = np.zeros((card.n_layers + 1, card.n_dims), np.float32)
    uses = labelled_uses(corpus, "sense", word)
    of = word, corpus.name, "sense"
    return own_senses.own_senses(uses, card, service, centre, lambda *_: None, of=of)


def test_labels_that_say_nothing_of_the_meaning_give_no_names(service: EncoderService) -> None:
    assert covered("mint") is None
    assert senses_of(corpus_of(labelled()), "mint", service) is not None
    turns = [(text, "ab"[i // 2 % 2]) for i, (text, _) in enumerate(labelled())]
    assert senses_of(corpus_of(turns), "mint", service) is None
    assert senses_of(corpus_of(labelled(n=3)), "mint", service) is None


def test_labels_are_short_whole_and_told_apart_in_sentences() -> None:
    long = "an institution where people keep their "
    labels = ["money/finance", "0", "-1.5", "River.", f"{long}money", f"{long}gold", "<b>*x*</b>"]
    names = SenseNames(np.array(labels), *np.zeros((3, 1, 1), np.float32))
    titles = OwnSenses("bank", names, "a file", "stars\nor " + "column" * 9, 9, 9).titles
    assert list(titles) == labels
    assert list(titles.values()) == [
        "money/finance",
        "stars or columncolu… 0",
        "stars or columncolu… -1.5",
        "“River.”",
        "“an institution where…” (5)",
        "“an institution where…” (6)",
        "“<b>*x*</b>”",
    ]


# --- The collection


@pytest.mark.usefixtures("_app")
def test_only_a_chosen_collection_with_a_label_is_looked_up() -> None:
    card = app_service().load(BUNDLED_ID)
    baseline: Any = SimpleNamespace(centre=lambda _: (None, None))
    file = with_file(DEFAULT, corpus_of(labelled()))
    assert task_of(file, card, baseline, "mint") is not None
    assert task_of(LABEL.put(file, NO_LABEL), card, baseline, "mint") is None
    assert task_of(file, card, None, "mint") is None
    assert task_of(file, card, baseline, None) is None
    other = with_file(DEFAULT, corpus_of(labelled(), column="a topic"))
    assert task_of(other, card, baseline, "mint") is None
    assert task_of(LABEL.put(other, "a topic"), card, baseline, "mint") is not None
    for name in ("", "ambiguous", "sentiment", "sentences", "gone"):
        assert task_of(COLLECTION.put(DEFAULT, name), card, baseline, "mint") is None


@pytest.mark.slow
@pytest.mark.usefixtures("_app")
def test_a_stored_collection_gives_names_once_it_is_chosen(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    card = app_service().load(BUNDLED_ID)
    baseline = tasks.read_baseline(card, app_service(), measured(tmp_path_factory))
    name = indexed(store(), corpus_of(labelled()))
    task = task_of(COLLECTION.put(DEFAULT, name), card, baseline, "mint")
    assert task is not None
    found = task.work(lambda *_: None)
    assert (found.n, found.column, found.collection) == (20, "sense", "mint.csv")
    assert sorted(found.titles) == ["money", "plant"]
