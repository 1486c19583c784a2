"""Meaning in context: the same word in several sentences, compared at every layer."""

from contextlens.features.meaning import page
from contextlens.ui.corpora import own_senses
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.comparison import compute, drawing
from contextlens.ui.widgets.comparison.senses import covered_word
from contextlens.ui.widgets.subject import subject_bar

view = session.current()
downloads = shell.header("meaning", view)
subject_bar(view, "meaning", words=True)
with kit.box():
    page.toolbar(view)

card = runtime.load(view.model, height=480)
with kit.placeholder("meaning", height=480):
    baseline = runtime.baseline(card)
    ruler = runtime.ruler(card, baseline)
    meaning = compute.meaning_of(view, runtime.service(), card, baseline)

drawing.problems(view, meaning)
portrait = compute.portrait_of(meaning, view)
if portrait is None:
    drawing.missing_words()
else:
    own, uses, answer = own_senses.looked_up(view, portrait, card, baseline)
    drawing.headline(portrait, answer, uses)
    page.picture(view, portrait, ruler, uses)
    page.explain(portrait, card)
    page.downloads(view, portrait, card, answer, downloads)
    runtime.await_measures(card, covered_word(portrait.comparison), own)
