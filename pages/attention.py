"""Attention: which tokens each token attends to, head by head."""

from functools import partial

from contextlens.features.attention import page
from contextlens.features.attention.attention import attention_view
from contextlens.features.attention.controls import PAGE, SENTENCE
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.subject import subject_bar

view = session.current()
downloads = shell.header(PAGE, view)
subject_bar(view, PAGE, control=SENTENCE, pairs=True)
card = runtime.load(view.model, height=560)
with kit.placeholder("attention", height=560):
    attention = attention_view(view, runtime.service(), card)

with kit.box():
    page.toolbar(view, attention)
page.picture(view, attention)
page.words(attention)
page.heatmap(attention)
page.explain(attention)
again = partial(attention_view, view, runtime.service(), card)
page.downloads(attention, downloads, again)
