"""All that the probe's page draws: the choice of texts, the picture, the closer looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import duration, say
from contextlens.content.wording import escape
from contextlens.core import ModelCard
from contextlens.core.errors import RequestError
from contextlens.corpus.corpus import Corpus
from contextlens.features.probe.calibration import Calibration
from contextlens.features.probe.controls import MAX_LEARNING_SECONDS, PAGE, SECTION, SENTENCE
from contextlens.features.probe.exports import classifier_json, vectors_parquet, vectors_tsv
from contextlens.features.probe.grades import GradeProbe
from contextlens.features.probe.labelled_texts import (
    LabelledTexts,
    ShownCorpus,
    label_columns,
    label_of,
    labelled_texts,
)
from contextlens.features.probe.labels import LabelProbe
from contextlens.features.probe.layer_scores import HEIGHT, Probe
from contextlens.features.probe.learning_curve import LearningCurve
from contextlens.features.probe.mistakes import LargestErrors, Mistakes
from contextlens.features.probe.mixups import Mixups
from contextlens.features.probe.probing import (
    learning_seconds,
    probe_of,
    probe_task,
    restored,
    seconds_of,
)
from contextlens.features.probe.try_sentence import try_sentence
from contextlens.ui.corpora import bar
from contextlens.ui.corpora.bar import texts_bar, with_label
from contextlens.ui.corpora.controls import EXACT, LABEL
from contextlens.ui.models import runtime, waiting
from contextlens.ui.models.background import maps
from contextlens.ui.panel import Panel
from contextlens.ui.state import session
from contextlens.ui.state.services import uncached
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit


def toolbar(view: ViewState, shown: ShownCorpus) -> None:
    """Draw the choice of texts and of the column with their labels."""
    corpus = shown.corpus
    with texts_bar(view, PAGE, shown=shown.name):
        if corpus is not None:
            _label(view, corpus)
    bar.problem_note(view, "" if shown.unusable is None else "labels", shown.unusable)
    if shown.problem:
        st.info(escape(shown.problem), icon=":material/folder_off:")
    bar.panel(view, PAGE, shown.unusable or corpus)


def _label(view: ViewState, corpus: Corpus) -> None:
    options, shown = label_columns(corpus), label_of(view, corpus)
    columns = tuple(corpus.labels)
    inputs.menu(
        LABEL.label,
        {title: title for title in options},
        shown,
        lambda title: session.write(with_label(session.current(), columns, title)),
        key="probe_label",
        help=say("probe.label_help"),
    )


def texts_of(view: ViewState, corpus: Corpus | None, card: ModelCard) -> LabelledTexts | None:
    """Return the labelled texts; if they cannot be tested, say why and return None."""
    if corpus is None:
        return None
    labelled = labelled_texts(corpus, label_of(view, corpus), card, exact=EXACT.of(view))
    if labelled.trial.problem:
        st.info(say(f"probe.untested.{labelled.trial.problem}"), icon=":material/label_off:")
        return None
    if too_much := beyond_the_bound(labelled, card):
        st.info(too_much, icon=":material/label_off:")
        return None
    return labelled


def beyond_the_bound(labelled: LabelledTexts, card: ModelCard) -> str:
    """Return the sentence on labels that take too long to learn, with the bound; "" for others."""
    seconds, trial = learning_seconds(labelled, card), labelled.trial
    if seconds <= MAX_LEARNING_SECONDS:
        return ""
    return say(
        "probe.too_much",
        duration=duration(seconds),
        n_folds=trial.n_folds,
        n_labels=len(trial.senses),
        n_texts=len(labelled.texts),
        most=duration(MAX_LEARNING_SECONDS),
    )


def awaited_probe(labelled: LabelledTexts, card: ModelCard) -> Probe | None:
    """Return the probe of these texts; until then show progress or a button, and return None."""
    seconds = seconds_of(labelled, card, maps().token_seconds(card, labelled.precision))
    numbers = {"n": len(labelled.texts), "duration": duration(seconds)}
    if labelled.own is None:
        cost = say("probe.waiting.cost", **numbers, layers=card.n_layers + 1)
    else:
        cost = say("probe.waiting.cost_given", **numbers)
    task = probe_task(labelled, card, uncached(), seconds=seconds)
    result = waiting.result_of(task, cost, place="probe", height=HEIGHT)
    return None if result is None else probe_of(labelled, result, card)


def picture(probe: Probe) -> None:
    """Draw the score at every layer, and what it says."""
    kit.headline(*probe.claims(), sure=probe.sure(), key="reading")
    kit.chart(probe.figure(narrow=session.is_phone()), key=_CHART, alt=probe.alt())
    kit.notes(probe.notes())
    bar.precision_note(session.current(), probe.result.passport)


# --- The closer looks


def look_closer(view: ViewState, probe: Probe) -> None:
    """Draw the chosen closer look; for grades, there are fewer."""
    table = LABEL_PANELS if probe.labelled.grades is None else GRADE_PANELS
    panels = {name: partial(draw, view, probe) for name, draw in table.items()}
    kit.look_closer(view, SECTION.among({name: SECTION.options[name] for name in panels}), panels)


def _errors(_: ViewState, probe: GradeProbe) -> None:
    errors = LargestErrors(probe)
    st.markdown(errors.title)
    kit.table(errors.rows(), key="probe_errors", exact=["predicted"], height=300)


def _mistakes(_: ViewState, probe: LabelProbe) -> None:
    mistakes = Mistakes(probe)
    st.markdown(mistakes.title)
    if rows := mistakes.rows():
        kit.table(rows, key="probe_mistakes", exact=["its own estimate"], height=300)


def _chart(panel: Panel, name: str) -> None:
    """Draw a chart, and its reading below."""
    figure = panel.figure()
    if figure is not None:
        kit.chart(figure, key=f"probe_{name}", alt=panel.alt())
    kit.claims(panel.claims(), key=f"reading_{name}")
    kit.notes(panel.notes())


def _try(view: ViewState, probe: Probe) -> None:
    sentence = inputs.text(view, SENTENCE).strip()
    if not sentence:
        st.caption(say("probe.try.empty"))
        return
    try:
        tried = try_sentence(sentence, probe, runtime.service())
    except RequestError as exc:
        st.info(escape(str(exc)), icon=":material/info:")
        return
    kit.claims(tried.claims(), key="reading_try")
    if rows := tried.rows():
        number = say("probe.try.column_chance")
        bar = st.column_config.ProgressColumn(number, min_value=0, max_value=1, format="percent")
        kit.table(rows, key="probe_chances", columns={number: bar})
    kit.notes(tried.notes())
    if texts := tried.similar_texts():
        st.markdown(say("probe.try.nearest"))
        for text in texts:
            st.markdown(text)


LABEL_PANELS: Mapping[str, Callable[[ViewState, Any], None]] = {
    "mistakes": _mistakes,
    "mixups": lambda _, probe: _chart(Mixups(probe), "mixups"),
    "try": _try,
    "curve": lambda _, probe: _chart(LearningCurve(probe), "curve"),
    "calibration": lambda _, probe: _chart(Calibration(probe), "calibration"),
}
GRADE_PANELS: Mapping[str, Callable[[ViewState, Any], None]] = {"mistakes": _errors, "try": _try}


# --- The tabs under the picture, and the downloads

_CHART, _FILE = "probe_chart", "probe"
_PARQUET, _TSV = "application/vnd.apache.parquet", "text/tab-separated-values"


def explain(probe: Probe) -> None:
    """Draw the tabs under the picture."""
    n_names = 2 if probe.labelled.own is None else 1  # the vectors of a file have no layer
    kit.tabs(
        lambda: kit.table(probe.rows(), key="probe_scores", after=n_names),
        lambda: kit.under_the_hood(
            formula=[probe.formula], snippet=probe.scripts(), passport=probe.result.passport
        ),
        say("probe.limits"),
    )


def downloads(view: ViewState, probe: Probe, container: DeltaGenerator) -> None:
    """Draw the Download menu: the scores, and the texts with labels, folds and predictions.

    Files are made of the restored result at the click, so that a session does not hold it.
    """
    passport = probe.result.passport

    def draw_files() -> None:
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: restored(view).rows(),
            arrays=lambda: restored(view).arrays(),
        )
        st.caption(say("probe.downloads"))
        files: Mapping[str, tuple[str, Callable[[], bytes]]] = {
            "probe.json": ("application/json", lambda: classifier_json(restored(view))),
            "vectors.parquet": (_PARQUET, lambda: vectors_parquet(restored(view))),
            "vectors.tsv": (_TSV, lambda: vectors_tsv(restored(view))[0]),
            "labels.tsv": (_TSV, lambda: vectors_tsv(restored(view))[1]),
        }
        for file_name, (mime, make) in files.items():
            kit.download(file_name, mime, make, label=file_name)

    kit.downloads(
        container,
        export.caption(passport),
        page="probe",
        texts=probe.labelled.name,
        chart=_CHART,
        name=_FILE,
        snippets=probe.scripts(),
        files=draw_files,
    )
