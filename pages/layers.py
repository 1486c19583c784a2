"""Layer by layer: every token at every layer."""

from functools import partial

from contextlens.features.layers import looks, page
from contextlens.features.layers.compute import hidden_states
from contextlens.features.layers.controls import SECTION
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit

view = session.current()
downloads = shell.header("layers", view)
card = runtime.load(view.model, height=560)
service = runtime.service()
with kit.placeholder("layers", height=560):
    baseline = runtime.baseline(card)
    states = hidden_states(view, service, card, baseline)

with kit.box():
    page.toolbar(view, states)
page.picture(view, states)
page.reading(view, states)
page.notes(states)
of_look = kit.look_closer(
    view,
    SECTION,
    {
        "One token": lambda: looks.one_token(view, states, service),
        "Token pairs": lambda: looks.token_pairs(states),
        "Layers compared": lambda: looks.layers_compared(view, states, service),
        "Spread": lambda: looks.spread(states, service),
        "Pooler": lambda: looks.pooler(view, states, service),
    },
)
page.explain(states)
again = partial(hidden_states, view, service, card, baseline)
page.downloads(view, states, again, service, downloads, of_look or {})
if baseline is None:
    runtime.await_measures(card)
