"""The page Sentence vectors: the sentences compared, and labelled corpora."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import duration, say
from contextlens.content.wording import escape, shortened
from contextlens.core import ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import JobError
from contextlens.features.sentences.accuracy import (
    CorpusAccuracy,
    accuracy_height,
    accuracy_of,
    corpus_of,
)
from contextlens.features.sentences.comparison import (
    MATRIX_WIDTH,
    Comparison,
    comparison,
    matrix_height,
)
from contextlens.features.sentences.controls import (
    DRAWN,
    SHOW,
    TEST,
    TESTS,
    YOURS,
    corpus_among,
    corpus_name,
    source_of,
)
from contextlens.features.sentences.drawn_texts import drawn_task, drawn_texts
from contextlens.features.sentences.vectors import (
    TextVectors,
    random_task,
    vectors_task,
)
from contextlens.jobs import Task
from contextlens.ui.corpora.catalogue import titles
from contextlens.ui.corpora.controls import FILE_NAME, OWN_FILE, READY_TEXTS
from contextlens.ui.corpora.texts import file_with_vectors, stored_texts
from contextlens.ui.models import runtime, waiting
from contextlens.ui.models.background import jobs, maps
from contextlens.ui.models.recipes import recipe_of
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.controls import Choice
from contextlens.ui.state.services import uncached
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.unread import unread

HEIGHT = matrix_height(6)
_FILE = "sentence-vectors"
_EVICTED = "These vectors had to make room for others. Look at the page again, then download them."
ResultOf = Callable[[Task, str], Any]
"""Returns a task's result, or None until it is there; the text is the key of what stands for it."""


def toolbar(view: ViewState) -> None:
    """Draw the choice of sentences to compare."""
    if SHOW.of(view) != SHOW.default:
        opened = SHOW.put(view, SHOW.default)
        navigation.link(navigation.row("search"), opened, label=say("sentences.search_moved"))
    with kit.controls("sentences"):
        source = inputs.choice(view, source_of(view))
        if source == DRAWN:
            inputs.select(view, _corpora(view))


def _corpora(view: ViewState) -> Choice:
    """The ready corpora, and the stored ones that the visitor knows or that the address names."""
    name = corpus_name(view)
    file = file_with_vectors(view)
    own = {} if file is None else {OWN_FILE: FILE_NAME.of(view)}
    if name in READY_TEXTS or name in own:
        return corpus_among({**own, **titles(view)})
    known = {**own, **titles(view, name)}
    return corpus_among({name: say("texts.not_here"), **known})


def _awaited(task: Task, key: str, *, height: int = HEIGHT) -> Any:
    """Return the result of a task; until then draw its progress or a button, and return None."""
    cost = say("sentences.waiting.cost", duration=duration(task.size))
    return waiting.result_of(task, cost, place=key, height=height)


def _finished(task: Task, _key: str) -> Any:
    """Return the result of a task that a page awaited.

    Raises:
        JobError: it was evicted.
    """
    job = jobs().get(task.key)
    if job is None or job.state != "done":
        raise JobError(_EVICTED)
    return job.result()


# --- The sentences compared


def compare(view: ViewState, card: ModelCard, downloads: DeltaGenerator) -> None:
    """Draw the compared sentences, or what there is to wait for."""
    result = _comparison(view, card, _awaited)
    if result is None:
        return
    if source_of(view).of(view) == YOURS:
        _left_unread(result)
    _picture(result)
    kit.look_closer(view, TEST, dict.fromkeys(TESTS, partial(_accuracy, view, card)))
    kit.tabs(
        lambda: kit.table(result.rows(), key="sentences_table", after=3, height=360),
        lambda: _under_the_hood(result),
        say("sentences.limits"),
    )
    _downloads(view, result, downloads)


def _comparison(view: ViewState, card: ModelCard, result_of: ResultOf) -> Comparison | None:
    task = random_task(card, uncached(), token_seconds=maps().token_seconds(card))
    random: TextVectors | None = result_of(task, "sentences_random")
    if random is None:
        return None
    drawn = None
    if source_of(view).of(view) == DRAWN:
        name = corpus_name(view)
        file = file_with_vectors(view) if name == OWN_FILE else None
        if name == OWN_FILE and file is None:
            st.info(say("own_file.gone", name=escape(FILE_NAME.of(view))))
            return None
        corpus = file or (READY_TEXTS[name]() if name in READY_TEXTS else stored_texts(name))
        source = drawn_texts(corpus)
        task = drawn_task(source, card, uncached(), token_seconds=maps().token_seconds(card))
        vectors: TextVectors | None = result_of(task, "sentences_drawn")
        if vectors is None:
            return None
        drawn = source, vectors
    result = comparison(view, card, runtime.service(), random, drawn=drawn)
    if result is None:
        st.info(say("sentences.one"), icon=":material/add:")
    return result


