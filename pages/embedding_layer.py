"""Embedding layer: word, position and segment added up and normalised, before any context."""

from functools import partial

from contextlens.features.embedding_layer import page
from contextlens.features.embedding_layer.controls import PAGE, SENTENCE
from contextlens.features.embedding_layer.embedding_sum import embedding_sum
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.subject import subject_bar

view = session.current()
downloads = shell.header(PAGE, view)
subject_bar(view, PAGE, control=SENTENCE, pairs=True)
card = runtime.load(view.model, height=520)
service = runtime.service()
with kit.placeholder("embedding_layer", height=520):
    embedding = embedding_sum(view, service, card)

with kit.box():
    page.toolbar(view, embedding)
page.picture(embedding)
page.look_closer(view, embedding, service)
page.explain(embedding)
page.downloads(embedding, downloads, partial(embedding_sum, view, service, card))
