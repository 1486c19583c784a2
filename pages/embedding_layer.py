"""Embedding layer: word, position and segment added up and normalised, before any context."""

from functools import partial

from contextlens.features.embedding_layer import looks, page
from contextlens.features.embedding_layer.compute import embedding_view
from contextlens.features.embedding_layer.controls import SECTION
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit

view = session.current()
downloads = shell.header("embedding_layer", view)
card = runtime.load(view.model, height=520)
service = runtime.service()
with kit.room("embedding_layer", height=520):
    embedding = embedding_view(view, service, card)

with kit.box():
    page.toolbar(view, embedding)
page.picture(embedding)
page.reading(embedding)
kit.look_closer(
    view,
    SECTION,
    {
        "Same word": lambda: looks.same_word(view, embedding, service),
        "Neighbours": lambda: looks.neighbours(view, embedding, service),
        "Positions": lambda: looks.positions(view, embedding, service),
        "Segments": lambda: looks.segments(view, embedding, service),
        "What is learned": lambda: looks.learned(embedding, service),
    },
)
page.explain(embedding)
page.downloads(embedding, downloads, partial(embedding_view, view, service, card))