def _restored(view: ViewState) -> Comparison:
    """Return the compared sentences of a view as they were shown.

    Raises:
        JobError: their vectors were evicted.
    """
    result = _comparison(view, runtime.service().load(view.model), _finished)
    if result is None:
        raise JobError(_EVICTED)
    return result


def _left_unread(result: Comparison) -> None:
    """Draw notes on what the model cannot read of the sentences."""
    service, model = runtime.service(), result.card.id
    texts, pairs = [s.text for s in result.sentences], [s.pair for s in result.sentences]
    tokens = service.tokenize(model, texts, pairs=pairs)
    kit.notes(unread(dict(zip(result.names, tokens, strict=True)), service, model))


def _picture(result: Comparison) -> None:
    """Draw the finding, the matrices of two ways, and the sentences with the pair to read."""
    kit.headline(*result.claims(), key="reading")
    left, right = st.columns([7, 4], gap="medium")
    with left:
        _matrices(result, result.main_ways, key="sentences_matrices")
        first, second = result.pair_to_read.names
        framed = "framed" if result.meanings is None else "framed_nearest"
        st.caption(say(f"sentences.{framed}", first=first, second=second))
    with right:
        if result.drawn is None:
            st.markdown(result.lines(range(len(result.sentences))))
        else:
            st.markdown(result.drawn.line())
        if result.meanings is None:  # else the frames show more
            _pair(result)
    kit.claims([], sure=result.sure(), key="reading_sure")
    others = [way for way in result.poolings if way not in result.main_ways]
    if others and not session.is_presented():
        with st.expander(say("sentences.others")):
            _matrices(result, others, key="sentences_other_matrices")
            pair, exact = result.pair_to_read, [say("sentences.pair.cosine")]
            st.markdown(say("sentences.pair.only", first=pair.names[0], second=pair.names[1]))
            kit.table(pair.rows(), key="sentences_pair_table", exact=exact)


def _matrices(result: Comparison, poolings: Sequence[str], *, key: str) -> None:
    """Draw a matrix for each of some ways."""
    with st.container(horizontal=True, gap="small", key=key):
        for pooling in poolings:
            with st.container(width=MATRIX_WIDTH):
                alt = say("sentences.alt", title=result.title(pooling))
                figure = result.matrix(result.poolings.index(pooling))
                kit.chart(figure, key=f"sentences_matrix_{pooling}", alt=alt)


def _pair(result: Comparison) -> None:
    pair = result.pair_to_read
    with st.container(border=True, key="sentences_pair"):
        for claim in pair.claims():
            st.markdown(str(claim))
        if result.drawn is not None:
            st.markdown(result.lines(pair.pair))


def _accuracy(view: ViewState, card: ModelCard) -> None:
    """Draw the accuracy of each way on a labelled corpus."""
    corpus, seconds = corpus_of(view), maps().token_seconds(card)
    task = vectors_task(corpus.key, corpus.texts, card, uncached(), token_seconds=seconds)
    vectors: TextVectors | None = _awaited(task, "sentences_corpus", height=accuracy_height(6))
    if vectors is not None:
        given = task.key, TEST.of(view)
        result = remembered("accuracy", *given, compute=lambda: accuracy_of(view, vectors))
        kit.claims(result.claims(), sure=result.sure(), key="reading_accuracy")
        kit.chart(result.figure(), key="sentences_accuracy", alt=result.alt())


def _under_the_hood(result: Comparison) -> None:
    shapes = [{"array": n, "shape": str(a.shape)} for n, a in result.arrays().items()]
    kit.under_the_hood(
        formula=[f"{result.formula}\n\n{CorpusAccuracy.formula}", recipe_of(result.card)],
        snippet=result.snippets(f"{_FILE}.npz"),
        passport=result.vectors.passport,
        shapes=kit.shapes(shapes, key="sentences_shapes"),
    )


def _downloads(view: ViewState, result: Comparison, container: DeltaGenerator) -> None:
    passport = result.vectors.passport
    caption = export.caption(passport)
    texts = dict(zip(result.names, result.sentences, strict=True))
    if result.drawn is None:
        key = (f"{name}: {shortened(sentence.text, 60)}" for name, sentence in texts.items())
        caption = f"{' · '.join(key)}\n{caption}"
    kit.downloads(
        container,
        caption,
        page="sentences",
        texts=texts if result.drawn is None else result.drawn.corpus,
        svg=result.drawing(),
        name=_FILE,
        snippets=result.snippets(f"{_FILE}.npz"),
        files=lambda: kit.download_files(
            _FILE,
            passport,
            rows=lambda: _restored(view).rows(),
            arrays=lambda: _restored(view).arrays(),
        ),
    )
