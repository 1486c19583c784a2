"""Sentence vectors: which single vector represents a sentence best."""

from contextlens.features.sentences import controls, page
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.subject import subject_bar

view = session.current()
downloads = shell.header(controls.PAGE, view)
subject_bar(view, controls.PAGE)
with kit.box():
    page.toolbar(view)
page.compare(view, runtime.load(view.model, height=page.HEIGHT), downloads)
