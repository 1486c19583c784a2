"""Embedding layer: word, position and segment added up and normalised, before any context."""

from functools import partial

from components.features.embedding_layer import page
from components.features.embedding_layer.compute.parts import embedding_view
from components.features.embedding_layer.controls import SECTION
from components.features.embedding_layer.looks import tables, words
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import kit

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
        "Same word": lambda: words.same_word(view, embedding, service),
        "Neighbours": lambda: words.neighbours(view, embedding, service),
        "Positions": lambda: tables.positions(view, embedding, service),
        "Segments": lambda: tables.segments(view, embedding, service),
        "What is learned": lambda: tables.learned(embedding, service),
    },
)
page.explain(embedding)
page.downloads(embedding, downloads, partial(embedding_view, view, service, card))
