"""The parts of the page Sentence vectors."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import duration, say
from contextlens.content.wording import quoted, shortened
from contextlens.core import ModelCard
from contextlens.core.schema import Passport
from contextlens.features.sentences.compute import (
    Compared,
    CorpusAccuracy,
    TextVectors,
    accuracy_of,
    arrays,
    compared,
    corpus_name,
    corpus_of,
    corpus_task,
    drawn_from,
    drawn_task,
    index_task,
    random_task,
    ready_corpus,
    rows,
    source_of,
    stored_task,
    texts_of,
)
from contextlens.features.sentences.controls import (
    DRAWN,
    QUERY,
    SEARCH,
    SHOW,
    TEST,
    TESTS,
    YOURS,
    corpus_among,
)
from contextlens.features.sentences.explain import FORMULA
from contextlens.features.sentences.figures import (
    MATRIX_WIDTH,
    accuracy_bars,
    accuracy_height,
    matrices_drawing,
    matrix_chart,
    matrix_height,
)
from contextlens.features.sentences.reading import (
    accuracy_claims,
    accuracy_sure,
    claims,
    drawn_line,
    pair_title,
    sure,
)
from contextlens.features.sentences.search import LONGEST, SearchResult, TextIndex, search
from contextlens.features.sentences.snippet import PICTURE, cosines_snippet, recipe_snippet
from contextlens.figures.similarity import cosine_range
from contextlens.jobs import Task
from contextlens.maps.vectors import RECIPE
from contextlens.ui.corpora.catalogue import titles
from contextlens.ui.frame import errors
from contextlens.ui.models import runtime, waiting
from contextlens.ui.models.background import maps, store
from contextlens.ui.models.recipes import recipe_of
from contextlens.ui.models.services import uncached
from contextlens.ui.state.controls import Choice
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit, sentences

HEIGHT = 2 * matrix_height(6)
_FILE = "sentence-vectors"


def toolbar(view: ViewState) -> None:
    """Draw what to show, and the sentences to compare or the query and the texts to search."""
    with kit.controls("sentences"):
        if inputs.choice(view, SHOW) == SEARCH:
            inputs.text(view, QUERY)
            inputs.select(view, _corpora(view))
            return
        source = inputs.choice(view, source_of(view))
        if source == DRAWN:
            inputs.select(view, _corpora(view))
        elif source == YOURS:
            with st.popover("Edit", icon=":material/edit:", type="tertiary"):
                sentences.sentence_editor(view, "sentences", where="page", least=1)


def _corpora(view: ViewState) -> Choice:
    """The ready corpora, and the stored ones that the visitor knows or that the address names."""
    asked = corpus_name(view)
    if ready_corpus(asked) is not None:
        return corpus_among(titles(view))
    known = titles(view, asked)
    return corpus_among({asked: say("senses.not_here"), **known})


# --- The matrices


def result_of(view: ViewState, card: ModelCard) -> Compared | None:
    """Return the compared sentences; until random pairs are measured, or of one sentence, None."""
    task = random_task(card, uncached(), token_seconds=maps().token_seconds(card))
    random: TextVectors | None = _awaited(task, "sentences_random", height=HEIGHT)
    if random is None:
        return None
    drawn = None
    if source_of(view).of(view) == DRAWN:
        source = drawn_from(corpus_name(view))
        task = drawn_task(source, card, uncached(), token_seconds=maps().token_seconds(card))
        vectors: TextVectors | None = _awaited(task, "sentences_drawn", height=HEIGHT)
        if vectors is None:
            return None
        drawn = source, vectors
    result = compared(view, card, runtime.service(), random, drawn=drawn)
    if result is None:
        st.info(say("sentences.one"), icon=":material/add:")
    return result


def _awaited(task: Task, place: str, *, height: int) -> Any:
    """The result of a task; until then draw its progress or a button, and return None."""
    cost = say("sentences.waiting.cost", duration=duration(task.size))
    return waiting.result_of(task, cost, place=place, height=height)


def picture(result: Compared) -> None:
    """Draw the sentences, the reading and the pair to read, beside a matrix for each way."""
    left, right = st.columns([4, 7], gap="medium")
    with left:
        if result.drawn is None:
            st.markdown(_lines(result, range(len(result.sentences))))
        else:
            st.markdown(drawn_line(result.drawn))
        kit.reading(claims(result), sure=sure(result))
        _pair(result)
    scale = cosine_range(result.cosines)
    with right, st.container(horizontal=True, gap="small", key="sentences_matrices"):
        for at, pooling in enumerate(result.poolings):
            title = say(f"sentences.title.{pooling}")
            chart = matrix_chart(
                result.cosines[at], result.shares[at], result.letters, scale=scale, title=title
            )
            with st.container(width=MATRIX_WIDTH):
                alt = say("sentences.alt", title=title)
                kit.chart(chart, key=f"sentences_matrix_{pooling}", alt=alt)


def _lines(result: Compared, places: Iterable[int]) -> str:
    """Some sentences behind their letters, a line each."""
    lines = []
    for i in places:
        s = result.sentences[i]
        text = " / ".join(quoted(part, 100) for part in (s.text, s.pair) if part is not None)
        lines.append(f"**{result.letters[i]}** {text}")
    return "  \n".join(lines)


def _pair(result: Compared) -> None:
    """Draw the pair to read: the one about which two ways disagree most."""
    i, j = result.disagreement.pair
    with st.container(border=True, key="sentences_pair"):
        st.markdown(str(pair_title(result)))
        if result.drawn is not None:
            st.markdown(_lines(result, (i, j)))
        cosine = say("sentences.pair.cosine")
        table = [
            {
                say("sentences.pair.vector"): say(f"sentences.title.{pooling}"),
                cosine: float(result.cosines[at, i, j]),
                say("sentences.pair.rank"): result.disagreement.ranks[at],
            }
            for at, pooling in enumerate(result.poolings)
        ]
        kit.table(table, key="sentences_pair_table", exact=[cosine])


# --- Labelled corpora


def look_closer(view: ViewState, card: ModelCard) -> None:
    """Draw how much each way costs on a labelled corpus."""
    kit.look_closer(view, TEST, dict.fromkeys(TESTS, partial(_accuracy, view, card)))


def _accuracy(view: ViewState, card: ModelCard) -> None:
    seconds = maps().token_seconds(card)
    task = corpus_task(corpus_of(view), card, uncached(), token_seconds=seconds)
    vectors: TextVectors | None = _awaited(task, "sentences_corpus", height=accuracy_height(6))
    if vectors is not None:
        draw_accuracy(accuracy_of(view, vectors), TEST.of(view))


def draw_accuracy(result: CorpusAccuracy, test: str) -> None:
    """Draw the accuracy by each way, and its reading."""
    label = say(f"sentences.label.{test}")
    found = accuracy_claims(result, label)
    kit.reading(found, sure=accuracy_sure(result), key="reading_accuracy")
    names = [say(f"sentences.title.{each.pooling}") for each in result.accuracies]
    title = say("sentences.accuracy.title", corpus=result.corpus, label=label)
    chart = accuracy_bars(
        result.accuracies,
        names,
        result.baseline,
        title=title,
        axis=say("sentences.accuracy.axis", label=label),
        guessing=say("sentences.accuracy.guessing"),
    )
    kit.chart(chart, key="sentences_accuracy", alt=say("sentences.accuracy.alt", title=title))


# --- The search


def search_of(view: ViewState, card: ModelCard) -> SearchResult | None:
    """Return the texts nearest to the query; until the texts are read, or without a query, None."""
    query = QUERY.of(view).strip()[:LONGEST]
    if not query:
        st.info(say("sentences.search.none"), icon=":material/search:")
        return None
    service, seconds = runtime.service(), maps().token_seconds(card)
    name = corpus_name(view)
    ready = ready_corpus(name)
    with errors.boundary(again=False):
        if ready is not None:
            texts = texts_of(ready)
            task = index_task(ready, card, uncached(), token_seconds=seconds)
        else:
            stored = store().open(name)
            texts = stored.text
            task = stored_task(stored, store(), card, uncached(), token_seconds=seconds)
        index: TextIndex | None = _awaited(task, "sentences_index", height=HEIGHT)
        return None if index is None else search(index, query, texts, card, service)
    return None


# --- Below the picture


def explain(result: Compared) -> None:
    """Draw the tabs under the picture."""
    kit.tabs(lambda: _numbers(result), lambda: _under_the_hood(result), say("sentences.limits"))


def downloads(result: Compared, place: DeltaGenerator) -> None:
    """Draw the Download menu."""
    passport = _passport(result)
    titles = [say(f"sentences.title.{pooling}") for pooling in result.poolings]
    svg = matrices_drawing(result.cosines, result.letters, titles, cosine_range(result.cosines))
    caption = export.caption(passport)
    texts = dict(zip(result.letters, result.sentences, strict=True))
    if result.drawn is None:
        key = (f"{name}: {shortened(sentence.text, 60)}" for name, sentence in texts.items())
        caption = f"{' · '.join(key)}\n{caption}"
    with kit.downloads(
        place,
        caption,
        page="sentences",
        texts=texts if result.drawn is None else result.drawn.corpus,
        svg=svg,
        name=_FILE,
        snippets=_snippets(result),
    ):
        kit.download_files(
            _FILE, passport, rows=lambda: rows(result), arrays=lambda: arrays(result)
        )


def _numbers(result: Compared) -> None:
    kit.table(rows(result), key="sentences_table", after=3, height=360)


def _passport(result: Compared) -> Passport:
    return result.vectors.passport


def _under_the_hood(result: Compared) -> None:
    shapes = [{"array": n, "shape": str(a.shape)} for n, a in arrays(result).items()]
    kit.under_the_hood(
        formula=[FORMULA, recipe_of(result.card)],
        snippet=_snippets(result),
        passport=_passport(result),
        shapes=kit.shapes(shapes, key="sentences_shapes"),
    )


def _snippets(result: Compared) -> list[tuple[str, str]]:
    """Scripts for the cosines, and one for a chart, without a title."""
    has_pooler, has_recipe = ("pooler" in result.poolings, RECIPE in result.poolings)
    texts = result.sentences if result.drawn is None else f"{_FILE}.npz"
    plain = cosines_snippet(result.card, texts, has_pooler=has_pooler)
    snippets = [(say("sentences.snippet.plain"), plain), ("", PICTURE)]
    if has_recipe:
        own = recipe_snippet(result.card, texts)
        snippets.append((say("sentences.snippet.recipe"), own))
    return snippets
