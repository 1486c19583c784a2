"""Senses: every occurrence of a word in a corpus, its groups, and the layer where senses part."""

from components.features.senses import looks, page
from components.features.senses.controls import PAGE
from components.features.senses.looks import await_model, model_card, opened, toolbar
from components.features.senses.words import Missing
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import kit

view = session.current()
downloads = shell.header(PAGE, view)
there = opened(view, height=looks.HEIGHT)
with kit.box():
    toolbar(view, there.corpus)
shown = None
if there.corpus is None:
    page.no_corpus(there.problem)
else:
    shown = page.shown(view, there.corpus, height=looks.HEIGHT)
if isinstance(shown, Missing):
    page.missing(shown)
elif shown is not None:
    card = model_card(shown.corpus)
    baseline = None if card is None else runtime.baseline(card)
    band = None if baseline is None else baseline.band("mean", centred=False)
    looks.picture(shown)
    looks.in_words(shown)
    if shown.senses.course.curve:
        looks.groups(shown)
    looks.concordance(shown, band)
    page.look_closer(view, shown, band)
    page.explain(shown, card)
    page.downloads(shown, downloads)
    if card is None:
        await_model(view, shown.corpus)
    elif baseline is None:
        runtime.await_measures(card)
