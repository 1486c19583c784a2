"""Probe: whether a simple classifier finds a corpus's labels in the vectors of each layer."""

from contextlens.features.probe import controls, page
from contextlens.features.probe.labelled_texts import corpus_of
from contextlens.features.probe.layer_scores import HEIGHT
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session

view = session.current()
downloads = shell.header(controls.PAGE, view)
shown = corpus_of(view)
page.toolbar(view, shown)
card = runtime.load(view.model, height=HEIGHT)
labelled = page.texts_of(view, shown.corpus, card)
probe = None if labelled is None else page.awaited_probe(labelled, card)
if probe is not None:
    page.picture(probe)
    page.look_closer(view, probe)
    page.explain(probe)
    page.downloads(view, probe, downloads)
