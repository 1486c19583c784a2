"""Meaning in context: the same word in several sentences, compared at every layer."""

from components.features.meaning import page
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import kit
from components.ui.widgets.comparison import compute, drawing

view = session.current()
downloads = shell.header("meaning", view)
with kit.box():
    page.toolbar(view)

card = runtime.load(view.model, height=480)
with kit.room("meaning", height=480):
    baseline = runtime.baseline(card)
    ruler = runtime.ruler(card, baseline)
    meaning = compute.meaning_of(view, runtime.service(), card, baseline)

drawing.problems(view, meaning)
portrait = compute.portrait_of(meaning, view)
if portrait is None:
    drawing.missing_words()
else:
    page.picture(view, portrait, ruler)
    page.explain(portrait, card)
    page.downloads(portrait, downloads)
    if ruler is None:
        runtime.await_measures(card)
