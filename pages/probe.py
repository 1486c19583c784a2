"""Probe: whether a simple classifier finds a corpus's labels in the vectors of each layer."""

from contextlens.features.probe import compute, controls, page
from contextlens.features.probe.looks import look_closer
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit

view = session.current()
downloads = shell.header(controls.PAGE, view)
corpus = compute.corpus_of(view)
with kit.box():
    page.toolbar(view, corpus)
card = runtime.load(view.model, height=page.HEIGHT)
labelled = page.texts_of(view, corpus, card)
result = None if labelled is None else page.result_of(labelled, card)
if labelled is not None and result is not None:
    page.picture(labelled, result)
    look_closer(view, labelled, result, card)
    page.explain(labelled, result, card)
    page.downloads(labelled, result, card, downloads)
