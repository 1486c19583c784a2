"""Tokens & IDs: how a text is cut into pieces, and which numbers the model gets."""

import streamlit as st

from components.ui import tokens, tokens_closer, tokens_page
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session

view = session.current()
downloads = shell.header("tokens", view)
model = runtime.load(view.model, height=420)
service = runtime.service()
with st.skeleton(height=420):
    card = service.load_tokenizer(view.model)
    what = tokens.compute(view, service, card)

with st.container(border=True, gap="small"):
    tokens_page.toolbar(view, card)
    tokens_page.strip(what)
tokens_page.words(what)
tokens_page.terms()
closer = st.container()  # filled last: it may wait for another tokenizer
tokens_page.explain(what, model)
tokens_page.downloads(what, downloads)
tokens_page.closer(
    closer,
    view,
    {
        "Vocabulary": lambda: tokens_closer.vocabulary(view, what, service),
        "From ID to row": lambda: tokens_closer.id_to_row(what, service, model),
        "Two tokenizers": lambda: tokens_closer.two_tokenizers(view, what, service),
        "Back to text": lambda: tokens_closer.back(view, what, service),
    },
)
