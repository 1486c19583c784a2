"""Layer by layer: what every layer makes of every token."""

import streamlit as st

from components.ui import layers, layers_closer, layers_compared, layers_page
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import inputs

view = session.current()
downloads = shell.header("layers", view)
card = runtime.load(view.model, height=560)
service = runtime.service()
with st.skeleton(height=560):
    baseline = runtime.baseline(card)
    what = layers.compute(view, service, card, baseline)

with st.container(border=True, gap="small"):
    layers_page.toolbar(view)
layers_page.picture(view, what)
layers_page.words(what)
layers_page.notes(what)
inputs.layer_slider(view, what.encoding.layers, key="layers_layer")
closer, more = st.container(), {}  # filled last: it may wait for another model
layers_page.terms()
layers_page.explain(what)
layers_page.downloads(view, what, service, downloads, more)
layers_page.closer(
    closer,
    view,
    {
        "One token": lambda: layers_closer.one_token(view, what, service),
        "Token pairs": lambda: layers_closer.token_pairs_look(what),
        "Layers compared": lambda: layers_compared.layers_compared(view, what, service),
        "Spread": lambda: layers_closer.spread(what, service),
        "Pooler": lambda: layers_compared.pooler(view, what, service),
    },
    more,
)
if baseline is None:
    runtime.await_baseline(card)
