"""Tokens & IDs: how a text is cut into pieces, and which numbers the model gets."""

import streamlit as st

from components.features.tokens import compute, looks, page
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session

view = session.current()
downloads = shell.header("tokens", view)
model = runtime.load(view.model, height=420)
service = runtime.service()
with st.skeleton(height=420):
    card = service.load_tokenizer(view.model)
    what = compute.compute(view, service, card)

with st.container(border=True, gap="small"):
    page.toolbar(view, card)
    page.strip(what)
page.words(what)
page.terms()
closer = st.container()  # filled last: it may wait for another tokenizer
page.explain(what, model)
page.downloads(what, downloads)
page.closer(
    closer,
    view,
    {
        "Vocabulary": lambda: looks.vocabulary(view, what, service),
        "From ID to row": lambda: looks.id_to_row(what, service, model),
        "Two tokenizers": lambda: looks.two_tokenizers(view, what, service),
        "Back to text": lambda: looks.back(view, what, service),
    },
)
