"""Layer by layer: every token at every layer."""

from functools import partial

from contextlens.features.layers import page
from contextlens.features.layers.controls import PAGE, SECTION, SENTENCE
from contextlens.features.layers.hidden_states import hidden_states
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.subject import subject_bar

view = session.current()
downloads = shell.header(PAGE, view)
subject_bar(view, PAGE, control=SENTENCE, pairs=True)
card = runtime.load(view.model, height=560)
service = runtime.service()
with kit.placeholder("layers", height=560):
    baseline = runtime.baseline(card)
    states = hidden_states(view, service, card, baseline)

with kit.box():
    page.toolbar(view, states)
page.picture(view, states)
page.notes(states)
looks = {name: partial(draw, view, states, service) for name, draw in page.LOOKS.items()}
look = kit.look_closer(view, SECTION, looks)
page.explain(states)
page.downloads(view, states, service, downloads, look)
if baseline is None:
    runtime.await_measures(card)
