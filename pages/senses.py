"""Senses: every occurrence of a word in a corpus, its groups, and the layer where senses part."""

from contextlens.features.senses import looks, page
from contextlens.features.senses.controls import PAGE
from contextlens.features.senses.looks import await_model, model_card, open_corpus, toolbar
from contextlens.features.senses.words import MissingWord
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit

view = session.current()
downloads = shell.header(PAGE, view)
opened = open_corpus(view, height=looks.HEIGHT)
with kit.box():
    toolbar(view, opened.corpus)
result = None
if opened.corpus is None:
    page.no_corpus(opened.problem)
else:
    result = page.await_result(view, opened.corpus, height=looks.HEIGHT)
if isinstance(result, MissingWord):
    page.missing(result)
elif result is not None:
    card = model_card(result.corpus)
    baseline = None if card is None else runtime.baseline(card)
    band = None if baseline is None else baseline.band("mean", centred=False)
    looks.picture(result)
    looks.groups(result)
    looks.concordance(result, band)
    page.look_closer(view, result, band)
    page.explain(result, card)
    page.downloads(result, card, downloads)
    if card is None:
        await_model(view, result.corpus)
    elif baseline is None:
        runtime.await_measures(card)
