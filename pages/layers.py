"""Layer by layer: what every layer makes of every token."""

import streamlit as st

from components.features.layers import compute, page
from components.features.layers.looks import spaces, tokens
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
    what = compute.compute(view, service, card, baseline)

with st.container(border=True, gap="small"):
    page.toolbar(view)
page.picture(view, what)
page.words(what)
page.notes(what)
inputs.layer_slider(view, what.encoding.layers, key="layers_layer")
closer, more = st.container(), {}  # filled last: it may wait for another model
page.terms()
page.explain(what)
page.downloads(view, what, service, downloads, more)
page.closer(
    closer,
    view,
    {
        "One token": lambda: tokens.one_token(view, what, service),
        "Token pairs": lambda: tokens.token_pairs_look(what),
        "Layers compared": lambda: spaces.layers_compared(view, what, service),
        "Spread": lambda: tokens.spread(what, service),
        "Pooler": lambda: spaces.pooler(view, what, service),
    },
    more,
)
if baseline is None:
    runtime.await_baseline(card)
