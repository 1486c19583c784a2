"""Sentence vectors: which single vector represents a sentence best, and what it finds."""

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
    vectors = page.toolbar(view)
card = runtime.load(view.model, height=page.HEIGHT)
if controls.SHOW.of(view) == controls.SEARCH:
    page.choose_vectors(view, card, vectors)
    page.search_texts(view, card, downloads)
else:
    page.compare(view, card, downloads)
