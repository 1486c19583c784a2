"""Senses: every occurrence of a word in a corpus, its groups, and the layer where senses part."""

from components.features.senses.compute.word import Missing
from components.features.senses.controls import PAGE
from components.features.senses.page import concordance, groups, missing, picture, tabs, waiting
from components.features.senses.page.opened import await_model, model_card, opened
from components.features.senses.page.toolbar import toolbar
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import kit

view = session.current()
downloads = shell.header(PAGE, view)
there = opened(view, height=picture.HEIGHT)
with kit.box():
    toolbar(view, there.corpus)
shown = None
if there.corpus is None:
    missing.no_corpus(there.problem)
else:
    shown = waiting.shown(view, there.corpus, height=picture.HEIGHT)
if isinstance(shown, Missing):
    missing.missing(shown)
elif shown is not None:
    card = model_card(shown.corpus)
    baseline = None if card is None else runtime.baseline(card)
    band = None if baseline is None else baseline.band("mean", centred=False)
    picture.picture(shown)
    picture.in_words(shown)
    if shown.senses.course.curve:
        groups.groups(shown)
    concordance.concordance(shown, band)
    tabs.look_closer(view, shown, band)
    tabs.explain(shown, card)
    tabs.downloads(shown, downloads)
    if card is None:
        await_model(view, shown.corpus)
    elif baseline is None:
        runtime.await_measures(card)
