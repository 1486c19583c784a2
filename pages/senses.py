"""Senses: every occurrence of a word in a corpus, its groups, and the layer where senses part."""

from contextlens.features.senses import page
from contextlens.features.senses.concordance import random_mean
from contextlens.features.senses.controls import PAGE
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session

view = session.current()
downloads = shell.header(PAGE, view)
corpus = page.choose_corpus(view)
senses = None if corpus is None else page.await_senses(view, corpus)
if senses is not None:
    card = page.model_card(senses.corpus)
    baseline = None if card is None else runtime.baseline(card)
    random = random_mean(baseline, senses.layer)
    page.picture(senses)
    page.show_groups(senses)
    page.show_concordance(senses, random)
    page.look_closer(view, senses, random)
    page.explain(senses, card)
    page.downloads(senses, card, downloads)
    if card is None:
        page.await_model(view, senses.corpus)
    else:
        own = page.own_task(view, senses.corpus)
        if baseline is None or runtime.is_pending(own):
            runtime.await_measures(card, own=own)
