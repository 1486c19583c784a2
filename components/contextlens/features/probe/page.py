"""The parts of the page of the probe."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import duration, say
from contextlens.core import ModelCard
from contextlens.corpus.corpus import Corpus
from contextlens.features.probe import controls
from contextlens.features.probe.compute import (
    MOST_LABELS,
    LabelledTexts,
    label_of,
    labelled_texts,
    probe_arrays,
    probe_json,
    probe_task,
    score_rows,
    seconds_of,
    vectors_parquet,
    vectors_tsv,
)
from contextlens.features.probe.explain import FORMULA
from contextlens.features.probe.figures import value_by_layer
from contextlens.features.probe.grades import GradeResult
from contextlens.features.probe.measures import ProbeResult
from contextlens.features.probe.reading import (
    grade_claims,
    grade_sure,
    grade_title,
    probe_claims,
    probe_notes,
    probe_sure,
    probe_title,
)
from contextlens.features.probe.snippet import GRADES_PICTURE, LABELS_PICTURE, probe_snippet
from contextlens.ui.corpora.catalogue import titles
from contextlens.ui.corpora.own_file import OwnFile
from contextlens.ui.frame import navigation
from contextlens.ui.models import waiting
from contextlens.ui.models.background import maps
from contextlens.ui.models.services import uncached
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit

HEIGHT = 420
OWN_FILE = OwnFile(
    source=controls.SOURCE,
    file=controls.FILE,
    name=controls.FILE_NAME,
    text=controls.TEXT,
    labels=controls.LABELS,
)
_CHART, _FILE = "probe_chart", "probe"
_PARQUET, _TSV = "application/vnd.apache.parquet", "text/tab-separated-values"


def toolbar(view: ViewState, corpus: Corpus | None) -> None:
    """The choice of texts and of the column with their labels."""
    with kit.controls("probe"):
        inputs.select(view, controls.SOURCE)
        if controls.SOURCE.of(view) == "kept":
            known = titles(view, controls.KEPT.asked(view) or "")
            inputs.select(view, controls.kept_among(known))
        if corpus is not None and label_of(corpus).options:
            inputs.select(view, label_of(corpus))
        if controls.SOURCE.of(view) == "file" and corpus is not None:
            with st.popover(say("probe.columns"), type="tertiary"):
                OWN_FILE.column_choice(view)


def texts_of(view: ViewState, corpus: Corpus | None, card: ModelCard) -> LabelledTexts | None:
    """Return the labelled texts; if they cannot be tested, say why and return None."""
    if controls.SOURCE.of(view) == "file":
        OWN_FILE.panel(view, corpus)
        if corpus is None:
            return None
    if corpus is None:
        with st.container(border=True, key="probe_choose_kept"):
            st.markdown(say("probe.choose"))
            navigation.link(navigation.row("corpora"), view, label=say("probe.link"))
        return None
    column = label_of(corpus).of(view)
    if not column:
        st.info(say("probe.no_column", most=MOST_LABELS), icon=":material/label_off:")
        return None
    labelled = labelled_texts(corpus, column, card)
    if labelled.trial.problem:
        st.info(say(f"probe.untested.{labelled.trial.problem}"), icon=":material/label_off:")
        return None
    return labelled


def result_of(labelled: LabelledTexts, card: ModelCard) -> ProbeResult | GradeResult | None:
    """Return the scores of these texts; until then show progress or a button, and return None."""
    seconds = seconds_of(labelled, card, maps().token_seconds(card))
    cost = say(
        "probe.waiting.cost",
        n=len(labelled.texts),
        duration=duration(seconds),
        layers=card.n_layers + 1,
    )
    task = probe_task(labelled, card, uncached(), seconds=seconds)
    result: ProbeResult | GradeResult | None = waiting.result_of(
        task, cost, place="probe", height=HEIGHT
    )
    return result


def picture(labelled: LabelledTexts, result: ProbeResult | GradeResult) -> None:
    """The score at every layer, and what it says."""
    if isinstance(result, GradeResult):
        title, claims = grade_title(result), grade_claims(labelled, result)
        sure = grade_sure(labelled, result)
    else:
        title, claims = probe_title(result), probe_claims(labelled, result)
        sure = probe_sure(labelled, result)
    figure = value_by_layer(result, title=title, height=HEIGHT)
    kit.chart(figure, key=_CHART, alt=say("probe.alt", title=title))
    kit.reading(claims, sure=sure)
    kit.notes(probe_notes(labelled, result))


def explain(labelled: LabelledTexts, result: ProbeResult | GradeResult, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(result), lambda: _hood(labelled, result, card), say("probe.limits"))


def downloads(
    labelled: LabelledTexts,
    result: ProbeResult | GradeResult,
    card: ModelCard,
    place: DeltaGenerator,
) -> None:
    """The page's Download menu: the scores, and the texts with labels, folds and predictions."""
    passport = result.passport
    picture = LABELS_PICTURE if labelled.grades is None else GRADES_PICTURE
    with kit.downloads(
        place,
        export.caption(passport),
        page="probe",
        texts=labelled.name,
        chart=_CHART,
        name=_FILE,
        snippets=[(say("probe.snippet"), _snippet(labelled, result, card)), ("", picture)],
    ):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: score_rows(result),
            arrays=lambda: probe_arrays(labelled, result),
        )
        st.caption(say("probe.downloads"))
        files = {
            "probe.json": ("application/json", lambda: probe_json(labelled, result)),
            "vectors.parquet": (_PARQUET, lambda: vectors_parquet(labelled, result)),
            "vectors.tsv": (_TSV, lambda: vectors_tsv(labelled, result)[0]),
            "labels.tsv": (_TSV, lambda: vectors_tsv(labelled, result)[1]),
        }
        for file_name, (mime, make) in files.items():
            kit.download(file_name, mime, make, label=file_name)


def _numbers(result: ProbeResult | GradeResult) -> None:
    kit.table(score_rows(result), key="probe_scores", after=2)


def _hood(labelled: LabelledTexts, result: ProbeResult | GradeResult, card: ModelCard) -> None:
    kit.under_the_hood(
        formula=[FORMULA],
        snippet=[(say("probe.snippet"), _snippet(labelled, result, card))],
        passport=result.passport,
    )


def _snippet(labelled: LabelledTexts, result: ProbeResult | GradeResult, card: ModelCard) -> str:
    n_labels = 0 if labelled.grades is not None else len(labelled.trial.senses)
    return probe_snippet(card, result.best, n_labels=n_labels, file=f"{_FILE}.npz")
